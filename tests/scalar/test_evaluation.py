"""Traced scalars: evaluation on every kind of scalar, what they refuse, tables."""

import math
import operator
import pickle

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import PliantError, TraceError
from pliant.scalar import Expr, Graph, Table, atan2, exp, lookup, maximum, select, sin, sqrt
from pliant.scalar.evaluation import interpret, jacobian, nodes_of, tangents
from random_graphs import RandomGraph, graphs


def formula(x, y):
    return [sin(x) * y + 3, sqrt(x * x + y * y) / 2, select(x < y, atan2(y, x), exp(-x)), abs(x - y) ** 3]


@pytest.fixture
def outputs() -> list[Expr]:
    graph = Graph()
    return [graph.lift(e) for e in formula(graph.input("x"), graph.input("y"))]


@pytest.mark.parametrize("x, y", [
    (0.7, -1.3), np.random.default_rng(3).normal(size=(2, 5, 4)), (np.linspace(0.1, 2, 7), 0.5),
], ids=["floats", "arrays", "an array and a number"])  # fmt: skip
def test_on_floats_and_arrays(outputs: list[Expr], x, y) -> None:
    for found, expected in zip(interpret(outputs, {"x": x, "y": y}), formula(x, y), strict=True):
        assert np.shape(found) == np.shape(x)
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


def test_constants_are_floats_among_floats(x: Expr) -> None:
    """Integers of Python would not round: this square is odd and above 2^53."""
    number = select(x < 1, 94906267, 1)
    found = interpret([number * number], {"x": 0.0})[0]
    assert found == 94906267.0**2 != 94906267**2
    assert isinstance(found, float)
    # large ones on arrays
    assert interpret([x + 1e300], {"x": np.zeros(2)})[0].dtype == np.float64


def test_only_what_is_needed_is_visited(x: Expr, y: Expr) -> None:
    used, unused = sin(x), exp(y)
    assert [n.index for n in nodes_of([used])] == [x.index, used.index]
    assert interpret([used], {"x": 1.0}) == [math.sin(1)]
    with pytest.raises(TraceError, match=r"input 'y' has no value; given: \['x'\]"):
        interpret([used, unused], {"x": 1.0})


def test_a_deep_graph_needs_no_deep_stack(x: Expr) -> None:
    node = x
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


# ---- traced scalars among other things of Python: what they refuse, and how they meet NumPy


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
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.eq, operator.pow, atan2,
    lambda a, b: select(a < 1, a, b),
])  # fmt: skip
def test_scalars_of_two_traces_cannot_meet(x: Expr, mix) -> None:
    stranger = Graph().input("stranger")
    for pair in ((x, stranger), (stranger, x)):
        with pytest.raises(TraceError, match="belongs to another trace"):
            mix(*pair)


@pytest.mark.parametrize("thing", [None, "text", "1.5", b"1", 1j, [1.0], {}, object(), 10**400])
def test_what_is_no_number_is_refused(x: Expr, thing) -> None:
    for use in (operator.add, operator.eq):
        with pytest.raises(TraceError, match="numbers and scalars of the same trace only"):
            use(x, thing)
    with pytest.raises(TraceError, match=r"the symbol s meets a traced scalar.*cannot be compiled"):
        x * sympy.Symbol("s")


OPERATIONS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip


@pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int64(2), np.bool_(True), np.array(2.0)])
def test_numpy_scalars_meet_traced_ones(x: Expr, scalar) -> None:
    number = float(scalar)
    assert x * scalar is number * x
    for operation in (*OPERATIONS, operator.eq):
        assert operation(scalar, x) is operation(number, x)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("array", [np.array([1.5, 2.0, 3.0]), np.array([[1, 2], [3, 4]]), np.zeros((0, 2)) + 1])
def test_arrays_meet_traced_scalars_element_by_element(x: Expr, operation, array: np.ndarray) -> None:
    for made, expected in (
        (operation(array, x), [operation(float(v), x) for v in array.ravel()]),
        (operation(x, array), [operation(x, float(v)) for v in array.ravel()]),
    ):
        assert made.shape == array.shape
        assert made.dtype == object
        assert all(a is b for a, b in zip(made.ravel(), expected, strict=True))


def are_the_same(a, b) -> bool:
    """The very same nodes, one by one."""
    return all(m is n for m, n in zip(a, b, strict=True))


def test_arrays_of_traced_scalars(x: Expr) -> None:
    row = np.array([x, 2 * x, 1.0], dtype=object)
    assert (row * x)[1] is 2 * x * x
    assert (x * row)[0] is x * x
    assert (row @ row) is x * x + 2 * x * (2 * x) + 1
    assert (np.eye(3) @ row)[1] is 2 * x
    assert row.sum() is x + 2 * x + 1
    assert are_the_same(row < x, [x < x, 2 * x < x, x > 1.0])
    assert sin(row)[1] is sin(2 * x)
    assert are_the_same(row != x, [~(x == x), ~(x == 2 * x), ~(x == 1)])


