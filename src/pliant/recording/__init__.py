"""Logs: named channels over time, with events and modes where there are any, and the robot they come from."""

from pliant.recording.event_log import Event, HybridLog
from pliant.recording.log import Log
from pliant.recording.source import Relief, Source

__all__ = ["Event", "HybridLog", "Log", "Relief", "Source"]
