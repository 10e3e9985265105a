"""Equations of motion: closed forms, agreement of the methods, identities, agreement with the kernels."""

import math

import numpy as np
import pytest
import sympy
from sympy import Rational, cos, pycode, sin

import pliant
import symbolic_robots as small
from pliant.symbolic import Equations
from pliant.symbolic.coordinates import coordinates_of
from pliant.symbolic.methods import METHODS, traced_terms
from random_robots import ONE_DOF, robot_of, state_of
from symbolic_robots import I, I_f, J, M, g, k, l, m, nu

SMALL = {
    "pendulum": small.pendulum(),
    "cart-pole": small.cart_pole(),
    "two-link arm": small.two_link_arm(),
    "series-elastic joint": small.series_elastic_joint(),
    "series-elastic joint with inertia between": small.series_elastic_joint(I_f),
    "arm on a column": small.shoulder_and_elbow(),
}
each_small = pytest.mark.parametrize("robot", SMALL.values(), ids=SMALL)
each_method = pytest.mark.parametrize("method", METHODS)


def at(eq: Equations, formula: sympy.Matrix, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    # shared parts first, and no sorting of long sums
    shared, (flat,) = sympy.cse([formula.as_explicit()], order="none")
    values = {s.name: x for s, x in zip([*eq.q, *eq.v], [*q, *v], strict=True)} | {"math": math}
    for name, e in shared:
        values[name.name] = eval(pycode(e), values)
    return np.array([eval(pycode(e), values) for e in flat], dtype=float).reshape(formula.shape)


# ---- closed forms


@each_method
def test_pendulum(method: str) -> None:
    eq = pliant.equations(small.pendulum(), method)
    (q,), (vd,) = eq.q, eq.vd
    assert eq.M[0] == m * l**2
    assert eq.b[0] == 0
    assert eq.g[0] == m * g * l * sin(q)
    assert eq.tau[0] == m * l**2 * vd + m * g * l * sin(q)
    assert list(eq.Q) == list(eq.u)
    (v,) = eq.v
    assert eq.kinetic == m * l**2 * v**2 / 2
    assert eq.potential == -m * g * l * cos(q)


@each_method
def test_cart_pole(method: str) -> None:
    # (M + m) x'' + 1/2 m l (cos(t) t'' - sin(t) t'^2) = u, 1/3 m l^2 t'' + 1/2 m l cos(t) x'' - 1/2 m g l sin(t) = 0
    # [Barto, Sutton, Anderson 1983, with a pole of uniform mass and no friction]
    eq = pliant.equations(small.cart_pole(), method)
    (_, t), (_, rate), (x_dd, t_dd), (u,) = eq.q, eq.v, eq.vd, eq.u
    assert eq.tau[0] == (M + m) * x_dd + l * m * (cos(t) * t_dd - sin(t) * rate**2) / 2
    assert sympy.expand(eq.tau[1] - (m * l**2 * t_dd / 3 + m * l * cos(t) * x_dd / 2 - m * g * l * sin(t) / 2)) == 0
    assert list(eq.Q) == [u, 0]


@each_method
def test_two_link_arm(method: str) -> None:
    # by hand: link 1 adds m l^2 / 4 + m l^2 / 12 = m l^2 / 3 to M11, link 2 the rest
    eq = pliant.equations(small.two_link_arm(), method)
    (q1, q2), (v1, v2) = eq.q, eq.v
    ml2 = m * l**2
    assert eq.M[0, 0] == ml2 * (Rational(5, 3) + cos(q2))
    assert eq.M[0, 1] == eq.M[1, 0] == ml2 * (Rational(1, 3) + cos(q2) / 2)
    assert eq.M[1, 1] == ml2 / 3
    assert list(eq.b) == [-ml2 * sin(q2) * v2 * (v1 + v2 / 2), ml2 * sin(q2) * v1**2 / 2]
    assert eq.g[0] == -m * g * l * (Rational(3, 2) * sin(q1) + sin(q1 + q2) / 2)
    assert eq.g[1] == -m * g * l * sin(q1 + q2) / 2


@each_method
@pytest.mark.parametrize("between", [0, I_f])
def test_series_elastic_joint(method: str, between: sympy.Expr | int) -> None:
    # the true system, and with If the one that has a body between spring and rotor
    robot = small.series_elastic_joint(between)
    eq = pliant.equations(robot, method, names={"knee_flexibility": "x1", "knee": "x2"})
    (x1, _), (x1_d, _), (x1_dd, x2_dd), (u,) = eq.q, eq.v, eq.vd, eq.u
    assert eq.tau[0] == I * (x1_dd + x2_dd) + between * x1_dd
    assert eq.tau[1] == I * (x1_dd + x2_dd) + J * x2_dd
    assert list(eq.Q) == [-k * x1 - nu * x1_d, u]


def test_series_elastic_joint_made_by_with_flexibility() -> None:
    builder = pliant.RobotBuilder("leg").gravity(0, 0, 0).body("link", inertia=(0, 0, 0, 0, 0, I))
    builder.joint("knee", "revolute", "world", "link").motor("knee", rotor_inertia=J)
    robot = builder.build().with_flexibility("knee", stiffness=k, damping=nu)
    eq = pliant.equations(robot, names={"knee_flexibility": "x1", "knee": "x2"})
    expected = pliant.equations(small.series_elastic_joint(), names={"knee_flexibility": "x1", "knee": "x2"})
    assert (eq.tau, eq.Q) == (expected.tau, expected.Q)


def test_arm_on_a_column_is_written_as_in_textbooks() -> None:
    eq = pliant.equations(small.shoulder_and_elbow())
    _, q2, q3 = eq.q
    names = eq.symbols
    m2, m3, l2, h2, h3 = (names[n] for n in ("m2", "m3", "l2", "h2", "h3"))
    expected = (
        names["I1"] + names["A2"] * sin(q2) ** 2 + names["A3"] * sin(q2 + q3) ** 2
        + (names["B2"] + h2**2 * m2 + l2**2 * m3) * cos(q2) ** 2
        + (names["B3"] + h3**2 * m3) * cos(q2 + q3) ** 2 + 2 * h3 * l2 * m3 * cos(q2) * cos(q2 + q3)
    )  # fmt: skip
    assert eq.M[0, 0] == expected


# ---- the methods and identities


@each_small
def test_methods_agree_symbol_by_symbol(robot: pliant.Robot) -> None:
    first, *others = (pliant.equations(robot, method) for method in METHODS)
    for eq in others:
        assert (eq.M, eq.b, eq.g, eq.Q, eq.C) == (first.M, first.b, first.g, first.Q, first.C)


@each_small
def test_identities(robot: pliant.Robot) -> None:
    eq = pliant.equations(robot)
    q, v = list(eq.q), list(eq.v)

    def is_zero(matrix: sympy.Matrix) -> bool:
        return matrix.applyfunc(pliant.equations(robot, simplify=True)._tidy).is_zero_matrix

    Mdot = sum((eq.M.diff(x) * rate for x, rate in zip(q, v, strict=True)), sympy.zeros(*eq.M.shape))
    assert is_zero(eq.C * eq.v - eq.b)
    assert is_zero(Mdot - eq.C - eq.C.T)
    assert is_zero(sympy.Matrix([eq.potential]).jacobian(q).T - eq.g)
    assert is_zero((eq.v.T * eq.M * eq.v) / 2 - sympy.Matrix([eq.kinetic]))


@each_method
@pytest.mark.parametrize("seed", [3, 4])
def test_methods_agree_with_the_kernels_on_random_trees(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = robot_of([*rng.permutation(ONE_DOF)], [-1, 0, 1, 0], rng, mimic=True)
    eq, state = pliant.equations(robot, method, simplify=False), state_of(robot, seed)
    q, v = state.q, state.v
    # Lagrange's derivatives are sums of up to a thousand terms
    close = {"rtol": 0, "atol": 1e-10}
    g_forces = pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(at(eq, eq.M, q, v), pliant.mass_matrix(robot, q), **close)
    np.testing.assert_allclose(at(eq, eq.g, q, v)[:, 0], g_forces, **close)
    np.testing.assert_allclose(at(eq, eq.b, q, v)[:, 0], pliant.bias_forces(robot, q, v) - g_forces, **close)


@each_method
@pytest.mark.parametrize("name", ["cart-pole", "two-link arm", "arm on a column"])
def test_terms_are_those_of_sympy(name: str, method: str) -> None:
    """Terms by way of the expression graph, in numbers and in symbols."""
    robot = SMALL[name]
    own = coordinates_of(robot)
    found, expected = traced_terms(method, robot, own.q, own.v), METHODS[method](robot, own.q, own.v)
    flat = [[*(e for row in terms.M for e in row), *terms.b, *terms.g] for terms in (found, expected)]
    symbols = sorted(set().union(*(sympy.sympify(e).free_symbols for e in flat[0])), key=str)
    rng = np.random.default_rng(6)
    both = sympy.lambdify(symbols, flat, cse=True)
    for _ in range(3):
        one, two = both(*rng.uniform(0.5, 1.5, len(symbols)))
        # some hundred operations on numbers up to a hundred
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name, method", [
    ("biped", "newton-euler"), ("acrobot", "projected"), *(("arm7", method) for method in METHODS),
])  # fmt: skip
def test_robots_without_simplification(name: str, method: str) -> None:
    eq = small.equations(name, method, simplify=False)
    robot, state = eq.robot, state_of(eq.robot, 3)
    M, b, g, _ = small.python_function(eq.python("dynamics"), "dynamics")(state.q, state.v, [0] * robot.nu)
    h = pliant.bias_forces(robot, state.q, state.v)
    # thousands of operations
    np.testing.assert_allclose(M, pliant.mass_matrix(robot, state.q), rtol=0, atol=1e-11)
    np.testing.assert_allclose(np.add(b, g), h, rtol=0, atol=1e-11 * max(1, abs(h).max()))


