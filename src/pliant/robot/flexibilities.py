"""Flexible joints: spring joints put before the joint of a motor or in place of a fixed joint, and backlash.

A flexibility at a joint is one more joint, with a spring, that carries the motor's joint on a body without mass.
With x1 its deflection, x2 the motor's joint, I the inertia beyond and J the rotor's, as felt at the joint,

    M = [[I + If, I], [I, I + J]]

so the body's own inertia If may be zero as long as J is not: the system is then exactly that of a rotor, a
spring and a link. Where both are zero, M is singular: it has equal rows for x1 and x2 as far as these move the
same body alike, and accelerations are not determined.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import as_scalar, check_at_least, check_finite, check_name, is_sequence, is_zero, per_entry
from pliant.errors import Call, RobotError, bad_value, unknown_name
from pliant.robot.cutting import share_inertia, split_inertia
from pliant.robot.joints import Continuous, Fixed, Free, JointKind, Prismatic, Revolute, Spherical
from pliant.robot.model import (
    WORLD, Body, Finding, Flexibility, Frame, Geometry, Joint, Named, Report, depth_first, parents_first,
)  # fmt: skip
from pliant.robot.part_checks import impossible_inertia, normalised_axis, vector, with_values, wrong
from pliant.scalar import Scalar, is_constant
from pliant.spatial import Inertia, Symmetric3, Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


@dataclass(frozen=True)
class Spring:
    """The values that a user gives of a flexibility: one number, or one for each axis; see `Joint`.

    Attributes:
        where: joint or frame that it is at, for errors.
    """

    stiffness: Any
    damping: Any = 0
    inertia: Any = 0
    hardening: Any = 0
    law: Any = None
    backlash: Scalar = 0
    kind: str | None = None
    axis: Sequence[Scalar] | None = None
    where: str = ""

    def call(self, **options: Any) -> Call:
        """The call that gives the flexibility other values."""
        return Call("with_flexibility", self.where, options)

    def joint(self, subject: str, name: str, kind: JointKind, parent: str, placement: Transform) -> Joint:
        """The joint that has the spring."""
        own = Joint(name, kind, parent, name, placement)
        made = with_values(
            own, subject, stiffness=self.stiffness, damping=self.damping, hardening=self.hardening, law=self.law
        )
        if not made.has_spring:
            problem, cure = f"{subject} has no spring: stiffness is zero", "give it some, as in {call}"
            raise wrong(subject, "stiffness", problem, cure, self.call(stiffness=10000))
        return with_values(made, subject, backlash=self.backlash)

    def check_no_inertia(self, subject: str, why: str) -> None:
        """Raise if an inertia was given although there is no body between spring and rotor."""
        if not is_zero(as_scalar(self.inertia)):
            raise wrong(subject, "inertia", f"{subject} has an inertia, but {why}", "leave it out")

    def body_inertia(self, subject: str, kind: JointKind) -> Inertia:
        """If, of the body between the spring and the motor's joint."""
        values = list(map(as_scalar, self.inertia if is_sequence(self.inertia) else [self.inertia]))
        for x in values:
            check_at_least("inertia", x, 0, subject=subject, error=RobotError)
        if is_zero(*values):
            return Inertia.zero()
        if isinstance(kind, Prismatic):
            count, mass, moments = 1, values[0], [0, 0, 0]
        elif isinstance(kind, Free):
            count, mass, moments = 4, values[0], values[1:]
        else:
            count, mass, moments = len(values), 0, values * 3 if len(values) == 1 else values
        if len(values) != count or len(moments) != 3:
            form = {"prismatic": "a mass", "free": "a mass and three moments"}.get(kind.name, "one moment, or three")
            raise wrong(subject, "inertia", f"inertia of {subject} has {len(values)} entries", f"it takes {form}")
        x, y, z = moments
        tensor = Symmetric3(x, 0, 0, y, 0, z)
        fault = impossible_inertia(tensor)
        if fault:
            cure = "none may be above the sum of the other two"
            raise wrong(subject, "inertia", f"inertia of {subject}: {fault}", cure)
        return Inertia(mass, Vector.zero(), tensor)


