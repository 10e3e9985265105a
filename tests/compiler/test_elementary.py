"""Accuracy of the functions that kernels spell out, in units in the last place, against mpmath."""

import math
from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np
import pytest

from pliant import scalar
from pliant.compiler import Kernel, kernel_from_function
from pliant.compiler.elementary import FUNCTIONS, precision_of
from pliant.errors import KernelError

# stated in `compiler.elementary`
MOST_ULPS = 4.0
COUNT = 700  # points of each kind


@cache
def kernel_of(name: str, precision: str) -> Kernel:
    f = getattr(scalar, name)
    if name == "atan2":
        return kernel_from_function(lambda y, x: f(y, x), {"y": (), "x": ()}, name=name, precision=precision)
    return kernel_from_function(lambda x: f(x), {"x": ()}, name=name, precision=precision)


def errors_in_ulps(name: str, precision: str, *args: np.ndarray) -> np.ndarray:
    """Distances from the exact values, in spacings of floats there; of normal results only."""
    args = tuple(a.astype(precision) for a in args)
    found = kernel_of(name, precision)(*args)
    info = np.finfo(precision)
    exact_function: Callable[..., mpmath.mpf] = getattr(mpmath, name if name != "log" else "ln")
    errors = []
    with mpmath.workprec(140):
        for value, *point in zip(found, *args, strict=True):
            exact = exact_function(*(mpmath.mpf(float(p)) for p in point))
            if not float(info.tiny) <= abs(exact) <= float(info.max):
                continue
            _, exponent = mpmath.frexp(exact)
            errors.append(float(abs(mpmath.mpf(float(value)) - exact) * mpmath.mpf(2) ** (info.nmant + 1 - exponent)))
    return np.array(errors)


def check(name: str, precision: str, least: int, *args: np.ndarray) -> None:
    """At more than ``least`` points with a normal result."""
    errors = errors_in_ulps(name, precision, *args)
    assert len(errors) > least
    assert errors.max() <= MOST_ULPS


