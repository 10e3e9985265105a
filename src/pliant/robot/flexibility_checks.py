"""Checks of robots that give way: what needs inertia has some, and who follows a motor is told.

With x1 the deflection of a spring, x2 the motion of the joint next to it and nothing between them that has inertia,
M has equal rows for x1 and x2 as far as these move the same body alike: it is singular, and accelerations are not
determined.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import Call, RobotError
from pliant.robot.model import Joint
from pliant.robot.report import Finding, Report
from pliant.scalar import is_constant
from pliant.spatial import Inertia, Transform

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["check_flexibilities", "check_inertias", "check_sides", "with_followers_told"]

Scalar = Any


def check_flexibilities(robot: "Robot") -> None:
    """Raise if a flexibility leaves M singular."""
    for name in dict.fromkeys(f.joint for f in robot.flexibilities.values() if f.joint is not None):
        check_inertias(robot, name)


def check_inertias(robot: "Robot", name: str) -> None:
    """Raise if neither the rotor of a joint's motor nor the bodies before it have inertia: M would be singular."""
    joint = robot.joints[name]
    between = [robot.joints[f.name] for f in robot.flexibilities.values() if f.joint == name]
    massless = [j for j in between if not _has_inertia(robot.bodies[j.child].inertia) and _is_zero(*j.armature)]
    rotors = [m.armature for m in robot.motors.values() if m.joint == name]
    dofs = [*massless, *([joint] if _is_zero(*joint.armature, *rotors) else [])]
    if massless and _is_dependent([(j, Transform.identity()) for j in dofs]):
        own = massless[-1].name
        raise RobotError(
            f"{own!r} at joint {name!r} has no inertia of its own and "
            + (f"the motor of {name!r} no rotor inertia" if joint in dofs else "neither has what it carries")
            + ", so accelerations are not determined (M is singular)",
            subject=f"the flexibility at joint {name!r}",
            field="inertia",
            cure="give the motor a rotor, {call}, or the flexibility some inertia, inertia=1e-4",
            call=Call("with_motor", name, {"rotor_inertia": "..."}),
        )


def check_sides(robot: "Robot", subject: str, spring: Joint, beyond: str) -> None:
    """Raise if a body on one side of a spring within a link, and what it carries, has no inertia.

    The side that the spring hangs on needs none if it does not move, or moves otherwise than the spring does.

    Args:
        beyond: what errors call the body that the spring carries.
    """
    if not _carries_inertia(robot, spring.child):
        raise RobotError(
            f"{subject} moves no mass: {beyond} and what it carries have none; give it mass and inertia, or put the "
            "flexibility before a body that has some"
        )
    above = next((j for j in robot.joints.values() if j.child == spring.parent), None)
    if above is None or _carries_inertia(robot, spring.parent, without=spring.name):
        return
    rotors = [m.armature for m in robot.motors.values() if m.joint == above.name]
    if _is_zero(*above.armature, *rotors) and _is_dependent([(above, spring.placement.inverse()), (spring, None)]):
        raise RobotError(
            f"{subject} hangs on body {spring.parent!r}, which has no mass, and joint {above.name!r} moves that as "
            "the spring does, so accelerations are not determined (M is singular); give the body mass and inertia, or "
            "the joint a rotor, armature=1e-4"
        )


def with_followers_told(robot: "Robot", flexibility: str, name: str) -> "Robot":
    """A copy whose report says which joints mimic one that gives way: they follow the motor."""
    followers = [j.name for j in robot.joints.values() if j.mimic is not None and _leads(robot, name, j)]
    if not followers:
        return robot
    who = ", ".join(map(repr, followers)) + (" mimics" if len(followers) == 1 else " mimic")
    message = f"{who} joint {name!r} on the motor's side: what follows does not feel the deflection"
    return replace(robot, report=Report([*robot.report, Finding("odd", f"flexibility {flexibility!r}", message)]))


def _leads(robot: "Robot", name: str, joint: Joint) -> bool:
    while joint.mimic is not None:
        joint = robot.joints[joint.mimic.joint]
        if joint.name == name:
            return True
    return False


def _is_dependent(joints: Sequence[tuple[Joint, Transform | None]]) -> bool:
    """Whether motions of joints, each seen through a constant pose, can cancel; not told for symbols."""
    columns = []
    for joint, X in joints:
        for S in joint.kind.columns:
            moved = S if X is None else X.act(S)
            if all(is_constant(e) for e in moved):
                columns.append([float(e) for e in moved])
    return bool(columns) and bool(np.linalg.matrix_rank(np.array(columns)) < len(columns))


def _carries_inertia(robot: "Robot", body: str, without: str = "") -> bool:
    found = [body]
    for joint in robot.joints.values():
        if joint.parent in found and joint.name != without:
            found.append(joint.child)
    return any(_has_inertia(robot.bodies[name].inertia) for name in found)


def _has_inertia(inertia: Inertia) -> bool:
    return not _is_zero(inertia.mass, *inertia.J)


def _is_zero(*numbers: Scalar) -> bool:
    return all(is_constant(x) and x == 0 for x in numbers)
