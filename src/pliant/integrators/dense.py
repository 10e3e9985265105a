"""Dense output: the state at any time of a motion that was computed in Runge-Kutta steps, and roots within a step.

Between the ends of a step of length h, at t + theta h, the stages give another combination of
themselves [Shampine 1986, "Some practical Runge-Kutta formulas"], in the chart of the step:

    w(theta) = h sum_i b_i(theta) k_i        q = integrate(q0, w(theta))        v likewise, from v0

It has order 4, error h^5 in a step, meets the steps at both ends, and its rate is continuous there.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.compiler import kernel_from_function
from pliant.errors import PliantError
from pliant.integrators.runge_kutta import DORMAND_PRINCE, Manifold
from pliant.robot import Robot

_DENSE = np.array(DORMAND_PRINCE.dense)

_STEP = ("t", "h", "q", "v", "stages")


class Chart:
    """`Robot.integrate` and `Robot.chart_rate` of one robot, compiled: for steps that are taken in Python."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self._q, self._v = robot.neutral(), np.zeros(robot.nv)
        shapes = {"q": (robot.nq,), "w": (robot.nv,), "v": (robot.nv,)}

        def run(q: Any, w: Any, v: Any) -> list[Any]:
            return [*robot.integrate(list(q), list(w)), *robot.chart_rate(list(w), list(v))]

        self._kernel = kernel_from_function(run, shapes, name=f"chart of {robot.name}")

    def moved(self, q: np.ndarray, w: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q (+) w, and w' for which it moves with v."""
        found = self._kernel(q, np.ascontiguousarray(w), np.ascontiguousarray(v))
        return found[: self.robot.nq], found[self.robot.nq :]

    def integrate(self, q: Any, w: Any) -> np.ndarray:
        """q (+) w."""
        return self._kernel(np.asarray(q, dtype=float), np.asarray(w, dtype=float), self._v)[: self.robot.nq]

    def chart_rate(self, w: Any, v: Any) -> list[float]:
        """w' for which q (+) w moves with v."""
        return self._kernel(self._q, np.asarray(w, dtype=float), np.asarray(v, dtype=float))[self.robot.nq :].tolist()


def _state_within(
    robot: Manifold, q: np.ndarray, v: np.ndarray, h: Any, stages: np.ndarray, theta: Any
) -> tuple[np.ndarray, np.ndarray]:
    """q and v at t + theta h, of one step or of a step for each theta."""
    weights = np.stack(DORMAND_PRINCE.weights(np.asarray(theta, dtype=float)), axis=-1)
    change = np.asarray(h)[..., None, None] * np.einsum("...s,...spd->...pd", weights, stages)
    return robot.integrate(q, change[..., 0, :]), v + change[..., 1, :]


@dataclass(frozen=True)
class Segment:
    """A step from t to t + h, with its stages: rates of the chart and of v, (7, 2, nv); call it with a time."""

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
        w, dv = self.h * (weights @ self.stages.reshape(len(weights), -1)).reshape(2, -1)
        return self.chart.integrate(self.q, w), self.v + dv


@dataclass(frozen=True, eq=False, repr=False)
class DenseSolution:
    """The motion of one robot from ``t[0]`` to ``t[-1]``; call it with a time, or an array of times, for (q, v).

    At an event the motion jumps: there it gives the state after it.

    Attributes:
        t: the starts of the steps, and the end of the last, (steps + 1,) [s].
        q, v: the state there, (steps + 1, nq) and (steps + 1, nv).
        h: the lengths of the steps [s]; one that an event has cut short is longer than the time that it covers.
        stages: (w', v') at each stage of each step, (steps, 7, 2, nv).
        rejected: how many trial steps were not accurate enough.
        reason: why it ends early, empty if it does not.
    """

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    h: np.ndarray = field(repr=False)
    stages: np.ndarray = field(repr=False)
    rejected: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        n, robot = len(self.h), self.robot
        shapes = {"t": (n + 1,), "q": (n + 1, robot.nq), "v": (n + 1, robot.nv), "h": (n,)}
        for name, shape in (shapes | {"stages": (n, len(DORMAND_PRINCE.b), 2, robot.nv)}).items():
            array = getattr(self, name)
            if array.shape != shape:
                problem = f"{name} of a dense solution has shape {array.shape}"
                raise PliantError(problem, subject="dense solution", field=name, cure=f"it takes {shape}")

    @classmethod
    def from_steps(cls, robot: Robot, steps: Mapping[str, Any], end: float) -> "DenseSolution":
        """A solution of steps that follow one another.

        Args:
            steps: t and h (n,), q (n, nq), v (n, nv) and stages (n, 7, 2, nv) of the steps, n > 0.
            end: of the last one, maybe before its own end [s].
        """
        t, h, q, v, stages = (np.asarray(steps[name], dtype=float) for name in _STEP)
        # the state at the end takes the arrays to be of the right shapes
        q, v = (np.concatenate([x, x[-1:]]) for x in (q, v))
        checked = cls(robot, np.append(t, end), q, v, h, stages)
        last = checked.within(len(h) - 1, (end - t[-1]) / h[-1])
        q[-1], v[-1] = last
        return checked

    @property
    def steps(self) -> dict[str, np.ndarray]:
        """The numbers of the steps, as `from_steps` takes them."""
        arrays = self.t[:-1], self.h, self.q[:-1], self.v[:-1], self.stages
        return dict(zip(_STEP, arrays, strict=True))

    @classmethod
    def joined(cls, parts: Sequence["DenseSolution"]) -> "DenseSolution":
        """One solution of parts that follow one another; steps that begin before the parts before end are left out."""
        steps: dict[str, list[np.ndarray]] = {name: [] for name in _STEP}
        end = -np.inf
        for part in parts:
            is_later = part.t[:-1] >= end
            for name, array in part.steps.items():
                steps[name].append(array[is_later])
            end = max(end, float(part.t[-1]))
        return cls.from_steps(parts[0].robot, {name: np.concatenate(arrays) for name, arrays in steps.items()}, end)

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """State at the time t, (nq,) and (nv,), or at many times, (n, nq) and (n, nv)."""
        times = np.asarray(t, dtype=float)
        # the times may be rounded otherwise than those of the steps
        slack = 1e-12 * max(1.0, abs(self.t[0]), abs(self.t[-1]))
        is_outside = ~((times >= self.t[0] - slack) & (times <= self.t[-1] + slack))
        if is_outside.any():
            wrong = times[is_outside].flat[0] if times.ndim else times
            why = f", where it ended: {self.reason}" if self.reason else ""
            problem = f"the motion goes from t = {self.t[0]:g} s to {self.t[-1]:g} s{why}; asked for {wrong:g} s"
            raise PliantError(problem, subject="dense solution", field="t")
        step = self.step_at(times)
        return self.within(step, (times - self.t[step]) / self.h[step])

    def step_at(self, t: Any) -> Any:
        """Number of the step that the time lies in; a time between two steps belongs to the one after."""
        return np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)

    def within(self, step: Any, theta: Any) -> tuple[np.ndarray, np.ndarray]:
        """State in a step: at its start for theta = 0, at its end for theta = 1; numbers, or arrays of both."""
        return _state_within(self.robot, self.q[step], self.v[step], self.h[step], self.stages[step], theta)

    def __len__(self) -> int:
        return len(self.h)

    def __repr__(self) -> str:
        end = f", ended early: {self.reason}" if self.reason else ""
        return (
            f"DenseSolution of {self.robot.name!r}: t = {self.t[0]:g} to {self.t[-1]:g} s, {len(self)} steps, "
            f"{self.rejected} rejected{end}"
        )


# ---- the first event within a step: roots of functions that are positive as long as a mode lasts


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
