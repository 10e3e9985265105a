"""Dense output: a motion computed with adaptive steps that can be asked for at any time.

Between the ends of a step of length h, at t + theta h, the stages give another combination of
themselves [Shampine 1986, "Some practical Runge-Kutta formulas"], in the chart of the step:

    w(theta) = h sum_i b_i(theta) k_i        q = integrate(q0, w(theta))        v likewise, from v0

It has order 4, error h^5 in a step, meets the steps at both ends, and its rate is continuous there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.compiler import Kernel, Loop, Program
from pliant.errors import PliantError
from pliant.integrators.adaptive import NO_STEP_SMALL_ENOUGH, TOO_MANY_STEPS, StepControl, adaptive_pieces
from pliant.integrators.runge_kutta import DORMAND_PRINCE, Acceleration
from pliant.robot import Robot

__all__ = ["DenseSolution", "DenseSolver"]

_ROWS = ("step_t", "step_h", "step_q", "step_v", "step_stages", "step_taken")
_REASONS = {
    0: "",
    NO_STEP_SMALL_ENOUGH: "no step is small enough for the tolerance",
    TOO_MANY_STEPS: "too many steps",
}


@dataclass(frozen=True, eq=False, repr=False)
class DenseSolution:
    """The motion of one robot from ``t[0]`` to ``t[-1]``; call it with a time, or an array of times, for (q, v).

    Attributes:
        t: the ends of the steps taken, (steps + 1,) [s].
        q, v: the state there, (steps + 1, nq) and (steps + 1, nv).
        stages: (w', v') at each stage of each step, (steps, 7, 2, nv).
        rejected: how many steps were tried in vain.
        trouble: why it ends early, empty if it does not.
    """

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    stages: np.ndarray = field(repr=False)
    rejected: int = 0
    trouble: str = ""

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """State at the time t, (nq,) and (nv,), or at many times, (n, nq) and (n, nv)."""
        times = np.asarray(t, dtype=float)
        # the times may be rounded otherwise than those of the steps
        slack = 1e-12 * max(1.0, abs(self.t[0]), abs(self.t[-1]))
        is_outside = ~((times >= self.t[0] - slack) & (times <= self.t[-1] + slack))
        if is_outside.any():
            wrong = times[is_outside].flat[0] if times.ndim else times
            why = f", where it ended: {self.trouble}" if self.trouble else ""
            raise PliantError(f"the solution goes from t = {self.t[0]} s to {self.t[-1]} s{why}; asked for {wrong} s")
        step = self.step_at(times)
        return self.within(step, (times - self.t[step]) / (self.t[step + 1] - self.t[step]))

    def step_at(self, t: Any) -> Any:
        """Number of the step that the time lies in; a time between two steps belongs to the one before."""
        return np.clip(np.searchsorted(self.t, t, side="left") - 1, 0, len(self.t) - 2)

    def within(self, step: Any, theta: Any) -> tuple[np.ndarray, np.ndarray]:
        """State in a step: at its start for theta = 0, at its end for theta = 1; numbers, or arrays of both."""
        h = (self.t[step + 1] - self.t[step])[..., None]
        weights = np.stack(DORMAND_PRINCE.weights(np.asarray(theta, dtype=float)), axis=-1)
        change = np.einsum("...s,...spd->...pd", weights, self.stages[step])
        q = self.robot.integrate(self.q[step], h * change[..., 0, :])
        return q, self.v[step] + h * change[..., 1, :]

    def __len__(self) -> int:
        return len(self.t) - 1

    def __repr__(self) -> str:
        end = f", ended early: {self.trouble}" if self.trouble else ""
        return (
            f"DenseSolution of {self.robot.name!r}: t = {self.t[0]:g} to {self.t[-1]:g} s, {len(self)} steps, "
            f"{self.rejected} rejected{end}"
        )


class DenseSolver:
    """Computes motions with dense output; compiled once, called with one robot or many.

    Args:
        robot: the robot that moves.
        acceleration: generic function ``acceleration(t, q, v, *values)``, nv.
        control: tolerances and limits of the steps.
        parameters: names and sizes of the values that the acceleration takes beyond t, q, v.
    """

    def __init__(
        self,
        robot: Robot,
        acceleration: Acceleration,
        control: StepControl | None = None,
        *,
        parameters: Mapping[str, int] | None = None,
    ):
        self.robot = robot
        self.control = control or StepControl()
        given = dict(parameters or {})
        own, first, step = adaptive_pieces(robot, acceleration, self.control, reads=tuple(given), records=True)
        sizes = {"t": 1, "q": robot.nq, "v": robot.nv, **own}
        taken = sorted(given.keys() & sizes.keys())
        if taken:
            raise PliantError(f"a parameter of the acceleration cannot be called {taken[0]!r}; the solver has one")
        sizes |= given
        inputs = ("t", "q", "v", "h", "trouble", "t_end", *given)
        outputs = (*_ROWS, "t", "q", "v", "h", "trouble", "accepted", "rejected", "arrived")
        program = Program(sizes, inputs, outputs, (first, Loop((step,), "steps", "arrived", writes=_ROWS)))
        scalars = {"t", "h", "trouble", "t_end", "accepted", "rejected", "arrived", "step_t", "step_h", "step_taken"}
        shapes: dict[str, tuple[int, ...]] = {n: () if n in scalars else (size,) for n, size in sizes.items()}
        shapes["step_stages"] = (len(DORMAND_PRINCE.b), 2, robot.nv)
        self._kernel = Kernel(
            program, {n: shapes[n] for n in inputs}, {n: shapes[n] for n in outputs}, name="dense_solver"
        )

    def __call__(
        self, q: Any, v: Any, t_end: float, *, t: float = 0.0, threads: int | None = None, **parameters: Any
    ) -> DenseSolution | list[DenseSolution]:
        """The motion from q, v at t until t_end, or one for each robot if an argument has a batch axis."""
        if not (np.all(np.isfinite([t, t_end])) and t_end > t):
            raise PliantError(f"a motion goes forward in time; t_end = {t_end} is not after t = {t}")
        state: dict[str, Any] = {"t": t, "q": q, "v": v, "h": 0.0, "trouble": 0.0}
        rounds = 64
        chunks: list[dict[str, np.ndarray]] = []
        total = 0
        while True:
            found = self._kernel(**state, **parameters, t_end=t_end, steps=rounds, threads=threads)
            chunk = dict(zip(self._kernel.outputs, found, strict=True))
            chunks.append(chunk)
            total += rounds
            if np.all(chunk["arrived"] > 0) or total >= self.control.most_steps:
                break
            state = {name: chunk[name] for name in state}
            rounds = min(2 * rounds, 4096, self.control.most_steps)
        if np.ndim(chunks[0]["arrived"]) == 0:
            return self._solution(chunks)
        batch = range(len(chunks[0]["arrived"]))
        return [self._solution([{n: a[k] for n, a in chunk.items()} for chunk in chunks]) for k in batch]

    def _solution(self, chunks: Sequence[Mapping[str, np.ndarray]]) -> DenseSolution:
        """Puts the steps that one robot has taken in a row; those of a robot that has arrived are repeated."""
        parts: dict[str, list[np.ndarray]] = {name: [] for name in _ROWS}
        for chunk in chunks:
            rows = slice(int(chunk["accepted"] + chunk["rejected"]))
            is_step = (chunk["step_taken"][rows] > 0) & (chunk["step_h"][rows] > 0)
            for name in _ROWS:
                parts[name].append(chunk[name][rows][is_step])
        row = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        last = chunks[-1]
        trouble = int(last["trouble"]) if last["arrived"] > 0 else TOO_MANY_STEPS
        if not len(row["step_t"]):
            raise PliantError(
                f"robot {self.robot.name!r} cannot take a step from t = {float(last['t'])} s: {_REASONS[trouble]}; "
                "look for NaN in q, v or the acceleration"
            )
        return DenseSolution(
            self.robot,
            np.append(row["step_t"], last["t"]),
            np.concatenate([row["step_q"], last["q"][None]]),
            np.concatenate([row["step_v"], last["v"][None]]),
            row["step_stages"],
            int(sum(chunk["rejected"] for chunk in chunks)),
            _REASONS[trouble],
        )
