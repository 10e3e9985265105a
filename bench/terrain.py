"""What terrain costs: a step of robots that stand on flat ground, on small and large height maps, and on waves.

    python -m bench.terrain [--json] [--short] [--robots quadruped go2] [--batch 1024]

Robots hold their pose, one in a patch of its own chosen at random, on one thread. "us" is the time of the processor per
step and robot, "times flat" the same over that on flat ground, "ready" the time until the first step is done with an
empty cache of kernels [s]. Heights in the kernel are checked against the field.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np

import pliant
from bench.report import Report, failed, options_of
from bench.tables import Row
from bench.timing import best_times
from pliant import terrain
from pliant.terrain import Kind, Spectrum, Terrain

ROBOTS = ("quadruped", "go2", "anymal")


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=["quadruped", "go2"])
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50, help="of one turn")
    options = parser.parse_args()
    if options.short:
        options.robots, options.batch, options.steps = options.robots[:1], 64, 10
    report = Report(options, batch=options.batch)
    title = f"standing; time per step and robot [us], batch of {options.batch}, one thread"
    report.table("terrain", title, {name: partial(rows, name, report) for name in options.robots})
    report.finish()


def maps(is_short: bool) -> dict[str, Terrain]:
    """Terrain by name: two patches, and two hundred of 8 m."""
    kinds = {"rough": {"rms": 0.01, "longest": 2, "shortest": 0.5}, "perlin": {"rms": 0.01, "length": 1, "octaves": 2}}
    columns, levels = (2, 2) if is_short else (10, 10)
    return {
        "map": terrain.grid({name: Kind(name, **numbers) for name, numbers in kinds.items()}, levels=1),
        **{
            f"large map, {100 * spacing:g} cm": terrain.grid(
                {name: Kind(name, columns=columns, **numbers) for name, numbers in kinds.items()},
                levels=levels, spacing=spacing,
            )
            for spacing in (0.1, 0.05)
        },
    }  # fmt: skip


def rows(name: str, report: Report) -> Iterator[Row]:
    """A row for each ground."""
    options = report.options
    robot = pliant.load(name, base="free")
    stance = np.asarray(robot.stance(), dtype=float)
    robot, u = pliant.control.hold(robot, robot.on_ground(stance))
    gentle = Spectrum.of_rms(0.01, longest=2, shortest=0.5)
    rng = np.random.default_rng(0)
    grounds: dict[str, Any] = {"flat": pliant.flat(), **maps(options.short)}
    grounds |= {f"{n} waves": terrain.fourier_ground(gentle, waves=n) for n in (8, 24)}
    calls: dict[str, Callable[[], Any]] = {}
    about: dict[str, Row] = {}
    for which, made in grounds.items():
        if isinstance(made, Terrain):
            level, column = (rng.integers(0, n, options.batch) for n in (made.levels, len(made.columns)))
            ground, q = made.ground, made.placed(robot, stance, level, column)
            points, fault = made.field.heights.size, height_fault(made, rng)
        else:
            ground, points, fault = made, 0, ""
            q = robot.on_ground(np.tile(stance, (options.batch, 1)), ground)
        ready = first_step(partial(standing, robot, ground, q, u))
        sim = standing(robot, ground, q, u)
        calls[which] = partial(several, sim, u, options.steps)
        about[which] = {"points": points, "ready": ready} | failed(f"{name}, {which}", fault)
    times = best_times(calls, rounds=2 if options.short else 10, clock=process_time)
    for which, t in times.items():
        us = t / options.steps / options.batch * 1e6
        yield {"robot": name, "ground": which, "us": us, "times flat": t / times["flat"]} | about[which]


def standing(robot: pliant.Robot, ground: Any, q: np.ndarray, u: Any) -> pliant.Simulation:
    """A simulation after its first step."""
    sim = pliant.Simulation(robot, ground=ground, batch=len(q))
    sim.reset(q=q)
    sim.step(u)
    return sim


def several(sim: pliant.Simulation, u: Any, steps: int) -> None:
    """Some steps."""
    for _ in range(steps):
        sim.step(u)


def first_step(make: Callable[[], Any]) -> float:
    """Time until a simulation has made its first step, without the kernels of other runs [s]."""
    before = os.environ.get("PLIANT_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLIANT_CACHE_DIR"] = folder
        try:
            start = process_time()
            make()
            return process_time() - start
        finally:
            if before is None:
                del os.environ["PLIANT_CACHE_DIR"]
            else:
                os.environ["PLIANT_CACHE_DIR"] = before


def height_fault(made: Terrain, rng: np.random.Generator) -> str:
    """What is wrong with the heights at points of the grid in a kernel."""
    kernel = pliant.compiler.kernel_from_function(made.ground.height, {"x": (), "y": ()})
    heights = made.field.heights
    i, j = (rng.integers(0, n, 1000) for n in heights.shape)
    x, y = (c[i, j] for c in made.field.points())
    off = float(abs(kernel(x, y) - heights[i, j]).max())
    # places are rounded, and slopes are moderate
    return "" if off < 1e-9 else f"heights are off by {off:.1e} m"


if __name__ == "__main__":
    main()
