"""What gives way: spring joints put before the joint of a motor, and links cut in two.

A flexibility at a joint is one more joint, with a spring, that carries the motor's joint on a body without mass.
With x1 its deflection, x2 the motor's joint, I the inertia beyond and J the rotor's, as felt at the joint,

    M = [[I + If, I], [I, I + J]]

so the body's own inertia If may be zero as long as J is not: the system is then exactly that of a rotor, a
spring and a link. Where both are zero, M is singular.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pliant.errors import RobotError, unknown_name
from pliant.robot import checks
from pliant.robot.flexibility_checks import check_flexibilities, check_inertias, check_sides, with_followers_told
from pliant.robot.joints import Continuous, Fixed, Free, JointKind, Prismatic, Revolute, Spherical
from pliant.robot.model import Body, Flexibility, Frame, Joint, Limits
from pliant.robot.named import Named
from pliant.robot.springs import has_spring
from pliant.robot.tree import depth_first
from pliant.scalar import is_constant
from pliant.spatial import Inertia, Symmetric3, Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = [
    "Spring", "at_fixed_joint", "at_joint", "check_flexibilities", "inserted", "is_fixed", "motor_joint", "play_joint",
    "spring_kind", "with_parts",
]  # fmt: skip

Scalar = Any


@dataclass(frozen=True)
class Spring:
    """What a user says of a flexibility: one number, or one for each axis; see `Joint`."""

    stiffness: Any
    damping: Any = 0
    inertia: Any = 0
    hardening: Any = 0
    law: Any = None
    backlash: Scalar = 0
    kind: str | None = None
    axis: Sequence[Scalar] | None = field(default=None)

    def joint(self, subject: str, name: str, kind: JointKind, parent: str, placement: Transform) -> Joint:
        """The joint that has the spring."""
        nv = kind.nv
        made = Joint(
            name,
            kind,
            parent,
            name,
            placement,
            checks.full_limits(subject, None, kind),
            checks.per_entry(subject, "damping", self.damping, nv, least=0),
            (0,) * nv,
            (0,) * nv,
            stiffness=checks.per_entry(subject, "stiffness", self.stiffness, nv, least=0),
            hardening=checks.per_entry(subject, "hardening", self.hardening, nv, least=0),
            law=tuple(checks.one_for_each(f"law of {subject}", self.law, nv)),
            backlash=checks.per_entry(subject, "backlash", self.backlash, 1, least=0)[0],
        )
        for what in ("stiffness", "damping", "hardening"):
            checks.check_finite(f"{what} of {subject}", *getattr(made, what))
        checks.check_finite(f"backlash of {subject}", made.backlash)
        if not has_spring(made):
            raise RobotError(f"{subject} has no spring: stiffness is zero; give it some, as in stiffness=1e4")
        checks.check_joint(made)
        return made

    @property
    def has_no_inertia(self) -> bool:
        """Whether nothing was said of a body between spring and rotor."""
        given = checks.as_scalar(self.inertia)
        return is_constant(given) and given == 0

    def body_inertia(self, subject: str, kind: JointKind) -> Inertia:
        """If, of the body between the spring and the motor's joint."""
        given = self.inertia
        values = list(map(checks.as_scalar, given if checks.is_sequence(given) else [given]))
        checks.check_finite(f"inertia of {subject}", *values)
        bad = [x for x in values if is_constant(x) and x < 0]
        if bad:
            raise RobotError(f"inertia of {subject} is {bad[0]:g}; it must be at least 0")
        if all(is_constant(x) and x == 0 for x in values):
            return Inertia.zero()
        if isinstance(kind, Prismatic):
            wanted, mass, moments = 1, values[0], [0, 0, 0]
        elif isinstance(kind, Free):
            wanted, mass, moments = 4, values[0], values[1:]
        else:
            wanted, mass, moments = len(values), 0, values * 3 if len(values) == 1 else values
        if len(values) != wanted or len(moments) != 3:
            form = {"prismatic": "a mass", "free": "a mass and three moments"}.get(kind.name, "one moment, or three")
            raise RobotError(f"inertia of {subject} has {len(values)} entries; it takes {form}")
        x, y, z = moments
        tensor = Symmetric3(x, 0, 0, y, 0, z)
        fault = checks.impossible_inertia(tensor)
        if fault:
            raise RobotError(f"inertia of {subject}: {fault}; none may be above the sum of the other two")
        return Inertia(mass, Vector.zero(), tensor)


