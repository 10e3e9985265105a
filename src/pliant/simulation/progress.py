"""How far a run has come, on a terminal."""

import sys
import time
from typing import Any

__all__ = ["Progress"]

# a run that takes no longer shows nothing [s]
_PATIENCE = 1.0
_EVERY = 0.1


class Progress:
    """A line with the simulated time and the real-time factor, from the first second on; it is wiped at the end.

        with Progress(0.0, 5.0) as progress:
            progress.update(0.1)

    Args:
        start, end: of the simulated time [s].
        show: whether to draw it; None asks whether the error stream is a terminal.
        what: it says first.
    """

    def __init__(self, start: float, end: float, show: bool | None = None, what: str = "simulating"):
        self.start, self.end, self.what = start, end, what
        self._stream = sys.stderr
        is_terminal = bool(getattr(self._stream, "isatty", lambda: False)())
        self.is_shown = is_terminal if show is None else show
        self._began = self._drawn = time.perf_counter()
        self._first: tuple[float, float] | None = None
        self._bar: Any = None
        self._width = 0

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
            line = f"{self.what}: {t - self.start:.2f} of {self.end - self.start:g} s  {speed}"
            self._stream.write(f"\r{line.ljust(self._width)}")
            self._stream.flush()
            self._width = len(line)
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
        console = Console(file=self._stream)
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
        if self._bar == "plain":
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
        elif self._bar is not None:
            self._bar.stop()
        self._bar, self.is_shown = None, False
