"""Sums of products of cosines and sines, in the shortest of a few forms.

A polynomial in c_i = cos q_i, s_i = sin q_i is also a sum of cosines and sines of sums of angles, and that sum
is often the shorter one: c1 c2 - s1 s2 = cos(q1 + q2). Where two of its terms have the same number before them,
they are one product: 1/2 + 1/2 cos(2 q1) = cos(q1)^2, cos(2 q1 + q2) + cos(q2) = 2 cos(q1 + q2) cos(q1).
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import isclose
from typing import Any, NamedTuple

from pliant.symbolic.polynomials import Number, add_term

Turn = tuple[tuple[Any, int], ...]
"""A sum of angles: pairs of an angle's number and how often it is in the sum, sorted; the first is positive."""

_NO_TURN: Turn = ()
# cosines and sines of more angles than this are not tried as sums: there are 2^n of them
_MOST = 7
# numbers that are equal but for rounding
_ALIKE = 1e-12
_add = partial(add_term, rounding=_ALIKE)


class Wave(NamedTuple):
    """The cosine or sine of a sum of angles."""

    is_sine: bool
    turn: Turn


Product = tuple[Wave, ...]
"""Factors, sorted; one that is squared is there twice."""


def shortest(polynomial: dict[Product, Number]) -> dict[Product, Number]:
    """The same sum of products in the shortest form found; each wave of it is of one angle."""
    forms = [polynomial, _by_sines(polynomial)]
    if all(len(product) <= _MOST for product in polynomial):
        forms.append(_undoubled(_paired(_as_sum(polynomial))))
    return min(forms, key=_length)


def _length(polynomial: dict[Product, Number]) -> int:
    # a sum of angles with signs or multiples is longer to read than a plain one
    return sum(1 + sum(1 + any(k != 1 for _, k in wave.turn) for wave in set(product)) for product in polynomial)


def _by_sines(polynomial: dict[Product, Number]) -> dict[Product, Number]:
    """Squares of cosines replaced by those of sines, angle by angle, where that is shorter."""
    for turn in dict.fromkeys(wave.turn for product in polynomial for wave in product if not wave.is_sine):
        c, s = Wave(False, turn), Wave(True, turn)
        changed = polynomial
        while any(product.count(c) > 1 for product in changed):
            step: dict[Product, Number] = {}
            for product, number in changed.items():
                if product.count(c) > 1:
                    rest = list((Counter(product) - Counter([c, c])).elements())
                    _add(step, tuple(rest), number)
                    _add(step, tuple(sorted([*rest, s, s])), -number)
                else:
                    _add(step, product, number)
            changed = step
        if _length(changed) < _length(polynomial):
            polynomial = changed
    return polynomial


def _as_sum(polynomial: dict[Product, Number]) -> dict[Product, Number]:
    """Every product as a sum of single waves."""
    found: dict[Product, Number] = {}
    for product, number in polynomial.items():
        waves: dict[Wave, Number] = {Wave(False, _NO_TURN): number}
        for factor in product:
            step: dict[Wave, Number] = {}
            for wave, x in waves.items():
                for made, sign in _product(wave, factor):
                    step[made] = step.get(made, 0) + sign * x * Fraction(1, 2)
            waves = step
        for wave, x in waves.items():
            if x != 0:
                _add(found, _plain([wave]), x)
    return found


def _product(a: Wave, b: Wave) -> list[tuple[Wave, int]]:
    """Twice the product of two waves, as waves with signs."""
    both, apart = _sum(a.turn, b.turn, 1), _sum(a.turn, b.turn, -1)
    match a.is_sine, b.is_sine:
        case False, False:
            return [_wave(False, both), _wave(False, apart)]
        case True, True:
            return [_wave(False, apart), _wave(False, both, -1)]
        case True, False:
            return [_wave(True, both), _wave(True, apart)]
        case _:
            return [_wave(True, both), _wave(True, apart, -1)]


def _paired(polynomial: dict[Product, Number]) -> dict[Product, Number]:
    """Two products that differ in one wave only, with the same number or its opposite, become one, while there are."""
    while True:
        for (p, x), (r, y) in combinations(polynomial.items(), 2):
            same = _ratio(x, y)
            made = _merged(p, r, same) if same else None
            if made is not None:
                factor, product = made
                rest = {k: n for k, n in polynomial.items() if k not in (p, r)}
                _add(rest, product, x * factor)
                polynomial = rest
                break
        else:
            return polynomial


def _undoubled(polynomial: dict[Product, Number]) -> dict[Product, Number]:
    """Sines of doubled angles as products: they come with the squares of cosines and sines of the plain ones."""
    found: dict[Product, Number] = {}
    for product, number in polynomial.items():
        waves: list[Wave] = []
        for wave in product:
            half = _halved(wave.turn)
            if wave.is_sine and half:
                waves += [Wave(False, half), Wave(True, half)]
                number = number * 2
            else:
                waves.append(wave)
        _add(found, _plain(waves), number)
    return found


def _ratio(x: Number, y: Number) -> int:
    """1 for equal numbers, -1 for opposite ones, else 0."""
    if isinstance(x, float) or isinstance(y, float):
        return (1 if x * y > 0 else -1) if isclose(abs(x), abs(y), rel_tol=_ALIKE) else 0
    return 1 if x == y else -1 if x == -y else 0


def _merged(p: Product, r: Product, sign: int) -> tuple[int, Product] | None:
    """p + sign r as a number and one product, if they differ in one wave only and half of the angles is whole."""
    common = Counter(p) & Counter(r)
    own, other = (list((Counter(product) - common).elements()) for product in (p, r))
    if len(own) > 1 or len(other) > 1:
        return None
    a, b = (waves[0] if waves else Wave(False, _NO_TURN) for waves in (own, other))
    half, rest = _halved(_sum(a.turn, b.turn, 1)), _halved(_sum(a.turn, b.turn, -1))
    if a.is_sine != b.is_sine or half is None or rest is None:
        return None
    # cos a + cos b = 2 c c, cos a - cos b = -2 s s, sin a + sin b = 2 s c, sin a - sin b = 2 c s
    is_plus = sign > 0
    first, one = _wave(a.is_sine if is_plus else not a.is_sine, half)
    second, two = _wave(not is_plus, rest)
    number = (2 if is_plus or a.is_sine else -2) * one * two
    return (number, _plain([*common.elements(), first, second])) if number else None


def _wave(is_sine: bool, turn: Turn, sign: int = 1) -> tuple[Wave, int]:
    """The wave with its first angle positive, and the sign that this takes; sign 0 for the sine of nothing."""
    if not turn:
        return Wave(is_sine, turn), 0 if is_sine else sign
    if turn[0][1] < 0:
        turn = tuple((angle, -k) for angle, k in turn)
        sign = -sign if is_sine else sign
    return Wave(is_sine, turn), sign


def _plain(waves: Iterable[Wave]) -> Product:
    return tuple(sorted(wave for wave in waves if wave.turn))


def _sum(a: Turn, b: Turn, sign: int) -> Turn:
    found = dict(a)
    for angle, k in b:
        found[angle] = found.get(angle, 0) + sign * k
    return tuple(sorted((angle, k) for angle, k in found.items() if k))


def _halved(turn: Turn) -> Turn | None:
    return tuple((angle, k // 2) for angle, k in turn) if all(k % 2 == 0 for _, k in turn) else None
