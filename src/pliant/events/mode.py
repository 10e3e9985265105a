"""Modes: what every constraint of a robot does."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.events.mode_solver import OPEN, SLIDE, STICK
from pliant.events.state_terms import Constraint

__all__ = ["Mode"]

_WORDS = {STICK: "sticks", SLIDE: "slides"}


@dataclass
class Mode:
    """What every constraint does.

    Attributes:
        states: OPEN, STICK or SLIDE; a stop and a contact without friction slide if they are closed.
        directions: of the slides when they began, (n, 2).
        anchors: where contacts stick, (n, 3) [m].
        armed: which of the margins (see `Instant.margins`) have been positive since the mode began.
        passing: which are open although they overlap, as they may not close until they were apart again, (n,).
    """

    states: tuple[int, ...]
    directions: np.ndarray
    anchors: np.ndarray
    armed: np.ndarray
    passing: np.ndarray

    @classmethod
    def free(cls, n: int, passing: np.ndarray | None = None) -> "Mode":
        """Nothing touches."""
        passing = np.zeros(n, dtype=bool) if passing is None else passing
        return cls((OPEN,) * n, np.zeros((n, 2)), np.zeros((n, 3)), np.zeros(2 * n, dtype=bool), passing)

    def name(self, constraints: Sequence[Constraint]) -> str:
        """The mode in words."""
        closed = [
            f"{c.name} {_WORDS[s] if c.is_contact else 'stop'}"
            for c, s in zip(constraints, self.states, strict=True)
            if s != OPEN
        ]
        return ", ".join(closed) or "flight"
