"""Flexible joints: spring joints put before the joint of a motor or in place of a fixed joint, and backlash.

A flexibility at a joint is one more joint, with a spring, that carries the motor's joint on a body without mass.
With x1 its deflection, x2 the motor's joint, I the inertia beyond and J the rotor's, as felt at the joint,

    M = [[I + If, I], [I, I + J]]

so the body's own inertia If may be zero as long as J is not: the system is then exactly that of a rotor, a
spring and a link. Where both are zero, M is singular: it has equal rows for x1 and x2 as far as these move the
same body alike, and accelerations are not determined.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import (
    as_scalar,
    check_at_least,
    check_finite,
    check_name,
    is_sequence,
    is_zero,
    one_for_each,
    per_entry,
)  # fmt: skip
from pliant.errors import Call, RobotError, bad_value, unknown_name
from pliant.robot.cutting import share_inertia, split_inertia
from pliant.robot.joints import Continuous, Fixed, Free, JointKind, Prismatic, Revolute, Spherical
from pliant.robot.model import WORLD, Body, Finding, Flexibility, Frame, Joint, Limits, Named, Report, depth_first
from pliant.robot.part_checks import check_joint, full_limits, impossible_inertia, normalised_axis, vector
from pliant.scalar import is_constant
from pliant.spatial import Inertia, Symmetric3, Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["Spring", "check_flexibilities", "with_backlash", "with_flexibility", "with_parts"]

Scalar = Any


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
        nv = kind.nv
        values: dict[str, Any] = {
            what: per_entry(what, getattr(self, what), nv, subject=subject, least=0)
            for what in ("stiffness", "damping", "hardening")
        }
        (backlash,) = per_entry("backlash", self.backlash, 1, subject=subject, least=0)
        for what, numbers in (*values.items(), ("backlash", (backlash,))):
            check_finite(what, *numbers, subject=subject)
        law = tuple(one_for_each(f"law of {subject}", self.law, nv))
        none = (0,) * nv
        limits = full_limits(subject, None, kind)
        made = Joint(
            name, kind, parent, name, placement, limits, friction=none, armature=none, law=law, backlash=backlash,
            **values,
        )  # fmt: skip
        if not made.has_spring:
            raise RobotError(
                f"{subject} has no spring: stiffness is zero",
                subject=subject,
                field="stiffness",
                cure="give it some, as in {call}",
                call=self.call(stiffness=10000),
            )
        check_joint(made)
        return made

    @property
    def has_no_inertia(self) -> bool:
        """Whether no inertia was given for a body between spring and rotor."""
        return is_zero(as_scalar(self.inertia))

    def body_inertia(self, subject: str, kind: JointKind) -> Inertia:
        """If, of the body between the spring and the motor's joint."""
        given = self.inertia
        values = list(map(as_scalar, given if is_sequence(given) else [given]))
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
            problem = f"inertia of {subject} has {len(values)} entries"
            raise RobotError(problem, subject=subject, field="inertia", cure=f"it takes {form}")
        x, y, z = moments
        tensor = Symmetric3(x, 0, 0, y, 0, z)
        fault = impossible_inertia(tensor)
        if fault:
            cure = "none may be above the sum of the other two"
            raise RobotError(f"inertia of {subject}: {fault}", subject=subject, field="inertia", cure=cure)
        return Inertia(mass, Vector.zero(), tensor)


