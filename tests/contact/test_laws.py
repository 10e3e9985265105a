"""Contact laws: limits, directions, no pull, dissipation, impacts in closed form, every scalar alike."""

import math
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from pliant.compiler import kernel_from_function
from pliant.contact import HuntCrossley, SpringDamper, check_law, sliding_friction
from pliant.errors import ContactError, TraceError
from pliant.scalar import Graph, exp, maximum, select
from pliant.scalar.evaluation import interpret, jacobian, tangents

LAWS = {
    "spring": SpringDamper(1e4, 50.0),
    "undamped": SpringDamper(1e4, 0, friction=0.3, slip_speed=0.02),
    "hertz": HuntCrossley(1e5, 0.3),
    "linear": HuntCrossley(1e4, 0.5, exponent=1, friction=1.2),
    "square": HuntCrossley(1e6, 0.5, exponent=2),
    "odd": HuntCrossley(1e5, 0.2, exponent=1.3),
}
laws = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
DIRECTIONS = [2 * math.pi * k / 16 for k in range(16)]


def states(n: int, seed: int) -> np.ndarray:
    """Depth, rate and slip on both sides of touch, of sticking and of zero rate."""
    rng = np.random.default_rng(seed)
    depth = rng.uniform(-0.01, 0.02, n)
    rate = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1, n)
    slip = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-5, 1, (n, 1))
    return np.column_stack([depth, rate, slip])


def forces(law, s) -> list:
    normal, (fx, fy) = law(s[0], s[1], (s[2], s[3]))
    return [normal, fx, fy]


def traced(law) -> tuple:
    """A graph, its inputs and the forces."""
    g = Graph()
    inputs = [g.input(n) for n in "drxy"]
    return g, inputs, [g.lift(f) for f in forces(law, inputs)]


def test_normal_force_in_closed_form() -> None:
    spring = SpringDamper(1e4, 50.0)
    assert spring(0.01, 0.2, (0, 0))[0] == pytest.approx(1e4 * 0.01 + 50 * 0.2, rel=1e-15)
    assert spring(0.01, -3.0, (0, 0))[0] == 0  # the damper would pull
    assert spring(-1e-9, 10.0, (0, 0))[0] == 0
    hertz = HuntCrossley(1e5, 0.3)
    assert hertz(0.01, 0.2, (0, 0))[0] == pytest.approx(1e5 * 0.01**1.5 * (1 + 0.45 * 0.2), rel=1e-15)
    assert hertz(0.01, -1 / 0.45, (0, 0))[0] == pytest.approx(0, abs=1e-12)
    assert hertz(0.01, -9.0, (0, 0))[0] == 0
    assert hertz(-1e-9, 10.0, (0, 0))[0] == 0


@pytest.mark.parametrize("exponent", [1, 1.5, 2, 2.5, 3, 1.3, np.pi])
def test_power_of_the_depth(exponent: float) -> None:
    found = HuntCrossley(1.0, 0, exponent=exponent)(0.7, 0.0, (0, 0))[0]
    assert found == pytest.approx(0.7**exponent, rel=4e-16 * 4)


@laws
def test_never_pulls_and_pushes_only_in_the_ground(law) -> None:
    s = states(500, 1)
    normal = np.array([law(*row[:2], row[2:])[0] for row in s])
    assert np.all(normal >= 0)
    assert np.all(normal[s[:, 0] <= 0] == 0)
    assert np.any(normal > 0)


@laws
@pytest.mark.parametrize("speed", [1, 3, 1e2, 1e5])
def test_friction_is_coulombs_at_any_sliding_speed(law, speed: float) -> None:
    """mu N against the slip, in 16 directions, from slip_speed on: no growth with speed."""
    for angle in DIRECTIONS:
        s = law.slip_speed * speed * (1 + 1e-9)
        slip = s * math.cos(angle), s * math.sin(angle)
        normal, friction = law(0.01, 0.1, slip)
        expected = [-law.friction * normal * math.cos(angle), -law.friction * normal * math.sin(angle)]
        assert list(friction) == pytest.approx(expected, rel=1e-14, abs=1e-14 * normal)


