"""The state of an event-driven simulation: time, configuration, velocity, and what every constraint does."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from pliant.events.constraint_terms import Constraint

__all__ = ["OPEN", "SLIDE", "STICK", "EventState", "Mode"]

OPEN, STICK, SLIDE = 0, 1, 2

_WORDS = {STICK: "sticks", SLIDE: "slides"}


@dataclass
class Mode:
    """What every constraint does.

    Attributes:
        states: OPEN, STICK or SLIDE; a joint limit and a contact without friction slide if they are closed.
        directions: of the slides when they began, (n, 2).
        anchors: where contacts stick, (n, 3) [m].
        armed: which of the margins (see `SmoothMotion.margins`) have been positive since the mode began, (2 n,).
        passing: which are open although they overlap, as they may not close until they were apart again, (n,).
        creeping: which slides are so slow that their direction has settled, (n,).
    """

    states: tuple[int, ...]
    directions: np.ndarray
    anchors: np.ndarray
    armed: np.ndarray
    passing: np.ndarray
    creeping: np.ndarray

    @classmethod
    def free(cls, n: int, passing: np.ndarray | None = None) -> "Mode":
        """Nothing touches."""
        no = np.zeros(n, dtype=bool)
        passing = no.copy() if passing is None else passing
        return cls((OPEN,) * n, np.zeros((n, 2)), np.zeros((n, 3)), np.zeros(2 * n, dtype=bool), passing, no)

    def begun(self, states: tuple[int, ...] | None = None) -> "Mode":
        """The same mode, or one with other states, as it begins: no margin has been positive yet."""
        new = self.states if states is None else states
        return replace(self, states=new, armed=np.zeros_like(self.armed), creeping=np.zeros_like(self.creeping))

    def name(self, constraints: Sequence[Constraint]) -> str:
        """The mode in words."""
        closed = [
            f"{c.name} {_WORDS[s] if c.is_contact else 'limit'}"
            for c, s in zip(constraints, self.states, strict=True)
            if s != OPEN
        ]
        return ", ".join(closed) or "flight"

    def copy(self) -> "Mode":
        """A mode that shares nothing with this one."""
        arrays = {f.name: getattr(self, f.name).copy() for f in fields(self) if f.name != "states"}
        return replace(self, **arrays)


@dataclass(frozen=True, eq=False)
class EventState:
    """A snapshot of an `EventSimulation`: all that the motion from here on depends on. Pickles.

        before = sim.state
        ...
        sim.state = before            # and everything goes on from there, bit for bit

    Attributes:
        t: time [s].
        q, v: configuration and velocity.
        mode: what every constraint does.
        u: the controls of the moment.
        memory: of the controller, empty without one.
        steps: what the integrator remembers: the step to try next [s], the error before, and the largest factor.
        quiet: until when contacts that chatter are held [s]; patience: how long they are, the next time [s].
        is_new: whether contacts that touch may still have to go through an impact, as after a reset.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    mode: Mode
    u: np.ndarray
    memory: np.ndarray
    steps: tuple[float, float, float]
    quiet: float
    patience: float
    is_new: bool

    def copy(self) -> "EventState":
        """A state that shares nothing with this one."""
        arrays = {name: getattr(self, name).copy() for name in ("q", "v", "mode", "u", "memory")}
        return replace(self, **arrays)

    def identical(self, other: "EventState") -> bool:
        """Whether every number is the same, bit for bit."""
        return _numbers(self) == _numbers(other)


def _numbers(part: EventState | Mode) -> list[object]:
    found: list[object] = []
    for f in fields(part):
        value = getattr(part, f.name)
        if isinstance(value, Mode):
            found += _numbers(value)
        else:
            found.append(value.tobytes() if isinstance(value, np.ndarray) else value)
    return found
