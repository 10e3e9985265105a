"""The first event within a step: roots of functions that are positive as long as a mode lasts."""

import itertools
from collections.abc import Callable

import numpy as np

__all__ = ["first_root", "first_time"]


def first_root(
    function: Callable[[float], np.ndarray], start: float, end: float, armed: np.ndarray, least: np.ndarray,
    samples: int = 4, accuracy: float = 1e-12, one: Callable[[float, int], float] | None = None,
) -> tuple[float, int] | None:  # fmt: skip
    """The first time at which one of several functions, positive before, is zero; and which.

    Args:
        function: values at a time.
        armed: whether each has been above ``least`` since the mode began; updated.
        least: size below which a function counts as zero.
        samples: points in which the interval is looked at: functions that dip below zero between them are missed.
        accuracy: of the time [s].
        one: a single value at a time, where that costs less.
    """
    times = np.linspace(start, end, samples + 1).tolist()
    before = function(times[0])
    if (armed & (before <= 0)).any():  # it has jumped: the controls have changed, or a force begins
        return start, int(np.argmax(armed & (before <= 0)))
    armed |= before > least
    for t0, t1 in itertools.pairwise(times):
        after = function(t1)
        fallen = (armed & (after <= 0)) | (~armed & (after < -10 * least))
        if fallen.any():
            single = one or (lambda t, i: float(function(t)[i]))
            return min((_root(single, int(i), t0, t1, accuracy), int(i)) for i in np.flatnonzero(fallen))
        armed |= after > least
    return None


def _root(function: Callable[[float, int], float], i: int, low: float, high: float, accuracy: float) -> float:
    """By bisection with regula falsi (Illinois); the end at which the function is not positive."""
    f_low, f_high = function(low, i), function(high, i)
    if f_low <= 0:
        # it begins at zero: maybe it rises before it falls, as a short bounce does
        rises = ((t, function(t, i)) for t in (low + (high - low) * 0.5**k for k in range(1, 45)))
        low, f_low = next(((t, f) for t, f in rises if f > 0), (low, 0.0))
        if f_low <= 0:
            return low
    side = 0
    while high - low > accuracy:
        t = high - f_high * (high - low) / (f_high - f_low)
        if not low < t < high or side > 2 or side < -2:
            t, side = (low + high) / 2, 0
        value = function(t, i)
        if value <= 0:
            high, f_high, side = t, value, side + 1
            if side > 1:
                f_low /= 2
        else:
            low, f_low, side = t, value, side - 1
            if side < -1:
                f_high /= 2
        if t in (low, high) and np.nextafter(low, high) >= high:
            break
    return high


def first_time(is_over: Callable[[float], bool], low: float, high: float, accuracy: float = 1e-12) -> float:
    """When something that is over at ``high`` began to be, by bisection."""
    while high - low > accuracy:
        t = (low + high) / 2
        if not low < t < high:
            break
        low, high = (low, t) if is_over(t) else (t, high)
    return high