def _spring_kind(subject: str, spring: Spring, joint: Joint | None) -> JointKind:
    """The motion of a flexibility: as many axes as there are stiffnesses.

    Args:
        joint: the motor's joint, whose axis one stiffness is about; None within a link.
    """

    def fault(problem: str, field: str, cure: str, call: Call | None = None) -> RobotError:
        return RobotError(problem, subject=subject, field=field, cure=cure, call=call)

    given = spring.stiffness
    count = len(given) if is_sequence(given) else 1
    if count not in (1, 3, 6):
        cure = "give one (about an axis), three (turns about x, y, z) or six (slides along and turns about x, y, z)"
        raise fault(f"stiffness of {subject} has {count} entries", "stiffness", cure)
    per_entry("stiffness", given, count, subject=subject, least=0)
    unused = [n for n, x in (("kind", spring.kind), ("axis", spring.axis)) if x is not None]
    if count > 1 and unused:
        raise fault(f"{subject} has {count} stiffnesses, about all axes", unused[0], f"{unused[0]} is for one")
    if count == 3:
        if joint is not None and isinstance(joint.kind, Prismatic):
            problem = f"{subject} has three stiffnesses, of turns, but the joint is prismatic"
            cure = "give one, along its axis, or six: slides along and turns about x, y, z"
            raise fault(problem, "stiffness", cure)
        return Spherical()
    if count == 6:
        return Free()
    kinds = {"revolute": Revolute, "prismatic": Prismatic}
    if spring.kind is not None and not (isinstance(spring.kind, str) and spring.kind in kinds):
        raise RobotError(unknown_name("kind", spring.kind, kinds, subject))
    axis = spring.axis if spring.axis is not None else getattr(joint.kind, "axis", None) if joint else None
    if axis is None:
        cure = "give it one, as in {call}, or three stiffnesses"
        raise fault(f"{subject} has one stiffness and no axis", "axis", cure, spring.call(axis=(0, 1, 0)))
    own = "prismatic" if joint is not None and isinstance(joint.kind, Prismatic) else "revolute"
    direction = tuple(vector("axis", axis, subject=subject))
    kind, _ = normalised_axis(subject, kinds[spring.kind or own](direction))
    return kind


# ---- copies of a robot


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
            return _at_joint(robot, where, spring, own_name)
        if name is not None and name != where:
            problem = f"the flexibility at the fixed joint {where!r} keeps its name"
            raise RobotError(problem, subject=subject, field="name", cure="leave name= out")
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
        raise RobotError(
            f"joint {name!r} has backlash between joint limits already, {springless[0]!r}",
            subject=subject,
            field="backlash",
            cure="give the flexibility its backlash, {call}, in place of with_backlash",
            call=spring.call(backlash="..."),
        )
    return _inserted(robot, before, spring.body_inertia(subject, kind), name)


def _at_fixed_joint(robot: "Robot", name: str, spring: Spring) -> "Robot":
    """A copy in which a fixed joint is flexible: the bodies on its two sides keep their inertias."""
    subject = f"the flexibility at the fixed joint {name!r}"
    fixed = robot.joints[name]
    if not spring.has_no_inertia:
        problem = f"{subject} has an inertia, but there is no body between the two that are joined"
        raise RobotError(problem, subject=subject, field="inertia", cure="leave it out")
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
            raise RobotError(problem, subject=subject, field=unused[0], cure="leave it out")
        return robot.with_joint(elastic[-1], backlash=width)
    if springs:
        return robot.with_joint(springs[-1].name, limits=(-width / 2, width / 2), restitution=restitution)
    own = robot.joints[joint]
    own_name = name or f"{joint}_backlash"
    # a joint between two limits, like the motor's own and before it
    before = Joint(
        own_name,
        Revolute(own.kind.axis) if isinstance(own.kind, Continuous) else own.kind,
        own.parent,
        own_name,
        own.placement,
        Limits((-width / 2,), (width / 2,), (math.inf,), (math.inf,)),
        damping=(0,),
        friction=(0,),
        armature=(0,),
        restitution=restitution,
    )
    check_joint(before)
    values = Spring(0, inertia=inertia).body_inertia(subject, before.kind)
    return _inserted(robot, before, values, joint)


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
    return _with_followers_reported(made, before.name, name)