def test_symbols_of_a_robot_stay_symbols() -> None:
    raw, tidy = (pliant.equations(pliant.load("two_link_arm"), parameters="all", simplify=s) for s in (False, None))
    assert {s.name for s in raw.parameters} >= {"m_forearm", "l_elbow", "g", "I_forearm_yy"}
    values = {s: 0.3 + 0.1 * k for k, s in enumerate([*tidy.q, *tidy.v, *tidy.parameters])}
    for a, b in zip([*raw.M, *raw.b, *raw.g], [*tidy.M, *tidy.b, *tidy.g], strict=True):
        assert float((a - b).subs(values)) == pytest.approx(0, abs=1e-13)


# ---- frames, names, energies


def test_jacobian_of_a_frame() -> None:
    eq = pliant.equations(small.two_link_arm())
    q1, q2 = eq.q
    J_hand = eq.J("hand")
    assert list(J_hand[0, :]) == [l * (cos(q1) + cos(q1 + q2)), l * cos(q1 + q2)]
    assert list(J_hand[4, :]) == [1, 1]
    assert eq.J("hand", reference="local")[2, 1] == 0
    with pytest.raises(pliant.PliantError, match=r"no frame named 'hnad'.*'hand'"):
        eq.J("hnad")
    with pytest.raises(pliant.PliantError, match="reference"):
        eq.J("hand", reference="global")


