"""The parts of a robot: bodies, joints, frames, motors, their collections, and findings about them.

All are frozen; numbers may be any scalar.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np

from pliant.checks import check, check_name, is_zero
from pliant.errors import RobotError, unknown_name
from pliant.robot.joints import JointKind
from pliant.scalar import Scalar
from pliant.scalar.pickling import kept_law, kept_motor_law
from pliant.spatial import Inertia, Transform

Law = Callable[[Scalar], Scalar]

WORLD = "world"
"""Name of the body that never moves."""


class MeshSource(Protocol):
    """Gives the points of a mesh; `pliant.meshes.MeshFile` reads them from a file."""

    def points(self, packages: Iterable[str | Path] = ()) -> np.ndarray:
        """Its points (n, 3), before scaling [m]; ``packages`` are more folders to look in."""
        ...


@dataclass(frozen=True)
class Geometry:
    """A shape on a body, kept as a reference for drawing and contact.

    Attributes:
        kind: of shape.
        size: box (x, y, z), sphere (radius,), cylinder and capsule (radius, length) [m]; mesh ().
        placement: X_BG, the shape's frame in the body's.
        file: of a mesh.
        scale: of a mesh, along each axis.
        color: red, green, blue, opacity in [0, 1], or None.
        mesh: reads the points of a mesh, on demand; see `pliant.meshes.MeshFile`.
    """

    kind: Literal["box", "sphere", "cylinder", "capsule", "mesh"]
    size: tuple[Scalar, ...] = ()
    placement: Transform = field(default_factory=Transform.identity)
    file: str | None = None
    scale: tuple[float, ...] = (1, 1, 1)
    name: str = ""
    color: tuple[float, ...] | None = None
    mesh: MeshSource | None = None


@dataclass(frozen=True)
class Body:
    """A rigid body; its frame is that of the joint that carries it, as in URDF.

    Attributes:
        inertia: about the origin of that frame.
    """

    name: str
    inertia: Inertia
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()

    @property
    def has_inertia(self) -> bool:
        """Whether it has mass, or a moment of inertia."""
        return not is_zero(self.inertia.mass, *self.inertia.J)


@dataclass(frozen=True)
class Limits:
    """Limits of a joint, infinite where there is none: a number for all, or one for each entry.

    Attributes:
        lower, upper: of q [rad or m]; nq each.
        velocity: of |v| [rad/s or m/s]; nv.
        effort: of |tau| [N m or N]; nv.
    """

    lower: Any = -math.inf
    upper: Any = math.inf
    velocity: Any = math.inf
    effort: Any = math.inf


@dataclass(frozen=True)
class Mimic:
    """A joint led by another: q = multiplier * q_leader + offset."""

    joint: str
    multiplier: Scalar = 1
    offset: Scalar = 0


PER_DOF = ("damping", "friction", "armature", "stiffness", "hardening")
"""The numbers of a joint of which each dof has its own."""


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies.

    Attributes:
        kind: its motion.
        parent, child: names of the bodies; the parent may be "world".
        placement: X_PJ, the joint's frame in the parent's.
        damping: [N m s/rad or N s/m], for each dof.
        friction: Coulomb's, [N m or N], for each dof.
        armature: inertia of the rotor as felt at the joint [kg m^2 or kg], for each dof, motors apart.
        mimic: its leader, if it has no coordinate of its own.
        stiffness: of a spring, for each dof [N m/rad or N/m]; see `pliant.actuation.joint_springs`.
        hardening: its part that grows with the cube of the deflection, for each dof [N m/rad^3 or N/m^3].
        law: generic functions of the deflection of a dof that give more of its pull [N m or N], for each dof, or None.
        backlash: the width of the dead zone in the middle, where spring and damping do nothing [rad or m]; of a joint
            with one dof, as the next three.
        rest: where the spring pulls to [rad or m].
        restitution: share of its speed with which the joint leaves a limit that it hits, 0 to 1.
        is_locked: whether it keeps its place.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    limits: Limits = field(default_factory=Limits)
    damping: tuple[Scalar, ...] = ()
    friction: tuple[Scalar, ...] = ()
    armature: tuple[Scalar, ...] = ()
    mimic: Mimic | None = None
    stiffness: tuple[Scalar, ...] = ()
    hardening: tuple[Scalar, ...] = ()
    law: tuple[Law | None, ...] = ()
    backlash: Scalar = 0
    rest: Scalar = 0
    restitution: Scalar = 0
    is_locked: bool = False

    def __post_init__(self) -> None:
        # a joint need not say for each dof what it does not have
        nq, nv = self.kind.nq, self.kind.nv
        for what in (*PER_DOF, "law"):
            if not getattr(self, what):
                object.__setattr__(self, what, (None if what == "law" else 0,) * nv)
        if not isinstance(self.limits.lower, tuple):
            of = self.limits
            full = Limits((of.lower,) * nq, (of.upper,) * nq, (of.velocity,) * nv, (of.effort,) * nv)
            object.__setattr__(self, "limits", full)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"law": tuple(kept_law(law, f"joint {self.name!r}") for law in self.law)}

    @property
    def has_spring(self) -> bool:
        """Whether some dof has a spring."""
        return any(law is not None for law in self.law) or not is_zero(*self.stiffness, *self.hardening)

    @property
    def has_backlash(self) -> bool:
        """Whether its spring has a dead zone."""
        return not is_zero(self.backlash)

    @property
    def is_nonlinear(self) -> bool:
        """Whether the force of its spring is not proportional to the deflection."""
        return self.has_backlash or any(law is not None for law in self.law) or not is_zero(*self.hardening)


@dataclass(frozen=True)
class Frame:
    """A frame fixed on a body; placement is X_BF."""

    name: str
    body: str
    placement: Transform


CONTROLS = ("torque", "position", "velocity", "voltage")
"""The meanings that the control of a motor can have."""


@dataclass(frozen=True)
class MotorLaw:
    """A law of a motor that remembers: asked once a step, its torque acts through the step.

        MotorLaw(lagging, memory=(0,))        # lagging(u, q, v, t, memory) -> (torque, memory)

    Attributes:
        function: of the control, the joint's position and velocity, the time [s] and what it remembers, generic over
            the scalar.
        memory: what it remembers at first.
    """

    function: Callable[..., Any]
    memory: tuple[float, ...]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"function": kept_law(self.function, "a motor", len(self.memory))}


@dataclass(frozen=True)
class Motor:
    """A motor on a joint with one degree of freedom. All but the rotor's inertia is at the joint.

    With u the control, q and v the joint's position and velocity, the motor gives

    | control | torque [N m or N] |
    |---|---|
    | "torque" | u |
    | "position" | kp (u - q) - kd v |
    | "velocity" | kd (u - v) |
    | "voltage" | gear k i of the current i that u drives through the winding |

    or the torque of its ``law``, clipped to the range between -effort_limit and effort_limit, less on the
    side on which it drives, by the line that reaches zero at the no-load speed.

    Attributes:
        gear: turns of the rotor for one of the joint.
        rotor_inertia: before the gear [kg m^2]; the joint feels gear^2 times as much.
        effort_limit: [N m or N].
        velocity_limit: as a file states it [rad/s or m/s]; nothing enforces it.
        control: "torque", "position" or "velocity".
        kp, kd: gains [N m/rad, N m s/rad, or N/m, N s/m].
        viscous_friction: [N m s/rad or N s/m].
        dry_friction: Coulomb's [N m or N].
        no_load_speed: at which it has no torque left to drive [rad/s or m/s].
        law: a generic function (u, q, v, t) -> torque, in place of ``control``; one that remembers is a `MotorLaw`.
        gyroscopic: whether the rotor is a body that spins on the link that carries the motor, with all that this
            link feels of it; else only the joint feels the rotor's inertia. The link's own inertia includes the
            rotor, at rest.
        rotor_axis: the axis of that spin, in the frame of the joint; None for the joint's own.
        coupling: joints that turn its shaft, each with its ratio, in place of ``joint`` alone; see
            `Robot.with_transmission`. Limits, gains, friction and the rotor's inertia are then at the shaft, which is
            ``gear`` times slower than the rotor.
        command_delay: time after which a control acts [s].
        command_period: time between the controls that it takes, each held until the next [s]; 0 for every step.
        static_friction: of a joint at rest, if it is more than the dry friction [N m or N]; with the speed it falls to
            dry_friction + (static_friction - dry_friction) exp(-(v / stribeck_speed)^2).
        stribeck_speed: [rad/s or m/s].
        bristle_stiffness, bristle_damping: of the teeth or hairs that dry friction bends before it slides [N m/rad,
            N m s/rad, or N/m, N s/m]; 0 if it sticks rigidly.
        torque_constant: k, before the gear [N m/A, or N/A], also that of the back-EMF [V s/rad]; 0 for a motor whose
            electrical side does not matter.
        resistance, inductance: of the winding, the resistance at 25 degrees Celsius [ohm, H].
        supply_voltage: the most that drives a current, either way [V].
        current_limit: [A].
        thermal_resistance, thermal_capacity: of the winding to the surroundings, and its own [K/W, J/K]; 0 if it does
            not get warm.
        ambient_temperature: of the surroundings, and of the winding at first [degrees Celsius].
        derating_temperature, temperature_limit: between which limits of torque and current fall to nothing [degrees
            Celsius].
        ripple: amplitude of the torque's ripple, as a share of the torque; cogging: that of the torque that is there
            without a current [N m or N]; ripple_periods: waves of both in a turn of the rotor.
    """

    name: str
    joint: str
    gear: Scalar = 1
    rotor_inertia: Scalar = 0
    effort_limit: Scalar = math.inf
    velocity_limit: Scalar = math.inf
    control: str = "torque"
    kp: Scalar = 0
    kd: Scalar = 0
    viscous_friction: Scalar = 0
    dry_friction: Scalar = 0
    no_load_speed: Scalar = math.inf
    law: Callable[..., Scalar] | MotorLaw | None = None
    gyroscopic: bool = False
    rotor_axis: tuple[Scalar, ...] | None = None
    command_delay: Scalar = 0
    command_period: Scalar = 0
    static_friction: Scalar = 0
    stribeck_speed: Scalar = 0
    bristle_stiffness: Scalar = 0
    bristle_damping: Scalar = 0
    torque_constant: Scalar = 0
    resistance: Scalar = 0
    inductance: Scalar = 0
    supply_voltage: Scalar = math.inf
    current_limit: Scalar = math.inf
    thermal_resistance: Scalar = 0
    thermal_capacity: Scalar = 0
    ambient_temperature: Scalar = 25
    derating_temperature: Scalar = math.inf
    temperature_limit: Scalar = math.inf
    ripple: Scalar = 0
    cogging: Scalar = 0
    ripple_periods: Scalar = 0
    coupling: tuple[tuple[str, Scalar], ...] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"law": kept_motor_law(self.law, f"motor {self.name!r}")}

    @property
    def armature(self) -> Scalar:
        """Its inertia as felt at the joint."""
        return self.gear * self.gear * self.rotor_inertia


@dataclass(frozen=True)
class Closure:
    """A loop closure: two frames held together, in addition to the tree.

    Attributes:
        kind: "point" holds their origins together, "hinge" also an axis of both, "weld" all their axes, "distance"
            their origins ``length`` apart.
        a, b: names of frames, "world" for a place that does not move.
        length: for a distance [m].
        axis: for a hinge, in either frame, of unit length.
    """

    name: str
    kind: Literal["point", "hinge", "weld", "distance"]
    a: str
    b: str
    length: Scalar = 0
    axis: tuple[Scalar, ...] = (0, 0, 1)


@dataclass(frozen=True)
class FrameSpring:
    """A spring and damper between the origins of two frames, along the line that joins them.

    Attributes:
        a, b: names of frames, "world" for a place that does not move.
        stiffness, damping: [N/m, N s/m].
        length: at rest [m].
    """

    name: str
    a: str
    b: str
    stiffness: Scalar
    damping: Scalar = 0
    length: Scalar = 0


@dataclass(frozen=True)
class Flexibility:
    """Compliance between a motor and its link, or within a link: a joint with a spring, or with backlash.

    Attributes:
        name: of the flexible joint.
        joint: the motor's joint, which follows it; None within a link.
    """

    name: str
    joint: str | None = None


# ---- collections


T = TypeVar("T", bound=Any)  # whatever has a name


class Named(Mapping[str, T], Generic[T]):
    """Things by name or by index, in order; an unknown name raises an error that lists near ones."""

    __slots__ = ("_by_name", "_items", "kind", "owner")

    def __init__(self, kind: str, items: Iterable[T], owner: str = ""):
        """A collection of things of a ``kind`` ("joint"), in order, that belong to ``owner`` (for errors)."""
        self.kind = kind
        self.owner = owner
        self._items = tuple(items)
        self._by_name = {item.name: item for item in self._items}
        if len(self._by_name) < len(self._items):
            twice = next(i.name for i in self._items if self._by_name[i.name] is not i)
            problem = f"two {kind}s are named {twice!r}"
            raise RobotError(problem, subject=f"{kind} {twice!r}", field="name", cure="names must be unique")

    def __getitem__(self, key: str | int) -> T:
        try:
            return self._by_name[key] if isinstance(key, str) else self._items[key]
        except (KeyError, TypeError):
            raise RobotError(unknown_name(self.kind, key, self._by_name, self.owner)) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._items)

    def index(self, name: str) -> int:
        """The place of the thing of that name."""
        return self._items.index(self[name])

    def chosen(self, names: Any) -> list[str]:
        """The names that a choice means: those given, one given, or all if None."""
        is_choice, takes = names is None or isinstance(names, Iterable), "a name, a list of names, or None for all"
        check("names", names, takes, is_choice, subject=f"the {self.kind}s", error=RobotError)
        found = list(self) if names is None else [names] if isinstance(names, str) else list(names)
        for name in found:
            check_name("name", name, subject=f"a {self.kind}")
        return found

    def replaced(self, item: T) -> "Named[T]":
        """A copy in which ``item`` takes the place of the one of its name."""
        old = self[item.name]
        return Named(self.kind, (item if i is old else i for i in self._items), self.owner)

    def extended(self, *items: T) -> "Named[T]":
        """A copy with ``items`` at the end."""
        return Named(self.kind, (*self._items, *items), self.owner)

    def __repr__(self) -> str:
        plural = {"body": "bodies", "flexibility": "flexibilities"}.get(self.kind, f"{self.kind}s")
        return f"{len(self)} {plural}: {', '.join(self._by_name)}"


def depth_first(joints: Sequence[Joint], bodies: Sequence[str]) -> list[Joint]:
    """The joints from the world outward, each subtree before the next sibling, siblings as given.

    Raises on a body carried by two joints and on a cycle.
    """
    if not bodies:
        raise RobotError("the robot has no bodies", field="bodies", cure="add one")
    carrier: dict[str, Joint] = {}
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        if joint.child == WORLD:
            subject = f"joint {joint.name!r}"
            raise RobotError(f"{subject} has the world as its child", subject=subject, cure="make it the parent")
        if joint.child in carrier:
            both = f"{carrier[joint.child].name!r} and {joint.name!r}"
            problem, cure = f"body {joint.child!r} is the child of joints {both}", "a body has one parent: remove one"
            raise RobotError(problem, subject=f"body {joint.child!r}", field="parent", cure=cure)
        carrier[joint.child] = joint
        children.setdefault(joint.parent, []).append(joint)

    ordered: list[Joint] = []
    stack = list(reversed(children.get(WORLD, [])))
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack += reversed(children.get(joint.child, []))

    if len(ordered) < len(bodies):
        reached = {joint.child for joint in ordered}
        path = [next(name for name in bodies if name not in reached)]
        while (body := carrier[path[-1]].parent) not in path:
            path.append(body)
        loop = [body, *reversed(path[path.index(body) :])]
        problem = f"joints form a cycle: {' -> '.join(loop)}"
        raise RobotError(problem, subject=f"body {loop[0]!r}", field="parent", cure="remove one of them")
    return ordered


def parents_first(joints: Sequence[Joint]) -> list[Joint]:
    """The joints in the order given, each moved after the joint that carries its parent where it was not."""
    carrier = {joint.child: joint for joint in joints}
    ordered: dict[str, Joint] = {}
    for joint in joints:
        above = [joint]
        while (before := carrier.get(above[-1].parent)) is not None and before.name not in ordered:
            above.append(before)
        ordered |= {found.name: found for found in reversed(above)}
    return list(ordered.values())


# ---- findings


Outcome = Literal["odd", "dropped", "guessed", "repaired"]
"""What happened to a part of a robot on the way here."""


@dataclass(frozen=True)
class Finding:
    """One remark on the robot or its file.

    Attributes:
        kind: what happened to it.
        subject: the thing, e.g. "body 'foot'".
        message: about it.
        line: of the file it came from, if known.
    """

    kind: Outcome
    subject: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line is not None else ""
        return f"{self.kind}: {self.subject}{where}: {self.message}"


class Report(tuple[Finding, ...]):
    """An immutable list of findings, printed one a line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "nothing to report"
