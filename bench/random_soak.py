"""Random robots on random ground: none may diverge, none may gain energy; `python -m bench.soak --random`.

    python -m bench.soak --random 500 [--seed 0] [--dt 0.001 0.002 0.005] [--precision float64 float32] [--only 37]

`bench.random_robots` says what is drawn. Each robot runs from several starts at once; a failure is printed with its
number, and ``--only`` runs that robot alone.

**Energy.** With T the kinetic energy, U the potential and elastic energy and W the work of the motors, the sum of
torque times way over the steps (which is not v dt where something lands), contacts, dampers and friction can only take
energy away: T + U - W never rises. The velocity of a state is that in the middle of the step before: its energy has its
place half a step before q, half-way between two kicks, and

    G = T(x, v) + U(x) - W(x),    x = q - dt/2 v

is that at one time. Elsewhere it is off by what moves in half a step: T(q, v) by w dt / 2 in a swing of frequency w,
and by many times that where joints that turn against each other keep a body in place that is far out. G wobbles by
(w dt)^2 / 4 only, and its mean over 0.1 s, over which a spring swings or turns around, by a few parts in a thousand.
The gain of a run is the largest rise of this mean above the least one before: a robot that gains what an impact has
just taken does not go unseen. It may be 1 % of the energy at hand, the largest so far of

- kinetic and elastic energy, what there is to exchange,
- m g times the length of all bodies in a row, what gravity can make of it,
- the work of the motors, taken positive wherever it is done.
"""

import math
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import pliant
from bench.random_robots import GRAVITY, Case, random_case
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Entry, ParameterArrays, Parameters
from pliant.simulation.programs import Kernels, Plan

STARTS = 24
DURATION = 2.0
MOST = 0.01
"""Gain that is allowed, relative to the energy at hand."""

_MEAN = 0.1


@dataclass(frozen=True)
class Found:
    """What happened to a robot at one step length and precision.

    Attributes:
        gain: the largest of all starts, relative; start: that one, and when [s].
        frozen: starts that diverged, and the first reason.
        unsolved: share of the steps whose solver did not converge.
        fastest: the largest entry of v.
    """

    number: int
    dt: float
    precision: str
    gain: float
    start: int
    when: float
    frozen: int
    reason: str
    unsolved: float
    fastest: float
    what: str

    @property
    def is_bad(self) -> bool:
        """Whether it failed."""
        return bool(self.frozen) or not self.gain <= MOST

    def __str__(self) -> str:
        trouble = f"{self.frozen} frozen ({self.reason}), " if self.frozen else ""
        return (
            f"{self.number:4} {self.dt * 1e3:g} ms {self.precision}: {trouble}gain {self.gain:.2%} in start "
            f"{self.start} at {self.when:.2f} s, {self.fastest:.0f} rad/s, {self.unsolved:.2%} unsolved; {self.what}"
        )


class _StepLength(Parameters):
    """The length of the step as a number that varies: one program, most of the time of a soak, serves several."""

    def __init__(self, model: StepModel):
        super().__init__(model)
        self.groups = {"dt": [Entry("dt", (model.dt,), lambda m, x: replace(m, dt=x[0]))]}


def simulations(case: Case, steps: Sequence[float], precision: str) -> Iterator[pliant.Simulation]:
    """One for each length of the step; all share one program, with its numbers in place of those that are compiled in.

    Without contacts, springs that swing are treated by how fast they are for the step (`spring_stages`), and so each
    has a program of its own.
    """
    shared: Kernels | None = None
    for dt in steps:
        made = pliant.Simulation(case.robot, dt=dt, ground=case.ground, batch=len(case.q), precision=precision)
        if made.model.groups and len(steps) > 1:
            varied = _StepLength(made.model)
            shared = shared or Kernels(Plan(varied), precision=precision, threads=1, progress=False)
            made.parameters, made.kernels = ParameterArrays(varied, None, made.dtype), shared
        yield made


def simulate(case: Case, simulation: pliant.Simulation, duration: float = DURATION) -> Found:
    """Run a robot from all its starts."""
    dt, precision = simulation.dt, simulation.precision
    inputs: dict[str, Any] = {"periods": round(duration / dt)}
    if case.robot.nu:
        inputs = {"controls": case.controls(dt, duration)}
    rolled = simulation.rollout((case.q, case.v), channels=("q", "v", "torques", "solver"), **inputs)
    simulation.state = rolled.state
    gains, times = energy_gains(case, dt, rolled.q, rolled.v, rolled["torques"])
    worst = int(np.argmax(np.where(np.isnan(gains), math.inf, gains)))
    lost = simulation.divergences
    reason = f"start {lost[0].robot} at {lost[0].time:g} s" if lost else ""
    unsolved, fastest = float(rolled["solver"][..., 3].mean()), float(np.abs(rolled.v).max())
    found = float(gains[worst]), worst, float(times[worst])
    return Found(case.number, dt, precision, *found, len(lost), reason, unsolved, fastest, str(case))


