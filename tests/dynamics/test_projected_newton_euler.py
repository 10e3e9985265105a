"""The second route to M, b and g agrees with the first, and with the equations of a two-link arm."""

import numpy as np
import sympy
from hypothesis import given, settings

from pliant.dynamics import bias_forces, gravity_forces, mass_matrix, projected_newton_euler
from pliant.robot import RobotBuilder
from random_robots import close, robots, seeds, state_of, turns

ROUNDING = 1e-11


@settings(max_examples=100)
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
