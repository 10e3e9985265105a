"""How the mass of a moving body resists being turned: what Coriolis forces are made of."""

from typing import Any

from pliant.spatial import Force, Inertia, Matrix3, Motion, Steps, Transform, Vector

__all__ = ["SwayInertia"]

Scalar = Any


class SwayInertia:
    """The force that a moving body's mass asks for when its velocity u is turned: r -> w x u(r).

    B w = integral of (w x u, r x (w x u)) over the mass, for an angular velocity w: the matrix B of
    Echeandia and Wensing (2021), in closed form.

    Attributes:
        f: integral of u, the linear momentum; the force is w x f.
        N: the moment is N w, with N = -integral of r~ u~ (x~ the cross product with x).
    """

    __slots__ = ("N", "f")

    def __init__(self, f: Vector, N: Matrix3):
        self.f = f
        self.N = N

    @classmethod
    def of(cls, inertia: Inertia, V: Motion) -> "SwayInertia":
        """Of a rigid body: N = (h . v) 1 - v h^T - w~ S, with h and S its first and second moments of mass."""
        v, w, h, S = V.linear, V.angular, inertia.h, inertia.second_moment()
        turned = Matrix3.from_columns(*(w.cross(S.full().column(c)) for c in range(3)))
        return cls(v * inertia.mass + w.cross(h), _dyad(h, v) - turned)

    def __add__(self, other: "SwayInertia") -> "SwayInertia":
        return SwayInertia(self.f + other.f, self.N + other.N)

    def transformed(self, X: Transform | Steps) -> "SwayInertia":
        """X_AB takes it from B to A."""
        if isinstance(X, Steps):
            return self.transformed(X.then).transformed(X.first)
        f = X.R.rotate(self.f)
        return SwayInertia(f, X.R.conjugate(self.N) + _dyad(X.p, f))

    def __matmul__(self, S: Motion) -> Force:
        """B S."""
        return Force(S.angular.cross(self.f), self.N @ S.angular)

    def transposed_times(self, S: Motion) -> Vector:
        """B^T S, a moment; there is no force."""
        return self.f.cross(S.linear) + self.N.transposed_times(S.angular)


def _dyad(r: Vector, u: Vector) -> Matrix3:
    """-r~ u~ = (r . u) 1 - u r^T."""
    rows = [u * -r[c] for c in range(3)]
    xx, yy, zz = r.x * u.x, r.y * u.y, r.z * u.z
    return Matrix3((yy + zz, rows[1].x, rows[2].x, rows[0].y, xx + zz, rows[2].y, rows[0].z, rows[1].z, xx + yy))
