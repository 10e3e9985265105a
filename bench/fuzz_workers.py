"""Processes that try inputs: each with limits of memory and time, watched from outside.

A worker is a fork of this process, which has all imports and samples, and tries inputs by number until it is done. It
notes in memory that both share which number it is at and what became of each, a byte a number; what mistakes said comes
through a pipe. One that stays at a number for too long is killed (a hang), one that ends early has crashed; another
goes on with the next number. So nothing that an input does to its process ends the run, and an input is known by
target, seed and number alone.
"""

import json
import logging
import mmap
import os
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Protocol

from pliant import PliantError

__all__ = ["OUTCOMES", "Outcome", "Target", "WrongError", "tried"]

OUTCOMES = ("clean", "refused", "other", "hang", "crash", "wrong")
MEMORY = 4 << 30
"""Bytes of address space of a worker."""
SECONDS = 20.0
"""Of processor time, for one input; a compilation takes a few."""

_BUSY = 6
"""How many times as long an input may take by the clock, on a machine that does other things, too."""

_LOOK = 0.25
"""How often a worker is looked at [s]."""


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
    target: Target, seed: int, numbers: range, *, seconds: float = SECONDS, until: float = float("inf")
) -> Iterator[Outcome]:
    """The outcomes of inputs of a target, by number, from workers that follow each other; ``until``: of the clock."""
    # imports and samples take a while, on no input's account
    with suppress(Exception):
        target.made(seed, numbers.start)
    # where files are made and removed in memory, if there is such a place
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    start = numbers.start
    while start < numbers.stop and time.monotonic() < until:
        with tempfile.TemporaryDirectory(prefix="pliant-fuzz-", dir=place) as folder:
            for outcome in _one_worker(target, seed, range(start, numbers.stop), seconds, until, Path(folder)):
                yield outcome
                start = outcome.number + 1


class _Shared:
    """What a worker and its watcher share: the number that is tried, the longest time, and outcomes by number."""

    _HEAD = struct.Struct("qd")

    def __init__(self, numbers: range):
        self._numbers = numbers
        self._memory = mmap.mmap(-1, self._HEAD.size + len(numbers))
        self.note(numbers.start, 0.0)

    def note(self, number: int, longest: float) -> None:
        """A number is begun; the longest time so far [s]."""
        self._HEAD.pack_into(self._memory, 0, number, longest)

    @property
    def at(self) -> tuple[int, float]:
        """The number that is tried, and the longest time [s]."""
        return self._HEAD.unpack_from(self._memory, 0)

    def __setitem__(self, number: int, outcome: str) -> None:
        self._memory[self._HEAD.size + number - self._numbers.start] = 1 + OUTCOMES.index(outcome)

    def __getitem__(self, number: int) -> str:
        """The outcome of a number; empty if there is none yet."""
        return ("", *OUTCOMES)[self._memory[self._HEAD.size + number - self._numbers.start]]


def _one_worker(
    target: Target, seed: int, numbers: range, seconds: float, until: float, folder: Path
) -> Iterator[Outcome]:
    """Outcomes until the worker is done, hangs or crashes, or the time is over."""
    shared = _Shared(numbers)
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as errors:
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            os.close(reading)
            _work(target, seed, numbers, shared, writing, errors.fileno(), folder)
        os.close(writing)
        try:
            said, has_hung = _watched(process, shared, reading, seconds, until)
        finally:
            os.kill(process, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            os.close(reading)
        mistakes = {found.number: found for found in (Outcome(**json.loads(line)) for line in said.splitlines())}
        last, longest = shared.at
        for number in numbers:
            if not (what := shared[number]):
                break
            yield mistakes.get(number) or Outcome(number, what, seconds=longest)
        else:
            return
        if has_hung:
            yield Outcome(last, "hang", f"no answer for {seconds:g} s", seconds=seconds)
        elif time.monotonic() < until or code not in (0, -signal.SIGKILL):
            errors.seek(0)
            trace = errors.read()[-2000:].decode(errors="replace")
            yield Outcome(last, "crash", f"ended with code {code}", trace=trace)


def _watched(process: int, shared: _Shared, reading: int, seconds: float, until: float) -> tuple[bytes, bool]:
    """What a worker says until it ends or the time is over, and whether it hangs: it computes, or sleeps, too long."""
    said, begun, at = b"", (time.monotonic(), _computed(process)), shared.at[0]
    while True:
        if select.select([reading], [], [], _LOOK)[0]:
            if not (data := os.read(reading, 1 << 16)):
                return said, False
            said += data
        now, computed = time.monotonic(), _computed(process)
        if shared.at[0] != at:
            begun, at = (now, computed), shared.at[0]
        has_hung = computed - begun[1] > seconds or now - begun[0] > _BUSY * seconds
        if has_hung or now > until:
            return said[: said.rfind(b"\n") + 1], has_hung


def _computed(process: int) -> float:
    """The processor time that a process has taken [s]; that of the clock where the system does not tell."""
    try:
        # as clock_getcpuclockid(3) of Linux makes it
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return time.monotonic()


def _work(
    target: Target, seed: int, numbers: range, shared: _Shared, channel: int, errors: int, folder: Path
) -> NoReturn:
    """The worker."""
    code = 1
    try:
        for stream in (1, 2):
            os.dup2(errors, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEMORY, MEMORY))
        os.environ.setdefault("PLIANT_CACHE_DIR", "off")
        logging.disable()
        longest = 0.0
        for number in numbers:
            shared.note(number, longest)
            found = attempt(target, seed, number, folder)
            longest = max(longest, found.seconds)
            if found.outcome not in ("clean", "refused"):
                os.write(channel, json.dumps(asdict(found)).encode() + b"\n")
            shared[number] = found.outcome
        shared.note(numbers.stop, longest)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def attempt(target: Target, seed: int, number: int, folder: Path | None = None) -> Outcome:
    """Make and try an input, in this process, and in a folder that is empty again afterwards."""
    begin = time.perf_counter()
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pliant-fuzz-")))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        found = outcome_of(target, target.made(seed, number), folder, number)
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
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
