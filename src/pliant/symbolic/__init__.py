"""Equations of motion as formulas, by SymPy: read them, print them, turn them into code."""

from pliant.symbolic.coordinates import Coordinates
from pliant.symbolic.equations import Equations, equations
from pliant.symbolic.robots import SymbolicRobot, symbolic_robot

__all__ = ["Coordinates", "Equations", "SymbolicRobot", "equations", "symbolic_robot"]
