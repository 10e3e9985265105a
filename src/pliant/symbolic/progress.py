"""Tells what is being worked on, if formulas take a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pliant.progress import watched

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
    part = "getting ready"
    hint = "; simplify=False (--raw) is quicker" if can_be_quicker else ""

    def begin(what: str) -> None:
        nonlocal part
        part = what

    def told(seconds: float) -> str:
        return f"equations of {name}: {part}, {seconds:.0f} s{hint}"

    with watched(told, show=show, patience=_PATIENCE, every=_EVERY):
        yield begin
