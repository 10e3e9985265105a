"""Simulation: integrators on the configuration manifold, and the log."""

__all__: list[str] = []
