"""Sums of products of waves: shorter, and the same numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.symbolic.trigonometry import Wave, shortest


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


def test_addition_theorem() -> None:
    assert shortest({(c(0), c(1)): 1, (s(0), s(1)): -1}) == {(Wave(False, ((0, 1), (1, 1))),): 1}
    assert shortest({(c(0), s(1)): 1, (c(1), s(0)): 1}) == {(Wave(True, ((0, 1), (1, 1))),): 1}


def test_squares() -> None:
    assert shortest({(): 1, (c(0), c(0)): -1}) == {(s(0), s(0)): 1}
    assert shortest({(c(0), c(0)): 3}) == {(c(0), c(0)): 3}


def test_square_of_a_sum_of_angles() -> None:
    # (c0 c1 - s0 s1)^2, with the squares of sines replaced
    written = {
        (c(0), c(0), c(1), c(1)): 2, (c(0), c(1), s(0), s(1)): -2, (): 1, (c(0), c(0)): -1, (c(1), c(1)): -1,
    }  # fmt: skip
    both = Wave(False, ((0, 1), (1, 1)))
    assert shortest(written) == {(both, both): 1}


def test_products_of_sums_of_angles() -> None:
    # cos(q0) cos(q0 + q1)
    both = Wave(False, ((0, 1), (1, 1)))
    assert shortest({(c(0), c(0), c(1)): 1, (c(0), s(0), s(1)): -1}) == {(c(0), both): 1}


def test_what_is_short_stays() -> None:
    for polynomial in ({(c(0), c(1), s(2)): 2}, {(c(0), s(0)): 1}, {(): 5, (c(1),): 3}):
        assert shortest(polynomial) == polynomial


def test_floats_that_are_equal_but_for_rounding_pair() -> None:
    both = Wave(False, ((0, 1), (1, 1)))
    (product,) = shortest({(c(0), c(1)): 0.3, (s(0), s(1)): -(0.1 + 0.2)})
    assert product == (both,)


waves = st.builds(lambda is_sine, angle: s(angle) if is_sine else c(angle), st.booleans(), st.integers(0, 2))
numbers = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=4)).filter(bool)
polynomials = st.dictionaries(st.lists(waves, max_size=4).map(sorted).map(tuple), numbers, max_size=5)


@given(polynomials, st.integers(0, 2**32 - 1))
def test_values_stay(polynomial: dict, seed: int) -> None:
    angles = np.random.default_rng(seed).uniform(-math.pi, math.pi, 3)
    # each form has at most some hundred terms of size up to 50: rounding only
    assert value(shortest(polynomial), angles) == pytest.approx(value(polynomial, angles), abs=1e-11)


@given(polynomials)
def test_exact_numbers_stay_exact(polynomial: dict) -> None:
    assert all(isinstance(n, int | Fraction) for n in shortest(polynomial).values())