def _with_followers_reported(robot: "Robot", flexibility: str, name: str) -> "Robot":
    """A copy whose report names the joints that mimic a flexible one: they follow the motor."""
    followers = [j.name for j in robot.joints.values() if j.mimic is not None and _leads(robot, name, j)]
    if not followers:
        return robot
    who = ", ".join(map(repr, followers)) + (" mimics" if len(followers) == 1 else " mimic")
    message = f"{who} joint {name!r} on the motor's side and does not follow the deflection"
    return replace(robot, report=Report([*robot.report, Finding("odd", f"flexibility {flexibility!r}", message)]))


def _leads(robot: "Robot", name: str, joint: Joint) -> bool:
    while joint.mimic is not None:
        joint = robot.joints[joint.mimic.joint]
        if joint.name == name:
            return True
    return False


# ---- a link cut in two


def _cut_link(
    robot: "Robot",
    where: str,
    spring: Spring,
    name: str,
    share: float | None,
    normal: Sequence[Scalar] | None,
    beyond: Iterable[str] | None,
) -> "Robot":
    """The robot with a link cut at a frame; arguments as in `Robot.with_flexibility`.

    Joints, frames, shapes and points of contact go to the side of the plane on which they are.
    """
    subject = f"the flexibility at frame {where!r}"
    at = robot.frames[where]
    if at.body == WORLD:
        problem = f"{subject} is in the world, which is rigid"
        raise RobotError(problem, subject=subject, field="frame", cure="take a frame on a body")
    body, X_BF = robot.bodies[at.body], at.placement
    _check_free_name(robot, name)
    if not spring.has_no_inertia:
        problem = f"{subject} has an inertia, but the parts of the link have their own"
        raise RobotError(problem, subject=subject, field="inertia", cure="leave it out")
    chosen = None if beyond is None else _chosen(robot, subject, body.name, beyond)
    direction = _normal(subject, X_BF.p, normal, spring.call(normal=(1, 0, 0)))
    near, far = (
        split_inertia(body.inertia, X_BF.p, direction, subject, spring.call(share=0.5))
        if share is None
        else share_inertia(body.inertia, share, subject)
    )

    def is_beyond(item: str, p: Vector) -> bool:
        return item in chosen if chosen is not None else float(direction.dot(p - X_BF.p)) > 0

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
    shapes = {
        what: [(g, float(direction.dot(g.placement.p - X_BF.p)) > 0) for g in getattr(body, what)]
        for what in ("visuals", "collisions")
    }
    kept = {what: tuple(g for g, far in found if not far) for what, found in shapes.items()}
    moved = {
        what: tuple(replace(g, placement=X_FB @ g.placement) for g, far in found if far)
        for what, found in shapes.items()
    }
    bodies = [b for b in robot.bodies.values() if b is not body]
    bodies += [Body(body.name, near, **kept), Body(name, far.transformed(X_FB), **moved)]
    made = with_parts(robot, bodies, joints, frames)
    _check_sides(made, subject, joint, f"the part of body {body.name!r} beyond it")
    contacts = []
    for shape in robot.contacts.values():
        middle = sum(shape.centers, Vector.zero()) * (1 / len(shape.centers))
        if shape.body == body.name and is_beyond(shape.name, middle):
            shape = replace(shape, body=name, centers=tuple(X_FB.transform_point(c) for c in shape.centers))
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
        raise RobotError(problem, subject=subject, field="normal", cure="substitute the symbols first")
    length = float(np.linalg.norm([float(x) for x in direction]))
    if length == 0 and normal is not None:
        raise RobotError(bad_value("normal", (0, 0, 0), "a direction, pointing to the side that is beyond", subject))
    if length < 1e-9 and normal is None:
        problem = f"{subject}: the frame is at the origin of its link, so the side that is beyond is not known"
        cure = "give a normal that points there, as in {call}"
        raise RobotError(problem, subject=subject, field="normal", cure=cure, call=call)
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
        raise RobotError(problem, subject=f"flexibility {name!r}", field="name", cure="give another name=")


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
        raise RobotError(problem, subject=subject, field="mass", cure=cure)
    above = next((j for j in robot.joints.values() if j.child == spring.parent), None)
    if above is None or _carries_inertia(robot, spring.parent, without=spring.name):
        return
    rotors = [m.armature for m in robot.motors.values() if m.joint == above.name]
    if is_zero(*above.armature, *rotors) and _is_dependent([(above, spring.placement.inverse()), (spring, None)]):
        raise RobotError(
            f"{subject} hangs on body {spring.parent!r}, which has no mass, and joint {above.name!r} moves that as "
            "the spring does, so accelerations are not determined (M is singular)",
            subject=subject,
            field="mass",
            cure="give the body mass and inertia, or the joint a rotor, {call}",
            call=Call("with_joint", above.name, {"armature": 1e-4}),
        )


