"""Inverse dynamics, the Coriolis matrix and the second route to M, b and g."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given

from pliant.dynamics import (
    bias_forces, coriolis_matrix, energy, forward_dynamics, frame_jacobian, gravity_forces, inverse_dynamics,
    mass_matrix, projected_newton_euler,
)  # fmt: skip
from pliant.robot import RobotBuilder
from random_robots import ONE_DOF, close, gradient, rate, robots, seeds, state_of, turns

ROUNDING = 1e-11  # of sums over a few links
DIFFERENCES = 1e-7  # see random_robots.rate


@given(robots(), seeds, turns)
def test_bias_and_gravity_are_special_cases(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    zero = [0] * robot.nv
    close(bias_forces.algorithm(robot, q, v), inverse_dynamics.algorithm(robot, q, v, zero), ROUNDING)
    close(gravity_forces.algorithm(robot, q), inverse_dynamics.algorithm(robot, q, zero, zero), ROUNDING)


@given(robots(), seeds, turns)
def test_force_is_linear_in_the_acceleration(robot, seed, turn) -> None:
    q, v, vd, _ = state_of(robot, seed, turn).lists
    M, h = np.array(mass_matrix.algorithm(robot, q)).reshape(robot.nv, robot.nv), bias_forces.algorithm(robot, q, v)
    close(inverse_dynamics.algorithm(robot, q, v, vd), M @ vd + h, ROUNDING)


@given(robots(), seeds, turns)
def test_power_in_is_the_rate_of_energy(robot, seed, turn) -> None:
    state = state_of(robot, seed, turn)
    q, v, vd, _ = state.lists
    tau = inverse_dynamics.algorithm(robot, q, v, vd)
    close(rate(lambda q, v: sum(energy.algorithm(robot, q, v)), robot, state), np.dot(tau, v), DIFFERENCES)


@given(robots(), seeds, turns)
def test_external_forces_are_those_of_the_bodies_jacobians(robot, seed, turn) -> None:
    q, v, vd, _ = state_of(robot, seed, turn).lists
    f = np.random.default_rng(seed).standard_normal((len(robot.bodies), 6))
    J = [frame_jacobian.algorithm(robot, q, name, reference="local") for name in robot.bodies]
    expected = inverse_dynamics.algorithm(robot, q, v, vd) - sum(np.array(a).T @ b for a, b in zip(J, f, strict=True))
    close(inverse_dynamics.algorithm(robot, q, v, vd, external=f.tolist()), expected, ROUNDING)
    # and back, to roundings times the condition of M
    close(forward_dynamics.algorithm(robot, q, v, expected.tolist(), external=f.tolist()), vd, 1e-8)


def test_pendulum() -> None:
    # m l^2 qdd + m g l sin q = tau, for a point mass (any textbook)
    m, l, g = 2, 0.7, 9.81
    builder = RobotBuilder("pendulum").body("bob", mass=m, com=(0, 0, -l))
    robot = builder.joint("pivot", "revolute", "world", "bob", axis=(0, 1, 0)).build()
    tau = inverse_dynamics(robot, [0.3], [5.0], [1.5])
    assert tau == pytest.approx([m * l * l * 1.5 + m * g * l * math.sin(0.3)], rel=1e-14)


def test_free_body_obeys_euler() -> None:
    # moment = I wd + w x I w about the centre of mass, force = m (a + w x v) in the body's frame [Goldstein, 5.5]
    inertia, m = np.diag([1.0, 2, 2.5]), 3.0
    builder = RobotBuilder("brick").body("brick", mass=m, inertia=(1, 0, 0, 2, 0, 2.5)).gravity(0, 0, 0)
    robot = builder.build(base="free")
    v, vd = np.random.default_rng(0).standard_normal((2, 6))
    w = v[3:]
    tau = inverse_dynamics(robot, robot.random(1), v, vd)
    np.testing.assert_allclose(tau[:3], m * (vd[:3] + np.cross(w, v[:3])), rtol=1e-13)
    np.testing.assert_allclose(tau[3:], inertia @ vd[3:] + np.cross(w, inertia @ w), rtol=1e-13)


# ---- the Coriolis matrix: its two identities, Christoffel symbols, and a closed form


@given(robots(), seeds, turns)
def test_it_gives_the_velocity_part_of_the_bias(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    C = np.reshape(coriolis_matrix.algorithm(robot, q, v), (robot.nv, robot.nv))
    close(C @ v + gravity_forces.algorithm(robot, q), bias_forces.algorithm(robot, q, v), ROUNDING)


@given(robots(), seeds, turns)
def test_rate_of_mass_matrix_minus_twice_it_is_skew(robot, seed, turn) -> None:
    state, n = state_of(robot, seed, turn), robot.nv
    C = np.reshape(coriolis_matrix.algorithm(robot, *state.lists[:2]), (n, n))
    Mdot = rate(lambda q, _: mass_matrix.algorithm(robot, q), robot, state).reshape(n, n)
    skew = Mdot - 2 * C
    close(skew + skew.T, np.zeros((n, n)), DIFFERENCES * max(1, abs(Mdot).max(initial=0)))


@given(robots((*ONE_DOF, "fixed"), most=5, floating=False), seeds)
def test_it_is_made_of_christoffel_symbols(robot, seed) -> None:
    # C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_kj/dq_i) v_k, where v are the rates of q
    state = state_of(robot, seed)
    if robot.nv:
        D = gradient(lambda q: mass_matrix.algorithm(robot, q), robot, state.q)
        symbols = (D + D.transpose(0, 2, 1) - D.transpose(2, 1, 0)) / 2
        close(coriolis_matrix.algorithm(robot, *state.lists[:2]), symbols @ state.v, DIFFERENCES)


def test_two_link_arm() -> None:
    # Siciliano et al. (2009), Robotics, 7.3.2: C = [[h v2, h (v1 + v2)], [-h v1, 0]], h = -m2 a1 l2 sin q2
    m2, a1, l2, q, v = 1.3, 0.8, 0.4, [0.5, 0.9], [1.1, -0.6]
    builder = RobotBuilder("arm").body("upper", mass=2, com=(0.3, 0, 0)).body("lower", mass=m2, com=(l2, 0, 0))
    builder.joint("shoulder", "revolute", "world", "upper")
    robot = builder.joint("elbow", "revolute", "upper", "lower", (a1, 0, 0)).build(strict=False)
    h = -m2 * a1 * l2 * math.sin(q[1])
    expected = [[h * v[1], h * (v[0] + v[1])], [-h * v[0], 0]]
    np.testing.assert_allclose(coriolis_matrix(robot, q, v), expected, atol=1e-14)


# ---- the second route to M, b and g agrees with the first, and with the equations of a two-link arm


@given(robots(), seeds, turns)
def test_both_routes_agree(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    found = projected_newton_euler.algorithm(robot, q, v)
    close(found.M, mass_matrix.algorithm(robot, q), ROUNDING)
    close(found.g, gravity_forces.algorithm(robot, q), ROUNDING)
    close(np.add(found.b, found.g), bias_forces.algorithm(robot, q, v), ROUNDING)


def test_arm_of_slender_rods() -> None:
    # uniform rods of mass m and length l, turning about y, the second angle relative to the first
    m, l, g, q1, q2, v1, v2 = sympy.symbols("m l g q1 q2 v1 v2", positive=True)
    rod = m * l**2 / 12
    builder = RobotBuilder("arm").gravity(0, 0, -g)
    for name in ("upper", "lower"):
        builder.body(name, mass=m, com=(0, 0, l / 2), inertia=(rod, 0, 0, rod, 0, 0))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    robot = builder.joint("elbow", "revolute", "upper", "lower", (0, 0, l), axis=(0, 1, 0)).build()
    found = projected_newton_euler(robot, [q1, q2], [v1, v2])
    third, c = sympy.Rational(1, 3), sympy.cos(q2)
    M12 = m * l**2 * (third + c / 2)
    expected = sympy.Matrix([[m * l**2 * (5 * third + c), M12], [M12, m * l**2 / 3]])
    assert sympy.simplify(sympy.Matrix(found.M) - expected) == sympy.zeros(2)
    s = m * l**2 * sympy.sin(q2) / 2
    b = sympy.Matrix([-s * (2 * v1 * v2 + v2**2), s * v1**2])
    assert sympy.simplify(sympy.Matrix(found.b) - b) == sympy.zeros(2, 1)
    lower = -m * g * l * sympy.sin(q1 + q2) / 2
    weight = sympy.Matrix([-3 * m * g * l * sympy.sin(q1) / 2 + lower, lower])
    assert sympy.simplify(sympy.Matrix(found.g) - weight) == sympy.zeros(2, 1)
    # alone, the upper link's share of M11 is m l^2 / 3
    alone = RobotBuilder("rod").body("upper", mass=m, com=(0, 0, l / 2), inertia=(rod, 0, 0, rod, 0, 0))
    single = alone.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)).build()
    assert sympy.simplify(projected_newton_euler(single, [q1], [v1]).M[0, 0] - m * l**2 / 3) == 0
