"""The inverse of the mass matrix, and its product with a force."""

from collections.abc import Sequence
from typing import Any

from pliant.dynamics.articulated_body import accelerations
from pliant.dynamics.factor import mass_factor
from pliant.dynamics.functions import robot_function
from pliant.robot import Robot

__all__ = ["mass_matrix_inverse", "mass_matrix_solution"]

Scalar = Any


@robot_function
def mass_matrix_inverse(robot: Robot, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The inverse of the mass matrix, nv x nv, symmetric.

    Columns M^-1 e_d by the factor M = L^T D L, which keeps the zeros of the tree's branches. Only the
    half above the diagonal is taken: row r of a column needs just the rows above it.

    Args:
        q: configuration, nq [rad or m].
    """
    n = robot.nv
    factor = mass_factor(robot, q)
    columns = [factor.solve([1 if e == d else 0 for e in range(n)]) for d in range(n)]
    return [[columns[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)]


@robot_function
def mass_matrix_solution(robot: Robot, q: Sequence[Scalar], force: Sequence[Scalar]) -> list[Scalar]:
    """The solution x of M(q) x = force, nv: what a force changes in vd, or an impulse in v.

    By articulated bodies, without M itself.

    Args:
        q: configuration, nq [rad or m].
        force: joint forces or impulses, nv [N m or N; N m s or N s].
    """
    return accelerations(robot, q, force)
