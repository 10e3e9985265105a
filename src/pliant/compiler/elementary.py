"""Sine, cosine and friends spelled out in operations that are one instruction each.

Every function is a polynomial after a reduction of its argument, without a branch, so that it runs
on all lanes at once. The polynomials are Chebyshev fits (mpmath's ``chebyfit`` at 200 bits); the
reductions are the classical ones [Cody and Waite 1980; Muller 2016, ch. 11]. Accuracy, tested
against mpmath: at most 4 units in the last place; sine, cosine and tangent for |x| <= 1e5 (in fact to
1e9, in float32 to 1e6; then they lose digits, and give NaN beyond `Precision.largest_angle`), the
others over their range. Not covered: results below the smallest normal number, and atan2 of two
infinities, of a negative zero ``x``, and where |x| + |y| overflows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from pliant.errors import KernelError
from pliant.scalar import Expr


@dataclass(frozen=True)
class Precision:
    """What the functions need to know about a floating-point format."""

    name: str
    llvm: str
    bits: int
    mantissa_bits: int
    sin: tuple[float, ...]
    cos: tuple[float, ...]
    atan: tuple[float, ...]
    exp: tuple[float, ...]
    log: tuple[float, ...]
    half_pi: tuple[float, float, float]
    log_two: tuple[float, float]
    exp_range: tuple[float, float]
    tiny: float

    @property
    def magic(self) -> float:
        """Adding this number leaves the rounded argument in the low bits of the sum."""
        return 1.5 * 2.0**self.mantissa_bits

    @property
    def largest_angle(self) -> float:
        """Beyond it, the low bits of that sum have no room for the number of quarter turns [rad]."""
        return 2.0 ** (self.mantissa_bits - 1) * math.pi / 2


_FLOAT64 = Precision(
    name="float64",
    llvm="double",
    bits=64,
    mantissa_bits=52,
    sin=(-0.16666666666666666, 0.008333333333330901, -0.00019841269836686008, 2.7557316064986773e-06,
         -2.505112403138208e-08, 1.59175674789068e-10),
    cos=(0.041666666666666664, -0.0013888888888887367, 2.480158729872029e-05, -2.7557317248229367e-07,
         2.0876141380294955e-09, -1.1382280957702634e-11),
    atan=(-0.3333333333333333, 0.199999999999998, -0.14285714285658824, 0.1111111110505757,
          -0.09090908748635232, 0.07692296234491514, -0.06666422364033206, 0.05878900032342983,
          -0.052302411507894, 0.045506220391755364, -0.034545610104858494, 0.016258132064979208),
    exp=(0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326025, 0.001388888888888367,
         0.00019841269875205077, 2.4801587325822283e-05, 2.75572549134867e-06, 2.7557273295539724e-07,
         2.5105419192016337e-08, 2.091483135138041e-09),
    log=(0.6666666666666666, 0.4000000000000089, 0.28571428570795937, 0.2222222239345263,
         0.181817954545265, 0.15386249788196105, 0.1326850331279476, 0.13089445145246312),
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    log_two=(0.693147180369123816490, 1.90821492927058770002e-10),
    exp_range=(-746.0, 710.0),
    tiny=2.2250738585072014e-308,
)  # fmt: skip

_FLOAT32 = Precision(
    name="float32",
    llvm="float",
    bits=32,
    mantissa_bits=23,
    sin=(-0.16666664638209855, 0.008332743595181824, -0.00019586882765702045),
    cos=(0.04166666463535246, -0.0013888298350940012, 2.4546931841332072e-05),
    atan=(-0.33333331746431516, 0.19999537099824088, -0.14263838476131002, 0.10742466849090754,
          -0.06447741047112404),
    exp=(0.5, 0.16666576305560638, 0.041666553762567636, 0.008363292753030603, 0.0013926325618133463),
    log=(0.6666666655358509, 0.40000122584957254, 0.2855073636310781, 0.23332762955117523),
    half_pi=(1.57079637050628662109375, -4.37113900018624283e-8, -1.71512451000000000e-15),
    log_two=(0.693145751953125, 1.428606765330187e-06),
    exp_range=(-104.0, 89.0),
    tiny=1.1754943508222875e-38,
)  # fmt: skip

_PRECISIONS = {"float64": _FLOAT64, "float32": _FLOAT32}


def precision_of(name: str) -> Precision:
    """The format called "float64" or "float32"."""
    if name not in _PRECISIONS:
        raise KernelError(f"unknown precision {name!r}", field="precision", cure="use 'float64' or 'float32'")
    return _PRECISIONS[name]


def _polynomial(x: Expr, coefficients: tuple[float, ...]) -> Expr:
    result = x.graph.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def _select(condition: Expr, then, otherwise) -> Expr:
    return condition.graph.apply("select", condition, then, otherwise)


def _fma(a, b, c) -> Expr:
    """a b + c rounded once: what follows relies on it, so it is asked for by name."""
    return a.graph.apply("fma", a, b, c)


def _reduced(p: Precision, x: Expr) -> tuple[Expr, Expr, Expr]:
    """x = k pi/2 + r: the sum that holds k in its low bits, and sine and cosine of r.

    With fused multiply-adds the first subtraction is exact, and the next two bring in pi to 160
    bits, so r is good to the last bit or two also where it almost vanishes.
    """
    turns = _fma(x, x.graph.constant(2 / math.pi), p.magic)
    k = x.graph.apply("sub", turns, p.magic)
    r = x
    for part in p.half_pi:
        r = _fma(k, x.graph.constant(-part), r)
    r = _select(abs(x) < p.largest_angle, r, math.nan)
    z = r * r
    sine = _fma(r * z, _polynomial(z, p.sin), r)
    cosine = _fma(z * z, _polynomial(z, p.cos), _fma(z, x.graph.constant(-0.5), 1))
    return turns, sine, cosine


def _sin(p: Precision, x: Expr) -> Expr:
    turns, sine, cosine = _reduced(p, x)
    value = _select(x.graph.apply("odd", turns), cosine, sine)
    return _select(x.graph.apply("half_odd", turns), -value, value)


def _cos(p: Precision, x: Expr) -> Expr:
    turns, sine, cosine = _reduced(p, x)
    value = _select(x.graph.apply("odd", turns), sine, cosine)
    return _select(x.graph.apply("half_odd", turns + 1), -value, value)


def _tan(p: Precision, x: Expr) -> Expr:
    turns, sine, cosine = _reduced(p, x)
    odd = x.graph.apply("odd", turns)
    return _select(odd, -cosine, sine) / _select(odd, sine, cosine)


def _atan2(p: Precision, y: Expr, x: Expr) -> Expr:
    # by symmetry to an angle in [0, pi/4], then to tangents within tan(pi/8) about zero
    ax, ay = abs(x), abs(y)
    steep = ax < ay
    small, large = _select(steep, ax, ay), _select(steep, ay, ax)
    wide = large * (math.sqrt(2) - 1) < small
    numerator = _select(wide, small - large, small)
    denominator = _select(wide, small + large, large)
    # atan2(0, 0) is 0
    t = numerator / _select(x.graph.apply("equal", denominator, 0), 1, denominator)
    z = t * t
    angle = _fma(t * z, _polynomial(z, p.atan), t)
    high, low = p.half_pi[0], p.half_pi[1]
    angle = _select(wide, high / 2 + (angle + low / 2), angle)
    angle = _select(steep, high - (angle - low), angle)
    angle = _select(x < 0, 2 * high - (angle - 2 * low), angle)
    return x.graph.apply("copysign", angle, y)


def _asin(p: Precision, x: Expr) -> Expr:
    return _atan2(p, x, x.graph.apply("sqrt", (1 - x) * (1 + x)))


def _acos(p: Precision, x: Expr) -> Expr:
    return _atan2(p, x.graph.apply("sqrt", (1 - x) * (1 + x)), x)


def _exp(p: Precision, x: Expr) -> Expr:
    lowest, highest = p.exp_range
    x = _select(x < lowest, lowest, _select(x > highest, highest, x))
    k = x.graph.apply("round", x * (1 / math.log(2)))
    r = _fma(k, x.graph.constant(-p.log_two[0]), x)
    r = _fma(k, x.graph.constant(-p.log_two[1]), r)
    value = _fma(r * r, _polynomial(r, p.exp), r) + 1
    # in two halves, so that neither scale leaves the range of exponents
    half = x.graph.apply("floor", k * 0.5)
    power = x.graph.apply
    return value * power("power_of_two", half) * power("power_of_two", k - half)


def _log(p: Precision, x: Expr) -> Expr:
    apply = x.graph.apply
    shift = float(p.mantissa_bits + 2)
    subnormal = x < p.tiny
    scaled = _select(subnormal, x * 2.0**shift, x)
    m, k = apply("mantissa", scaled), apply("exponent", scaled)
    above = x.graph.lift(math.sqrt(2)) < m
    m = _select(above, m * 0.5, m)
    k = _select(above, k + 1, k) - _select(subnormal, shift, 0)
    f = m - 1
    s = f / (f + 2)
    z = s * s
    half_square = f * f * 0.5
    correction = s * (half_square + z * _polynomial(z, p.log))
    high, low = p.log_two
    value = _fma(k, x.graph.constant(high), f - (half_square - _fma(k, x.graph.constant(low), correction)))
    value = _select(x < math.inf, value, x)
    return _select(apply("equal", x, 0), -math.inf, _select(x < 0, math.nan, value))


def _mod(p: Precision, a: Expr, b: Expr) -> Expr:
    # the remainder of the rounded quotient is exact; where the quotient was rounded up to an integer it is below zero.
    # As it stands: folded, a division by a constant is a product with its inverse, which may end below the integer, too
    whole = a.graph.apply("floor", a.graph.copied("div", (a, b)))
    r = _fma(-whole, b, a)
    is_positive = a.graph.lift(b > 0)
    has_other_sign = (is_positive & (r < 0)) | (~is_positive & (r > 0))
    return _select(has_other_sign, r + b, r)


# those that lowering replaces: (precision, arguments) -> the node in operations that are single instructions
FUNCTIONS: dict[str, Callable[..., Expr]] = {
    "sin": _sin, "cos": _cos, "tan": _tan, "asin": _asin, "acos": _acos, "atan2": _atan2, "exp": _exp, "log": _log,
    "mod": _mod,
}  # fmt: skip