def test_parameters_are_those_that_occur() -> None:
    eq = pliant.equations(pliant.load("pendulum"), parameters="all")
    assert {s.name: value for s, value in eq.parameters.items()} == {
        "I_rod_yy": 0.1875, "c_rod": 0.75, "g": 9.81, "m_rod": 1,
    }  # fmt: skip
    assert eq.M.subs(eq.parameters)[0] == pytest.approx(0.75, rel=1e-15)
    assert pliant.equations(pliant.load("pendulum"), parameters=[]).parameters == {}


def test_parameters_without_a_number_stand_for_themselves() -> None:
    eq = pliant.equations(small.pendulum())
    assert eq.parameters == {g: g, l: l, m: m}
    assert eq.M.subs(eq.parameters) == eq.M
    assert eq.text().splitlines()[-1] == "q: hinge, u: hinge"
    assert "| $m$ |" not in eq.markdown()
    assert "*, g, l, m)" in eq.python()
    # some with numbers, some without
    builder = pliant.RobotBuilder("bob").gravity(0, 0, -9.81).body("bob", mass=m, com=(0, 0, -0.5))
    bob = builder.joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0)).build()
    mixed = pliant.equations(bob, parameters="gravity")
    assert mixed.parameters == {m: m, mixed.symbols["g"]: 9.81}
    expected = 0.5 * 9.81 * m * sympy.sin(mixed.q[0])
    assert (mixed.g.subs(mixed.parameters)[0] / expected).evalf() == pytest.approx(1, rel=1e-15)


def test_parameters_by_name() -> None:
    half = {"c_upper_arm": l / 2, "c_forearm": l / 2, "l_elbow": l, "m_upper_arm": m, "m_forearm": m, "g": g}
    inertia = {name: m * l**2 / 12 for name in ("I_upper_arm_yy", "I_forearm_yy")}
    eq = pliant.equations(pliant.load("two_link_arm"), parameters=half | inertia)
    expected = pliant.equations(small.two_link_arm())
    assert (eq.M, eq.b, eq.g) == (expected.M, expected.b, expected.g)
    assert eq.parameters == {g: 9.81, l: 0.5, m: 2.4}
    only = pliant.equations(pliant.load("two_link_arm"), parameters=["masses"])
    assert [s.name for s in only.parameters] == ["m_forearm", "m_upper_arm"]


