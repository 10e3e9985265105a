"""A graph evaluated on every kind of scalar."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, atan2, exp, select, sin, sqrt
from pliant.scalar.evaluation import interpret, nodes_of
from random_graphs import RandomGraph, graphs


def formula(x, y):
    return [
        sin(x) * y + 3,
        sqrt(x * x + y * y) / 2,
        select(x < y, atan2(y, x), exp(-x)),
        abs(x - y) ** 3,
    ]


@pytest.fixture
def outputs() -> list[Expr]:
    graph = Graph()
    return [graph.lift(e) for e in formula(graph.input("x"), graph.input("y"))]


def test_on_floats(outputs: list[Expr]) -> None:
    assert interpret(outputs, {"x": 0.7, "y": -1.3}) == pytest.approx(formula(0.7, -1.3), rel=1e-15)


def test_on_arrays(outputs: list[Expr]) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 5, 4))
    for found, expected in zip(interpret(outputs, {"x": x, "y": y}), formula(x, y), strict=True):
        assert found.shape == (5, 4)
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_on_an_array_and_a_number(outputs: list[Expr]) -> None:
    x = np.linspace(0.1, 2, 7)
    for found, expected in zip(interpret(outputs, {"x": x, "y": 0.5}), formula(x, 0.5), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_on_sympy(outputs: list[Expr]) -> None:
    x, y = sympy.symbols("x y", real=True)
    found = interpret(outputs, {"x": x, "y": y})
    assert found[0] == sympy.sin(x) * y + 3  # integers, not 3.0
    at = {x: 0.7, y: -1.3}
    assert [float(f.subs(at)) for f in found] == pytest.approx(formula(0.7, -1.3), rel=1e-14)


def test_on_another_trace(outputs: list[Expr]) -> None:
    other = Graph()
    a, b = other.input("a"), other.input("b")
    put_in = interpret(outputs, {"x": a * b, "y": 0})
    assert all(n.graph is other for n in put_in)
    assert put_in[0] is other.constant(3)  # sin(ab) 0 + 3 is folded there
    value = interpret(put_in, {"a": 0.7, "b": 1.3})
    assert value == pytest.approx(formula(0.7 * 1.3, 0.0), rel=1e-15)


def test_constants_are_floats_among_floats() -> None:
    """Integers of Python would not round: this square is odd and above 2^53."""
    x = Graph().input("x")
    number = select(x < 1, 94906267, 1)
    found = interpret([number * number], {"x": 0.0})[0]
    assert found == 94906267.0**2 != 94906267**2
    assert isinstance(found, float)


def test_large_constants_on_arrays() -> None:
    x = Graph().input("x")
    found = interpret([x + 1e300], {"x": np.zeros(2)})[0]
    assert found.dtype == np.float64


def test_missing_input_is_named(outputs: list[Expr]) -> None:
    with pytest.raises(TraceError, match=r"input 'y' has no value; given: \['x'\]"):
        interpret(outputs, {"x": 1.0})


def test_only_what_is_needed_is_visited() -> None:
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    used, _unused = sin(x), exp(y)
    assert nodes_of([used]) == [x, used] or [n.index for n in nodes_of([used])] == [x.index, used.index]
    assert interpret([used], {"x": 1.0}) == [math.sin(1)]


def test_a_deep_graph_needs_no_deep_stack() -> None:
    x = node = Graph().input("x")
    for _ in range(50_000):
        node = node + x * 0.5
    assert interpret([node], {"x": 2.0}) == [50_002.0]


@settings(max_examples=40)
@given(graphs(), st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_arrays_and_floats_agree(random: RandomGraph, values: list[float]) -> None:
    names = [n.value for n in random.inputs]
    one = interpret(random.outputs, dict(zip(names, values, strict=True)))
    with np.errstate(all="ignore"):
        many = interpret(random.outputs, {n: np.full(3, v) for n, v in zip(names, values, strict=True)})
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(np.broadcast_to(b, 3), np.full(3, float(a)))
