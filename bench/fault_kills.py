"""Kills and full disks, for `bench.faults`: of programs that write logs, checkpoints and the results of sweeps.

A program is a fork of this process, which has all imports and compiled code, so that a kill takes a fraction of a
second.
"""

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.cluster import load_sweep, sweep
from pliant.simulation import running

__all__ = ["full_disks", "killed_logs", "killed_sweeps", "killed_trainings"]

_LONG = 0.25
"""Until a program is killed, at most, from when its file is there [s]."""


def killed_logs(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """kill -9 while a log is written: it opens, and has the entries of an undisturbed run."""
    sim = _pendulum()
    whole = sim.run(100.0, every=0.01)
    path, lost = folder / "run.h5", list[str]()

    def writes() -> None:
        running.BLOCK = 0.002
        sim.reset(q=[1.0])
        sim.run(1e6, save=path, every=0.01)

    for k in range(times):
        path.unlink(missing_ok=True)
        _killed(_forked(writes), path, float(rng.uniform(0, _LONG)))
        log = _read(path, f"log {k}", lost)
        n = 0 if log is None else min(len(log), len(whole))
        if log is not None and not (np.array_equal(log.q[:n], whole.q[:n]) and np.array_equal(log.t[:n], whole.t[:n])):
            lost.append(f"log {k}: other numbers")
    return lost


def full_disks(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """A disk that is full at a size by chance: an error that says so, and a log that opens with all that fits."""
    import resource

    sim = _pendulum()
    sim.run(0.01)
    path, said, lost = folder / "full.h5", folder / "said", list[str]()
    for k in range(times):
        size = int(rng.integers(200_000, 2_000_000))

        def writes(size: int = size) -> None:
            running.BLOCK = 0.02
            sim.reset(q=[1.0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            try:
                sim.run(1e6, save=path)
            except pliant.PliantError as error:
                said.write_text(str(error))

        for one in (path, said):
            one.unlink(missing_ok=True)
        os.waitpid(_forked(writes), 0)
        log = _read(path, f"disk {k}", lost)
        told = said.read_text() if said.exists() else "nothing"
        if log is not None and f"{len(log)} entries" not in told:
            lost.append(f"disk {k}: {len(log)} entries, and it said {told}")
    return lost


def killed_trainings(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """kill -9 while checkpoints are written: the file is the one before or the one after, and training goes on."""
    from bench.fuzz_samples import cart
    from pliant.learn import ppo, resume

    path, lost = folder / "cart.checkpoint", list[str]()
    ppo(cart(), minutes=None, steps=1)

    def trains() -> None:
        ppo(cart(), minutes=None, steps=10**9, checkpoint=path, checkpoint_every=0)

    for k in range(times):
        path.unlink(missing_ok=True)
        _killed(_forked(trains), path, float(rng.uniform(0, _LONG)))
        try:
            resume(path, cart(), minutes=None, steps=1)
        except pliant.PliantError as error:
            lost.append(f"checkpoint {k}: {error}")
    return lost


TRIALS = 60


def wave(k: int) -> dict[str, Any]:
    """A trial of a sweep."""
    time.sleep(0.002)
    return {"y": float(np.sin(k)), "path": np.arange(5.0) * k}


def killed_sweeps(times: int, rng: np.random.Generator, folder: Path) -> list[str]:
    """kill -9 of a sweep and its workers, again and again until it is done: what there was stays, and is right."""
    from bench import fault_kills  # by its module, which workers import

    out, lost, before = folder / "sweep", list[str](), set[Path]()
    kills = 0
    while kills < times:

        def sweeps(out: Path = out) -> None:
            sweep(fault_kills.wave, {"k": range(TRIALS)}, out=out, workers=1)

        process = _forked(sweeps)
        end, wanted = time.monotonic() + 120, len(before) + int(rng.integers(1, TRIALS // 3))
        while len(_results(out)) < min(wanted, TRIALS) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0, 0.004)))
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        kills += 1
        there = _results(out)
        table = load_sweep(out)
        wrong = [row.values for row in table if not _is_right(row)]
        # what its worker writes before it ends may come later
        if before - there or wrong or len(table) < len(there):
            lost.append(f"sweep {kills}: {len(before - there)} results gone, {wrong} wrong, {len(table)} read")
        before = there
        if len(there) == TRIALS:
            out, before = folder / f"sweep{kills}", set()
    return lost


def _results(out: Path) -> set[Path]:
    """The files of results; names with a dot in front are of files that were not written whole."""
    return {path for path in out.glob("trials/*.npz") if not path.name.startswith(".")}


def _is_right(row: Any) -> bool:
    k = row.values["k"]
    return (
        row.status == "done"
        and row.results["y"] == np.sin(k)
        and bool((row.results["path"] == np.arange(5.0) * k).all())
    )


# ---- processes


def _pendulum() -> pliant.Simulation:
    sim = pliant.Simulation(pliant.load("pendulum"), dt=1e-3)
    sim.reset(q=[1.0])
    return sim


def _forked(work: Callable[[], None]) -> int:
    """A process that does some work, in a group of its own, and its number."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    try:
        os.setsid()
        warnings.simplefilter("ignore")
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _killed(process: int, path: Path, after: float) -> None:
    """Kill a process some time after its file is there."""
    end = time.monotonic() + 120
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(after)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _read(path: Path, what: str, lost: list[str]) -> pliant.Log | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pliant.load_log(path)
    except pliant.PliantError as error:
        lost.append(f"{what}: {error}")
        return None
