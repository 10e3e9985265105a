"""Derivatives of every row of the table and of random graphs, against differences and each other."""

import math

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, atan2, cos, exp, log, maximum, select, sin, sqrt
from pliant.scalar.evaluation import adjoints, interpret, jacobian, tangents
from pliant.scalar.ops import CONDITIONS, DRAWS, TABLE

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


def slopes(g: Graph, node: Expr, x: Expr, at: float) -> list[float]:
    """The derivative of a node by an input, forward and in reverse."""
    return values_of([g.lift(tangents([node], {x: 1})[0]), g.lift(adjoints([node], [1], [x])[0])], {"x": at})


@pytest.mark.parametrize("at", [-0.7, 0.7])
def test_select_takes_the_derivative_of_the_chosen_side(g: Graph, x: Expr, at: float) -> None:
    expected = math.cos(at) if at < 0 else 3 * at * at
    assert slopes(g, select(x < 0, sin(x), x * x * x), x, at) == pytest.approx([expected, expected], rel=1e-15)


def test_derivatives_are_formulas(x: Expr, y: Expr) -> None:
    """The same rules, checked by SymPy for all values at once."""
    node = atan2(x * y, 1 + y * y) + exp(-x) * sqrt(1 + x * x) - log(2 + cos(y)) / (1 + x * x)
    a, b = sympy.symbols("a b", positive=True)
    f = sympy.atan(a * b / (1 + b**2)) + sympy.exp(-a) * sympy.sqrt(1 + a**2) - sympy.log(2 + sympy.cos(b)) / (1 + a**2)
    for found, expected in zip(jacobian([node], [x, y])[0], (f.diff(a), f.diff(b)), strict=True):
        difference = interpret([found], {"x": a, "y": b})[0] - expected
        for at in ((0.3, 0.8), (1.7, 2.9), (0.01, 5.0)):
            # a dozen operations on numbers of size one
            assert abs(float(difference.subs({a: at[0], b: at[1]}))) < 1e-14


def test_zero_rates_are_structural(g: Graph, x: Expr, y: Expr) -> None:
    assert tangents([x * x, y, g.constant(3)], {y: 1}) == [0, 1, 0]
    assert adjoints([x * x], [1], [y]) == [0]
    assert jacobian([x + y, x - y], [x, y]) == [[1, 1], [1, -1]]
    assert jacobian([], [x]) == []
    assert jacobian([x], []) == [[]]
    # conditions and floor do not move
    assert tangents([g.apply("floor", x), g.apply("round", x), x < 1], {x: 1}) == [0, 0, 0]
    assert adjoints([g.apply("floor", x)], [1], [x]) == [0]


def test_an_output_that_is_an_input_or_is_there_twice(x: Expr, y: Expr) -> None:
    assert adjoints([x, x], [2, 3], [x]) == [5]
    found = adjoints([x * y, x * y], [1, 1], [x, y])
    assert values_of(found, {"x": 3.0, "y": 7.0}) == [14, 6]
    assert values_of(tangents([x * y, x], {x: 1, y: 1}), {"x": 3.0, "y": 7.0}) == [10, 1]


def test_seeds_and_weights_may_be_traced(g: Graph, x: Expr, y: Expr) -> None:
    """Derivatives are nodes, so derivatives of derivatives are derivatives."""
    first = g.lift(tangents([sin(x)], {x: y})[0])
    second = g.lift(tangents([first], {x: y})[0])
    assert values_of([first, second], {"x": 0.4, "y": 2.0}) == pytest.approx([2 * math.cos(0.4), -4 * math.sin(0.4)])
    assert values_of(adjoints([sin(x)], [y], [x]), {"x": 0.4, "y": 2.0}) == pytest.approx([2 * math.cos(0.4)])


@pytest.mark.parametrize("op", [op for op, row in TABLE.items() if row.sympy is None and op not in DRAWS])
def test_lowered_code_has_no_derivative(g: Graph, x: Expr, op: str) -> None:
    node = g.apply(op, *[x] * TABLE[op].arity)
    for derive in (lambda: tangents([node], {x: 1}), lambda: adjoints([node], [1], [x])):
        with pytest.raises(TraceError, match="lowered code, which has no derivative"):
            derive()


@pytest.mark.parametrize("op", DRAWS)
def test_random_numbers_have_no_slope(g: Graph, x: Expr, op: str) -> None:
    node = g.apply(op, x, 1, 2, 3, 4, 5)
    assert tangents([node], {x: 1}) == [0]
    assert adjoints([node], [1], [x]) == [0]


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
def test_the_side_of_a_select_that_is_not_taken_has_no_say(g: Graph, x: Expr, function, at: float) -> None:
    node = g.lift(function(x))
    assert slopes(g, node, x, at) == [0, 0]
    forward, backward = slopes(g, node, x, 0.7)
    assert backward == pytest.approx(forward, rel=1e-15)
    assert forward != 0
