"""What is folded when a node is born, and that folding does not change the meaning."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, Table, select
from pliant.scalar.evaluation import interpret, nodes_of
from pliant.scalar.ops import TABLE
from random_graphs import ARITHMETIC, CONDITIONAL, RandomGraph, graphs


# each is one rule of expr.py: both sides must be the very same node
RULES = {
    "x + 0": lambda x, y: (x + 0, x),
    "0 + x": lambda x, y: (0 + x, x),
    "x + 0.0": lambda x, y: (x + -0.0, x),
    "addition commutes": lambda x, y: (x + y, y + x),
    "x + (-y)": lambda x, y: (x + (-y), x - y),
    "(-x) + y": lambda x, y: ((-x) + y, y - x),
    "(-x) + (-y)": lambda x, y: ((-x) + (-y), -(x + y)),
    "x - 0": lambda x, y: (x - 0, x),
    "0 - x": lambda x, y: (0 - x, -x),
    "x - x": lambda x, y: (x - x, x.graph.constant(0)),
    "x - 2": lambda x, y: (x - 2, x + -2),
    "x - (-y)": lambda x, y: (x - (-y), x + y),
    "(-x) - y": lambda x, y: ((-x) - y, -(x + y)),
    "-(x - y)": lambda x, y: (-(x - y), y - x),
    "-(-x)": lambda x, y: (x.graph.neg(-x), x),
    "+x": lambda x, y: (+x, x),
    "0 x": lambda x, y: (0 * x, x.graph.constant(0)),
    "x 0": lambda x, y: (x * 0.0, x.graph.constant(0)),
    "1 x": lambda x, y: (1 * x, x),
    "x 1": lambda x, y: (x * 1.0, x),
    "-1 x": lambda x, y: (-1 * x, -x),
    "multiplication commutes": lambda x, y: (x * y, y * x),
    "a constant goes first": lambda x, y: (x * 3, 3 * x),
    "2 (3 x)": lambda x, y: (2 * (3 * x), 6 * x),
    "2 (0.5 x)": lambda x, y: (2 * (0.5 * x), x),
    "2 (-x)": lambda x, y: (2 * (-x), -2 * x),
    "-(2 x)": lambda x, y: (-(2 * x), -2 * x),
    "(-x) y": lambda x, y: ((-x) * y, -(x * y)),
    "x (-y)": lambda x, y: (x * (-y), -(x * y)),
    "(-x) (-y)": lambda x, y: ((-x) * (-y), x * y),
    "0 / x": lambda x, y: (0 / x, x.graph.constant(0)),
    "x / 4": lambda x, y: (x / 4, 0.25 * x),
    "x / 1": lambda x, y: (x / 1, x),
    "(-x) / y": lambda x, y: ((-x) / y, -(x / y)),
    "x / (-y)": lambda x, y: (x / (-y), -(x / y)),
    "x ** 0": lambda x, y: (x**0, x.graph.constant(1)),
    "x ** 1": lambda x, y: (x**1, x),
    "x ** 3": lambda x, y: (x**3, x * (x * x)),
    "x ** 5": lambda x, y: (x**5, x * ((x * x) * (x * x))),
    "x ** -2": lambda x, y: (x**-2, 1 / (x * x)),
    "x ** 0.5": lambda x, y: (x**0.5, x.graph.apply("sqrt", x)),
    "x ** 1.5": lambda x, y: (x**1.5, x * x.graph.apply("sqrt", x)),
    "x ** -0.5": lambda x, y: (x**-0.5, 1 / x.graph.apply("sqrt", x)),
    "x ** (constant node)": lambda x, y: (x ** x.graph.constant(2), x * x),
    "x ** 0.3": lambda x, y: (x**0.3, x.graph.apply("exp", 0.3 * x.graph.apply("log", x))),
    "x ** y": lambda x, y: (x**y, x.graph.apply("exp", y * x.graph.apply("log", x))),
    "2 ** x": lambda x, y: (2**x, x.graph.apply("exp", math.log(2) * x)),
    "|-x|": lambda x, y: (abs(-x), abs(x)),
    "min(x, x)": lambda x, y: (x.graph.apply("min", x, x), x),
    "max(x, x)": lambda x, y: (x.graph.apply("max", x, x), x),
    "min commutes": lambda x, y: (x.graph.apply("min", x, y), x.graph.apply("min", y, x)),
    "max with a constant": lambda x, y: (x.graph.apply("max", 1, x), x.graph.apply("max", x, 1)),
    "not not c": lambda x, y: (~~(x < y), x < y),
    "c and c": lambda x, y: ((x < y) & (x < y), x < y),
    "c or c": lambda x, y: ((x < y) | (x < y), x < y),
    "c and True": lambda x, y: ((x < y) & True, x < y),
    "c and False": lambda x, y: ((x < y) & False, x.graph.constant(0)),
    "c or True": lambda x, y: ((x < y) | True, x.graph.constant(1)),
    "c or False": lambda x, y: ((x < y) | False, x < y),
    "conditions commute": lambda x, y: ((x < y) & (x < 1), (x < 1) & (x < y)),
    "x > y": lambda x, y: (x > y, y < x),
    "x >= y": lambda x, y: (x >= y, y <= x),
    "x != y": lambda x, y: (x != y, ~(x == y)),
    "select(True)": lambda x, y: (select(x.graph.constant(1), x, y), x),
    "select(False)": lambda x, y: (select(x.graph.constant(0), x, y), y),
    "select of equals": lambda x, y: (select(x < y, x, x), x),
    "select(not c)": lambda x, y: (select(~(x < y), x, y), select(x < y, y, x)),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_rule(rule, x: Expr, y: Expr) -> None:
    made, expected = rule(x, y)
    assert made is expected


@pytest.mark.parametrize("op, args, value", [
    ("add", (2, 3), 5), ("sub", (2, 3), -1), ("mul", (2, 3), 6), ("div", (5, 3), 5 / 3), ("neg", (2,), -2),
    ("sqrt", (2,), math.sqrt(2)), ("sqrt", (-1,), math.nan), ("abs", (-2,), 2), ("floor", (-1.5,), -2),
    ("round", (2.5,), 2), ("mod", (-1, 3), 2), ("mod", (1, 0), math.nan),
    ("min", (2, 3), 2), ("max", (2, 3), 3), ("less", (2, 3), 1), ("less_equal", (3, 3), 1), ("equal", (2, 3), 0),
    ("and", (1, 0), 0), ("or", (1, 0), 1), ("not", (0,), 1), ("select", (0, 2, 3), 3), ("sin", (1,), math.sin(1)),
    ("cos", (1,), math.cos(1)), ("tan", (1,), math.tan(1)), ("asin", (0.3,), math.asin(0.3)), ("asin", (2,), math.nan),
    ("acos", (0.3,), math.acos(0.3)), ("atan2", (1, -2), math.atan2(1, -2)), ("exp", (1,), math.e),
    ("exp", (1000,), math.inf), ("log", (2,), math.log(2)), ("log", (0,), -math.inf), ("log", (-1,), math.nan),
])  # fmt: skip
def test_constants_are_computed(g: Graph, op: str, args: tuple, value: float) -> None:
    node = g.apply(op, *(g.constant(a) for a in args))
    assert node.op == "const"
    assert node is g.constant(value)
    assert len(g.nodes) <= len(args) + 1


def test_equal_nodes_are_one(g: Graph, x: Expr, y: Expr) -> None:
    before = len(g.nodes)
    first = (x * y + 2) / (x - y)
    made = len(g.nodes)
    assert (x * y + 2) / (x - y) is first
    assert len(g.nodes) == made == before + 5  # mul, 2, add, sub, div
    # numbers of every kind are one constant
    nodes = {g.constant(v).index for v in (1, 1.0, True, np.float32(1), np.float64(1), np.int8(1), sympy.Integer(1))}
    assert len(nodes) == 1


def test_a_constant_is_never_a_negative_zero(g: Graph, x: Expr) -> None:
    nodes = [g.constant(-0.0), g.constant(0) * -1, g.neg(0), -0.0 * x, x * 0 * -3, 0 / -x, g.constant(-0.0) - 0]
    assert all(n is g.constant(0) for n in nodes)
    assert math.copysign(1, g.constant(0).value) == 1
    # nan and infinity are constants like others
    assert g.constant(math.nan) is g.constant(-math.nan)
    assert g.constant(math.inf) is not g.constant(-math.inf)
    assert (x + math.nan).op == "add"  # a NaN is not folded away
    assert g.constant(math.inf) - math.inf is g.constant(math.nan)


def test_folding_does_not_overflow(x: Expr) -> None:
    """Products of constants that leave the range of floats stay two products."""
    big, small = 1e200 * (1e200 * x), 1e-200 * (1e-200 * x)
    assert interpret([big], {"x": 1e-200})[0] == pytest.approx(1e200)
    assert interpret([small], {"x": 1e300})[0] == pytest.approx(1e-100)
    assert interpret([x / 1e-310], {"x": 0.0}) == [0.0]
    assert interpret([x / 1e-310], {"x": 1e-310}) == [1.0]
    assert interpret([x / 1.7e308], {"x": 1.7e308}) == [1.0]


def test_division_by_a_constant_zero_and_a_second_input_of_a_name_are_errors(g: Graph, x: Expr) -> None:
    with pytest.raises(TraceError, match="division of x by a constant zero"):
        x / 0
    assert (x / x).op == "div"  # but not by something that may be zero
    with pytest.raises(TraceError, match="input named 'x' already"):
        g.input("x")


def exactly(outputs: list[Expr], values: dict[str, Fraction]) -> list[Fraction]:
    """The outputs by the table's Python meaning, in fractions: without any rounding."""
    found: dict[int, Fraction] = {}
    for n in nodes_of(outputs):
        if n.op == "input":
            found[n.index] = values[n.value]
        elif n.op == "const":
            found[n.index] = Fraction(n.value)
        else:
            found[n.index] = TABLE[n.op].python(*(found[a.index] for a in n.args))
    return [found[n.index] for n in outputs]


