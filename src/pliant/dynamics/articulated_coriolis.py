"""Products with the Coriolis matrix C(q, u), and solutions with A + h C(q, u), without either matrix.

With J the Jacobian of a link, a = J x and b = J' x (J' its rate at the velocity u) go outward from link to link,

    a = X a_parent + S x,        b = X b_parent + (V x S) x

and the force that C asks for at the link is I b + B a (`pliant.dynamics.coriolis`). So what hangs on a link feels like
f = P a + Q b + p to who holds it, and a recursion as that of articulated bodies [Featherstone 2008, 7.3] frees one dof
after the other: P and Q are 6 x 6 without symmetry, and the number of operations grows with the number of links.
"""

from pliant.dynamics.coriolis import SwayInertia
from pliant.dynamics.kinematics import link_velocities
from pliant.robot import Link, Mechanism
from pliant.scalar import Scalar, Scalars
from pliant.spatial import Force, Inertia, Matrix3, Motion, Steps, Transform, Vector, skew


class CoriolisRecursion:
    """C(q, u) and A + h C(q, u) of a mechanism without mimicking joints or joints that float.

    Used as a `pliant.dynamics.implicit_coriolis.CoriolisMatrix` is.
    """

    def __init__(self, mechanism: Mechanism, q: Scalars, u: Scalars, extra: Scalars, h: Scalar):
        """At a velocity u; ``extra`` is what A has on its diagonal besides M."""
        self.mechanism, self.h = mechanism, h
        self.own = [arm + x for arm, x in zip(mechanism.armature, extra, strict=True)]
        self._X_PB = [link.transform(q) for link in mechanism.links]
        self._V = link_velocities(mechanism, q, u)
        self._B = [SwayInertia.of(link.inertia, V) for link, V in zip(mechanism.links, self._V, strict=True)]

    def times(self, x: Scalars) -> list[Scalar]:
        """C x."""
        links = self.mechanism.links
        a, b = self._carried(x)
        f = [link.inertia @ b[link.index] + self._B[link.index] @ a[link.index] for link in links]
        found: list[Scalar] = [0] * self.mechanism.nv
        for link in reversed(links):
            i = link.index
            for d, force in zip(link.dofs, link.kind.project(f[i]), strict=True):
                found[d] = force
            if link.parent >= 0:
                f[link.parent] = f[link.parent] + self._X_PB[i].act(f[i])
        return found

    def solve(self, rhs: Scalars) -> list[Scalar]:
        """The x with (A + h C) x = rhs."""
        mechanism = self.mechanism
        links = mechanism.links
        # b is scaled by h, so that Q is the inertia itself
        P = [_Feel.swaying(link.inertia, self._B[link.index], self.h) for link in links]
        Q = [_Feel.of(link.inertia) for link in links]
        p = [Force.zero() for _ in links]
        given: list[Scalar] = [0] * mechanism.nv
        shares: dict[int, tuple[Force, Force]] = {}
        # inward: free one dof after the other, and hang what is left to feel on the parent
        for link in reversed(links):
            i = link.index
            for d, S, turned, own in reversed(self._dofs(link)):
                U = P[i] @ S + Q[i] @ turned
                inverse = 1 / (S.dot(U) + own)
                along_a, along_b = P[i].transposed_times(S) * inverse, Q[i].transposed_times(S) * inverse
                given[d] = (rhs[d] - S.dot(p[i])) * inverse
                shares[d] = along_a, along_b
                P[i], Q[i] = P[i].less(U, along_a), Q[i].less(U, along_b)
                p[i] = p[i] + U * given[d]
            if link.parent >= 0:
                X = self._X_PB[i]
                P[link.parent] = P[link.parent] + P[i].transformed(X)
                Q[link.parent] = Q[link.parent] + Q[i].transformed(X)
                p[link.parent] = p[link.parent] + X.act(p[i])

        # outward: each dof gives way to its force and to the motion that it is carried with
        x: list[Scalar] = [0] * mechanism.nv
        a, b = ([Motion.zero() for _ in links] for _ in range(2))
        for link in links:
            i = link.index
            if link.parent >= 0:
                a[i], b[i] = (self._X_PB[i].act_back(m[link.parent]) for m in (a, b))
            for d, S, turned, _ in self._dofs(link):
                x[d] = given[d] - a[i].dot(shares[d][0]) - b[i].dot(shares[d][1])
                a[i], b[i] = a[i] + S * x[d], b[i] + turned * x[d]
        return x

    def _carried(self, x: Scalars) -> tuple[list[Motion], list[Motion]]:
        """a and b of each link, in its frame."""
        a: list[Motion] = []
        b: list[Motion] = []
        for link in self.mechanism.links:
            own = link.kind.motion(link.rate(x))
            turned = self._V[link.index].cross(own)
            if link.parent >= 0:
                X = self._X_PB[link.index]
                own, turned = X.act_back(a[link.parent]) + own, X.act_back(b[link.parent]) + turned
            a.append(own)
            b.append(turned)
        return a, b

    def _dofs(self, link: Link) -> list[tuple[int, Motion, Motion, Scalar]]:
        """Each dof of a link: index, S, h V x S, and inertia of its own."""
        V = self._V[link.index]
        return [(d, S, V.cross(S) * self.h, self.own[d]) for d, S in zip(link.dofs, link.kind.columns, strict=True)]


