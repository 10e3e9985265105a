"""Reports of runs: one page with summary, replay, plots, energy and events."""

__all__ = []
