"""The mass matrix M by composite rigid bodies, its inverse, and its factor M = L^T D L.

The factor keeps the zeros that the branches of the tree put into M.
"""

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.dynamics.functions import robot_function
from pliant.errors import Call, RobotError
from pliant.robot import Link, Mechanism, Robot
from pliant.robot.flexibilities import check_flexibilities
from pliant.scalar import Expr, Scalar, Scalars, is_constant


@robot_function
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """The mass matrix M(q), nv x nv, symmetric, rotor inertia included.

    Composite rigid bodies [Walker and Orin 1982; Featherstone 2008, 6.2]: column d of M is the force
    felt along the path to the root when dof d alone accelerates all that hangs on it.
    """
    M = composite_inertia(robot, q)
    n = robot.nv
    return [[M[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)]


@robot_function
def mass_matrix_inverse(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """The inverse of the mass matrix, nv x nv, symmetric.

    Columns M^-1 e_d by the factor M = L^T D L, which keeps the zeros of the tree's branches. Only the
    half above the diagonal is taken: row r of a column needs just the rows above it.
    """
    n = robot.nv
    factor = mass_factor(robot, q)
    columns = [factor.solve([1 if e == d else 0 for e in range(n)]) for d in range(n)]
    return [[columns[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)]


def composite_inertia(robot: Robot, q: Scalars) -> list[list[Scalar]]:
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
    for (d, e), arm in mechanism.couplings.items():
        M[d][e] = M[d][e] + arm
    return M


# a pivot of M that is so small next to the diagonal is rounding
_SINGULAR = 1e-13
_checked: weakref.WeakSet[Robot] = weakref.WeakSet()


class Factor:
    """L (unit lower triangle) and 1/D of a mass matrix M = L^T D L.

    Attributes:
        L: rows of L below the diagonal; entry (d, e) is zero unless e supports d.
        D_inverse: one over the diagonal.
        above: for each dof, the dofs between it and the root, downward.
    """

    def __init__(self, L: list[list[Scalar]], D_inverse: list[Scalar], above: Sequence[Sequence[int]]):
        self.L = L
        self.D_inverse = D_inverse
        self.above = above

    def solve(self, b: Scalars) -> list[Scalar]:
        """M^-1 b."""
        return self.velocity(self.half_solve(b))

    def half_solve(self, b: Scalars) -> list[Scalar]:
        """D^-1 L^-T b, which is L x of the solution x."""
        x = list(b)
        # L^-T, from the leaves to the root
        for d in reversed(range(len(x))):
            for e in self.above[d]:
                x[e] = x[e] - self.L[d][e] * x[d]
        return [a * inverse for a, inverse in zip(x, self.D_inverse, strict=True)]

    def velocity(self, w: Scalars) -> list[Scalar]:
        """L^-1 w."""
        x = list(w)
        # from the root to the leaves; the nearest dof last, since it is ready last
        for d in range(len(x)):
            for e in reversed(self.above[d]):
                x[d] = x[d] - self.L[d][e] * x[e]
        return x

    def coordinates(self, v: Scalars) -> list[Scalar]:
        """w = L v."""
        w = list(v)
        for d in range(len(w)):
            for e in self.above[d]:
                w[d] = w[d] + self.L[d][e] * v[e]
        return w


def factorized(mechanism: Mechanism, M: Sequence[Scalars]) -> Factor:
    """Factorize a matrix with the sparsity of the mechanism's mass matrix, from its lower triangle.

    Eliminating from the leaves to the root fills no zero in [Featherstone 2005, "Efficient
    factorization of the joint-space inertia matrix for branched kinematic trees"].
    """
    check_flexibilities(mechanism.robot)
    above = [support[1:] for support in mechanism.support]
    L = [list(row) for row in M]
    D_inverse: list[Scalar] = [0] * len(L)
    for d in reversed(range(len(L))):
        D_inverse[d] = inverse_inertia(mechanism, d, L[d][d])
        share = {e: L[d][e] * D_inverse[d] for e in above[d]}
        for e in above[d]:
            for k in mechanism.support[e]:
                L[e][k] = L[e][k] - share[e] * L[d][k]
        for e in above[d]:
            L[d][e] = share[e]
    return Factor(L, D_inverse, above)


def mass_factor(robot: Robot, q: Scalars) -> Factor:
    """The factor of M(q)."""
    check_regular(robot)
    return factorized(robot.mechanism, composite_inertia(robot, q))


def inverse_inertia(mechanism: Mechanism, d: int, D: Scalar) -> Scalar:
    """1 / D of the inertia felt at dof d; raises if the dof moves nothing, whatever q."""
    value: Any = D
    if isinstance(D, Expr):
        value = D.value if D.op == "const" else None
    if is_constant(value) and value == 0:
        raise _singular(mechanism, d)
    return 1 / D


def check_regular(robot: Robot) -> None:
    """Raise if M is singular, or worse, at any configuration; only of robots whose numbers are known.

    It is looked at in two configurations drawn at random: one alone may be singular by chance.
    """
    check_flexibilities(robot)
    if robot in _checked or not all(_is_known(link) for link in robot.mechanism.links):
        return
    found = [_bad_pivot(robot, seed) for seed in (0, 1)]
    if all(found):
        d, is_negative = found[0]  # type: ignore[misc]
        raise _singular(robot.mechanism, d, is_negative)
    _checked.add(robot)


def _is_known(link: Link) -> bool:
    inertia = link.inertia
    return all(is_constant(x) for x in (inertia.mass, *inertia.h, *inertia.J, *link.armature, *link.placement.p))


def _bad_pivot(robot: Robot, seed: int) -> tuple[int, bool] | None:
    """The first dof, from the ends of the tree, without inertia of its own; and whether it has less than none."""
    lower = composite_inertia(robot, robot.random(seed).tolist())
    if not all(is_constant(x) for row in lower for x in row):
        return None
    M = np.array(lower, dtype=float)
    M = M + np.tril(M, -1).T
    size = np.diag(M).copy()
    for d in reversed(range(len(M))):
        if M[d, d] <= _SINGULAR * size[d]:
            return d, bool(M[d, d] < -1e-9 * max(abs(size[d]), 1e-300))
        M[:d, :d] -= np.outer(M[:d, d], M[d, :d]) / M[d, d]
    return None


def _singular(mechanism: Mechanism, d: int, is_negative: bool = False) -> RobotError:
    """The error for a dof whose acceleration M does not determine."""
    robot = mechanism.robot
    link = next(link for link in mechanism.links if d in link.dofs)
    label = link.kind.v_labels[d - link.dofs[0]]
    subject = f"joint {link.name!r}"
    which = f"{subject} ({label})" if label else subject
    if is_negative:
        problem = f"the mass matrix of robot {robot.name!r} is not positive: {which} has less inertia than none, since "
        problem += "a spinning rotor is heavier than the body that carries it"
        cure = "give that body its inertia with the rotor in it"
        return RobotError(problem, subject=subject, field="inertia", cure=cure)
    problem = f"{which} of robot {robot.name!r} moves no inertia, so its acceleration is not determined (M is singular)"
    cure = f"give body {link.body!r}, or the bodies it carries, an inertia there, or the joint some: "
    if link.name in robot.flexibilities:
        cure += "with_flexibility(..., inertia=1e-4); the default step and implicit midpoint accept the robot as it is"
        return RobotError(problem, subject=subject, field="inertia", cure=cure)
    call = Call("with_joint", link.name, {"armature": 1e-3})
    return RobotError(problem, subject=subject, field="armature", cure=cure + "{call}", call=call)