class _Feel:
    """A 6 x 6 matrix from motions to forces, in blocks, linear first: [[M, H], [G, J]]."""

    __slots__ = ("G", "H", "J", "M")

    def __init__(self, M: Matrix3, H: Matrix3, G: Matrix3, J: Matrix3):
        self.M, self.H, self.G, self.J = M, H, G, J

    @classmethod
    def of(cls, inertia: Inertia) -> "_Feel":
        m, h = inertia.mass, skew(inertia.h)
        return cls(Matrix3((m, 0, 0, 0, m, 0, 0, 0, m)), skew(-inertia.h), h, inertia.J.full())

    @classmethod
    def swaying(cls, inertia: Inertia, B: SwayInertia, h: Scalar) -> "_Feel":
        """I + h B."""
        still = cls.of(inertia)
        return cls(still.M, still.H + skew(B.f * -h), still.G, still.J + Matrix3(h * x for x in B.N))

    def __add__(self, other: "_Feel") -> "_Feel":
        return _Feel(self.M + other.M, self.H + other.H, self.G + other.G, self.J + other.J)

    def __matmul__(self, v: Motion) -> Force:
        return Force(self.M @ v.linear + self.H @ v.angular, self.G @ v.linear + self.J @ v.angular)

    def transposed_times(self, v: Motion) -> Force:
        return Force(
            self.M.transposed_times(v.linear) + self.G.transposed_times(v.angular),
            self.H.transposed_times(v.linear) + self.J.transposed_times(v.angular),
        )

    def less(self, U: Force, r: Force) -> "_Feel":
        """Without U r^T."""
        return _Feel(
            self.M - _outer(U.linear, r.linear), self.H - _outer(U.linear, r.angular),
            self.G - _outer(U.angular, r.linear), self.J - _outer(U.angular, r.angular),
        )  # fmt: skip

    def transformed(self, X: Transform | Steps) -> "_Feel":
        """X_AB takes it from B to A."""
        if isinstance(X, Steps):
            return self.transformed(X.then).transformed(X.first)
        M, H, G, J = (X.R.conjugate(block) for block in (self.M, self.H, self.G, self.J))
        # shift of the origin: H' = H - M p~, G' = G + p~ M, J' = J + p~ H' - G p~, with p~ = skew(p)
        p = skew(X.p)
        shifted = H - M.times(p)
        return _Feel(M, shifted, G + p.times(M), J + p.times(shifted) - G.times(p))


def _outer(a: Vector, b: Vector) -> Matrix3:
    return Matrix3(x * y for x in a for y in b)
