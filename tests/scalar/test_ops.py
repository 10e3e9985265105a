"""The table of operations: every row is complete, and its columns mean the same, edges included."""

import inspect
import itertools
import math
import sys

import numpy as np
import pytest
import sympy

from pliant.compiler import kernel_from_function
from pliant.compiler.elementary import FUNCTIONS, precision_of
from pliant.compiler.llvm import SEVERAL
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from pliant.scalar.ops import CONDITIONS, DRAWS, TABLE

TRACED = [name for name, row in TABLE.items() if row.sympy is not None]
LOWERED = [name for name, row in TABLE.items() if row.sympy is None]
LOGICAL = ("and", "or", "not")

EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 1e15 + 0.5, 2.5, -3.75, math.pi, 1e5, 1e-300, -1e-300, 1e300, -1e300,
    sys.float_info.max, sys.float_info.min, math.inf, -math.inf, math.nan,
]  # fmt: skip
# the last place of elementary functions differs between libraries; arithmetic is exact everywhere
ULPS = {op: 4 for op in FUNCTIONS if op != "mod"}
TINY = sys.float_info.min


def points(op: str) -> list[tuple[float, ...]]:
    """All combinations of edge values; conditions are true or false."""
    columns = [[0.0, 1.0] if op in LOGICAL or (op == "select" and k == 0) else EDGES for k in range(TABLE[op].arity)]
    found = list(itertools.product(*columns))
    # NumPy takes a number for its own remainder by infinity; kernels lose that of quotients with too many digits
    return [p for p in found if 0 < abs(p[1]) < math.inf and abs(p[0]) < 2**52 * abs(p[1])] if op == "mod" else found


def agrees(op: str, found: float, expected: float) -> bool:
    if math.isnan(expected) or math.isinf(expected) or expected == 0 or op not in ULPS:
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return abs(found - expected) <= ULPS[op] * math.ulp(expected)


def meaning(op: str, p: tuple[float, ...]) -> float:
    return float(TABLE[op].python(*p))


@pytest.mark.parametrize("op", TABLE)
def test_row_is_complete(op: str) -> None:
    row = TABLE[op]
    assert row.name == op
    is_written = row.llvm is not None or op in SEVERAL or op in FUNCTIONS or op in DRAWS
    assert is_written, "nothing says how it is compiled"
    if op in LOWERED:
        assert row.partials is None
        assert row.numpy is None
        return
    assert callable(getattr(np, row.numpy or ""))
    assert callable(row.sympy) or callable(getattr(sympy, row.sympy or ""))
    if row.partials is not None:
        assert len(inspect.signature(row.partials).parameters) == row.arity + 1
    else:
        assert op in CONDITIONS or op in ("floor", "round")
    if op in FUNCTIONS:
        assert len(inspect.signature(FUNCTIONS[op]).parameters) == row.arity + 1
    assert math.isfinite(meaning(op, (0.5,) * row.arity))


def test_conditions_are_what_comparisons_make() -> None:
    for op, row in TABLE.items():
        is_condition = isinstance(row.python(*[0.5] * row.arity), bool)
        assert (op in CONDITIONS) == is_condition, op


@pytest.mark.parametrize("op", TRACED)
def test_numpy_means_the_same(op: str) -> None:
    ps = points(op)
    columns = [np.array(c) for c in zip(*ps, strict=True)]
    if op == "select":
        columns[0] = columns[0].astype(bool)
    with np.errstate(all="ignore"):
        found = getattr(np, TABLE[op].numpy or "")(*columns)
    wrong = [(p, f, meaning(op, p)) for p, f in zip(ps, found, strict=True) if not agrees(op, float(f), meaning(op, p))]
    assert not wrong


@pytest.mark.parametrize("op", TRACED)
def test_interpreter_means_the_same(op: str) -> None:
    graph = Graph()
    names = [f"x{k}" for k in range(TABLE[op].arity)]
    node = graph.apply(op, *(graph.input(n) for n in names))
    for p in points(op):
        found = float(interpret([node], dict(zip(names, p, strict=True)))[0])
        assert found == meaning(op, p) or (math.isnan(found) and math.isnan(meaning(op, p))), p


@pytest.mark.parametrize("op", TRACED)
def test_sympy_means_the_same(op: str) -> None:
    """At moderate finite points with a finite result: SymPy goes on into the complex numbers elsewhere."""
    rule = TABLE[op].sympy
    checked = 0
    for p in points(op):
        expected = meaning(op, p)
        if not all(x == 0 or 1e-3 < abs(x) < 1e6 for x in (*p, expected)):
            continue
        if op == "atan2" and p[0] == 0 and p[1] <= 0:
            continue  # no angle at the origin, and no sign of zero
        args = [sympy.Rational(x) for x in p]
        if op in LOGICAL or op == "select":
            taken = 1 if op == "select" else len(args)
            args[:taken] = [sympy.true if x else sympy.false for x in p[:taken]]
        value = getattr(sympy, rule)(*args) if isinstance(rule, str) else rule(sympy, *args)  # type: ignore[misc]
        found = float(bool(value)) if value in (sympy.true, sympy.false) else float(value.evalf(30))
        assert agrees(op, found, expected), (p, found, expected)
        checked += 1
    assert checked >= 2


