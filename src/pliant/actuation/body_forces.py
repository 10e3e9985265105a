"""Forces on bodies: from outside, constant, as functions of time or as impulses; and of springs between frames.

With s the distance of the origins of frames a and b and e the unit vector from a to b, a spring pulls b towards a with

    f = k (s - s0) + d s',        s' = e . (v_b - v_a),        and stores        U = k (s - s0)^2 / 2
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pliant.checks import check_one_of
from pliant.errors import PliantError, bad_value
from pliant.robot import FrameSpring, Robot
from pliant.scalar import Scalar, Scalars, both, is_constant, select, sqrt
from pliant.scalar.formulas import FormulaRow
from pliant.scalar.pickling import kept
from pliant.signatures import explained
from pliant.spatial import Force, Motion, Transform, Vector

Triple = Scalars | Callable[[Scalar], Scalars]


@explained
@dataclass(frozen=True)
class ExternalForce:
    """A force and a moment on a body: constant, a function of time, or an impulse.

        ExternalForce("base", force=(0, 0, 50), start=1, end=1.2)
        ExternalForce("base", force=lambda t: (10 * pliant.math.sin(t), 0, 0))
        ExternalForce("base", impulse=(5, 0, 0), start=2)        # within the step that begins at or before 2 s

    Attributes:
        body: a body, frame or joint; the force acts at the frame's origin.
        force, torque: [N, N m], three numbers or a generic function of time; likewise ``impulse`` [N s], which
            the step at ``start`` applies as a whole.
        frame: the axes in which they are given, "world" or "body".
        start, end: when it acts [s]; the end is not included.
    """

    body: str
    force: Triple = (0, 0, 0)
    torque: Triple = (0, 0, 0)
    impulse: Scalars | None = None
    frame: str = "world"
    start: Scalar = -math.inf
    end: Scalar = math.inf

    def __post_init__(self) -> None:
        check_one_of("frame", self.frame, ("world", "body"), subject=self._subject)
        for what in ("force", "torque", "impulse"):
            value = getattr(self, what)
            if value is not None and not callable(value):
                self._check(what, value)
        for what in ("start", "end"):
            value = getattr(self, what)
            if is_constant(value) and math.isnan(value):
                raise PliantError(bad_value(what, value, "a time in seconds", self._subject))
        if self.impulse is not None and is_constant(self.start) and math.isinf(self.start):
            problem = f"the impulse on {self.body!r} has no start"
            raise PliantError(problem, subject=self._subject, field="start", cure="give the time at which it acts")

    def __getstate__(self) -> dict[str, Any]:
        found: dict[str, Any] = {what: getattr(self, what) for what in ("force", "torque")}
        for what, x in found.items():
            if callable(x):
                of_time: Any = x
                found[what] = kept(x, partial(FormulaRow.of, of_time, ("t",)), self._subject, what)
        return self.__dict__ | found

    @property
    def _subject(self) -> str:
        return f"force on {self.body!r}"

    def _check(self, what: str, value: Any) -> list[Scalar]:
        if not isinstance(value, Iterable):
            raise PliantError(bad_value(what, value, "three numbers, or a function of time", self._subject))
        values = list(value)
        if len(values) != 3:
            problem = f"{what} on {self.body!r} has {len(values)} entries"
            raise PliantError(problem, subject=self._subject, field=what, cure="it takes three")
        for x in values:
            if is_constant(x) and not math.isfinite(x):
                raise PliantError(bad_value(what, x, "finite numbers", self._subject))
        return values

    def at(self, t: Scalar, dt: Scalar) -> tuple[Vector, Vector]:
        """Force and moment in the step from t to t + dt, in the axes of ``frame``."""
        force, torque = (
            Vector(*(self._check(what, x(t)) if callable(x) else x))
            for what, x in (("force", self.force), ("torque", self.torque))
        )
        # times are sums of steps: a step that begins within a millionth of a step counts as on time
        soon = t + dt * 1e-6
        if not all(is_constant(x) and math.isinf(x) for x in (self.start, self.end)):
            on = both(soon >= self.start, soon < self.end)
            force, torque = (Vector(*(select(on, x, 0) for x in part)) for part in (force, torque))
        if self.impulse is not None:
            now = both(soon >= self.start, soon < self.start + dt)
            force = force + Vector(*(select(now, x / dt, 0) for x in self.impulse))
        return force, torque


class LinkForces(dict[int, Force]):
    """Forces on some links of a mechanism, each about the link's origin and in its frame."""

    def add(self, i: int, force: Force) -> None:
        """One more force on link i; the world, -1, does not feel any."""
        if i >= 0:
            self[i] = self[i] + force if i in self else force

    def add_all(self, others: "LinkForces") -> None:
        """Those of another source."""
        for i, force in others.items():
            self.add(i, force)

    def listed(self, count: int) -> list[Force] | None:
        """One for each of ``count`` links, as `newton_euler` takes them; None if there are none."""
        return [self.get(i, Force.zero()) for i in range(count)] if self else None

    def power(self, velocities: Sequence[Motion]) -> Scalar:
        """What they do on links that move with these velocities [W]: sum of f . V."""
        total: Scalar = 0
        for i, f in self.items():
            V = velocities[i]
            total = total + f.linear.dot(V.linear) + f.angular.dot(V.angular)
        return total


