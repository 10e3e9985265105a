"""A compiled solver of motions with dense output, for one robot or a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.compiler import Kernel, Loop, Program
from pliant.errors import PliantError, bad_value
from pliant.integrators.adaptive import NO_STEP_SMALL_ENOUGH, TOO_MANY_STEPS, StepControl, adaptive_pieces
from pliant.integrators.dense import DenseSolution
from pliant.integrators.runge_kutta import DORMAND_PRINCE, Acceleration
from pliant.robot import Robot

__all__ = ["DenseSolver"]

_ROWS = ("step_t", "step_h", "step_q", "step_v", "step_stages", "step_taken")
_REASONS = {
    0: "",
    NO_STEP_SMALL_ENOUGH: "no step is small enough for the tolerance",
    TOO_MANY_STEPS: "too many steps",
}


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
            cure = "give it another name: the solver has a variable of this one"
            problem = f"a parameter of the acceleration cannot be called {taken[0]!r}"
            raise PliantError(problem, subject=f"parameter {taken[0]!r}", cure=cure)
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
            raise PliantError(bad_value("t_end", t_end, f"a time after t = {t}: a motion goes forward in time"))
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
            problem = f"robot {self.robot.name!r} cannot take a step from t = {float(last['t'])} s: {_REASONS[trouble]}"
            cure = "look for NaN in q, v or the acceleration"
            raise PliantError(problem, subject=f"robot {self.robot.name!r}", cure=cure)
        t = np.append(row["step_t"], last["t"])
        return DenseSolution(
            self.robot,
            t,
            np.concatenate([row["step_q"], last["q"][None]]),
            np.concatenate([row["step_v"], last["v"][None]]),
            np.diff(t),
            row["step_stages"],
            int(sum(chunk["rejected"] for chunk in chunks)),
            _REASONS[trouble],
        )
