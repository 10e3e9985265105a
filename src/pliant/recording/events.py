"""What an event-driven run has besides its channels: events, and the steps between them as dense output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.integrators.flow import Chart, Segment
from pliant.robot import Robot

__all__ = ["KINDS", "Event", "segment_arrays", "segments_of"]

KINDS = ("touch-down", "lift-off", "slip", "stick", "reversal")
"""Kinds of events."""


@dataclass(frozen=True, eq=False)
class Event:
    """Something that changes how the robot moves.

    Attributes:
        t: when [s].
        kind: "touch-down", "lift-off", "slip", "stick" or "reversal" (of a slide).
        names: of the contacts and joint limits.
        impulse: of each constraint that took part, by name, in the world's axes [N s]; of a joint limit one number.
        energy_lost: in the impact [J].
        before, after: modes, as `Log.modes` names them.
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

    def _content(self) -> tuple[Any, ...]:
        impulses = tuple((name, np.asarray(p, dtype=float).tobytes()) for name, p in self.impulse.items())
        return self.t, self.kind, tuple(self.names), impulses, self.energy_lost, self.before, self.after

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())


# ---- dense output as arrays


def segment_arrays(segments: Sequence[Segment]) -> dict[str, np.ndarray]:
    """The numbers of the steps: t, h (n,), q (n, nq), v (n, nv) and stages (n, 7, 2, nv)."""
    return {name: np.array([getattr(s, name) for s in segments]) for name in ("t", "h", "q", "v", "stages")}


def segments_of(arrays: Mapping[str, np.ndarray], robot: Robot) -> tuple[Segment, ...]:
    """The steps from their numbers."""
    t, h, q, v, stages = (np.asarray(arrays[name], dtype=float) for name in ("t", "h", "q", "v", "stages"))
    n = len(t)
    shapes = {"h": (h, (n,)), "q": (q, (n, robot.nq)), "v": (v, (n, robot.nv)), "stages": (stages, (n, 7, 2, robot.nv))}
    for name, (array, shape) in shapes.items():
        if n and array.shape != shape:
            problem = f"{name} of the steps has shape {array.shape}"
            raise PliantError(problem, subject="dense output", field=name, cure=f"it takes {shape}")
    chart: Any = _LaterChart(robot)
    return tuple(Segment(chart, float(t[k]), float(h[k]), q[k], v[k], stages[k]) for k in range(n))


class _LaterChart:
    """The chart of a robot, compiled when it is first called."""

    def __init__(self, robot: Robot):
        self._robot = robot

    @cached_property
    def _chart(self) -> Chart:
        return Chart(self._robot)

    def __call__(self, *arguments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._chart(*arguments)
