"""Solutions with the mass matrix and the Coriolis matrix by articulated bodies, against the matrices themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant
from pliant.dynamics.articulated_coriolis import CoriolisRecursion
from pliant.dynamics.articulated_factor import ArticulatedFactor, inertia_diagonal, is_recursion_cheaper
from pliant.dynamics.coriolis import coriolis_matrix
from pliant.dynamics.joint_space_inertia import composite_inertia, factorized
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot
from random_robots import ALL, close, robot_of, robots, seeds, state_of, turns

ROUNDING = 1e-11  # of sums over a few links
CONDITIONED = 1e-8  # roundings times the condition of M, up to 1e6 here
HELD = tuple(kind for kind in ALL if kind != "free")


def extra_of(robot: Robot, seed: int) -> list[float]:
    return np.random.default_rng(seed).uniform(0, 1, robot.nv).tolist()


@given(robots(mimic=False), seeds, turns)
def test_solutions_are_those_of_the_factor(robot, seed, turn) -> None:
    q, _, _, b = state_of(robot, seed, turn).lists
    extra = extra_of(robot, seed)
    A = composite_inertia(robot, q)
    for d, x in enumerate(extra):
        A[d][d] += x
    found = ArticulatedFactor(robot.mechanism, q, extra)
    close(found.solve(b), factorized(robot.mechanism, A).solve(b), CONDITIONED)
    close(found.solve(b), found.eliminated(b)[1], 0)
    assert found.velocity(found.coordinates(b)) == b


@given(robots(mimic=False), seeds, turns)
def test_a_record_solves_as_what_it_is_of(robot, seed, turn) -> None:
    q, _, _, b = state_of(robot, seed, turn).lists
    made = ArticulatedFactor(robot.mechanism, q, extra_of(robot, seed))
    read = ArticulatedFactor.of_record(robot.mechanism, made.record(), q)
    assert read.solve(b) == made.solve(b)
    assert ArticulatedFactor.of_record(robot.mechanism, made.record()).velocity(b) == b


@given(robots(mimic=False), seeds, turns)
def test_diagonal_of_the_mass_matrix(robot, seed, turn) -> None:
    q = state_of(robot, seed, turn).lists[0]
    M = composite_inertia(robot, q)
    close(
        [row[d] for d, row in enumerate(inertia_diagonal(robot.mechanism, q))],
        [M[d][d] for d in range(robot.nv)],
        ROUNDING,
    )


@given(robots(mimic=True), seeds, turns)
def test_newton_euler_at_rest_without_gravity_is_the_mass_matrix(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    M = np.array(pliant.dynamics.mass_matrix.algorithm(robot, q), float).reshape(robot.nv, robot.nv)
    close(newton_euler(robot, q, [0] * robot.nv, v, has_gravity=False), M @ v, ROUNDING)


@given(robots(HELD, mimic=False, floating=False), seeds, turns, st.floats(0, 3))
def test_recursion_with_coriolis_forces(robot, seed, turn, h) -> None:
    """C x, and (A + h C)^-1 b at any h: its symmetric part is positive as long as M + h Mdot / 2 + extra is."""
    q, u, x, b = state_of(robot, seed, turn).lists
    extra, n = [10 + 10 * x for x in extra_of(robot, seed)], robot.nv
    C = np.array(coriolis_matrix.algorithm(robot, q, u), float).reshape(n, n)
    A = composite_inertia(robot, q)
    full = np.array([[A[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)], float).reshape(n, n)
    K = full + np.diag(extra) + h * C
    recursion = CoriolisRecursion(robot.mechanism, q, u, extra, h)
    close(recursion.times(x), C @ x, ROUNDING)
    found = np.array(recursion.solve(b), float)
    if n and np.linalg.cond(K) < 1e6:
        close(K @ found, b, CONDITIONED)


@pytest.mark.parametrize("joints, is_cheaper", [(1, False), (10, False), (14, False), (15, True), (80, True)])
def test_recursion_is_for_long_chains(joints: int, is_cheaper: bool) -> None:
    rng = np.random.default_rng(0)
    chain = robot_of(["revolute"] * joints, range(-1, joints - 1), rng)
    assert is_recursion_cheaper(chain.mechanism) == is_cheaper
    star = robot_of(["revolute"] * joints, [k - 1 if k % 3 else -1 for k in range(joints)], rng)
    assert not is_recursion_cheaper(star.mechanism), "three joints a leg"


def test_the_choice_takes_fewer_operations() -> None:
    """As counted in compiled code, within the tenth that the estimate may be off."""

    def solution(robot: Robot, is_recursive: bool) -> int:
        def solved(q, extra, b):
            if is_recursive:
                return ArticulatedFactor(robot.mechanism, q, extra).solve(b)
            A = composite_inertia(robot, q)
            for d in range(robot.nv):
                A[d][d] = A[d][d] + extra[d]
            return factorized(robot.mechanism, A).solve(b)

        kernel = pliant.compiler.kernel_from_function(solved, dict.fromkeys(("q", "extra", "b"), (robot.nv,)))
        return sum(kernel.operations().values())

    rng = np.random.default_rng(1)
    for joints, parents in ((8, range(-1, 7)), (18, range(-1, 17)), (18, [-1, *range(8), 0, *range(9, 17)])):
        robot = robot_of(["revolute"] * joints, parents, rng)
        recursion, factor = solution(robot, True), solution(robot, False)
        if is_recursion_cheaper(robot.mechanism):
            assert recursion < 1.1 * factor
        else:
            assert factor < 1.1 * recursion