@pytest.mark.parametrize("ratio", [0, 1e-6, 0.1, 0.5, 0.9, 1])
def test_friction_below_the_slip_speed_is_the_cubic(ratio: float) -> None:
    for angle in DIRECTIONS:
        direction = math.cos(angle), math.sin(angle)
        slip = 0.01 * ratio * direction[0], 0.01 * ratio * direction[1]
        size = 0.5 * 20 * (3 * ratio - ratio**3) / 2
        found = sliding_friction(20, slip, 0.5, 0.01)
        assert list(found) == pytest.approx([-size * d for d in direction], rel=1e-14, abs=1e-14)


def friction_slopes(slip_x: float) -> tuple[float, float]:
    """Derivatives of the friction along and across the slip."""
    g = Graph()
    x, y = g.input("x"), g.input("y")
    f = [g.lift(v) for v in sliding_friction(20, (x, y), 0.5, 0.01)]
    rows = jacobian(f, [x, y])
    found = interpret([g.lift(rows[0][0]), g.lift(rows[1][1])], {"x": slip_x, "y": 0.0})
    return found[0], found[1]


def test_friction_is_smooth() -> None:
    # at rest a damper of 3/2 mu N / slip_speed, the same in both directions
    assert friction_slopes(0.0) == pytest.approx((-1500.0, -1500.0), rel=1e-14)
    # where it begins to slide, the derivative has no jump: zero along, mu N / slip_speed across
    for slip in (0.01 * (1 - 1e-9), 0.01 * (1 + 1e-9)):
        along, across = friction_slopes(slip)
        assert along == pytest.approx(0, abs=1e-5)  # 3 mu N / slip_speed times 1e-9
        assert across == pytest.approx(-1000.0, rel=1e-8)
    assert friction_slopes(3.0) == pytest.approx((0, -10 / 3), rel=1e-13, abs=1e-13)


@laws
def test_derivatives_are_finite_everywhere(law) -> None:
    """Also at no depth and no slip, where roots and quotients would have none."""
    g, inputs, outputs = traced(law)
    rates = [g.lift(r) for i in inputs for r in tangents(outputs, {i: 1})]
    rates += [g.lift(r) for row in jacobian(outputs, inputs) for r in row]
    for d in (-0.01, 0.0, 1e-12, 0.01):
        for r in (-5.0, 0.0, 5.0):
            for x in (0.0, law.slip_speed, 1.0):
                found = interpret(rates, {"d": d, "r": r, "x": x, "y": 0.0})
                assert np.all(np.isfinite(found))
                assert found[:12] == pytest.approx(np.reshape(found[12:], (3, 4)).T.ravel().tolist(), rel=1e-12)


@laws
def test_derivative_by_depth_is_right(law) -> None:
    g, inputs, outputs = traced(law)
    slope = [g.lift(r) for r in tangents(outputs, {inputs[0]: 1})]
    for row in states(50, 3):
        d, r, x, y = row.tolist()
        if abs(d) < 1e-4 or forces(law, row)[0] == 0:
            continue
        h = 1e-7
        sides = [np.array(forces(law, (d + k * h, r, x, y))) for k in (1, -1)]
        found = interpret(slope, {"d": d, "r": r, "x": x, "y": y})
        # central differences of forces up to 1e3: rounding 1e-13 / 1e-7
        np.testing.assert_allclose(found, (sides[0] - sides[1]) / (2 * h), rtol=1e-5, atol=2e-5)


@laws
def test_friction_and_damping_take_power(law) -> None:
    """Friction against the slip; and the push is weaker on the way out than on the way in."""
    for row in states(500, 4):
        d, r, x, y = row.tolist()
        normal, (fx, fy) = law(d, r, (x, y))
        assert fx * x + fy * y <= 0
        elastic = law(d, 0.0, (x, y))[0]
        assert (normal - elastic) * r >= 0  # the normal force has the power -N rate