def outside_forces(
    robot: Robot, forces: Sequence[ExternalForce], poses: Sequence[Transform], t: Scalar, dt: Scalar
) -> LinkForces:
    """The forces from outside on each link; the poses have the world's axes."""
    found = LinkForces()
    for f in forces:
        i, X_BF = robot.mechanism.frame(f.body)
        if i < 0:
            problem, cure = f"force on {f.body!r}: this body does not move", "choose a body that does"
            raise PliantError(problem, subject=f._subject, field="body", cure=cure)
        force, torque = f.at(t, dt)
        if f.frame == "world":
            force, torque = (poses[i].R.rotate_back(x) for x in (force, torque))
        else:
            force, torque = (X_BF.R.rotate(x) for x in (force, torque))
        found.add(i, Force(force, torque + X_BF.p.cross(force)))
    return found


GUARD = 1e-24
"""Added to s^2 [m^2], so that the direction of a spring of no length is finite: it is zero."""


@dataclass(frozen=True)
class End:
    """Where a spring is fixed: the link, -1 for the world, the point in its frame, and the link's pose."""

    link: int
    p: Vector
    pose: Transform

    @property
    def place(self) -> Vector:
        """The point in the frame of the poses."""
        return self.pose.transform_point(self.p)

    def velocity(self, velocities: Sequence[Motion]) -> Vector:
        """Of the point, in the axes of the poses, from the velocities of the links in their own frames."""
        V = velocities[self.link] if self.link >= 0 else Motion.zero()
        return self.pose.R.rotate(V.linear + V.angular.cross(self.p))


@dataclass(frozen=True)
class Stretch:
    """A spring between frames at a configuration.

    Attributes:
        a, b: its ends.
        along: unit vector from a to b.
        length: from a to b [m].
    """

    spring: FrameSpring
    a: End
    b: End
    along: Vector
    length: Scalar

    def rate(self, velocities: Sequence[Motion]) -> Scalar:
        """s' for velocities of the links, each in its own frame [m/s]."""
        return self.along.dot(self.b.velocity(velocities) - self.a.velocity(velocities))

    def pull(self, rate: Scalar) -> Scalar:
        """The force with which the ends are pulled together at a rate s' [N]."""
        return self.spring.stiffness * (self.length - self.spring.length) + self.damper_pull(rate)

    def damper_pull(self, rate: Scalar) -> Scalar:
        """The damper's part of it, whose power is -d s' s' [N]."""
        return self.spring.damping * rate

    def implicit_slope(self, dt: Scalar) -> Scalar:
        """How the impulse of half a step answers to s' in its middle: dt/2 (d + dt/2 k) [N s^2/m]."""
        return dt / 2 * (self.spring.damping + dt / 2 * self.spring.stiffness)

    @property
    def energy(self) -> Scalar:
        """Stored in the spring [J]."""
        stretch = self.length - self.spring.length
        return self.spring.stiffness * stretch * stretch / 2

    def forces(self, pull: Scalar) -> LinkForces:
        """A pull as forces on the links."""
        found = LinkForces()
        for end, f in ((self.a, self.along * pull), (self.b, self.along * -pull)):
            if end.link >= 0:
                local = end.pose.R.rotate_back(f)
                found.add(end.link, Force(local, end.p.cross(local)))
        return found


def stretches(robot: Robot, poses: Sequence[Transform], origin: Vector, *, guard: Scalar = GUARD) -> list[Stretch]:
    """The springs between frames of a robot.

    Args:
        poses: of the links, in the world's axes about ``origin``.
        guard: see `GUARD`; formulas take 0 and are singular where the frames coincide.
    """
    world = Transform(Transform.identity().R, -origin)
    found = []
    for spring in robot.springs.values():
        ends = []
        for name in (spring.a, spring.b):
            i, X = robot.mechanism.frame(name)
            ends.append(End(i, X.p, poses[i] if i >= 0 else world))
        a, b = ends
        apart = b.place - a.place
        length = sqrt(apart.dot(apart) + guard)
        found.append(Stretch(spring, a, b, apart * (1 / length), length))
    return found


def frame_spring_forces(
    robot: Robot, poses: Sequence[Transform], origin: Vector, velocities: Sequence[Motion]
) -> LinkForces:
    """The forces of all springs between frames on the links."""
    found = LinkForces()
    for stretch in stretches(robot, poses, origin):
        found.add_all(stretch.forces(stretch.pull(stretch.rate(velocities))))
    return found
