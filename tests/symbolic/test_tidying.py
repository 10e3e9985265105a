"""Formulas put back together: normal forms, waves, names for shared parts, and how they look."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, cos, sin

from pliant.errors import PliantError
from pliant.symbolic.polynomials import Polynomials, TooLongError
from pliant.symbolic.tidying import Tidy, folded, is_longer, named_parts, symbols_of
from pliant.symbolic.trigonometry import Wave, shortest
from symbolic_robots import equations

m, l, M, I, J, g = sympy.symbols("m l M I J g", positive=True)
q1, q2, v1, v2, a1, a2 = MOTION = sympy.symbols("q1 q2 v1 v2 a1 a2", real=True)
tidy = Tidy(MOTION)


# how it looks, and whether what all terms share is written once
FORMS = {
    "parameters with the same motion are one sum": (
        (M + m) * a1 + m * l * (cos(q2) * a2 - sin(q2) * v2**2) / 2, False,
    ),
    "motion with the same parameter is one sum": (I * (a1 + a2) + J * a2, False),
    "waves with the same motion are one sum": (m * l**2 * (a1 * (Rational(5, 3) + cos(q2)) + a2 / 3), True),
    "what all share is written once": (g * l * (m * sin(q1) + M * sin(q1 + q2)), True),
    "or not": (g * l * m * sin(q1) + g * l * M * sin(q1 + q2), False),
    "a minus that all share is written once": (-m * l * v2 * (v1 + v2 / 2) * sin(q2), True),
}  # fmt: skip


@pytest.mark.parametrize("form, is_shared", FORMS.values(), ids=FORMS)
def test_sums_are_put_back_together(form: sympy.Expr, is_shared: bool) -> None:
    assert tidy(sympy.expand(form), is_shared=is_shared) == form


def test_quotients_cancel() -> None:
    # the tensor of two masses about their common centre
    assert tidy(m * M / (m + M) + m**2 / (m + M)) == m


def test_values_stay() -> None:
    e = (m * sin(q1) ** 2 + J * cos(q1 - q2)) * (a1 + v1 * v2) ** 2 - g * cos(q1) * (l + v1) / 3
    numbers = {s: Rational(k + 2, 7) for k, s in enumerate(sorted(e.free_symbols, key=str))}
    # 30 digits on both sides
    assert abs((tidy(e) - e).subs(numbers).evalf(30)) < 1e-28


@pytest.mark.parametrize("simplify", [None, True, False])
def test_how_far_to_go(simplify: bool | None) -> None:
    # 31,000 products: more than what is quick
    long = (m + l + g + v1 + v2) ** 12
    found = Tidy(MOTION, simplify)(long)
    assert (found == long) == (simplify is not True)
    if simplify:
        assert Polynomials(1e9).read(found - long) == {}


def test_effort_does_not_depend_on_time() -> None:
    expressions = [sympy.prod([m + k + cos(q1 + n * q2) for k in range(3)]) for n in range(12)]
    one, two = Tidy(MOTION), Tidy(MOTION)
    assert [one(e) for e in expressions] == [two(e) for e in expressions]


# ---- the normal form: equal formulas have the same polynomial


a, b, x, y = sympy.symbols("a b x y", real=True)


def zero(expression: sympy.Expr) -> bool:
    return Polynomials(10_000).read(sympy.sympify(expression)) == {}


@pytest.mark.parametrize("identity", [
    (a + b) ** 3 - a**3 - 3 * a**2 * b - 3 * a * b**2 - b**3,
    sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1,
    sympy.cos(x + y) - sympy.cos(x) * sympy.cos(y) + sympy.sin(x) * sympy.sin(y),
    sympy.sin(x - y) - sympy.sin(x) * sympy.cos(y) + sympy.cos(x) * sympy.sin(y),
    sympy.sin(3 * x) - 3 * sympy.sin(x) + 4 * sympy.sin(x) ** 3,
    sympy.cos(2 * x + y) - 2 * sympy.cos(x) * sympy.cos(x + y) + sympy.cos(y),
    a / (2 * b) * b - a / 2,
    a * (1 / (3 * a)) - sympy.Rational(1, 3),
])  # fmt: skip
def test_identities_vanish(identity: sympy.Expr) -> None:
    assert zero(identity)
    # what is not zero stays
    assert not zero(sympy.cos(x + y) - sympy.cos(x) * sympy.cos(y) - sympy.sin(x) * sympy.sin(y))
    assert not zero(a - b)


def test_numbers_stay_exact_as_long_as_they_are() -> None:
    numbers = Polynomials(100).read(a / 3 + sympy.Float(0.25) * b + 2)
    assert sorted(map(str, numbers.values())) == ["0.25", "1/3", "2"]
    assert {type(n) for n in numbers.values()} == {Fraction, float, int}


def test_floats_cancel_to_within_rounding() -> None:
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in floats
    e = sympy.Add(sympy.Float(0.1) * a, sympy.Float(0.2) * a * (1 + b) - sympy.Float(0.2) * a * b, evaluate=False)
    assert zero(sympy.Add(e, sympy.Float(-0.3) * a, evaluate=False))


def test_other_functions_are_atoms() -> None:
    root = sympy.sqrt(a + b)
    assert zero(root * (x + 1) - root * x - root)
    assert zero(sympy.sign(x) * a - a * sympy.sign(x))
    assert zero(sympy.cos(x / 2) ** 2 + sympy.sin(x / 2) ** 2 - 1)


def test_back_to_an_expression() -> None:
    polynomials = Polynomials(1000)
    e = (a + sympy.sin(x)) ** 2 / 3 + sympy.cos(x + y)
    flat = polynomials.restored(polynomials.expression(polynomials.read(e)))
    assert sympy.simplify(flat - e) == 0


def test_effort_is_limited_and_infinite_numbers_are_told() -> None:
    with pytest.raises(TooLongError, match="simplify=False"):
        Polynomials(100).read(sympy.prod([a + b * k + x for k in range(1, 9)]))
    with pytest.raises(PliantError, match="finite"):
        Polynomials(10).read(sympy.Float("inf"))


# ---- sums of products of waves: shorter, and the same numbers


def c(angle: int) -> Wave:
    return Wave(False, ((angle, 1),))


def s(angle: int) -> Wave:
    return Wave(True, ((angle, 1),))


def value(polynomial: dict, angles: np.ndarray) -> float:
    total = 0.0
    for product, number in polynomial.items():
        term = float(number)
        for wave in product:
            turn = sum(k * angles[a] for a, k in wave.turn)
            term *= math.sin(turn) if wave.is_sine else math.cos(turn)
        total += term
    return total


BOTH = Wave(False, ((0, 1), (1, 1)))  # cos(q0 + q1)


@pytest.mark.parametrize("written, expected", [
    # addition theorem
    ({(c(0), c(1)): 1, (s(0), s(1)): -1}, {(BOTH,): 1}),
    ({(c(0), s(1)): 1, (c(1), s(0)): 1}, {(Wave(True, ((0, 1), (1, 1))),): 1}),
    # squares
    ({(): 1, (c(0), c(0)): -1}, {(s(0), s(0)): 1}),
    # (c0 c1 - s0 s1)^2, with the squares of sines replaced
    ({(c(0), c(0), c(1), c(1)): 2, (c(0), c(1), s(0), s(1)): -2, (): 1, (c(0), c(0)): -1, (c(1), c(1)): -1},
     {(BOTH, BOTH): 1}),
    # cos(q0) cos(q0 + q1)
    ({(c(0), c(0), c(1)): 1, (c(0), s(0), s(1)): -1}, {(c(0), BOTH): 1}),
    # what is short stays
    *((short, short) for short in (
        {(c(0), c(0)): 3}, {(c(0), c(1), s(2)): 2}, {(c(0), s(0)): 1}, {(): 5, (c(1),): 3},
    )),
])  # fmt: skip
def test_shortest(written: dict, expected: dict) -> None:
    assert shortest(written) == expected


def test_floats_that_are_equal_but_for_rounding_pair() -> None:
    (product,) = shortest({(c(0), c(1)): 0.3, (s(0), s(1)): -(0.1 + 0.2)})
    assert product == (BOTH,)


waves = st.builds(lambda is_sine, angle: s(angle) if is_sine else c(angle), st.booleans(), st.integers(0, 2))
numbers = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=4)).filter(bool)
polynomials = st.dictionaries(st.lists(waves, max_size=4).map(sorted).map(tuple), numbers, max_size=5)


@given(polynomials, st.integers(0, 2**32 - 1))
def test_values_of_sums_stay(polynomial: dict, seed: int) -> None:
    angles = np.random.default_rng(seed).uniform(-math.pi, math.pi, 3)
    # each form has at most some hundred terms of size up to 50: rounding only
    assert value(shortest(polynomial), angles) == pytest.approx(value(polynomial, angles), abs=1e-11)


@given(polynomials)
def test_exact_numbers_stay_exact(polynomial: dict) -> None:
    assert all(isinstance(n, int | Fraction) for n in shortest(polynomial).values())


# ---- names for parts that occur several times


z = sympy.symbols("x0:9", real=True)


def test_names_that_are_no_shorter_are_folded() -> None:
    s = sympy.sin(q2)
    shared = [
        (z[0], s),
        (z[1], z[0] ** 2),
        (z[2], -3 * z[1]),
        (z[3], a * b),
        (z[4], z[3]),
        (z[5], 2 * z[4]),
    ]
    kept, formulas = folded(shared, [z[1] + z[2], z[4] + z[5] * z[0]], {q1, q2})
    assert kept == [(z[0], a * b)]
    assert formulas == [-2 * s**2, z[0] + 2 * z[0] * s]


def test_conditions_can_be_shared() -> None:
    condition = sympy.Lt(a + b, 1)
    kept, _ = folded([(z[0], condition)], [sympy.Piecewise((a, z[0]), (b, True))], {q1})
    assert kept == [(z[0], condition)]


def test_no_line_of_a_long_text_is_an_alias() -> None:
    for name in ("arm7", "hopper_flight"):
        text = str(equations(name))
        shared = re.findall(r"^x\d+ = (.*)$", text, re.M)
        assert shared
        # a number, then one symbol, wave or name, and a power
        assert not [e for e in shared if re.fullmatch(r"-?([\d./e-]+ )?[a-z]\w*'*(\^\d+)?", e)]


def test_letters_that_are_taken_symbols_and_length() -> None:
    shared, _ = named_parts([sympy.sin(a + b) + 1, (a + b) ** 3], {"x1", "a"})
    assert [str(name) for name, _ in shared] == ["y0"]
    e = sympy.sin(a + q1) ** 2
    assert symbols_of([e, b * e]) == {a, b, q1}
    assert is_longer([e], 3)
    assert not is_longer([e], 100)
