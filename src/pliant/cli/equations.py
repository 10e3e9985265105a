"""``pliant equations``: formulas on the terminal or as source code."""

import shutil
from collections.abc import Sequence
from typing import Any

from pliant.cli.robots import load_robot
from pliant.errors import PliantError, unknown_name

__all__ = ["FORMS", "printed_equations"]

FORMS = ("text", "latex", "markdown", "python", "c", "matlab")
"""What equations can be printed as."""


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
    from pliant.symbolic import equations

    robot = load_robot(source, base, xacro).robot
    simplify = False if is_raw else None
    found = equations(
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
        raise PliantError(f"{asked[0]} and {asked[1]} are two forms; choose one")
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
            raise PliantError(f"--{option} {given!r}: there is nothing between two commas; write a,b or a=x,b=y")
        if sign and not value:
            raise PliantError(f"--{option} {given!r}: there is nothing behind {part.strip()!r}; write {key}=NAME")
        found[key] = value or key
    return found
