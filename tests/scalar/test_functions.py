"""The same function of floats, arrays, SymPy and traced scalars, and the conditions between them."""

import inspect
import builtins
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy

import pliant.scalar as scalar
from pliant.errors import PliantError
from pliant.scalar import Graph, both, either, equal, is_constant, negation, select
from pliant.scalar.evaluation import interpret
from pliant.scalar.ops import TABLE

UNARY = {
    "sin": [-7.0, -0.5, 0.0, 0.3, 100.0],
    "cos": [-7.0, -0.5, 0.0, 0.3, 100.0],
    "tan": [-7.0, -0.5, 0.0, 0.3, 100.0],
    "asin": [-1.0, -0.5, 0.0, 0.3, 1.0],
    "acos": [-1.0, -0.5, 0.0, 0.3, 1.0],
    "sqrt": [0.0, 0.25, 2.0, 1e10],
    "exp": [-700.0, -1.0, 0.0, 0.5, 700.0],
    "log": [1e-300, 0.5, 1.0, 3.0, 1e300],
    "abs": [-2.5, 0.0, 3.5],
    "floor": [-2.5, -2.0, 0.0, 0.5, 7.0],
    "round": [-2.5, -1.5, -0.3, 0.0, 0.5, 1.5, 2.5, 7.2],
}
PAIRS = [(-2.5, 1.0), (1.0, -2.5), (0.5, 0.5), (3.0, 4.0), (-1.0, -3.0), (0.0, 2.0), (0.0, -2.0)]
BINARY = {
    "atan2": scalar.atan2,
    "minimum": scalar.minimum,
    "maximum": scalar.maximum,
    "mod": scalar.mod,
    "%": lambda a, b: a % b,
    "//": lambda a, b: a // b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": equal,
    "both": lambda a, b: both(a < 1, b < 1),
    "either": lambda a, b: either(a < 0, b < 0),
    "negation": lambda a, b: negation(a < b),
    "select": lambda a, b: select(a < b, a, 2 * b),
    "nested": lambda a, b: select(both(a < b, negation(equal(a, 0))), a * b, select(either(a < 0, b < 0), a, b)),
}
# NumPy's and SymPy's functions round in their own ways; all are good to a few units in the last place
CLOSE = {"rel": 2e-15, "abs": 1e-15}


def everywhere(f, *columns: list[float]) -> dict[str, list[float]]:
    """The values of a function at some points, by each kind of scalar."""
    points = list(zip(*columns, strict=True))
    arrays = [np.array(c) for c in columns]
    symbols = sympy.symbols(f"a:{len(columns)}", real=True)
    formula = f(*symbols)
    graph = Graph()
    inputs = [graph.input(f"x{k}") for k in range(len(columns))]
    traced = graph.lift(f(*inputs))
    objects = np.empty(len(points), dtype=object)
    objects[:] = [f(*(np.array([v], dtype=object) for v in p))[0] for p in points]
    return {
        "float": [f(*p) for p in points],
        "numpy scalar": [f(*(np.float64(v) for v in p)) for p in points],
        "array": list(f(*arrays)),
        "matrix": list(f(*(a.reshape(1, -1) for a in arrays)).ravel()),
        "objects": list(objects),
        "sympy": [_number(formula.subs(dict(zip(symbols, map(sympy.Rational, p), strict=True)))) for p in points],
        "traced": [interpret([traced], {f"x{k}": v for k, v in enumerate(p)})[0] for p in points],
    }


def _number(value: sympy.Basic) -> float:
    return float(bool(value)) if value in (sympy.true, sympy.false) else float(value.evalf(20))


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    values = everywhere(getattr(scalar, name), UNARY[name])
    reference = [getattr(math, name, getattr(builtins, name, None))(x) for x in UNARY[name]]
    for kind, found in values.items():
        assert [float(v) for v in found] == pytest.approx(reference, **CLOSE), kind


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    values = everywhere(BINARY[name], *map(list, zip(*PAIRS, strict=True)))
    for kind, found in values.items():
        expected = [float(v) for v in values["float"]]
        assert [float(v) for v in found] == pytest.approx(expected, **CLOSE), kind


def test_every_function_is_tested() -> None:
    tested = {*UNARY, *BINARY, "is_constant", "Expr", "Graph", "Scalar", "Scalars", "as_sympy"}
    tested |= {"Table", "lookup"}  # in test_evaluation.py
    tested |= {"draws"}  # in test_chance.py
    assert set(scalar.__all__) <= tested


