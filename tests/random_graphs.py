"""Random expression graphs for Hypothesis, and exact references for what a lowered graph computes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from pliant.compiler.lower import Straight
from pliant.scalar import Expr, Graph
from pliant.scalar.ops import CONDITIONS, TABLE

ARITHMETIC = ("add", "sub", "mul", "div", "neg", "sqrt", "abs", "floor", "round", "min", "max", "select")
CONDITIONAL = ("less", "less_equal", "equal", "and", "or", "not")
ELEMENTARY = ("sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "mod")

# every folding rule has its constants here
CONSTANTS = (0, 1, -1, 2, -0.5, 3, 0.1, -7.25)


@dataclass
class RandomGraph:
    """A graph with its inputs and some nodes of it as outputs."""

    graph: Graph
    inputs: list[Expr]
    outputs: list[Expr]


@st.composite
def graphs(
    draw: st.DrawFn,
    ops: Sequence[str] = ARITHMETIC + CONDITIONAL,
    inputs: int = 3,
    most: int = 25,
    constants: Sequence[float] = CONSTANTS,
) -> RandomGraph:
    """A graph made of up to ``most`` operations, of nodes that are mostly recent ones."""
    step = st.tuples(st.sampled_from(ops), *[st.integers(0, 40)] * 3)
    graph = Graph()
    numbers = [graph.input(f"x[{k}]") for k in range(inputs)]
    conditions: list[Expr] = []
    variables = list(numbers)
    for op, *choices in draw(st.lists(step, min_size=1, max_size=most)):
        kinds = [op in ("and", "or", "not") or (op == "select" and k == 0) for k in range(TABLE[op].arity)]
        if any(kinds) and not conditions:
            continue
        pools = [(conditions, ()) if kind else (numbers, constants) for kind in kinds]
        args = [graph.lift(_chosen(*pool, choice)) for pool, choice in zip(pools, choices, strict=False)]
        if op == "div" and args[1].op == "const" and args[1].value == 0:
            continue
        node = graph.apply(op, *args)
        (conditions if op in CONDITIONS else numbers).append(node)
    chosen = draw(st.lists(st.integers(0, 200), min_size=1, max_size=5))
    return RandomGraph(graph, variables, [numbers[-1 - c % len(numbers)] for c in chosen])


def _chosen(pool: list[Expr], constants: Sequence[float], choice: int) -> Expr | float:
    if choice < len(constants):
        return constants[choice]
    return pool[-1 - (choice - len(constants)) % min(len(pool), 8)]


def execute(code: Straight, slots: Sequence[float], dtype: type) -> list:
    """The results of lowered code on one robot's numbers, operation by operation in ``dtype``.

    Independent of LLVM: every operation is rounded once, multiply-adds are exact before that.
    """
    values: list = []
    for i in code.instructions:
        args = [values[a] for a in i.args]
        if i.op == "const":
            values.append(dtype(i.value))
        elif i.op == "input":
            values.append(dtype(slots[int(i.value or 0)]))
        else:
            values.append(_operation(i.op, args, dtype))
    return [values[r] for r in code.results]


def _operation(op: str, args: list, dtype: type):
    if op in ("fma", "fms", "fnma"):
        a, b, c = (float(x) for x in args)
        return rounded_fma(-a if op == "fnma" else a, b, -c if op == "fms" else c, dtype)
    if op in _BITS:
        return _BITS[op](args[0], dtype)
    if op in CONDITIONS:
        return bool(TABLE[op].python(*args))
    if op == "select":
        return dtype(args[1] if args[0] else args[2])
    return dtype(TABLE[op].python(*args))


def rounded_fma(a: float, b: float, c: float, dtype: type):
    """a b + c rounded once to ``dtype``."""
    plain = a * b + c
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)) or (a * b == 0 and c == 0):
        return dtype(plain)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return dtype(0.0)
    return nearest(exact, dtype)


def nearest(exact: Fraction, dtype: type):
    """A fraction rounded to the nearest number of ``dtype``, ties to even."""
    info = np.finfo(dtype)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    whole = round(size / unit)  # of a fraction: ties to even
    with np.errstate(over="ignore"):
        value = dtype(float(whole * unit)) if whole * unit <= Fraction(float(info.max)) else dtype(np.inf)
    return dtype(math.copysign(value, exact))


def _integer(x, dtype: type) -> int:
    return int(np.array(x, dtype).view(np.int64 if dtype is np.float64 else np.int32))


def _float(bits: int, dtype: type):
    size = 64 if dtype is np.float64 else 32
    bits &= (1 << size) - 1
    return np.array(bits, np.uint64 if size == 64 else np.uint32).view(dtype)[()]


def _power_of_two(k, dtype: type):
    return dtype(2.0) ** dtype(k) if np.isfinite(k) else dtype(np.nan)


def _exponent(x, dtype: type):
    places = np.finfo(dtype).nmant
    bias = 1023 if dtype is np.float64 else 127
    mask = (1 << (11 if dtype is np.float64 else 8)) - 1
    return dtype((_integer(x, dtype) >> places & mask) - bias)


def _mantissa(x, dtype: type):
    places = np.finfo(dtype).nmant
    return _float(_integer(x, dtype) & ((1 << places) - 1) | _integer(1.0, dtype), dtype)


_BITS = {
    "odd": lambda t, dtype: bool(_integer(t, dtype) & 1),
    "half_odd": lambda t, dtype: bool(_integer(t, dtype) & 2),
    "power_of_two": _power_of_two,
    "exponent": _exponent,
    "mantissa": _mantissa,
}
