"""Formulas put back together: how they look, and that they are the same."""

import pytest
import sympy
from sympy import Rational, cos, sin

from pliant.symbolic.polynomials import Polynomials
from pliant.symbolic.tidying import Tidy

m, l, M, I, J, g = sympy.symbols("m l M I J g", positive=True)
q1, q2, v1, v2, a1, a2 = MOTION = sympy.symbols("q1 q2 v1 v2 a1 a2", real=True)
tidy = Tidy(MOTION)


def rows(e: sympy.Expr) -> sympy.Expr:
    return tidy(e, is_shared=False)


def test_parameters_with_the_same_motion_are_one_sum() -> None:
    e = M * a1 + m * a1 + m * l * cos(q2) * a2 / 2 - m * l * sin(q2) * v2**2 / 2
    assert rows(e) == (M + m) * a1 + m * l * (cos(q2) * a2 - sin(q2) * v2**2) / 2


def test_motion_with_the_same_parameter_is_one_sum() -> None:
    assert rows(sympy.expand((I + J) * a2 + I * a1)) == I * (a1 + a2) + J * a2


def test_waves_with_the_same_motion_are_one_sum() -> None:
    e = m * l**2 * (a1 * Rational(5, 3) + a1 * cos(q2) + a2 / 3)
    assert tidy(sympy.expand(e)) == m * l**2 * (a1 * (Rational(5, 3) + cos(q2)) + a2 / 3)


def test_what_all_share_is_written_once() -> None:
    e = m * g * l * sin(q1) + M * g * l * sin(q1 + q2)
    assert tidy(sympy.expand(e)) == g * l * (m * sin(q1) + M * sin(q1 + q2))
    assert rows(e) == g * l * m * sin(q1) + g * l * M * sin(q1 + q2)


def test_a_minus_that_all_share_is_written_once() -> None:
    e = -m * l * v1 * v2 * sin(q2) - m * l * v2**2 * sin(q2) / 2
    assert tidy(e) == -m * l * v2 * (v1 + v2 / 2) * sin(q2)


def test_quotients_cancel() -> None:
    # the tensor of two masses about their common centre
    e = m * M / (m + M) + m**2 / (m + M)
    assert tidy(e) == m


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
