"""Numbers drawn at random for the coordinates of joints."""

import math
from typing import Any

import numpy as np

__all__ = ["uniform", "uniform_quaternion"]

Scalar = Any


def uniform(rng: np.random.Generator, lower: float, upper: float, reach: float, size: int | None) -> Scalar:
    """Uniform within the limits; an open side lies ``reach`` from zero, or twice that from the other."""
    # some files write 1e16 for "no limit"
    low, high = sorted(x if abs(x) < 1e6 else math.copysign(math.inf, x) for x in (lower, upper))
    if math.isinf(low) and math.isinf(high):
        low, high = -reach, reach
    elif math.isinf(low) or math.isinf(high):
        low, high = (high - 2 * reach, high) if math.isinf(low) else (low, low + 2 * reach)
    return rng.uniform(low, high, size)


def uniform_quaternion(rng: np.random.Generator, size: int | None) -> list[Scalar]:
    """Unit quaternions, every turn as likely as any other."""
    parts = [rng.standard_normal(size) for _ in range(4)]
    length = np.sqrt(sum(p * p for p in parts))
    return [p / length for p in parts]
