"""Events: what changes how a robot moves, in the log of an event-driven run."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["KINDS", "Event"]

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
