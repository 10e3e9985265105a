"""Functions of a scalar of any kind: float, NumPy array, SymPy expression or traced scalar.

The kind of the first argument that is not a plain number decides, so generic code imports these
and never asks. Conditions come from ``< <= > >=`` (and `equal`), are joined by `both`, `either`
and `negation`, and are used by `select`.
"""

from typing import Any

import numpy as np

from pliant.scalar.expr import Expr
from pliant.scalar.ops import TABLE

__all__ = [
    "abs", "acos", "asin", "atan2", "both", "cos", "either", "equal", "exp", "floor", "is_constant",
    "log", "maximum", "minimum", "negation", "select", "sin", "sqrt", "tan",
]  # fmt: skip

Scalar = Any
_PLAIN = (int, float, bool, np.floating, np.integer, np.bool_)


def is_constant(x: Scalar) -> bool:
    """Whether ``x`` is a plain number, known while tracing."""
    return isinstance(x, _PLAIN)


def _evaluate(op: str, numpy_name: str, *args: Scalar) -> Scalar:
    special = next((a for a in args if not isinstance(a, _PLAIN)), None)
    if special is None:
        return TABLE[op].python(*args)
    if isinstance(special, Expr):
        return special.graph.apply(op, *args)
    if isinstance(special, np.ndarray):
        if special.dtype != object:
            return getattr(np, numpy_name)(*args)
        return np.vectorize(lambda *a: _evaluate(op, numpy_name, *a), otypes=[object])(*args)
    return _sympy(op, args)


def _sympy(op: str, args: tuple) -> Scalar:
    import sympy  # an extra, and slow to import

    rule = TABLE[op].sympy
    args = tuple(sympy.sympify(a) for a in args)
    return getattr(sympy, rule)(*args) if isinstance(rule, str) else rule(sympy, *args)  # type: ignore[misc]


def sin(x: Scalar) -> Scalar:
    """Sine of an angle [rad]."""
    return _evaluate("sin", "sin", x)


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle [rad]."""
    return _evaluate("cos", "cos", x)


def tan(x: Scalar) -> Scalar:
    """Tangent of an angle [rad]."""
    return _evaluate("tan", "tan", x)


def asin(x: Scalar) -> Scalar:
    """Angle in [-pi/2, pi/2] with sine ``x``; NaN outside [-1, 1]."""
    return _evaluate("asin", "arcsin", x)


def acos(x: Scalar) -> Scalar:
    """Angle in [0, pi] with cosine ``x``; NaN outside [-1, 1]."""
    return _evaluate("acos", "arccos", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle in [-pi, pi] of the point (x, y)."""
    return _evaluate("atan2", "arctan2", y, x)


def sqrt(x: Scalar) -> Scalar:
    """Square root; NaN below zero."""
    return _evaluate("sqrt", "sqrt", x)


def exp(x: Scalar) -> Scalar:
    """Exponential."""
    return _evaluate("exp", "exp", x)


def log(x: Scalar) -> Scalar:
    """Natural logarithm; NaN below zero."""
    return _evaluate("log", "log", x)


def abs(x: Scalar) -> Scalar:
    """Absolute value."""
    return _evaluate("abs", "abs", x)


def floor(x: Scalar) -> Scalar:
    """Largest integer not above ``x``."""
    return _evaluate("floor", "floor", x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one."""
    return _evaluate("min", "minimum", a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger one."""
    return _evaluate("max", "maximum", a, b)


def equal(a: Scalar, b: Scalar) -> Scalar:
    """The condition a = b (``==`` of SymPy asks for the same form instead)."""
    return _evaluate("equal", "equal", a, b)


def both(a: Scalar, b: Scalar) -> Scalar:
    """The condition that ``a`` and ``b`` hold."""
    return _evaluate("and", "logical_and", a, b)


def either(a: Scalar, b: Scalar) -> Scalar:
    """The condition that ``a`` or ``b`` holds."""
    return _evaluate("or", "logical_or", a, b)


def negation(a: Scalar) -> Scalar:
    """The condition that ``a`` does not hold."""
    return _evaluate("not", "logical_not", a)


def select(condition: Scalar, then: Scalar, otherwise: Scalar) -> Scalar:
    """``then`` where the condition holds, else ``otherwise``: the `if` of generic code.

    Both sides are computed. A side that is not finite where it is not chosen does no harm to the
    value, but guard its argument if you take derivatives.
    """
    return _evaluate("select", "where", condition, then, otherwise)