def test_numpy_functions_take_traced_scalars_and_arrays_of_them(x: Expr) -> None:
    assert np.sin(x) is sin(x)
    assert np.float64(2) * x is 2 * x
    assert np.arctan2(x, 1.0) is x.graph.apply("atan2", x, 1)
    pair = np.array([x, 2 * x], dtype=object)
    assert are_the_same(np.cos(pair), [x.graph.apply("cos", a) for a in pair])
    assert np.arctan2(pair, pair)[1] is x.graph.apply("atan2", 2 * x, 2 * x)
    with pytest.raises(TraceError, match=r"numpy.sinh does not work on a traced scalar.*pliant.math.sin"):
        np.sinh(x)
    with pytest.raises(TraceError, match=r"numpy.add does not"):
        np.add.reduce(x)
    for made in (maximum(np.array([1.0, 2.0]), x), maximum(x, np.array([1.0, 2.0]))):
        assert are_the_same(made, [maximum(x, 1), maximum(x, 2)])


def test_traced_scalars_are_keys_by_identity(x: Expr, y: Expr) -> None:
    table = {x: 1, y: 2, x + y: 3}
    assert (table[x], table[y], table[y + x]) == (1, 2, 3)


def test_repr(g: Graph, x: Expr, y: Expr) -> None:
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
    # of a negative number
    assert interpret([x**3, x**-2, x**2.0], {"x": -2.0}) == [-8, 0.25, 4]


# ---- tables: constant, known by their numbers, safe at any index, and the same on every scalar


NUMBERS = [3.5, -1.0, 0.25, 8.0]
# index and entry: within, between (the one below), past both ends, and no number at all
CASES = [
    (0, 3.5), (1, -1.0), (3, 8.0), (1.75, -1.0), (2.999, 0.25), (-0.5, 3.5), (-7, 3.5), (4, 8.0), (1e30, 8.0),
    (-1e30, 3.5), (math.inf, 8.0), (-math.inf, 3.5), (math.nan, math.nan),
]  # fmt: skip


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize(("index", "entry"), CASES)
def test_entry_on_every_scalar(g: Graph, x: Expr, index: float, entry: float) -> None:
    table = Table(NUMBERS)
    assert same(lookup(table, index), entry)
    assert same(lookup(table, np.float32(index)), entry)
    assert same(lookup(table, np.array([index, 0.0]))[0], entry)
    node = lookup(table, x)
    assert same(interpret([node], {"x": index})[0], entry)
    assert same(interpret([node], {"x": np.array([index])})[0][0], entry)
    folded = lookup(table, g.constant(index))
    assert folded.op == "const"
    assert same(folded.value, entry)


def test_arrays_of_indices(x: Expr) -> None:
    table = Table(NUMBERS)
    assert are_the_same(lookup(table, np.array([x, x + 1], dtype=object)), [lookup(table, x), lookup(table, x + 1)])
    assert lookup(table, np.array([2, 0, 9])).tolist() == [0.25, 3.5, 8.0]


def test_tables_of_equal_numbers_are_one_node(x: Expr) -> None:
    assert lookup(Table(NUMBERS), x) is lookup(Table(NUMBERS), x)
    assert lookup(NUMBERS, x) is lookup(Table(NUMBERS), x)
    assert lookup(Table(NUMBERS), x) is not lookup(Table([*NUMBERS[:3], 8.5]), x)
    assert Table(NUMBERS) == Table(NUMBERS)
    assert hash(Table(NUMBERS)) == hash(Table(NUMBERS))
    assert Table(NUMBERS) != Table(NUMBERS[:3])
    assert pickle.loads(pickle.dumps(Table(NUMBERS))) == Table(NUMBERS)
    assert repr(lookup(Table(NUMBERS), x)) == "%1 = lookup(table of 4, x)", "shown without its numbers"


def test_a_graph_is_put_into_another(x: Expr) -> None:
    y = Graph().input("y")
    (moved,) = interpret([lookup(Table(NUMBERS), x) * 2], {"x": y})
    assert moved is lookup(Table(NUMBERS), y) * 2


def test_table_does_not_change_with_its_source() -> None:
    source = np.array(NUMBERS)
    table = Table(source)
    source[0] = 99
    assert table.at(0) == 3.5
    with pytest.raises(ValueError, match="read-only"):
        table.numbers[0] = 99
    with pytest.raises(TraceError, match="cannot be changed"):
        table.numbers = source


def test_derivative_is_zero_and_that_of_the_rest_is_kept(g: Graph, x: Expr) -> None:
    node = lookup(Table(NUMBERS), x)
    for rate in (tangents([node], {x: 1})[0], jacobian([node], [x])[0][0]):
        assert interpret([g.lift(rate)], {"x": 1.5}) == [0]
    # interpolation: the slope is the difference of the entries, -1 to 0.25
    k = g.apply("floor", x)
    low, high = lookup(Table(NUMBERS), k), lookup(Table(NUMBERS), k + 1)
    line = low + (x - k) * (high - low)
    assert interpret(tangents([line], {x: 1}), {"x": 1.5}) == [1.25]
    assert interpret(jacobian([line], [x])[0], {"x": 1.5}) == [1.25]


@pytest.mark.parametrize("numbers, message", [
    *((wrong, "a table") for wrong in ([], [[1.0, 2.0]], 3.0, ["a"], np.empty(0))),
    ([Graph().input("x"), 1.0], "plain numbers"),
    (np.broadcast_to(0.0, 2**24 + 1), "16777216"),  # too long for exact indices
])  # fmt: skip
def test_what_is_no_row_of_numbers_is_refused(numbers: object, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        Table(numbers)
    with pytest.raises(TraceError, match="a table has no formula"):
        lookup(Table(NUMBERS), sympy.Symbol("k"))
