"""Derivatives of every row of the table and of random graphs, against differences and each other."""

import math

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, atan2, cos, exp, log, maximum, select, sin, sqrt
from pliant.scalar.evaluation import adjoints, interpret, jacobian, tangents
from pliant.scalar.ops import CONDITIONS, TABLE

SMOOTH = [op for op, row in TABLE.items() if row.sympy is not None and op not in CONDITIONS and op != "select"]
# inside of every domain and away from the kinks of abs, floor, min and max
POINTS = [(0.3, 0.8), (0.7, 0.2), (0.45, 0.9)]


def values_of(nodes: list, at: dict[str, float]) -> list[float]:
    """Numbers of derivatives, some of which are integers that need no graph."""
    return [float(interpret([n], at)[0]) if isinstance(n, Expr) else float(n) for n in nodes]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("op", SMOOTH)
def test_partials_against_central_differences(op: str, point: tuple[float, float]) -> None:
    graph, arity = Graph(), TABLE[op].arity
    names = ["a", "b"][:arity]
    inputs = [graph.input(n) for n in names]
    node = graph.apply(op, *inputs)
    at = dict(zip(names, point, strict=False))
    found = values_of(jacobian([node], inputs)[0], at)
    h = 1e-5
    for k, name in enumerate(names):
        high, low = (TABLE[op].python(*{**at, name: at[name] + s}.values()) for s in (h, -h))
        # truncation h^2 f'''/6, with f''' up to 100 here; rounding eps / h = 2e-11
        assert found[k] == pytest.approx((high - low) / (2 * h), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("x", [-0.7, 0.7])
def test_select_takes_the_derivative_of_the_chosen_side(x: float) -> None:
    graph = Graph()
    a = graph.input("a")
    node = select(a < 0, sin(a), a * a * a)
    expected = math.cos(x) if x < 0 else 3 * x * x
    assert values_of([*tangents([node], {a: 1}), *adjoints([node], [1], [a])], {"a": x}) == pytest.approx(
        [expected, expected], rel=1e-15
    )


def test_derivatives_are_formulas() -> None:
    """The same rules, checked by SymPy for all values at once."""
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    node = atan2(a * b, 1 + b * b) + exp(-a) * sqrt(1 + a * a) - log(2 + cos(b)) / (1 + a * a)
    x, y = sympy.symbols("a b", positive=True)
    f = sympy.atan(x * y / (1 + y**2)) + sympy.exp(-x) * sympy.sqrt(1 + x**2) - sympy.log(2 + sympy.cos(y)) / (1 + x**2)
    for found, expected in zip(jacobian([node], [a, b])[0], (f.diff(x), f.diff(y)), strict=True):
        difference = interpret([found], {"a": x, "b": y})[0] - expected
        for at in ((0.3, 0.8), (1.7, 2.9), (0.01, 5.0)):
            # a dozen operations on numbers of size one
            assert abs(float(difference.subs({x: at[0], y: at[1]}))) < 1e-14


def test_zero_rates_are_structural() -> None:
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    assert tangents([a * a, b, graph.constant(3)], {b: 1}) == [0, 1, 0]
    assert adjoints([a * a], [1], [b]) == [0]
    assert jacobian([a + b, a - b], [a, b]) == [[1, 1], [1, -1]]
    assert jacobian([], [a]) == []
    assert jacobian([a], []) == [[]]


def test_conditions_and_floor_do_not_move() -> None:
    graph = Graph()
    a = graph.input("a")
    assert tangents([graph.apply("floor", a), a < 1], {a: 1}) == [0, 0]
    assert adjoints([graph.apply("floor", a)], [1], [a]) == [0]


def test_an_output_that_is_an_input_or_is_there_twice() -> None:
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    product = a * b
    assert adjoints([a, a], [2, 3], [a]) == [5]
    found = adjoints([product, product], [1, 1], [a, b])
    assert values_of(found, {"a": 3.0, "b": 7.0}) == [14, 6]
    assert values_of(tangents([product, a], {a: 1, b: 1}), {"a": 3.0, "b": 7.0}) == [10, 1]


def test_seeds_and_weights_may_be_traced() -> None:
    """Derivatives are nodes, so derivatives of derivatives are derivatives."""
    graph = Graph()
    a, s = graph.input("a"), graph.input("s")
    first = graph.lift(tangents([sin(a)], {a: s})[0])
    second = graph.lift(tangents([first], {a: s})[0])
    assert values_of([first, second], {"a": 0.4, "s": 2.0}) == pytest.approx([2 * math.cos(0.4), -4 * math.sin(0.4)])
    assert values_of(adjoints([sin(a)], [s], [a]), {"a": 0.4, "s": 2.0}) == pytest.approx([2 * math.cos(0.4)])


@pytest.mark.parametrize("op", [op for op, row in TABLE.items() if row.sympy is None])
def test_lowered_code_has_no_derivative(op: str) -> None:
    graph = Graph()
    a = graph.input("a")
    node = graph.apply(op, *[a] * TABLE[op].arity)
    with pytest.raises(TraceError, match="lowered code, which has no derivative"):
        tangents([node], {a: 1})
    with pytest.raises(TraceError, match="lowered code, which has no derivative"):
        adjoints([node], [1], [a])


# every result is of size one, and so is every slope
TAME = [
    lambda a, b: (a + b) / 2, lambda a, b: a - b / 2, lambda a, b: sin(a * b), lambda a, b: cos(a) * b / 2,
    lambda a, b: atan2(a, 2 + b * b), lambda a, b: sqrt(1 + a * a) - 1, lambda a, b: exp(-b * b) * a,
    lambda a, b: log(2 + a * a), lambda a, b: a / (2 + b * b), lambda a, b: -a,
]  # fmt: skip


@st.composite
def tame_graphs(draw: st.DrawFn) -> tuple[list[Expr], list[Expr]]:
    graph = Graph()
    inputs = [graph.input(f"x{k}") for k in range(3)]
    nodes = list(inputs)
    for k, i, j in draw(st.lists(st.tuples(*[st.integers(0, 60)] * 3), min_size=1, max_size=12)):
        made = TAME[k % len(TAME)](nodes[-1 - i % min(5, len(nodes))], nodes[-1 - j % min(5, len(nodes))])
        nodes.append(graph.lift(made))
    return inputs, nodes[-draw(st.integers(1, 4)) :]


coordinates = st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3)


