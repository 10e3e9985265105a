"""Rows: directions along which the solver's impulses act, eliminated against the mass matrix.

With A = L^T D L the matrix of the step, a row of the Jacobian J becomes Y = L^-T J^T. In the
coordinates w = L v, the velocity along the row is Y . w, and an impulse p along it changes w by
D^-1 Y p. Both need only the dofs between the world and the bodies that touch: neither M^-1 nor the
matrix J A^-1 J^T is ever formed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pliant.robot import Mechanism
from pliant.scalar import select
from pliant.spatial import Motion, Symmetric3, Transform, Vector

__all__ = [
    "dot", "eliminated", "moved", "point_columns", "relative", "row_matrix", "scaled", "support_of", "tangents_of",
    "turn_columns",
]  # fmt: skip

Scalar = Any
Columns = dict[int, Vector]

_SUMS = 4


def support_of(mechanism: Mechanism, links: Iterable[int]) -> tuple[int, ...]:
    """The dofs that move one of the links, or whose elimination is felt there, the last one first."""
    dofs = {
        e
        for i in links
        if i >= 0
        for j in (i, *mechanism.ancestors(i))
        for d in mechanism.links[j].dofs
        for e in mechanism.support[d]
    }
    return tuple(sorted(dofs, reverse=True))


def point_columns(mechanism: Mechanism, poses: Sequence[Transform], i: int, p: Vector) -> Columns:
    """Velocity of the point of link i that is at p, for each dof at unit rate; in the axes of the poses."""
    return {d: motion.linear for d, motion in _columns(mechanism, poses, i, p).items()}


def turn_columns(mechanism: Mechanism, poses: Sequence[Transform], i: int) -> Columns:
    """Angular velocity of link i, for each dof at unit rate."""
    return {d: motion.angular for d, motion in _columns(mechanism, poses, i, Vector.zero()).items()}


def _columns(mechanism: Mechanism, poses: Sequence[Transform], i: int, p: Vector) -> dict[int, Motion]:
    found: dict[int, Motion] = {}
    for j in (i, *mechanism.ancestors(i)) if i >= 0 else ():
        link = mechanism.links[j]
        X = Transform(poses[j].R, poses[j].p - p)
        for d, S in zip(link.dofs, link.kind.columns, strict=True):
            column = X.act(S) * link.ratio
            found[d] = found[d] + column if d in found else column
    return found


def relative(a: Columns, b: Columns) -> Columns:
    """The columns of a point of one body as seen from a point of another."""
    found = dict(a)
    for d, column in b.items():
        found[d] = found[d] - column if d in found else -column
    return found


def eliminated(
    L: Mapping[int, Mapping[int, Scalar]], support: Sequence[int], columns: Columns, direction: Vector
) -> list[Scalar]:
    """Y = L^-T J^T of the row J = direction . columns, one entry for each dof of ``support``."""
    Y = {d: direction.dot(columns[d]) if d in columns else 0 for d in support}
    for d in support:  # from the leaves to the root
        for e, entry in L[d].items():
            Y[e] = Y[e] - entry * Y[d]
    return [Y[d] for d in support]


def scaled(Y: Sequence[Scalar], support: Sequence[int], D_inverse: Sequence[Scalar]) -> list[Scalar]:
    """D^-1 Y."""
    return [D_inverse[d] * y for d, y in zip(support, Y, strict=True)]


def dot(Y: Sequence[Scalar], support: Sequence[int], w: Sequence[Scalar]) -> Scalar:
    """Y . w, the velocity along the row; as a few sums side by side, since visits wait for one another."""
    sums: list[Scalar] = [0] * _SUMS
    for k, (d, y) in enumerate(zip(support, Y, strict=True)):
        sums[k % _SUMS] = sums[k % _SUMS] + y * w[d]
    while len(sums) > 1:
        sums = [sum(sums[k : k + 2], 0) for k in range(0, len(sums), 2)]
    return sums[0]


def moved(
    w: Sequence[Scalar], support: Sequence[int], DY: Sequence[Sequence[Scalar]], impulse: Sequence[Scalar]
) -> list[Scalar]:
    """w after impulses along rows: w + D^-1 Y p."""
    out = list(w)
    for k, d in enumerate(support):
        for row, p in zip(DY, impulse, strict=True):
            out[d] = out[d] + row[k] * p
    return out


def row_matrix(Y: Sequence[Sequence[Scalar]], DY: Sequence[Sequence[Scalar]]) -> Symmetric3:
    """G = Y D^-1 Y^T of three rows: how their velocities answer to their impulses."""
    entries = [sum((a * b for a, b in zip(Y[r], DY[c], strict=True)), 0) for r in range(3) for c in range(r, 3)]
    return Symmetric3(*entries)


def tangents_of(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame with a normal, without a branch.

    [Duff et al. 2017, "Building an orthonormal basis, revisited"]; for (0, 0, 1) they are x and y.
    """
    sign = select(normal.z >= 0, 1, -1)
    a = -1 / (sign + normal.z)
    b = normal.x * normal.y * a
    return (
        Vector(1 + sign * normal.x * normal.x * a, sign * b, -sign * normal.x),
        Vector(b, sign + normal.y * normal.y * a, -normal.y),
    )
