"""What an event-driven simulation tells: its events, its modes, and the motion at any time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.hybrid.flow import Segment
from pliant.simulation.log import Log

__all__ = ["Event", "HybridLog"]


@dataclass(frozen=True)
class Event:
    """Something that changes how the robot moves.

    Attributes:
        t: when [s].
        kind: "touch-down", "lift-off", "slip", "stick" or "reversal" (of a slide).
        names: of the contacts and stops.
        impulse: of each of the constraints that took part, by name, in the world's axes [N s]; of a stop one number.
        energy_lost: in the impact [J].
        before, after: modes, as `HybridLog.modes` names them.
    """

    t: float
    kind: str
    names: tuple[str, ...]
    impulse: dict[str, Any] = field(default_factory=dict)
    energy_lost: float = 0.0
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        lost = f", {self.energy_lost:.4g} J lost" if self.kind == "touch-down" else ""
        return f"{self.t:.9f} s: {self.kind} of {', '.join(self.names)}{lost}; {self.before} -> {self.after}"


class HybridLog(Log):
    """A `Log` with events; its channel "mode" is an index into ``modes``.

    Around an event there are two entries of the same time: the state before and the state after.

    Attributes:
        events: in order.
        modes: names of the modes, "flight" if nothing touches.
        segments: the steps, for `at`; end: of the last [s].
    """

    events: tuple[Event, ...]
    modes: tuple[str, ...]
    segments: tuple[Segment, ...]
    end: float

    @classmethod
    def of(
        cls, log: Log, events: Sequence[Event], modes: Sequence[str], segments: Sequence[Segment], end: float
    ) -> "HybridLog":
        """A log with the events of a run."""
        made = cls(log.t, log.channels, log.columns, log.batch, log.metadata)
        found = {"events": tuple(events), "modes": tuple(modes), "segments": tuple(segments), "end": end}
        for name, value in found.items():
            object.__setattr__(made, name, value)
        return made

    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v at a time, or at many: (nq,), (nv,) or (n, nq), (n, nv); at an event the state after it."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        if not self.segments:
            raise PliantError("the run has no steps")
        starts = np.array([s.t for s in self.segments])
        if not (times.size and times.min() >= starts[0] - 1e-12 and times.max() <= self.end + 1e-12):
            raise PliantError(f"the run goes from {starts[0]:g} to {self.end:g} s; asked for {t}")
        places = np.searchsorted(starts, times, "right") - 1
        found = [self.segments[max(k, 0)](x) for k, x in zip(places, times, strict=True)]
        q, v = (np.array(part) for part in zip(*found, strict=True))
        return (q[0], v[0]) if np.ndim(t) == 0 else (q, v)

    def between(self, start: float, end: float) -> "HybridLog":
        """The entries and events with start <= t <= end [s]; `at` still knows the whole run."""
        events = [event for event in self.events if start <= event.t <= end]
        return HybridLog.of(super().between(start, end), events, self.modes, self.segments, self.end)

    def events_of(self, kind: str) -> list[Event]:
        """Those of a kind."""
        return [event for event in self.events if event.kind == kind]

    def in_mode(self, name: str) -> np.ndarray:
        """Which of the entries are in a mode, (steps,)."""
        if name not in self.modes:
            raise PliantError(f"the run has no mode {name!r}; it has {', '.join(self.modes)}")
        return self["mode"] == self.modes.index(name)
