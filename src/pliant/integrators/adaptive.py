"""Dormand-Prince 5(4) with a step size for each robot: a trial step and the rule for the next one, on any scalar.

`adaptive_body` makes pieces of a compiled program of them, `DenseSolver` compiles motions with dense output, and
`Stepper` takes one step after the other in Python, for motions that events interrupt.

A trial step gives two results of different order from the same stages; their difference is the error
of the less accurate one, and decides [Hairer, Norsett, Wanner 1993, II.4]. With the scales

    s_w = atol + rtol |w|        s_v = atol + rtol max(|v0|, |v1|)

and err the root mean square of error / scale over w and v, the step is taken if err <= 1, and the
next one is longer or shorter by a proportional-integral rule [Gustafsson 1991],

    factor = safety err^-(1/5 - 3/4 beta) err_before^beta,        beta = 0.04

w is what the step adds to q, so the tolerance is one on the path: a robot far from the origin, or a
joint that counts many turns, is computed as accurately as any other.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.compiler import Block, Kernel, Loop, Program
from pliant.errors import PliantError, bad_value
from pliant.integrators.dense import Chart, DenseSolution, Segment
from pliant.integrators.runge_kutta import (
    DORMAND_PRINCE, Acceleration, Manifold, Settle, Stage, WithMemory, combination, explicit_step,
)  # fmt: skip
from pliant.robot import Robot
from pliant.scalar import Scalar, abs, both, either, exp, is_constant, log, maximum, minimum, negation, select, sqrt

# values of the variable "trouble"
NO_STEP_SMALL_ENOUGH = 1
TOO_MANY_STEPS = 2

SAFETY, SHRINK, GROW, BETA = 0.9, 0.2, 10, 0.04
# what the first step of a period takes for the error before it
ERROR_BEFORE = 1e-4
_ROWS = ("step_t", "step_h", "step_q", "step_v", "step_stages", "step_taken")
_REASONS = {0: "", NO_STEP_SMALL_ENOUGH: "no step is small enough for the tolerance", TOO_MANY_STEPS: "too many steps"}


def _square(x: Scalar) -> Scalar:
    return x * x


@dataclass(frozen=True)
class StepControl:
    """What decides the length of a step.

    Attributes:
        rtol, atol: relative and absolute tolerance of a step; see the module.
        smallest: a robot that would need a shorter step [s] is in trouble, and stops.
        largest: no step is longer [s].
        most_steps: trial steps of one period at most.
        order: the error of a step is like this power of its length.
    """

    rtol: Scalar = 1e-6
    atol: Scalar = 1e-9
    smallest: Scalar = 1e-10
    largest: Scalar = float("inf")
    most_steps: int = 100_000
    order: int = DORMAND_PRINCE.order

    def __post_init__(self):
        for name in ("rtol", "atol", "smallest", "largest"):
            value = getattr(self, name)
            if is_constant(value) and not (value > 0 or (name == "rtol" and value == 0)):
                raise PliantError(bad_value(name, value, "a number above 0", "adaptive steps"))
        if not isinstance(self.most_steps, int) or self.most_steps < 1:
            raise PliantError(bad_value("most_steps", self.most_steps, "an integer from 1 on", "adaptive steps"))

    def error(self, w: Sequence, v0: Sequence, v1: Sequence, error: Stage) -> Scalar:
        """Root mean square of the error in units of the tolerance."""
        total: Scalar = 0
        for x, e in zip(w, error[0], strict=True):
            total = total + _square(e / (self.atol + self.rtol * abs(x)))
        for a, b, e in zip(v0, v1, error[1], strict=True):
            total = total + _square(e / (self.atol + self.rtol * maximum(abs(a), abs(b))))
        return sqrt(total / max(1, 2 * len(v0)))

    def first_step(self, v: Sequence, vd: Sequence) -> Scalar:
        """A step on which the scaled change of the state is to the power of the order like 1/100."""
        rate: Scalar = 0
        for a, b in zip(v, vd, strict=True):
            rate = rate + _square(a / self.atol) + _square(b / (self.atol + self.rtol * abs(a)))
        # never zero, and NaN becomes a number: then the steps tell
        rate = sqrt(maximum(select(rate >= 0, rate, 1), 1e-20) / max(1, 2 * len(v)))
        return exp(log(0.01 / rate) / self.order)

    def length(self, h: Scalar, left: Scalar) -> tuple[Scalar, Scalar]:
        """The length of a step that is to be h long where ``left`` is left [s], and whether it is the last."""
        # the last step reaches the end, if need be a hundredth longer
        wanted = minimum(h, self.largest)
        is_last = 1.01 * wanted >= left
        return select(is_last, left, wanted), is_last

    def next_length(
        self, h: Scalar, length: Scalar, error: Scalar, before: Scalar, growth: Scalar, *, is_cut: Scalar
    ) -> Scalar:
        """The length to go on with after a trial step [s].

        Args:
            h: the length that was wanted; length: the one that was tried.
            error: of the trial step; before: of the step before it.
            growth: the largest factor, 1 after a rejected step.
            is_cut: whether the step was taken and is shorter than wanted, which says nothing against longer ones.
        """
        logarithm = log(maximum(error, 1e-10))
        rule = SAFETY * exp(BETA * log(before) - (1 / self.order - 0.75 * BETA) * logarithm)
        factor = select(error <= 1, minimum(maximum(rule, SHRINK), growth), minimum(maximum(rule, SHRINK), 1))
        proposed = length * factor
        return select(is_cut, maximum(proposed, minimum(h, self.largest)), proposed)


@dataclass(frozen=True)
class Trial:
    """A trial step: its length, the stages (none if the last is not at the result), and the state after it."""

    length: Scalar
    stages: list[Stage]
    q: list[Scalar]
    v: list[Scalar]
    error: Scalar


TrialStep = Callable[..., Trial]


def trial_step(
    robot: Manifold, acceleration: Acceleration, control: StepControl, t: Scalar, q, v, vd, length: Scalar
) -> Trial:
    """A step from a state whose acceleration is known, with its error; any scalar."""
    tableau = DORMAND_PRINCE
    q1, v1, stages = explicit_step(robot, tableau, acceleration, t, q, v, length, vd=vd)
    w = [length * k for k in combination(tableau.b, [s[0] for s in stages])]
    assert tableau.b_embedded is not None
    weights = [b - e for b, e in zip(tableau.b, tableau.b_embedded, strict=True)]
    wrong = [[length * k for k in combination(weights, [s[part] for s in stages])] for part in (0, 1)]
    return Trial(length, stages, q1, v1, control.error(w, v, v1, (wrong[0], wrong[1])))


def adaptive_pieces(
    robot: Robot | WithMemory, acceleration: Acceleration, control: StepControl, *, reads: Sequence[str] = (),
    records: bool = False, v: str = "v", settle: Settle | None = None, trial: TrialStep | None = None,
) -> tuple[dict[str, int], Block, Block]:  # fmt: skip
    """The block before the steps and the block of a trial step; see `adaptive_body`.

    Args:
        records: whether a trial also writes where it began, its stages and whether it was taken, to
            ``step_t``, ``step_h``, ``step_q``, ``step_v``, ``step_stages`` and ``step_taken``.
        v: name of the variable with the velocities, and the memory of a `WithMemory`.
        settle: generic function ``settle(q, v, *values)``, what q and v become after a step that is taken.
        trial: a trial step of another method, ``trial(t, q, v, vd, length, *values)``; nothing is recorded of it.
    """

    def begin(t, q, v, h, t_end, *values):
        vd = acceleration(t[0], q, v, *values)
        guess = minimum(control.first_step(v, vd), maximum(t_end[0] - t[0], 0))
        return vd, [select(h[0] > 0, h[0], guess)], [ERROR_BEFORE], [GROW]

    def step(t, q, v, vd, h, t_end, trouble, accepted, rejected, before, growth, *values):
        def at(t, q, v):
            return acceleration(t, q, v, *values)

        length, is_last = control.length(h[0], maximum(t_end[0] - t[0], 0))
        tried = (
            trial(t[0], q, v, vd, length, *values)
            if trial is not None
            else trial_step(robot, at, control, t[0], q, v, vd, length)
        )

        # an error that is not a number is a large one
        error = select(tried.error >= 0, minimum(tried.error, 1e10), 1e10)
        is_well = trouble[0] <= 0
        is_taken = both(error <= 1, is_well)
        is_cut = both(is_taken, is_last)
        proposed = control.next_length(h[0], length, error, before[0], growth[0], is_cut=is_cut)
        is_lost = both(negation(is_taken), proposed < control.smallest)
        new_trouble = select(both(is_well, is_lost), NO_STEP_SMALL_ENOUGH, trouble[0])
        is_over = either(both(is_taken, is_last), new_trouble > 0)

        def taken(new: Sequence[Scalar], old: Sequence[Scalar]) -> list[Scalar]:
            return [select(is_taken, a, b) for a, b in zip(new, old, strict=True)]

        q1, v1 = tried.q, tried.v
        if settle is not None:
            q1, v1 = (list(x) for x in settle(q1, v1, *values))
        # the last stage is at the result, if that stays as it is
        vd1 = tried.stages[-1][1] if settle is None and tried.stages else at(t[0] + length, q1, v1)
        results = (
            taken([select(is_last, t_end[0], t[0] + length)], t),
            taken(q1, q),
            taken(v1, v),
            taken(vd1, vd),
            [select(is_well, proposed, h[0])],
            [new_trouble],
            [accepted[0] + select(is_taken, 1, 0)],
            [rejected[0] + select(either(is_taken, negation(is_well)), 0, 1)],
            taken([maximum(error, ERROR_BEFORE)], before),
            [select(is_taken, GROW, 1)],
            [is_over],
        )
        if not records:
            return results
        flat = [x for stage in tried.stages for part in stage for x in part]
        return (*results, [t[0]], [length], list(q), list(v), flat, [is_taken])

    nv = robot.nv
    variables = {"vd": nv, "h": 1, "trouble": 1, "accepted": 1, "rejected": 1, "error_before": 1, "growth": 1}
    variables |= {"t_end": 1, "arrived": 1}
    recorded = {"step_t": 1, "step_h": 1, "step_q": robot.nq, "step_v": nv, "step_stages": 14 * nv, "step_taken": 1}
    state = ("t", "q", v, "vd", "h")
    counters = ("trouble", "accepted", "rejected", "error_before", "growth")
    first = Block(begin, ("t", "q", v, "h", "t_end", *reads), ("vd", "h", "error_before", "growth"))
    writes = (*state, *counters, "arrived", *(recorded if records else ()))
    return variables | (recorded if records else {}), first, Block(step, (*state, "t_end", *counters, *reads), writes)


def adaptive_body(
    robot: Robot | WithMemory, acceleration: Acceleration, control: StepControl | None = None, *,
    reads: Sequence[str] = (), v: str = "v", settle: Settle | None = None, trial: TrialStep | None = None,
) -> tuple[dict[str, int], list[Block | Loop]]:  # fmt: skip
    """Steps from t to t_end, as many as each robot needs, as pieces of a program.

    Reads t, q, v, t_end and what ``reads`` names; these do not change on the way. Writes t, q, v and

    - ``h``: the step to go on with [s]; a step is guessed where it is zero.
    - ``accepted``, ``rejected``: trial steps taken and not, added to what is there.
    - ``trouble``: 0; `NO_STEP_SMALL_ENOUGH` or `TOO_MANY_STEPS` for a robot that did not reach t_end. It
      stays where it was until somebody sets the variable to 0 again.

    Args:
        acceleration, reads, v: as for `explicit_body`.
        settle: generic function ``settle(q, v, *values)``, what q and v become after a step that is taken.
        trial: a trial step of another method, see `adaptive_pieces`.
        control: tolerances and limits of the steps.

    Returns:
        The variables it needs beyond t, q, v and ``reads``, and the statements.
    """
    control = control or StepControl()
    variables, first, step = adaptive_pieces(robot, acceleration, control, reads=reads, v=v, settle=settle, trial=trial)

    def finish(arrived, trouble):
        return [select(both(arrived[0] <= 0, trouble[0] <= 0), TOO_MANY_STEPS, trouble[0])]

    steps = Loop((step,), control.most_steps, "arrived")
    return variables, [first, steps, Block(finish, ("arrived", "trouble"), ("trouble",))]


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
        t, q, v = (np.concatenate([row[f"step_{name}"], last[name][None]]) for name in ("t", "q", "v"))
        rejected = int(sum(chunk["rejected"] for chunk in chunks))
        return DenseSolution(self.robot, t, q, v, np.diff(t), row["step_stages"], rejected, _REASONS[trouble])


# ---- in Python, a step at a time


class NoStepError(Exception):
    """No step is short enough for the tolerance: accelerations grow without bound, or are not numbers."""


class Stepper:
    """Takes adaptive steps one at a time, so that the caller can look for events in each.

    Attributes:
        h: the step to try next [s].
        taken, rejected: counts.
    """

    def __init__(self, chart: Chart, control: StepControl):
        self.chart, self.control = chart, control
        self.h = min(1e-3, control.largest)
        self.taken = self.rejected = 0
        self._before, self._growth = ERROR_BEFORE, GROW

    @property
    def memory(self) -> tuple[float, float, float]:
        """What the next step depends on besides the state: h, the error before, and the largest factor."""
        return self.h, self._before, self._growth

    @memory.setter
    def memory(self, memory: tuple[float, float, float]) -> None:
        self.h, self._before, self._growth = memory

    def step(
        self, acceleration: Callable[..., np.ndarray], t: float, q: np.ndarray, v: np.ndarray, end: float
    ) -> Segment:
        """One accepted step that does not go beyond ``end``, with ``acceleration(t, q, v)`` of arrays, nv."""
        control = self.control
        first = acceleration(t, q, v)
        while True:
            length, _ = control.length(self.h, end - t)
            stages, error = self._trial(acceleration, t, q, v, first, length)
            # what is left before an end or an event may be shorter than any step of its own
            is_rest = stages is not None and length < control.smallest and length < self.h
            is_taken = error <= 1 or is_rest
            is_cut = is_taken and length < min(self.h, control.largest)
            self.h = control.next_length(self.h, length, error, self._before, self._growth, is_cut=is_cut)
            if is_taken and stages is not None:
                self.taken += 1
                self._before, self._growth = max(min(error, 1.0), ERROR_BEFORE), GROW
                return Segment(self.chart, t, length, q, v, stages)
            self.rejected += 1
            self._growth = 1
            if self.h < control.smallest:
                raise NoStepError

    def _trial(
        self, acceleration: Callable[..., np.ndarray], t: float, q: np.ndarray, v: np.ndarray, first: np.ndarray,
        h: float,
    ) -> tuple[np.ndarray | None, float]:  # fmt: skip
        """The stages of a trial step and its error, as `trial_step` on arrays; no stages where one is not a number."""
        stages = np.empty((len(_C), 2, len(v)))
        stages[0] = v, first
        if not np.isfinite(first).all():
            return None, 1e10
        for i in range(1, len(_C)):
            w, dv = h * (_A[i, :i] @ stages[:i].reshape(i, -1)).reshape(2, -1)
            at_q, stages[i, 0] = self.chart.moved(q, w, v + dv)
            stages[i, 1] = acceleration(t + _C[i] * h, at_q, v + dv)
            if not np.isfinite(stages[i]).all():
                return None, 1e10
        w, dv, w_wrong, v_wrong = h * (_ENDS @ stages.reshape(len(_C), -1)).reshape(4, -1)
        scale_w = self.control.atol + self.control.rtol * np.abs(w)
        scale_v = self.control.atol + self.control.rtol * np.maximum(np.abs(v), np.abs(v + dv))
        total = float(((w_wrong / scale_w) ** 2).sum() + ((v_wrong / scale_v) ** 2).sum())
        error = math.sqrt(total / max(1, 2 * len(v)))
        return stages, error if math.isfinite(error) else 1e10


# of Dormand and Prince, as arrays: stages, times, and the result with its error
_C = DORMAND_PRINCE.c
_A = np.array([(*row, *[0.0] * (len(_C) - len(row))) for row in DORMAND_PRINCE.a])
_ENDS = np.array([DORMAND_PRINCE.b, np.subtract(DORMAND_PRINCE.b, DORMAND_PRINCE.b_embedded or DORMAND_PRINCE.b)])
