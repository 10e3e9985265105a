"""Vectors, 3x3 matrices and rotations over any scalar.

Entries are floats, SymPy expressions or traced scalars. Structural zeros and ones are the integers 0 and 1, which
vanish from formulas and kernels.

Rotations are about a coordinate axis, or by a matrix, and answer to the same calls. Turning about a coordinate axis
mixes two coordinates only, and the calls use that: a joint's turn and its fixed placement are applied one after the
other, which takes far fewer operations than multiplying them out first.
"""

from collections.abc import Iterable, Iterator

from pliant.scalar import Scalar, atan2, cos, select, sin, sqrt


class Vector:
    """Three scalars: a point, a direction, a force or a velocity."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Scalar, y: Scalar, z: Scalar):
        self.x, self.y, self.z = x, y, z

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
        self.xx, self.xy, self.xz = xx, xy, xz
        self.yy, self.yz, self.zz = yy, yz, zz

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
        return self.transposed() @ v

    def times(self, other: "Matrix3") -> "Matrix3":
        """The matrix product."""
        return Matrix3.from_columns(*(self @ other.column(c) for c in range(3)))

    def __repr__(self) -> str:
        return f"Matrix3({', '.join(str(e) for e in self.entries)})"


def skew(p: Vector) -> Matrix3:
    """The matrix with skew(p) @ a = p x a."""
    return Matrix3((0, -p.z, p.y, p.z, 0, -p.x, -p.y, p.x, 0))


class MatrixRotation:
    """R_AB as a matrix."""

    __slots__ = ("m",)

    def __init__(self, m: Matrix3):
        self.m = m

    @classmethod
    def identity(cls) -> "MatrixRotation":
        return cls(Matrix3.identity())

    def matrix(self) -> Matrix3:
        return self.m

    def rotate(self, v: Vector) -> Vector:
        """R v."""
        return self.m @ v

    def rotate_back(self, v: Vector) -> Vector:
        """R^T v."""
        return self.m.transposed_times(v)

    def conjugate(self, a: Matrix3) -> Matrix3:
        """R A R^T."""
        return self.m.times(a).times(self.m.transposed())

    def conjugate_symmetric(self, a: Symmetric3) -> Symmetric3:
        """R A R^T of a symmetric A."""
        half = self.m.times(a.full())
        rows = [self.m.row(r) for r in range(3)]
        entry = [[half.row(r).dot(rows[c]) for c in range(r, 3)] for r in range(3)]
        return Symmetric3(*entry[0], *entry[1], *entry[2])

    def after(self, left: Matrix3) -> Matrix3:
        """The product left R."""
        return left.times(self.m)

    def inverse(self) -> "MatrixRotation":
        return MatrixRotation(self.m.transposed())


class AxisRotation:
    """R_AB that turns about coordinate axis 0, 1 or 2 by an angle of cosine ``c`` and sine ``s``."""

    __slots__ = ("axis", "c", "s")

    def __init__(self, axis: int, c: Scalar, s: Scalar):
        self.axis = axis
        self.c, self.s = c, s

    @classmethod
    def by(cls, axis: int, angle: Scalar) -> "AxisRotation":
        return cls(axis, cos(angle), sin(angle))

    def matrix(self) -> Matrix3:
        return Matrix3.from_columns(*(self.rotate(Vector.unit(k)) for k in range(3)))

    def rotate(self, v: Vector) -> Vector:
        """R v."""
        return self._turn(v, self.s)

    def rotate_back(self, v: Vector) -> Vector:
        """R^T v."""
        return self._turn(v, -self.s)

    def _turn(self, v: Vector, s: Scalar) -> Vector:
        k, i, j = _CYCLE[self.axis]
        out: list[Scalar] = [0, 0, 0]
        out[k] = v[k]
        out[i] = self.c * v[i] - s * v[j]
        out[j] = s * v[i] + self.c * v[j]
        return Vector(*out)

    def conjugate(self, a: Matrix3) -> Matrix3:
        """R A R^T: the 2x2 block of the turning plane by half the products, from c^2 + s^2 = 1."""
        c, s = self.c, self.s
        k, i, j = _CYCLE[self.axis]
        e = a.entry
        out: list[list[Scalar]] = [[0] * 3 for _ in range(3)]
        u = s * (e(i, i) - e(j, j)) + c * (e(i, j) + e(j, i))
        out[i][i] = e(i, i) - s * u
        out[j][j] = e(j, j) + s * u
        out[i][j] = c * u - e(j, i)
        out[j][i] = c * u - e(i, j)
        out[i][k] = c * e(i, k) - s * e(j, k)
        out[j][k] = s * e(i, k) + c * e(j, k)
        out[k][i] = c * e(k, i) - s * e(k, j)
        out[k][j] = s * e(k, i) + c * e(k, j)
        out[k][k] = e(k, k)
        return Matrix3([*out[0], *out[1], *out[2]])

    def conjugate_symmetric(self, a: Symmetric3) -> Symmetric3:
        """R A R^T of a symmetric A, in nine operations."""
        c, s = self.c, self.s
        k, i, j = _CYCLE[self.axis]
        e = a.entry
        out: dict[tuple[int, int], Scalar] = {}
        u = s * (e(i, i) - e(j, j)) + 2 * c * e(i, j)
        out[i, i] = e(i, i) - s * u
        out[j, j] = e(j, j) + s * u
        out[_ordered(i, j)] = c * u - e(i, j)
        out[_ordered(i, k)] = c * e(i, k) - s * e(j, k)
        out[_ordered(j, k)] = s * e(i, k) + c * e(j, k)
        out[k, k] = e(k, k)
        return Symmetric3(*(out[r, col] for r in range(3) for col in range(r, 3)))

    def after(self, left: Matrix3) -> Matrix3:
        """The product left R."""
        k, i, j = _CYCLE[self.axis]
        columns = [left.column(n) for n in range(3)]
        out = list(columns)
        out[i] = columns[i] * self.c + columns[j] * self.s
        out[j] = columns[j] * self.c - columns[i] * self.s
        out[k] = columns[k]
        return Matrix3.from_columns(*out)

    def inverse(self) -> "AxisRotation":
        return AxisRotation(self.axis, self.c, -self.s)


Rotation = MatrixRotation | AxisRotation

# the axis and the two after it, in cyclic order
_CYCLE = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def rotation_about(axis: Vector, angle: Scalar) -> MatrixRotation:
    """The turn by ``angle`` about a unit ``axis`` (Rodrigues)."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    t = 1 - c
    return MatrixRotation(
        Matrix3(
            (
                c + t * x * x, t * x * y - s * z, t * x * z + s * y,
                t * x * y + s * z, c + t * y * y, t * y * z - s * x,
                t * x * z - s * y, t * y * z + s * x, c + t * z * z,
            )
        )
    )  # fmt: skip