@settings(max_examples=60)
@given(tame_graphs(), coordinates)
def test_forward_is_reverse(graph: tuple[list[Expr], list[Expr]], x: list[float]) -> None:
    inputs, outputs = graph
    at = dict(zip(("x0", "x1", "x2"), x, strict=True))
    forward = [values_of(tangents(outputs, {i: 1}), at) for i in inputs]
    for row, node in enumerate(outputs):
        reverse = values_of(adjoints([node], [1], inputs), at)
        # sums of some dozens of products of size one, in another order
        assert reverse == pytest.approx([column[row] for column in forward], rel=1e-12, abs=1e-13)


@settings(max_examples=40)
@given(tame_graphs(), coordinates)
def test_jacobian_against_differences(graph: tuple[list[Expr], list[Expr]], x: list[float]) -> None:
    inputs, outputs = graph
    names = ["x0", "x1", "x2"]

    def f(*values: float) -> list[float]:
        return interpret(outputs, dict(zip(names, values, strict=True)))

    def difference(k: int, h: float) -> list[float]:
        high, low = ([v + s * (n == k) for n, v in enumerate(x)] for s in (h, -h))
        return [(a - b) / (2 * h) for a, b in zip(f(*high), f(*low), strict=True)]

    found = [values_of(row, dict(zip(names, x, strict=True))) for row in jacobian(outputs, inputs)]
    for k in range(3):
        coarse, fine = difference(k, 2e-5), difference(k, 1e-5)
        for row, (c, d) in enumerate(zip(coarse, fine, strict=True)):
            # the truncation is a third of what the two steps differ by; rounding, of a dozen operations, 12 eps / h
            assert abs(found[row][k] - d) <= abs(c - d) + 3e-10
            assert abs(c - d) < 1e-5, "the differences themselves are no good"


@pytest.mark.parametrize("function", [
    lambda x: select(x > 0, sqrt(maximum(x, 0)), 0 * x),
    lambda x: select(x > 0, sqrt(x), 0),
    lambda x: select(x > 0, 1 / x, 0),
    lambda x: select(x > 0, x * log(x), 0),
])  # fmt: skip
@pytest.mark.parametrize("at", [-1.0, 0.0])
def test_the_side_of_a_select_that_is_not_taken_has_no_say(function, at: float) -> None:
    graph = Graph()
    x = graph.input("x")
    y = graph.lift(function(x))
    forward = interpret([graph.lift(tangents([y], {x: 1})[0])], {"x": at})
    backward = interpret([graph.lift(adjoints([y], [1], [x])[0])], {"x": at})
    assert forward == backward == [0]
    expected = interpret([graph.lift(tangents([y], {x: 1})[0])], {"x": 0.7})
    assert interpret([graph.lift(adjoints([y], [1], [x])[0])], {"x": 0.7}) == pytest.approx(expected, rel=1e-15)
    assert expected != [0]
