"""Processes that try inputs: each with limits of memory and time, watched from outside.

A worker tries inputs by number and reports before and after each. One that is silent for too long is killed (a hang),
one that ends early has crashed; another goes on with the next number. So nothing that an input does to its process ends
the run, and an input is known by target, seed and number alone.
"""

import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from pliant import PliantError

__all__ = ["OUTCOMES", "Outcome", "Target", "WrongError", "tried"]

OUTCOMES = ("clean", "refused", "other", "hang", "crash", "wrong")
MEMORY = 4 << 30
"""Bytes of address space of a worker."""
SECONDS = 20.0
"""For one input; a compilation takes a few."""

_STARTING = 300.0
"""For imports and samples, on a busy machine."""

ROOT = Path(__file__).resolve().parent.parent


class WrongError(Exception):
    """An input that was taken, and gave what cannot be."""


class Target(Protocol):
    """What is tried: inputs by number, and what is done with one."""

    def made(self, seed: int, number: int) -> Any:
        """The input of a number; the same in every process."""
        ...

    def run(self, given: Any, folder: Path) -> None:
        """Try it; may write into the folder. Raises `WrongError` for a result that cannot be."""
        ...

    def shown(self, given: Any) -> str | bytes:
        """The input as it is kept."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What became of an input; the place is that of the exception, `file.py:line`."""

    number: int
    outcome: str
    problem: str = ""
    place: str = ""
    trace: str = ""
    seconds: float = 0


def tried(
    target: str, seed: int, numbers: range, *, seconds: float = SECONDS, until: float = float("inf")
) -> Iterator[Outcome]:
    """The outcomes of inputs of a target, by number, from workers that follow each other; ``until``: of the clock."""
    start = numbers.start
    while start < numbers.stop and time.monotonic() < until:
        for outcome in _one_worker(target, seed, start, numbers.stop, seconds):
            yield outcome
            start = outcome.number + 1
            if time.monotonic() >= until:
                break


def _one_worker(target: str, seed: int, start: int, stop: int, seconds: float) -> Iterator[Outcome]:
    """Outcomes until the worker is done, hangs or crashes."""
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "bench.fuzz_workers", target, str(seed), str(start), str(stop), str(writing)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, pass_fds=(writing,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        os.close(writing)
        try:
            number, limit = start, _STARTING
            pending = b""
            while True:
                ready, _, _ = select.select([reading], [], [], limit)
                if not ready:
                    yield Outcome(number, "hang", f"no answer for {limit:g} s", seconds=limit)
                    return
                data = os.read(reading, 1 << 16)
                if not data:
                    if process.wait() != 0 or number < stop:
                        errors.seek(0)
                        said = errors.read()[-2000:].decode(errors="replace")
                        yield Outcome(number, "crash", f"ended with code {process.returncode}", trace=said)
                    return
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    if "begins" in message:
                        number, limit = message["begins"], seconds
                    else:
                        number = message["number"] + 1
                        yield Outcome(**message)
        finally:
            process.kill()
            process.wait()
            os.close(reading)


def attempt(target: Target, seed: int, number: int) -> Outcome:
    """Make and try an input, in this process."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="pliant-fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome_of(target, target.made(seed, number), Path(folder), number)
    return replace(found, seconds=time.perf_counter() - begin)


def outcome_of(target: Target, given: Any, folder: Path, number: int = 0) -> Outcome:
    """Try an input."""
    try:
        target.run(given, folder)
    except PliantError as error:
        return Outcome(number, "refused", type(error).__name__)
    except WrongError as error:
        return Outcome(number, "wrong", str(error))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if f"{os.sep}pliant{os.sep}" in frame.filename] or frames
        place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
        trace = "".join(traceback.format_exception(error))[-6000:]
        return Outcome(number, "other", f"{type(error).__name__}: {str(error)[:200]}", place, trace)
    return Outcome(number, "clean")


def main() -> None:
    """The worker."""
    from bench.fuzz_targets import TARGETS

    name, seed, start, stop, channel = sys.argv[1], *map(int, sys.argv[2:6])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.setdefault("PLIANT_CACHE_DIR", "off")
    target = TARGETS[name]()
    target.made(seed, start)  # samples take a while to make, on no input's account
    with os.fdopen(channel, "w", buffering=1) as out:
        for number in range(start, stop):
            out.write(json.dumps({"begins": number}) + "\n")
            out.write(json.dumps(asdict(attempt(target, seed, number))) + "\n")


if __name__ == "__main__":
    # the module of that name, so that `WrongError` is one class
    from bench.fuzz_workers import main as worker

    worker()
