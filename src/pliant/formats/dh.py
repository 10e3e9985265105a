"""Denavit-Hartenberg tables, and robots from them; `from_dh` has the two conventions."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from pliant.checks import check, check_finite, check_known, check_name, is_scalar
from pliant.errors import RobotError, bad_value
from pliant.robot import Finding, Frame, Limits, Named, Report, Robot, RobotBuilder
from pliant.robot.joints import ROUNDING, snapped
from pliant.robot.part_checks import placement, vector
from pliant.scalar import Expr, Scalar, cos, is_constant, sin
from pliant.signatures import explained
from pliant.spatial import AxisRotation, Matrix3, MatrixRotation, Symmetric3, Transform, Vector

Pose = Transform | tuple[Sequence[Scalar], Sequence[Scalar]]

WORLD = "world"
TOOL = "tool"

# a right angle written with four digits is this far off [rad]
NEAR = 1e-4

COLUMNS = {"modified": ("alpha", "a", "theta", "d"), "standard": ("theta", "d", "a", "alpha")}
"""The conventions, and the order of a tuple's four numbers in each."""

KINDS = ("revolute", "continuous", "prismatic", "fixed")
"""The joints that a row can have."""


@explained
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


@explained
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
    """A number of a row, and the coordinate where it is added; right angles but for rounding in files as such."""
    is_moving = row.joint != "fixed" and column == ("d" if row.joint == "prismatic" else "theta")
    x = getattr(row, column) + (row.offset if is_moving else 0)
    text = f"{x:.6g}" if is_constant(x) else str(x)
    if is_constant(x) and column in ("alpha", "theta"):
        text = next((angle for angle, value in _RIGHT_ANGLES.items() if abs(x - value) <= _ROUNDED), text)
    if not is_moving:
        return text
    return name if text == "0" else f"{text} + {name}"


_RIGHT_ANGLES = {"0": 0, "pi/2": math.pi / 2, "-pi/2": -math.pi / 2, "pi": math.pi, "-pi": -math.pi}
# [rad]; the numbers of the table stay as they are
_ROUNDED = 1e-9


# ---- robots from tables


@explained
def from_dh(
    rows: Iterable[Any] | DHTable,
    convention: str | None = None,
    *,
    name: str | None = None,
    base: Pose | None = None,
    tool: Pose | None = None,
    gravity: Sequence[Scalar] | None = None,
    strict: bool = True,
    repair: bool = False,
) -> Robot:
    """The robot that a Denavit-Hartenberg table describes: a chain on the world, one joint and one body a row.

        modified (Craig):  X_{i-1,i} = Rx(alpha) Tx(a) Rz(theta) Tz(d),   joint i about z_i
        standard:          X_{i-1,i} = Rz(theta) Tz(d) Tx(a) Rx(alpha),   joint i about z_{i-1}

    [Craig 2005, Introduction to Robotics, 3.4; Denavit and Hartenberg 1955]. The joint's coordinate is added
    to theta, or to d if it is prismatic. Frames "frame0" to "frameN" are those of the table, "tool" comes
    after the last. Body i moves with frame i; its own frame is frame i in the modified convention, but lies at
    the joint, in z_{i-1}, in the standard one.

    Numbers may be floats or SymPy's. Right angles are exact, as math.pi / 2 or sympy.pi / 2: rotations have
    the integers 0, 1 and -1 there. Numbers of SymPy are made floats, unless there are symbols among them.

    Args:
        rows: for each row a `DHRow`, a dict of its attributes, or four numbers and perhaps such a dict: (alpha,
            a, theta, d) in the modified convention, (theta, d, a, alpha) in the standard one. Or a `DHTable`.
        convention: "modified" (the default) or "standard"; a `DHTable` has its own.
        name: of the robot.
        base: X_W0, as a `Transform` or (position [m], roll-pitch-yaw [rad]).
        tool: the same, of the tool in the last frame.
        gravity: its acceleration in the world [m/s^2], by default (0, 0, -9.81).
        strict, repair: what to do about impossible inertias and crossed limits, see `RobotBuilder.build`.

    Raises:
        RobotError: names the row and its fault.
    """
    table = rows if isinstance(rows, DHTable) else DHTable((), convention or "modified")
    if isinstance(rows, DHTable) and convention not in (None, table.convention):
        problem = f"the table is in the {table.convention} convention, not {convention}"
        raise RobotError(problem, subject="from_dh", field="convention", cure="leave that out")
    X_W0 = table.base if base is None else _pose("base", base)
    X_tool = table.tool if tool is None else _pose(TOOL, tool)
    g = tuple(vector("gravity", table.gravity if gravity is None else gravity, subject="from_dh"))
    if name is not None:
        check_name("name", name, subject="from_dh")
    read = _read_rows(table.rows if isinstance(rows, DHTable) else rows, table.convention)
    numbers = [x for row in read for _, _, x in _numbers(row)]
    outside = [*X_W0.R.matrix(), *X_W0.p, *X_tool.R.matrix(), *X_tool.p, *g]
    is_symbolic = bool(_free_symbols([*numbers, *outside]))
    table = replace(
        table,
        rows=tuple(_plain_row(row, is_symbolic) for row in read),
        name=name or table.name,
        base=_exact(X_W0, is_symbolic),
        tool=_exact(X_tool, is_symbolic),
        gravity=tuple(_plain(x, is_symbolic) for x in g),
    )
    try:
        return _built(table, strict, repair)
    except RobotError as error:
        raise error.within("from_dh") from None


