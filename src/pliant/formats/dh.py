"""Robots from Denavit-Hartenberg tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pliant.checks import check_finite, check_name
from pliant.errors import RobotError, bad_value
from pliant.formats.dh_rows import DHRow, DHTable, free_symbols, plain, read_rows
from pliant.robot import Finding, Frame, Named, Report, Robot, RobotBuilder
from pliant.robot.joints import ROUNDING, snapped
from pliant.robot.part_checks import placement, vector
from pliant.scalar import Expr, cos, is_constant, sin
from pliant.spatial import AxisRotation, Matrix3, MatrixRotation, Symmetric3, Transform, Vector

__all__ = ["from_dh", "row_steps"]

Scalar = Any
Pose = Transform | tuple[Sequence[Scalar], Sequence[Scalar]]

WORLD = "world"
TOOL = "tool"

# a right angle written with four digits is this far off [rad]
NEAR = 1e-4


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
    outside = [*X_W0.R.matrix(), *X_W0.p, *X_tool.R.matrix(), *X_tool.p, *g]
    given = table.rows if isinstance(rows, DHTable) else rows
    read = read_rows(given, table.convention, is_symbolic=bool(free_symbols(outside)))
    is_symbolic = bool(free_symbols(outside)) or any(free_symbols(_values(row)) for row in read)
    table = replace(
        table,
        rows=read,
        name=name or table.name,
        base=_exact(X_W0, is_symbolic),
        tool=_exact(X_tool, is_symbolic),
        gravity=tuple(plain(x, is_symbolic) for x in g),
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
    # the builder takes roll, pitch and yaw, which are no good for symbols
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
    turned = Matrix3(_cosine(plain(e, is_symbolic)) for e in X.R.matrix())
    return Transform(MatrixRotation(turned), Vector(*(snapped(plain(e, is_symbolic), 0) for e in X.p)))


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


def _values(row: DHRow) -> list[Scalar]:
    return [row.alpha, row.a, row.theta, row.d, row.offset, row.mass, *row.com, *row.inertia]


def _note_near_right_angles(builder: RobotBuilder, number: int, row: DHRow) -> None:
    for what in ("alpha", "theta"):
        angle = getattr(row, what)
        if is_constant(angle):
            off = abs(math.remainder(angle, math.pi / 2))
            # an angle of a few turns is off by the rounding of each
            if ROUNDING * max(1, abs(angle)) < off < NEAR and abs(angle) > NEAR:
                message = f"{what} is {off:.1g} rad off a multiple of pi/2; if a right angle is meant, use math.pi"
                builder.note("odd", f"row {number}", message)
