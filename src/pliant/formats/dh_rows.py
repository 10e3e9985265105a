"""Rows and tables of Denavit-Hartenberg parameters, and rows as users write them, read and checked.

    modified (Craig):  X_{i-1,i} = Rx(alpha) Tx(a) Rz(theta) Tz(d),   alpha_{i-1}, a_{i-1}, theta_i, d_i
    standard:          X_{i-1,i} = Rz(theta) Tz(d) Tx(a) Rx(alpha),   theta_i, d_i, a_i, alpha_i

In the modified convention the joint of row i moves about or along z_i, in the standard one z_{i-1}.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from pliant.checks import check_name
from pliant.errors import RobotError, bad_value, unknown_name
from pliant.robot import Limits, Report
from pliant.scalar import Expr, is_constant
from pliant.spatial import Transform

__all__ = ["COLUMNS", "KINDS", "DHRow", "DHTable", "free_symbols", "plain", "read_rows"]

Scalar = Any

COLUMNS = {"modified": ("alpha", "a", "theta", "d"), "standard": ("theta", "d", "a", "alpha")}
"""The conventions, and the order of a tuple's four numbers in each."""

KINDS = ("revolute", "continuous", "prismatic", "fixed")
"""The joints that a row can have."""


@dataclass(frozen=True, kw_only=True)
class DHRow:
    """One row: a step from frame i-1 to frame i, the joint within it, and the body that it carries.

    With q the joint's coordinate, a revolute row has the angle theta + offset + q, a prismatic one the
    distance d + offset + q: pi/2 + th2 in a paper is ``theta=pi/2``.

    Attributes:
        alpha: twist about x [rad]; a: length along x [m].
        theta: angle about z [rad]; d: distance along z [m].
        joint: "revolute", "continuous" (without limits), "prismatic" or "fixed".
        offset: more of theta or d, for tables that have a column for it.
        mass: of the body [kg]; com: its centre of mass in frame i [m].
        inertia: about the centre of mass, axes along those of frame i [kg m^2]: the diagonal, or
            (ixx, ixy, ixz, iyy, iyz, izz), or three rows of three.
        name: of the joint, and so of its coordinate; None: "joint" and the number of the row.
        body: its name; None: "link" and the number of the row.
        limits: of q, as a pair or as `Limits`.
        motor: whether it has one, or the motor's attributes as a dict; see `pliant.robot.Motor`.
        damping, friction, armature: see `pliant.robot.Joint`.
    """

    alpha: Scalar = 0
    a: Scalar = 0
    theta: Scalar = 0
    d: Scalar = 0
    joint: str = "revolute"
    offset: Scalar = 0
    mass: Scalar = 0
    com: Sequence[Scalar] = (0, 0, 0)
    inertia: Sequence[Any] = (0, 0, 0)
    name: str | None = None
    body: str | None = None
    limits: Limits | tuple[Any, Any] | None = None
    motor: bool | Mapping[str, Any] = False
    damping: Scalar = 0
    friction: Scalar = 0
    armature: Scalar = 0


@dataclass(frozen=True)
class DHTable:
    """Rows with the base before and the tool after them; `from_dh` takes it in place of rows.

    Attributes:
        convention: "modified" or "standard".
        base: X_W0, frame 0 in the world.
        tool: of the tool in the last row's frame.
        gravity: its acceleration in the world [m/s^2].
        report: properties of a robot that a table cannot hold.
    """

    rows: tuple[DHRow, ...]
    convention: str = "modified"
    name: str = "robot"
    base: Transform = field(default_factory=Transform.identity)
    tool: Transform = field(default_factory=Transform.identity)
    gravity: tuple[Scalar, ...] = (0, 0, -9.81)
    report: Report = field(default_factory=Report)

    def __str__(self) -> str:
        columns = COLUMNS[self.convention]
        lines: list[tuple[str, ...]] = [("row", "joint", *columns)]
        for number, row in enumerate(self.rows, 1):
            name = row.name or f"joint{number}"
            lines.append((str(number), row.joint, *(_cell(row, column, name) for column in columns)))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cell(row: DHRow, column: str, name: str) -> str:
    """A number of a row, and the coordinate where it is added."""
    number = getattr(row, column)
    shown = _shown_angle if column in ("alpha", "theta") else _shown
    if row.joint == "fixed" or column != ("d" if row.joint == "prismatic" else "theta"):
        return shown(number)
    text = shown(number + row.offset)
    return name if text == "0" else f"{text} + {name}"


def _shown(x: Scalar) -> str:
    return f"{x:.6g}" if is_constant(x) else str(x)


def _shown_angle(x: Scalar) -> str:
    """A number as text; an angle that is a right one but for rounding in files is shown as that."""
    near = (text for text, value in _RIGHT_ANGLES.items() if is_constant(x) and abs(x - value) <= _ROUNDED)
    return next(near, None) or _shown(x)


_RIGHT_ANGLES = {"0": 0, "pi/2": math.pi / 2, "-pi/2": -math.pi / 2, "pi": math.pi, "-pi": -math.pi}
# [rad]; the numbers of the table stay as they are
_ROUNDED = 1e-9


# ---- rows as users write them


