"""Forces on bodies: pushes of the user, and springs between frames."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.dynamics.kinematics import link_velocities
from pliant.errors import PliantError
from pliant.robot import Robot
from pliant.scalar import both, is_constant, select, sqrt
from pliant.spatial import Force, Motion, Transform, Vector

__all__ = ["ExternalForce", "external_link_forces", "spring_link_forces"]

Scalar = Any
Triple = Sequence[Scalar] | Callable[[Scalar], Sequence[Scalar]]

FRAMES = ("world", "body")


@dataclass(frozen=True)
class ExternalForce:
    """A force and a moment on a body: constant, a function of time, or an impulse.

        ExternalForce("base", force=(0, 0, 50), start=1, end=1.2)
        ExternalForce("base", force=lambda t: (10 * pliant.math.sin(t), 0, 0))
        ExternalForce("base", impulse=(5, 0, 0), start=2)        # within the step that begins at or before 2 s

    Attributes:
        body: a body, frame or joint; the force acts at the frame's origin.
        force, torque: [N, N m], three numbers or a generic function of time; likewise ``impulse`` [N s], which
            the step at ``start`` hands over as a whole.
        frame: the axes in which they are given, "world" or "body".
        start, end: when it acts [s]; the end is not included.
    """

    body: str
    force: Triple = (0, 0, 0)
    torque: Triple = (0, 0, 0)
    impulse: Sequence[Scalar] | None = None
    frame: str = "world"
    start: Scalar = -math.inf
    end: Scalar = math.inf

    def __post_init__(self) -> None:
        if self.frame not in FRAMES:
            raise PliantError(f"force on {self.body!r}: the axes are 'world' or 'body', not {self.frame!r}")
        for what in ("force", "torque", "impulse"):
            value = getattr(self, what)
            if value is not None and not callable(value):
                self._check(what, value)
        for what in ("start", "end"):
            value = getattr(self, what)
            if is_constant(value) and math.isnan(value):
                raise PliantError(f"force on {self.body!r}: {what} is NaN; give a time in seconds")
        if self.impulse is not None and is_constant(self.start) and math.isinf(self.start):
            raise PliantError(f"impulse on {self.body!r} has no start; give the time at which it acts")

    def _check(self, what: str, value: Any) -> list[Scalar]:
        values = list(value)
        if len(values) != 3:
            raise PliantError(f"{what} on {self.body!r} has {len(values)} entries; it takes three")
        bad = [x for x in values if is_constant(x) and not math.isfinite(x)]
        if bad:
            raise PliantError(f"{what} on {self.body!r} has the value {bad[0]}; give finite numbers")
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


def external_link_forces(
    robot: Robot, forces: Sequence[ExternalForce], poses: Sequence[Transform], t: Scalar, dt: Scalar
) -> dict[int, Force]:
    """The forces on each link, about its origin and in its frame; the poses have the world's axes."""
    found: dict[int, Force] = {}
    for f in forces:
        i, X_BF = robot.mechanism.frame(f.body)
        if i < 0:
            raise PliantError(f"force on {f.body!r}: this body does not move")
        force, torque = f.at(t, dt)
        if f.frame == "world":
            force, torque = (poses[i].R.rotate_back(x) for x in (force, torque))
        else:
            force, torque = (X_BF.R.rotate(x) for x in (force, torque))
        _add(found, i, Force(force, torque + X_BF.p.cross(force)))
    return found


def spring_link_forces(
    robot: Robot, poses: Sequence[Transform], origin: Vector, q: Sequence[Scalar], v: Sequence[Scalar]
) -> dict[int, Force]:
    """Forces of springs and dampers between frames: f = (k (s - s0) + d s') along the line from a to b."""
    found: dict[int, Force] = {}
    if not robot.springs:
        return found
    mechanism = robot.mechanism
    velocities = link_velocities(mechanism, q, v)
    for spring in robot.springs.values():
        ends = []
        for name in (spring.a, spring.b):
            i, X = mechanism.frame(name)
            V = velocities[i] if i >= 0 else Motion.zero()
            X_A = poses[i] if i >= 0 else Transform(Transform.identity().R, -origin)
            ends.append((i, X.p, X_A, X_A.transform_point(X.p), X_A.R.rotate(V.linear + V.angular.cross(X.p))))
        (_, _, _, p_a, v_a), (_, _, _, p_b, v_b) = ends
        apart = p_b - p_a
        length = sqrt(apart.dot(apart) + 1e-24)
        along = apart * (1 / length)
        pull = spring.stiffness * (length - spring.length) + spring.damping * along.dot(v_b - v_a)
        for (i, p, X_A, _, _), f in zip(ends, (along * pull, along * -pull), strict=True):
            if i >= 0:
                local = X_A.R.rotate_back(f)
                _add(found, i, Force(local, p.cross(local)))
    return found


def _add(total: dict[int, Force], i: int, f: Force) -> None:
    total[i] = total[i] + f if i in total else f