def magnitudes(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    """Numbers of both signs between powers of ten."""
    return 10.0 ** rng.uniform(low, high, COUNT) * rng.choice([-1.0, 1.0], COUNT)


def near(centres: np.ndarray, precision: str, rng: np.random.Generator) -> np.ndarray:
    """The floats next to some numbers, and a few further."""
    centres = centres.astype(precision)
    steps = rng.integers(-4, 5, centres.shape)
    return (centres + steps * np.spacing(np.abs(centres))).astype(precision)


def angles(precision: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    quarters = rng.integers(-63_000, 63_000, COUNT) * (math.pi / 2)
    few_quarters = np.arange(-40, 41) * (math.pi / 2)
    return np.concatenate([
        rng.uniform(-1e5, 1e5, COUNT), rng.uniform(-10, 10, COUNT), magnitudes(rng, -6, 5),
        magnitudes(rng, -300 if precision == "float64" else -36, 0), near(quarters, precision, rng),
        near(np.repeat(few_quarters, 9), precision, rng),
        np.round(rng.uniform(-1e5, 1e5, COUNT)) * (math.pi / 4), [1e5, -1e5],
    ])  # fmt: skip


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles(name: str, precision: str) -> None:
    check(name, precision, 4000, np.clip(angles(precision), -1e5, 1e5))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_angles_beyond(name: str, precision: str) -> None:
    """A hundred times further, and more, it is as good."""
    rng = np.random.default_rng(2)
    reach = 1e9 if precision == "float64" else 1e6
    check(name, precision, COUNT, rng.uniform(-reach, reach, 2 * COUNT))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_too_large_to_reduce_give_no_number(name: str, precision: str) -> None:
    limit = precision_of(precision).largest_angle
    kernel = kernel_of(name, precision)
    inside = kernel(np.array([0.999 * limit, -0.999 * limit], dtype=precision))
    assert np.isfinite(inside).all()
    if name != "tan":
        assert (np.abs(inside) <= 1).all()
    beyond = np.array([1.001 * limit, -1.001 * limit, 100 * limit, 1e38, np.inf, -np.inf, np.nan], dtype=precision)
    assert np.isnan(kernel(beyond)).all()


@pytest.mark.parametrize("name", ["asin", "acos"])
def test_inverse_sine_and_cosine(name: str, precision: str) -> None:
    rng = np.random.default_rng(3)
    least = -300 if precision == "float64" else -36
    points = np.concatenate([
        rng.uniform(-1, 1, 3 * COUNT), magnitudes(rng, least, 0), 1 - 10.0 ** rng.uniform(-16, 0, COUNT),
        -1 + 10.0 ** rng.uniform(-16, 0, COUNT), near(np.repeat([0.5, -0.5, math.sqrt(0.5)], 9), precision, rng),
        [1.0, -1.0],
    ])  # fmt: skip
    check(name, precision, 3000, np.clip(points, -1, 1))


def test_atan2(precision: str) -> None:
    rng = np.random.default_rng(4)
    reach = 150 if precision == "float64" else 18
    y = [rng.normal(size=COUNT), magnitudes(rng, -reach, reach), rng.normal(size=COUNT), magnitudes(rng, -8, 8)]
    x = [rng.normal(size=COUNT), magnitudes(rng, -reach, reach), y[2] * (1 + rng.normal(size=COUNT) * 1e-5)]
    x.append(y[3] * np.sign(rng.normal(size=COUNT)) * (math.sqrt(2) + 1) * (1 + rng.normal(size=COUNT) * 1e-5))
    check("atan2", precision, 4000, np.concatenate([*y, *x]), np.concatenate([*x, *y]))


def test_atan2_on_the_axes_and_diagonals(precision: str) -> None:
    ys, xs = (a.ravel() for a in np.meshgrid([0.0, -0.0, 1.0, -1.0, 3.5, -1e-30], [0.0, 1.0, -1.0, 3.5, -1e-30]))
    found = kernel_of("atan2", precision)(ys, xs)
    expected = np.arctan2(ys.astype(precision), xs.astype(precision))
    # these are exact multiples of pi/4, or angles whose rounding NumPy may do otherwise
    np.testing.assert_array_almost_equal_nulp(found, expected, 1)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_exp(precision: str) -> None:
    rng = np.random.default_rng(5)
    low, high = (-708.39, 709.78) if precision == "float64" else (-87.33, 88.72)
    points = np.concatenate([
        rng.uniform(low, high, 3 * COUNT), rng.uniform(-1, 1, COUNT), magnitudes(rng, -30, 0),
        near(np.arange(-100, 100) * math.log(2) / 2, precision, rng), [0.0, low, high],
    ])  # fmt: skip
    check("exp", precision, 3500, np.clip(points, low, high))


def test_log(precision: str) -> None:
    rng = np.random.default_rng(6)
    info = np.finfo(precision)
    least, most = math.log10(float(info.tiny)), math.log10(float(info.max))
    points = np.concatenate([
        10.0 ** rng.uniform(least, most, COUNT), rng.uniform(0.3, 3, 2 * COUNT), 1 + rng.normal(size=COUNT) * 1e-4,
        near(np.ones(30), precision, rng), near(2.0 ** np.arange(-100, 100), precision, rng),
        near(np.full(30, math.sqrt(2)), precision, rng), [float(info.tiny), float(info.max)],
        float(info.smallest_subnormal) * rng.integers(1, 1000, COUNT),  # below the normal numbers
    ])  # fmt: skip
    check("log", precision, 3500, points)


inf, nan = math.inf, math.nan
SPECIAL = {
    "sin": [(0.0, 0.0), (-0.0, 0.0), (inf, nan), (-inf, nan), (nan, nan)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (inf, nan), (nan, nan)],
    "tan": [(0.0, 0.0), (-0.0, 0.0), (inf, nan), (nan, nan)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.0000001, nan), (-2.0, nan), (inf, nan), (nan, nan)],
    "acos": [(1.0, 0.0), (1.0000001, nan), (-2.0, nan), (inf, nan), (nan, nan)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0), (1e30, inf), (-1e30, 0.0), (nan, nan)],
    "log": [(1.0, 0.0), (0.0, -inf), (-0.0, -inf), (-1.0, nan), (-1e-42, nan), (-inf, nan), (inf, inf), (nan, nan)],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name: str, precision: str) -> None:
    points, expected = np.array(SPECIAL[name], dtype=precision).T
    found = kernel_of(name, precision)(points)
    np.testing.assert_array_equal(found, expected)  # in which -0.0 is 0.0


