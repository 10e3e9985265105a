"""Configurations and velocities of a robot, joint by joint: drawn, moved, compared, and handed from robot to robot."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import check_scalars
from pliant.errors import RobotError, bad_value
from pliant.scalar import is_constant

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["carried_over", "joint_by_joint", "random"]

Scalar = Any


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
    results: list[Scalar] = []
    for joint in robot.independent_joints:
        q, v = robot.q_slice(joint.name), robot.v_slice(joint.name)
        results += function(joint.kind, *(c[q if name[0] == "q" else v] for name, c in columns.items()))
    if not all(is_constant(x) or isinstance(x, np.ndarray) for c in columns.values() for x in c):
        return np.array(results, dtype=object)
    if not results:
        return np.zeros((*np.shape(next(iter(arguments.values())))[:-1], 0))
    return np.stack(np.broadcast_arrays(*results), axis=-1).astype(float)


def _columns(robot: "Robot", name: str, value: Any) -> list[Scalar]:
    columns = list(np.moveaxis(value, -1, 0)) if isinstance(value, np.ndarray) and value.ndim else list(value)
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
