"""The builder: collects the parts of a robot, checks them, and makes it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from pliant.checks import as_scalar, check_at_least, check_finite, check_name, check_one_of, entries, is_zero
from pliant.errors import Fault, RobotError, unknown_name
from pliant.robot.joints import KINDS, Fixed, Free, JointKind, Scalars
from pliant.robot.model import (
    WORLD, Body, Finding, Frame, Geometry, Joint, Limits, Mimic, Motor, Named, Outcome, Report, depth_first,
    parents_first,
)  # fmt: skip
from pliant.robot.part_checks import (
    check_motor, crossed_limits, impossible_inertia, motor_values, normalised_axis, placement, repaired_inertia,
    vector, with_values, wrong,
)  # fmt: skip
from pliant.robot.robot import Robot
from pliant.scalar import Scalar
from pliant.signatures import explained
from pliant.spatial import Inertia, Symmetric3, Transform, Vector, rotation_from_rpy

ROOT_JOINT = "root_joint"
"""Name of the joint that `RobotBuilder.build` puts between the world and the root."""


@dataclass(frozen=True)
class _BodyPlan:
    """A body as it was given: the tensor is about the centre of mass."""

    name: str
    mass: Scalar
    com: Vector
    tensor: Symmetric3
    visuals: tuple[Geometry, ...]
    collisions: tuple[Geometry, ...]


@explained
class RobotBuilder:
    """Makes a `Robot`, part by part; errors name the part that is wrong.

    The body "world" is always there, does not move and has no inertia. Parts may come in any order.

        builder = RobotBuilder("pendulum")
        builder.body("rod", mass=1, com=(0, 0, -0.5), inertia=(0.1, 0, 0, 0.1, 0, 0.001))
        builder.joint("pivot", "revolute", "world", "rod", axis=(0, 1, 0))
        robot = builder.build()
    """

    def __init__(self, name: str):
        check_name("name", name, subject="a robot")
        self.name = name
        self._bodies: dict[str, _BodyPlan] = {}
        self._joints: dict[str, Joint] = {}
        self._frames: dict[str, tuple[str, Transform]] = {}
        self._motors: dict[str, Motor] = {}
        self._gravity = Vector(0, 0, -9.81)
        self._findings: list[Finding] = []

    # ---- parts

    @explained
    def body(
        self,
        name: str,
        mass: Scalar = 0,
        com: Scalars = (0, 0, 0),
        inertia: Scalars = (0, 0, 0, 0, 0, 0),
        inertia_rpy: Scalars = (0, 0, 0),
        visuals: Iterable[Geometry] = (),
        collisions: Iterable[Geometry] = (),
    ) -> "RobotBuilder":
        """Add a body.

        Args:
            name: unique among bodies and frames.
            mass: [kg].
            com: centre of mass in the body's frame [m].
            inertia: (ixx, ixy, ixz, iyy, iyz, izz) about the centre of mass [kg m^2].
            inertia_rpy: roll, pitch, yaw of the axes in which ``inertia`` is given [rad].
        """
        subject = f"body {name!r}"
        check_name("name", name, subject="a body")
        if name == WORLD:
            problem = f"body {WORLD!r} is always there and has no inertia"
            raise wrong(subject, "name", problem, "rename yours, or attach joints to it")
        _check_new("body", name, self._bodies)
        _check_new("frame", name, self._frames)
        mass = as_scalar(mass)
        check_at_least("mass", mass, 0, subject=subject, error=RobotError)
        inertia = entries("inertia", inertia, subject=subject)
        if len(inertia) != 6:
            problem = f"inertia of {subject} has {len(inertia)} entries"
            raise wrong(subject, "inertia", problem, "give ixx, ixy, ixz, iyy, iyz, izz")
        check_finite("inertia", *inertia, subject=subject)
        tensor = Symmetric3(*inertia)
        angles = vector("inertia_rpy", inertia_rpy, subject=subject)
        if not is_zero(*angles):
            tensor = rotation_from_rpy(*angles).conjugate_symmetric(tensor)
        centre = vector("centre of mass", com, subject=subject)
        self._bodies[name] = _BodyPlan(name, mass, centre, tensor, tuple(visuals), tuple(collisions))
        return self

    @explained
    def joint(
        self,
        name: str,
        kind: JointKind | str,
        parent: str,
        child: str,
        position: Scalars = (0, 0, 0),
        rpy: Scalars = (0, 0, 0),
        *,
        axis: Scalars | None = None,
        limits: Limits | tuple[Any, Any] | None = None,
        damping: Any = 0,
        friction: Any = 0,
        armature: Any = 0,
        mimic: Mimic | None = None,
        stiffness: Any = 0,
        hardening: Any = 0,
        law: Any = None,
        backlash: Scalar = 0,
        rest: Scalar = 0,
        restitution: Scalar = 0,
        locked: bool = False,
    ) -> "RobotBuilder":
        """Add a joint; siblings keep the order in which they were added.

        Args:
            kind: a kind of `pliant.robot.joints` or its name, e.g. "revolute".
            parent, child: bodies; the parent may be "world".
            position, rpy: of the joint's frame in the parent's [m, rad].
            axis: for a kind given by name, else (0, 0, 1); any length but zero.
            limits: `Limits`, or the pair (lower, upper).
            damping, friction, armature: see `Joint`; one number for all dofs or one for each.
            mimic: the leader, if this joint follows another.
            stiffness, hardening, law: of a spring, see `Joint`; one for all dofs or one for each.
            backlash, rest, restitution, locked: see `Joint`.
        """
        subject = f"joint {name!r}"
        check_name("name", name, subject="a joint")
        _check_new("joint", name, self._joints)
        kind, remark = normalised_axis(subject, _kind(subject, kind, axis))
        if remark:
            self.note("repaired", subject, remark)
        if mimic is not None:
            check_finite("mimic", mimic.multiplier, mimic.offset, subject=subject)
        joint = Joint(name, kind, parent, child, placement(position, rpy, subject=subject), mimic=mimic)
        self._joints[name] = with_values(
            joint, limits=limits, damping=damping, friction=friction, armature=armature, stiffness=stiffness,
            hardening=hardening, law=law, backlash=backlash, rest=rest, restitution=restitution, is_locked=locked,
        )  # fmt: skip
        return self

    @explained
    def frame(self, name: str, body: str, position: Scalars = (0, 0, 0), rpy: Scalars = (0, 0, 0)) -> "RobotBuilder":
        """Add a frame on a body, at a position [m] with roll, pitch and yaw [rad]."""
        check_name("name", name, subject="a frame")
        _check_new("body", name, self._bodies)
        _check_new("frame", name, self._frames)
        self._frames[name] = body, placement(position, rpy, subject=f"frame {name!r}")
        return self

    @explained
    def motor(self, joint: str, *, name: str | None = None, **values: Any) -> "RobotBuilder":
        """Add a motor to a joint, by default of the joint's name; the values are attributes of `Motor`."""
        name = joint if name is None else name
        check_name("name", name, subject="a motor")
        _check_new("motor", name, self._motors)
        self._motors[name] = Motor(name, joint, **motor_values(name, values))
        return self

    @explained
    def gravity(self, x: Scalar, y: Scalar, z: Scalar) -> "RobotBuilder":
        """Set the acceleration of gravity in the world frame [m/s^2]."""
        self._gravity = vector("gravity", (x, y, z), subject=f"robot {self.name!r}")
        return self

    @explained
    def note(self, kind: Outcome, subject: str, message: str, line: int | None = None) -> "RobotBuilder":
        """Add a finding to the robot's report."""
        self._findings.append(Finding(kind, subject, message, line))
        return self

    # ---- the robot

    @explained
    def build(
        self,
        *,
        base: Literal["fixed", "free"] = "fixed",
        strict: bool = True,
        repair: bool = False,
        order: Literal["depth-first", "given"] = "depth-first",
    ) -> Robot:
        """The robot.

        Args:
            base: how the body without a joint, if there is one, is attached to the world: joint
                "root_joint", fixed or free.
            strict: whether impossible values (an impossible inertia, limits the wrong way round) raise an error;
                otherwise they are a finding of the report.
            repair: correct impossible values, and report how.
            order: of the joints, and so of the entries of q and v: each subtree before the next sibling, or as they
                were added, each after its parent.
        """
        owner = f"robot {self.name!r}"
        check_one_of("order", order, ("depth-first", "given"), error=RobotError)
        self._check_references()
        ordered = depth_first([*self._root_joint(base), *self._joints.values()], list(self._bodies))
        if order == "given":
            place = {name: k for k, name in enumerate(self._joints)}
            ordered = parents_first(sorted(ordered, key=lambda joint: place.get(joint.name, -1)))

        findings = list(self._findings)

        def rule(fault: Fault) -> None:
            """An error, a finding, or a repair and a finding."""
            if strict and not repair:
                cure = f"{fault.cure}, or build with repair=True or strict=False"
                raise RobotError(replace(fault, cure=cure)).within(fault.subject)
            findings.append(Finding("repaired" if repair else "odd", fault.subject, str(fault)))

        joints = Named("joint", [_possible_joint(j, rule, repair) for j in ordered], owner)
        bodies = Named("body", [_possible_body(self._bodies[j.child], rule, repair) for j in ordered], owner)
        findings += _remarks(joints, bodies)
        for motor in self._motors.values():
            check_motor(motor, joints)
        frames = [Frame(name, name, Transform.identity()) for name in bodies]
        frames += [Frame(name, body, placement) for name, (body, placement) in self._frames.items()]
        motors = Named("motor", self._motors.values(), owner)
        return Robot(self.name, bodies, joints, Named("frame", frames, owner), motors, self._gravity, Report(findings))

    def _check_references(self) -> None:
        bodies = [WORLD, *self._bodies]
        for joint in self._joints.values():
            subject = f"joint {joint.name!r}"
            for role, body in (("parent", joint.parent), ("child", joint.child)):
                if body not in bodies:
                    fault = unknown_name("body", body, bodies, f"{role} of {subject}")
                    raise RobotError(replace(fault, subject=subject, field=role))
            if joint.mimic is not None:
                self._check_mimic(subject, joint)
        for name, (body, _) in self._frames.items():
            if body not in bodies:
                fault = unknown_name("body", body, bodies, f"frame {name!r}")
                raise RobotError(replace(fault, subject=f"frame {name!r}"))
            if name in self._joints:
                problem = f"a frame and a joint are named {name!r}, which as a frame means the body the joint carries"
                raise wrong(f"frame {name!r}", "name", problem, "rename the frame")

    def _check_mimic(self, subject: str, joint: Joint) -> None:
        seen, leader = [joint.name], joint.mimic
        while leader is not None:
            if leader.joint not in self._joints:
                fault = unknown_name("joint", leader.joint, self._joints, f"mimic of {subject}")
                raise RobotError(replace(fault, subject=subject, field="mimic"))
            if leader.joint in seen:
                problem = f"{subject} mimics itself: {' -> '.join([*seen, leader.joint])}"
                raise wrong(subject, "mimic", problem, "let one of them lead")
            seen.append(leader.joint)
            leader = self._joints[leader.joint].mimic
        if any(self._joints[name].kind.nq != 1 for name in seen):
            raise wrong(subject, "mimic", f"{subject} cannot mimic {seen[1]!r}", "both need exactly one coordinate")

    def _root_joint(self, base: str) -> list[Joint]:
        """The joint between the world and the body that has none."""
        check_one_of("base", base, ("fixed", "free"), error=RobotError)
        subject = f"robot {self.name!r}"
        carried = {joint.child for joint in self._joints.values()}
        roots = [name for name in self._bodies if name not in carried]
        if len(roots) > 1:
            problem = f"{subject} has {len(roots)} roots, {', '.join(map(repr, roots))}"
            raise wrong(f"body {roots[0]!r}", "joint", problem, "join all but one to a body")
        held = [j.name for j in self._joints.values() if j.parent == WORLD]
        if roots and held and len(carried) == len(self._joints):  # a body with two parents is reported later
            problem = (
                f"{subject} has two roots: joint {held[0]!r} stands on the world, no joint carries body {roots[0]!r}"
            )
            raise wrong(f"joint {held[0]!r}", "parent", problem, "join it to a body or to the world")
        if not roots and base == "free" and held:
            problem = f"the base cannot be free: joint {held[0]!r} attaches it to the world"
            raise wrong(f"joint {held[0]!r}", "base", problem, "leave base= out")
        if not roots:
            return []
        _check_new("joint", ROOT_JOINT, self._joints)
        kind = Free() if base == "free" else Fixed()
        return [Joint(ROOT_JOINT, kind, WORLD, roots[0], Transform.identity())]


