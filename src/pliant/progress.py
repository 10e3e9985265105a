"""What a terminal shows of work that takes a while: a bar where the end is known, a line where it is not."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Line", "Progress", "watched"]

# a run that takes no longer shows nothing [s]
_PATIENCE = 1.0
_EVERY = 0.1


class Line:
    """One line of the error stream that is written over again and again.

    Attributes:
        is_shown: whether anything is written at all.

    Args:
        show: whether to; None asks whether the error stream is a terminal.
    """

    def __init__(self, show: bool | None = None):
        self.stream = sys.stderr
        is_terminal = bool(getattr(self.stream, "isatty", lambda: False)())
        self.is_shown = self.stream is not None and (is_terminal if show is None else show)
        self._width = 0

    def write(self, text: str, end: str = "") -> None:
        """Show a text in place of the one before."""
        self.stream.write(f"\r{text.ljust(self._width)}{end}")
        self.stream.flush()
        self._width = len(text)

    def wipe(self) -> None:
        """Leave an empty line."""
        if self._width:
            self.write("", end="\r")


class Progress:
    """The simulated time and the real-time factor, from the first second on; it is wiped at the end.

    A bar by rich if that is installed, else a line.

        with Progress(0.0, 5.0) as progress:
            progress.update(0.1)

    Args:
        start, end: of the simulated time [s].
        show: whether to draw it; None asks whether the error stream is a terminal.
        what: it says first.
    """

    def __init__(self, start: float, end: float, show: bool | None = None, what: str = "simulating"):
        self.start, self.end, self.what = start, end, what
        self._line = Line(show)
        self._began = self._drawn = time.perf_counter()
        self._first: tuple[float, float] | None = None
        self._bar: Any = None

    @property
    def is_shown(self) -> bool:
        """Whether it is drawn if it takes long."""
        return self._line.is_shown

    def update(self, t: float) -> None:
        """The simulation has come to the time t [s]."""
        now = time.perf_counter()
        # the first part compiles, which says nothing of the speed
        self._first = self._first or (now, t)
        if not self.is_shown or now - self._began < _PATIENCE or now - self._drawn < _EVERY:
            return
        self._drawn = now
        since, start = self._first
        speed = f"{(t - start) / (now - since):.3g} x real time" if t > start else ""
        if self._bar is None:
            self._bar = self._rich_bar() or "plain"
        if self._bar == "plain":
            self._line.write(f"{self.what}: {t - self.start:.2f} of {self.end - self.start:g} s  {speed}")
        else:
            self._bar.update(self._bar.task_ids[0], completed=t - self.start, speed=speed)

    def _rich_bar(self) -> Any:
        """A bar by rich, if that is installed."""
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
        except ImportError:
            return None
        told = TextColumn("{task.completed:.2f} of {task.total:g} s"), TextColumn("{task.fields[speed]}")
        console = Console(file=self._line.stream)
        bar = Progress(TextColumn("{task.description}"), BarColumn(None), *told, console=console, transient=True)
        bar.add_task(self.what, total=self.end - self.start, speed="")
        bar.start()
        return bar

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wipe it."""
        self._line.wipe()
        if self._bar not in (None, "plain"):
            self._bar.stop()
        self._bar, self._line.is_shown = None, False


@contextmanager
def watched(
    told: Callable[[float], str],
    ended: Callable[[float, bool], str] | None = None,
    show: bool | None = None,
    *,
    patience: float = _PATIENCE,
    every: float = 0.5,
) -> Iterator[None]:
    """A line about work of which nobody knows how long it takes, kept up to date by a thread of its own.

    Args:
        told: what the line says after so many seconds.
        ended: what stays there of work that took so many seconds, and whether it came to its end; None: nothing.
        show: whether to; None asks whether the error stream is a terminal.
        patience: work that takes no longer shows nothing [s].
        every: how often the line is written [s].
    """
    line = Line(show)
    if not line.is_shown:
        yield
        return
    done = threading.Event()
    is_made = False
    start = time.perf_counter()

    def watch() -> None:
        if done.wait(patience):
            return
        while True:
            line.write(told(time.perf_counter() - start))
            if done.wait(every):
                break
        if ended is None:
            line.wipe()
        else:
            line.write(ended(time.perf_counter() - start, is_made), end="\n")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
        is_made = True
    finally:
        done.set()
        watcher.join()
