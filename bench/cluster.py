"""Rollouts on workers against threads, what a call costs, and what 10,000 workers would do.

    python -m bench.cluster [--ray] [--model]

Results are compared with the local ones, bit for bit, before anything is timed. ``--model`` prints only the model, with
the parameters that were measured when docs/cluster.md was written.
"""

import argparse
import heapq
import random
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import pliant
from pliant import tasks
from pliant.cluster import episodes_of
from pliant.cluster.crew import Crew, Task
from pliant.cluster.messages import Call


BATCH, PERIODS, WORKERS = 4096, 100, (1, 2)


@dataclass(frozen=True)
class Costs:
    """What the model takes, in seconds unless it says otherwise.

    Attributes:
        call: of the driver for each call and its answer.
        megabyte: of the driver for a megabyte that goes through it.
        step: of a robot and a control period, on one processor.
        start: until a new worker is at work.
        spread: deviation of the logarithm of the time that equal shares take.
        failures: of a worker, in an hour.
    """

    call: float = 1.0e-4
    megabyte: float = 1.6e-3
    step: float = 0.93e-6
    start: float = 2.0
    spread: float = 0.2
    failures: float = 0.01


def echo(held: dict[str, Any], x: Any) -> Any:
    """What comes back."""
    return x


def measured(on: str) -> Costs:
    """Measure, check and print; returns the costs of the model."""
    robot = pliant.load("quadruped")
    sim = pliant.Simulation(robot, dt=5e-3, substeps=4, ground=pliant.flat(), batch=BATCH, precision="float32")
    controls = np.zeros((BATCH, PERIODS, sim.plan.inputs), np.float32)
    local = sim.rollout(None, controls)
    print(f"{BATCH} robots, {PERIODS} control periods; million periods a second, and as a share of that of threads")
    rates = _rates(lambda t: lambda: sim.rollout(None, controls, threads=t))
    for workers in WORKERS:
        with pliant.Rollouts(sim, on=on, workers=workers) as rollouts:
            found = rollouts.rollout(None, controls)
            if not (np.array_equal(found.q, local.q) and found.state.identical(local.state)):
                sys.exit(f"{workers} workers: results differ from the local ones")
            _tell(f"{robot.name}, states come back", rates, workers, on, lambda r=rollouts: r.rollout(None, controls))
    env, policy = tasks.make("quadruped", batch=BATCH), tasks.trained("quadruped")
    alone = episodes_of(env, policy, periods=PERIODS)
    rates = _rates(lambda t: lambda: episodes_of(_with_threads(env, t), policy, periods=PERIODS))
    for workers in WORKERS:
        with pliant.Rollouts(env, on=on, workers=workers) as rollouts:
            if not np.array_equal(rollouts.episodes(policy, periods=PERIODS).rewards, alone.rewards):
                sys.exit(f"{workers} workers: rewards differ from the local ones")
            work = partial(rollouts.episodes, policy, periods=PERIODS)
            _tell("its task with a policy, rewards come back", rates, workers, on, work)
    with Crew(on, 1) as crew:
        call = _seconds(crew, 1, 50)
        sizes = (1, 8, 32)
        times = [_seconds(crew, np.zeros(size * 125_000), 3) for size in sizes]
    megabyte = float(np.polyfit(sizes, times, 1)[0])
    print(f"  a call {1e6 * call:.0f} us; a megabyte there and back {1e3 * megabyte:.2f} ms")
    return Costs(call=call, megabyte=megabyte / 2, step=1 / rates[1])


def _with_threads(env: pliant.Environment, threads: int) -> pliant.Environment:
    env.sim.threads = threads
    return env


def _rates(work: Any) -> dict[int, float]:
    """Of so many threads of this process."""
    return {n: _rate(work(n)) for n in WORKERS}


def _tell(what: str, rates: dict[int, float], workers: int, on: str, work: Any) -> None:
    rate, own = _rate(work), rates[workers]
    print(f"  {what:42} {workers} threads {own / 1e6:.3f}   {workers} {on} {rate / 1e6:.3f}   {rate / own:.0%}")


def _rate(function: Any) -> float:
    function()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return BATCH * PERIODS / min(times)


def _seconds(crew: Crew, x: Any, times: int) -> float:
    found = []
    for _ in range(times + 1):
        began = time.perf_counter()
        for _ in crew.answers([Task(0, Call(echo, (x,)))]):
            pass
        found.append(time.perf_counter() - began)
    return min(found[1:])


# ---- the model


@dataclass(frozen=True)
class Round:
    """What came of a round of the model: robot periods a second, the driver's share of its time, workers lost."""

    rate: float
    driver: float
    lost: int


def played(costs: Costs, workers: int, robots: int, periods: int, kilobytes: float, *, backups: bool) -> Round:
    """A round: every worker does a share of so many robots, and the driver waits for all.

    The driver sends and receives one message after the other. Times of shares are spread log-normally; a worker that
    fails does so somewhere in its share, which another one does again after a start.

    Args:
        robots: of a worker.
        periods: control periods of the round.
        kilobytes: there and back, for each robot.
        backups: whether shares that are late are given to a second worker.
    """
    rng = random.Random(workers * 1_000_003 + robots)
    usual = costs.step * robots * periods
    serve = costs.call / 2 + costs.megabyte * kilobytes * robots / 2000
    ends: list[float] = []
    free, lost = 0.0, 0
    for _ in range(workers):
        free += serve
        taken = usual * rng.lognormvariate(0, costs.spread)
        while rng.random() < costs.failures * taken / 3600:
            lost += 1
            free += costs.call
            taken = rng.random() * taken + costs.start + usual * rng.lognormvariate(0, costs.spread)
        heapq.heappush(ends, free + taken)
    if backups:
        # once most are done, those that take three times as long are done again, and the first one counts
        late = free + 3 * usual
        ends = [min(end, late + costs.call + usual * rng.lognormvariate(0, costs.spread)) for end in ends]
        heapq.heapify(ends)
    now, busy = free, free
    while ends:
        now = max(now, heapq.heappop(ends)) + serve
        busy += serve
    return Round(workers * robots * periods / now, busy / now, lost)


def model(costs: Costs) -> None:
    """Print what up to 10,000 workers would do."""
    print(f"model: {costs}")
    print("  workers  robots  kB a robot  million periods/s  efficiency  without backups  driver busy  lost")
    for kilobytes, what in ((0.1, "returns only"), (20.0, "states and controls")):
        print(f"  {what}, rounds of 1000 control periods")
        for workers in (10, 100, 1000, 10_000):
            for robots in (16, 256, 4096):
                best = played(costs, workers, robots, 1000, kilobytes, backups=True)
                plain = played(costs, workers, robots, 1000, kilobytes, backups=False)
                ideal = workers / costs.step
                print(
                    f"  {workers:7} {robots:7} {kilobytes:11.1f} {best.rate / 1e6:18.2f} {best.rate / ideal:11.0%}"
                    f" {plain.rate / ideal:16.0%} {best.driver:12.0%} {best.lost:5}"
                )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ray", action="store_true", help="measure actors of Ray in place of processes")
    parser.add_argument("--model", action="store_true", help="print the model only")
    options = parser.parse_args()
    model(Costs() if options.model else measured("ray" if options.ray else "processes"))


if __name__ == "__main__":
    from bench import cluster  # functions that travel have the name of the module

    cluster.main()