def row_steps(row: DHRow, convention: str) -> tuple[Transform, Transform]:
    """The constant steps of a row before its joint, X_{i-1,J}, and after it, X_{B,i}."""
    theta = row.theta if row.joint == "prismatic" else row.theta + row.offset
    d = row.d + row.offset if row.joint == "prismatic" else row.d
    # turns and slides about the same axis commute, and so do theta, d and the joint itself
    about_x, about_z = _screw(0, row.alpha, row.a), _screw(2, theta, d)
    if convention == "modified":
        return _exact(about_x @ about_z), Transform.identity()
    return Transform(about_z.R, Vector.zero()), _exact(Transform(MatrixRotation.identity(), about_z.p) @ about_x)


def _built(table: DHTable, strict: bool, repair: bool) -> Robot:
    """The robot of a table whose rows have been read."""
    builder = RobotBuilder(table.name)
    builder.gravity(*table.gravity)
    parent, X = WORLD, table.base
    placements: dict[str, Transform] = {}
    frames = [Frame("frame0", WORLD, table.base)]
    for number, row in enumerate(table.rows, 1):
        joint, body = str(row.name), str(row.body)
        before, after = row_steps(row, table.convention)
        try:
            _add(builder, row, parent, after)
        except RobotError as error:
            raise error.within(f"row {number}") from None
        _note_near_right_angles(builder, number, row)
        placements[joint] = _exact(X @ before)
        frames.append(Frame(f"frame{number}", body, after))
        parent, X = body, after
    frames.append(Frame(TOOL, parent, _exact(X @ table.tool)))
    robot = builder.build(strict=strict, repair=repair)
    # the builder takes roll, pitch and yaw, which symbols have no formula for
    joints = [replace(j, placement=placements[j.name]) for j in robot.joints.values()]
    kept = [f for f in frames if f.name not in robot.bodies]
    taken = [
        Finding("dropped", f"frame {f.name!r}", "a body has its name: this frame is left out")
        for f in frames
        if f.name in robot.bodies
    ]
    return replace(
        robot,
        joints=Named("joint", joints, robot.joints.owner),
        frames=robot.frames.extended(*kept),
        report=Report([*table.report, *robot.report, *taken]),
    )


def _add(builder: RobotBuilder, row: DHRow, parent: str, after: Transform) -> None:
    """The body and the joint of a row; the body's numbers are in the frame that the row ends in."""
    joint, body = str(row.name), str(row.body)
    com, tensor = Vector(*row.com), Symmetric3(*row.inertia)
    if not _is_identity(after):
        com, tensor = after.transform_point(com), after.R.conjugate_symmetric(tensor)
    builder.body(body, row.mass, tuple(com), tuple(tensor))
    values = {"damping": row.damping, "friction": row.friction, "armature": row.armature}
    axis = None if row.joint == "fixed" else (0, 0, 1)
    builder.joint(joint, row.joint, parent, body, axis=axis, limits=row.limits, **values)
    if row.motor is not False:
        builder.motor(joint, **(row.motor if isinstance(row.motor, Mapping) else {}))