def rebound(law, speed: float, mass: float = 1.3) -> float:
    """Restitution of a mass that hits the ground, without gravity, integrated to 1e-10."""

    def motion(t, s):
        return [s[1], -law(s[0], s[1], (0, 0))[0] / mass]

    def out(t, s):
        return s[0]

    out.terminal, out.direction = True, -1
    start = [1e-12, speed]
    found = solve_ivp(motion, (0, 10), start, rtol=1e-10, atol=1e-13, max_step=1e-3, events=out)
    return -found.y[1, -1] / speed


@pytest.mark.parametrize("exponent", [1, 1.5, 2])
@pytest.mark.parametrize(("dissipation", "speed"), [(0.05, 1.0), (0.5, 1.0), (1.0, 2.0)])
def test_hunt_crossley_restitution(exponent: float, dissipation: float, speed: float) -> None:
    """m v dv/dx = -k x^n (1 + a v) is separable: a v - ln(1 + a v) is the same going in and coming out."""
    a = 1.5 * dissipation

    def level(v: float) -> float:
        return a * v - math.log1p(a * v)

    e = brentq(lambda e: level(-e * speed) - level(speed), 1e-6, min(1, (1 - 1e-12) / (a * speed)))
    found = rebound(HuntCrossley(2e4, dissipation, exponent=exponent), speed)
    assert found == pytest.approx(e, abs=1e-6)  # of the integrator
    if dissipation * speed < 0.1:
        # what the docstring says; the next term is of second order
        assert found == pytest.approx(1 - dissipation * speed, abs=(dissipation * speed) ** 2)


@pytest.mark.parametrize("damping", [0.0, 10.0, 60.0])
def test_spring_damper_restitution(damping: float) -> None:
    """A linear impact that ends when the force vanishes, not the depth [Schwager and Poeschel 2007]."""
    mass, stiffness = 1.3, 1e4
    beta = damping / (2 * mass)
    omega = math.sqrt(stiffness / mass - beta**2)
    e = math.exp(-beta / omega * (math.pi - math.atan2(2 * beta * omega, omega**2 - beta**2)))
    assert rebound(SpringDamper(stiffness, damping), 0.8, mass) == pytest.approx(e, abs=1e-6)  # of the integrator


@laws
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_scalar_finds_the_same_forces(law, precision: str) -> None:
    s = states(101, 5).astype(precision)
    reference = np.array([forces(law, row.tolist()) for row in s])
    kernel = kernel_from_function(lambda s: forces(law, s), {"s": (4,)}, precision=precision)
    found = kernel(s)
    # relative to the terms of a sum that may cancel: spring and damper against each other
    scale = np.abs(reference).max(axis=1, keepdims=True) + np.abs(s[:, 1:2]) * 60 + 1
    tolerance = {"float64": 1e-14, "float32": 1e-5}[precision]
    assert np.all(np.abs(found - reference) <= tolerance * scale)
    nodes = traced(law)[2]
    for row, expected in zip(s.tolist(), reference, strict=True):
        np.testing.assert_allclose(interpret(nodes, dict(zip("drxy", row, strict=True))), expected, rtol=1e-13)


@laws
def test_arrays(law) -> None:
    s = states(20, 6)
    columns = np.array(np.broadcast_arrays(*forces(law, s.T)))
    np.testing.assert_allclose(columns.T, [forces(law, row) for row in s], rtol=1e-13, atol=1e-13)


def test_symbols_give_formulas() -> None:
    k, c, d, r, vx, vy = sympy.symbols("k c d r v_x v_y", positive=True)
    normal, _ = SpringDamper(k, c)(d, r, (vx, vy))
    assert normal == k * d + c * r
    normal, (fx, _) = HuntCrossley(k, c)(d, r, (vx, vy))
    assert sympy.simplify(normal - k * d ** sympy.Rational(3, 2) * (1 + sympy.Rational(3, 2) * c * r)) == 0
    at = {k: 1e4, c: 0.3, d: 0.01, r: 0.2, vx: 0.3, vy: 0.4}
    assert float(fx.subs(at)) == pytest.approx(-0.7 * float(normal.subs(at)) * 0.6, rel=1e-14)


