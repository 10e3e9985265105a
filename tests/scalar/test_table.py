"""Tables: constant, known by their numbers, safe at any index, and the same on every scalar."""

import math
import pickle

import numpy as np
import pytest
import sympy

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, Table, lookup
from pliant.scalar.evaluation import interpret, jacobian, tangents

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


def test_arrays_of_traced_scalars(g: Graph, x: Expr) -> None:
    table = Table(NUMBERS)
    nodes = lookup(table, np.array([x, x + 1], dtype=object))
    assert nodes[0] is lookup(table, x)
    assert nodes[1] is lookup(table, x + 1)


def test_integer_arrays() -> None:
    assert lookup(Table(NUMBERS), np.array([2, 0, 9])).tolist() == [0.25, 3.5, 8.0]


def test_tables_of_equal_numbers_are_one_node(g: Graph, x: Expr) -> None:
    assert lookup(Table(NUMBERS), x) is lookup(Table(NUMBERS), x)
    assert lookup(NUMBERS, x) is lookup(Table(NUMBERS), x)
    assert lookup(Table(NUMBERS), x) is not lookup(Table([*NUMBERS[:3], 8.5]), x)
    assert Table(NUMBERS) == Table(NUMBERS)
    assert hash(Table(NUMBERS)) == hash(Table(NUMBERS))
    assert Table(NUMBERS) != Table(NUMBERS[:3])


def test_a_graph_is_put_into_another(g: Graph, x: Expr) -> None:
    other = Graph()
    y = other.input("y")
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


def test_table_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(Table(NUMBERS))) == Table(NUMBERS)


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


def test_node_is_shown_without_its_numbers(x: Expr) -> None:
    assert repr(lookup(Table(NUMBERS), x)) == "%1 = lookup(table of 4, x)"


def test_symbols_have_no_table() -> None:
    with pytest.raises(TraceError, match="a table has no formula"):
        lookup(Table(NUMBERS), sympy.Symbol("k"))


@pytest.mark.parametrize("numbers", [[], [[1.0, 2.0]], 3.0, ["a"], np.empty(0)])
def test_what_is_no_row_of_numbers_is_refused(numbers: object) -> None:
    with pytest.raises(TraceError, match="a table"):
        Table(numbers)


def test_traced_scalars_are_no_entries(x: Expr) -> None:
    with pytest.raises(TraceError, match="plain numbers"):
        Table([x, 1.0])


def test_a_table_too_long_for_exact_indices_is_refused() -> None:
    huge = np.broadcast_to(0.0, 2**24 + 1)
    with pytest.raises(TraceError, match="16777216"):
        Table(huge)
