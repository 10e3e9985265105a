"""What an event-driven simulation tells: its events, its modes, and the motion at any time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.integrators.dense import Chart, Segment
from pliant.recording.log import Log
from pliant.robot import Robot

__all__ = ["Event", "HybridLog", "segment_arrays", "segments_of"]


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
        # an elastic impact loses nothing but rounding
        energy = self.energy_lost if abs(self.energy_lost) > 1e-14 else 0.0
        lost = f", {energy:.4g} J lost" if self.kind == "touch-down" else ""
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
        made = cls(log.t, log.channels, log.columns, log.batch, log.metadata, log.source, log.is_complete)
        found = {"events": tuple(events), "modes": tuple(modes), "segments": tuple(segments), "end": end}
        for name, value in found.items():
            object.__setattr__(made, name, value)
        return made

    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v at a time, or at many: (nq,), (nv,) or (n, nq), (n, nv); at an event the state after it."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        if not self.segments:
            raise PliantError("the run has no steps, or they were not kept: take log.between(...) or log['q'] instead")
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

    def _like(self, t: np.ndarray, channels: Mapping[str, np.ndarray], batch: int | None) -> "HybridLog":
        """Other entries, with the events between the first and the last of them."""
        low, high = (t.min(), t.max()) if len(t) else (np.inf, -np.inf)
        events = [event for event in self.events if low <= event.t <= high]
        return HybridLog.of(super()._like(t, channels, batch), events, self.modes, self.segments, self.end)

    def __reduce__(self) -> Any:
        # compiled code does not pickle: it is made again from the robot
        steps = segment_arrays(self.segments) if self.source is not None else None
        return _unpickled, (Log.__reduce__(self)[1], self.events, self.modes, steps, self.end)

    def plain(self) -> Log:
        """Its entries alone."""
        return Log(self.t, self.channels, self.columns, self.batch, self.metadata, self.source, self.is_complete)

    def events_of(self, kind: str) -> list[Event]:
        """Those of a kind."""
        return [event for event in self.events if event.kind == kind]

    def in_mode(self, name: str) -> np.ndarray:
        """Which of the entries are in a mode, (steps,)."""
        if name not in self.modes:
            raise PliantError(f"the run has no mode {name!r}; it has {', '.join(self.modes)}")
        return self["mode"] == self.modes.index(name)


def _unpickled(
    fields: tuple, events: Sequence[Event], modes: Sequence[str], steps: Mapping[str, np.ndarray] | None, end: float
) -> HybridLog:
    log = Log(*fields)
    segments = () if steps is None or log.source is None else segments_of(steps, log.source.robot)
    return HybridLog.of(log, events, modes, segments, end)


class _LaterChart:
    """The chart of a robot, compiled when it is first asked."""

    def __init__(self, robot: Robot):
        self._robot = robot

    @cached_property
    def _chart(self) -> Chart:
        return Chart(self._robot)

    def integrate(self, q: np.ndarray, w: np.ndarray) -> np.ndarray:
        return self._chart.integrate(q, w)


def segment_arrays(segments: Sequence[Segment]) -> dict[str, np.ndarray]:
    """The numbers of steps: t, h (n,), q (n, nq), v (n, nv) and stages (n, 7, 2, nv)."""
    return {name: np.array([getattr(s, name) for s in segments]) for name in ("t", "h", "q", "v", "stages")}


def segments_of(arrays: Mapping[str, np.ndarray], robot: Robot) -> tuple[Segment, ...]:
    """The steps of these numbers."""
    t, h, q, v, stages = (np.asarray(arrays[name], dtype=float) for name in ("t", "h", "q", "v", "stages"))
    n = len(t)
    shapes = {"h": (h, (n,)), "q": (q, (n, robot.nq)), "v": (v, (n, robot.nv)), "stages": (stages, (n, 7, 2, robot.nv))}
    for name, (array, shape) in shapes.items():
        if n and array.shape != shape:
            raise PliantError(f"{name} of the steps has shape {array.shape}, not {shape}")
    chart: Any = _LaterChart(robot)
    return tuple(Segment(chart, float(t[k]), float(h[k]), q[k], v[k], stages[k]) for k in range(n))
