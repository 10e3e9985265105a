"""Sweeps: a function at many points, one file for each result; what has a file is not computed again.

That gives all the rest. A sweep that is run again goes on where it was; whoever ended, the worker or the driver, costs
what was in flight, and no more; and any engine will do, since nothing but the files is needed from it.
"""

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.checks import check, check_at_least, check_one_of, is_whole
from pliant.cluster.crew import Crew, Task, check_no_worker
from pliant.cluster.messages import Answer, Call
from pliant.cluster.space import Values, points_of
from pliant.cluster.table import Table
from pliant.cluster.trials import STATUSES, Result, Setting, Trial, compute, prepare, result_file
from pliant.errors import PliantError
from pliant.files.writing import whole_file
from pliant.progress import Count
from pliant.signatures import explained

ENGINES = ("processes", "ray", "slurm")
_PLAN = "sweep.json"
_KIND = "pliant sweep 1"
_TRACES = ".workers-"


@dataclass(frozen=True)
class Point:
    """A trial to do: its arguments and its key."""

    key: str
    values: Values


@explained
def sweep(
    trial: Callable[..., Any],
    space: Any,
    *,
    out: str | os.PathLike[str],
    on: str = "processes",
    workers: int | None = None,
    threads: int = 1,
    samples: int | None = None,
    method: str = "latin",
    seed: int = 0,
    limit: float | None = None,
    retries: int = 1,
    redo: Collection[str] = (),
    changed: str = "raise",
    settings: Mapping[str, Any] | None = None,
    slurm: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Table:
    """Call a function at all points of a space, on many processors, and keep each result in a file.

        def trial(kp, seed):
            ...
            return {"score": score, "path": log.q}

        table = pliant.sweep(trial, {"kp": [20, 40, 80], "seed": range(8)}, out="sweep/")

    Run it again after a break, a crash or an addition to the space: only what has no file is computed. A trial that
    raises, takes too long, or ends its worker is a row of the table as well, with its traceback.

    Args:
        trial: a function at the top level of a module or of a script; it takes the values by keyword, and returns
            numbers, texts, lists or arrays by name, or a single one of them.
        space: as for `pliant.cluster.points_of`: lists and ranges by name span a grid, distributions are sampled; or
            a list of dicts.
        out: folder of the results; it is made.
        on: "processes" of this machine, "ray", or "slurm" (jobs of the cluster that this machine submits to).
        workers: how many; by default one for each ``threads`` processors. On SLURM the number of jobs (default 1).
        threads: processors of a worker.
        samples, method, seed: of the distributions in the space.
        limit: seconds after which a trial is ended.
        retries: how often a trial whose worker was killed is done again.
        redo: statuses whose trials are computed again: "raised", "timeout" or "killed".
        changed: what to do if the file of the trial is another one now than for results that are there: "raise",
            "keep" them, or compute them "again".
        settings: plain data to keep in each result.
        slurm: options for submitit's executor, such as ``{"slurm_partition": "cpu", "timeout_min": 60}``.
        progress: whether to show progress; None (default): if the error stream is a terminal.

    Returns:
        The table of all points.
    """
    check_no_worker()
    check_one_of("on", on, ENGINES, subject="sweep")
    check_one_of("changed", changed, ("raise", "keep", "again"), subject="sweep")
    check("retries", retries, "0 or more", is_whole(retries) and retries >= 0, subject="sweep", error=PliantError)
    if limit is not None:
        check_at_least("limit", limit, 0, strict=True, subject="sweep", error=PliantError)
    for status in redo:
        check_one_of("redo", status, STATUSES[1:], subject="sweep")
    found = Trial.of(trial, on)
    points = _points(found, points_of(space, samples=samples, method=method, seed=seed))
    folder = Path(out).expanduser().resolve()
    from pliant.recording.source import plain  # workers have no need of it

    setting = Setting(found, folder, plain(dict(settings or {})))
    (folder / "trials").mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        for traces in folder.glob(f"{_TRACES}*"):  # of a driver that was killed
            shutil.rmtree(traces, ignore_errors=True)
        _write_plan(folder, found, points, {"on": on, "limit": limit, "retries": retries, "settings": setting.settings})
        known = _known(folder, points, found, redo, changed)
        left = [point for point in points if point.key not in known]
        with Count(len(points), done=len(known), show=progress, what="sweeping") as count:
            if left:
                engine = Engine(on, workers, threads, limit, int(retries), dict(slurm or {}))
                for result in engine.results(setting, left):
                    known[result.key] = result
                    count.add(failed=result.status != "done")
    return Table([known[point.key] for point in points], folder)


def _points(trial: Trial, points: list[Values]) -> list[Point]:
    check("space", points, "one point or more", bool(points), subject="sweep", error=PliantError)
    found: dict[str, Point] = {}
    for k, values in enumerate(points):
        trial.check(values)
        key = trial.key(values)
        if key in found:
            problem = f"point {k} of the sweep, {values}, is there twice"
            raise PliantError(problem, subject="sweep", field="space", cure="tell them apart by a value, as a seed")
        found[key] = Point(key, values)
    return list(found.values())


# ---- engines


@dataclass(frozen=True)
class Engine:
    """How trials get done; attributes as the arguments of `sweep`."""

    on: str
    workers: int | None
    threads: int
    limit: float | None
    retries: int
    slurm: dict[str, Any]

    def results(self, setting: Setting, points: list[Point]) -> Iterator[Result]:
        """What comes of some points, as they are done."""
        if self.on == "slurm":
            from pliant.cluster.slurm import submitted

            yield from submitted(self, setting, points)
            return
        traces = tempfile.mkdtemp(prefix=_TRACES, dir=setting.folder)
        workers = self.workers if self.workers is None else min(self.workers, len(points))
        first = Call(prepare, (setting,))
        tasks = (Task(point, Call(compute, (point.key, point.values), limit=self.limit)) for point in points)
        try:
            with Crew(self.on, workers, threads=self.threads, first=first, traces=traces) as crew:
                for task, answer in crew.answers(tasks, retries=self.retries):
                    yield result_of(setting, task.label, answer, task.tries, self.limit)
        finally:
            shutil.rmtree(traces, ignore_errors=True)


def result_of(setting: Setting, point: Point, answer: Answer, tries: int, limit: float | None) -> Result:
    """The result of a point: that of its file, or that of a worker that could not write one."""
    path = result_file(setting.folder, point.key)
    if answer.kind == "raised":  # not the trial, which keeps its errors, but its file
        raise PliantError(f"a worker could not write {path}: {answer.error}", subject=str(path)) from answer.error
    # a worker that ended after it had written has done its work
    with contextlib.suppress(PliantError):
        return Result.load(path)
    if answer.kind == "timeout":
        error, seconds = f"it took longer than {limit:g} s", float(limit or 0)
    else:
        error, seconds = f"its worker ended {answer.text.strip()}", 0.0
    status = "timeout" if answer.kind == "timeout" else "killed"
    text = answer.text if status == "timeout" else ""
    made = setting.failed(point.key, point.values, status, error, text, seconds=seconds, attempts=tries)
    made.save(setting.folder)
    return made


# ---- the folder


def _known(folder: Path, points: list[Point], trial: Trial, redo: Collection[str], changed: str) -> dict[str, Result]:
    """The results that are there and count."""
    there = {path.stem for path in (folder / "trials").glob("*.npz")}
    found: dict[str, Result] = {}
    for point in points:
        if point.key not in there:
            continue
        with contextlib.suppress(PliantError):  # a damaged one is computed again
            result = Result.load(result_file(folder, point.key))
            if result.status not in redo:
                found[point.key] = result
    others = [key for key, result in found.items() if result.about.get("source") != trial.source]
    if others and changed == "raise":
        problem = f"{len(others)} results in {folder} are of another version of the trial {trial.name!r}"
        cure = "give changed='keep' if they are still right, changed='again' to compute them again, or another folder"
        raise PliantError(problem, subject="sweep", field="changed", cure=cure)
    if changed == "again":
        found = {key: result for key, result in found.items() if key not in others}
    for path in (result_file(folder, key) for key in there & {p.key for p in points} - found.keys()):
        path.unlink(missing_ok=True)
    return found


def _write_plan(folder: Path, trial: Trial, points: list[Point], options: Mapping[str, Any]) -> None:
    path = folder / _PLAN
    if path.exists():
        other = read_plan(folder)["trial"]
        if other != trial.name:
            problem = f"{folder} has a sweep of the trial {other!r}, not of {trial.name!r}"
            raise PliantError(problem, subject=str(folder), field="out", cure="give another folder")
    about = {
        "kind": _KIND, "trial": trial.name, "source": trial.source, "options": dict(options), "began": time.time(),
        "points": [[point.key, point.values] for point in points],
    }  # fmt: skip
    with whole_file(path) as beside:
        beside.write_text(json.dumps(about), encoding="utf-8")


def read_plan(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What a sweep is about, from the untrusted file in its folder."""
    path = Path(folder).expanduser() / _PLAN
    problem, cure = f"{folder} has no sweep", "give the folder that was `out` of pliant.sweep"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        is_right = found["kind"] == _KIND and isinstance(found["trial"], str)
        is_right = is_right and all(isinstance(k, str) and k.isalnum() and isinstance(v, dict)
                                    for k, v in found["points"])  # fmt: skip
    except FileNotFoundError:
        raise PliantError(problem, subject=str(folder), field="out", cure=cure) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise PliantError(f"{path} is damaged: {error}", subject=str(path), field="out", cure=cure) from None
    if not is_right:
        raise PliantError(f"{path} is damaged", subject=str(path), field="out", cure=cure)
    return found


def load_sweep(out: str | os.PathLike[str]) -> Table:
    """The table of a sweep from its folder: of the trials that have been done so far."""
    folder = Path(out).expanduser()
    paths = [result_file(folder, key) for key, _ in read_plan(folder)["points"]]
    return Table([Result.load(path) for path in paths if path.is_file()], folder)


def status_of(out: str | os.PathLike[str]) -> dict[str, Any]:
    """How far a sweep is: how many trials there are, ended how, and are left; and whether it is running."""
    folder = Path(out).expanduser()
    plan, table = read_plan(folder), load_sweep(folder)
    is_running = False
    try:
        with _alone(folder):
            pass
    except PliantError:
        is_running = True
    left = len(plan["points"]) - len(table)
    seconds = [result.seconds for result in table]
    return {
        "trial": plan["trial"], "trials": len(plan["points"]), **table.counts, "left": left, "running": is_running,
        "seconds a trial": sum(seconds) / len(seconds) if seconds else None, "folder": str(folder),
    }  # fmt: skip


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system gives back however this process ends."""
    import fcntl

    with (folder / ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            problem = f"another sweep is running in {folder}"
            raise PliantError(problem, subject=str(folder), field="out", cure="wait for it, or end it") from None
        yield