def _screw(axis: int, angle: Scalar, distance: Scalar) -> Transform:
    """A turn about a coordinate axis and a slide along it."""
    along = Vector(*(distance if k == axis else 0 for k in range(3)))
    if is_constant(angle) and angle == 0:
        return Transform(MatrixRotation.identity(), along)
    return _exact(Transform(AxisRotation(axis, cos(angle), sin(angle)), along))


def _exact(X: Transform, is_symbolic: bool = True) -> Transform:
    """The same pose with the integers 0, 1 and -1 where it has them but for rounding, also for SymPy's."""
    turned = Matrix3(_cosine(_plain(e, is_symbolic)) for e in X.R.matrix())
    return Transform(MatrixRotation(turned), Vector(*(snapped(_plain(e, is_symbolic), 0) for e in X.p)))


def _cosine(x: Scalar) -> Scalar:
    """An entry of a rotation, snapped; a float times a number of SymPy is another kind of number."""
    if is_constant(x) or isinstance(x, Expr) or x.free_symbols:
        return snapped(x)
    near = snapped(float(x))
    return near if isinstance(near, int) else x


def _is_identity(X: Transform) -> bool:
    numbers = [*X.R.matrix(), *X.p]
    return all(is_constant(x) and x == y for x, y in zip(numbers, [*Matrix3.identity(), 0, 0, 0], strict=True))


def _pose(what: str, given: Any) -> Transform:
    """A pose from a `Transform`, or from position and roll, pitch, yaw."""
    if isinstance(given, Transform):
        check_finite(what, *given.R.matrix(), *given.p, subject="from_dh")
        return given
    try:
        position, rpy = given
    except (TypeError, ValueError):
        raise RobotError(bad_value(what, given, "a Transform or (position, rpy)", "from_dh")) from None
    return placement(position, rpy, subject=f"the {what} of from_dh")


def _note_near_right_angles(builder: RobotBuilder, number: int, row: DHRow) -> None:
    for what in ("alpha", "theta"):
        angle = getattr(row, what)
        if is_constant(angle):
            off = abs(math.remainder(angle, math.pi / 2))
            # an angle of a few turns is off by the rounding of each
            if ROUNDING * max(1, abs(angle)) < off < NEAR and abs(angle) > NEAR:
                message = f"{what} is {off:.1g} rad off a multiple of pi/2; if a right angle is meant, use math.pi"
                builder.note("odd", f"row {number}", message)


# ---- rows as users write them


def _read_rows(rows: Any, convention: str) -> list[DHRow]:
    """Rows as `DHRow`, from those, dicts of their attributes, or tuples of four numbers and perhaps such a dict.

    Each comes back with its names, with numbers that are finite, and with the kind of its joint known. Errors name the
    number of the row, from 1.
    """
    check_known("convention", convention, COLUMNS, "from_dh", error=RobotError)
    rows = rows.tolist() if hasattr(rows, "tolist") else rows  # a matrix of SymPy would give its entries one by one
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        problem = f"from_dh takes a sequence of rows, not {type(rows).__name__}"
        raise RobotError(problem, subject="from_dh", field="rows", cure="for one row, give [row]")
    read = [_row(number, row, convention) for number, row in enumerate(rows, 1)]
    if not read:
        raise RobotError("the table has no rows", subject="from_dh", field="rows", cure="give one for each joint")
    _check_names(read)
    _check_symbols(read)
    return read


def _free_symbols(values: Iterable[Scalar]) -> set[Any]:
    """The symbols in some scalars; traced ones have none, but are not known either."""
    return {symbol for x in values for symbol in getattr(x, "free_symbols", ())}


