"""The run loop: drives a simulation block by block, and hands each block to sinks.

A simulation yields a run as blocks, logs that follow one another in time. Sinks keep them in memory (`Memory`) or on
file (`pliant.storage.FileSink`), show progress (`ProgressBar`), or hold the run back to real time (`Pace`).
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pliant.progress import Progress
from pliant.recording.log import Log

__all__ = ["BLOCK", "Keeper", "Memory", "Pace", "ProgressBar", "Sink", "drive", "record"]

BLOCK = 0.25
"""Wall-clock time that a block takes, about [s]: so often a file grows and progress is shown."""


class Sink:
    """Takes the blocks of a run as they come; subclasses say what to do with them."""

    def put(self, block: Log) -> None:
        """Take the next block."""

    def close(self, *, is_complete: bool) -> None:
        """The run is over; it is not complete if an error or Ctrl-C ended it."""


class Keeper(Sink):
    """A sink that has the log of the run at its end."""

    def log(self) -> Log:
        """The blocks as one log; ``is_complete`` says whether the run went to its end."""
        raise NotImplementedError


def record(blocks: Iterable[Log], keeper: Keeper, *sinks: Sink) -> Log:
    """Drive a run to its end, and return its log.

    If an error or Ctrl-C ends it, what was recorded until then is kept: on file, if the keeper writes one, and as the
    attribute ``log`` of the error or `KeyboardInterrupt`, with ``log.is_complete`` False.
    """
    try:
        drive(blocks, keeper, *sinks)
    except BaseException as error:
        with suppress(Exception):  # without any block there is no log
            error.log = keeper.log()  # type: ignore[attr-defined]
        raise
    return keeper.log()


def drive(blocks: Iterable[Log], *sinks: Sink) -> None:
    """Hand each block to every sink, in order, and close the sinks in the end, the last one first."""
    try:
        for block in blocks:
            for sink in sinks:
                sink.put(block)
    except BaseException:
        for sink in reversed(sinks):
            with suppress(Exception):  # the error on its way says more than that of a sink which cannot be closed
                sink.close(is_complete=False)
        raise
    for sink in reversed(sinks):
        sink.close(is_complete=True)


class Memory(Keeper):
    """Keeps the blocks in memory."""

    def __init__(self) -> None:
        self._blocks: list[Log] = []
        self._is_complete = False

    def put(self, block: Log) -> None:
        self._blocks.append(block)

    def close(self, *, is_complete: bool) -> None:
        self._is_complete = is_complete

    def log(self) -> Log:
        whole = Log.joined(self._blocks)
        # counts, such as that of the steps, are those of the last block
        return replace(whole, metadata=self._blocks[-1].metadata, is_complete=self._is_complete)


class ProgressBar(Sink):
    """Shows the simulated time and the real-time factor of runs longer than a second.

    Args:
        start, until: of the run [s].
        show: whether to draw it; None: on a terminal.
    """

    def __init__(self, start: float, until: float, show: bool | None = None):
        self._progress = Progress(start, until, show)

    def put(self, block: Log) -> None:
        self._progress.update(float(block.t[-1]))

    def close(self, *, is_complete: bool) -> None:
        self._progress.close()


class Pace(Sink):
    """Holds a run back to real time, or a multiple of it; a run that falls behind does not catch up.

    Args:
        speed: simulated over real time; may be set meanwhile.
        pause: how long to wait after a block in which no time has passed [s].
        latest: how far the run may fall behind before the rest is forgotten [s].
        wait: waits for a number of seconds.

    Attributes:
        factor: simulated over real time, lately.
    """

    def __init__(
        self, speed: float = 1.0, *, pause: float = 0.02, latest: float = 0.1, wait: Callable[[float], Any] = time.sleep
    ):
        self.speed, self.pause, self.latest, self.factor = speed, pause, latest, 0.0
        self._wait = wait
        self._t: float | None = None
        self._due = self._before = time.monotonic()

    def put(self, block: Log) -> None:
        t = float(block.t[-1])
        passed = 0.0 if self._t is None else max(0.0, t - self._t)
        self._t = t
        self._due += passed / self.speed if passed else self.pause
        left = self._due - time.monotonic()
        if left > 0:
            self._wait(left)
        self._due = max(self._due, time.monotonic() - self.latest)
        now = time.monotonic()
        if passed:
            self.factor = 0.9 * self.factor + 0.1 * passed / max(now - self._before, 1e-6)
        self._before = now
