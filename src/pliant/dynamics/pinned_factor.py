"""The factor of the matrix of a step, of which some dofs may be pinned: their velocities are known.

A = L^T D L with the zeros of the tree, as in `pliant.dynamics.joint_space_inertia`, but from the leaves to the root a
pinned dof is passed over: it takes no part in the elimination, L_d = 0 and 1 / D_d = 0. With F the other dofs, that is
the factor of A_FF. Rows are kept as U = D L, also of pinned dofs, where they tell what holds them: of

    A x = b + tau,    x_d = s_d and tau_d unknown where d is pinned, tau_d = 0 elsewhere

with b' what elimination makes of b, tau_d = U_dd s_d + sum_e U_de x_e - b'_d, e all dofs between d and the root.

In the coordinates w = L v, w_d is v_d itself where d is pinned. A row J becomes Y = L^-T J^T, its velocity is Y . w,
and an impulse p along it changes w by D^-1 Y p, which leaves pinned dofs as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.dynamics.joint_space_inertia import inverse_inertia
from pliant.robot import Mechanism
from pliant.robot.flexibilities import check_flexibilities
from pliant.scalar import Scalar, Scalars, is_constant, select

Rows = Mapping[int, Mapping[int, Scalar]]


@dataclass(frozen=True)
class PinnedFactor:
    """The factor; see the module.

    Attributes:
        U: for each dof, its row of D L right of the diagonal: entries of the dofs between it and the root.
        D: diagonal, also of pinned dofs.
        D_inverse: one over it, zero where a dof is pinned.
    """

    U: Rows
    D: Scalars
    D_inverse: Scalars

    def record(self) -> dict[str, Any]:
        """As a record of a program."""
        return {"U": {d: dict(row) for d, row in self.U.items()}, "D": list(self.D), "D_inverse": list(self.D_inverse)}

    def coordinates(self, v: Scalars) -> list[Scalar]:
        """w = L v."""
        return [v[d] + self.D_inverse[d] * self._along(d, v) for d in range(len(v))]

    def velocity(self, w: Scalars) -> list[Scalar]:
        """v = L^-1 w, from the root to the leaves."""
        v = list(w)
        for d in range(len(v)):
            v[d] = v[d] - self.D_inverse[d] * self._along(d, v)
        return v

    def eliminated(self, b: Scalars, jumps: Mapping[int, Scalar] | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """b', and L x of the solution x.

        Args:
            jumps: s_d of dofs that may be pinned, zero where they are not.
        """
        left, found = list(b), [0] * len(b)
        for d in reversed(range(len(left))):
            found[d] = left[d] * self.D_inverse[d]
            if jumps and d in jumps:
                found[d] = found[d] + jumps[d]
            for e, entry in self.U[d].items():
                left[e] = left[e] - entry * found[d]
        return left, found

    def reaction(self, d: int, x: Scalars, left: Scalar) -> Scalar:
        """tau_d of a pinned dof; ``left`` is b'_d."""
        return self.D[d] * x[d] + self._along(d, x) - left

    def _along(self, d: int, x: Scalars) -> Scalar:
        """Sum of U_de x_e; the nearest dof last, since it is ready last."""
        return sum((self.U[d][e] * x[e] for e in reversed(list(self.U[d]))), 0)


def pinned_factor(
    mechanism: Mechanism, A: Sequence[Scalars] | Rows, pins: Mapping[int, Scalar] | None = None
) -> PinnedFactor:
    """Factorize a matrix with the zeros of the mechanism's mass matrix.

    Args:
        A: its lower triangle.
        pins: whether dofs are pinned, of those that may be.
    """
    check_flexibilities(mechanism.robot)
    support, n = mechanism.support, mechanism.nv
    U: dict[int, dict[int, Scalar]] = {d: {e: A[d][e] for e in support[d]} for d in range(n)}
    D: list[Scalar] = [0] * n
    D_inverse: list[Scalar] = [0] * n
    for d in reversed(range(n)):
        D[d] = U[d].pop(d)
        is_pinned = (pins or {}).get(d, False)
        if is_constant(is_pinned):
            D_inverse[d] = 0 if is_pinned else inverse_inertia(mechanism, d, D[d])
        else:
            D_inverse[d] = select(is_pinned, 0, inverse_inertia(mechanism, d, D[d]))
        for e, entry in U[d].items():
            share = entry * D_inverse[d]
            for k in support[e]:
                U[e][k] = U[e][k] - share * U[d][k]
    return PinnedFactor(U, D, D_inverse)
