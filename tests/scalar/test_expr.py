"""Traced scalars among other things of Python: what they refuse, and how they meet NumPy."""

import math

import numpy as np
import pytest
import sympy

from pliant.errors import PliantError, TraceError
from pliant.scalar import Expr, Graph, atan2, maximum, select, sin
from pliant.scalar.evaluation import interpret


@pytest.mark.parametrize("use", [
    bool, lambda x: 1 if x > 0 else 2, lambda x: x and 1, lambda x: not x, lambda x: x in [1.0],
    lambda x: 0 < x < 1, float, int, math.sin, math.floor, lambda x: [1, 2][x], lambda x: range(x),
    lambda x: max(x, 1), lambda x: sorted([x, 2 * x]),
])  # fmt: skip
def test_asking_for_a_value_says_to_use_select(x: Expr, use) -> None:
    with pytest.raises(TraceError, match="select") as caught:
        use(x)
    assert isinstance(caught.value, PliantError)


def test_truth_of_a_condition_names_it(x: Expr) -> None:
    with pytest.raises(TraceError, match=r"less\(x, 1\).*pliant\.math\.select\(condition, then, otherwise\)"):
        bool(x < 1)


@pytest.mark.parametrize("mix", [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a < b,
    lambda a, b: a == b, lambda a, b: a**b, lambda a, b: atan2(a, b), lambda a, b: select(a < 1, a, b),
])  # fmt: skip
def test_scalars_of_two_traces_cannot_meet(x: Expr, mix) -> None:
    stranger = Graph().input("stranger")
    with pytest.raises(TraceError, match="belongs to another trace"):
        mix(x, stranger)
    with pytest.raises(TraceError, match="belongs to another trace"):
        mix(stranger, x)


@pytest.mark.parametrize("thing", [None, "text", "1.5", b"1", 1j, [1.0], {}, object(), 10**400])
def test_what_is_no_number_is_refused(x: Expr, thing) -> None:
    with pytest.raises(TraceError, match="numbers and scalars of the same trace only"):
        x + thing
    with pytest.raises(TraceError, match="numbers and scalars of the same trace only"):
        x == thing  # noqa: B015


@pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int64(2), np.bool_(True), np.array(2.0)])
def test_numpy_scalars_meet_traced_ones(x: Expr, scalar) -> None:
    number = float(scalar)
    assert scalar * x is number * x
    assert x * scalar is number * x
    assert scalar + x is number + x
    assert scalar - x is number - x
    assert scalar / x is number / x
    assert (scalar < x) is (number < x)
    assert (scalar >= x) is (number >= x)
    assert (scalar == x) is (x == number)


@pytest.mark.parametrize("operation", [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b,
    lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b,
])  # fmt: skip
@pytest.mark.parametrize("array", [np.array([1.5, 2.0, 3.0]), np.array([[1, 2], [3, 4]]), np.zeros((0, 2)) + 1])
def test_arrays_meet_traced_scalars_element_by_element(x: Expr, operation, array: np.ndarray) -> None:
    for made, expected in (
        (operation(array, x), [operation(float(v), x) for v in array.ravel()]),
        (operation(x, array), [operation(x, float(v)) for v in array.ravel()]),
    ):
        assert made.shape == array.shape
        assert made.dtype == object
        assert all(a is b for a, b in zip(made.ravel(), expected, strict=True))


def test_arrays_of_traced_scalars(x: Expr) -> None:
    row = np.array([x, 2 * x, 1.0], dtype=object)
    assert (row * x)[1] is 2 * x * x
    assert (x * row)[0] is x * x
    assert (row @ row) is x * x + 2 * x * (2 * x) + 1
    assert (np.eye(3) @ row)[1] is 2 * x
    assert row.sum() is x + 2 * x + 1
    assert [c is d for c, d in zip(row < x, [x < x, 2 * x < x, x > 1.0], strict=True)] == [True] * 3
    assert sin(row)[1] is sin(2 * x)
    assert [a is b for a, b in zip(row != x, [~(x == x), ~(x == 2 * x), ~(x == 1)], strict=True)] == [True] * 3


def test_numpy_functions_take_traced_scalars_and_arrays_of_them(x: Expr) -> None:
    assert np.sin(x) is sin(x)
    assert np.float64(2) * x is 2 * x
    assert np.arctan2(x, 1.0) is x.graph.apply("atan2", x, 1)
    pair = np.array([x, 2 * x], dtype=object)
    assert [a is b for a, b in zip(np.cos(pair), [x.graph.apply("cos", a) for a in pair], strict=True)] == [True, True]
    assert np.arctan2(pair, pair)[1] is x.graph.apply("atan2", 2 * x, 2 * x)
    with pytest.raises(TraceError, match=r"numpy.sinh does not work on a traced scalar.*pliant.math.sin"):
        np.sinh(x)
    with pytest.raises(TraceError, match=r"numpy.add does not"):
        np.add.reduce(x)


def test_functions_mix_arrays_and_traced_scalars(x: Expr) -> None:
    for made in (maximum(np.array([1.0, 2.0]), x), maximum(x, np.array([1.0, 2.0]))):
        assert [a is b for a, b in zip(made, [maximum(x, 1), maximum(x, 2)], strict=True)] == [True, True]


def test_traced_scalars_are_keys_by_identity(g: Graph, x: Expr) -> None:
    y = g.input("y")
    table = {x: 1, y: 2, x + y: 3}
    assert (table[x], table[y], table[y + x]) == (1, 2, 3)


def test_repr(g: Graph, x: Expr) -> None:
    y = g.input("y")
    assert repr(x) == "x"
    assert repr(g.constant(0.5)) == "0.5"
    product = x * y
    assert repr(product) == f"%{product.index} = mul(x, y)"
    assert repr(product + 2) == f"%{len(g.nodes) - 1} = add(%{product.index}, 2)"


@pytest.mark.parametrize("base", [0.5, 2.0, 3.7])
@pytest.mark.parametrize("exponent", [-3, -2.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 7, 10, 0.3, -1.7])
def test_powers(x: Expr, base: float, exponent: float) -> None:
    made = interpret([x**exponent], {"x": base})[0]
    # products of up to ten factors, or exp(log) whose argument is below 20
    assert made == pytest.approx(base**exponent, rel=1e-14)
    assert interpret([base**x], {"x": exponent})[0] == pytest.approx(base**exponent, rel=1e-14)


def test_powers_of_negative_numbers(x: Expr) -> None:
    assert interpret([x**3, x**-2, x**2.0], {"x": -2.0}) == [-8, 0.25, 4]


def test_a_symbol_says_that_there_is_no_kernel_of_formulas(x: Expr) -> None:
    with pytest.raises(TraceError, match=r"the symbol s meets a traced scalar.*cannot be compiled"):
        x * sympy.Symbol("s")
