"""Straight motion: joints that float, moved as bodies that keep their velocity in space.

The velocity of a free (or planar) joint is in the axes of its child, which turn. A step that takes it as
constant there would send the body round a curve, and an explicit one would let it gain speed: one
part in (w dt)^2 / 2 every step. Here the velocity is constant in the axes that the child has at the
start of the step. `held_acceleration` is what that means for its numbers, `straight_motion` where it
leads to, and `carried_velocity` the same velocity in the axes at the end.
"""

from collections.abc import Sequence
from typing import Any

from pliant.robot.exponential import turn_exponential
from pliant.robot.joints import Free, JointKind, Planar
from pliant.robot.robot import Robot
from pliant.scalar import cos, sin
from pliant.spatial import Vector, rotation_from_quaternion

__all__ = ["carried_velocity", "held_acceleration", "straight_motion"]

Scalar = Any


def held_acceleration(robot: Robot, v: Sequence[Scalar]) -> list[Scalar]:
    """The vd of joints whose child keeps its linear velocity in space: -w x v for those that float, else 0."""
    return _joint_by_joint(robot, _held, v)


def straight_motion(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
    """q after the time dt at a velocity in the axes of the start."""
    found: list[Scalar] = []
    for link in robot.mechanism.links:
        if not link.is_mimic:
            found += _moved(link.kind, q[link.q], [x * dt for x in v[link.v]])
    return found


def carried_velocity(
    robot: Robot, v: Sequence[Scalar], dt: Scalar, motion: Sequence[Scalar] | None = None
) -> list[Scalar]:
    """The velocity in the axes that the children have after the time dt; they turn with ``motion``, or with v."""
    if motion is None:
        return _joint_by_joint(robot, lambda kind, v: _carried(kind, v, dt, v), v)
    return _joint_by_joint(robot, lambda kind, v, motion: _carried(kind, v, dt, motion), v, motion)


def _joint_by_joint(robot: Robot, function: Any, *rates: Sequence[Scalar]) -> list[Scalar]:
    found: list[Scalar] = []
    for link in robot.mechanism.links:
        if not link.is_mimic:
            found += function(link.kind, *(list(v[link.v]) for v in rates))
    return found


def _held(kind: JointKind, v: list[Scalar]) -> list[Scalar]:
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


def _carried(kind: JointKind, v: list[Scalar], dt: Scalar, motion: list[Scalar]) -> list[Scalar]:
    if isinstance(kind, Free):
        turn = rotation_from_quaternion(*turn_exponential(Vector(*(x * dt for x in motion[3:]))))
        # about itself a velocity does not turn
        spin = v[3:] if motion is v else [*turn.rotate_back(Vector(*v[3:]))]
        return [*turn.rotate_back(Vector(*v[:3])), *spin]
    if isinstance(kind, Planar):
        x, y, w = v
        c, s = cos(motion[2] * dt), sin(motion[2] * dt)
        return [c * x + s * y, c * y - s * x, w]
    return v