def _spring_kind(subject: str, spring: Spring, joint: Joint | None) -> JointKind:
    """The motion of a flexibility: as many axes as there are stiffnesses.

    Args:
        joint: the motor's joint, whose axis one stiffness is about; None within a link.
    """
    given = spring.stiffness
    count = len(given) if is_sequence(given) else 1
    if count not in (1, 3, 6):
        cure = "give one (about an axis), three (turns about x, y, z) or six (slides along and turns about x, y, z)"
        raise wrong(subject, "stiffness", f"stiffness of {subject} has {count} entries", cure)
    per_entry("stiffness", given, count, subject=subject, least=0)
    unused = [n for n, x in (("kind", spring.kind), ("axis", spring.axis)) if x is not None]
    if count > 1 and unused:
        problem = f"{subject} has {count} stiffnesses, about all axes"
        raise wrong(subject, unused[0], problem, f"{unused[0]} is for one")
    is_prismatic = joint is not None and isinstance(joint.kind, Prismatic)
    if count == 3 and is_prismatic:
        problem = f"{subject} has three stiffnesses, of turns, but the joint is prismatic"
        cure = "give one, along its axis, or six: slides along and turns about x, y, z"
        raise wrong(subject, "stiffness", problem, cure)
    if count > 1:
        return Spherical() if count == 3 else Free()
    kinds = {"revolute": Revolute, "prismatic": Prismatic}
    if spring.kind is not None and not (isinstance(spring.kind, str) and spring.kind in kinds):
        raise RobotError(unknown_name("kind", spring.kind, kinds, subject))
    axis = spring.axis if spring.axis is not None else getattr(joint.kind, "axis", None) if joint else None
    if axis is None:
        cure = "give it one, as in {call}, or three stiffnesses"
        raise wrong(subject, "axis", f"{subject} has one stiffness and no axis", cure, spring.call(axis=(0, 1, 0)))
    own = kinds[spring.kind or ("prismatic" if is_prismatic else "revolute")]
    kind, _ = normalised_axis(subject, own(tuple(vector("axis", axis, subject=subject))))
    return kind


# ---- copies of a robot


