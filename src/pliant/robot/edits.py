"""Copies of a robot with a change: the methods of `Robot` call these, and their docstrings are there."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import as_scalar, check, check_finite, check_name, one_for_each, per_entry
from pliant.errors import Call, RobotError, bad_value, unknown_name
from pliant.robot.cutting import cut_link
from pliant.robot.flexibilities import Spring, at_fixed_joint, at_joint
from pliant.robot.joints import Fixed, Scalars
from pliant.robot.model import WORLD, Closure, Frame, FrameSpring, Motor
from pliant.robot.part_checks import (
    check_closure,
    check_joint,
    check_limits,
    check_motor,
    check_motor_values,
    check_spring,
    full_limits,
)  # fmt: skip
from pliant.robot.placement import placement
from pliant.spatial import Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = [
    "with_closure", "with_flexibility", "with_frame", "with_gravity", "with_joint", "with_motor", "with_motors",
    "with_spring",
]  # fmt: skip

Scalar = Any


def with_motor(robot: "Robot", joint: str, name: str | None, values: dict[str, Any]) -> "Robot":
    """`Robot.with_motor`."""
    check_name("joint", joint, subject="a motor")
    name = joint if name is None else name
    check_name("name", name, subject="a motor")
    if name in robot.motors and robot.motors[name].joint == joint:
        return with_motors(robot, [name], {key: [value] for key, value in values.items()})
    check_motor_values(name, values)
    motor = Motor(name, joint, **{key: as_scalar(value) for key, value in values.items()})
    check_motor(motor, robot.joints)
    return replace(robot, motors=robot.motors.extended(motor))


def with_motors(robot: "Robot", names: str | Iterable[str] | None, values: dict[str, Any]) -> "Robot":
    """`Robot.with_motors`."""
    if names is not None and not isinstance(names, Iterable):
        raise RobotError(bad_value("names", names, "a name, a list of names, or None for all", "the motors"))
    chosen = list(robot.motors) if names is None else [names] if isinstance(names, str) else list(names)
    columns = {}
    for key, value in values.items():
        check_motor_values(chosen[0] if chosen else "", {key: value})
        columns[key] = one_for_each(f"{key} of the motors", value, len(chosen))
    motors = robot.motors
    for k, name in enumerate(chosen):
        check_name("name", name, subject="a motor")
        motor = replace(motors[name], **{key: column[k] for key, column in columns.items()})
        check_motor(motor, robot.joints)
        motors = motors.replaced(motor)
    return replace(robot, motors=motors)


def with_frame(robot: "Robot", name: str, body: str, position: Scalars, rpy: Scalars) -> "Robot":
    """`Robot.with_frame`."""
    subject = f"frame {name!r}"
    check_name("name", name, subject="a frame")
    if name == WORLD or name in robot.joints:
        what = "the world" if name == WORLD else f"the child of joint {name!r}"
        problem = f"a frame cannot be named {name!r}: as a frame, that means {what}"
        raise RobotError(problem, subject=subject, field="name", cure="take another name")
    on = robot.frame(body)
    frame = Frame(name, on.body, on.placement @ placement(position, rpy, subject=subject))
    return replace(robot, frames=robot.frames.extended(frame))


def with_gravity(robot: "Robot", x: Scalar, y: Scalar, z: Scalar) -> "Robot":
    """`Robot.with_gravity`."""
    check_finite("gravity", x, y, z)
    return replace(robot, gravity=Vector(x, y, z))


def with_joint(
    robot: "Robot", name: str, per_dof: dict[str, Any], law: Any, single: dict[str, Any], limits: Any
) -> "Robot":
    """`Robot.with_joint`.

    Args:
        per_dof: numbers, one for all degrees of freedom or one for each; None leaves one as it is.
        law: a function, or one for each degree of freedom.
        single: values of a joint with one degree of freedom.
    """
    check_name("name", name, subject="a joint")
    joint = robot.joints[name]
    nv, subject = joint.kind.nv, f"joint {name!r}"
    changes: dict[str, Any] = {
        key: per_entry(key, value, nv, subject=subject, least=0) for key, value in per_dof.items() if value is not None
    }
    if law is not None:
        changes["law"] = tuple(one_for_each(f"law of {subject}", law, nv))
    locked = single["is_locked"]
    is_flag = locked is None or isinstance(locked, bool | np.bool_)
    check("locked", locked, "True or False", is_flag, subject=subject, error=RobotError)
    changes |= {key: as_scalar(value) for key, value in single.items() if value is not None}
    if limits is not None:
        changes["limits"] = full_limits(subject, limits, joint.kind)
        check_limits(subject, changes["limits"])
    if changes and nv == 0:
        what = next(iter(changes)).removeprefix("is_")
        raise RobotError(
            f"{what} of {subject} would do nothing: it is fixed",
            subject=subject,
            field=what,
            cure="leave it out, or make the joint flexible: {call}",
            call=Call("with_flexibility", name, {"stiffness": (10000, 10000, 10000)}),
        )
    changed = replace(joint, **changes)
    check_joint(changed)
    return replace(robot, joints=robot.joints.replaced(changed))


def with_closure(robot: "Robot", closure: Closure) -> "Robot":
    """`Robot.with_closure`."""
    check_closure(closure, robot)
    return replace(robot, closures=robot.closures.extended(closure))


def with_spring(robot: "Robot", spring: FrameSpring) -> "Robot":
    """`Robot.with_spring`."""
    check_spring(spring, robot)
    return replace(robot, springs=robot.springs.extended(spring))


def with_flexibility(
    robot: "Robot",
    where: str,
    spring: Spring,
    name: str | None,
    share: float | None,
    normal: Sequence[Scalar] | None,
    beyond: Iterable[str] | None,
) -> "Robot":
    """`Robot.with_flexibility`: before the joint of a motor, at a fixed joint, or at a frame where a link is cut."""
    check_name("place", where, subject="a flexibility")
    if name is not None:
        check_name("name", name, subject=f"the flexibility at {where!r}")
    own_name = name or f"{where}_flexibility"
    if where in robot.joints:
        subject = f"the flexibility at joint {where!r}"
        unused = [n for n, x in (("share", share), ("normal", normal), ("beyond", beyond)) if x is not None]
        if unused:
            problem = f"{subject} takes no {unused[0]}, which is for a link that is cut at a frame"
            raise RobotError(problem, subject=subject, field=unused[0], cure="leave it out")
        if not isinstance(robot.joints[where].kind, Fixed):
            return at_joint(robot, where, spring, own_name)
        if name is not None and name != where:
            problem = f"the flexibility at the fixed joint {where!r} keeps its name"
            raise RobotError(problem, subject=subject, field="name", cure="leave name= out")
        return at_fixed_joint(robot, where, spring)
    if where not in robot.frames:
        valid = [*robot.joints, *(n for n in robot.frames if n not in robot.bodies)]
        raise RobotError(unknown_name("joint or frame", where, valid, robot.joints.owner))
    return cut_link(robot, where, spring, own_name, share, normal, beyond)
