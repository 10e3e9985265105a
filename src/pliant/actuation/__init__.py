"""Forces that act on a robot: motors, springs, dampers, limits and outside forces, with their energy and power."""

from pliant.actuation.forces import ExternalForce

__all__ = ["ExternalForce"]
