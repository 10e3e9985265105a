"""Logs: named channels over time, with events and modes where there are any, and the robot they come from."""

from pliant.recording.events import Event
from pliant.recording.log import Log
from pliant.recording.source import Relief, Source

__all__ = ["Event", "Log", "Relief", "Source"]
