"""Memory stays flat: `python -m bench.memory [--resets 100000] [--simulations 10000]`.

What is done again and again must hold on to nothing. Each kind of work is done some times first, until caches and the
heap have their size; then the resident memory may grow by a few megabytes, which is what the heap moves by, however
often it is done.
"""

import argparse
import ctypes
import gc
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant

__all__ = ["KINDS", "Growth", "growth"]

ALLOWED = 6_000_000
"""Growth of the resident memory [bytes] that is no leak."""


class Growth(NamedTuple):
    """What happened to the memory.

    Attributes:
        times: how often the work was done.
        grown: resident memory after it, less that before [bytes]; half: the same for its first half.
        resident: at the end [bytes].
    """

    times: int
    half: int
    grown: int
    resident: int
    seconds: float

    @property
    def is_flat(self) -> bool:
        """Whether nothing leaks: a heap that fills once does so in the first half."""
        return self.grown <= ALLOWED


def growth(work: Callable[[int], None], times: int) -> Growth:
    """Do some work by number, so many times after a tenth as many to begin with."""
    for k in range(max(times // 10, 20)):
        work(k)
    begin, start = time.perf_counter(), _resident()
    half = start
    for k in range(times):
        work(k)
        if k == times // 2:
            half = _resident()
    end = _resident()
    return Growth(times, half - start, end - start, end, time.perf_counter() - begin)


def _resident() -> int:
    """Bytes of this process that are in memory, after all that can be given back has been."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    # the second number: pages that are resident [proc(5)]
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- what is done again and again


def resets() -> Callable[[int], None]:
    """A batch that is reset, to other states, and moves a step."""
    sim = pliant.Simulation(pliant.load("cart_pole"), dt=1e-3, batch=4)
    q = np.random.default_rng(0).normal(size=(64, 4, sim.robot.nq))

    def work(k: int) -> None:
        sim.reset(q=q[k % 64])
        if k % 16 == 0:
            sim.step()

    return work


def simulations() -> Callable[[int], None]:
    """A simulation that is made, moves, and is thrown away."""
    robot = pliant.load("pendulum")

    def work(k: int) -> None:
        sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat() if k % 2 else None)
        sim.step()

    return work


def runs() -> Callable[[int], None]:
    """A run whose log is thrown away."""
    sim = pliant.Simulation(pliant.load("pendulum"), dt=1e-3)

    def work(k: int) -> None:
        sim.reset()
        sim.run(0.02)

    return work


def robots() -> Callable[[int], None]:
    """A robot that is read from its file."""

    def work(k: int) -> None:
        pliant.load(("pendulum", "cart_pole", "two_link_arm")[k % 3])

    return work


KINDS: dict[str, Callable[[], Callable[[int], None]]] = {
    "resets": resets, "simulations": simulations, "runs": runs, "robots": robots,
}  # fmt: skip
TIMES = {"resets": 100_000, "simulations": 10_000, "runs": 10_000, "robots": 3_000}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the exit code is 1 if something leaks."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=(__doc__ or "").partition("\n")[0])
    for name, times in TIMES.items():
        parser.add_argument(f"--{name}", type=int, default=times, metavar="N", help=f"default {times}; 0: none")
    given = vars(parser.parse_args(arguments))
    is_flat = True
    for name, make in KINDS.items():
        if given[name]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pliant.SimulationWarning)
                found = growth(make(), given[name])
            is_flat &= found.is_flat
            print(
                f"{name:<12}{found.times:>8} times: {found.half / 1e6:+.1f} MB in the first half, "
                f"{found.grown / 1e6:+.1f} MB in all, {found.resident / 1e6:.0f} MB at the end, {found.seconds:.0f} s"
                f"{'' if found.is_flat else ': it leaks'}",
                flush=True,
            )
    return int(not is_flat)


if __name__ == "__main__":
    sys.exit(main())
