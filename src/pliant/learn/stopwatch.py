"""Where the time of a training goes: seconds by part, on the clock of the wall or of the processor."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from pliant.checks import check_one_of
from pliant.errors import LearningError

_CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Stopwatch:
    """Seconds of each part of the work; what is outside of all parts, such as judging, is not counted.

    with watch("environment"):
        ...
    """

    def __init__(self, clock: str = "wall"):
        check_one_of("clock", clock, tuple(_CLOCKS), subject="learning", error=LearningError)
        self.parts: dict[str, float] = {}
        self._now = _CLOCKS[clock]

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        begin = self._now()
        try:
            yield
        finally:
            self.parts[part] = self.parts.get(part, 0.0) + self._now() - begin

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(self.parts.values())

    @property
    def shares(self) -> dict[str, float]:
        """Of the whole, by part."""
        return {name: seconds / (self.seconds or 1) for name, seconds in self.parts.items()}