def with_flexibility(
    robot: "Robot", where: str, spring: Spring, name: str | None, share: Any, normal: Any, beyond: Any
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
            raise wrong(subject, unused[0], problem, "leave it out")
        if not isinstance(robot.joints[where].kind, Fixed):
            return _at_joint(robot, where, spring, own_name)
        if name is not None and name != where:
            problem = f"the flexibility at the fixed joint {where!r} keeps its name"
            raise wrong(subject, "name", problem, "leave name= out")
        return _at_fixed_joint(robot, where, spring)
    if where not in robot.frames:
        valid = [*robot.joints, *(n for n in robot.frames if n not in robot.bodies)]
        raise RobotError(unknown_name("joint or frame", where, valid, robot.joints.owner))
    return _cut_link(robot, where, spring, own_name, share, normal, beyond)


def _at_joint(robot: "Robot", name: str, spring: Spring, own_name: str) -> "Robot":
    """A copy with a spring before the joint of a motor."""
    subject = f"the flexibility at joint {name!r}"
    joint = _motor_joint(robot, name, "flexibility")
    kind = _spring_kind(subject, spring, joint)
    before = spring.joint(subject, own_name, kind, joint.parent, joint.placement)
    springless = [j.name for j in _before_motor(robot, name) if not j.has_spring]
    if springless:
        problem = f"joint {name!r} has backlash between joint limits already, {springless[0]!r}"
        cure = "give the flexibility its backlash, {call}, in place of with_backlash"
        raise wrong(subject, "backlash", problem, cure, spring.call(backlash="..."))
    return _inserted(robot, before, spring.body_inertia(subject, kind), name)


def _at_fixed_joint(robot: "Robot", name: str, spring: Spring) -> "Robot":
    """A copy in which a fixed joint is flexible: the bodies on its two sides keep their inertias."""
    subject = f"the flexibility at the fixed joint {name!r}"
    fixed = robot.joints[name]
    spring.check_no_inertia(subject, "there is no body between the two that are joined")
    kind = _spring_kind(subject, spring, None)
    joint = replace(spring.joint(subject, name, kind, fixed.parent, fixed.placement), child=fixed.child)
    kept = [joint if j.name == name else j for j in robot.joints.values()]
    made = with_parts(robot, robot.bodies.values(), kept, robot.frames.values())
    _check_sides(made, subject, joint, f"body {joint.child!r}")
    return replace(made, flexibilities=robot.flexibilities.extended(Flexibility(name)))


def with_backlash(
    robot: "Robot", joint: str, width: Scalar, restitution: Scalar, inertia: Scalar, name: str | None
) -> "Robot":
    """`Robot.with_backlash`."""
    check_name("joint", joint, subject="a backlash")
    subject = f"the backlash at joint {joint!r}"
    if name is not None:
        check_name("name", name, subject=subject)
    _motor_joint(robot, joint, "backlash")
    check_finite("width", width, subject=subject)
    (width,) = per_entry("width", width, 1, subject=subject, least=0)
    restitution, inertia = as_scalar(restitution), as_scalar(inertia)
    springs = _before_motor(robot, joint)
    elastic = [j.name for j in springs if j.has_spring]
    if elastic:
        given = {"restitution": restitution, "inertia": inertia, "name": name or 0}
        unused = [n for n, x in given.items() if not is_zero(x)]
        if unused:
            problem = f"{subject} is in the spring {elastic[-1]!r}, which takes no {unused[0]}"
            raise wrong(subject, unused[0], problem, "leave it out")
        return robot.with_joint(elastic[-1], backlash=width)
    if springs:
        return robot.with_joint(springs[-1].name, limits=(-width / 2, width / 2), restitution=restitution)
    own = robot.joints[joint]
    own_name = name or f"{joint}_backlash"
    # a joint between two limits, like the motor's own and before it
    kind = Revolute(own.kind.axis) if isinstance(own.kind, Continuous) else own.kind
    before = Joint(own_name, kind, own.parent, own_name, own.placement)
    before = with_values(before, limits=(-width / 2, width / 2), restitution=restitution)
    return _inserted(robot, before, Spring(0, inertia=inertia).body_inertia(subject, kind), joint)


def with_parts(robot: "Robot", bodies: Iterable[Body], joints: Sequence[Joint], frames: Iterable[Frame]) -> "Robot":
    """A copy with other bodies, joints and frames, in the order of the robot."""
    by_name = {body.name: body for body in bodies}
    ordered = depth_first(joints, list(by_name))
    own_joints = list(robot.joints.values())
    if own_joints != depth_first(own_joints, list(robot.bodies)):
        ordered = parents_first(joints)
    own = {frame.name: frame for frame in frames}
    first = [own.pop(j.child) for j in ordered]
    return replace(
        robot,
        bodies=Named("body", [by_name[j.child] for j in ordered], robot.bodies.owner),
        joints=Named("joint", ordered, robot.joints.owner),
        frames=Named("frame", [*first, *own.values()], robot.frames.owner),
    )


def _inserted(robot: "Robot", before: Joint, inertia: Inertia, name: str) -> "Robot":
    """A copy with one more joint and its body before the joint of that name."""
    joint = robot.joints[name]
    _check_free_name(robot, before.name)
    joints = []
    for j in robot.joints.values():
        joints += [before, replace(j, parent=before.child, placement=Transform.identity())] if j is joint else [j]
    bodies = [*robot.bodies.values(), Body(before.child, inertia)]
    frames = [*robot.frames.values(), Frame(before.child, before.child, Transform.identity())]
    made = with_parts(robot, bodies, joints, frames)
    made = replace(made, flexibilities=robot.flexibilities.extended(Flexibility(before.name, name)))
    _check_inertias(made, name)
    followers = [j.name for j in made.joints.values() if j.mimic is not None and made.leader(j.name).name == name]
    if not followers:
        return made
    who = ", ".join(map(repr, followers)) + (" mimics" if len(followers) == 1 else " mimic")
    message = f"{who} joint {name!r} on the motor's side and does not follow the deflection"
    return replace(made, report=Report([*made.report, Finding("odd", f"flexibility {before.name!r}", message)]))


# ---- a link cut in two


def _cut_link(robot: "Robot", where: str, spring: Spring, name: str, share: Any, normal: Any, beyond: Any) -> "Robot":
    """The robot with a link cut at a frame; arguments as in `Robot.with_flexibility`.

    Joints, frames, shapes and points of contact go to the side of the plane on which they are.
    """
    subject = f"the flexibility at frame {where!r}"
    at = robot.frames[where]
    if at.body == WORLD:
        raise wrong(subject, "frame", f"{subject} is in the world, which is rigid", "take a frame on a body")
    body, X_BF = robot.bodies[at.body], at.placement
    _check_free_name(robot, name)
    spring.check_no_inertia(subject, "the parts of the link have their own")
    chosen = None if beyond is None else _chosen(robot, subject, body.name, beyond)
    direction = _normal(subject, X_BF.p, normal, spring.call(normal=(1, 0, 0)))
    near, far = (
        split_inertia(body.inertia, X_BF.p, direction, subject, spring.call(share=0.5))
        if share is None
        else share_inertia(body.inertia, share, subject)
    )

    def is_far(p: Vector) -> bool:
        return float(direction.dot(p - X_BF.p)) > 0

    def is_beyond(item: str, p: Vector) -> bool:
        return item in chosen if chosen is not None else is_far(p)

    def shapes(given: tuple[Geometry, ...], far: bool) -> tuple[Geometry, ...]:
        own = (g for g in given if is_far(g.placement.p) == far)
        return tuple(replace(g, placement=X_FB @ g.placement) if far else g for g in own)

    X_FB = X_BF.inverse()
    joint = spring.joint(subject, name, _spring_kind(subject, spring, None), body.name, X_BF)
    joints = [joint]
    for j in robot.joints.values():
        moves = j.parent == body.name and is_beyond(j.name, j.placement.p)
        joints.append(replace(j, parent=name, placement=X_FB @ j.placement) if moves else j)
    frames = [Frame(name, name, Transform.identity())]
    for f in robot.frames.values():
        moves = f.name == where or (f.body == body.name != f.name and is_beyond(f.name, f.placement.p))
        frames.append(replace(f, body=name, placement=X_FB @ f.placement) if moves else f)
    bodies = [b for b in robot.bodies.values() if b is not body]
    bodies += [
        Body(part, inertia, shapes(body.visuals, is_second), shapes(body.collisions, is_second))
        for part, inertia, is_second in ((body.name, near, False), (name, far.transformed(X_FB), True))
    ]
    made = with_parts(robot, bodies, joints, frames)
    _check_sides(made, subject, joint, f"the part of body {body.name!r} beyond it")
    contacts = []
    for shape in robot.contacts.values():
        middle = sum(shape.centers, Vector.zero()) * (1 / len(shape.centers))
        if shape.body == body.name and is_beyond(shape.name, middle):
            shape = shape.moved(name, X_FB)
        contacts.append(shape)
    return replace(
        made,
        contacts=Named("contact", contacts, robot.contacts.owner),
        flexibilities=robot.flexibilities.extended(Flexibility(name)),
    )


def _normal(subject: str, p: Vector, normal: Sequence[Scalar] | None, call: Call) -> Vector:
    direction = p if normal is None else vector("normal", normal, subject=subject)
    if not all(is_constant(x) for x in (*p, *direction)):
        problem = f"{subject}: a link is cut only where its numbers are known"
        raise wrong(subject, "normal", problem, "substitute the symbols first")
    length = float(np.linalg.norm([float(x) for x in direction]))
    if length == 0 and normal is not None:
        raise RobotError(bad_value("normal", (0, 0, 0), "a direction, pointing to the side that is beyond", subject))
    if length < 1e-9 and normal is None:
        problem = f"{subject}: the frame is at the origin of its link, so the side that is beyond is not known"
        cure = "give a normal that points there, as in {call}"
        raise wrong(subject, "normal", problem, cure, call)
    return direction * (1 / length)


def _chosen(robot: "Robot", subject: str, body: str, beyond: Iterable[str]) -> set[str]:
    names = [j.name for j in robot.joints.values() if j.parent == body]
    names += [f.name for f in robot.frames.values() if f.body == body]
    names += [c.name for c in robot.contacts.values() if c.body == body]
    if isinstance(beyond, str) or not isinstance(beyond, Iterable):
        shown = [beyond] if isinstance(beyond, str) else names[:1]
        raise RobotError(bad_value("beyond", beyond, f"a list of names, as in beyond={shown!r}", subject))
    found = list(beyond)
    for name in found:
        if name not in names:
            raise RobotError(unknown_name("joint or frame", name, names, f"beyond, of {subject}"))
    return set(found)


# ---- checks


def _check_free_name(robot: "Robot", name: str) -> None:
    """Raise if a joint, body or frame has the name of a new flexibility."""
    if name in robot.joints or name in robot.bodies or name in robot.frames:
        problem = f"there is a joint, body or frame named {name!r} already"
        raise wrong(f"flexibility {name!r}", "name", problem, "give another name=")


def check_flexibilities(robot: "Robot") -> None:
    """Raise if a flexibility leaves M singular."""
    for name in dict.fromkeys(f.joint for f in robot.flexibilities.values() if f.joint is not None):
        _check_inertias(robot, name)


def _check_sides(robot: "Robot", subject: str, spring: Joint, beyond: str) -> None:
    """Raise if a body on one side of a spring within a link, and all that it carries, has no inertia.

    The side that the spring hangs on needs none if it does not move, or moves otherwise than the spring does.

    Args:
        beyond: how errors call the body that the spring carries.
    """
    if not _carries_inertia(robot, spring.child):
        problem = f"{subject} moves no mass: {beyond} and all that it carries have none"
        cure = "give it mass and inertia, or put the flexibility before a body that has some"
        raise wrong(subject, "mass", problem, cure)
    above = next((j for j in robot.joints.values() if j.child == spring.parent), None)
    if above is None or _carries_inertia(robot, spring.parent, without=spring.name):
        return
    rotors = [m.armature for m in robot.motors.values() if m.joint == above.name]
    if is_zero(*above.armature, *rotors) and _is_dependent([(above, spring.placement.inverse()), (spring, None)]):
        problem = (
            f"{subject} hangs on body {spring.parent!r}, which has no mass, and joint {above.name!r} moves that as "
            "the spring does, so accelerations are not determined (M is singular)"
        )
        cure = "give the body mass and inertia, or the joint a rotor, {call}"
        raise wrong(subject, "mass", problem, cure, Call("with_joint", above.name, {"armature": 1e-4}))


def _check_inertias(robot: "Robot", name: str) -> None:
    """Raise if neither the rotor of a joint's motor nor the bodies before it have inertia: M would be singular."""
    joint = robot.joints[name]
    springs = _before_motor(robot, name)
    massless = [j for j in springs if not robot.bodies[j.child].has_inertia and is_zero(*j.armature)]
    rotors = [m.armature for m in robot.motors.values() if m.joint == name]
    dofs = [*massless, *([joint] if is_zero(*joint.armature, *rotors) else [])]
    if massless and _is_dependent([(j, Transform.identity()) for j in dofs]):
        other = f"the motor of {name!r} no rotor inertia" if joint in dofs else "neither have the bodies it carries"
        problem = (
            f"{massless[-1].name!r} at joint {name!r} has no inertia of its own and {other}, so accelerations are not "
            "determined (M is singular)"
        )
        cure = "give the motor a rotor, {call}, or the flexibility some inertia, inertia=1e-4"
        call = Call("with_motor", name, {"rotor_inertia": "..."})
        raise wrong(f"the flexibility at joint {name!r}", "inertia", problem, cure, call)


def _motor_joint(robot: "Robot", name: str, what: str) -> Joint:
    """A joint that can have something between its motor and its link: a "flexibility" or a "backlash"."""
    joint = robot.joints[name]
    subject = f"the {what} at joint {name!r}"
    if joint.mimic is not None:
        raise wrong(subject, "joint", f"joint {name!r} mimics {joint.mimic.joint!r}", f"put the {what} at that one")
    if what == "backlash":
        instead, own_way = Call("with_joint", name, {"limits": (-0.01, 0.01)}), "limit its travel: {call}"
    else:
        # springs of joints with several dofs pull to where the joint is at zero
        ready = {"spherical": (10000,) * 3, "free": (10000, 10000, 10000, 100, 100, 100)}
        stiffness: Any = "..." if joint.kind.nv == 1 else ready.get(joint.kind.name)
        instead, own_way = Call("with_joint", name, {"stiffness": stiffness}), "give it a spring: {call}"
    if joint.kind.nv != 1:
        motors = list(dict.fromkeys(m.joint for m in robot.motors.values()))
        shown = ", ".join(map(repr, motors[:6])) + (", ..." if len(motors) > 6 else "")
        problem = f"joint {name!r} is {joint.kind.name}, which no motor drives, so a {what} has nothing to be between"
        cure = f"put it at the joint of a motor: {shown}" if motors else "put it at the joint of a motor"
        if not instead.options.get("stiffness"):
            raise wrong(subject, "joint", problem, cure)
        raise wrong(subject, "joint", problem, f"{own_way}, or {cure}", instead)
    if not any(m.joint == name for m in robot.motors.values()):
        motor = Call("with_motor", name, {"rotor_inertia": "..."})
        problem = f"joint {name!r} has no motor, so a {what} has nothing to be between"
        raise wrong(subject, "joint", problem, f"give it one, {motor}, or {own_way}", instead)
    return joint


def _before_motor(robot: "Robot", name: str) -> list[Joint]:
    """The flexible joints between a motor's joint and the link that carries the motor."""
    return [robot.joints[f.name] for f in robot.flexibilities.values() if f.joint == name]


def _is_dependent(joints: Sequence[tuple[Joint, Transform | None]]) -> bool:
    """Whether motions of joints, each seen through a constant pose, can cancel; symbols count as independent."""
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
    return any(robot.bodies[name].has_inertia for name in found)