def test_special_values_of_atan2(precision: str) -> None:
    h = math.pi / 2
    table = [
        (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -1.0, 2 * h), (-0.0, -1.0, -2 * h), (inf, 1.0, h), (-inf, -1.0, -h),
        (1.0, inf, 0.0), (-1.0, inf, -0.0), (1.0, -inf, 2 * h), (nan, 1.0, nan), (1.0, nan, nan), (nan, nan, nan),
    ]  # fmt: skip
    y, x, expected = np.array(table, dtype=precision).T
    found = kernel_of("atan2", precision)(y, x)
    # pi/2 comes out of pi minus pi/2, each of them rounded
    np.testing.assert_allclose(found, expected, rtol=2 * np.finfo(precision).eps)
    np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


def test_edge_of_the_range_of_exp(precision: str) -> None:
    """Up to the largest float, to infinity above, and without a jump into the numbers below the normal ones."""
    info = np.finfo(precision)
    largest = np.log(info.max)
    kernel = kernel_of("exp", precision)
    assert np.isfinite(kernel(np.nextafter(largest, info.dtype.type(0))))
    assert kernel(largest * info.dtype.type(1.00001)) == inf
    small = np.linspace(np.log(float(info.smallest_subnormal)) - 2, np.log(float(info.tiny)) + 1, 300)
    with np.errstate(under="ignore"):
        expected = np.exp(small.astype(precision).astype(np.float64))
    # half a step of the subnormals, once for the value and once for its scaling
    np.testing.assert_allclose(kernel(small), expected, rtol=4 * info.eps, atol=float(info.smallest_subnormal))


def test_sine_and_cosine_share_their_reduction() -> None:
    assert set(FUNCTIONS) == {*SPECIAL, "atan2", "mod"}, "the functions are those of the table"
    kernel = kernel_from_function(lambda x: [scalar.sin(x), scalar.cos(x)], {"x": ()})
    alone = kernel_from_function(lambda x: [scalar.sin(x)], {"x": ()})
    assert sum(kernel.operations().values()) < 1.4 * sum(alone.operations().values())


def test_unknown_precision() -> None:
    with pytest.raises(KernelError, match="unknown precision 'float16'; use 'float64' or 'float32'"):
        kernel_from_function(lambda x: x, {"x": ()}, precision="float16")


@pytest.mark.parametrize("divisor", [None, 3.0, -0.1, 2 * np.pi])
def test_remainders_are_those_of_python_bit_for_bit(divisor: float | None) -> None:
    """Also by a constant, whose division is not folded, and next to multiples, where the quotient is rounded up."""
    rng = np.random.default_rng(0)
    b = magnitudes(rng, -3, 3) if divisor is None else np.full(COUNT, divisor)
    multiples = np.round(magnitudes(rng, 0, 9)) * b
    nearby = np.nextafter(multiples, rng.choice([-np.inf, np.inf], COUNT))
    kernel = kernel_from_function(
        lambda a, b: [a % (b if divisor is None else divisor), a // (b if divisor is None else divisor)],
        {"a": (), "b": ()}, name="remainder",
    )  # fmt: skip
    for a in (magnitudes(rng, -3, 9), multiples, nearby):
        found = kernel(a, b)
        np.testing.assert_array_equal(found[:, 0], [x % y for x, y in zip(a.tolist(), b.tolist(), strict=True)])
        np.testing.assert_array_equal(found[:, 1], [x // y for x, y in zip(a.tolist(), b.tolist(), strict=True)])


def test_rounding_takes_the_even_one_of_two() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370495.5, 7.3])
    kernel = kernel_from_function(lambda x: [round(x), round(x, 1), round(x, -1)], {"x": ()}, name="rounded")
    np.testing.assert_array_equal(kernel(x)[:, 0], [round(a) for a in x.tolist()])
    # a tenth is not a binary number: Python rounds the decimals, a kernel the product
    np.testing.assert_allclose(kernel(x)[:, 1:], [[round(a, 1), round(a, -1)] for a in x.tolist()], rtol=1e-15)
