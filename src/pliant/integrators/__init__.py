"""Integrators on the configuration manifold: Runge-Kutta, adaptive with dense output, implicit midpoint."""

from pliant.integrators.dense import DenseSolution
from pliant.integrators.dense_solver import DenseSolver

__all__ = ["DenseSolution", "DenseSolver"]
