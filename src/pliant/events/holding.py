"""What does not settle at an instant is held for a moment: chatter, slides that no step can follow, steps of no length.

Held means that all that touches stays, and sticks if it hardly slides, whatever the forces. Constraints do no work, so
that no energy is gained, and a moment is at most a millisecond.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pliant.events.transition import ControlLaw, held
from pliant.recording.log import Event

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation

CROWDED = 1e-9
"""Shortest time that must pass in a hundred events [s]."""
CHATTER = 20
"""Changes of mode, or steps, at one instant with which it does not settle."""
# for how long things are held, at first and at most [s]
_SHORTEST, _LONGEST = 1e-5, 1e-3


class Holding:
    """When things are held.

    Attributes:
        quiet: until when [s]; patience: for how long, the next time [s].
    """

    def __init__(self, quiet: float = -math.inf, patience: float = _SHORTEST):
        self.quiet, self.patience = quiet, patience
        self._edges, self._steps = (0, -math.inf), (0, -math.inf)

    def hold(self, sim: "EventSimulation", control: ControlLaw) -> bool:
        """Hold for a while, twice as long each time; whether the mode is another one."""
        before, t, q, v = sim.mode.states, sim.t, sim.q, sim.v
        sim.go_on_with(*held(sim.motion, t, q, v, control(t, q, v)))
        self.quiet = t + self.patience
        self.patience = min(2 * self.patience, _LONGEST)
        sim.stepper.h = _SHORTEST
        return sim.mode.states != before

    def chatters(self, events: Sequence[Event]) -> bool:
        """Whether modes change all the time, without an impact."""
        last = events[-CHATTER:]
        is_crowded = len(last) == CHATTER and last[-1].t - last[0].t < CROWDED
        return is_crowded and not any(event.impulse for event in last)

    def stays(self, t: float) -> bool:
        """Whether many steps in a row have ended at one instant, this one included."""
        self._steps = _counted(self._steps, t)
        return self._steps[0] > 0 and self._steps[0] % CHATTER == 0

    def may_cross(self, t: float) -> bool:
        """Whether another edge may be crossed at this instant."""
        self._edges = _counted(self._edges, t)
        return self._edges[0] < CHATTER


def _counted(count: tuple[int, float], t: float) -> tuple[int, float]:
    """How often something has happened since an instant."""
    return (count[0] + 1, count[1]) if t - count[1] < CROWDED else (0, t)
