"""Logs: named channels over time, with events and modes where there are any, and the source that made them."""

from pliant.recording.log import Event, Log
from pliant.recording.protocol import SimulationProtocol
from pliant.recording.source import Source
from pliant.recording.troubles import Trouble

__all__ = ["Event", "Log", "SimulationProtocol", "Source", "Trouble"]
