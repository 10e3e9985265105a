"""Sweeps as jobs of SLURM, through submitit: each job does a share of the trials in processes of its own.

Jobs write results into the folder of the sweep, which all machines must see; nothing else comes back from them. What
has no file when all jobs have ended was in flight: it is submitted again, as often as ``retries`` says.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pliant.cluster.trials import Result, Setting, result_file
from pliant.errors import PliantError, needs

if TYPE_CHECKING:
    from pliant.cluster.sweeping import Engine, Point

# looks at the folder [s]
_EVERY = 0.5


def submitted(engine: "Engine", setting: Setting, points: "list[Point]") -> Iterator[Result]:
    """What comes of points, as jobs write it."""
    from pliant.cluster.sweeping import Engine

    submitit = needs("submitit", "slurm", "on='slurm'")
    options = dict(engine.slurm)
    # jobs find what this process finds: they inherit its environment
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    executor = submitit.AutoExecutor(folder=str(setting.folder / "slurm"), cluster=options.pop("cluster", "slurm"))
    _set(executor, {"cpus_per_task": engine.threads, "slurm_job_name": "pliant", **options})
    own = Engine("processes", 1, engine.threads, engine.limit, engine.retries, {})
    left, rounds = {point.key: point for point in points}, 0
    jobs: list[Any] = []
    while left and rounds <= engine.retries:
        rounds += 1
        todo, count = list(left.values()), min(engine.workers or 1, len(left))
        # trial k goes to job k modulo their number: those that take long are often neighbours
        with executor.batch():
            jobs = [executor.submit(share, own, setting, todo[k::count]) for k in range(count)]
        while True:
            is_over = all(job.done() for job in jobs)
            for path in [result_file(setting.folder, key) for key in left]:
                if path.is_file():
                    del left[path.stem]
                    yield Result.load(path)
            if is_over:
                break
            time.sleep(_EVERY)
    for point in left.values():
        made = setting.failed(point.key, point.values, "killed", "its job ended before it", _end_of(jobs),
                              attempts=rounds)  # fmt: skip
        made.save(setting.folder)
        yield made


def share(engine: "Engine", setting: Setting, points: "list[Point]") -> int:
    """What a job does: its trials one after the other, each within its limit; returns how many."""
    return sum(1 for _ in engine.results(setting, points))


def _set(executor: Any, options: Mapping[str, Any]) -> None:
    try:
        executor.update_parameters(**options)
    except (NameError, TypeError, ValueError) as error:
        cure = "give options of submitit's AutoExecutor, such as timeout_min or slurm_partition"
        raise PliantError(f"slurm={dict(options)}: {error}", subject="sweep", field="slurm", cure=cure) from None


def _end_of(jobs: list[Any]) -> str:
    """The last words of the jobs."""
    found = []
    for job in jobs:
        with contextlib.suppress(Exception):  # a job that never began has none
            found.append((job.stderr() or "").strip()[-2000:])
    return "\n".join(text for text in found if text)
