"""Plots of logs: channels over time, phase portraits, and how they look."""

__all__ = []