def test_joints_with_quaternions() -> None:
    robot = small.ball()
    eq, state = pliant.equations(robot), state_of(robot, 2)
    g_forces = pliant.gravity_forces(robot, state.q)
    found = at(eq, eq.C * eq.v + eq.g, state.q, state.v)[:, 0]
    np.testing.assert_allclose(at(eq, eq.g, state.q, state.v)[:, 0], g_forces, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found, pliant.bias_forces(robot, state.q, state.v), rtol=0, atol=1e-13)
    for simplify in (None, False):
        with pytest.raises(pliant.PliantError, match=r"'lagrange'.*'socket' \(spherical\).*rotations='euler'"):
            pliant.equations(robot, "lagrange", simplify=simplify)


# ---- what is wrong is told


@pytest.mark.parametrize("options, message", [
    ({"robot": "arm7"}, "takes a Robot first, not str"),
    ({"robot": pliant.RobotBuilder("rock").body("stone", mass=1).build()}, "'rock' has no joint that moves"),
    ({"method": "lagrangian"}, r"no method named 'lagrangian'.*'lagrange'"),
    ({"rotations": "quaternion"}, "no way to write rotations named 'quaternion'"),
    ({"parameters": "mases"}, r"no symbol named 'mases'.*'masses'"),
    ({"parameters": 5}, "parameters is 5; it takes 'all', a kind of numbers"),
    ({"parameters": [5]}, "no symbol named 5"),
    ({"parameters": {"m_rod": ""}}, "'m_rod' of 'pendulum' cannot be named ''; use letters, digits and _"),
    ({"parameters": {"m_rod": "2x"}}, "cannot be named '2x'"),
    ({"parameters": {"m_rod": "a b"}}, "cannot be named 'a b'"),
    ({"parameters": {"m_rod": "sin"}}, "cannot be named 'sin', which is a function in formulas"),
    ({"parameters": {"m_rod": "play"}}, "cannot be named 'play'"),
    ({"parameters": {"m_rod": None}}, "cannot become None; give a name, or a formula"),
    ({"parameters": {"m_rod": "q"}}, "'q' is a parameter of 'pendulum' and also the name of a coordinate"),
    ({"names": 5}, "names is 5; it takes 'joints', or a name for each joint"),
    ({"names": ["x"]}, "names is .'x'.; it takes 'joints'"),
    ({"names": {5: "x"}}, "no joint with coordinates named 5"),
    ({"names": {"hinge": 5}}, "the coordinate of joint 'hinge' cannot be named 5"),
    ({"names": {"hinge": ""}}, "cannot be named ''"),
    ({"names": {"hinge": "sin"}}, "cannot be named 'sin', which is a function"),
])  # fmt: skip
def test_bad_input(options: dict, message: str) -> None:
    with pytest.raises(pliant.PliantError, match=message):
        pliant.equations(**{"robot": pliant.load("pendulum")} | options)


def test_symbols_with_names_of_functions() -> None:
    builder = pliant.RobotBuilder("p").body("rod", mass=sympy.Symbol("cos", positive=True), com=(0, 0, -1))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    with pytest.raises(pliant.PliantError, match="a parameter of 'p' cannot be named 'cos'"):
        pliant.equations(robot)


def test_hopping_robot_in_flight() -> None:
    # V. Hui (2018), Hopping Robot Document, 2.2.2, M14; the other entries against `mass_matrix`
    robot = pliant.catalogue.hopper_flight(symbols=True)
    eq = pliant.equations(robot)
    assert eq.written(eq.M[0, 3]) == "m2 (l2 + q6)^2 c5 (c2 c3 s4 s5 - c2 c5 s3 + c4 s2 s5)"
    expected = sympy.Matrix(pliant.mass_matrix(robot, list(eq.q)))
    assert all(eq.written(x) == "0" for x in eq.M - expected)


def test_equations_are_frozen_and_take_no_strings() -> None:
    eq = pliant.equations(small.pendulum())
    with pytest.raises(AttributeError):
        eq.M = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        eq.M[0, 0] = 1
    with pytest.raises(pliant.PliantError) as error:
        eq.written("__import__('os').abort()")
    assert error.value.field == "formula"