def rotation_from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> MatrixRotation:
    """R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF [rad]."""
    left = AxisRotation.by(1, pitch).after(AxisRotation.by(2, yaw).matrix())
    return MatrixRotation(AxisRotation.by(0, roll).after(left))


def rotation_from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> MatrixRotation:
    """The rotation of a unit quaternion, vector part first."""
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return MatrixRotation(
        Matrix3(
            (
                1 - (yy + zz), xy - wz, xz + wy,
                xy + wz, 1 - (xx + zz), yz - wx,
                xz - wy, yz + wx, 1 - (xx + yy),
            )
        )
    )  # fmt: skip


def quaternion_product(a: tuple[Scalar, ...], b: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """The rotation b, then a; (x, y, z, w) each."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def quaternion_from_matrix(m: Matrix3) -> tuple[Scalar, ...]:
    """The unit quaternion (x, y, z, w) of a rotation matrix, sound for every angle.

    Of the four ways to recover it, the one that divides by the largest component is selected
    [Shepperd 1978].
    """
    e = m.entry
    trace = e(0, 0) + e(1, 1) + e(2, 2)
    # four times the squares of x, y, z, w
    squares = [1 + 2 * e(k, k) - trace for k in range(3)] + [1 + trace]
    sums = [e(2, 1) - e(1, 2), e(0, 2) - e(2, 0), e(1, 0) - e(0, 1)]
    xy, xz, yz = e(0, 1) + e(1, 0), e(0, 2) + e(2, 0), e(1, 2) + e(2, 1)
    ways = [
        (squares[0], xy, xz, sums[0]),
        (xy, squares[1], yz, sums[1]),
        (xz, yz, squares[2], sums[2]),
        (sums[0], sums[1], sums[2], squares[3]),
    ]
    best, largest = ways[3], squares[3]
    for k in range(3):
        better = squares[k] > largest
        best = tuple(select(better, a, b) for a, b in zip(ways[k], best, strict=True))
        largest = select(better, squares[k], largest)
    scale = 1 / (2 * sqrt(largest))
    sign = select(best[3] < 0, -1, 1)
    return tuple(a * scale * sign for a in best)


def rpy_from_matrix(m: Matrix3) -> tuple[Scalar, Scalar, Scalar]:
    """Roll, pitch and yaw of R = Rz Ry Rx [rad], also where pitch is a right angle and yaw any."""
    e = m.entry
    yaw = atan2(e(1, 0), e(0, 0))
    c, s = cos(yaw), sin(yaw)
    # Rz^T R = Ry Rx has the middle row (0, cos roll, -sin roll), whatever yaw was chosen
    roll = atan2(s * e(0, 2) - c * e(1, 2), c * e(1, 1) - s * e(0, 1))
    return roll, atan2(-e(2, 0), c * e(0, 0) + s * e(1, 0)), yaw
