"""A^-1 of A = M + a diagonal by articulated bodies, in a number of operations that grows with the number of links.

The factor A = L^T D L of a chain of n joints has n^2 / 2 entries, and takes n^3 / 6 operations. The articulated-body
recursion [Featherstone 2008, 7.3], for a robot at rest without gravity, solves A x = b without A: a joint's share of
the diagonal (rotor, damper, spring, gain) is inertia of its own. A joint with several dofs is taken one dof at a time,
like joints with massless links between them.
"""

from collections.abc import Mapping
from typing import Any

from pliant.dynamics.joint_space_inertia import inverse_inertia
from pliant.robot import Link, Mechanism
from pliant.scalar import Scalar, Scalars, is_constant
from pliant.spatial import ArticulatedInertia, Force, Motion, Vector

# operations, counted in chains, over those of an entry of A: what the recursion takes for a dof more than composite
# bodies do; and what the factor takes for each pair of entries of a row
_RECURSION = 8
_PER_PAIR = 1 / 25


class ArticulatedFactor:
    """A^-1 for a mechanism without mimicking joints, used as a `Factor` is whose L is the unit matrix.

    Attributes:
        extra: what A has on its diagonal besides M, by dof.
    """

    def __init__(self, mechanism: Mechanism, q: Scalars, extra: Scalars | None = None):
        self.mechanism = mechanism
        self.extra: list[Scalar] = [0] * mechanism.nv if extra is None else list(extra)
        self._X_PB = [link.transform(q) for link in mechanism.links] if len(q) else []
        self._A = [ArticulatedInertia.of(link.inertia) for link in mechanism.links]
        # of each dof, the force that holds its link if it accelerates, and 1 / D; none if it is not known yet
        self._responses: list[tuple[Force, Scalar] | None] = [None] * mechanism.nv

    @classmethod
    def of_record(cls, mechanism: Mechanism, record: Mapping[str, Any], q: Scalars = ()) -> "ArticulatedFactor":
        """From a record of a program; without q, it has coordinates, but cannot solve."""
        factor = cls(mechanism, q, record["extra"])
        factor._responses = [
            (Force(Vector(*U[:3]), Vector(*U[3:])), inverse)
            for U, inverse in zip(record["U"], record["D_inverse"], strict=True)
        ]
        return factor

    def record(self) -> dict[str, Any]:
        """All that is needed to solve, for later stages of a program."""
        responses = [self._response(d) for d in range(self.mechanism.nv)]
        return {
            "U": [list(U) for U, _ in responses],
            "D_inverse": [inverse for _, inverse in responses],
            "D": [1 / inverse for _, inverse in responses],
            "extra": self.extra,
        }

    def solve(self, b: Scalars) -> list[Scalar]:
        """A^-1 b."""
        links = self.mechanism.links
        p = [Force.zero() for _ in links]  # what must be held at each link if it does not accelerate
        given: list[Scalar] = [0] * len(b)
        # inward: free one dof after the other, and hang what is left to feel on the parent
        for link in reversed(links):
            i = link.index
            self._free(link)
            for d, S in reversed(list(zip(link.dofs, link.kind.columns, strict=True))):
                U, D_inverse = self._response(d)
                given[d] = (b[d] - S.dot(p[i])) * D_inverse
                p[i] = p[i] + U * given[d]
            if link.parent >= 0:
                p[link.parent] = p[link.parent] + self._X_PB[i].act(p[i])

        # outward: each dof gives way to its force and to the acceleration it is carried with
        x: list[Scalar] = [0] * len(b)
        a = [Motion.zero() for _ in links]
        for link in links:
            i = link.index
            if link.parent >= 0:
                a[i] = self._X_PB[i].act_back(a[link.parent])
            for d, S in zip(link.dofs, link.kind.columns, strict=True):
                U, D_inverse = self._response(d)
                x[d] = given[d] - a[i].dot(U * D_inverse)
                a[i] = a[i] + S * x[d]
        return x

    def eliminated(self, b: Scalars, jumps: Mapping[int, Scalar] | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """b, and `coordinates` of the solution; as that of a `PinnedFactor`, of which no dof is pinned."""
        return list(b), self.solve(b)

    def velocity(self, w: Scalars) -> list[Scalar]:
        """The velocity with these `coordinates`."""
        return list(w)

    def coordinates(self, v: Scalars) -> list[Scalar]:
        """In which the solver works: v itself."""
        return list(v)

    def _response(self, d: int) -> tuple[Force, Scalar]:
        found = self._responses[d]
        if found is None:
            for link in reversed(self.mechanism.links):
                self._free(link)
            found = self._responses[d]
        assert found is not None
        return found

    def _free(self, link: Link) -> None:
        """Free the dofs of a link, after all links that hang on it; once."""
        i = link.index
        if all(self._responses[d] is not None for d in link.dofs):
            return
        for d, S, own, row in reversed(self._dofs(link)):
            U = self._A[i] @ S
            D_inverse = inverse_inertia(self.mechanism, d, S.dot(U) + own)
            self._A[i] = self._A[i].released(U, D_inverse, row)
            self._responses[d] = U, D_inverse
        if link.parent >= 0:
            self._A[link.parent] = self._A[link.parent] + self._A[i].transformed(self._X_PB[i])

    def _dofs(self, link: Link) -> list[tuple[int, Motion, Scalar, int | None]]:
        """Each dof of a link: index, column of S, inertia of its own, and the row that it empties if freed."""
        rows = link.kind.rows or (None,) * link.kind.nv
        found = []
        for d, S, arm, row in zip(link.dofs, link.kind.columns, link.armature, rows, strict=True):
            own = arm + self.extra[d]
            found.append((d, S, own, row if is_constant(own) and own == 0 else None))
        return found


def inertia_diagonal(mechanism: Mechanism, q: Scalars) -> list[dict[int, Scalar]]:
    """The diagonal of M, as rows with one entry each."""
    links = mechanism.links
    I = [link.inertia for link in links]
    for link in reversed(links):
        if link.parent >= 0:
            I[link.parent] = I[link.parent] + I[link.index].transformed(link.transform(q))
    found: list[dict[int, Scalar]] = [{} for _ in range(mechanism.nv)]
    for link in links:
        for d, S, arm in zip(link.dofs, link.kind.columns, link.armature, strict=True):
            found[d][d] = S.dot(I[link.index] @ S) + arm
    return found


def is_recursion_cheaper(mechanism: Mechanism) -> bool:
    """Whether the recursion takes fewer operations than A and its factor.

    For chains it does from 15 joints on; trees with short branches have so many zeros in A that it does not.
    """
    above = [len(support) - 1 for support in mechanism.support]
    return _RECURSION * mechanism.nv < sum(n + _PER_PAIR * n * (n + 1) / 2 for n in above)