def _check_inertias(robot: "Robot", name: str) -> None:
    """Raise if neither the rotor of a joint's motor nor the bodies before it have inertia: M would be singular."""
    joint = robot.joints[name]
    massless = [
        j
        for j in _before_motor(robot, name)
        if not _has_inertia(robot.bodies[j.child].inertia) and is_zero(*j.armature)
    ]
    rotors = [m.armature for m in robot.motors.values() if m.joint == name]
    dofs = [*massless, *([joint] if is_zero(*joint.armature, *rotors) else [])]
    if massless and _is_dependent([(j, Transform.identity()) for j in dofs]):
        other = f"the motor of {name!r} no rotor inertia" if joint in dofs else "neither have the bodies it carries"
        raise RobotError(
            f"{massless[-1].name!r} at joint {name!r} has no inertia of its own and {other}, so accelerations are not "
            "determined (M is singular)",
            subject=f"the flexibility at joint {name!r}",
            field="inertia",
            cure="give the motor a rotor, {call}, or the flexibility some inertia, inertia=1e-4",
            call=Call("with_motor", name, {"rotor_inertia": "..."}),
        )


def _motor_joint(robot: "Robot", name: str, what: str) -> Joint:
    """A joint that can have something between its motor and its link: a "flexibility" or a "backlash"."""
    joint = robot.joints[name]
    subject = f"the {what} at joint {name!r}"
    if joint.mimic is not None:
        problem, cure = f"joint {name!r} mimics {joint.mimic.joint!r}", f"put the {what} at that one"
        raise RobotError(problem, subject=subject, field="joint", cure=cure)
    stiffness: Any = "..."
    if joint.kind.nv != 1:
        # springs there pull to where the joint is at zero
        stiffness = {"spherical": (10000,) * 3, "free": (10000, 10000, 10000, 100, 100, 100)}.get(joint.kind.name)
    is_spring = what == "flexibility"
    instead = Call("with_joint", name, {"stiffness": stiffness} if is_spring else {"limits": (-0.01, 0.01)})
    own_way = "give it a spring: {call}" if is_spring else "limit its travel: {call}"
    if joint.kind.nv != 1:
        motors = list(dict.fromkeys(m.joint for m in robot.motors.values()))
        shown = ", ".join(map(repr, motors[:6])) + (", ..." if len(motors) > 6 else "")
        cure = f"put it at the joint of a motor: {shown}" if motors else "put it at the joint of a motor"
        has_own_way = is_spring and stiffness is not None
        raise RobotError(
            f"joint {name!r} is {joint.kind.name}, which no motor drives, so a {what} has nothing to be between",
            subject=subject,
            field="joint",
            cure=f"{own_way}, or {cure}" if has_own_way else cure,
            call=instead if has_own_way else None,
        )
    if not any(m.joint == name for m in robot.motors.values()):
        motor = Call("with_motor", name, {"rotor_inertia": "..."})
        raise RobotError(
            f"joint {name!r} has no motor, so a {what} has nothing to be between",
            subject=subject,
            field="joint",
            cure=f"give it one, {motor}, or {own_way}",
            call=instead,
        )
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
    return any(_has_inertia(robot.bodies[name].inertia) for name in found)


def _has_inertia(inertia: Inertia) -> bool:
    return not is_zero(inertia.mass, *inertia.J)
