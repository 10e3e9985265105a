"""Plots of logs: channels over time and phase portraits."""

__all__ = []
