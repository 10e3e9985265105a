"""Joints of SDF as joints and closures of a robot; gearboxes and mimics as couplings."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pliant.files.xml import Element
from pliant.formats.journal import Journal, required
from pliant.formats.sdf_model import Item, SdfModel
from pliant.formats.sdf_text import flag, limit, number, values, words
from pliant.formats.sdf_tree import Edge, Tree
from pliant.robot import Continuous, Fixed, Helical, JointKind, Limits, Mimic, Prismatic, Revolute, Spherical
from pliant.robot.joints import snapped
from pliant.spatial import Matrix3, Transform, Vector

Axis3 = tuple[float, ...]
Hold = Literal["hinge", "point", "weld"]

GEARBOX = "gearbox"
# how many axes each type has, and the closure that can stand for it
KINDS: dict[str, tuple[int, Hold | None]] = {
    "revolute": (1, "hinge"), "continuous": (1, "hinge"), "prismatic": (1, None), "screw": (1, None),
    "ball": (0, "point"), "fixed": (0, "weld"), "universal": (2, None), "revolute2": (2, None), GEARBOX: (2, None),
}  # fmt: skip
"""The types of joints that are read."""

_KNOWN = (
    "parent", "child", "pose", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body", "thread_pitch",
    "screw_thread_pitch",
)  # fmt: skip
_AXIS_KNOWN = ("xyz", "limit", "dynamics", "use_parent_model_frame", "mimic", "initial_position")
# a joint's frame that is closer than this to the link's axis is on it [m]
_NEAR = 1e-12


class Part(NamedTuple):
    """A joint of the robot, of the one or several that stand for one of the file.

    Attributes:
        suffix: of its name.
    """

    kind: JointKind
    suffix: str = ""
    limits: Limits | None = None
    damping: float = 0
    friction: float = 0
    stiffness: float = 0
    rest: float = 0


class Parts(NamedTuple):
    """The joints that stand for one; they begin in the frame of the link that they carry, or in the joint's own."""

    joints: list[Part]
    is_at_child: bool


@dataclass(frozen=True)
class Axis:
    """An axis of a joint, in the joint's frame; numbers as of `Joint`."""

    direction: Axis3
    limits: Limits
    damping: float
    friction: float
    stiffness: float
    rest: float

    def part(self, kind: type, R: Matrix3, sign: int, suffix: str, pitch: float = 0) -> Part:
        """A joint about it, in a frame in which the joint's has the rotation R."""
        turned = Vector(*self.direction)
        along = tuple(snapped(float(a)) * sign for a in R @ turned)
        made = Helical(along, pitch) if kind is Helical else kind(along)
        return Part(made, suffix, self.limits, self.damping, self.friction, self.stiffness, self.rest)


@dataclass(frozen=True)
class JointPlan:
    """A joint of the file.

    Attributes:
        edge: between links; None for a gearbox, which couples others.
        closure: the closure that can stand for it.
        damping, friction: of a ball joint.
        pitch: of a screw [m/rad].
    """

    item: Item
    type: str
    edge: Edge | None
    axes: tuple[Axis, ...] = ()
    closure: Hold | None = None
    damping: float = 0
    friction: float = 0
    pitch: float = 0

    def parts(self, X_CJ: Transform, is_turned: bool) -> Parts:
        """The joints that stand for it in the tree.

        Args:
            X_CJ: the joint's frame in the link that it carries, which the file has as the parent if ``is_turned``.
        """
        sign, R, p = -1 if is_turned else 1, X_CJ.R.matrix(), X_CJ.p
        if self.type == "fixed":
            return Parts([Part(Fixed())], True)
        if self.type == "ball":
            joints = [Part(Spherical(), damping=self.damping, friction=self.friction)]
            is_at_child = all(abs(float(e)) <= _NEAR for e in p)
        elif self.type in ("universal", "revolute2"):
            is_at_child = all(abs(float(e)) <= _NEAR for e in p)
            R = R if is_at_child else Matrix3.identity()
            joints = [axis.part(Revolute, R, sign, s) for axis, s in zip(self.axes, ("", "::2"), strict=True)][::sign]
        else:
            (axis,) = self.axes
            off = (R @ Vector(*axis.direction)).cross(p)
            is_at_child = self.type == "prismatic" or all(abs(float(e)) <= _NEAR for e in off)
            is_open = math.isinf(axis.limits.lower) and math.isinf(axis.limits.upper)
            of_type = {"prismatic": Prismatic, "screw": Helical, "continuous": Continuous}
            kind = of_type.get(self.type, Revolute)
            kind = kind if kind is not Continuous or is_open else Revolute
            joints = [axis.part(kind, R if is_at_child else Matrix3.identity(), sign, "", self.pitch)]
        return Parts(joints if is_at_child else [*joints, Part(Fixed(), "::fixed")], is_at_child)

    def lost_in_closure(self) -> list[str]:
        """What a closure in its place does not have."""
        values = {
            "damping": any([self.damping, *(a.damping for a in self.axes)]),
            "friction": any([self.friction, *(a.friction for a in self.axes)]),
            "spring": any(a.stiffness for a in self.axes),
            "limits": any(not math.isinf(x) for a in self.axes for x in (a.limits.lower, a.limits.upper)),
        }
        return [what for what, is_there in values.items() if is_there]


