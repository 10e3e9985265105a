"""Options that several commands have. Cheap to import, since ``--help`` needs nothing else."""

from typing import Annotated

import typer

__all__ = ["Base", "Json", "Robot", "Xacro"]

Robot = Annotated[
    str, typer.Argument(metavar="ROBOT|FILE", help="name of a robot (see `pliant robots`), or a .urdf, .xacro or .toml")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON and nothing else")]
Base = Annotated[str | None, typer.Option(help="'fixed' or 'free' (default: the robot's own; of a file, fixed)")]
Xacro = Annotated[
    bool, typer.Option("--xacro", help="expand a .xacro file, which runs it as a program: only if you trust it")
]
