"""Tells what is being worked on, if formulas take a while."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["working"]

_PATIENCE = 2.0
_EVERY = 0.5


@contextmanager
def working(name: str, *, can_be_quicker: bool = False, show: bool | None = None) -> Iterator[Callable[[str], None]]:
    """After two seconds, a line on the terminal that says which part is being worked on; it is wiped at the end.

    Args:
        name: of the robot.
        can_be_quicker: whether simplify=False would be, which the line then says.
        show: whether to; None asks whether the error stream is a terminal.

    Returns:
        A function to call with each part as work on it begins.
    """
    stream = sys.stderr
    part = "getting ready"

    def begin(what: str) -> None:
        nonlocal part
        part = what

    if show is None:
        show = bool(getattr(stream, "isatty", lambda: False)())
    if not show:
        yield begin
        return
    done = threading.Event()
    start = time.perf_counter()
    hint = "; simplify=False (--raw) is quicker" if can_be_quicker else ""

    def watch() -> None:
        if done.wait(_PATIENCE):
            return
        width = 0
        while True:
            line = f"equations of {name}: {part}, {time.perf_counter() - start:.0f} s{hint}"
            stream.write(f"\r{line.ljust(width)}")
            stream.flush()
            width = len(line)
            if done.wait(_EVERY):
                break
        stream.write(f"\r{' ' * width}\r")
        stream.flush()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield begin
    finally:
        done.set()
        watcher.join()
