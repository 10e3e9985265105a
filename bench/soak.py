"""Endurance: thousands of quadrupeds under random torques on waves, for a long time.

    python -m bench.soak [--robots 4096] [--time 20] [--effort 0.2] [--json]
    python -m bench.soak --random 500 [--seed 0] [--only 37] [--dt 0.001 0.002 0.005] [--precision float64 float32]

With ``--random``, random robots on random ground instead: see `bench.random_soak` and `bench.random_robots`.

Else the shipped quadruped, motors with a speed-torque line that ends at 30 rad/s, torques up to a share of their limit
that change every 50 ms. Reports robots that diverged, the deepest penetration, the share of steps whose solver ran out
of iterations, the largest speed, the speed of simulation and the memory. It fails if a robot diverges, or a point is
2 mm deep.
"""

import argparse
import json
import os
import resource
import time
import warnings
from typing import Any

import numpy as np

import pliant
from bench import random_soak

DT = 1e-3
SUBSTEPS = 10
DEEPEST = 2e-3


def main() -> None:
    """Run, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, default=4096)
    parser.add_argument("--time", type=float, help="simulated [s]; 20, or 2 for random robots")
    parser.add_argument("--effort", type=float, default=0.2, help="torques, as a share of their limits")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    parser.add_argument("--random", type=int, metavar="N", help="so many random robots instead")
    parser.add_argument("--seed", type=int, default=0, help="of the random robots")
    parser.add_argument("--only", type=int, nargs="+", metavar="K", help="only the random robots of these numbers")
    parser.add_argument("--dt", type=float, nargs="+", default=[1e-3, 2e-3, 5e-3], help="steps of random robots [s]")
    parser.add_argument("--precision", nargs="+", default=["float64", "float32"], choices=["float64", "float32"])
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1), help="for random robots")
    options = parser.parse_args()
    if options.random is not None or options.only:
        soak_random(options)
        return
    result = soak(options.robots, options.time or 20, effort=options.effort, quiet=options.json)
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    if result["robots diverged"] or result["deepest penetration [mm]"] >= DEEPEST * 1e3:
        raise SystemExit("the soak failed")


def soak_random(options: argparse.Namespace) -> None:
    """Run random robots, and print failures and a summary."""
    result = random_soak.soak(
        options.only or range(options.random), options.seed, options.dt, options.precision,
        duration=options.time or random_soak.DURATION, processes=options.processes, quiet=options.json,
    )  # fmt: skip
    if options.json:
        print(json.dumps(result))
    else:
        for row in result.pop("table"):
            print(
                ", ".join(
                    f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
                    for name, value in row.items()
                )
            )
        print("\n".join(f"{name}: {value}" for name, value in result.items()))
    if result["failed"]:
        raise SystemExit("the soak failed")


def soak(robots: int, duration: float, *, effort: float, quiet: bool = False, seed: int = 0) -> dict[str, Any]:
    """Simulate, a line every two seconds unless ``quiet``; torques up to a share ``effort`` of their limits."""
    rng = np.random.default_rng(seed)
    robot = pliant.load("quadruped", base="free").with_motors(no_load_speed=30)
    limits = np.array([motor.effort_limit for motor in robot.motors.values()])
    q = np.tile(robot.neutral(), (robots, 1))
    q[:, :2] = rng.uniform(-2, 2, (robots, 2))
    q[:, 2] = 0.6
    q[:, 7:] += rng.uniform(-0.3, 0.3, (robots, robot.nu))
    simulation = pliant.Simulation(
        robot, dt=DT, substeps=SUBSTEPS, ground=pliant.waves(0.05, 1.0), batch=robots, threads=os.cpu_count() or 1
    )
    simulation.reset(q=q)
    deepest = fastest = 0.0
    unsolved = sampled = 0
    start, u = time.perf_counter(), np.zeros((robots, robot.nu))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.SimulationWarning)
        for k in range(round(duration / (DT * SUBSTEPS))):
            if k % 5 == 0:
                u = rng.uniform(-effort, effort, u.shape) * limits
            simulation.step(u)
            found = simulation.diagnostics
            deepest = max(deepest, float(found.penetration.max()))
            fastest = max(fastest, float(np.abs(simulation.v[:, 6:]).max()))
            unsolved, sampled = unsolved + int((~found.is_converged).sum()), sampled + robots
            if not quiet and k % 200 == 199:
                done, bad = (k + 1) * DT * SUBSTEPS, len(simulation.divergences)
                print(f"{done:g} s: {bad} diverged, {deepest * 1e3:.3g} mm deep", flush=True)
    elapsed = time.perf_counter() - start
    steps = robots * round(duration / DT)
    return {
        "robots": robots,
        "simulated [s]": duration,
        "torques, share of their limits": effort,
        "robots diverged": len(simulation.divergences),
        "deepest penetration [mm]": round(deepest * 1e3, 4),
        "steps not converged [share of those looked at]": unsolved / max(sampled, 1),
        "fastest joint [rad/s]": round(fastest, 1),
        "time per step and robot, all cores [us]": round(elapsed / steps * 1e6, 3),
        "times real time, all robots": round(robots * duration / elapsed),
        "memory [MB]": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    main()