def spring_kind(subject: str, spring: Spring, joint: Joint | None) -> JointKind:
    """The motion of a flexibility: as many axes as there are stiffnesses.

    Args:
        joint: the motor's joint, whose axis one stiffness is about; None within a link.
    """
    given = spring.stiffness
    count = len(given) if checks.is_sequence(given) else 1
    if count not in (1, 3, 6):
        cure = "give one (about an axis), three (turns about x, y, z) or six (slides along and turns about x, y, z)"
        raise RobotError(f"stiffness of {subject} has {count} entries", subject=subject, field="stiffness", cure=cure)
    checks.per_entry(subject, "stiffness", given, count, least=0)
    unused = [n for n, x in (("kind", spring.kind), ("axis", spring.axis)) if x is not None]
    if count > 1 and unused:
        raise RobotError(f"{subject} has {count} stiffnesses, about all axes; {unused[0]} is for one")
    if count == 3:
        if joint is not None and isinstance(joint.kind, Prismatic):
            raise RobotError(
                f"{subject} has three stiffnesses, of turns, but the joint is prismatic; give one, along its axis, or "
                "six: slides along and turns about x, y, z"
            )
        return Spherical()
    if count == 6:
        return Free()
    kinds = {"revolute": Revolute, "prismatic": Prismatic}
    if spring.kind is not None and not (isinstance(spring.kind, str) and spring.kind in kinds):
        raise RobotError(unknown_name("kind", spring.kind, kinds, subject))
    axis = spring.axis if spring.axis is not None else getattr(joint.kind, "axis", None) if joint else None
    if axis is None:
        problem, cure = f"{subject} has one stiffness and no axis", "give axis=(0, 1, 0), or three stiffnesses"
        raise RobotError(problem, subject=subject, field="axis", cure=cure)
    own = "prismatic" if joint is not None and isinstance(joint.kind, Prismatic) else "revolute"
    direction = tuple(checks.vector(subject, "axis", axis))
    kind, _ = checks.normalised_axis(subject, kinds[spring.kind or own](direction))
    return kind


def at_joint(robot: "Robot", name: str, spring: Spring, own_name: str) -> "Robot":
    """A copy with a spring before the joint of a motor."""
    subject = f"the flexibility at joint {name!r}"
    joint = motor_joint(robot, name, "flexibility", "give it a spring: robot.with_joint({!r}, stiffness={})")
    kind = spring_kind(subject, spring, joint)
    before = spring.joint(subject, own_name, kind, joint.parent, joint.placement)
    stops = [f.name for f in robot.flexibilities.values() if f.joint == name and not has_spring(robot.joints[f.name])]
    if stops:
        raise RobotError(
            f"joint {name!r} has backlash between stops already, {stops[0]!r}; give the flexibility its play, "
            "with_flexibility(..., backlash=width), in place of with_backlash"
        )
    return inserted(robot, before, spring.body_inertia(subject, kind), name)


def at_fixed_joint(robot: "Robot", name: str, spring: Spring) -> "Robot":
    """A copy in which a fixed joint gives way: the bodies on its two sides keep their inertias."""
    subject = f"the flexibility at the fixed joint {name!r}"
    fixed = robot.joints[name]
    if not spring.has_no_inertia:
        raise RobotError(f"{subject} has an inertia; there is no body between the two that are joined; leave it out")
    kind = spring_kind(subject, spring, None)
    joint = replace(spring.joint(subject, name, kind, fixed.parent, fixed.placement), child=fixed.child)
    kept = [joint if j.name == name else j for j in robot.joints.values()]
    made = with_parts(robot, robot.bodies.values(), kept, robot.frames.values())
    check_sides(made, subject, joint, f"body {joint.child!r}")
    return replace(made, flexibilities=robot.flexibilities.extended(Flexibility(name)))


