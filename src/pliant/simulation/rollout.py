"""What a rollout returns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.errors import SimulationError, unknown_name
from pliant.robot import Robot
from pliant.simulation.state import State

__all__ = ["Rollout"]


@dataclass(frozen=True)
class Rollout:
    """Parts of the state after each control period, and the whole state at the end.

        result.q                 # (batch, periods, nq)
        result["impulses"]       # if it was among the channels

    Attributes:
        state: of all robots at the end; go on with ``sim.rollout(result.state, ...)``.
        channels: arrays by name.
        robot: of whom.
    """

    state: State
    channels: Mapping[str, np.ndarray]
    robot: Robot

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.channels:
            raise SimulationError(unknown_name("channel", name, self.channels, "the rollout"))
        return self.channels[name]

    @property
    def q(self) -> np.ndarray:
        """Configurations."""
        return self["q"]

    @property
    def v(self) -> np.ndarray:
        """Velocities."""
        return self["v"]

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.channels.items())
        return f"Rollout of {self.robot.name!r}: {shapes}"
