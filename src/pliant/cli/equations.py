"""``pliant equations``: formulas on the terminal or as source code."""

import shutil
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from pliant.cli.sources import Base, RobotName, Xacro, load_robot
from pliant.errors import PliantError, bad_value, unknown_name

__all__ = ["FORMS", "equations", "printed_equations"]

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
    xacro: Xacro = False,
    raw: Annotated[bool, typer.Option("--raw", help="formulas as the algorithm gives them: quick, but long")] = False,
) -> None:
    """Print the equations of motion of a robot."""
    forms = {"latex": latex, "markdown": markdown, "python": python, "c": c, "matlab": matlab}
    chosen = [form for form, is_chosen in forms.items() if is_chosen]
    text = printed_equations(
        robot,
        chosen,
        format,
        method=method,
        symbols=symbols,
        names=names,
        rotations=rotations,
        base=base,
        is_raw=raw,
        xacro=xacro,
    )
    typer.echo(text)


def printed_equations(
    source: str,
    forms: Sequence[str],
    form: str | None = None,
    *,
    method: str,
    symbols: str | None,
    names: str | None,
    rotations: str | None,
    base: str | None,
    is_raw: bool = False,
    xacro: bool = False,
) -> str:
    """The equations of a robot in one of the forms, or as text that fits the terminal.

    Args:
        source: a robot's name or file.
        forms: those of `FORMS` that are asked for by an option of their own, at most one.
        form: the one that is asked for by name; both may name the same.
        symbols, names: as the user writes them, with commas.
        is_raw: whether formulas stay as the algorithm gives them, which is quick.
        base, xacro: as in `load_robot`.
    """
    chosen = _form(forms, form)
    from pliant.symbolic import equations as equations_of

    robot = load_robot(source, base, xacro)
    simplify = False if is_raw else None
    found = equations_of(
        robot, method, parameters=_symbols(symbols), names=_names(names), rotations=rotations, simplify=simplify
    )  # fmt: skip
    if chosen != "text":
        return getattr(found, chosen)()
    return found.text(width=shutil.get_terminal_size((100, 24)).columns)


def _form(forms: Sequence[str], form: str | None) -> str:
    if form is not None and form not in FORMS:
        raise PliantError(unknown_name("form", form, FORMS)).within("--format")
    asked = [f"--{name}" for name in forms if name != form] + ([f"--format {form}"] if form else [])
    if len(asked) > 1:
        raise PliantError(f"{asked[0]} and {asked[1]} are two forms", field="format", cure="choose one")
    return form or (forms[0] if forms else "text")


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
