"""The tower of numbers: traced scalars, and functions that work on every kind of scalar."""

from pliant.scalar.functions import (
    Scalar, Scalars, abs, acos, as_sympy, asin, atan2, both, cos, draws, either, equal, exp, floor, is_constant,
    log, lookup, maximum, minimum, mod, negation, round, select, sin, sqrt, tan,
)  # fmt: skip
from pliant.scalar.graph import Expr, Graph
from pliant.scalar.ops import Table

__all__ = [
    "Expr", "Graph", "Scalar", "Scalars", "Table", "abs", "acos", "as_sympy", "asin", "atan2", "both", "cos", "draws",
    "either", "equal", "exp", "floor", "is_constant", "log", "lookup", "maximum", "minimum", "mod", "negation", "round",
    "select", "sin", "sqrt", "tan",
]  # fmt: skip
