"""Poses, spatial motions, forces and inertias, and how poses carry the others between frames.

Spatial vectors are linear first, as in Pinocchio. ``X_AB`` is the pose of frame B in frame A; it takes what is
expressed in B to A (`act`), and `act_back` takes it from A to B, for points (`Vector` stays a direction; use
`transform_point`), `Motion` and `Force` alike.
"""

from typing import Any, Self, TypeVar

from pliant.scalar import Scalar
from pliant.spatial.vectors import Matrix3, MatrixRotation, Rotation, Symmetric3, Vector, skew


class _Pair:
    """A linear and an angular part, which add and scale together."""

    __slots__ = ("angular", "linear")

    def __init__(self, linear: Vector, angular: Vector):
        self.linear = linear
        self.angular = angular

    @classmethod
    def zero(cls) -> Self:
        return cls(Vector.zero(), Vector.zero())

    def __add__(self, other: Self) -> Self:
        return type(self)(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Self:
        return type(self)(-self.linear, -self.angular)

    def __mul__(self, s: Scalar) -> Self:
        return type(self)(self.linear * s, self.angular * s)

    __rmul__ = __mul__

    def __iter__(self):
        yield from self.linear
        yield from self.angular

    def __repr__(self) -> str:
        return f"{type(self).__name__}(linear={self.linear}, angular={self.angular})"


class Motion(_Pair):
    """A spatial velocity or acceleration at the origin of its frame."""

    __slots__ = ()

    def cross(self, other: "Motion") -> "Motion":
        """The rate of ``other`` as it is carried along by this velocity: v x m."""
        w, v = self.angular, self.linear
        return Motion(w.cross(other.linear) + v.cross(other.angular), w.cross(other.angular))

    def cross_force(self, f: "Force") -> "Force":
        """The same for a force: v x* f."""
        w, v = self.angular, self.linear
        return Force(w.cross(f.linear), w.cross(f.angular) + v.cross(f.linear))

    def dot(self, f: "Force") -> Scalar:
        """The power of force ``f`` in this motion."""
        return self.linear.dot(f.linear) + self.angular.dot(f.angular)


class Force(_Pair):
    """A spatial force or momentum about the origin of its frame."""

    __slots__ = ()


Spatial = TypeVar("Spatial", Motion, Force)


class Transform:
    """X_AB: the pose of frame B in frame A, by rotation R_AB and origin p_AB."""

    __slots__ = ("R", "p")

    def __init__(self, R: Rotation, p: Vector):
        self.R = R
        self.p = p

    @classmethod
    def identity(cls) -> "Transform":
        return cls(MatrixRotation.identity(), Vector.zero())

    def __matmul__(self, other: "Transform") -> "Transform":
        """X_AC = X_AB @ X_BC."""
        R = MatrixRotation(other.R.after(self.R.matrix()))
        return Transform(R, self.transform_point(other.p))

    def inverse(self) -> "Transform":
        """X_BA."""
        return Transform(self.R.inverse(), -self.R.rotate_back(self.p))

    def transform_point(self, p: Vector) -> Vector:
        """A point given in B, in A."""
        return self.R.rotate(p) + self.p

    def act(self, x: Spatial) -> Spatial:
        """A motion or force given in B, in A."""
        linear, angular = self.R.rotate(x.linear), self.R.rotate(x.angular)
        if isinstance(x, Motion):
            return Motion(linear + self.p.cross(angular), angular)
        return Force(linear, angular + self.p.cross(linear))

    def act_back(self, x: Spatial) -> Spatial:
        """A motion or force given in A, in B."""
        turn = self.R.rotate_back
        if isinstance(x, Motion):
            return Motion(turn(x.linear - self.p.cross(x.angular)), turn(x.angular))
        return Force(turn(x.linear), turn(x.angular - self.p.cross(x.linear)))

    def homogeneous(self) -> list[list[Scalar]]:
        """The 4x4 matrix."""
        m = self.R.matrix()
        rows = [[*m.row(r), self.p[r]] for r in range(3)]
        return [*rows, [0, 0, 0, 1]]

    def __repr__(self) -> str:
        return f"Transform(R={self.R.matrix()}, p={self.p})"


class Steps:
    """X_AC kept as X_AB, X_BC and applied one after the other.

    For a joint: a constant placement, mostly zeros and ones, then a turn about a coordinate axis.
    """

    __slots__ = ("first", "then")

    def __init__(self, first: Transform, then: Transform):
        self.first = first
        self.then = then

    def act(self, x: Spatial) -> Spatial:
        return self.first.act(self.then.act(x))

    def act_back(self, x: Spatial) -> Spatial:
        return self.then.act_back(self.first.act_back(x))

    def onto(self, X_WA: Transform) -> Transform:
        """X_WC = X_WA X_AB X_BC."""
        return (X_WA @ self.first) @ self.then

    def rotate(self, v: Vector) -> Vector:
        return self.first.R.rotate(self.then.R.rotate(v))

    def rotate_back(self, v: Vector) -> Vector:
        return self.then.R.rotate_back(self.first.R.rotate_back(v))


class Inertia:
    """A rigid body's inertia about the origin of its frame.

    Attributes:
        mass: m [kg].
        h: first moment, m times the centre of mass [kg m].
        J: second moment about the origin of the frame, not the centre of mass [kg m^2].
    """

    __slots__ = ("J", "h", "mass")

    def __init__(self, mass: Scalar, h: Vector, J: Symmetric3):
        self.mass, self.h, self.J = mass, h, J

    @classmethod
    def zero(cls) -> "Inertia":
        return cls(0, Vector.zero(), Symmetric3.zero())

    @classmethod
    def from_com(cls, mass: Scalar, com: Vector, about_com: Symmetric3) -> "Inertia":
        """From the centre of mass and the tensor about it, axes along the frame's."""
        return cls(mass, com * mass, about_com + _spread(com, com * (mass / 2)))

    def com(self) -> Vector:
        """The centre of mass; the origin if there is none."""
        if type(self.mass) is int and self.mass == 0:
            return Vector.zero()
        return self.h * (1 / self.mass)

    def about_com(self) -> Symmetric3:
        """The tensor about the centre of mass, axes along the frame's."""
        p = self.com()
        return self.J - _spread(p, p * (self.mass / 2))

    def __add__(self, other: "Inertia") -> "Inertia":
        return Inertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __matmul__(self, v: Motion) -> Force:
        """The momentum of motion v."""
        return Force(v.linear * self.mass + v.angular.cross(self.h), self.J @ v.angular + self.h.cross(v.linear))

    def second_moment(self) -> Symmetric3:
        """The integral of p p^T over the mass: tr(J)/2 1 - J."""
        J = self.J
        xx, yy, zz = (J.yy + J.zz - J.xx) / 2, (J.xx + J.zz - J.yy) / 2, (J.xx + J.yy - J.zz) / 2
        return Symmetric3(xx, -J.xy, -J.xz, yy, -J.yz, zz)

    def transformed(self, X: Transform | Steps) -> "Inertia":
        """X_AB takes the inertia given in B to A."""
        if isinstance(X, Steps):
            return self.transformed(X.then).transformed(X.first)
        h = X.R.rotate(self.h)
        J = X.R.conjugate_symmetric(self.J)
        if _is_zero(X.p):
            return Inertia(self.mass, h, J)
        # about the new origin: h' = h + m p, and J' = J + spread(p, h + m p / 2)
        return Inertia(self.mass, h + X.p * self.mass, J + _spread(X.p, h + X.p * (self.mass / 2)))

    def __repr__(self) -> str:
        return f"Inertia(mass={self.mass}, h={self.h}, J={tuple(self.J)})"


def _is_zero(p: Vector) -> bool:
    return all(type(k) is int and k == 0 for k in p)


def _spread(p: Vector, k: Vector) -> Symmetric3:
    """2 (p . k) 1 - (p k^T + k p^T): for k = m p / 2, the second moment of a point mass m at p."""
    xx, yy, zz = 2 * p.x * k.x, 2 * p.y * k.y, 2 * p.z * k.z
    return Symmetric3(
        yy + zz, -(p.x * k.y + p.y * k.x), -(p.x * k.z + p.z * k.x),
        xx + zz, -(p.y * k.z + p.z * k.y),
        xx + yy,
    )  # fmt: skip


class ArticulatedInertia:
    """The inertia felt at a handle on a floating tree: f = A v, symmetric, but without a mass of its own.

    In blocks, linear first: [[M, H], [H^T, J]], M and J symmetric.
    """

    __slots__ = ("H", "J", "M")

    def __init__(self, M: Symmetric3, H: Matrix3, J: Symmetric3):
        self.M, self.H, self.J = M, H, J

    @classmethod
    def of(cls, rigid: Inertia) -> "ArticulatedInertia":
        m = rigid.mass
        return cls(Symmetric3.diagonal(m, m, m), skew(-rigid.h), rigid.J)

    def __add__(self, other: "ArticulatedInertia") -> "ArticulatedInertia":
        return ArticulatedInertia(self.M + other.M, self.H + other.H, self.J + other.J)

    def __matmul__(self, v: Motion) -> Force:
        return Force(self.M @ v.linear + self.H @ v.angular, self.H.transposed_times(v.linear) + self.J @ v.angular)

    def entry(self, r: int, c: int) -> Scalar:
        """An entry of the 6x6 matrix."""
        if r < 3:
            return self.M.entry(r, c) if c < 3 else self.H.entry(r, c - 3)
        return self.H.entry(c, r - 3) if c < 3 else self.J.entry(r - 3, c - 3)

    @classmethod
    def from_entries(cls, entry: Any) -> "ArticulatedInertia":
        """From a function of row and column, asked for the upper triangle only."""
        upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        return cls(
            Symmetric3(*(entry(r, c) for r, c in upper)),
            Matrix3(entry(r, c) for r in range(3) for c in range(3, 6)),
            Symmetric3(*(entry(r + 3, c + 3) for r, c in upper)),
        )

    def released(self, U: Force, D_inverse: Scalar, row: int | None) -> "ArticulatedInertia":
        """The inertia left when motion along one direction S is set free: A - U U^T / D.

        Args:
            U: A S.
            D_inverse: 1 / (S^T U + inertia of the joint itself).
            row: if S is a unit vector and the joint has no inertia of its own, the row of its 1:
                nothing is left in that row and column.
        """
        u, scaled = list(U), [x * D_inverse for x in U]

        def left(r: int, c: int) -> Scalar:
            return 0 if row in (r, c) else self.entry(r, c) - scaled[r] * u[c]

        return ArticulatedInertia.from_entries(left)

    def transformed(self, X: Transform | Steps) -> "ArticulatedInertia":
        """X_AB takes the inertia given in B to A."""
        if isinstance(X, Steps):
            return self.transformed(X.then).transformed(X.first)
        M = X.R.conjugate_symmetric(self.M)
        H = X.R.conjugate(self.H)
        J = X.R.conjugate_symmetric(self.J)
        if _is_zero(X.p):
            return ArticulatedInertia(M, H, J)
        # shift of the origin: H' = H - M p~, J' = J + p~ H + (p~ H')^T, with p~ = skew(p)
        p = skew(X.p)
        shifted = H - M.full().times(p)
        first, second = p.times(H), p.times(shifted)
        e, g = first.entry, second.entry
        upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        return ArticulatedInertia(M, shifted, Symmetric3(*(J.entry(r, c) + e(r, c) + g(c, r) for r, c in upper)))
