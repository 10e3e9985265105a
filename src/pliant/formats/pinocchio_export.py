"""Robots as Pinocchio models, with the same q and v."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import RobotError
from pliant.formats.export_losses import losses, plain
from pliant.formats.pinocchio_layout import PinocchioLayout
from pliant.robot import (
    Finding, Helical, Joint, JointKind, Planar, Prismatic, Report, Robot,
)  # fmt: skip
from pliant.robot.joints import coordinate_axis
from pliant.robot.mechanism import lead
from pliant.spatial import Inertia, Transform

WORLD = "world"


@dataclass(frozen=True)
class PinocchioExport:
    """A robot as a Pinocchio model.

        made = robot.to_pinocchio()
        pinocchio.crba(made.model, made.model.createData(), q)

    Attributes:
        model: a ``pinocchio.Model``. Its q and v are the robot's.
        findings: what of the robot the model cannot hold, item by item.
        robot: that it was made of.
    """

    model: Any
    findings: Report
    robot: Robot

    @property
    def layout(self) -> PinocchioLayout:
        """Takes q and v over, both ways."""
        return PinocchioLayout(self.robot, self.model)


def to_pinocchio(robot: Robot) -> PinocchioExport:
    """See `Robot.to_pinocchio`."""
    try:
        import pinocchio as pin
    except ImportError:
        problem, cure = "robot.to_pinocchio() needs Pinocchio", "pip install pin"
        raise RobotError(problem, subject="robot.to_pinocchio()", cure=cure) from None
    writer = _Writer(pin, robot)
    writer.write()
    findings = Report([*writer.findings, *losses(robot, armature=True, gravity=True)])
    return PinocchioExport(writer.model, findings, robot)


class _Writer:
    """Makes the model of one robot."""

    def __init__(self, pin: Any, robot: Robot):
        self.pin = pin
        self.robot = robot
        self.model = pin.Model()
        self.findings: list[Finding] = []
        # the joint of the model that carries each body, and the pose of the body's frame in the joint's
        self.places: dict[str, tuple[int, Any]] = {WORLD: (0, pin.SE3.Identity())}
        self.values: dict[str, list[float]] = {}

    def write(self) -> None:
        pin, robot, model = self.pin, self.robot, self.model
        model.name = robot.name
        model.gravity.linear = np.array([plain(g, "gravity") for g in robot.gravity])
        for joint in robot.joints.values():
            self._joint(joint)
            i, X_IB = self.places[joint.child]
            inertia = robot.bodies[joint.child].inertia
            frame = pin.Frame(joint.child, i, 0, X_IB, pin.FrameType.BODY)
            model.addFrame(frame, False)
            if robot.bodies[joint.child].has_inertia:
                model.appendBodyToJoint(i, self._inertia(inertia, joint.child), X_IB)
        for frame in robot.frames.values():
            if frame.name not in robot.bodies:
                i, X_IB = self.places[frame.body]
                placed = X_IB * self._se3(frame.placement, frame.name)
                model.addFrame(pin.Frame(frame.name, i, 0, placed, pin.FrameType.OP_FRAME), False)
        for name, values in self.values.items():
            if hasattr(model, name):
                setattr(model, name, np.array(values, dtype=float))
        self.couple()

    def _joint(self, joint: Joint) -> None:
        model = self.model
        subject = f"joint {joint.name!r}"
        parent, X_IP = self.places[joint.parent]
        placement = X_IP * self._se3(joint.placement, joint.name)
        if joint.kind.nv == 0:
            self.places[joint.child] = parent, placement
            return
        turn = self._turn_of_plane(joint.kind)
        i = model.addJoint(parent, self._model(joint.kind, subject), placement * turn, joint.name)
        model.addJointFrame(i)
        self.places[joint.child] = i, turn.inverse()
        armature = [plain(a, subject) for a in joint.armature]
        own = [m for m in self.robot.motors.values() if m.joint == joint.name and m.coupling is None]
        armature = [a + sum(plain(m.armature, m.name) for m in own) for a in armature]
        limits = joint.limits
        below = {"DryFriction": joint.friction, "Velocity": limits.velocity, "Effort": limits.effort}
        rows = {
            "armature": armature, "damping": joint.damping, "friction": joint.friction,
            "lowerPositionLimit": limits.lower, "upperPositionLimit": limits.upper,
            # Pinocchio before 3.5 has these under shorter names, and those below not at all
            "velocityLimit": limits.velocity, "effortLimit": limits.effort,
            **{f"upper{what}Limit": values for what, values in below.items()},
            **{f"lower{what}Limit": [-plain(x, subject) for x in values] for what, values in below.items()},
        }  # fmt: skip
        for name, values in rows.items():
            self.values.setdefault(name, []).extend(plain(x, subject) for x in values)

    def couple(self) -> None:
        """Let the joints that follow others do so; the model is a new one after each."""
        for joint in self.robot.joints.values():
            if joint.mimic is None:
                continue
            leader, (ratio, offset) = self.robot.leader(joint.name), lead(self.robot, joint)
            numbers = plain(ratio, joint.name), plain(offset, joint.name)
            ends = self.model.getJointId(leader.name), self.model.getJointId(joint.name)
            try:
                self.model = self.pin.transformJointIntoMimic(self.model, *ends, *numbers)
            except (AttributeError, ValueError, RuntimeError) as error:  # before version 3.5 there were none
                message = f"it follows {leader.name!r}, and moves by itself in the model ({error})"
                self.findings.append(Finding("dropped", f"joint {joint.name!r}", message))

    def _model(self, kind: JointKind, subject: str) -> Any:
        pin = self.pin
        others = {"spherical": pin.JointModelSpherical, "planar": pin.JointModelPlanar, "free": pin.JointModelFreeFlyer}
        if kind.name in others:
            return others[kind.name]()
        axis = np.array([plain(a, subject) for a in kind.axis])  # type: ignore[attr-defined]
        letter = {(0, 1): "X", (1, 1): "Y", (2, 1): "Z"}.get(coordinate_axis(kind.axis) or (0, 0))  # type: ignore[attr-defined]
        if isinstance(kind, Helical):
            return pin.JointModelHelicalUnaligned(axis, plain(kind.pitch, subject))
        slides = isinstance(kind, Prismatic)
        if letter is not None:
            return getattr(pin, f"JointModel{'P' if slides else 'R'}{letter}")()
        return (pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned)(axis)

    def _turn_of_plane(self, kind: JointKind) -> Any:
        """The turn to the frame in which a planar joint moves in x and y, as Pinocchio's does."""
        if not isinstance(kind, Planar):
            return self.pin.SE3.Identity()
        columns = [np.array([float(x) for x in column]) for column in kind.columns]
        return self.pin.SE3(np.stack([columns[0][:3], columns[1][:3], columns[2][3:]], axis=1), np.zeros(3))

    def _se3(self, X: Transform, subject: str) -> Any:
        return self.pin.SE3(np.array([[plain(e, subject) for e in row] for row in X.homogeneous()]))

    def _inertia(self, inertia: Inertia, body: str) -> Any:
        """Mass, centre of mass and tensor about that; of a body without mass, about its frame's origin."""
        mass = plain(inertia.mass, body)
        com = np.array([plain(h, body) / mass if mass else 0.0 for h in inertia.h])
        tensor = inertia.about_com() if mass else inertia.J
        entries = np.array([plain(e, body) for e in tensor.full()]).reshape(3, 3)
        # by parts: the constructor refuses tensors that real files have
        found = self.pin.Inertia.Zero()
        found.mass, found.lever, found.inertia = mass, com, entries
        return found