@pytest.mark.parametrize("name, outside", [("sqrt", -1.0), ("log", -1.0), ("asin", 1.5), ("acos", -1.5)])
def test_outside_of_the_domain_is_nan(name: str, outside: float) -> None:
    f = getattr(scalar, name)
    assert math.isnan(f(outside))
    assert math.isnan(f(Graph().constant(outside)).value)
    with np.errstate(invalid="ignore"):
        assert np.isnan(f(np.array([outside])))[0]


def test_no_angle_and_large_exponents_are_no_exceptions() -> None:
    for f in (scalar.sin, scalar.cos, scalar.tan):
        assert all(math.isnan(f(x)) for x in (math.inf, -math.inf, math.nan))
    # math.exp raises between the largest logarithm and 709.79
    assert [scalar.exp(x) for x in (709.7827, 709.783, 709.79, 1e300, math.inf)][1:] == [math.inf] * 4
    assert scalar.exp(-math.inf) == 0
    assert math.isnan(scalar.exp(math.nan))


@pytest.mark.parametrize("f", [scalar.minimum, scalar.maximum])
def test_extremes_hand_on_a_nan(f) -> None:
    for a, b in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan)):
        assert math.isnan(f(a, b))
        assert np.isnan(f(np.array([a]), np.array([b])))[0]


def test_arguments_may_be_of_different_kinds() -> None:
    assert scalar.maximum(np.array([1.0, 3.0]), 2).tolist() == [2, 3]
    assert scalar.select(np.array([True, False]), 1, 2).tolist() == [1, 2]
    assert scalar.atan2(1, sympy.Symbol("s", positive=True)).has(sympy.atan)
    x = Graph().input("x")
    assert scalar.maximum(2, x) is scalar.maximum(x, 2)


def test_shapes_and_types_of_arrays_stay() -> None:
    assert scalar.sin(np.zeros((0, 3))).shape == (0, 3)
    assert scalar.sin(np.zeros((0, 3), dtype=object)).shape == (0, 3)
    x = np.array([0.5], dtype=np.float32)
    assert scalar.sin(x).dtype == np.float32
    assert scalar.maximum(x, 0).dtype == np.float32


def test_formulas_keep_their_integers_and_fractions() -> None:
    s = sympy.Symbol("s")
    assert scalar.sqrt(4 * s) == 2 * sympy.sqrt(s)
    assert str(scalar.select(s < 0, 0, 2 * s)) == "Piecewise((0, s < 0), (2*s, True))"
    assert scalar.sin(Fraction(1, 2)) == sympy.sin(sympy.Rational(1, 2))
    assert float(scalar.maximum(Decimal("0.5"), sympy.Rational(1, 4))) == 0.5


@pytest.mark.parametrize("x, expected", [
    (1, True), (1.5, True), (True, True), (np.float32(1), True), (np.int64(1), True), (np.bool_(True), True),
    (np.array([1.0]), False), (sympy.Integer(1), False), (Graph().input("x"), False),
])  # fmt: skip
def test_is_constant(x, expected: bool) -> None:
    assert is_constant(x) is expected


@pytest.mark.parametrize("name", [n for n in scalar.__all__ if n in UNARY or n in BINARY])
def test_strings_are_not_evaluated(name: str, tmp_path) -> None:
    code = f"__import__('pathlib').Path({str(tmp_path / 'made')!r}).touch()"
    f = getattr(scalar, name)
    others = (1.0,) * (len(inspect.signature(f).parameters) - 1)
    for wrong in (code, np.array([code]), np.array([code, 1.0], dtype=object), [1.0], None, {}, b"1", 1j, sympy.eye(2)):
        with pytest.raises(PliantError) as error:
            f(wrong, *others)
        assert error.value.field == "argument"
        assert error.value.subject in TABLE
        assert "a real number" in error.value.cure
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("condition", [True, np.True_, sympy.true, sympy.Symbol("x") > 0])
def test_conditions_of_every_kind_select(condition) -> None:
    x = sympy.Symbol("x", positive=True)
    assert sympy.simplify(select(condition, x, 2 * x).subs(sympy.Symbol("x"), 1) - x) == 0
