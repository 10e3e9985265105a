"""``pliant equations``: formulas on the terminal or as source code."""

import shutil
from typing import Annotated, Any

import typer

from pliant.cli.sources import Base, Packages, RobotName, Xacro, XacroArguments, load_robot
from pliant.errors import PliantError, bad_value, unknown_name

FORMS = ("text", "latex", "markdown", "python", "c", "matlab")
"""What equations can be printed as."""


def equations(
    robot: RobotName,
    latex: Annotated[bool, typer.Option("--latex", help="as LaTeX")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="as Markdown with LaTeX in it")] = False,
    python: Annotated[bool, typer.Option("--python", help="as a Python function")] = False,
    c: Annotated[bool, typer.Option("--c", help="as a C function")] = False,
    matlab: Annotated[bool, typer.Option("--matlab", help="as a Matlab function")] = False,
    format: Annotated[
        str | None, typer.Option(help="the same by name: text (default), latex, markdown, python, c or matlab")
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
    base: Base = None,
    packages: Packages = None,
    xacro: Xacro = False,
    xacro_arg: XacroArguments = None,
    raw: Annotated[bool, typer.Option("--raw", help="formulas as the algorithm gives them: quick, but long")] = False,
) -> None:
    """Print the equations of motion of a robot."""
    if format is not None and format not in FORMS:
        raise PliantError(unknown_name("form", format, FORMS)).within("--format")
    flags = {"latex": latex, "markdown": markdown, "python": python, "c": c, "matlab": matlab}
    asked = {f"--{form}": form for form, is_given in flags.items() if is_given and form != format}
    asked |= {f"--format {format}": format} if format else {}
    if len(asked) > 1:
        one, other, *_ = asked
        raise PliantError(f"{one} and {other} are two forms", field="format", cure="choose one")
    form = next(iter(asked.values()), "text")
    from pliant.symbolic import equations as equations_of

    found = equations_of(
        load_robot(robot, base, xacro, packages, xacro_arg), method,
        parameters=_symbols(symbols), names=_names(names), rotations=rotations, simplify=False if raw else None,
    )  # fmt: skip
    width = {"width": shutil.get_terminal_size((100, 24)).columns} if form == "text" else {}
    typer.echo(getattr(found, form)(**width))


def _symbols(given: str | None) -> Any:
    """None, "all", a list of kinds and names, or a mapping if some have other names."""
    if given is None or given == "all":
        return given
    pairs = _pairs("symbols", given)
    return pairs if any(key != value for key, value in pairs.items()) else list(pairs)


def _names(given: str | None) -> Any:
    return given if given in (None, "joints") else _pairs("names", str(given))


def _pairs(option: str, given: str) -> dict[str, str]:
    found = {}
    for part in given.split(","):
        key, sign, value = (text.strip() for text in part.partition("="))
        if not key:
            raise PliantError(bad_value(f"--{option}", given, "names between the commas, as a,b or a=x,b=y"))
        if sign and not value:
            raise PliantError(bad_value(f"--{option}", given, f"a name after {part.strip()!r}, as {key}=NAME"))
        found[key] = value or key
    return found