def read_rows(rows: Any, convention: str, *, is_symbolic: bool = False) -> tuple[DHRow, ...]:
    """Rows as `DHRow`, from those, dicts of their attributes, or tuples of four numbers and perhaps such a dict.

    Each comes back with its names, with numbers that are finite and `plain`, and with the kind of its joint
    known. Errors name the number of the row, from 1.

    Args:
        rows: any iterable of rows.
        convention: which decides on the order of numbers in tuples.
        is_symbolic: whether there are symbols elsewhere in the robot.
    """
    if not isinstance(convention, str) or convention not in COLUMNS:
        raise RobotError(unknown_name("convention", convention, COLUMNS, "from_dh"))
    rows = rows.tolist() if hasattr(rows, "tolist") else rows  # a matrix of SymPy would give its entries one by one
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        problem = f"from_dh takes a sequence of rows, not {type(rows).__name__}"
        raise RobotError(problem, subject="from_dh", field="rows", cure="for one row, give [row]")
    read = [_row(number, row, convention) for number, row in enumerate(rows, 1)]
    if not read:
        raise RobotError("the table has no rows", subject="from_dh", field="rows", cure="give one for each joint")
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
    columns, subject = COLUMNS[convention], f"row {number}"

    def fault(problem: str, field: str, cure: str) -> RobotError:
        return RobotError(f"{subject} {problem}", subject=subject, field=field, cure=cure)

    if isinstance(given, DHRow):
        row = given
    elif isinstance(given, Mapping):
        row = _from_words(number, given)
    elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        values = list(given)
        words = dict(values.pop()) if values and isinstance(values[-1], Mapping) else {}
        if len(values) != 4:
            cure = f"give {', '.join(columns)} ({convention} convention), and the rest as a dict, or use DHRow(...)"
            raise fault(f"has {len(values)} numbers", "row", cure)
        twice = [c for c in columns if c in words]
        if twice:
            raise fault(f"has {twice[0]} twice, as a number and in its dict", twice[0], "take one out")
        row = _from_words(number, {**dict(zip(columns, values, strict=True)), **words})
    else:
        raise fault(f"is {given!r}", "row", f"give {', '.join(columns)} as a tuple, or a DHRow")
    for what in ("name", "body"):
        if getattr(row, what) is not None:
            check_name(what, getattr(row, what), subject=subject)
    if not isinstance(row.motor, bool) and not (isinstance(row.motor, Mapping) and all(map(_is_text, row.motor))):
        raise RobotError(bad_value("motor", row.motor, "True, or a dict as in {'gear': 9}", subject))
    if row.joint not in KINDS:
        raise RobotError(unknown_name("kind of joint", row.joint, KINDS, subject))
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
            raise fault(f"is fixed, so that it has no {used[0]}", used[0], "take it out, or change the joint")
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
        raise RobotError(bad_value(what, values, f"{' or '.join(map(str, sizes))} numbers", f"row {number}"))
    return entries


def _tensor(number: int, given: Any) -> tuple[Scalar, ...]:
    """The six entries of an inertia, from its diagonal, its six entries or its three rows."""
    values = given.tolist() if hasattr(given, "tolist") else given  # NumPy's arrays and SymPy's matrices
    entries = _entries(number, "inertia", values, (3, 6))
    if len(entries) == 3 and all(hasattr(row, "__iter__") for row in entries):
        rows = [_entries(number, "a row of inertia", row, (3,)) for row in entries]
        for r, c in ((0, 1), (0, 2), (1, 2)):
            if rows[r][c] != rows[c][r]:
                problem = f"row {number}: inertia is not symmetric, {rows[r][c]} against {rows[c][r]}"
                raise RobotError(problem, subject=f"row {number}", field="inertia", cure="correct it")
        return tuple(rows[r][c] for r in range(3) for c in range(r, 3))
    if len(entries) == 3:
        xx, yy, zz = entries
        return xx, 0, 0, yy, 0, zz
    return entries


def _numbers(row: DHRow) -> list[tuple[str, str, Scalar]]:
    """Name, measure and value of each number of a row."""
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
        problem = f"{what} of row {number} is {value!r}, {kind}"
        raise RobotError(problem, subject=f"row {number}", field=what, cure="give it a number or a symbol")
    if is_bad:
        raise RobotError(bad_value(what, value, "a finite number", f"row {number}"))


# ---- all rows


def _check_names(rows: Sequence[DHRow]) -> None:
    for what in ("name", "body"):
        seen: dict[str, int] = {}
        for number, row in enumerate(rows, 1):
            name = str(getattr(row, what))
            if name in seen:
                problem = f"rows {seen[name]} and {number} have the {what} {name!r}"
                raise RobotError(problem, subject=f"row {number}", field=what, cure="names must be unique")
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
                        f"{what} of row {number} is {value}, but {name} is the coordinate of row {coordinates[name]}",
                        subject=f"row {number}",
                        field=what,
                        cure="give the constant part only (the joint adds its coordinate), or rename the symbol or "
                        "the row",
                    )
                other, where = by_name.setdefault(name, (symbol, number))
                if other != symbol:
                    problem = f"rows {where} and {number} have two symbols named {name}, with different assumptions"
                    cure = "make it once and use it in both"
                    raise RobotError(problem, subject=f"row {number}", field=what, cure=cure)
            if getattr(value, "is_Symbol", False):
                old = meaning.setdefault(value, (measure, what, number))
                if old[0] != measure:
                    here = f"{measure} in row {number} ({what})"
                    problem = f"symbol {value} is {old[0]} in row {old[2]} ({old[1]}) and {here}"
                    raise RobotError(problem, subject=f"row {number}", field=what, cure="use two symbols")


def _plain_row(row: DHRow, is_symbolic: bool) -> DHRow:
    singles = {what: plain(getattr(row, what), is_symbolic) for what in (*COLUMNS["modified"], "offset", "mass")}
    several = {what: tuple(plain(x, is_symbolic) for x in getattr(row, what)) for what in ("com", "inertia")}
    return replace(row, **singles, **several)
