"""Simulation by time steps: the step, its state and parameters, and `Simulation`."""

from pliant.simulation.controllers import Controller
from pliant.simulation.diagnostics import Diagnostics
from pliant.simulation.rollout import Rollout
from pliant.simulation.running import record
from pliant.simulation.simulation import Simulation
from pliant.simulation.state import Divergence, State, StateLayout

__all__ = ["Controller", "Diagnostics", "Divergence", "Rollout", "Simulation", "State", "StateLayout", "record"]
