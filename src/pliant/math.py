"""Functions of a scalar of any kind: float, NumPy array, SymPy expression or traced scalar."""

from pliant.scalar import (
    abs, acos, asin, atan2, both, cos, either, equal, exp, floor, log, maximum, minimum, mod, negation, round,
    select, sin, sqrt, tan,
)  # fmt: skip

__all__ = [
    "abs", "acos", "asin", "atan2", "both", "cos", "either", "equal", "exp", "floor", "log", "maximum", "minimum",
    "mod", "negation", "round", "select", "sin", "sqrt", "tan",
]  # fmt: skip
