"""Options of the commands: names, forms and help. Cheap to import, since ``--help`` needs nothing else."""

from typing import Annotated

import typer

__all__ = ["Base", "Json", "Robot", "Xacro"]

Robot = Annotated[
    str, typer.Argument(metavar="ROBOT|FILE", help="name of a robot (see `pliant robots`), or a .urdf, .xacro or .toml")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON and nothing else")]
Base = Annotated[str | None, typer.Option(help="'fixed' or 'free', for a file")]
Xacro = Annotated[bool, typer.Option("--xacro", help="run a .xacro file, which is a program; only one you trust")]
