"""Configurations and velocities of a robot, joint by joint: drawn, moved, compared, and handed from robot to robot."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import check_scalars, entries
from pliant.errors import RobotError, bad_value
from pliant.robot.exponential import turn_exponential
from pliant.robot.joints import Free, JointKind, Planar
from pliant.scalar import Scalar, cos, is_constant, sin
from pliant.spatial import Vector, rotation_from_quaternion

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


def random(robot: "Robot", rng: np.random.Generator, batch: int | None) -> np.ndarray:
    """`Robot.random`."""
    columns: list[Any] = []
    for j in robot.independent_joints:
        columns += j.kind.random(rng, j.limits.lower, j.limits.upper, batch)
    return np.stack(columns, axis=-1) if columns else np.zeros((0,) if batch is None else (batch, 0))


def joint_by_joint(robot: "Robot", function: Callable[..., list], **arguments: Any) -> Any:
    """Apply a function of kind and coordinates to each joint: on NumPy, a scalar is a column of the batch.

    Args:
        function: takes the kind of a joint and its part of each argument.
        arguments: by name; those that begin with "q" are configurations, others velocities.
    """
    columns = {name: _columns(robot, name, value) for name, value in arguments.items()}
    results = _each(robot, function, **columns)
    if not all(is_constant(x) or isinstance(x, np.ndarray) for c in columns.values() for x in c):
        return np.array(results, dtype=object)
    if not results:
        return np.zeros((*np.shape(next(iter(arguments.values())))[:-1], 0))
    return np.stack(np.broadcast_arrays(*results), axis=-1).astype(float)


def _each(robot: "Robot", function: Callable[..., Iterable], **arguments: Any) -> list[Scalar]:
    """The results of a function of kind and coordinates, joint by joint; arguments as in `joint_by_joint`."""
    found: list[Scalar] = []
    for joint in robot.independent_joints:
        q, v = robot.q_slice(joint.name), robot.v_slice(joint.name)
        found.extend(function(joint.kind, *(x[q if name[0] == "q" else v] for name, x in arguments.items())))
    return found


def _columns(robot: "Robot", name: str, value: Any) -> list[Scalar]:
    is_array = isinstance(value, np.ndarray) and value.ndim
    columns = list(np.moveaxis(value, -1, 0)) if is_array else list(entries(name, value, subject=robot.frames.owner))
    size, expected = ("nq", robot.nq) if name[0] == "q" else ("nv", robot.nv)
    if len(columns) != expected:
        owner = robot.frames.owner
        problem = f"{name} has {len(columns)} entries, but {owner} has {size} = {expected}"
        raise RobotError(problem, subject=owner, field=name, cure=f"it takes {expected}")
    check_scalars(name, columns, subject=robot.frames.owner)
    return columns


def carried_over(robot: "Robot", other: Any, given: Any, name: str) -> np.ndarray:
    """`Robot.q_from` and `Robot.v_from`, by name "q" or "v"."""
    if not isinstance(other, type(robot)):
        problem = f"{name}_from takes a Robot first, not {other!r}, a {type(other).__name__}"
        raise RobotError(problem, subject=f"{name}_from", field="other", cure="see pliant.load")
    is_q = name == "q"
    start = robot.neutral() if is_q else np.zeros(robot.nv)
    array = _checked(name, given, other.coordinate_names if is_q else other.velocity_names)
    found = np.array(np.broadcast_to(start, (*array.shape[:-1], len(start))))
    for joint in _shared_joints(robot, other):
        own, theirs = (r.q_slice(joint) if is_q else r.v_slice(joint) for r in (robot, other))
        found[..., own] = array[..., theirs]
    return found


def _shared_joints(robot: "Robot", other: "Robot") -> list[str]:
    own = [j.name for j in robot.independent_joints if j.kind.nv]
    # joints that were fixed before they became flexible have no coordinates to hand over
    shared = [n for n in own if n in other.joints and other.joints[n].kind.nv]
    for name in shared:
        kinds = robot.joints[name].kind.name, other.joints[name].kind.name
        if kinds[0] != kinds[1]:
            problem = f"joint {name!r} is {kinds[0]} here and {kinds[1]} there"
            raise RobotError(problem, subject=f"joint {name!r}", field="kind", cure="rename one of them")
    return shared


def _checked(name: str, given: Any, names: Sequence[str]) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise RobotError(bad_value(name, given, f"{len(names)} numbers, or rows of as many")) from None
    if array.shape[-1:] != (len(names),):
        problem = f"{name} has shape {array.shape}, but the other robot's has {len(names)} entries"
        raise RobotError(problem, field=name, cure="give that many")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row = f" of row {bad[0][0]}" if array.ndim == 2 else ""
        value, entry = array[tuple(bad[0])], names[bad[0][-1]]
        raise RobotError(bad_value(name, float(value), "a finite number", f"{entry!r}{row}"))
    return array


# ---- straight motion: joints that float, moved as bodies that keep their velocity in space
#
# The velocity of a free (or planar) joint is in the axes of its child, which turn. A step that takes it as constant
# there would send the body round a curve, and an explicit one would let it gain speed: one part in (w dt)^2 / 2 every
# step. Here the velocity is constant in the axes that the child has at the start of the step.


def held_acceleration(robot: "Robot", v: Sequence[Scalar], centers: Mapping[str, Vector] | None = None) -> list[Scalar]:
    """The vd of joints whose child keeps its linear velocity in space: -w x v for those that float, else 0.

    Args:
        centers: by joint that floats freely, the point of its child that keeps its velocity, by default the origin.
    """
    found = _each(robot, _held, v=v)
    for name, c in (centers or {}).items():
        d = robot.v_slice(name).start
        w = Vector(*v[d + 3 : d + 6])
        found[d : d + 3] = [a - b for a, b in zip(found[d : d + 3], w.cross(w.cross(c)), strict=True)]
    return found


def held_matrix(robot: "Robot", v: Sequence[Scalar], centers: Mapping[str, Vector]) -> dict[tuple[int, int], Scalar]:
    """The matrix H(v) with `held_acceleration` = H(v) v, its entries by row and column: y -> -w x (y + w_y x c)."""
    found: dict[tuple[int, int], Scalar] = {}
    for joint in robot.independent_joints:
        at = robot.v_slice(joint.name).start
        if isinstance(joint.kind, Planar):
            w = v[at + 2]
            found |= {(at, at + 1): w, (at + 1, at): -w}
        elif isinstance(joint.kind, Free):
            w, c = Vector(*v[at + 3 : at + 6]), centers.get(joint.name, Vector.zero())
            for k in range(3):
                unit = Vector(*(int(k == i) for i in range(3)))
                columns = {at + k: -w.cross(unit), at + 3 + k: -w.cross(unit.cross(c))}
                found |= {(at + r, e): column[r] for e, column in columns.items() for r in range(3)}
    return found


def straight_motion(
    robot: "Robot", q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar, centers: Mapping[str, Vector] | None = None
) -> list[Scalar]:
    """q after the time dt at a velocity in the axes of the start.

    Args:
        centers: as for `held_acceleration`: points that go straight on.
    """
    shift = [x * dt for x in v]
    for name, c in (centers or {}).items():
        d = robot.v_slice(name).start
        turn = Vector(*shift[d + 3 : d + 6])
        # the point goes by dt (v + w x c), and the origin around it
        straight = Vector(*shift[d : d + 3]) + turn.cross(c)
        shift[d : d + 3] = [*(straight + c - rotation_from_quaternion(*turn_exponential(turn)).rotate(c))]
    return _each(robot, _moved, q=q, v=shift)


def carried_velocity(
    robot: "Robot", v: Sequence[Scalar], dt: Scalar, motion: Sequence[Scalar] | None = None,
    centers: Mapping[str, Vector] | None = None,
) -> list[Scalar]:  # fmt: skip
    """The velocity in the axes that the children have after the time dt; they turn with ``motion``, or with v.

    Angular velocities stay as they are: about itself a velocity does not turn.

    Args:
        centers: as for `held_acceleration`.
    """
    v = list(v)
    for name, c in (centers or {}).items():
        v = _moved_origin(v, robot.v_slice(name).start, c)
    if motion is None:
        found = _each(robot, lambda kind, v: _carried(kind, v, dt, v), v=v)
    else:
        found = _each(robot, lambda kind, v, motion: _carried(kind, v, dt, motion), v=v, motion=motion)
    for name, c in (centers or {}).items():
        found = _moved_origin(found, robot.v_slice(name).start, -c)
    return found


def _moved_origin(v: Sequence[Scalar], d: int, c: Vector) -> list[Scalar]:
    """A velocity whose dofs from d on, of a joint that floats, are those of the point c."""
    found = list(v)
    found[d : d + 3] = [*(Vector(*v[d : d + 3]) + Vector(*v[d + 3 : d + 6]).cross(c))]
    return found


def _held(kind: JointKind, v: Sequence[Scalar]) -> list[Scalar]:
    if isinstance(kind, Free):
        return [*-Vector(*v[3:]).cross(Vector(*v[:3])), 0, 0, 0]
    if isinstance(kind, Planar):
        x, y, w = v
        return [w * y, -w * x, 0]
    return [0] * kind.nv


def _moved(kind: JointKind, q: Sequence[Scalar], w: list[Scalar]) -> list[Scalar]:
    if isinstance(kind, Free):
        place = kind.transform(q).transform_point(Vector(*w[:3]))
        return [*place, *kind.integrate(q, [0, 0, 0, *w[3:]])[3:]]
    if isinstance(kind, Planar):
        x, y, c, s = q
        turned = kind.integrate(q, [0, 0, w[2]])[2:]
        return [x + c * w[0] - s * w[1], y + s * w[0] + c * w[1], *turned]
    return kind.integrate(q, w)


def _carried(kind: JointKind, v: Sequence[Scalar], dt: Scalar, motion: Sequence[Scalar]) -> Sequence[Scalar]:
    if isinstance(kind, Free):
        turn = rotation_from_quaternion(*turn_exponential(Vector(*(x * dt for x in motion[3:]))))
        return [*turn.rotate_back(Vector(*v[:3])), *v[3:]]
    if isinstance(kind, Planar):
        x, y, w = v
        c, s = cos(motion[2] * dt), sin(motion[2] * dt)
        return [c * x + s * y, c * y - s * x, w]
    return v
