"""Equations of motion as formulas, by SymPy, an extra: read them, print them, turn them into code."""

from pliant.errors import needs

needs("sympy", "symbolic", "the writing of formulas")

from pliant.symbolic.coordinates import Coordinates  # noqa: E402
from pliant.symbolic.equations import Equations, equations  # noqa: E402
from pliant.symbolic.robots import SymbolicRobot, symbolic_robot  # noqa: E402

__all__ = ["Coordinates", "Equations", "SymbolicRobot", "equations", "symbolic_robot"]
