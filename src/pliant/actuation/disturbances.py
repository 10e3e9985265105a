"""Forces on bodies by chance: gusts that come and go, and pushes at random times.

A gust is a stationary Gauss-Markov process, as the drift of a sensor is: with s its standard deviation and T its
correlation time, f+ = a f + s sqrt(1 - a^2) n from step to step, a = exp(-dt / T). Pushes come as a Poisson process: in
each step with the probability 1 - exp(-dt / every), while none is under way. What they remember is part of the state.
"""

import math
from dataclasses import dataclass
from typing import Any

from pliant.actuation.body_forces import ExternalForce
from pliant.chance import Chance
from pliant.checks import check_at_least, check_finite, check_name, check_one_of, per_entry
from pliant.errors import SimulationError
from pliant.scalar import Scalar, Scalars, both, exp, maximum, select, sqrt
from pliant.signatures import explained


@explained
@dataclass(frozen=True)
class Gusts:
    """A force on a body that wanders about its mean, such as that of wind.

        Gusts("trunk", deviation=(8, 8, 2), time=0.5, mean=(5, 0, 0))

    Attributes:
        body: a body, frame or joint; the force acts at the frame's origin.
        deviation: standard deviation along each axis [N]; one number for all of them.
        time: correlation time [s].
        mean: [N].
        frame: the axes in which they are given, "world" or "body".
    """

    body: str
    deviation: Any = 0
    time: Scalar = 1.0
    mean: Any = 0
    frame: str = "world"

    def __post_init__(self) -> None:
        _check_place(self, "gusts")
        check_at_least("time", self.time, 0, strict=True, subject=self.subject, error=SimulationError)
        _set_vector(self, "deviation", least=0)
        _set_vector(self, "mean", least=-math.inf)

    @property
    def subject(self) -> str:
        """It in messages."""
        return f"gusts on {self.body!r}"

    @property
    def size(self) -> int:
        """How many numbers it remembers."""
        return 3

    def first(self, chance: Chance) -> list[Scalar]:
        """What it remembers at a reset."""
        return [m + s * n for m, s, n in zip(self.mean, self.deviation, chance.normals(3), strict=True)]

    def next(self, memory: Scalars, chance: Chance, dt: Scalar) -> list[Scalar]:
        """What it remembers after a step."""
        a = exp(-dt / self.time)
        spread = sqrt(1 - a * a)
        drawn = zip(memory, self.mean, self.deviation, chance.normals(3), strict=True)
        return [m + a * (f - m) + s * spread * n for f, m, s, n in drawn]

    def force(self, memory: Scalars) -> ExternalForce:
        """The force in a step."""
        return ExternalForce(self.body, force=tuple(memory), frame=self.frame)


@explained
@dataclass(frozen=True)
class Pushes:
    """Impulses on a body at random times.

        Pushes("trunk", impulse=(6, 6, 0), every=4, duration=0.1)

    Attributes:
        body: a body, frame or joint; they act at the frame's origin.
        impulse: standard deviation along each axis [N s]; one number for all of them.
        every: mean time between pushes [s].
        duration: of a push [s], rounded to whole steps, one at least; the force is the impulse over it.
        frame: the axes in which they are given, "world" or "body".
    """

    body: str
    impulse: Any = 0
    every: Scalar = 5.0
    duration: Scalar = 0.0
    frame: str = "world"

    def __post_init__(self) -> None:
        _check_place(self, "pushes")
        check_at_least("every", self.every, 0, strict=True, subject=self.subject, error=SimulationError)
        check_at_least("duration", self.duration, 0, subject=self.subject, error=SimulationError)
        _set_vector(self, "impulse", least=0)

    @property
    def subject(self) -> str:
        """It in messages."""
        return f"pushes on {self.body!r}"

    @property
    def size(self) -> int:
        """How many numbers it remembers: steps that are left of a push, and its force."""
        return 4

    def first(self, chance: Chance) -> list[Scalar]:
        """What it remembers at a reset."""
        return [0] * self.size

    def next(self, memory: Scalars, chance: Chance, dt: Scalar) -> list[Scalar]:
        """What it remembers after a step: of a push under way, a step less is left."""
        steps = max(1, round(self.duration / dt))
        left = memory[0] - 1
        begins = both(left <= 0, chance.uniform() < 1 - exp(-dt / self.every))
        drawn = [s * n / (steps * dt) for s, n in zip(self.impulse, chance.normals(3), strict=True)]
        lasts = left > 0
        force = [select(begins, new, select(lasts, old, 0)) for new, old in zip(drawn, memory[1:], strict=True)]
        return [select(begins, steps, maximum(left, 0)), *force]

    def force(self, memory: Scalars) -> ExternalForce:
        """The force in a step."""
        return ExternalForce(self.body, force=tuple(memory[1:]), frame=self.frame)


Disturbance = Gusts | Pushes


def _check_place(force: Disturbance, kind: str) -> None:
    """Raise unless the names of body and axes are right."""
    check_name("body", force.body, subject=kind, error=SimulationError)
    check_one_of("frame", force.frame, ("world", "body"), subject=force.subject, error=SimulationError)


def _set_vector(force: Disturbance, what: str, least: float) -> None:
    """Three finite numbers, from one for all axes or one for each."""
    values = per_entry(what, getattr(force, what), 3, subject=force.subject, least=least)
    check_finite(what, *values, subject=force.subject)
    object.__setattr__(force, what, values)