def _plain(x: Scalar, is_symbolic: bool) -> Scalar:
    """A number of SymPy as a float, or as it is next to symbols; but 0, 1 and -1 as integers always."""
    if isinstance(x, Expr) or _free_symbols([x]):
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
    else:
        words = given
        if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
            values = list(given)
            words = dict(values.pop()) if values and isinstance(values[-1], Mapping) else {}
            if len(values) != 4:
                cure = f"give {', '.join(columns)} ({convention} convention), and the rest as a dict, or use DHRow(...)"
                raise fault(f"has {len(values)} numbers", "row", cure)
            if twice := [c for c in columns if c in words]:
                raise fault(f"has {twice[0]} twice, as a number and in its dict", twice[0], "take one out")
            words |= dict(zip(columns, values, strict=True))
        if not isinstance(words, Mapping):
            raise fault(f"is {given!r}", "row", f"give {', '.join(columns)} as a tuple, or a DHRow")
        known = [f.name for f in fields(DHRow)]
        for word in words:
            check_known("attribute", word, known, subject, error=RobotError)
        row = DHRow(**words)
    for what in ("name", "body"):
        if getattr(row, what) is not None:
            check_name(what, getattr(row, what), subject=subject)
    is_motor = isinstance(row.motor, Mapping) and all(isinstance(word, str) for word in row.motor)
    takes = "True, or a dict as in {'gear': 9}"
    check("motor", row.motor, takes, isinstance(row.motor, bool) or is_motor, subject=subject, error=RobotError)
    check_known("kind of joint", row.joint, KINDS, subject, error=RobotError)
    row = replace(
        row,
        com=_entries("com", row.com, (3,), subject),
        inertia=_tensor(row.inertia, subject),
        name=row.name or f"joint{number}",
        body=row.body or f"link{number}",
    )
    for what, _, value in _numbers(row):
        takes = "a number or a symbol, as math.pi or sympy.pi"
        check(what, value, takes, is_scalar(value), subject=subject, error=RobotError)
        check_finite(what, value, subject=subject)
    if row.joint == "fixed":
        values = {w: getattr(row, w) for w in ("offset", "limits", "motor", "damping", "friction", "armature")}
        used = [w for w, x in values.items() if x is not None and not (isinstance(x, int | float) and x == 0)]
        if used:
            raise fault(f"is fixed, so that it has no {used[0]}", used[0], "take it out, or change the joint")
    return row


def _entries(what: str, values: Any, sizes: tuple[int, ...], subject: str) -> tuple[Scalar, ...]:
    entries = tuple(values) if hasattr(values, "__iter__") else ()
    takes = f"{' or '.join(map(str, sizes))} numbers"
    check(what, values, takes, len(entries) in sizes, subject=subject, error=RobotError)
    return entries


def _tensor(given: Any, subject: str) -> tuple[Scalar, ...]:
    """The six entries of an inertia, from its diagonal, its six entries or its three rows."""
    values = given.tolist() if hasattr(given, "tolist") else given  # NumPy's arrays and SymPy's matrices
    entries = _entries("inertia", values, (3, 6), subject)
    if len(entries) == 6:
        return entries
    if not all(hasattr(row, "__iter__") for row in entries):
        xx, yy, zz = entries
        return xx, 0, 0, yy, 0, zz
    rows = [_entries("a row of inertia", row, (3,), subject) for row in entries]
    for r, c in ((0, 1), (0, 2), (1, 2)):
        if rows[r][c] != rows[c][r]:
            problem = f"{subject}: inertia is not symmetric, {rows[r][c]} against {rows[c][r]}"
            raise RobotError(problem, subject=subject, field="inertia", cure="correct it")
    return tuple(rows[r][c] for r in range(3) for c in range(r, 3))


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
                    owner = f"the coordinate of row {coordinates[name]}"
                    problem = f"{what} of row {number} is {value}, but {name} is {owner}"
                    cure = (
                        "give the constant part only (the joint adds its coordinate), or rename the symbol or the row"
                    )
                    raise RobotError(problem, subject=f"row {number}", field=what, cure=cure)
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
    singles = {what: _plain(getattr(row, what), is_symbolic) for what in (*COLUMNS["modified"], "offset", "mass")}
    several = {what: tuple(_plain(x, is_symbolic) for x in getattr(row, what)) for what in ("com", "inertia")}
    return replace(row, **singles, **several)
