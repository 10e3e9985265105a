"""The inverse of the mass matrix and its products."""

import numpy as np
from hypothesis import given, settings

from pliant.dynamics import mass_matrix, mass_matrix_inverse, mass_matrix_solution
from random_robots import close, robot_of, robots, seeds, state_of, turns

CONDITIONED = 1e-8  # roundings times the condition of M, up to 1e6 here
many = settings(max_examples=100)


@many
@given(robots(), seeds, turns)
def test_inverse_of_the_mass_matrix(robot, seed, turn) -> None:
    q, _, _, force = state_of(robot, seed, turn).lists
    n = robot.nv
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float).reshape(n, n)
    inverse = np.array(mass_matrix_inverse.algorithm(robot, q), dtype=float).reshape(n, n)
    close(M @ inverse, np.eye(n), CONDITIONED)
    assert (inverse == inverse.T).all()
    close(mass_matrix_solution.algorithm(robot, q, force), inverse @ force, CONDITIONED)


def test_inverse_between_branches_of_a_fixed_base_is_zero() -> None:
    robot = robot_of(["revolute", "revolute"], [-1, -1], np.random.default_rng(0))
    assert mass_matrix_inverse.algorithm(robot, [0.1, 0.2])[1][0] == 0
