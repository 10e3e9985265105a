"""The factor M = L^T D L."""

import numpy as np
from hypothesis import given, settings

from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.joint_space_inertia import factorized
from random_robots import close, robots, seeds, state_of


@settings(max_examples=100)
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


@settings(max_examples=100)
@given(robots(most=8, mimic=False), seeds)
def test_no_zero_is_filled_in(robot, seed) -> None:
    factor = factorized(robot.mechanism, composite_inertia(robot, state_of(robot, seed).lists[0]))
    for d, support in enumerate(robot.mechanism.support):
        assert all(type(factor.L[d][e]) is int and factor.L[d][e] == 0 for e in range(d) if e not in support)