def inserted(robot: "Robot", before: Joint, inertia: Inertia, name: str) -> "Robot":
    """A copy with one more joint and its body before the joint of that name."""
    joint = robot.joints[name]
    taken = before.name in robot.joints or before.name in robot.bodies or before.name in robot.frames
    if taken:
        raise RobotError(f"there is a joint, body or frame named {before.name!r} already; give another name=")
    joints = []
    for j in robot.joints.values():
        joints += [before, replace(j, parent=before.child, placement=Transform.identity())] if j is joint else [j]
    bodies = [*robot.bodies.values(), Body(before.child, inertia)]
    frames = [*robot.frames.values(), Frame(before.child, before.child, Transform.identity())]
    made = with_parts(robot, bodies, joints, frames)
    made = replace(made, flexibilities=robot.flexibilities.extended(Flexibility(before.name, name)))
    check_inertias(made, name)
    return with_followers_told(made, before.name, name)


def with_parts(robot: "Robot", bodies: Iterable[Body], joints: Sequence[Joint], frames: Iterable[Frame]) -> "Robot":
    """A copy with other bodies, joints and frames, in the order of a robot."""
    by_name = {body.name: body for body in bodies}
    ordered = depth_first(joints, list(by_name))
    own = {frame.name: frame for frame in frames}
    first = [own.pop(j.child) for j in ordered]
    return replace(
        robot,
        bodies=Named("body", [by_name[j.child] for j in ordered], robot.bodies.owner),
        joints=Named("joint", ordered, robot.joints.owner),
        frames=Named("frame", [*first, *own.values()], robot.frames.owner),
    )


def motor_joint(robot: "Robot", name: str, what: str, cure: str) -> Joint:
    """A joint that can have something between its motor and its link."""
    joint = robot.joints[name]
    if joint.mimic is not None:
        raise RobotError(f"joint {name!r} mimics {joint.mimic.joint!r}; put the {what} at that one")
    if joint.kind.nv != 1:
        # springs there pull to where the joint is at zero
        has_cure = joint.kind.name in ("spherical", "free") and "stiffness" in cure
        values = "(1e4, 1e4, 1e4)" if joint.kind.name == "spherical" else "(1e4, 1e4, 1e4, 100, 100, 100)"
        motors = list(dict.fromkeys(m.joint for m in robot.motors.values()))
        shown = ", ".join(map(repr, motors[:6])) + (", ..." if len(motors) > 6 else "")
        raise RobotError(
            f"joint {name!r} is {joint.kind.name}, which no motor drives, so a {what} has nothing to be between; "
            + (f"{cure.format(name, values)}, or " if has_cure else "")
            + (f"put it at the joint of a motor: {shown}" if motors else "put it at the joint of a motor")
        )
    if not any(m.joint == name for m in robot.motors.values()):
        raise RobotError(
            f"joint {name!r} has no motor, so a {what} has nothing to be between; give it one, "
            f"robot.with_motor({name!r}, rotor_inertia=...), or {cure.format(name, '...')}"
        )
    return joint


def play_joint(robot: "Robot", name: str, width: Scalar, restitution: Scalar, own_name: str) -> Joint:
    """A joint between stops, like the motor's own and before it."""
    joint = robot.joints[name]
    kind = Revolute(joint.kind.axis) if isinstance(joint.kind, Continuous) else joint.kind
    return replace(
        joint,
        name=own_name,
        child=own_name,
        kind=kind,
        limits=Limits((-width / 2,), (width / 2,), (math.inf,), (math.inf,)),
        damping=(0,),
        friction=(0,),
        armature=(0,),
        stiffness=(0,),
        hardening=(0,),
        law=(None,),
        backlash=0,
        rest=0,
        restitution=restitution,
        is_locked=False,
    )


def is_fixed(joint: Joint) -> bool:
    """Whether a joint does not move."""
    return isinstance(joint.kind, Fixed)
