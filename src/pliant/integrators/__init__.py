"""Integrators on the configuration manifold: Runge-Kutta, adaptive with dense output, implicit midpoint, stiff."""

from pliant.integrators.adaptive import DenseSolver
from pliant.integrators.dense import DenseSolution

__all__ = ["DenseSolution", "DenseSolver"]