def _possible_body(plan: _BodyPlan, rule: Callable[[Fault], None], repair: bool) -> Body:
    tensor = plan.tensor
    problem = impossible_inertia(tensor)
    if problem:
        repaired = repaired_inertia(tensor)
        nearest = ", ".join(f"{e:.4g}" for e in repaired)
        rule(Fault(problem, f"body {plan.name!r}", "inertia", f"the nearest possible tensor is ({nearest})"))
        tensor = repaired if repair else tensor
    return Body(plan.name, Inertia.from_com(plan.mass, plan.com, tensor), plan.visuals, plan.collisions)


def _possible_joint(joint: Joint, rule: Callable[[Fault], None], repair: bool) -> Joint:
    fault = crossed_limits(joint)
    if fault:
        rule(fault)
    if not (fault and repair):
        return joint
    pairs = [sorted(pair) for pair in zip(joint.limits.lower, joint.limits.upper, strict=True)]
    lower, upper = zip(*pairs, strict=True)
    return replace(joint, limits=replace(joint.limits, lower=lower, upper=upper))


def _remarks(joints: Named[Joint], bodies: Named[Body]) -> Iterator[Finding]:
    """Moving joints that carry no mass at all, which have no forward dynamics; joints with the name of another body."""
    carries = {name: body.has_inertia for name, body in bodies.items()}
    for joint in reversed(list(joints.values())):
        carries[joint.parent] = carries.get(joint.parent, False) or carries[joint.child]
    for joint in joints.values():
        if joint.kind.nv > 0 and not carries[joint.child] and is_zero(*joint.armature):
            message = f"moves no mass: body {joint.child!r} and all that it carries have none"
            yield Finding("odd", f"joint {joint.name!r}", message)
    for joint in joints.values():
        # where a name is given as a frame, bodies come before joints
        if joint.name in bodies and joint.child != joint.name:
            message = f"another body has its name, which as a frame means that body, not {joint.child!r}"
            yield Finding("dropped", f"joint {joint.name!r}", message)


def _kind(subject: str, kind: JointKind | str, axis: Scalars | None) -> JointKind:
    if isinstance(kind, str):
        if kind not in KINDS:
            raise RobotError(unknown_name("kind of joint", kind, KINDS, subject))
        made: Any = KINDS[kind]
        if axis is None or not hasattr(made, "axis"):
            return made()
        return made(tuple(vector("axis", axis, subject=subject)))
    if axis is not None:
        cure = f"the axis belongs in the kind, as in {type(kind).__name__}(axis)"
        raise wrong(subject, "axis", f"{subject} has a kind and an axis", cure)
    return kind


def _check_new(kind: str, name: str, taken: dict[str, Any]) -> None:
    if name in taken:
        raise wrong(f"{kind} {name!r}", "name", f"there is a {kind} named {name!r} already", "names must be unique")
