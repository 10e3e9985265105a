"""The program ``pliant``: its commands, and what becomes of errors."""

import sys
from typing import Annotated, Any

import typer

from pliant.errors import PliantError

__all__ = ["app", "main"]

app = typer.Typer(
    name="pliant",
    help="Robot simulation in readable Python, compiled.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _program() -> None:
    # one command or many, each has its name
    pass


@app.command()
def equations(
    robot: Annotated[str, typer.Argument(help="name of a shipped robot, or path of a .urdf, .xacro or .toml file")],
    latex: Annotated[bool, typer.Option("--latex", help="as LaTeX")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="as Markdown with LaTeX in it")] = False,
    python: Annotated[bool, typer.Option("--python", help="as a Python function")] = False,
    c: Annotated[bool, typer.Option("--c", help="as a C function")] = False,
    matlab: Annotated[bool, typer.Option("--matlab", help="as a Matlab function")] = False,
    format: Annotated[
        str | None, typer.Option(help="text, latex, markdown, python, c or matlab: the same by name")
    ] = None,
    method: Annotated[str, typer.Option(help="newton-euler, projected or lagrange")] = "newton-euler",
    symbols: Annotated[
        str | None,
        typer.Option(help="numbers to make symbols of, with commas: all, masses, lengths, m_rod, m_rod=m, ..."),
    ] = None,
    names: Annotated[
        str | None, typer.Option(help="names of coordinates: 'joints', or joint=name with commas: knee=x1")
    ] = None,
    rotations: Annotated[
        str | None, typer.Option(help="'euler' for roll, pitch and yaw in place of quaternions")
    ] = None,
    base: Annotated[str | None, typer.Option(help="'fixed' or 'free', for a file")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="formulas as the algorithm gives them: quick, and long")] = False,
) -> None:
    """Print the equations of motion of a robot."""
    from pliant.cli.equations import printed_equations

    forms = {"latex": latex, "markdown": markdown, "python": python, "c": c, "matlab": matlab}
    chosen = [form for form, is_chosen in forms.items() if is_chosen]
    text = printed_equations(
        robot, chosen, format, method=method, symbols=symbols, names=names, rotations=rotations, base=base, is_raw=raw
    )  # fmt: skip
    typer.echo(text)


def main(arguments: list[str] | None = None) -> Any:
    """Run the program; an error that the user can mend is one line, without a traceback, and exit code 1."""
    try:
        app(args=arguments, prog_name="pliant")
    except PliantError as error:
        typer.echo(f"pliant: {error}", err=True)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if error.name != "sympy":
            raise
        typer.echo("pliant: formulas need SymPy; install it with: pip install 'pliant[symbolic]'", err=True)
        sys.exit(1)