exact_ops = tuple(op for op in ARITHMETIC if op not in ("div", "sqrt", "floor", "round")) + CONDITIONAL
rationals = st.fractions(-3, 3, max_denominator=8)


@settings(max_examples=60)
@given(graphs(ops=exact_ops, constants=(0, 1, -1, 2, -0.5, 3)), st.data())
def test_folding_keeps_the_meaning_exactly(random: RandomGraph, data: st.DataObject) -> None:
    """A graph put into another one is folded again."""
    values = {n.value: data.draw(rationals) for n in random.inputs}
    other = Graph()
    again = interpret(random.outputs, {name: other.input(name) for name in values})
    assert exactly([other.lift(a) for a in again], values) == exactly(random.outputs, values)


@settings(max_examples=60)
@given(st.data())
def test_folding_agrees_with_unfolded_arithmetic(data: st.DataObject) -> None:
    """The same operators on traced scalars and on fractions, chosen at random, give the same number."""
    graph = Graph()
    start = [data.draw(rationals) for _ in range(2)]
    traced: list = [graph.input("a"), graph.input("b")]
    plain: list = list(start)
    operators = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: -a, lambda a, b: abs(a),
        lambda a, b: a * 0, lambda a, b: 1 - b, lambda a, b: 2 * a, lambda a, b: a / 2, lambda a, b: -1 * a + b,
        lambda a, b: a**2, lambda a, b: b**3,
    ]  # fmt: skip
    for _ in range(data.draw(st.integers(1, 12))):
        f = data.draw(st.sampled_from(operators))
        i, j = data.draw(st.integers(0, len(plain) - 1)), data.draw(st.integers(0, len(plain) - 1))
        traced.append(f(traced[i], traced[j]))
        plain.append(f(plain[i], plain[j]))
    nodes = [graph.lift(t) for t in traced]
    assert exactly(nodes, dict(zip("ab", start, strict=True))) == plain


