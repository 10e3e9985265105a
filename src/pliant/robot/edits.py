"""Copies of a robot with a change."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.errors import RobotError
from pliant.robot import checks
from pliant.robot.contact_edits import ContactEdits
from pliant.robot.exports import RobotExports
from pliant.robot.flexibility_edits import FlexibilityEdits
from pliant.robot.joints import Scalars
from pliant.robot.lumping import lumped
from pliant.robot.model import WORLD, Closure, Frame, FrameSpring, Motor
from pliant.spatial import Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["Edits"]

Scalar = Any


class Edits(ContactEdits, FlexibilityEdits, RobotExports):
    """The methods of `Robot` that make copies; the robot itself never changes."""

    @property
    def _robot(self) -> "Robot":
        return cast("Robot", self)

    def with_motor(self, joint: str, *, name: str | None = None, **values: Any) -> "Robot":
        """A copy with a motor more on a joint, by default of the joint's name.

        If the joint has a motor of that name already, it is changed instead.

        Args:
            joint: one with one degree of freedom.
            values: gear, rotor_inertia, effort_limit, control, kp, kd and the other attributes of `Motor`.
        """
        robot = self._robot
        checks.check_name("the joint of a motor", joint)
        name = joint if name is None else name
        checks.check_name("the name of a motor", name)
        if name in robot.motors and robot.motors[name].joint == joint:
            return self.with_motors([name], **{key: [value] for key, value in values.items()})
        checks.check_motor_values(name, values)
        motor = Motor(name, joint, **{key: checks.as_scalar(value) for key, value in values.items()})
        checks.check_motor(motor, robot.joints)
        return replace(robot, motors=robot.motors.extended(motor))

    def with_motors(self, names: str | Iterable[str] | None = None, **values: Any) -> "Robot":
        """A copy in which motors have other values.

        Args:
            names: which ones, all if None.
            values: attributes of `Motor`: one for all of them, or a sequence with one for each (a rotor_axis for all
                is a sequence of sequences).
        """
        robot = self._robot
        if names is not None and not isinstance(names, Iterable):
            raise RobotError(f"the names of the motors are {names!r}; give a name or a list of them, or none for all")
        chosen = list(robot.motors) if names is None else [names] if isinstance(names, str) else list(names)
        for key, value in values.items():
            checks.check_motor_values(chosen[0] if chosen else "", {key: value})
            values[key] = checks.one_for_each(f"{key} of the motors", value, len(chosen))
        motors = robot.motors
        for k, name in enumerate(chosen):
            checks.check_name("the name of a motor", name)
            motor = replace(motors[name], **{key: column[k] for key, column in values.items()})
            checks.check_motor(motor, robot.joints)
            motors = motors.replaced(motor)
        return replace(robot, motors=motors)

    def with_frame(self, name: str, body: str, position: Scalars = (0, 0, 0), rpy: Scalars = (0, 0, 0)) -> "Robot":
        """A copy with a frame more, placed on a body or another frame."""
        robot = self._robot
        checks.check_name("the name of a frame", name)
        if name == WORLD or name in robot.joints:
            what = "the world" if name == WORLD else f"what joint {name!r} carries"
            raise RobotError(f"a frame cannot be named {name!r}: as a frame, that means {what}; take another name")
        on = robot.frame(body)
        frame = Frame(name, on.body, on.placement @ checks.placement(f"frame {name!r}", position, rpy))
        return replace(robot, frames=robot.frames.extended(frame))

    def with_gravity(self, x: Scalar, y: Scalar, z: Scalar) -> "Robot":
        """A copy under another gravity [m/s^2]."""
        checks.check_finite("gravity", x, y, z)
        return replace(self._robot, gravity=Vector(x, y, z))

    def with_armature(self, joint: str, value: Any) -> "Robot":
        """A copy with another rotor inertia at a joint, one for all or one for each dof [kg m^2 or kg]."""
        return self.with_joint(joint, armature=value)

    def with_joint(
        self,
        name: str,
        *,
        damping: Any = None,
        friction: Any = None,
        armature: Any = None,
        limits: Any = None,
        stiffness: Any = None,
        hardening: Any = None,
        law: Any = None,
        backlash: Scalar = None,
        rest: Scalar = None,
        restitution: Scalar = None,
        locked: bool | None = None,
    ) -> "Robot":
        """A copy in which a joint has other values; None leaves them, see `Joint` and `Limits`."""
        robot = self._robot
        checks.check_name("the name of the joint", name)
        joint = robot.joints[name]
        nv, subject = joint.kind.nv, f"joint {name!r}"
        given = {"damping": damping, "friction": friction, "armature": armature, "stiffness": stiffness,
                 "hardening": hardening}  # fmt: skip
        changes: dict[str, Any] = {
            key: checks.per_entry(subject, key, value, nv, least=0) for key, value in given.items() if value is not None
        }
        if law is not None:
            changes["law"] = tuple(checks.one_for_each(f"law of {subject}", law, nv))
        if locked is not None and not isinstance(locked, bool | np.bool_):
            raise RobotError(f"locked of {subject} is {locked!r}; give True or False")
        single = {"backlash": backlash, "rest": rest, "restitution": restitution, "is_locked": locked}
        changes |= {key: checks.as_scalar(value) for key, value in single.items() if value is not None}
        if limits is not None:
            changes["limits"] = checks.full_limits(subject, limits, joint.kind)
            checks.check_limits(subject, changes["limits"])
        if changes and nv == 0:
            what = next(iter(changes)).replace("is_locked", "locked")
            raise RobotError(
                f"{what} of {subject} would do nothing: it is fixed; leave it out, or let the joint give way: "
                f"robot.with_flexibility({name!r}, stiffness=(1e4, 1e4, 1e4))"
            )
        changed = replace(joint, **changes)
        checks.check_joint(changed)
        return replace(robot, joints=robot.joints.replaced(changed))

    def with_closure(self, kind: str, a: str, b: str, *, length: Scalar = 0, name: str | None = None) -> "Robot":
        """A copy in which two frames are held together; see `Closure`.

        Args:
            kind: "point", "weld" or "distance".
            a, b: names of frames, bodies or joints, or "world".
            length: for a distance [m].
            name: by default "a-b".
        """
        robot = self._robot
        closure = Closure(name or f"{a}-{b}", kind, a, b, length)  # type: ignore[arg-type]
        checks.check_closure(closure, robot)
        return replace(robot, closures=robot.closures.extended(closure))

    def with_spring(
        self,
        a: str,
        b: str,
        *,
        stiffness: Scalar,
        damping: Scalar = 0,
        length: Scalar = 0,
        name: str | None = None,
    ) -> "Robot":
        """A copy with a spring and damper between two frames; see `FrameSpring`.

        Args:
            a, b: names of frames, bodies or joints, or "world".
            stiffness, damping: [N/m, N s/m].
            length: at rest [m].
            name: by default "a-b".
        """
        robot = self._robot
        spring = FrameSpring(name or f"{a}-{b}", a, b, stiffness, damping, length)
        checks.check_spring(spring, robot)
        return replace(robot, springs=robot.springs.extended(spring))

    def lumped(self) -> "Robot":
        """A copy without fixed joints: bodies merged, frames kept; only the one that holds the base stays."""
        return lumped(self._robot)
