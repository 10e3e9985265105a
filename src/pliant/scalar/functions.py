"""Functions of a scalar of any kind: float, NumPy array, SymPy expression or traced scalar.

The kind of the arguments that are not plain numbers decides, so generic code imports these and never
asks; arrays are taken element by element. Conditions come from ``< <= > >=`` (and `equal`), are
joined by `both`, `either` and `negation`, and are used by `select`.
"""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from pliant.errors import PliantError, TraceError, bad_value
from pliant.scalar.graph import Expr
from pliant.scalar.ops import DRAWS, TABLE, Table

Scalar = Any
"""A number of any kind. A type checker cannot follow them: generic code is checked by running it on every kind."""

Scalars = Sequence[Scalar] | np.ndarray
"""Several of them in a row."""

_PLAIN = (int, float, bool, np.floating, np.integer, np.bool_)


def is_constant(x: Scalar) -> bool:
    """Whether ``x`` is a plain number, known while tracing."""
    return isinstance(x, _PLAIN)


def evaluate(op: str, *args: Scalar) -> Scalar:
    """Any operation of the table, on scalars of any kind."""
    special = [a for a in args if not isinstance(a, _PLAIN)]
    if not special:
        return TABLE[op].python(*args)
    if any(isinstance(a, np.ndarray) for a in special):
        if all(isinstance(a, np.ndarray) and a.dtype.kind in "fiub" for a in special):
            return getattr(np, TABLE[op].numpy or op)(*args)
        return np.vectorize(lambda *a: evaluate(op, *a), otypes=[object])(*args)
    for a in special:
        if isinstance(a, Expr):
            return a.graph.apply(op, *args)
    rule, symbols = TABLE[op].sympy, [as_sympy(a, subject=op) for a in args]
    import sympy

    return getattr(sympy, rule)(*symbols) if isinstance(rule, str) else rule(sympy, *symbols)  # type: ignore[misc]


def as_sympy(x: Scalar, name: str = "argument", subject: str = "") -> Any:
    """A number or expression as a SymPy expression; raises for strings, which SymPy would evaluate, and for all else.

    The error is about the field of that name and subject.
    """
    is_number = isinstance(x, Number | np.bool_) and not isinstance(x, complex)
    if is_number or (hasattr(x, "free_symbols") and not hasattr(x, "shape")):
        import sympy  # an extra, and slow to import

        found = sympy.sympify(x, strict=True)
        if isinstance(found, sympy.Expr | sympy.logic.boolalg.Boolean):
            return found
    takes = "a real number, an array of them, a SymPy expression or a traced scalar"
    raise PliantError(bad_value(name, x, takes, subject))


def sin(x: Scalar) -> Scalar:
    """Sine of an angle [rad]."""
    return evaluate("sin", x)


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle [rad]."""
    return evaluate("cos", x)


def tan(x: Scalar) -> Scalar:
    """Tangent of an angle [rad]."""
    return evaluate("tan", x)


def asin(x: Scalar) -> Scalar:
    """Angle in [-pi/2, pi/2] with sine ``x``; NaN outside [-1, 1]."""
    return evaluate("asin", x)


def acos(x: Scalar) -> Scalar:
    """Angle in [0, pi] with cosine ``x``; NaN outside [-1, 1]."""
    return evaluate("acos", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle in [-pi, pi] of the point (x, y)."""
    return evaluate("atan2", y, x)


def sqrt(x: Scalar) -> Scalar:
    """Square root; NaN below zero."""
    return evaluate("sqrt", x)


def exp(x: Scalar) -> Scalar:
    """Exponential."""
    return evaluate("exp", x)


def log(x: Scalar) -> Scalar:
    """Natural logarithm; NaN below zero."""
    return evaluate("log", x)


def abs(x: Scalar) -> Scalar:
    """Absolute value."""
    return evaluate("abs", x)


def floor(x: Scalar) -> Scalar:
    """Largest integer not above ``x``."""
    return evaluate("floor", x)


def round(x: Scalar) -> Scalar:
    """Nearest integer, the even one of two that are equally near."""
    return evaluate("round", x)


