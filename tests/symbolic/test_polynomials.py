"""The normal form: equal formulas have the same polynomial."""

from fractions import Fraction

import pytest
import sympy

from pliant.errors import PliantError
from pliant.symbolic.polynomials import Polynomials, TooLongError

a, b, x, y = sympy.symbols("a b x y", real=True)


def zero(expression: sympy.Expr) -> bool:
    return Polynomials(10_000).read(sympy.sympify(expression)) == {}


@pytest.mark.parametrize(
    "identity",
    [
        (a + b) ** 3 - a**3 - 3 * a**2 * b - 3 * a * b**2 - b**3,
        sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1,
        sympy.cos(x + y) - sympy.cos(x) * sympy.cos(y) + sympy.sin(x) * sympy.sin(y),
        sympy.sin(x - y) - sympy.sin(x) * sympy.cos(y) + sympy.cos(x) * sympy.sin(y),
        sympy.sin(3 * x) - 3 * sympy.sin(x) + 4 * sympy.sin(x) ** 3,
        sympy.cos(2 * x + y) - 2 * sympy.cos(x) * sympy.cos(x + y) + sympy.cos(y),
        a / (2 * b) * b - a / 2,
        a * (1 / (3 * a)) - sympy.Rational(1, 3),
    ],
)
def test_identities_vanish(identity: sympy.Expr) -> None:
    assert zero(identity)


def test_what_is_not_zero_stays() -> None:
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


def test_effort_is_limited() -> None:
    with pytest.raises(TooLongError, match="simplify=False"):
        Polynomials(100).read(sympy.prod([a + b * k + x for k in range(1, 9)]))


def test_infinite_numbers_are_told() -> None:
    with pytest.raises(PliantError, match="finite"):
        Polynomials(10).read(sympy.Float("inf"))
