"""The table of operations: one row says all there is to know about an operation. And tables of numbers, for lookups.

- ``python``: its meaning on floats. A kernel is right when it agrees with this.
- ``partials``: the derivatives by each argument, from the arguments and the result, or None where
  the derivative is zero almost everywhere.
- ``llvm``: how one instruction is written, with ``{T}`` the vector type, ``{N}`` its suffix in the
  names of intrinsics, ``{I}`` its integer twin; or None for functions that `compiler.elementary`
  spells out in simpler operations first.
- ``sympy``: the name of the SymPy function, or a function of the module and the arguments.
- ``numpy``: the name of the NumPy function.

Comparisons give a condition, which only ``select and or not`` take.
"""

import hashlib
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from pliant.errors import TraceError
from pliant.scalar.philox import uniform_draw


@dataclass(frozen=True, slots=True)
class Op:
    """One row of the table."""

    name: str
    arity: int
    python: Callable[..., Any]
    partials: Callable[..., tuple] | None
    llvm: str | None
    sympy: str | Callable[..., Any] | None = None
    numpy: str | None = None


def _fma(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c) if math.isfinite(a * b + c) else a * b + c
    return float(exact)


def _low_bits(t: float) -> int:
    return struct.unpack("<q", struct.pack("<d", t))[0]


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _floor(x: float) -> float:
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


def _round(x: float) -> float:
    return math.copysign(round(x), x) if math.isfinite(x) else x


def _mod(a: float, b: float) -> float:
    return a % b if b and math.isfinite(a) and math.isfinite(b) else math.nan


def _remainder(sp: Any, a: Any, b: Any) -> Any:
    return a - b * sp.floor(a / b)


def _whole_quotient(a: Any, b: Any, r: Any) -> Any:
    """The largest integer not above a / b, from the remainder r, which a quotient just below an integer needs."""
    return a.graph.apply("round", (a - r) / b)


def _half_to_even(sp: Any, x: Any) -> Any:
    above = sp.floor(x + sp.Rational(1, 2))
    is_tie_and_odd = sp.And(sp.Eq(above, x + sp.Rational(1, 2)), sp.Ne(above, 2 * sp.floor(above / 2)))
    return above - sp.Piecewise((1, is_tie_and_odd), (0, True))


# a NaN is handed on, wherever it stands
def _min(a: float, b: float) -> float:
    return b if b < a or b != b else a


def _max(a: float, b: float) -> float:
    return b if a < b or b != b else a