def mod(a: Scalar, b: Scalar) -> Scalar:
    """Remainder of a / b with the sign of ``b``, as ``a % b``; NaN for ``b`` = 0.

    It is exact while a / b is below 2^53 in size (2^24 in float32).
    """
    return evaluate("mod", a, b)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one."""
    return evaluate("min", a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger one."""
    return evaluate("max", a, b)


def largest(values: Scalars) -> Scalar:
    """The largest absolute value, 0 of none."""
    found: Scalar = 0
    for x in values:
        found = maximum(found, abs(x))
    return found


def lookup(table: Table, index: Scalar, offset: int = 0, last: int | None = None) -> Scalar:
    """The entry of a constant table at a whole number, clamped to the table; NaN at NaN.

    Between whole numbers it is the entry below: interpolate around it. The derivative is zero. Symbols
    cannot look up: a table has no formula.

    Entries beside one index, as the corners of a cell, cost less with ``offset`` than with an index each.

    Args:
        table: the numbers; a sequence of them is made a `Table` on every call, so make it once.
        index: 0 for the first entry.
        offset: how far beside the index, 0 or more.
        last: what the index is clamped to, before the offset is added; None for the last that is possible.
    """
    if not isinstance(table, Table):
        table = Table(table)
    if offset and last is None:
        last = len(table) - 1 - offset
    if isinstance(index, Expr):
        return index.graph.lookup(table, index, offset, last)
    if last is not None:
        table.check_window(offset, last)
    if isinstance(index, _PLAIN):
        return table.at(float(index), offset, last)
    if isinstance(index, np.ndarray):
        if index.dtype != object:
            return table.column(index, offset, last)
        return np.vectorize(lambda k: lookup(table, k, offset, last), otypes=[object])(index)
    problem = f"cannot look up {index!r} of type {type(index).__name__} in a {table!r}: a table has no formula"
    cure = "use numbers, arrays or traced scalars, or a function with a formula instead of the table"
    raise TraceError(problem, subject=repr(table), field="index", cure=cure)


def draws(counter: Scalars, key: Scalars) -> list[Scalar]:
    """Four random numbers, uniform in (0, 1), that depend on nothing but a counter and a key.

    The derivative is zero. Symbols cannot be drawn: chance has no formula. `pliant.chance` makes distributions of them.

    Args:
        counter: four whole numbers from 0 to 2^23 - 1.
        key: two of them.
    """
    words = [*counter, *key]
    special = [w for w in words if not isinstance(w, _PLAIN)]
    if all(isinstance(w, np.ndarray) and w.dtype != object for w in special):
        return [TABLE[op].python(*words) for op in DRAWS]
    if any(isinstance(w, np.ndarray) for w in special):
        each = np.frompyfunc(lambda *w: draws(w[:4], w[4:]), len(words), 1)(*words)
        return [np.frompyfunc(lambda four, k=k: four[k], 1, 1)(each) for k in range(len(DRAWS))]
    for w in special:
        if not isinstance(w, Expr):
            problem = f"cannot draw random numbers for {w!r} of type {type(w).__name__}: chance has no formula"
            raise TraceError(problem, subject="draws", cure="use numbers, arrays or traced scalars")
    graph = special[0].graph
    return [graph.apply(op, *words) for op in DRAWS]


def equal(a: Scalar, b: Scalar) -> Scalar:
    """The condition a = b (``==`` of SymPy asks for the same form instead)."""
    return evaluate("equal", a, b)


def both(a: Scalar, b: Scalar) -> Scalar:
    """The condition that ``a`` and ``b`` hold."""
    return evaluate("and", a, b)


def either(a: Scalar, b: Scalar) -> Scalar:
    """The condition that ``a`` or ``b`` holds."""
    return evaluate("or", a, b)


def negation(a: Scalar) -> Scalar:
    """The condition that ``a`` does not hold."""
    return evaluate("not", a)


def select(condition: Scalar, then: Scalar, otherwise: Scalar) -> Scalar:
    """``then`` where the condition holds, else ``otherwise``: the `if` of generic code.

    Both sides are computed. A side that is not finite where it is not chosen does no harm to the
    value, but guard its argument if you take derivatives.
    """
    return evaluate("select", condition, then, otherwise)
