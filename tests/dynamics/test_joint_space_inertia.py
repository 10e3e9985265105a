"""The mass matrix, its factor and its inverse, and forward dynamics: on random trees and in closed form."""

import math

import numpy as np
import pytest
from hypothesis import given

from pliant.dynamics import (
    bias_forces, forward_dynamics, frame_jacobian, inverse_dynamics, mass_matrix, mass_matrix_inverse,
    mass_matrix_solution,
)  # fmt: skip
from pliant.dynamics.joint_space_inertia import composite_inertia, factorized
from pliant.robot import Mimic, RobotBuilder
from random_robots import close, robot_of, robots, seeds, state_of, turns

ROUNDING = 1e-11  # of sums over a few links
CONDITIONED = 1e-8  # roundings times the condition of M, up to 1e6 here


@given(robots(), seeds, turns)
def test_columns_are_forces_of_unit_accelerations(robot, seed, turn) -> None:
    robot = robot.with_gravity(0, 0, 0)
    q, zero = state_of(robot, seed, turn).lists[0], [0] * robot.nv
    columns = [inverse_dynamics.algorithm(robot, q, zero, unit) for unit in np.eye(robot.nv).tolist()]
    close(mass_matrix.algorithm(robot, q), columns, ROUNDING)


@given(robots(), seeds, turns)
def test_it_is_symmetric_and_positive(robot, seed, turn) -> None:
    q = state_of(robot, seed, turn).lists[0]
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float)
    assert (M == M.T).all()
    assert robot.nv == 0 or np.linalg.eigvalsh(M).min() > 0


@given(robots(mimic=False), seeds)
def test_entries_between_branches_are_structural_zeros(robot, seed) -> None:
    M = composite_inertia(robot, state_of(robot, seed).lists[0])
    for d, support in enumerate(robot.mechanism.support):
        assert all(type(M[d][e]) is int and M[d][e] == 0 for e in range(d) if e not in support)


def test_double_pendulum() -> None:
    # point masses at the ends of massless rods, both angles absolute in [Goldstein, 1.6]; here the second is relative
    m1, m2, l1, l2, q = 1.5, 0.8, 0.9, 0.6, [0.4, -1.1]
    builder = RobotBuilder("double").body("a", mass=m1, com=(0, 0, -l1)).body("b", mass=m2, com=(0, 0, -l2))
    builder.joint("one", "revolute", "world", "a", axis=(0, 1, 0))
    robot = builder.joint("two", "revolute", "a", "b", (0, 0, -l1), axis=(0, 1, 0)).build()
    cross = m2 * l1 * l2 * math.cos(q[1])
    both = m2 * l2**2 + cross
    expected = [[(m1 + m2) * l1**2 + m2 * l2**2 + 2 * cross, both], [both, m2 * l2**2]]
    np.testing.assert_allclose(mass_matrix(robot, q), expected, rtol=1e-14)


def test_rotor_of_a_geared_motor_adds_to_the_diagonal() -> None:
    builder = RobotBuilder("wheel").body("wheel", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    robot = builder.joint("axle", "continuous", "world", "wheel", armature=0.5).build()
    assert mass_matrix(robot, [0.0]) == pytest.approx(1.5)
    assert mass_matrix(robot.with_motor("axle", gear=10, rotor_inertia=0.02), [0.0]) == pytest.approx(3.5)


def test_mass_felt_at_a_frame() -> None:
    # a mass at the end of an arm: M = J^T m J
    builder = RobotBuilder("crane").body("boom").body("load", mass=2)
    builder.joint("slew", "revolute", "world", "boom")
    robot = builder.joint("reach", "prismatic", "boom", "load", (0.5, 0, 0.2), axis=(1, 0, 0)).build()
    J = frame_jacobian(robot, [0.3, 0.7], "load")[:3]
    np.testing.assert_allclose(mass_matrix(robot, [0.3, 0.7]), 2 * J.T @ J, atol=1e-14)


# ---- the factor M = L^T D L


@given(robots(most=8), seeds)
def test_it_is_one_and_solves(robot, seed) -> None:
    q, _, _, b = state_of(robot, seed).lists
    n = robot.nv
    M = np.array(composite_inertia(robot, q), dtype=float).reshape(n, n)
    M = M + np.tril(M, -1).T
    factor = factorized(robot.mechanism, composite_inertia(robot, q))
    L = np.eye(n) + np.tril(np.array(factor.L, dtype=float).reshape(n, n), -1)
    close(L.T @ np.diag([1 / d for d in factor.D_inverse]) @ L, M, 1e-12)
    close(M @ factor.solve(b), b, 1e-9)


@given(robots(most=8, mimic=False), seeds)
def test_no_zero_is_filled_in(robot, seed) -> None:
    factor = factorized(robot.mechanism, composite_inertia(robot, state_of(robot, seed).lists[0]))
    for d, support in enumerate(robot.mechanism.support):
        assert all(type(factor.L[d][e]) is int and factor.L[d][e] == 0 for e in range(d) if e not in support)


# ---- the inverse of the mass matrix and its products


@given(robots(), seeds, turns)
def test_inverse_of_the_mass_matrix(robot, seed, turn) -> None:
    q, _, _, force = state_of(robot, seed, turn).lists
    n = robot.nv
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float).reshape(n, n)
    inverse = np.array(mass_matrix_inverse.algorithm(robot, q), dtype=float).reshape(n, n)
    close(M @ inverse, np.eye(n), CONDITIONED)
    assert (inverse == inverse.T).all()
    solution = mass_matrix_solution.algorithm(robot, q, force)
    close(solution, inverse @ force, CONDITIONED)
    close(solution, factorized(robot.mechanism, composite_inertia(robot, q)).solve(force), CONDITIONED)


