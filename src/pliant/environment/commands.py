"""Commands: what a policy is asked to do, numbers that are drawn anew from time to time."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.chance import Chance
from pliant.checks import check, is_real
from pliant.environment.distributions import Distribution, Exponential, as_distribution
from pliant.scalar import Scalar, Scalars, abs, floor, select
from pliant.signatures import explained

RARE = 1e9
"""Time until the next draw of a command that is held [s]."""


class Command(ABC):
    """Numbers that are drawn at the start of an episode, and at intervals.

    A command of your own derives from this and has ``names``, `draw`, and maybe `advanced`.

    Attributes:
        names: of its numbers.
        interval: times between draws [s]; None for one draw an episode.
        is_given: whether it comes from outside where a policy is used; others go on by themselves, as a `Clock` does.
    """

    names: Sequence[str] = ()
    interval: Distribution | None = None
    is_given = True

    @abstractmethod
    def draw(self, chance: Chance, level: Scalar) -> list[Scalar]:
        """New numbers; ``level`` is that of the curriculum."""

    def advanced(self, values: Scalars, period: float) -> list[Scalar]:
        """The numbers a control period later, if they are not drawn anew."""
        return list(values)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The least and the largest value of each number, for sliders."""
        return [(-1.0, 1.0)] * len(self.names)

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        return {"command": repr(self)}


@explained
@dataclass(frozen=True)
class Velocity(Command):
    """Velocities that a walking robot is asked for: ahead, to the left [m/s], and turning left [rad/s].

    Attributes:
        ahead, left, turn: ranges (low, high).
        shares: how often each of them is not zero.
        backwards: how often the velocity ahead is negative; None for whatever the range gives.
        interval: times between draws [s]: a distribution, a range, or the mean of an exponential one.
    """

    ahead: tuple[float, float] = (-1.0, 1.0)
    left: tuple[float, float] = (-0.4, 0.4)
    turn: tuple[float, float] = (-0.8, 0.8)
    shares: tuple[float, float, float] = (0.9, 0.4, 0.5)
    backwards: float | None = None
    interval: Any = 5.0
    names: Sequence[str] = field(default=("ahead", "left", "turn"), repr=False)

    def __post_init__(self) -> None:
        for name in ("ahead", "left", "turn"):
            as_distribution(name, getattr(self, name), subject="Velocity")
        is_right = len(self.shares) == 3 and all(is_real(x) and 0 <= x <= 1 for x in self.shares)
        check("shares", self.shares, "three numbers from 0 to 1", is_right, subject="Velocity")
        is_share = self.backwards is None or (is_real(self.backwards) and 0 <= self.backwards <= 1)
        check("backwards", self.backwards, "None, or a number from 0 to 1", is_share, subject="Velocity")
        times = Exponential(float(self.interval)) if is_real(self.interval) else self.interval
        if times is not None:
            times = as_distribution("interval", times, subject="Velocity")
        object.__setattr__(self, "interval", times)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The ranges; a number that is always zero has a small one."""
        return [(low, high) if low < high else (low - 0.1, high + 0.1) for low, high in self._ranges]

    @property
    def _ranges(self) -> tuple[tuple[float, float], ...]:
        return self.ahead, self.left, self.turn

    def draw(self, chance: Chance, level: Scalar) -> list[Scalar]:
        """New velocities."""
        found = []
        for (low, high), share in zip(self._ranges, self.shares, strict=True):
            x = chance.uniform(low, high)
            found.append(select(chance.uniform() < share, x, 0))
        if self.backwards is not None:
            ahead = abs(found[0])
            found[0] = select(chance.uniform() < self.backwards, -ahead, ahead)
        return found


@explained
@dataclass(frozen=True)
class Clock(Command):
    """A phase from 0 to 1 that goes round, such as that of a gait; it starts anywhere.

    Attributes:
        frequency: [1/s].
    """

    frequency: float = 2.0
    names: Sequence[str] = field(default=("phase",), repr=False)
    is_given = False

    def __post_init__(self) -> None:
        is_right = is_real(self.frequency) and self.frequency > 0
        check("frequency", self.frequency, "a number above zero", is_right, subject="Clock")

    def draw(self, chance: Chance, level: Scalar) -> list[Scalar]:
        """Any phase."""
        return [chance.uniform()]

    def advanced(self, values: Scalars, period: float) -> list[Scalar]:
        """The phase a control period later."""
        phase = values[0] + self.frequency * period
        return [phase - floor(phase)]


@explained
@dataclass(frozen=True)
class Target(Command):
    """Numbers drawn from ranges, such as the place that an arm is to reach [m].

    Attributes:
        ranges: a distribution, a range (low, high) or a number for each.
        interval: times between draws [s], as for `Velocity`; None for one draw an episode.
    """

    ranges: tuple[Any, ...] = ((-1.0, 1.0),)
    interval: Any = None
    names: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check(
            "ranges",
            self.ranges,
            "a range for each number",
            isinstance(self.ranges, tuple | list) and bool(self.ranges),
        )
        drawn = tuple(as_distribution(f"ranges[{k}]", x, subject="Target") for k, x in enumerate(self.ranges))
        times = Exponential(float(self.interval)) if is_real(self.interval) else self.interval
        object.__setattr__(self, "ranges", drawn)
        object.__setattr__(self, "interval", None if times is None else as_distribution("interval", times))
        object.__setattr__(self, "names", tuple(self.names) or tuple(f"{k}" for k in range(len(drawn))))

    def draw(self, chance: Chance, level: Scalar) -> list[Scalar]:
        """New numbers."""
        return [x.draw(chance) for x in self.ranges]