@settings(max_examples=60)
@given(graphs())
def test_nothing_that_folds_is_left(random: RandomGraph) -> None:
    nodes = random.graph.nodes
    assert [n.index for n in nodes] == list(range(len(nodes)))
    assert all(a.index < n.index for n in nodes for a in n.args), "arguments come first"
    doubles = [k for k, c in Counter((n.op, n.value, *(a.index for a in n.args)) for n in nodes).items() if c > 1]
    assert not doubles
    for n in nodes:
        numbers = [a.value for a in n.args if a.op == "const"]
        assert len(numbers) < max(1, len(n.args)) or not n.args, f"{n!r} is a constant"
        assert not (n.op in ("add", "sub") and 0 in numbers), repr(n)
        assert not (n.op == "mul" and {0, 1, -1} & set(numbers)), repr(n)
        assert not (n.op == "neg" and n.args[0].op in ("neg", "sub")), repr(n)
        assert not (n.op in ("add", "sub", "mul", "div") and n.args[-1].op == "neg"), repr(n)


def test_keys_tell_graphs_apart() -> None:
    def keys(factor: float, name: str = "x", table: tuple[float, ...] = (1.0, 2.0)) -> list[tuple]:
        graph = Graph()
        x = graph.input(name)
        graph.lookup(Table(table), x * factor + 1)
        return graph.keys()

    assert keys(2.0) == keys(2.0)
    assert len({str(k) for k in (keys(2.0), keys(3.0), keys(2.0, "y"), keys(2.0, table=(1.0, 3.0)))}) == 4


def test_a_copy_is_what_folding_would_make() -> None:
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert graph.copied("add", (y, x)) is x + y
    assert graph.copied("mul", (y, x)) is x * y
    assert graph.copied("mul", (graph.constant(2), x)) is 2 * x
    assert graph.copied("sub", (y, x)) is y - x
