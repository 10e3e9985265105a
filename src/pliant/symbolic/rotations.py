"""Joints with quaternions as chains of single joints, for equations in minimal coordinates."""

from collections.abc import Callable
from dataclasses import replace

from pliant.errors import PliantError, unknown_name
from pliant.robot import (
    Body,
    Free,
    Joint,
    JointKind,
    Limits,
    Named,
    Planar,
    Prismatic,
    Revolute,
    Robot,
    Spherical,
)  # fmt: skip
from pliant.robot.joints import coordinate_axis
from pliant.scalar import is_constant
from pliant.spatial import Inertia, Transform

__all__ = ["ROTATIONS", "with_single_joints"]

_X, _Y, _Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
_TURNS: list[tuple[str, JointKind]] = [("yaw", Revolute(_Z)), ("pitch", Revolute(_Y)), ("roll", Revolute(_X))]
_SLIDES: list[tuple[str, JointKind]] = [("x", Prismatic(_X)), ("y", Prismatic(_Y)), ("z", Prismatic(_Z))]


def _euler(robot: Robot, joint: Joint) -> list[tuple[str, JointKind]] | None:
    """Slides along x, y and z, then turns about z, y and x: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    kind = joint.kind
    if isinstance(kind, Free):
        return _SLIDES + _TURNS
    if isinstance(kind, Spherical):
        return list(_TURNS)
    if isinstance(kind, Planar):
        match coordinate_axis(kind.axis):
            case (k, 1):
                units = [_X, _Y, _Z]
                first, second = units[(k + 1) % 3], units[(k + 2) % 3]
                return [("x", Prismatic(first)), ("y", Prismatic(second)), ("turn", Revolute(units[k]))]
        problem = f"planar joint {joint.name!r} of {robot.name!r} has an oblique normal"
        raise PliantError(problem, subject=f"joint {joint.name!r}", field="axis", cure="give it x, y or z")
    return None


ROTATIONS: dict[str, Callable[[Robot, Joint], list[tuple[str, JointKind]] | None]] = {"euler": _euler}
"""Ways to write joints with quaternions as chains of single joints."""


def with_single_joints(robot: Robot, rotations: str) -> Robot:
    """A copy in which free, spherical and planar joints are chains of single joints on massless bodies.

    Their coordinates are JOINT_x, JOINT_y, JOINT_z and JOINT_yaw, JOINT_pitch, JOINT_roll. At a pitch of a right
    angle two turns are about the same axis, and M is singular there.
    """
    if rotations not in ROTATIONS:
        raise PliantError(unknown_name("way to write rotations", rotations, ROTATIONS))
    joints: list[Joint] = []
    bodies: list[Body] = []
    for joint in robot.joints.values():
        chain = ROTATIONS[rotations](robot, joint)
        if chain is None:
            joints.append(joint)
            bodies.append(robot.bodies[joint.child])
            continue
        _check_bare(robot, joint)
        parent, placement = joint.parent, joint.placement
        for k, (label, kind) in enumerate(chain):
            name, is_last = f"{joint.name}_{label}", k == len(chain) - 1
            child = joint.child if is_last else name
            bodies.append(robot.bodies[child] if is_last else Body(name, Inertia.zero()))
            limits = Limits((-float("inf"),), (float("inf"),), (float("inf"),), (float("inf"),))
            joints.append(Joint(name, kind, parent, child, placement, limits, (0,), (0,), (0,)))
            parent, placement = name, Transform.identity()
    return replace(
        robot,
        bodies=Named("body", bodies, robot.bodies.owner),
        joints=Named("joint", joints, robot.joints.owner),
    )


def _check_bare(robot: Robot, joint: Joint) -> None:
    """Raise if the joint has forces along its velocities, which would act along others in the chain."""
    for what in ("damping", "friction", "armature", "stiffness", "hardening"):
        if not all(is_constant(x) and x == 0 for x in getattr(joint, what)):
            raise PliantError(
                f"joint {joint.name!r} of {robot.name!r} has {what}, which a chain of single joints would put on other "
                "axes",
                subject=f"joint {joint.name!r}",
                field=what,
                cure="take it off, or write the equations without rotations='euler'",
            )
