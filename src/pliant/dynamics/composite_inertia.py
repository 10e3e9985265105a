"""The mass matrix by composite rigid bodies."""

from collections.abc import Sequence
from typing import Any

from pliant.dynamics.functions import robot_function
from pliant.robot import Robot

__all__ = ["composite_inertia", "mass_matrix"]

Scalar = Any


@robot_function
def mass_matrix(robot: Robot, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix M(q), nv x nv, symmetric, rotor inertia included.

    Composite rigid bodies [Walker and Orin 1982; Featherstone 2008, 6.2]: column d of M is the force
    felt along the path to the root when dof d alone accelerates all that hangs on it.

    Args:
        q: configuration, nq [rad or m].
    """
    M = composite_inertia(robot, q)
    n = robot.nv
    return [[M[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)]


def composite_inertia(robot: Robot, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The lower triangle of M; above it, zeros."""
    mechanism = robot.mechanism
    links = mechanism.links
    X_PB = [link.transform(q) for link in links]
    # inward: what hangs on each link, as one rigid body
    I = [link.inertia for link in links]
    for link in reversed(links):
        if link.parent >= 0:
            I[link.parent] = I[link.parent] + I[link.index].transformed(X_PB[link.index])

    M: list[list[Scalar]] = [[0] * mechanism.nv for _ in range(mechanism.nv)]

    def add(d: int, e: int, value: Scalar, own: bool) -> None:
        if d == e and not own:  # a leader and its mimic on one path: entries (i, j) and (j, i) of the tree
            value = 2 * value
        M[max(d, e)][min(d, e)] = M[max(d, e)][min(d, e)] + value

    for link in links:
        for k, (d, S) in enumerate(zip(link.dofs, link.kind.columns, strict=True)):
            f = I[link.index] @ S
            for e, force in zip(link.dofs[: k + 1], link.kind.project(f)[: k + 1], strict=True):
                add(d, e, link.ratio * link.ratio * force, own=True)
            # up the path to the root
            j = link
            while j.parent >= 0:
                f = X_PB[j.index].act(f)
                j = links[j.parent]
                for e, force in zip(j.dofs, j.kind.project(f), strict=True):
                    add(d, e, link.ratio * j.ratio * force, own=False)
    for d, arm in enumerate(mechanism.armature):
        M[d][d] = M[d][d] + arm
    return M
