"""A sweep under fire: trials that raise, hang and are killed, and a driver that is killed twice.

    python -m bench.faults_sweep [--on ray] [--trials 500]

5 % of the trials raise, 2 % hang past their limit, and 1 % kill their worker; the driver is killed at a third and at
two thirds. Every trial must be accounted for, none computed twice but those in flight, and the table must be that of a
sequential run. With ``--on ray`` the workers are on a local cluster of three nodes, each a process of its own.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.cluster import load_sweep, sweep
from pliant.cluster.sweeping import status_of

_NOTES = "PLIANT_BENCH_NOTES"
LIMIT, WORKERS = 1.5, 4


def plan(trials: int) -> str:
    """What becomes of each trial: "." returns, "r" raises, "h" hangs, "k" is killed."""
    fates = "r" * round(0.05 * trials) + "h" * round(0.02 * trials) + "k" * round(0.01 * trials)
    letters = list(fates.ljust(trials, "."))
    random.Random(7).shuffle(letters)
    return "".join(letters)


def trial(k: int, trials: int) -> dict[str, Any]:
    """One of them, which notes that it was begun."""
    (Path(os.environ[_NOTES]) / f"{k}-{time.time_ns()}").touch()
    fate = plan(trials)[k]
    if fate == "r":
        raise ValueError(f"trial {k} had to fail")
    if fate == "h":
        time.sleep(3600)
    if fate == "k":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return {"y": float(np.sin(k)), "path": np.arange(5.0) * k}


def drive(out: str, on: str, trials: int, workers: int) -> None:
    """The driver."""
    sweep(trial, {"k": range(trials), "trials": trials}, out=out, on=on, workers=workers, limit=LIMIT, retries=1)


def _killed_twice(command: list[str], environment: dict[str, str], out: Path, trials: int) -> list[int]:
    """Run the driver, kill it at a third and at two thirds; returns how many results there were each time."""
    found = []
    for share in (1 / 3, 2 / 3):
        with subprocess.Popen(command, env=environment) as driver:
            while len(list(out.glob("trials/*.npz"))) < share * trials and driver.poll() is None:
                time.sleep(0.02)
            driver.send_signal(signal.SIGKILL)
        while status_of(out)["running"]:
            time.sleep(0.05)
        time.sleep(2.0)  # its workers end, and what they had written is there
        found.append(len(list(out.glob("trials/*.npz"))))
    subprocess.run(command, env=environment, check=True)
    return found


def measured(on: str, trials: int) -> None:
    """Run it, check it, and print what happened."""
    with tempfile.TemporaryDirectory() as folder:
        out, notes, alone = (Path(folder) / name for name in ("out", "notes", "alone"))
        notes.mkdir()
        os.environ[_NOTES] = str(notes)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        cluster = None
        if on == "ray":
            from ray.cluster_utils import Cluster

            os.environ["PYTHONPATH"] = environment["PYTHONPATH"]
            cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
            for _ in range(2):
                cluster.add_node(num_cpus=2)
            environment["RAY_ADDRESS"] = str(cluster.address)
        command = [sys.executable, "-m", "bench.faults_sweep", "--drive", str(out), "--on", on, "--trials", str(trials)]
        began = time.perf_counter()
        there = _killed_twice(command, environment, out, trials)
        seconds = time.perf_counter() - began
        if cluster is not None:
            cluster.shutdown()
        begun = np.bincount([int(path.name.partition("-")[0]) for path in notes.iterdir()], minlength=trials)
        table, fates = load_sweep(out), plan(trials)
        os.environ[_NOTES] = folder
        began = time.perf_counter()
        drive(str(alone), "processes", trials, 1)
        sequential = load_sweep(alone)
        # a trial that kills its worker is tried twice; at each kill of the driver as many are in flight as workers
        extra = int(sum(begun - np.where(np.array(list(fates)) == "k", 2, 1)))
        status = {"r": "raised", "h": "timeout", "k": "killed", ".": "done"}
        print(f"{trials} trials on {WORKERS} workers ({on}), driver killed at {there} results: {seconds:.0f} s")
        print(f"sequential run: {time.perf_counter() - began:.0f} s; {table}")
        checks = {
            "every trial is accounted for": len(table) == trials and begun.min() >= 1,
            "each with what became of it": [r.status for r in table] == [status[fate] for fate in fates],
            f"computed again: {extra}, at most 2 x {WORKERS} in flight": 0 <= extra <= 2 * WORKERS,
            "table equal to that of the sequential run": _same(table, sequential),
        }
        for what, holds in checks.items():
            print(f"{'yes' if holds else 'NO '}  {what}")
        if not all(checks.values()):
            sys.exit(1)


def _same(table: Any, sequential: Any) -> bool:
    # Ray has other words for the end of a worker
    if any(a.status != b.status for a, b in zip(table, sequential, strict=True)):
        return False
    kinds = [type(table)([r for r in t if r.status != "killed"]) for t in (table, sequential)]
    return kinds[0].same_as(kinds[1])


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=["processes", "ray"], default="processes")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--drive", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.drive:
        # by its module, which workers import
        from bench import faults_sweep

        faults_sweep.drive(options.drive, options.on, options.trials, WORKERS)
    else:
        from bench import faults_sweep

        faults_sweep.measured(options.on, options.trials)


if __name__ == "__main__":
    main()
