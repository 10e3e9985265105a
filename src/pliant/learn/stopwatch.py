"""Where the time of a training goes: seconds by part, on the clock of the wall or of the processor."""

import time

from pliant.checks import check_one_of
from pliant.errors import LearningError

_CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Stopwatch:
    """Seconds of each part of the work; what is before `start`, such as judging, is not counted.

        watch.start()
        outcome = env.step(actions)
        watch.lap("environment")

    Attributes:
        parts: seconds by name.
    """

    def __init__(self, clock: str = "wall"):
        check_one_of("clock", clock, tuple(_CLOCKS), subject="learning", error=LearningError)
        self.parts: dict[str, float] = {}
        self._now = _CLOCKS[clock]
        self._mark = 0.0

    def start(self) -> None:
        """Count from here on."""
        self._mark = self._now()

    def lap(self, part: str) -> None:
        """All since the last mark was this part."""
        now = self._now()
        self.parts[part] = self.parts.get(part, 0.0) + now - self._mark
        self._mark = now

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(self.parts.values())

    @property
    def shares(self) -> dict[str, float]:
        """Of the whole, by part."""
        return {name: seconds / (self.seconds or 1) for name, seconds in self.parts.items()}