def is_covered(op: str, p: tuple[float, ...], expected: float) -> bool:
    """What `compiler.elementary` says its functions do not cover."""
    if op in ("sin", "cos", "tan"):
        return not 1e5 < abs(p[0]) < math.inf
    if op == "atan2":
        y, x = p
        both_infinite = math.isinf(x) and math.isinf(y)
        overflows = math.isfinite(x) and math.isfinite(y) and math.isinf(abs(x) + abs(y))
        negative_zero = x == 0 and math.copysign(1, x) < 0
        return not (both_infinite or overflows or negative_zero or 0 < abs(expected) < TINY)
    return not 0 < abs(expected) < TINY


@pytest.mark.parametrize("op", TRACED)
def test_kernel_means_the_same(op: str) -> None:
    arity = TABLE[op].arity
    ps = points(op)
    kernel = kernel_from_function(lambda x: x[0].graph.apply(op, *x), {"x": (arity,)}, name=op)
    found = kernel(np.array(ps))
    wrong = [
        (p, f, meaning(op, p))
        for p, f in zip(ps, found, strict=True)
        if is_covered(op, p, meaning(op, p)) and not agrees(op, float(f), meaning(op, p))
    ]
    assert not wrong


@pytest.mark.parametrize("op", [op for op in TRACED if op not in FUNCTIONS])
def test_kernel_in_float32_means_the_same(op: str) -> None:
    """Arithmetic in float32 is exact too: NumPy's own, rounded once."""
    ps = [p for p in points(op) if all(not 1e30 < abs(x) < math.inf and not 0 < abs(x) < 1e-30 for x in p)]
    columns = np.array(ps, dtype=np.float32)
    kernel = kernel_from_function(lambda x: x[0].graph.apply(op, *x), {"x": (len(ps[0]),)}, precision="float32")
    arguments = list(columns.T)
    if op == "select":
        arguments[0] = arguments[0].astype(bool)
    with np.errstate(all="ignore"):
        expected = getattr(np, TABLE[op].numpy or "")(*arguments)
    np.testing.assert_array_equal(kernel(columns), expected.astype(np.float32))


MAGIC = precision_of("float64").magic
WHOLE = [-1021.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 1000.0]
POSITIVE = [TINY, 1e-200, 0.3, 1.0, 1.5, 2.0, 3.9999, 1e200, sys.float_info.max]
FINITE = [x for x in EDGES if math.isfinite(x)]
# the numbers that the spelling of the elementary functions gives them
LOWERED_POINTS = {
    "fma": [p for p in itertools.product([0.1, -3.0, 1e200, 1.0 + 2**-52], repeat=3)],
    "copysign": list(itertools.product(FINITE, FINITE)),
    "odd": [(MAGIC + k,) for k in WHOLE],
    "half_odd": [(MAGIC + k,) for k in WHOLE],
    "power_of_two": [(k,) for k in WHOLE],
    "exponent": [(x,) for x in POSITIVE],
    "mantissa": [(x,) for x in POSITIVE],
    **{op: [(0, 1, 2, 3, 4, 5), (2**23 - 1,) * 6, (17, 0, 2**22, 1, 2**20, 9)] for op in DRAWS},
}


@pytest.mark.parametrize("op", LOWERED)
def test_kernel_of_a_lowered_operation_means_the_same(op: str) -> None:
    ps = LOWERED_POINTS[op]
    kernel = kernel_from_function(lambda x: x[0].graph.apply(op, *x), {"x": (TABLE[op].arity,)}, name=op)
    found = kernel(np.array(ps))
    expected = np.array([meaning(op, p) for p in ps])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[expected == 0]))


def test_conditions_and_numbers_stand_in_for_each_other() -> None:
    """As in Python, where True is 1 and what is not zero is true."""

    def f(x):
        is_negative = x < 0
        return [
            is_negative + 1, is_negative * x, x.graph.apply("select", x, 2, 3), ~x.graph.apply("add", x, 0),
            x.graph.apply("select", is_negative, x < -1, x < 1), is_negative & x, -is_negative,
        ]  # fmt: skip

    values = [-2.0, -0.5, 0.0, 0.5, 2.0, math.nan]
    found = kernel_from_function(f, {"x": ()})(np.array(values))
    graph = Graph()
    nodes = [graph.lift(n) for n in f(graph.input("x"))]
    expected = [[float(v) for v in interpret(nodes, {"x": x})] for x in values]
    np.testing.assert_array_equal(found, np.array(expected))