def test_inverse_between_branches_of_a_fixed_base_is_zero() -> None:
    robot = robot_of(["revolute", "revolute"], [-1, -1], np.random.default_rng(0))
    assert mass_matrix_inverse.algorithm(robot, [0.1, 0.2])[1][0] == 0


# ---- forward dynamics: the inverse of inverse dynamics on random trees, and closed forms


@given(robots(most=8), seeds, turns)
def test_forward_after_inverse_is_the_identity(robot, seed, turn) -> None:
    q, v, vd, tau = state_of(robot, seed, turn).lists
    close(forward_dynamics.algorithm(robot, q, v, inverse_dynamics.algorithm(robot, q, v, vd)), vd, CONDITIONED)
    acceleration = forward_dynamics.algorithm(robot, q, v, tau)
    close(inverse_dynamics.algorithm(robot, q, v, acceleration), tau, CONDITIONED)


def test_massless_links_between_joints() -> None:
    # a universal joint: two axes cross on a link without mass, as for a flexibility
    builder = RobotBuilder("gimbal").body("cross").joint("x", "revolute", "world", "cross", axis=(1, 0, 0))
    builder.body("load", mass=1, com=(0, 0, -1), inertia=(0.1, 0, 0, 0.2, 0, 0.3))
    robot = builder.joint("y", "revolute", "cross", "load", axis=(0, 1, 0)).build(strict=False)
    q, v, tau = np.array([0.3, -0.5]), np.array([1.0, 2.0]), np.array([0.1, 0.4])
    expected = np.linalg.solve(mass_matrix(robot, q), tau - bias_forces(robot, q, v))
    np.testing.assert_allclose(forward_dynamics(robot, q, v, tau), expected, rtol=1e-12)


def test_atwood_machine_by_mimic() -> None:
    # two masses on one rope: qdd = g (m2 - m1) / (m1 + m2 + J / r^2) [any textbook]; the rotor is the pulley
    m1, m2, pulley = 2.0, 3.0, 0.5
    builder = RobotBuilder("atwood").body("left", mass=m1).body("right", mass=m2)
    builder.joint("up", "prismatic", "world", "left", armature=pulley)
    robot = builder.joint("down", "prismatic", "world", "right", mimic=Mimic("up", -1)).build()
    assert robot.nv == 1
    expected = 9.81 * (m2 - m1) / (m1 + m2 + pulley)
    assert forward_dynamics(robot, [0.2], [0.1], [0.0]) == pytest.approx([expected], rel=1e-14)


def test_elastic_joint_without_inertia_of_its_own() -> None:
    # a true series-elastic joint: I (x1'' + x2'') = -k x1 - nu x1' + f and I (x1'' + x2'') + J x2'' = u + f
    inertia, rotor, spring, u = 0.1, 1.0, -3.0, 2.0
    builder = RobotBuilder("elastic").body("rotor").body("arm", inertia=(0, 0, 0, 0, 0, inertia))
    builder.joint("motor", "revolute", "world", "rotor", armature=rotor)
    robot = builder.joint("spring", "revolute", "rotor", "arm").build(strict=False)
    x2, x1 = forward_dynamics(robot, [0.1, 0.3], [0.0, 0.0], [u, spring])
    assert inertia * (x1 + x2) == pytest.approx(spring)
    assert inertia * (x1 + x2) + rotor * x2 == pytest.approx(u)


def test_cart_pole() -> None:
    # Florian (2007), "Correct equations for the dynamics of the cart-pole system", eqs. 23 and 24 without friction;
    # the angle is from upright, a pole of half length l about its centre has m l^2 / 3
    M, m, l, g, F, q, v = 1.0, 0.1, 0.5, 9.81, 3.0, 0.4, -0.7
    builder = RobotBuilder("cart-pole").body("cart", mass=M)
    builder.body("pole", mass=m, com=(0, 0, l), inertia=(m * l * l / 3, 0, 0, m * l * l / 3, 0, 0))
    builder.joint("slider", "prismatic", "world", "cart", axis=(1, 0, 0))
    robot = builder.joint("hinge", "continuous", "cart", "pole", axis=(0, 1, 0)).build(strict=False)
    s, c = math.sin(q), math.cos(q)
    angular = (g * s + c * (-F - m * l * v * v * s) / (M + m)) / (l * (4 / 3 - m * c * c / (M + m)))
    linear = (F + m * l * (v * v * s - angular * c)) / (M + m)
    np.testing.assert_allclose(forward_dynamics(robot, [0.2, q], [0.3, v], [F, 0]), [linear, angular], rtol=1e-13)