def joint_plan(item: Item, model: SdfModel) -> JointPlan:
    """A joint of the file; its type is known."""
    element, journal, subject = item.element, item.scope.journal, f"joint {item.name!r}"
    type_ = required(element, "type", journal)
    journal.unread(element, _KNOWN, ("name", "type"))
    count, closure = KINDS[type_]
    axes = tuple(_axis(item, tag, model) for tag in ("axis", "axis2")[:count])
    if type_ == GEARBOX:
        return JointPlan(item, type_, None, axes)
    parent, child = (model.attached_link(model.joint_end(item, role), item) for role in ("parent", "child"))
    if parent == child:
        problem = f"{subject} joins {parent!r} to itself"
        raise journal.error(problem, element.line, subject=subject, field="child", cure="name two links")
    has_spring = any(axis.stiffness for axis in axes)
    edge = Edge(item.name, parent, child, 0 if closure is None else 1 if has_spring else 2)
    losses = element.first("axis")
    losses = None if losses is None else losses.first("dynamics")
    damping, friction = (max(number(losses, key, journal, 0), 0) for key in ("damping", "friction"))
    plan = JointPlan(item, type_, edge, axes, closure, damping if not axes else 0, friction if not axes else 0)
    return replace(plan, pitch=_pitch(element, journal, subject)) if type_ == "screw" else plan


def _pitch(element: Element, journal: Journal, subject: str) -> float:
    """How far a screw advances [m/rad], by ``screw_thread_pitch`` [m a turn] or the older ``thread_pitch`` [-rad/m]."""
    if element.first("screw_thread_pitch") is not None:
        return number(element, "screw_thread_pitch", journal, 0) / (2 * math.pi)
    old = number(element, "thread_pitch", journal, 0)
    if old == 0 or math.isinf(old):
        journal.note("guessed", subject, "it has no <screw_thread_pitch>: 1 m a turn", element.line)
        return 1 / (2 * math.pi)
    return -1 / old


def _axis(item: Item, tag: str, model: SdfModel) -> Axis:
    journal, subject, element = item.scope.journal, f"joint {item.name!r}", item.element.first(tag)
    line = item.element.line
    if element is None:
        journal.note("guessed", subject, f"it has no <{tag}>: 0 0 1", line)
        return Axis((0, 0, 1), Limits(), 0, 0, 0, 0)
    journal.unread(element, _AXIS_KNOWN)
    bounds, losses = element.first("limit"), element.first("dynamics")
    # what happens in a stop is that of the simulation here
    journal.unread(bounds, ("lower", "upper", "effort", "velocity", "stiffness", "dissipation")) if bounds else None
    journal.unread(losses, ("damping", "friction", "spring_reference", "spring_stiffness")) if losses else None
    lower, upper = (limit(bounds, key, journal, x) for key, x in (("lower", -math.inf), ("upper", math.inf)))
    effort, velocity = (limit(bounds, key, journal, -1) for key in ("effort", "velocity"))
    numbers = {key: number(losses, key, journal, 0) for key in ("damping", "friction", "spring_stiffness")}
    for key, value in numbers.items():
        if value < 0 or math.isinf(value):
            journal.note("guessed", subject, f"{key} {value:g} is not possible: 0", line)
            numbers[key] = 0
    rest = number(losses, "spring_reference", journal, 0)
    if math.isinf(rest):
        raise journal.error(f"spring_reference of {subject} is infinite", line, subject=subject, field=tag)
    limits = Limits(lower, upper, *(math.inf if x < 0 else x for x in (velocity, effort)))
    return Axis(_direction(item, element, tag, model), limits, *numbers.values(), rest=rest)


def _direction(item: Item, element: Element, tag: str, model: SdfModel) -> Axis3:
    """The axis in the joint's frame."""
    journal, subject = item.scope.journal, f"joint {item.name!r}"
    xyz = element.first("xyz")
    given = (0.0, 0.0, 1.0) if xyz is None else values(xyz, journal, 3)
    if not any(given):
        journal.note("guessed", subject, f"<{tag}> 0 0 0 has no direction: 0 0 1", element.line)
        given = (0.0, 0.0, 1.0)
    expressed = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
    if item.scope.version < (1, 5) or flag(element, "use_parent_model_frame"):
        expressed = item.scope.frame
    elif expressed:
        expressed = model.full_name(expressed, item.scope)
    largest = max(map(abs, given))
    unit = Vector(*(a / largest for a in given))
    if expressed and expressed != item.name:
        R_J, R_E = model.pose_of(item.name).R, model.pose_of(expressed).R
        unit = R_J.rotate_back(R_E.rotate(unit))
    length = math.hypot(*map(float, unit))
    return tuple(snapped(float(a) / length) for a in unit)


