"""Faults while Pliant works: `python -m bench.faults [--times 20] [--only kills caches ...]`.

Each fault is done to a process of its own, many times, at moments by chance; then what is left is compared with what an
undisturbed process makes, bit for bit. A line a fault: how often it was done, and what was lost that should not be.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from bench.fault_kills import full_disks, killed_logs, killed_sweeps, killed_trainings

__all__ = ["FAULTS"]

ROOT = Path(__file__).resolve().parent.parent

COMPUTING = """
import hashlib, sys, pliant
robot = pliant.load("pendulum")
sim = pliant.Simulation(robot, dt=1e-3)
sim.reset(q=[1.0])
print("ready", flush=True)
log = sim.run(0.2)
M = pliant.mass_matrix(robot, [0.3])
print(hashlib.sha256(log.q.tobytes() + M.tobytes()).hexdigest(), flush=True)
"""


def _started(script: str, cache: Path | None = None, **options: Any) -> Any:
    paths = [str(ROOT / "src"), str(ROOT), str(ROOT / "tests")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    if cache is not None:
        environment["PLIANT_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", script]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options)


def _until_ready(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    if line.strip() != b"ready":
        said = process.communicate()[1].decode(errors="replace")
        raise RuntimeError(f"a worker did not start: {said[-500:]}")


def _finished(process: subprocess.Popen[bytes]) -> str:
    """The last line that a worker prints."""
    out, said = process.communicate()
    if process.returncode != 0:
        return f"ended with {process.returncode}: {said.decode(errors='replace')[-300:]}"
    return out.decode().split()[-1]


def damaged_caches(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """Entries of the cache damaged, cut off, exchanged or replaced, by chance: the same bits as without."""
    from bench.mutations import mutated_bytes
    from pliant.compiler import kernel_from_function
    from pliant.math import sin

    cache, lost = folder / "cache", []
    before = os.environ.get("PLIANT_CACHE_DIR")
    os.environ["PLIANT_CACHE_DIR"] = str(cache)
    try:

        def made(factor: float) -> float:
            return float(kernel_from_function(lambda x: sin(x) * factor + x, {"x": ()})(0.7))

        factors = [2.0, 3.0, 5.0]
        expected = [made(factor) for factor in factors]
        wholes = {path: path.read_bytes() for path in sorted(cache.glob("*.o"))}
        paths = list(wholes)
        for k in range(times):
            for path, data in wholes.items():
                path.write_bytes(data)
            path, other = (paths[i] for i in rng.permutation(len(paths))[:2])
            if rng.random() < 0.25:
                path.write_bytes(wholes[other])
            else:
                path.write_bytes(mutated_bytes(rng, wholes[path]))
            found = [made(factor) for factor in factors]
            if found != expected:
                lost.append(f"cache {k}: {found} for {expected}")
    finally:
        if before is None:
            del os.environ["PLIANT_CACHE_DIR"]
        else:
            os.environ["PLIANT_CACHE_DIR"] = before
    return lost


def _reference(folder: Path) -> str:
    return _finished(_started(COMPUTING, folder / "reference"))


def concurrent_processes(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """Several processes that fill one empty cache at once: all get the same bits, and no parts are left."""
    expected, lost = _reference(folder), []
    for k in range(times):
        cache = folder / f"shared{k}"
        workers = [_started(COMPUTING, cache) for _ in range(3)]
        found = [_finished(worker) for worker in workers]
        parts = list(cache.glob(".writing-*"))
        if found != [expected] * 3 or parts:
            lost.append(f"processes {k}: {found}, {parts}")
        shutil.rmtree(cache, ignore_errors=True)
    return lost


def cancelled_compilations(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """Ctrl-C, or kill -9, while it compiles and fills the cache: the next process gets the same bits."""
    expected, lost, cache = _reference(folder), [], folder / "cancelled"
    for k in range(times):
        shutil.rmtree(cache, ignore_errors=True)
        process = _started(COMPUTING, cache)
        _until_ready(process)
        time.sleep(float(rng.uniform(0, 0.6)))
        process.send_signal(signal.SIGINT if rng.random() < 0.5 else signal.SIGKILL)
        process.communicate()
        found = _finished(_started(COMPUTING, cache))
        if found != expected:
            lost.append(f"compilation {k}: {found}")
    return lost


JUMPING = """
import random, time
random.seed({seed})
own, at = time.time, [0.0]
def jumps():
    at[0] += random.choice([0, 0, 0, 86400 * 400, -86400 * 400])
    return max(0.0, own() + at[0])
time.time = jumps
"""


def clock_jumps(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """The clock of the machine jumps by a year while it runs and compiles: the same bits."""
    expected, lost = _reference(folder), []
    for k in range(times):
        cache = folder / f"jumps{k}"
        found = _finished(_started(JUMPING.format(seed=int(rng.integers(2**31))) + COMPUTING, cache))
        if found != expected:
            lost.append(f"clock {k}: {found}")
        shutil.rmtree(cache, ignore_errors=True)
    return lost


FAULTS: dict[str, Callable[[int, np.random.Generator, Path], list[str]]] = {
    "logs": killed_logs,
    "sweeps": killed_sweeps,
    "trainings": killed_trainings,
    "disks": full_disks,
    "caches": damaged_caches,
    "processes": concurrent_processes,
    "compilations": cancelled_compilations,
    "clocks": clock_jumps,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the exit code is 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=10, help="each fault (default 10); caches ten times as often")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(FAULTS), default=list(FAULTS))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    table: dict[str, dict[str, Any]] = {}
    for name in given.only:
        rng = np.random.default_rng([given.seed, int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)])
        times = given.times * (10 if name == "caches" else 1)
        folder = Path(tempfile.mkdtemp(prefix="pliant-faults-"))
        try:
            lost = FAULTS[name](times, rng, folder)
        finally:
            with suppress(OSError):
                shutil.rmtree(folder)
        table[name] = {"times": times, "lost": lost}
        if not given.json:
            print(f"{name:<14}{times:>6} times {len(lost):>4} lost", *lost[:3], sep="\n    ", flush=True)
    if given.json:
        print(json.dumps(table))
    return int(any(row["lost"] for row in table.values()))


if __name__ == "__main__":
    sys.exit(main())
