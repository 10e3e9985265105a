"""Event-driven simulation of rigid contact: modes, impacts, and the instants between them."""

from pliant.events.mode_solver import InconsistentContactError
from pliant.events.simulation import EventSimulation

__all__ = ["EventSimulation", "InconsistentContactError"]
