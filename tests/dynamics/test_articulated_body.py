"""Forward dynamics: the inverse of inverse dynamics on random trees, and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given

from pliant.dynamics import bias_forces, forward_dynamics, inverse_dynamics, mass_matrix
from pliant.dynamics.articulated_body import mass_matrix_solution
from pliant.dynamics.joint_space_inertia import composite_inertia, factorized
from pliant.robot import Mimic, RobotBuilder
from random_robots import close, robots, seeds, state_of, turns

CONDITIONED = 1e-8  # roundings times the condition of M, up to 1e6 here


@given(robots(most=8), seeds, turns)
def test_forward_after_inverse_is_the_identity(robot, seed, turn) -> None:
    q, v, vd, tau = state_of(robot, seed, turn).lists
    close(forward_dynamics.algorithm(robot, q, v, inverse_dynamics.algorithm(robot, q, v, vd)), vd, CONDITIONED)
    acceleration = forward_dynamics.algorithm(robot, q, v, tau)
    close(inverse_dynamics.algorithm(robot, q, v, acceleration), tau, CONDITIONED)


@given(robots(), seeds, turns)
def test_articulated_bodies_agree_with_the_factor(robot, seed, turn) -> None:
    q, _, _, force = state_of(robot, seed, turn).lists
    close(
        mass_matrix_solution.algorithm(robot, q, force),
        factorized(robot.mechanism, composite_inertia(robot, q)).solve(force),
        1e-8,
    )


def test_massless_links_between_joints() -> None:
    # a universal joint: two axes cross on a link without mass, as for a flexibility
    builder = (
        RobotBuilder("gimbal").body("cross").body("load", mass=1, com=(0, 0, -1), inertia=(0.1, 0, 0, 0.2, 0, 0.3))
    )
    builder.joint("x", "revolute", "world", "cross", axis=(1, 0, 0))
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
