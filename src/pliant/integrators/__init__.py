"""Integrators on the configuration manifold: Runge-Kutta, adaptive with dense output, implicit midpoint."""

from pliant.integrators.dense import DenseSolution, DenseSolver

__all__ = ["DenseSolution", "DenseSolver"]
