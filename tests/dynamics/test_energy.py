"""Kinetic and potential energy."""

import numpy as np
import pytest
from hypothesis import given, settings

from pliant.dynamics import center_of_mass, energy, kinetic_energy, mass_matrix, potential_energy
from pliant.robot import RobotBuilder
from random_robots import close, robots, seeds, state_of, turns

many = settings(max_examples=100)


@many
@given(robots(), seeds, turns)
def test_kinetic_energy_is_that_of_the_mass_matrix(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float).reshape(robot.nv, robot.nv)
    close(kinetic_energy.algorithm(robot, q, v), v @ M @ v / 2, 1e-12)


@many
@given(robots(floating=True), seeds, turns)
def test_potential_energy_is_that_of_the_centre_of_mass(robot, seed, turn) -> None:
    q = state_of(robot, seed, turn).lists[0]
    g = np.array([float(x) for x in robot.gravity])
    close(potential_energy.algorithm(robot, q), -robot.mass * g @ center_of_mass.algorithm(robot, q), 1e-12)


def test_both_together_and_in_batches() -> None:
    # a ball of 2 kg at 3 m, thrown with 5 m/s and spinning with 4 rad/s
    builder = RobotBuilder("ball").body("ball", mass=2, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    robot = builder.build(base="free")
    q, v = np.tile([0, 0, 3.0, 0, 0, 0, 1], (3, 1)), np.tile([3.0, 4, 0, 0, 0, 4], (3, 1))
    found = energy(robot, q, v)
    np.testing.assert_allclose(found.kinetic, [25 + 0.8] * 3)
    np.testing.assert_allclose(found.potential, [2 * 9.81 * 3] * 3)
    assert kinetic_energy(robot, q[0], v[0]) == pytest.approx(25.8)
    assert potential_energy(robot, q[0]) == pytest.approx(58.86)
