"""Vectors and 3x3 matrices over any scalar.

Entries are floats, SymPy expressions or traced scalars. Structural zeros and ones are the integers
0 and 1, which vanish from formulas and kernels.
"""

from collections.abc import Iterable, Iterator

from pliant.scalar import Scalar

__all__ = ["Matrix3", "Symmetric3", "Vector", "skew"]


class Vector:
    """Three scalars: a point, a direction, a force or a velocity."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Scalar, y: Scalar, z: Scalar):
        self.x = x
        self.y = y
        self.z = z

    @classmethod
    def zero(cls) -> "Vector":
        return cls(0, 0, 0)

    @classmethod
    def unit(cls, axis: int) -> "Vector":
        """The coordinate axis 0, 1 or 2."""
        return cls(*(1 if k == axis else 0 for k in range(3)))

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, k: int) -> Scalar:
        return (self.x, self.y, self.z)[k]

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Vector") -> "Vector":
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> "Vector":
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> "Vector":
        return Vector(self.x * s, self.y * s, self.z * s)

    __rmul__ = __mul__

    def dot(self, other: "Vector") -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: "Vector") -> "Vector":
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def __repr__(self) -> str:
        return f"Vector({self.x}, {self.y}, {self.z})"


class Symmetric3:
    """A symmetric 3x3 matrix by its six entries."""

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __init__(self, xx: Scalar, xy: Scalar, xz: Scalar, yy: Scalar, yz: Scalar, zz: Scalar):
        self.xx = xx
        self.xy = xy
        self.xz = xz
        self.yy = yy
        self.yz = yz
        self.zz = zz

    @classmethod
    def zero(cls) -> "Symmetric3":
        return cls(0, 0, 0, 0, 0, 0)

    @classmethod
    def diagonal(cls, xx: Scalar, yy: Scalar, zz: Scalar) -> "Symmetric3":
        return cls(xx, 0, 0, yy, 0, zz)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.xz, self.yy, self.yz, self.zz))

    def entry(self, r: int, c: int) -> Scalar:
        return (self.xx, self.xy, self.xz, self.yy, self.yz, self.zz)[_SYMMETRIC[r][c]]

    def __add__(self, other: "Symmetric3") -> "Symmetric3":
        return Symmetric3(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: "Symmetric3") -> "Symmetric3":
        return Symmetric3(*(a - b for a, b in zip(self, other, strict=True)))

    def __matmul__(self, v: Vector) -> Vector:
        return Vector(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def full(self) -> "Matrix3":
        return Matrix3((self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz))


_SYMMETRIC = ((0, 1, 2), (1, 3, 4), (2, 4, 5))


class Matrix3:
    """A 3x3 matrix by its nine entries, row by row."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[Scalar]):
        self.entries = tuple(entries)

    @classmethod
    def identity(cls) -> "Matrix3":
        return cls((1, 0, 0, 0, 1, 0, 0, 0, 1))

    @classmethod
    def zero(cls) -> "Matrix3":
        return cls((0,) * 9)

    @classmethod
    def from_columns(cls, a: Vector, b: Vector, c: Vector) -> "Matrix3":
        return cls((a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z))

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self.entries)

    def entry(self, r: int, c: int) -> Scalar:
        return self.entries[3 * r + c]

    def row(self, r: int) -> Vector:
        return Vector(*self.entries[3 * r : 3 * r + 3])

    def column(self, c: int) -> Vector:
        return Vector(*self.entries[c::3])

    def transposed(self) -> "Matrix3":
        e = self.entries
        return Matrix3((e[0], e[3], e[6], e[1], e[4], e[7], e[2], e[5], e[8]))

    def __add__(self, other: "Matrix3") -> "Matrix3":
        return Matrix3(a + b for a, b in zip(self.entries, other.entries, strict=True))

    def __sub__(self, other: "Matrix3") -> "Matrix3":
        return Matrix3(a - b for a, b in zip(self.entries, other.entries, strict=True))

    def __matmul__(self, v: Vector) -> Vector:
        e = self.entries
        return Vector(
            e[0] * v.x + e[1] * v.y + e[2] * v.z,
            e[3] * v.x + e[4] * v.y + e[5] * v.z,
            e[6] * v.x + e[7] * v.y + e[8] * v.z,
        )

    def transposed_times(self, v: Vector) -> Vector:
        e = self.entries
        return Vector(
            e[0] * v.x + e[3] * v.y + e[6] * v.z,
            e[1] * v.x + e[4] * v.y + e[7] * v.z,
            e[2] * v.x + e[5] * v.y + e[8] * v.z,
        )

    def times(self, other: "Matrix3") -> "Matrix3":
        """The matrix product."""
        return Matrix3.from_columns(*(self @ other.column(c) for c in range(3)))

    def __repr__(self) -> str:
        return f"Matrix3({', '.join(str(e) for e in self.entries)})"


def skew(p: Vector) -> Matrix3:
    """The matrix with skew(p) @ a = p x a."""
    return Matrix3((0, -p.z, p.y, p.z, 0, -p.x, -p.y, p.x, 0))
