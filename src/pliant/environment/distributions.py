"""Distributions of numbers that are drawn: at starts, for commands, for what differs from robot to robot."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from pliant.chance import Chance
from pliant.checks import check, is_real
from pliant.scalar import Scalar, exp, log
from pliant.signatures import explained


class Distribution(Protocol):
    """Where a number comes from."""

    def draw(self, chance: Chance) -> Scalar:
        """A number."""
        ...


@explained
@dataclass(frozen=True)
class Uniform:
    """Every number from ``low`` to ``high`` is as likely as any other."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_range("Uniform", self.low, self.high)

    def draw(self, chance: Chance) -> Scalar:
        """A number."""
        return chance.uniform(self.low, self.high)


@explained
@dataclass(frozen=True)
class LogUniform:
    """The logarithm is uniform: as many between 1 and 2 as between 2 and 4."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_range("LogUniform", self.low, self.high)
        check("low", self.low, "a number above zero", self.low > 0, subject="LogUniform")

    def draw(self, chance: Chance) -> Scalar:
        """A number."""
        return exp(chance.uniform(math.log(self.low), math.log(self.high)))


@explained
@dataclass(frozen=True)
class Normal:
    """Normally distributed."""

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        check("mean", self.mean, "a finite number", is_real(self.mean), subject="Normal")
        is_right = is_real(self.deviation) and self.deviation >= 0
        check("deviation", self.deviation, "0 or more", is_right, subject="Normal")

    def draw(self, chance: Chance) -> Scalar:
        """A number."""
        return chance.normal(self.mean, self.deviation)


@explained
@dataclass(frozen=True)
class Exponential:
    """Times between events that happen at any moment with the same likelihood; ``mean`` is that of the times."""

    mean: float

    def __post_init__(self) -> None:
        check("mean", self.mean, "a number above zero", is_real(self.mean) and self.mean > 0, subject="Exponential")

    def draw(self, chance: Chance) -> Scalar:
        """A number."""
        return -self.mean * log(chance.uniform())


def as_distribution(name: str, value: Any, *, subject: str = "") -> Distribution:
    """A distribution from one, from a range (low, high), or from a number, which it always is."""
    if hasattr(value, "draw"):
        return value
    if is_real(value):
        return Uniform(float(value), float(value))
    is_range = isinstance(value, tuple | list) and len(value) == 2 and all(is_real(x) for x in value)
    check(
        name, value, "a number, a range (low, high) or a distribution such as Normal(0, 1)", is_range, subject=subject
    )
    return Uniform(float(value[0]), float(value[1]))


def _check_range(owner: str, low: Any, high: Any) -> None:
    for name, value in (("low", low), ("high", high)):
        check(name, value, "a finite number", is_real(value), subject=owner)
    check("high", high, f"{low:g} or more", high >= low, subject=owner)