def energy_gains(
    case: Case, dt: float, q: np.ndarray, v: np.ndarray, torques: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The relative gain of each start, and when [s]; q, v and torques after each step, (starts, steps, n)."""
    balance, at_hand = energy_balance(case, dt, q, v, torques)
    starts, states = balance.shape
    window = min(max(round(_MEAN / dt), 1), states)
    sums = np.concatenate([np.zeros((starts, 1)), np.cumsum(balance - balance[:, :1], axis=1)], axis=1)
    means = (sums[:, window:] - sums[:, :-window]) / window
    rise = (means - np.minimum.accumulate(means, axis=1)) / at_hand[:, window - 1 :]
    last = rise.argmax(axis=1)
    return rise[np.arange(starts), last], (last + window - 1) * dt


def energy_balance(
    case: Case, dt: float, q: np.ndarray, v: np.ndarray, torques: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """G and the energy at hand so far [J] of each state, (starts, 1 + steps)."""
    robot = case.robot
    q, v = (np.concatenate([x[:, None], y], axis=1, dtype=float) for x, y in ((case.q, q), (case.v, v)))
    starts, states = q.shape[:2]
    found = case.energies(*(x.reshape(starts * states, -1) for x in (q, v)), dt).reshape(starts, states, 3)
    kinetic, potential, elastic = np.moveaxis(found, -1, 0)
    # a torque acts at the start of its step, on the way from half a step before to half a step after
    joints = [m.joint for m in robot.motors.values()]
    places = (
        q[..., [robot.q_slice(j).start for j in joints]] - dt / 2 * v[..., [robot.v_slice(j).start for j in joints]]
    )
    done = (torques * np.diff(places, axis=1)).sum(axis=-1)
    work, effort = (np.cumsum(np.pad(x, ((0, 0), (1, 0))), axis=1) for x in (done, abs(done)))
    weight = GRAVITY * float(robot.mass) * case.size
    at_hand = np.maximum(np.maximum.accumulate(kinetic + elastic, axis=1), np.maximum(effort, weight))
    return kinetic + potential + elastic - work, at_hand


# ---- many robots


def soak(
    numbers: Sequence[int], seed: int, steps: Sequence[float], precisions: Sequence[str], *, starts: int = STARTS,
    duration: float = DURATION, processes: int = 2, quiet: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Run robots by number, print those that fail and how far it is, and sum up; Ctrl-C ends it with what it has."""
    found: list[Found] = []
    start = last = time.perf_counter()
    jobs = [(seed, number, tuple(steps), tuple(precisions), starts, duration) for number in numbers]
    try:
        for done, results in enumerate(_all_of(jobs, processes), 1):
            found += results
            for one in results:
                if one.is_bad and not quiet:
                    print(one, flush=True)
            now = time.perf_counter()
            if not quiet and (now - last > 20 or done == len(jobs)):
                last, bad = now, sum(one.is_bad for one in found)
                rate = (now - start) / done
                print(f"{done} of {len(jobs)} robots, {bad} runs failed, {rate:.1f} s a robot", flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {len(found)} runs", flush=True)
    return _summary(found, seed)


def _all_of(jobs: Sequence[tuple[Any, ...]], processes: int) -> Iterator[list[Found]]:
    if processes == 1:
        yield from map(_run, jobs)
        return
    with ProcessPoolExecutor(processes) as pool:
        try:
            yield from pool.map(_run, jobs)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(job: tuple[Any, ...]) -> list[Found]:
    """One robot at all step lengths and precisions."""
    seed, number, steps, precisions, starts, duration = job
    # hundreds of robots that nobody needs again
    os.environ["PLIANT_CACHE_DIR"] = "off"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.SimulationWarning)
        case = random_case(seed, number, starts)
        runs = [sim for precision in precisions for sim in simulations(case, steps, precision)]
        return [simulate(case, sim, duration) for sim in sorted(runs, key=lambda sim: sim.dt)]


def _summary(found: Sequence[Found], seed: int) -> dict[str, Any]:
    """What happened, over all and by step length and precision."""
    rows = []
    for dt, precision in dict.fromkeys((one.dt, one.precision) for one in found):
        own = [one for one in found if (one.dt, one.precision) == (dt, precision)]
        gains = [one.gain for one in own]
        rows.append({
            "dt [s]": dt, "precision": precision, "robots": len(own), "frozen": sum(bool(one.frozen) for one in own),
            "gain more than 1 %": sum(not one.gain <= MOST for one in own), "largest gain": max(gains),
            "median gain": float(np.median(gains)), "unsolved": float(np.mean([one.unsolved for one in own])),
        })  # fmt: skip
    failed = [one for one in found if one.is_bad]
    again = sorted({one.number for one in failed})
    return {"seed": seed, "runs": len(found), "failed": len(failed), "robots that failed": again, "table": rows}