# ---- couplings


class Couplings(NamedTuple):
    """Joints of the tree that follow others, by gearboxes and by <mimic>; and those that gearboxes drive."""

    followers: dict[str, Mimic]
    driven: set[str]


def coupled(plans: Iterable[JointPlan], tree: Tree, model: SdfModel, journal: Journal) -> Couplings:
    """The couplings of the joints of a tree."""
    plans = list(plans)
    carried = {c.edge.name for c in tree.carried}
    able = {p.item.name: p for p in plans if p.item.name in carried and len(p.axes) == 1}
    inside = {tree.root, *(c.child for c in tree.carried)}
    followers: dict[str, Mimic] = {}
    driven: set[str] = set()
    for plan in plans:
        own, line = plan.item.scope.journal, plan.item.element.line
        subject = f"joint {plan.item.name!r}"
        if plan.type == GEARBOX:
            found = _gearbox(plan, able, model, inside)
        elif plan.item.name in able:
            found = _mimic(plan, model, own)
        else:
            found = None
        if found is None:
            continue
        if isinstance(found, str):
            own.note("dropped", subject, found, line)
        elif found[1].joint not in able:
            message = (
                f"it mimics {found[1].joint!r}, but the tree has no joint of one axis by that name: it moves freely"
            )
            own.note("odd", subject, message, line)
        elif found[0] in followers or _leads(followers, found[1].joint, found[0]):
            own.note("odd", subject, f"joint {found[0]!r} would follow two joints or itself: not coupled", line)
        else:
            followers[found[0]] = found[1]
            driven |= {found[1].joint} if plan.type == GEARBOX else set()
    return Couplings(followers, driven)


def _leads(followers: dict[str, Mimic], name: str, other: str) -> bool:
    """Whether a joint is, or follows in the end, another one."""
    while name in followers and name != other:
        name = followers[name].joint
    return name == other


def _mimic(plan: JointPlan, model: SdfModel, journal: Journal) -> tuple[str, Mimic] | None:
    """What <mimic> asks for: q = multiplier (q_leader - reference) + offset."""
    axis = plan.item.element.first("axis")
    wish = None if axis is None else axis.first("mimic")
    if wish is None:
        return None
    journal.unread(wish, ("multiplier", "offset", "reference"), ("joint", "axis"))
    leader = model.full_name(required(wish, "joint", journal), plan.item.scope)
    finite = [number(wish, key, journal, x) for key, x in (("multiplier", 1), ("offset", 0), ("reference", 0))]
    if any(map(math.isinf, finite)):
        raise journal.error("<mimic> has an infinite number", wish.line, subject="<mimic>", field="mimic")
    multiplier, offset, reference = finite
    return plan.item.name, Mimic(leader, multiplier, offset - multiplier * reference)


def _gearbox(
    plan: JointPlan, able: dict[str, JointPlan], model: SdfModel, inside: set[str]
) -> tuple[str, Mimic] | str | None:
    """The coupling of a gearbox, or why there is none, or None if it is not part of the robot.

    Of the turns theta_1 of its parent and theta_2 of its child against the reference body, about its two axes:
    theta_2 = -ratio theta_1. The slower joint leads.
    """
    item, journal = plan.item, plan.item.scope.journal
    reference = words(item.element, "gearbox_reference_body")
    if not reference:
        return "it has no <gearbox_reference_body>: nothing is coupled"
    links = [
        model.attached_link(name, item)
        for name in (
            model.full_name(reference, item.scope), model.joint_end(item, "parent"), model.joint_end(item, "child")
        )
    ]  # fmt: skip
    if not inside.issuperset(links):
        return None
    ratio = number(item.element, "gearbox_ratio", journal, 1)
    if ratio == 0 or math.isinf(ratio):
        return f"a gearbox ratio of {ratio:g} is impossible: nothing is coupled"
    turns = []
    for link, axis in zip(links[1:], plan.axes, strict=True):
        X, found = model.pose_of(item.name), None
        about = X.R.rotate(Vector(*axis.direction))
        for other in able.values():
            if other.edge is None or {other.edge.parent, other.edge.child} != {links[0], link}:
                continue
            along = float(model.pose_of(other.item.name).R.rotate(Vector(*other.axes[0].direction)).dot(about))
            if other.type in ("revolute", "continuous") and abs(abs(along) - 1) < 1e-3:
                found = other.item.name, math.copysign(1, along) * (1 if other.edge.child == link else -1)
        if found is None:
            return f"no joint turns {link!r} against {links[0]!r} about its axis: nothing is coupled"
        turns.append(found)
    (first, sign_1), (second, sign_2) = turns
    if abs(ratio) <= 1:
        return first, Mimic(second, -sign_1 * sign_2 / ratio)
    return second, Mimic(first, -sign_1 * sign_2 * ratio)
