"""Simulation: the step, integrators on the configuration manifold, `Simulation` and `Log`."""

from pliant.simulation.controller import Controller
from pliant.simulation.dense import DenseSolution, DenseSolver
from pliant.simulation.diagnostics import Diagnostics
from pliant.simulation.forces import ExternalForce
from pliant.simulation.log import Log
from pliant.simulation.rollout import Rollout
from pliant.simulation.simulation import Simulation
from pliant.simulation.source import Relief, Source
from pliant.simulation.state import State, StateLayout
from pliant.simulation.trouble import Trouble

__all__ = [
    "Controller", "DenseSolution", "DenseSolver", "Diagnostics", "ExternalForce", "Log", "Relief", "Rollout",
    "Simulation", "Source", "State", "StateLayout", "Trouble",
]  # fmt: skip
