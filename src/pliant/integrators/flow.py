"""Smooth motion between events: adaptive steps with dense output, and the search for the first event in a step."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.compiler import kernel_from_function
from pliant.integrators.runge_kutta import DORMAND_PRINCE
from pliant.robot import Robot

__all__ = ["Chart", "NoStepError", "Segment", "Stepper", "first_root", "first_time"]

_A = [np.array(row) for row in DORMAND_PRINCE.a]
_DENSE = np.array(DORMAND_PRINCE.dense)
_B = np.array(DORMAND_PRINCE.b)
_ERROR = _B - np.array(DORMAND_PRINCE.b_embedded)
_C = DORMAND_PRINCE.c

# no step is shorter because of its error [s]
_SHORTEST = 1e-10

Acceleration = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


class NoStepError(Exception):
    """No step is short enough for the tolerance: accelerations grow without bound, or are no numbers."""


class Chart:
    """Motion on the configuration manifold of one robot, compiled: q (+) w, and the rate of the chart w."""

    def __init__(self, robot: Robot):
        self.nq = robot.nq
        shapes = {"q": (robot.nq,), "w": (robot.nv,), "v": (robot.nv,)}

        def run(q: Any, w: Any, v: Any) -> list[Any]:
            return [*robot.integrate(list(q), list(w)), *robot.chart_rate(list(w), list(v))]

        self._kernel = kernel_from_function(run, shapes, name=f"chart of {robot.name}")

    def __call__(self, q: np.ndarray, w: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q (+) w, and w' for which it moves with v."""
        both = self._kernel(q, w, v)
        return both[: self.nq], both[self.nq :]


@dataclass(frozen=True)
class Segment:
    """A step: from t to t + h, with its stages (7, 2, nv), rates of the chart and of v; call it with a time."""

    chart: Chart
    t: float
    h: float
    q: np.ndarray
    v: np.ndarray
    stages: np.ndarray

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """q and v at a time within the step."""
        theta = (t - self.t) / self.h if self.h else 0.0
        weights = _DENSE @ np.array([theta, theta**2, theta**3, theta**4])
        w, change = self.h * _combined(weights, self.stages)
        return self.chart(self.q, w, self.v)[0], self.v + change


def _combined(weights: np.ndarray, stages: np.ndarray) -> np.ndarray:
    """Sums of the stages, (2, nv)."""
    return (weights @ stages.reshape(len(weights), -1)).reshape(2, -1)


class Stepper:
    """Dormand and Prince's method with the step chosen by the error [Hairer, Norsett, Wanner 1993, II.4].

    Attributes:
        h: the step to try next [s].
        taken, rejected: counts.
    """

    def __init__(self, chart: Chart, rtol: float, atol: float, most: float):
        self.chart, self.rtol, self.atol, self.most = chart, rtol, atol, most
        self.h = min(1e-3, most)
        self.taken = self.rejected = 0

    def step(self, acceleration: Acceleration, t: float, q: np.ndarray, v: np.ndarray, end: float) -> Segment:
        """One accepted step that does not go beyond ``end``."""
        first = acceleration(t, q, v)
        while True:
            h = min(self.h, self.most, end - t)
            stages = np.empty((7, 2, len(v)))
            stages[0] = v, first
            for s in range(1, 7):
                w, change = h * _combined(_A[s], stages[:s])
                v_s = v + change
                q_s, rate = self.chart(q, w, v_s)
                stages[s] = rate, acceleration(t + _C[s] * h, q_s, v_s)
                if not np.isfinite(stages[s]).all():
                    stages[s:] = np.inf
                    break
            ratio = self._ratio(h, v, stages)
            factor = min(5.0, max(0.2, 0.9 * max(ratio, 1e-10) ** -0.2))
            # what is left before an end or an event may be shorter than any step of its own
            if ratio <= 1 or (h < _SHORTEST and h < self.h and np.isfinite(stages).all()):
                self.taken += 1
                # a step cut short by an event or the end says nothing against longer ones
                self.h = h * factor if h == self.h or factor < 1 else max(self.h, h * factor)
                return Segment(self.chart, t, h, q, v, stages)
            self.rejected += 1
            self.h = h * factor
            if self.h < _SHORTEST:
                raise NoStepError

    def _ratio(self, h: float, v: np.ndarray, stages: np.ndarray) -> float:
        """The error of a step as a multiple of what is allowed; infinite if it is no number."""
        if not len(v):
            return 0.0
        if not np.isfinite(stages).all():
            return np.inf
        moved, change = h * _combined(_B, stages)
        # positions by their own size would be loose far away: the change within the step counts
        size = np.stack([abs(moved), np.maximum(abs(v), abs(v + change))])
        ratios = h * _combined(_ERROR, stages) / (self.atol + self.rtol * size)
        return float(np.sqrt(np.mean(ratios**2)))


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
