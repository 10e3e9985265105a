"""Tells that something is being compiled, if it takes a while."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["compiling"]

_PATIENCE = 1.0
_EVERY = 0.5


@contextmanager
def compiling(what: str, show: bool | None = None) -> Iterator[None]:
    """After a second, a line on the terminal that counts the time, and says at the end how long it took.

    If it fails, the line says so.

    Args:
        show: whether to; None asks whether the error stream is a terminal.
    """
    stream = sys.stderr
    if show is None:
        show = bool(getattr(stream, "isatty", lambda: False)())
    if not show:
        yield
        return
    done = threading.Event()
    is_made = False
    start = time.perf_counter()

    def watch() -> None:
        if done.wait(_PATIENCE):
            return
        while True:
            stream.write(f"\rcompiling {what} ... {time.perf_counter() - start:.0f} s")
            stream.flush()
            if done.wait(_EVERY):
                break
        took = f"{time.perf_counter() - start:.1f} s"
        end = f"compiled {what} in {took}; it is cached for the next time"
        stream.write(f"\r{end if is_made else f'compiling {what} failed after {took}'}\n")
        stream.flush()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
        is_made = True
    finally:
        done.set()
        watcher.join()
