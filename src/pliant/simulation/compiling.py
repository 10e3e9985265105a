"""Tells that something is being compiled, if it takes a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from pliant.progress import watched

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

    def told(seconds: float) -> str:
        return f"compiling {what} ... {seconds:.0f} s"

    def ended(seconds: float, is_made: bool) -> str:
        took = f"{seconds:.1f} s"
        return f"compiled {what} in {took}; it is cached for the next time" if is_made else \
            f"compiling {what} failed after {took}"  # fmt: skip

    with watched(told, ended, show, patience=_PATIENCE, every=_EVERY):
        yield
