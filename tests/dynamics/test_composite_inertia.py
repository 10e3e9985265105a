"""The mass matrix: identities on random trees, and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from pliant.dynamics import frame_jacobian, inverse_dynamics, mass_matrix
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.robot import RobotBuilder
from random_robots import close, robots, seeds, state_of, turns

ROUNDING = 1e-11  # of sums over a few links
many = settings(max_examples=100)


@many
@given(robots(), seeds, turns)
def test_columns_are_forces_of_unit_accelerations(robot, seed, turn) -> None:
    robot = robot.with_gravity(0, 0, 0)
    q, zero = state_of(robot, seed, turn).lists[0], [0] * robot.nv
    columns = [inverse_dynamics.algorithm(robot, q, zero, unit) for unit in np.eye(robot.nv).tolist()]
    close(mass_matrix.algorithm(robot, q), columns, ROUNDING)


@many
@given(robots(), seeds, turns)
def test_it_is_symmetric_and_positive(robot, seed, turn) -> None:
    q = state_of(robot, seed, turn).lists[0]
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float)
    assert (M == M.T).all()
    assert robot.nv == 0 or np.linalg.eigvalsh(M).min() > 0


@many
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
