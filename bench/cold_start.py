"""Time of a new process from the import to the first step done, with an empty cache and with a full one.

    python -m bench.cold_start [--json] [--short] [--robots go2 g1 chain80]

Go2 touches with its default contacts, G1 with the corners of its soles, a chain has no contacts. Times are those of
the clock [s], with all cores that the process may use; "cpu" is the processor's, of all threads. "load" is from the
import to a `Simulation`: files are read, meshes become points.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial

from bench.report import CheckError, Report, options_of
from bench.tables import Row

__all__ = ["first_step"]

ROBOTS = {"go2": ["go2"], "g1": ["g1"], "chain80": ["chain", "80"]}


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    options = parser.parse_args()
    if options.short:
        options.robots = options.robots[:1]
    report = Report(options)
    title = f"import to first step in a new process [s], {len(os.sched_getaffinity(0))} cores"
    report.table("cold", title, {name: partial(rows, name) for name in options.robots})
    report.finish()


def rows(name: str) -> list[Row]:
    """The times of a robot."""
    with tempfile.TemporaryDirectory() as folder:
        cold, cached = (first_step(ROBOTS[name], folder) for _ in range(2))
    return [{"robot": name, **cold, "cached": cached["total"]}]


def first_step(arguments: list[str], folder: str) -> dict[str, float]:
    """Times of `bench.first_step` in a new process [s].

    Args:
        folder: of the cache of compiled code.
    """
    command = [sys.executable, "-m", "bench.first_step", *arguments]
    environment = {**os.environ, "PLIANT_CACHE_DIR": folder}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise CheckError(f"{' '.join(arguments)} did not take a step: {done.stderr[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