def _periodic(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if math.isfinite(x) else math.nan


def _on_unit(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if abs(x) <= 1 else math.nan


def _root(x):
    return x.graph.apply("sqrt", 1 - x * x)


def _choose(condition, then, otherwise):
    return condition.graph.apply("select", condition, then, otherwise)


def _sides(condition, then, otherwise, result):
    return 0, _choose(condition, 1, 0), _choose(condition, 0, 1)


def _piecewise(sp, condition, then, otherwise):
    return sp.Piecewise((then, condition), (otherwise, True))


def _compare(code: str) -> str:
    return f"fcmp {code} {{T}} {{a}}, {{b}}"


_ROWS = [
    # arithmetic
    Op("add", 2, lambda a, b: a + b, lambda a, b, r: (1, 1), "fadd {T} {a}, {b}", "Add", "add"),
    Op("sub", 2, lambda a, b: a - b, lambda a, b, r: (1, -1), "fsub {T} {a}, {b}", lambda sp, a, b: a - b, "subtract"),
    Op("mul", 2, lambda a, b: a * b, lambda a, b, r: (b, a), "fmul {T} {a}, {b}", "Mul", "multiply"),
    Op("div", 2, _divide, lambda a, b, r: (1 / b, -r / b), "fdiv {T} {a}, {b}", lambda sp, a, b: a / b, "divide"),
    Op("neg", 1, lambda a: -a, lambda a, r: (-1,), "fneg {T} {a}", lambda sp, a: -a, "negative"),
    Op("sqrt", 1, _sqrt, lambda a, r: (0.5 / r,), "call {T} @llvm.sqrt.{N}({T} {a})", "sqrt", "sqrt"),
    Op("abs", 1, abs, lambda a, r: (_choose(a < 0, -1, 1),), "call {T} @llvm.fabs.{N}({T} {a})", "Abs", "abs"),
    Op("floor", 1, _floor, None, "call {T} @llvm.floor.{N}({T} {a})", "floor", "floor"),
    Op("round", 1, _round, None, "call {T} @llvm.rint.{N}({T} {a})", _half_to_even, "rint"),
    Op("mod", 2, _mod, lambda a, b, r: (1, -_whole_quotient(a, b, r)), None, _remainder, "mod"),
    Op("min", 2, _min, lambda a, b, r: (_choose(b < a, 0, 1), _choose(b < a, 1, 0)), None, "Min", "minimum"),
    Op("max", 2, _max, lambda a, b, r: (_choose(a < b, 0, 1), _choose(a < b, 1, 0)), None, "Max", "maximum"),
    # conditions
    Op("less", 2, lambda a, b: a < b, None, _compare("olt"), "StrictLessThan", "less"),
    Op("less_equal", 2, lambda a, b: a <= b, None, _compare("ole"), "LessThan", "less_equal"),
    Op("equal", 2, lambda a, b: a == b, None, _compare("oeq"), "Equality", "equal"),
    Op("and", 2, lambda a, b: bool(a and b), None, "and {B} {a}, {b}", "And", "logical_and"),
    Op("or", 2, lambda a, b: bool(a or b), None, "or {B} {a}, {b}", "Or", "logical_or"),
    Op("not", 1, lambda a: not a, None, "xor {B} {a}, splat (i1 true)", "Not", "logical_not"),
    Op("select", 3, lambda c, a, b: a if c else b, _sides, "select {B} {a}, {T} {b}, {T} {c}", _piecewise, "where"),
    # elementary functions
    Op("sin", 1, _periodic(math.sin), lambda a, r: (a.graph.apply("cos", a),), None, "sin", "sin"),
    Op("cos", 1, _periodic(math.cos), lambda a, r: (-a.graph.apply("sin", a),), None, "cos", "cos"),
    Op("tan", 1, _periodic(math.tan), lambda a, r: (1 + r * r,), None, "tan", "tan"),
    Op("asin", 1, _on_unit(math.asin), lambda a, r: (1 / _root(a),), None, "asin", "arcsin"),
    Op("acos", 1, _on_unit(math.acos), lambda a, r: (-1 / _root(a),), None, "acos", "arccos"),
    Op("atan2", 2, math.atan2, lambda a, b, r: (b / (a * a + b * b), -a / (a * a + b * b)), None, "atan2", "arctan2"),
    Op("exp", 1, _exp, lambda a, r: (r,), None, "exp", "exp"),
    Op("log", 1, _log, lambda a, r: (1 / a,), None, "log", "log"),
    # what the lowering makes of the above; not for tracing by hand
    Op("fma", 3, _fma, None, "call {T} @llvm.fma.{N}({T} {a}, {T} {b}, {T} {c})"),
    Op("copysign", 2, math.copysign, None, "call {T} @llvm.copysign.{N}({T} {a}, {T} {b})"),
    Op("odd", 1, lambda t: bool(_low_bits(t) & 1), None, None),
    Op("half_odd", 1, lambda t: bool(_low_bits(t) & 2), None, None),
    Op("power_of_two", 1, lambda k: math.ldexp(1, int(k)) if math.isfinite(k) else math.nan, None, None),
    Op("exponent", 1, lambda x: float(math.frexp(x)[1] - 1), None, None),
    Op("mantissa", 1, lambda x: 2 * math.frexp(x)[0], None, None),
]

DRAWS = tuple(f"draw{k}" for k in range(4))
"""Random numbers: each takes four words of a counter and two of a key, see `pliant.scalar.philox`."""

_ROWS += [Op(name, 6, partial(uniform_draw, k), None, None) for k, name in enumerate(DRAWS)]

TABLE: dict[str, Op] = {row.name: row for row in _ROWS}

CONDITIONS = frozenset(("less", "less_equal", "equal", "and", "or", "not", "odd", "half_odd"))


# ---- tables of numbers, such as the data of height maps and measured curves

# every index is a whole number that float32 has exactly
MOST_ENTRIES = 2**24


class Table:
    """A row of numbers that never changes; two of them are equal if their numbers are, bit for bit.

    Attributes:
        numbers: the entries, a read-only array of float64.
        digest: a name made of the numbers, which stands for them where they would be too many.
        is_single: whether float32 has all of them exactly, so that they fit into half the memory.
    """

    __slots__ = ("digest", "is_single", "numbers")

    numbers: np.ndarray
    digest: str
    is_single: bool

    def __init__(self, numbers: Any):
        try:
            copied = np.array(numbers, dtype=np.float64)
        except (TypeError, ValueError, TraceError) as error:
            raise TraceError(f"a table takes plain numbers, known while tracing: {error}") from error
        if copied.ndim != 1 or not 1 <= copied.size <= MOST_ENTRIES:
            raise TraceError(f"a table is a row of 1 to {MOST_ENTRIES} numbers, not an array of shape {copied.shape}")
        copied.setflags(write=False)
        object.__setattr__(self, "numbers", copied)
        object.__setattr__(self, "digest", hashlib.sha256(copied.tobytes()).hexdigest())
        with np.errstate(over="ignore", under="ignore"):
            object.__setattr__(self, "is_single", bool((copied.astype(np.float32) == copied).all()))

    def __setattr__(self, name: str, value: Any) -> None:
        raise TraceError("a table cannot be changed: graphs and compiled code stand on it")

    def __reduce__(self):
        return Table, (self.numbers,)

    def at(self, index: float, offset: int = 0, last: int | None = None) -> float:
        """The entry at the largest integer not above ``index``, clamped to 0 ... last, plus offset; NaN for NaN."""
        if index != index:
            return math.nan
        return float(self.numbers[int(min(max(index, 0), len(self) - 1 if last is None else last)) + int(offset)])

    def column(self, indices: np.ndarray, offset: int = 0, last: int | None = None) -> np.ndarray:
        """The entries at an array of indices."""
        is_number = indices == indices
        clamped = np.clip(np.where(is_number, indices, 0), 0, len(self) - 1 if last is None else last)
        return np.where(is_number, self.numbers[clamped.astype(np.int64) + int(offset)], np.nan)

    def check_window(self, offset: int, last: int) -> None:
        """Raise unless all entries ``offset`` beside those from 0 to ``last`` are in the table."""
        if min(last, offset) < 0 or last + offset >= len(self):
            problem = f"a lookup {offset} beside indices up to {last} leaves a {self!r}"
            raise TraceError(problem, subject=repr(self), field="offset", cure="offsets and indices are 0 or more")

    def __len__(self) -> int:
        return self.numbers.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"table of {len(self)}"
