"""The Coriolis matrix: its two identities, Christoffel symbols, and a closed form."""

import math

import numpy as np
from hypothesis import given, settings

from pliant.dynamics import bias_forces, coriolis_matrix, gravity_forces, mass_matrix
from pliant.robot import RobotBuilder
from random_robots import ONE_DOF, close, gradient, rate, robots, seeds, state_of, turns

ROUNDING = 1e-11
DIFFERENCES = 1e-7  # see random_robots.rate
many = settings(max_examples=100)


def array(rows: list, n: int) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(n, n)


@many
@given(robots(), seeds, turns)
def test_it_gives_the_velocity_part_of_the_bias(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    C = array(coriolis_matrix.algorithm(robot, q, v), robot.nv)
    close(C @ v + gravity_forces.algorithm(robot, q), bias_forces.algorithm(robot, q, v), ROUNDING)


@many
@given(robots(), seeds, turns)
def test_rate_of_mass_matrix_minus_twice_it_is_skew(robot, seed, turn) -> None:
    state, n = state_of(robot, seed, turn), robot.nv
    C = array(coriolis_matrix.algorithm(robot, *state.lists[:2]), n)
    Mdot = rate(lambda q, _: mass_matrix.algorithm(robot, q), robot, state).reshape(n, n)
    skew = Mdot - 2 * C
    close(skew + skew.T, np.zeros((n, n)), DIFFERENCES * max(1, abs(Mdot).max(initial=0)))


@many
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
