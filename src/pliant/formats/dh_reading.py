"""Rows of Denavit-Hartenberg tables as users write them, read and checked: what is wrong names its row."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from pliant.checks import check_name
from pliant.errors import RobotError, unknown_name
from pliant.formats.dh_rows import COLUMNS, KINDS, DHRow
from pliant.scalar import Expr, is_constant

__all__ = ["free_symbols", "plain", "read_rows"]

Scalar = Any


def read_rows(rows: Any, convention: str, *, is_symbolic: bool = False) -> tuple[DHRow, ...]:
    """Rows as `DHRow`, from those, dicts of their attributes, or tuples of four numbers and perhaps such a dict.

    Each comes back with its names, with numbers that are finite and `plain`, and with the kind of its joint
    known. What is wrong is told with the number of the row, from 1.

    Args:
        rows: any iterable of rows.
        convention: which decides on the order of numbers in tuples.
        is_symbolic: whether there are symbols elsewhere in the robot.
    """
    if not isinstance(convention, str) or convention not in COLUMNS:
        raise RobotError(unknown_name("convention", convention, COLUMNS, "from_dh"))
    rows = rows.tolist() if hasattr(rows, "tolist") else rows  # a matrix of SymPy would give its entries one by one
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise RobotError(f"from_dh takes a sequence of rows, not {type(rows).__name__}; for one row, give [row]")
    read = [_row(number, row, convention) for number, row in enumerate(rows, 1)]
    if not read:
        raise RobotError("the table has no rows; give one for each joint")
    _check_names(read)
    _check_symbols(read)
    numbers = [value for row in read for _, _, value in _numbers(row)]
    return tuple(_plain_row(row, is_symbolic or bool(free_symbols(numbers))) for row in read)


def free_symbols(values: Iterable[Scalar]) -> set[Any]:
    """The symbols in some scalars; traced ones have none, but are not known either."""
    return {symbol for x in values for symbol in getattr(x, "free_symbols", ())}


def plain(x: Scalar, is_symbolic: bool) -> Scalar:
    """A number of SymPy as a float, or as it is next to symbols; but 0, 1 and -1 as integers always."""
    if isinstance(x, Expr) or free_symbols([x]):
        return x
    if not is_constant(x) and (not is_symbolic or float(x) in (0, 1, -1)):
        x = float(x)
    return int(x) if is_constant(x) and x in (0, 1, -1) else x


# ---- one row


def _row(number: int, given: Any, convention: str) -> DHRow:
    columns = COLUMNS[convention]
    if isinstance(given, DHRow):
        row = given
    elif isinstance(given, Mapping):
        row = _from_words(number, given)
    elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        values = list(given)
        words = dict(values.pop()) if values and isinstance(values[-1], Mapping) else {}
        if len(values) != 4:
            raise RobotError(
                f"row {number} has {len(values)} numbers; give {', '.join(columns)} ({convention} convention), and the "
                "rest as a dict, or use DHRow(...)"
            )
        twice = [c for c in columns if c in words]
        if twice:
            raise RobotError(f"row {number} has {twice[0]} twice, as a number and in its dict; take one out")
        row = _from_words(number, {**dict(zip(columns, values, strict=True)), **words})
    else:
        raise RobotError(f"row {number} is {given!r}; give {', '.join(columns)} as a tuple, or a DHRow")
    for what in ("name", "body"):
        if getattr(row, what) is not None:
            check_name(what, getattr(row, what), subject=f"row {number}")
    if not isinstance(row.motor, bool) and not (isinstance(row.motor, Mapping) and all(map(_is_text, row.motor))):
        raise RobotError(f"row {number}: motor is {row.motor!r}; give True, or a dict as in {{'gear': 9}}")
    if row.joint not in KINDS:
        raise RobotError(unknown_name("kind of joint", row.joint, KINDS, f"row {number}"))
    row = replace(
        row,
        com=_entries(number, "com", row.com, (3,)),
        inertia=_tensor(number, row.inertia),
        name=row.name or f"joint{number}",
        body=row.body or f"link{number}",
    )
    for what, _, value in _numbers(row):
        _check_number(number, what, value)
    if row.joint == "fixed":
        used = [w for w in ("offset", "limits", "motor", "damping", "friction", "armature") if not _is_nothing(row, w)]
        if used:
            raise RobotError(f"row {number} is fixed, so that it has no {used[0]}; take it out, or change the joint")
    return row


def _from_words(number: int, words: Mapping[str, Any]) -> DHRow:
    known = [f.name for f in fields(DHRow)]
    for word in words:
        if word not in known:
            raise RobotError(unknown_name("attribute", word, known, f"row {number}"))
    return DHRow(**words)


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


def _is_nothing(row: DHRow, what: str) -> bool:
    value = getattr(row, what)
    return value is None or (isinstance(value, int | float) and value == 0)


def _entries(number: int, what: str, values: Any, sizes: tuple[int, ...]) -> tuple[Scalar, ...]:
    entries = tuple(values) if hasattr(values, "__iter__") else ()
    if len(entries) not in sizes:
        raise RobotError(f"row {number}: {what} is {values!r}; give it {' or '.join(map(str, sizes))} numbers")
    return entries


def _tensor(number: int, given: Any) -> tuple[Scalar, ...]:
    """The six entries of an inertia, from its diagonal, its six entries or its three rows."""
    values = given.tolist() if hasattr(given, "tolist") else given  # NumPy's arrays and SymPy's matrices
    entries = _entries(number, "inertia", values, (3, 6))
    if len(entries) == 3 and all(hasattr(row, "__iter__") for row in entries):
        rows = [_entries(number, "a row of inertia", row, (3,)) for row in entries]
        for r, c in ((0, 1), (0, 2), (1, 2)):
            if rows[r][c] != rows[c][r]:
                raise RobotError(f"row {number}: inertia is not symmetric, {rows[r][c]} against {rows[c][r]}; mend it")
        return tuple(rows[r][c] for r in range(3) for c in range(r, 3))
    if len(entries) == 3:
        xx, yy, zz = entries
        return xx, 0, 0, yy, 0, zz
    return entries


def _numbers(row: DHRow) -> list[tuple[str, str, Scalar]]:
    """What each number of a row is called, what it measures, and the number."""
    angle, length = "an angle", "a length"
    moved = length if row.joint == "prismatic" else angle
    found = [
        ("alpha", angle, row.alpha), ("a", length, row.a), ("theta", angle, row.theta), ("d", length, row.d),
        ("offset", moved, row.offset), ("mass", "a mass", row.mass),
    ]  # fmt: skip
    found += [("com", length, x) for x in row.com]
    return found + [("inertia", "a moment of inertia", x) for x in row.inertia]


def _check_number(number: int, what: str, value: Scalar) -> None:
    if isinstance(value, Expr):
        return
    if is_constant(value):
        is_bad = not math.isfinite(value)
    elif hasattr(value, "free_symbols"):
        # SymPy's NaN and infinities have no symbols, and say so
        is_bad = not value.free_symbols and value.is_finite is not True
    else:
        kind = "text: write math.pi or sympy.pi" if isinstance(value, str) else f"a {type(value).__name__}"
        raise RobotError(f"row {number}: {what} is {value!r}, {kind}; give it a number or a symbol")
    if is_bad:
        raise RobotError(f"row {number}: {what} is {value}; give it a finite number")


# ---- all rows


def _check_names(rows: Sequence[DHRow]) -> None:
    for what in ("name", "body"):
        seen: dict[str, int] = {}
        for number, row in enumerate(rows, 1):
            name = str(getattr(row, what))
            if name in seen:
                raise RobotError(f"rows {seen[name]} and {number} have the {what} {name!r}; names must be unique")
            seen[name] = number


def _check_symbols(rows: Sequence[DHRow]) -> None:
    """Raise where a symbol stands for two things, or two symbols look like one."""
    coordinates = {row.name: n for n, row in enumerate(rows, 1) if row.joint != "fixed"}
    by_name: dict[str, tuple[Any, int]] = {}
    meaning: dict[Any, tuple[str, str, int]] = {}
    for number, row in enumerate(rows, 1):
        for what, measure, value in _numbers(row):
            for symbol in sorted(getattr(value, "free_symbols", ()), key=str):
                name = str(symbol)
                if name in coordinates:
                    raise RobotError(
                        f"row {number}: {what} is {value}, but {name} is the coordinate of row {coordinates[name]}; "
                        "give the constant part only (the joint adds its coordinate), or rename the symbol or the row"
                    )
                other, where = by_name.setdefault(name, (symbol, number))
                if other != symbol:
                    raise RobotError(
                        f"rows {where} and {number} have two different symbols named {name}, with other assumptions; "
                        "make it once and use it in both"
                    )
            if getattr(value, "is_Symbol", False):
                old = meaning.setdefault(value, (measure, what, number))
                if old[0] != measure:
                    raise RobotError(
                        f"symbol {value} is {old[0]} in row {old[2]} ({old[1]}) and {measure} in row {number} "
                        f"({what}); use two symbols"
                    )


def _plain_row(row: DHRow, is_symbolic: bool) -> DHRow:
    singles = {what: plain(getattr(row, what), is_symbolic) for what in (*COLUMNS["modified"], "offset", "mass")}
    several = {what: tuple(plain(x, is_symbolic) for x in getattr(row, what)) for what in ("com", "inertia")}
    return replace(row, **singles, **several)
