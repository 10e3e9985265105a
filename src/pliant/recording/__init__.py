"""Logs: named channels over time, with events and modes where there are any, and the run loop that records them."""

from pliant.recording.events import Event
from pliant.recording.log import Log
from pliant.recording.protocol import SimulationProtocol
from pliant.recording.run import Keeper, Memory, Pace, ProgressBar, Sink, drive, record
from pliant.recording.source import Relief, Source

__all__ = [
    "Event", "Keeper", "Log", "Memory", "Pace", "ProgressBar", "Relief", "SimulationProtocol", "Sink", "Source",
    "drive", "record",
]  # fmt: skip
