"""The clock of a state: steps done, exact however long a simulation runs.

In float64, one number counts them. A float32 counts to 2^24 only, so there the steps are s0 + 2^20 s1,
with s0 below 2^20.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.scalar import select

__all__ = ["clock_size", "set_clock", "steps_of", "ticked", "time_of"]

Scalar = Any

_TURN = 2**20


def clock_size(precision: str) -> int:
    """How many numbers the clock has."""
    return 2 if precision == "float32" else 1


def time_of(clock: Sequence[Scalar], dt: Scalar) -> Scalar:
    """The time [s]."""
    return (clock[0] if len(clock) == 1 else clock[0] + _TURN * clock[1]) * dt


def ticked(clock: Sequence[Scalar], steps: int, moves: Scalar) -> list[Scalar]:
    """The clock so many steps later, for a robot that moves."""
    if len(clock) == 1:
        return [select(moves, clock[0] + steps, clock[0])]
    # a control period may have more steps than a turn
    turns, rest = divmod(steps, _TURN)
    count = clock[0] + rest
    is_round = count >= _TURN
    later = [select(is_round, count - _TURN, count), clock[1] + turns + select(is_round, 1, 0)]
    return [select(moves, a, b) for a, b in zip(later, clock, strict=True)]


def steps_of(clock: np.ndarray) -> np.ndarray:
    """Steps done, of clocks (..., size)."""
    clock = clock.astype(float)
    return clock[..., 0] if clock.shape[-1] == 1 else clock[..., 0] + _TURN * clock[..., 1]


def set_clock(clock: np.ndarray, steps: int) -> None:
    """Put clocks (..., size) to so many steps."""
    if clock.shape[-1] == 1:
        clock[...] = steps
    else:
        clock[..., 1], clock[..., 0] = divmod(steps, _TURN)
