"""Progress on the terminal: a bar where the end is known, a spinner with the elapsed time where it is not.

Both are drawn by rich on the error stream, from the first second on, and disappear at the end. By default nothing is
written where the error stream is not a terminal, and rich is then not imported.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# work that takes no longer shows nothing [s]
_PATIENCE = 1.0
# time between two drawings [s]
_EVERY = 0.1


class Progress:
    """A bar with the simulated time, the real-time factor and the remaining time.

        with Progress(0.0, 5.0) as progress:
            progress.update(0.1)

    Attributes:
        is_shown: whether the bar is drawn if the work takes long.

    Args:
        start, end: of the simulated time [s].
        show: whether to draw it; None (default): if the error stream is a terminal.
        what: the word in front of the bar.
    """

    def __init__(self, start: float, end: float, show: bool | None = None, what: str = "simulating"):
        self.start, self.end, self.what = start, end, what
        self.is_shown = _is_shown(show)
        self._show = show
        self._began = self._drawn = time.perf_counter()
        self._first: tuple[float, float] | None = None
        self._bar: Any = None

    def update(self, t: float) -> None:
        """The simulation has reached the time t [s]."""
        now = time.perf_counter()
        # the first part includes compiling, which has nothing to do with the speed
        self._first = self._first or (now, t)
        if not self.is_shown or now - self._began < _PATIENCE or now - self._drawn < _EVERY:
            return
        self._drawn = now
        since, start = self._first
        speed = f"{(t - start) / (now - since):.3g} x real time" if t > start else ""
        if self._bar is None:
            self._bar = self._started()
        self._bar.update(self._bar.task_ids[0], completed=t - self.start, speed=speed, refresh=True)

    def _started(self) -> Any:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        words = TextColumn("{task.description}", markup=False)
        numbers = TextColumn("{task.completed:.2f} of {task.total:g} s  {task.fields[speed]}")
        # warnings appear above the bar; the output of a program stays on its own stream, unless that is a terminal
        streams = {"redirect_stdout": _is_terminal(sys.stdout)}
        bar = _line(words, BarColumn(None), numbers, TimeRemainingColumn(compact=True), show=self._show, **streams)
        bar.add_task(self.what, total=self.end - self.start, speed="")
        bar.start()
        return bar

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar, self.is_shown = None, False


class Count:
    """A bar with the number of pieces that are done, how many of them failed, and the remaining time.

        with Count(500, what="sweeping") as count:
            count.add(failed=False)

    Attributes:
        done, failed: pieces so far.

    Args:
        total: pieces.
        done: how many are there already; they do not count for the speed.
        show: whether to draw it; None (default): if the error stream is a terminal.
        what: the word in front of the bar.
    """

    def __init__(self, total: int, *, done: int = 0, show: bool | None = None, what: str = "working"):
        self.total, self.done, self.failed, self.what = total, done, 0, what
        self.is_shown, self._show = _is_shown(show), show
        self._began, self._drawn, self._before = time.perf_counter(), 0.0, done
        self._bar: Any = None

    def add(self, *, failed: bool = False) -> None:
        """One more is done."""
        self.done += 1
        self.failed += failed
        now = time.perf_counter()
        if not self.is_shown or now - self._began < _PATIENCE or now - self._drawn < _EVERY:
            return
        self._drawn = now
        if self._bar is None:
            self._bar = self._started()
        self._bar.update(self._bar.task_ids[0], completed=self.done, rest=self.remaining(), refresh=True)

    def remaining(self) -> str:
        """Failures and the remaining time, in words."""
        seconds = (time.perf_counter() - self._began) / max(1, self.done - self._before) * (self.total - self.done)
        words = [f"{self.failed} failed"] if self.failed else []
        return ", ".join([*words, f"{duration(seconds)} left"])

    def _started(self) -> Any:
        from rich.progress import BarColumn, TextColumn

        words = TextColumn("{task.description}", markup=False)
        numbers = TextColumn("{task.completed:.0f} of {task.total:g}  {task.fields[rest]}", markup=False)
        bar = _line(words, BarColumn(None), numbers, show=self._show, redirect_stdout=_is_terminal(sys.stdout))
        bar.add_task(self.what, total=self.total, rest="")
        bar.start()
        return bar

    def __enter__(self) -> "Count":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar, self.is_shown = None, False


def duration(seconds: float) -> str:
    """A time in words, such as "3 min"."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


@contextmanager
def working(
    what: str, *, hint: str = "", ended: Callable[[float, bool], str] | None = None, show: bool | None = None
) -> Iterator[Callable[[str], None]]:
    """A spinner for work without a known end, with the name of the work, its present part and the elapsed time.

        with working("equations of leg") as begin:
            begin("mass matrix")

    Args:
        what: the work, the first words of the line.
        hint: the last words of the line.
        ended: the line that stays, from the elapsed time [s] and whether the work succeeded; None (default): no line.
        show: whether to draw it; None (default): if the error stream is a terminal.

    Returns:
        A function to call with the name of each part as it begins.
    """
    part = ""

    def begin(name: str) -> None:
        nonlocal part
        part = name

    if not _is_shown(show):
        yield begin
        return
    done = threading.Event()
    is_made = False
    start = time.perf_counter()

    def watch() -> None:
        if done.wait(_PATIENCE):
            return
        from rich.progress import SpinnerColumn, TextColumn

        def text() -> str:
            words = f"{what}: {part}" if part else what
            return f"{words}, {time.perf_counter() - start:.0f} s" + (f"; {hint}" if hint else "")

        # the streams stay as they are: the thread that works may write to them
        streams = {"redirect_stdout": False, "redirect_stderr": False}
        words = TextColumn("{task.description}", markup=False)
        with _line(SpinnerColumn(), words, show=show, **streams) as line:
            task = line.add_task("", total=None)
            while True:
                line.update(task, description=text(), refresh=True)
                if done.wait(_EVERY):
                    break
        if ended is not None:
            last = ended(time.perf_counter() - start, is_made)
            line.console.print(last, markup=False, highlight=False, soft_wrap=True)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield begin
        is_made = True
    finally:
        done.set()
        watcher.join()


@contextmanager
def compiling(what: str, show: bool | None = None) -> Iterator[None]:
    """A spinner while something, such as "the simulation of 'hopper'", is compiled; ``show`` as for `working`.

    A line that stays says how long it took, or that it failed.
    """

    def ended(seconds: float, is_made: bool) -> str:
        if is_made:
            return f"compiled {what} in {seconds:.1f} s; the result is cached"
        return f"compiling {what} failed after {seconds:.1f} s"

    with working(f"compiling {what}", ended=ended, show=show):
        yield


def _is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())


def _is_shown(show: bool | None) -> bool:
    # some programs have no error stream at all
    return sys.stderr is not None and (_is_terminal(sys.stderr) if show is None else show)


def _line(*columns: Any, show: bool | None, **streams: Any) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr, force_terminal=show or None)
    return Progress(*columns, console=console, transient=True, auto_refresh=False, **streams)
