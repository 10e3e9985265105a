"""Springs of one, three and six axes: forces are the slopes of an energy, on every scalar."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import sympy
from scipy.integrate import quad

from pliant.actuation.joint_springs import (
    deflection, deflection_rate, spring_energy, spring_force, spring_with_backlash,
)  # fmt: skip
from pliant.errors import PliantError, RobotError, TraceError
from pliant.robot import Free, Helical, Planar, Prismatic, Revolute, Robot, RobotBuilder, Spherical
from pliant.scalar import Expr, Graph, exp, select, sin, sqrt
from pliant.scalar.evaluation import interpret
from random_robots import State, close, gradient, rate

LAWS = {
    "sine": lambda x: 5 * sin(2 * x),
    "exponential": lambda x: 3 * (exp(x) - 1),
    "stiffer when pulled": lambda x: select(x > 0, 40 * x * x, 0),
}


def sprung(kind, **values) -> Robot:
    builder = RobotBuilder("sprung").gravity(0, 0, 0)
    builder.body("body", 2, (0.1, 0, 0.2), (0.4, 0.02, 0, 0.3, 0.01, 0.25))
    builder.joint("joint", kind, "world", "body", **values)
    return builder.build()


SPRINGS = {
    "revolute": sprung(Revolute((0, 1, 0)), stiffness=7, hardening=3, rest=0.4),
    "prismatic": sprung(Prismatic((0, 0.6, 0.8)), stiffness=7, hardening=3, law=LAWS["sine"], rest=-0.1),
    "helical": sprung(Helical((0, 0, 1), 0.2), stiffness=7, law=LAWS["exponential"]),
    "spherical": sprung(Spherical(), stiffness=(100, 300, 900)),
    "spherical, hardening": sprung(Spherical(), stiffness=(10, 3, 9), hardening=(4, 0, 20)),
    "spherical, laws": sprung(Spherical(), stiffness=(10, 3, 9), law=(LAWS["sine"], None, LAWS["exponential"])),
    "free": sprung(Free(), stiffness=(10, 20, 30, 1, 2, 3), hardening=(1, 0, 4, 2, 1, 0)),
    "free, laws": sprung(Free(), stiffness=0, law=[*LAWS.values(), LAWS["sine"], None, LAWS["exponential"]]),
}


def springs(*names: str):
    return pytest.mark.parametrize("robot", [SPRINGS[n] for n in names or SPRINGS], ids=names or SPRINGS)


def of(robot: Robot, q) -> tuple:
    return robot.joints["joint"], list(q)


def turned(robot: Robot, angle: float, rng: np.random.Generator) -> np.ndarray:
    """A state whose turn has that angle, about any axis; one dof is moved by it."""
    w = rng.standard_normal(robot.nv)
    w[-3:] *= angle / np.linalg.norm(w[-3:])
    return robot.integrate(robot.neutral(), w)


@springs()
@pytest.mark.parametrize("angle", [0, 1e-9, 1e-4, 0.3, 0.32, 1.5, 3.1])
def test_force_is_the_slope_of_the_energy(robot, angle):
    q = turned(robot, angle, np.random.default_rng(7))
    slope = gradient(lambda q: spring_energy(*of(robot, q)), robot, q)
    # differences of order h^4 are good to 1e-10 of the energy's size
    close(spring_force(*of(robot, q)).f, -slope, 2e-9)


@springs("spherical", "free")
def test_deflection_moves_with_its_rate(robot):
    rng = np.random.default_rng(3)
    for angle in (0, 1e-6, 0.5, 2.9):
        q, v = turned(robot, angle, rng), rng.standard_normal(robot.nv)
        x = deflection(*of(robot, q))
        moved = rate(lambda q, _: deflection(*of(robot, q)), robot, State(q, v, 0 * v, 0 * v))
        close(deflection_rate(robot.joints["joint"].kind, list(q), x, list(v)), moved, 1e-9)


@springs("spherical", "free")
def test_no_work_is_done_in_a_closed_cycle(robot):
    """The work of the force around a loop of large turns, by the trapezoidal rule, is spectrally small."""
    n = 400
    rng = np.random.default_rng(5)
    a, b = 0.7 * rng.standard_normal((2, robot.nv))
    work, scale = 0.0, 0.0
    for s in 2 * math.pi * np.arange(n) / n:
        w, w_rate = np.cos(s) * a + np.sin(2 * s) * b, -np.sin(s) * a + 2 * np.cos(2 * s) * b
        q = robot.integrate(robot.neutral(), w)
        h = 1e-4
        ends = [robot.integrate(robot.neutral(), w + k * h * w_rate) for k in (-2, -1, 1, 2)]
        d = [robot.difference(q, end) for end in ends]
        v = (8 * (d[2] - d[1]) - (d[3] - d[0])) / (12 * h)
        power = np.dot(spring_force(*of(robot, q)).f, v)
        work, scale = work + power / n, scale + abs(power) / n
    # velocities by differences are good to 1e-11
    assert abs(work) < 1e-9 * scale


@springs()
@pytest.mark.parametrize("angle", [0, 1e-5, 0.8, 2.5])
def test_stiffness_is_symmetric_and_not_negative(robot, angle):
    K = np.array(spring_force(*of(robot, turned(robot, angle, np.random.default_rng(2)))).stiffness, float)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12 * abs(K).max())
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(1, abs(K).max())


@springs(*(n for n in SPRINGS if n != "free, laws"))  # which has a kink at rest
def test_stiffness_is_the_slope_of_the_force_at_rest(robot):
    joint = robot.joints["joint"]
    q = robot.neutral() + (joint.rest if joint.kind.nv == 1 else 0)
    K = np.array(spring_force(joint, list(q)).stiffness, float)
    close(K, -gradient(lambda q: spring_force(joint, q).f, robot, q), 1e-9)


@springs("spherical", "spherical, hardening", "free")
def test_smooth_at_zero(robot):
    """Force and stiffness near zero are those of the first order in the turn."""
    joint, rng = robot.joints["joint"], np.random.default_rng(1)
    K = np.array(spring_force(joint, list(robot.neutral())).stiffness, float)
    for size in (1e-160, 1e-12, 1e-8, 1e-5):
        w = size * rng.standard_normal(robot.nv)
        f = np.array(spring_force(joint, list(robot.integrate(robot.neutral(), w))).f, float)
        # what is left is of the second order
        np.testing.assert_allclose(f, -K @ w, rtol=0, atol=3 * abs(K).max() * size * max(size, 1e-15))


@springs("spherical", "spherical, hardening", "free")
def test_up_to_half_a_turn_and_beyond(robot):
    """Finite, and beyond pi the deflection is the shorter way round."""
    joint = robot.joints["joint"]
    axis = np.array([0.48, 0.6, 0.64])
    for beyond in (-1e-3, -1e-9, 0, 1e-9, 1e-3):
        w = np.concatenate([np.zeros(robot.nv - 3), (math.pi + beyond) * axis])
        q = list(robot.integrate(robot.neutral(), w))
        f = np.array(spring_force(joint, q).f, float)
        assert np.isfinite(f).all() and np.isfinite(np.array(spring_force(joint, q).stiffness, float)).all()
        expected = (math.pi - abs(beyond)) * axis * (1 if beyond <= 0 else -1)
        if beyond:
            np.testing.assert_allclose(deflection(joint, q)[-3:], expected, atol=1e-12)


def test_a_full_turn_and_both_quaternions_of_one_turn():
    robot = SPRINGS["spherical"]
    joint, q = robot.joints["joint"], turned(robot, 0.7, np.random.default_rng(4))
    np.testing.assert_allclose(spring_force(joint, list(-q)).f, spring_force(joint, list(q)).f, rtol=1e-14)
    assert np.isfinite(spring_force(joint, [0, 0, 0, -1]).f).all()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("x", [-1.3, -1e-9, 0, 0.2, 2])
def test_energy_of_a_law_is_its_integral(law, x):
    robot = sprung(Revolute((0, 0, 1)), stiffness=2, hardening=5, law=LAWS[law])
    integral = quad(lambda s: 2 * s + 5 * s**3 + float(LAWS[law](s)), 0, x, epsabs=1e-13, epsrel=1e-13)[0]
    np.testing.assert_allclose(spring_energy(robot.joints["joint"], [x]), integral, rtol=1e-12, atol=1e-13)


def test_a_law_gives_its_derivative_where_it_is_not_negative():
    joint = sprung(Revolute((0, 0, 1)), stiffness=4, law=LAWS["sine"]).joints["joint"]
    for x in (0.0, 0.5, 1.2, 1.6):
        slope = 4 + 10 * math.cos(2 * x)
        np.testing.assert_allclose(spring_force(joint, [x]).stiffness, [[max(slope, 0)]], rtol=1e-14, atol=0)


def test_play_is_a_dead_zone_that_never_pulls_inward():
    joint = sprung(Revolute((0, 0, 1)), stiffness=50, damping=2, hardening=9, backlash=0.2, rest=0.3).joints["joint"]
    for q in np.linspace(-0.4, 1, 29):
        x = q - 0.3
        s = x - min(max(x, -0.1), 0.1)
        g = 50 * s + 9 * s**3
        np.testing.assert_allclose(spring_force(joint, [q]).f, [-g], atol=1e-15)
        np.testing.assert_allclose(spring_energy(joint, [q]), 25 * s**2 + 9 / 4 * s**4, atol=1e-15)
        for v in (-40, 0, 3):
            expected = -max(0, g + 2 * v) if x > 0.1 else -min(0, g + 2 * v) if x < -0.1 else 0
            np.testing.assert_allclose(spring_with_backlash(joint, q, v)[0], expected, atol=1e-14)


# ---- scalars


@springs()
def test_traced_and_compiled_springs_are_those_of_floats(robot):
    joint = robot.joints["joint"]

    def both(q):
        spring = spring_force(joint, list(q))
        return [*spring.f, spring_energy(joint, list(q)), *(k for row in spring.stiffness for k in row)]

    graph = Graph()
    nodes = [graph.input(f"q{k}") for k in range(robot.nq)]
    traced = both(nodes)
    assert isinstance(traced[0], Expr)
    for angle in (0, 1e-9, 0.5, 3):
        q = turned(robot, angle, np.random.default_rng(6))
        found = interpret([graph.lift(e) for e in traced], {f"q{k}": x for k, x in enumerate(q.tolist())})
        np.testing.assert_allclose(found, both(q.tolist()), rtol=1e-13, atol=1e-13)


def test_sympy_derives_the_force_of_one_dof():
    x, k, h = sympy.symbols("x k h")
    joint = sprung(Revolute((0, 0, 1)), stiffness=k, hardening=h, law=LAWS["sine"]).joints["joint"]
    f = spring_force(joint, [x]).f[0]
    assert sympy.simplify(f + k * x + h * x**3 + 5 * sympy.sin(2 * x)) == 0
    plain = sprung(Revolute((0, 0, 1)), stiffness=k, hardening=h).joints["joint"]
    assert sympy.simplify(sympy.diff(spring_energy(plain, [x]), x) + spring_force(plain, [x]).f[0]) == 0


def test_sympy_stiffness_of_a_spherical_joint():
    """About one axis log R is the angle, and the force -k times it."""
    k = sympy.symbols("k_x k_y k_z")
    joint = sprung(Spherical(), stiffness=k).joints["joint"]
    half = sympy.Rational(3, 5)
    f = spring_force(joint, [sympy.sin(half), 0, 0, sympy.cos(half)]).f
    numbers = dict(zip(k, (7, 3, 5), strict=True))
    np.testing.assert_allclose([float(sympy.sympify(e).subs(numbers)) for e in f], [-7 * 1.2, 0, 0], atol=1e-14)


# ---- bad input


@pytest.mark.parametrize("kind, values, message", [
    (Revolute((0, 0, 1)), {"stiffness": -1}, "stiffness of joint 'joint' is -1; it takes 0 or more"),
    (Revolute((0, 0, 1)), {"stiffness": math.nan}, "stiffness of joint 'joint' is nan; it takes"),
    (Revolute((0, 0, 1)), {"stiffness": math.inf}, "joint 'joint' is inf; it takes"),
    (Revolute((0, 0, 1)), {"stiffness": 1, "backlash": -0.1}, "backlash of joint 'joint' is -0.1"),
    (Revolute((0, 0, 1)), {"backlash": 0.1}, "backlash but no spring"),
    (Spherical(), {"stiffness": (1, 2)}, "stiffness of joint 'joint' has 2 entries; it takes"),
    (Spherical(), {"stiffness": 1, "backlash": 0.1}, "backlash takes a joint with one degree of freedom"),
    (Planar((0, 0, 1)), {"stiffness": 1}, "joint 'joint' is planar; springs are at joints with one"),
    (Revolute((0, 0, 1)), {"law": 3}, "law of the spring of joint 'joint' is 3; it takes a function"),
])  # fmt: skip
def test_impossible_springs(kind, values, message):
    with pytest.raises(RobotError, match=message):
        sprung(kind, **values)


def branching(x):
    return 3 * x if x > 0 else 0


@pytest.mark.parametrize("law, error, message", [
    (branching, TraceError, "joint 'joint': law of a spring: .*pliant.math.select"),
    (math.sin, TraceError, "joint 'joint': law of a spring: .*instead of those of math"),
    (lambda x: None, PliantError, "joint 'joint': law of a spring returned None"),
    (lambda x: [x], PliantError, "joint 'joint': law of a spring returned .*one force"),
    (lambda x, y: x, PliantError, "joint 'joint': law of a spring: .*it takes one deflection"),
    (lambda x: x / 0, TraceError, "joint 'joint': law of a spring: division of x by a constant zero"),
    (lambda x: x * (1 / 0), PliantError, "'joint': law of a spring: ZeroDivisionError: .*make its force finite"),
    (lambda x: [1][3] * x, PliantError, "joint 'joint': law of a spring: IndexError"),
    (lambda x: x.slope, PliantError, "joint 'joint': law of a spring: AttributeError"),
    (lambda x: math.nan, PliantError, "joint 'joint': law of a spring: it is nan at rest"),
    (lambda x: 1 / x, PliantError, "joint 'joint': law of a spring: it is inf at rest.*make it finite there"),
    (lambda x: sqrt(abs(x)), PliantError, "joint 'joint': law of a spring: its slope is inf at rest"),
])  # fmt: skip
def test_laws_that_are_none(law, error, message):
    with pytest.raises(error, match=message) as caught:
        sprung(Revolute((0, 0, 1)), law=law)
    assert str(caught.value).count("pliant.math.select") <= 1


@dataclass
class Cubic:
    """A law that cannot be hashed."""

    k: float

    def __call__(self, x):
        return self.k * x**3


def test_a_law_may_be_any_callable():
    joint = sprung(Revolute((0, 0, 1)), law=Cubic(7)).joints["joint"]
    np.testing.assert_allclose(spring_force(joint, [0.5]).f, [-7 / 8], rtol=1e-15)


def test_robots_with_other_laws_have_other_digests():
    """By what laws compute, not by where they are in memory."""

    def digest(*laws):
        return sprung(Spherical(), stiffness=1, law=laws).digest

    def cubic(k):
        return lambda x: k * x**3

    assert digest(cubic(2), None, None) == digest(Cubic(2), None, None)
    laws = (cubic(2), None, None), (cubic(3), None, None), (None, cubic(2), None), (None, None, None)
    assert len({digest(*each) for each in laws}) == 4
