"""Poses, spatial motions and forces, and how the one carries the others between frames.

Spatial vectors are linear first, as in Pinocchio. ``X_AB`` is the pose of frame B in frame A; it
takes what is expressed in B to A (`act`), and `act_back` takes it from A to B, for points
(`Vector` stays a direction; use `transform_point`), `Motion` and `Force` alike.
"""

from collections.abc import Iterator
from typing import Self, TypeVar

from pliant.scalar import Scalar
from pliant.spatial.rotations import MatrixRotation, Rotation
from pliant.spatial.vectors import Vector

__all__ = ["Force", "Motion", "Steps", "Transform"]


class _Pair:
    """A linear and an angular part, with the arithmetic of both."""

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

    def __iter__(self) -> Iterator[Scalar]:
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
