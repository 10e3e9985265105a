"""Event-driven simulation of rigid contact: modes, impacts, and the instants between them."""

from pliant.hybrid.law import InconsistentContactError
from pliant.hybrid.log import Event, HybridLog
from pliant.hybrid.simulation import HybridSimulation

__all__ = ["Event", "HybridLog", "HybridSimulation", "InconsistentContactError"]
