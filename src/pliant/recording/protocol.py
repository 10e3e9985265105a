"""What both simulations offer by the same names: `Simulation` (time steps) and `EventSimulation` (event by event)."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from pliant.recording.log import Log
from pliant.robot import Robot

CHANNELS = ("q", "v", "tau", "forces", "energy")
"""Channels that a run keeps by default."""


class SimulationProtocol(Protocol):
    """A robot that moves in time.

    Code that takes either simulation asks for this. Channels have the same names in both: "q", "v", "tau" (torques of
    the motors), "u" (controls), "forces" (of the contacts), "energy" and "power" (by term).
    """

    robot: Robot

    def reset(self, q: Any = None, v: Any = None, *, t: float = 0.0) -> None:
        """Put the robot into a state, by default the neutral configuration at rest."""
        ...

    def run(
        self,
        duration: float,
        *,
        controller: Callable[..., Any] | None = None,
        u: Any = None,
        commands: Any = None,
        every: float | None = None,
        channels: Sequence[str] = CHANNELS,
        save: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Log:
        """Go on for a duration [s], and return the log; options as in `Simulation.run`."""
        ...

    def blocks(self, duration: float, **options: Any) -> Iterator[Log]:
        """A run as blocks that follow one another, for `pliant.simulation.record`; options as in `run`."""
        ...

    @property
    def state(self) -> Any:
        """A snapshot, all that the motion from here on depends on: it pickles, and setting it goes on from there."""
        ...

    @state.setter
    def state(self, state: Any) -> None: ...

    @property
    def t(self) -> float:
        """Time [s]."""
        ...

    @property
    def q(self) -> np.ndarray:
        """Configuration, a copy."""
        ...

    @property
    def v(self) -> np.ndarray:
        """Velocity, a copy."""
        ...

    @property
    def tau(self) -> np.ndarray:
        """Torques of the motors [N m or N], a copy."""
        ...

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contact_forces`."""
        ...

    @property
    def contact_forces(self) -> np.ndarray:
        """On the robot at each contact, in the world's axes, (contacts, 3) [N]."""
        ...
