"""Event-driven simulation of rigid contact: modes, impacts, and the instants between them."""

from pliant.events.mode_solver import InconsistentContactError
from pliant.events.simulation import EventSimulation
from pliant.events.state import EventState

__all__ = ["EventSimulation", "EventState", "InconsistentContactError"]