def test_parameters_may_differ_between_robots() -> None:
    def f(k, c, n, mu, s):
        return [*forces(SpringDamper(k, c, friction=mu), s), *forces(HuntCrossley(k, c, n, mu), s)]

    kernel = kernel_from_function(f, {"k": (), "c": (), "n": (), "mu": (), "s": (4,)})
    s = states(9, 7)
    rng = np.random.default_rng(7)
    k, c, n, mu = (rng.uniform(low, high, 9) for low, high in ((1e3, 1e4), (0, 1), (1, 2), (0, 1)))
    expected = [f(*(v.item() for v in row), x) for *row, x in zip(k, c, n, mu, s, strict=True)]
    # exponents that are not known while tracing go by exp and log
    np.testing.assert_allclose(kernel(k, c, n, mu, s), expected, rtol=1e-12, atol=1e-12)


BAD = [
    (SpringDamper, {"stiffness": -1}, "0 or more"),
    (SpringDamper, {"damping": math.nan}, "a finite number"),
    (SpringDamper, {"damping": -2}, "0 or more"),
    (SpringDamper, {"friction": -0.1}, "0 or more"),
    (SpringDamper, {"friction": None}, "a number"),
    (SpringDamper, {"slip_speed": 0}, "a number above 0"),
    (HuntCrossley, {"stiffness": math.inf}, "a finite number"),
    (HuntCrossley, {"dissipation": -0.1}, "0 or more"),
    (HuntCrossley, {"exponent": 0.5}, "1 or more"),
    (HuntCrossley, {"stiffness": "1"}, "a number"),
]


@pytest.mark.parametrize(("law", "value", "takes"), BAD)
def test_bad_parameters(law: Any, value: dict, takes: str) -> None:
    good = {"stiffness": 1, "damping" if law is SpringDamper else "dissipation": 0}
    with pytest.raises(ContactError) as error:
        law(**(good | value))
    assert (error.value.subject, error.value.field) == (law.__name__, next(iter(value)))
    assert error.value.cure == f"it takes {takes}"


def soft(depth, rate, slip):
    normal = select(depth > 0, 10 * (exp(maximum(depth, 0)) - 1), 0)
    return normal, (-normal * slip[0], -normal * slip[1])


@pytest.mark.parametrize("law", [
    soft, lambda d, r, s: (1.0, [0, 0]), SpringDamper(Graph().input("k"), 0), SpringDamper(sympy.Symbol("k"), 0),
    *LAWS.values(),
])  # fmt: skip
def test_a_law_of_the_right_form_is_handed_back(law) -> None:
    assert check_law(law) is law


@pytest.mark.parametrize("result", [
    None, 1.0, (1.0,), (1.0, 2.0), (1.0, 2.0, 3.0), (1.0, (2.0,)), (1.0, (1, 2, 3)), ("a", (1, 2)), ((1, 2), (1, 2)),
])  # fmt: skip
def test_a_law_of_another_form_is_refused(result: object) -> None:
    def mine(depth, rate, slip):
        return result

    with pytest.raises(ContactError, match=r"contact law mine: it returned .*\(normal, \(friction_x, friction_y\)\)"):
        check_law(mine)


def branching(depth, rate, slip):
    return (1e4 * depth if depth > 0 else 0), (0, 0)


@pytest.mark.parametrize("law, kind, message", [
    (branching, TraceError, r"contact law branching: .*pliant\.math\.select"),
    (lambda d, r, s: (math.exp(d), (0, 0)), TraceError, "contact law <lambda>: .*instead of those of math"),
    (lambda d, r: (d, (0, 0)), TraceError, r"contact law <lambda>: .*law\(depth, rate, \(slip_x, slip_y\)\)"),
    (lambda d, r, x, y: (d, (0, 0)), TraceError, r"law\(depth, rate, \(slip_x, slip_y\)\)"),
    (lambda d, r, s: (d > 0, (0, 0)), ContactError, "three scalars"),
    (1e4, ContactError, "it takes a function"),
])  # fmt: skip
def test_a_law_that_cannot_be_traced_says_why(law, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        check_law(law)
