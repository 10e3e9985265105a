"""Kinds of joints: how coordinates place the child body, and which motions the joint allows.

Layouts are Pinocchio's, but for the continuous joint, which is one angle:

| kind | q | v |
|---|---|---|
| revolute, continuous, helical | angle [rad] | rate [rad/s] |
| prismatic | distance [m] | rate [m/s] |
| spherical | (qx, qy, qz, qw) | angular velocity |
| planar | (x, y, cos, sin) | (vx, vy, wz) |
| free | (x, y, z, qx, qy, qz, qw) | (linear, angular) |

Velocities are the child body's, relative to the parent and in the child's frame. J is the joint's
frame on the parent, B the child's frame; they coincide at `neutral`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from pliant.robot.exponential import (
    planar_exponential, planar_logarithm, pose_exponential, pose_logarithm, pose_rate, turn_exponential,
    turn_logarithm,
)  # fmt: skip
from pliant.scalar import Scalar, cos, is_constant, sin, sqrt
from pliant.spatial import (
    AxisRotation, Force, Matrix3, MatrixRotation, Motion, Rotation, Transform, Vector, quaternion_product,
    rotation_about, rotation_from_quaternion,
)  # fmt: skip

Scalars = Sequence[Scalar] | np.ndarray
Axis = tuple[Scalar, Scalar, Scalar]

# slides along x, y, z and turns about them
_UNITS = tuple(Motion(*(Vector.unit(k), Vector.zero())[::step]) for step in (1, -1) for k in range(3))


class JointKind(ABC):
    """The interface of every kind of joint. S, the motion subspace, is constant in the child's frame.

    Attributes:
        name: of the kind, as in URDF where that has it.
        q_labels, v_labels: names of the entries of q and v, "" for a joint with just one.
        reach: how far from zero random coordinates without limits are, at most [rad or m].
    """

    name: ClassVar[str]
    q_labels: ClassVar[tuple[str, ...]]
    v_labels: ClassVar[tuple[str, ...]]
    reach: ClassVar[float] = math.pi

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q_labels)

    @property
    def nv(self) -> int:
        """Number of velocities, the degrees of freedom."""
        return len(self.v_labels)

    @property
    @abstractmethod
    def columns(self) -> tuple[Motion, ...]:
        """The nv columns of S."""

    @cached_property
    def rows(self) -> tuple[int, ...] | None:
        """If the columns of S are unit vectors, the row of each 1 (linear 0 to 2, angular 3 to 5), else None."""
        found = []
        for column in self.columns:
            entries = list(column)
            if not all(is_constant(e) for e in entries) or sorted(entries) != [0, 0, 0, 0, 0, 1]:
                return None
            found.append(entries.index(1))
        return tuple(found)

    @abstractmethod
    def transform(self, q: Scalars) -> Transform:
        """X_JB."""

    def motion(self, v: Scalars) -> Motion:
        """S v, the velocity of the child relative to the parent."""
        if self.rows is None:
            return sum((column * rate for column, rate in zip(self.columns, v, strict=True)), Motion.zero())
        entries: list[Scalar] = [0] * 6
        for row, rate in zip(self.rows, v, strict=True):
            entries[row] = rate
        return Motion(Vector(*entries[:3]), Vector(*entries[3:]))

    def project(self, f: Force) -> list[Scalar]:
        """S^T f, the part of f that the joint's own force must hold."""
        if self.rows is None:
            return [column.dot(f) for column in self.columns]
        entries = list(f)
        return [entries[row] for row in self.rows]

    def integrate(self, q: Scalars, w: Scalars) -> list[Scalar]:
        """Where the constant velocity w takes q in unit time."""
        return [a + b for a, b in zip(q, w, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """The constant velocity that takes q0 to q1 in unit time, the shorter way round."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def chart_rate(self, w: Scalars, v: Scalars) -> list[Scalar]:
        """dw/dt for which integrate(q, w) moves with the velocity v; see `pose_rate`."""
        if self.nv < 2:
            return list(v)
        W, V = self.motion(w), self.motion(v)
        # the columns of joints with several dofs are orthonormal, so S^T takes a motion to its v
        return self.project(Force(*pose_rate(W.linear, W.angular, V.linear, V.angular)))

    def neutral(self) -> list[Scalar]:
        """The coordinates at which the child's frame is the joint's."""
        return [0] * self.nq

    def random(self, rng: np.random.Generator, lower: Scalars, upper: Scalars, size: int | None = None) -> list[Scalar]:
        """Uniform coordinates: within the limits where there are any, else up to pi [rad] or 1 [m].

        Args:
            rng: where chance comes from.
            lower, upper: limits of each coordinate, infinite for none; rotations heed none.
            size: how many samples in each scalar, or None for floats.
        """
        return [_uniform(rng, low, high, self.reach, size) for low, high in zip(lower, upper, strict=True)]


@dataclass(frozen=True)
class Fixed(JointKind):
    """No motion."""

    name: ClassVar[str] = "fixed"
    q_labels: ClassVar[tuple[str, ...]] = ()
    v_labels: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[Motion, ...]] = ()  # type: ignore[assignment]

    def transform(self, q: Scalars) -> Transform:
        return Transform.identity()


@dataclass(frozen=True)
class _OneAxis(JointKind):
    """One coordinate of a unit axis: by default, an angle about it."""

    axis: Axis = (0, 0, 1)

    q_labels: ClassVar[tuple[str, ...]] = ("",)
    v_labels: ClassVar[tuple[str, ...]] = ("",)

    @cached_property
    def columns(self) -> tuple[Motion, ...]:  # type: ignore[override]
        return (Motion(Vector.zero(), Vector(*self.axis)),)

    def transform(self, q: Scalars) -> Transform:
        return Transform(_turn(self.axis, q[0]), Vector.zero())


@dataclass(frozen=True)
class Revolute(_OneAxis):
    """A turn about an axis, within limits."""

    name: ClassVar[str] = "revolute"


@dataclass(frozen=True)
class Continuous(_OneAxis):
    """A turn about an axis, without limits; one angle, that counts the full turns."""

    name: ClassVar[str] = "continuous"


@dataclass(frozen=True)
class Helical(_OneAxis):
    """A screw: a turn about an axis that advances along it by ``pitch`` [m/rad]."""

    pitch: Scalar = 0

    name: ClassVar[str] = "helical"

    @cached_property
    def columns(self) -> tuple[Motion, ...]:  # type: ignore[override]
        return (Motion(Vector(*self.axis) * self.pitch, Vector(*self.axis)),)

    def transform(self, q: Scalars) -> Transform:
        return Transform(_turn(self.axis, q[0]), _along(self.axis, self.pitch * q[0]))


@dataclass(frozen=True)
class Prismatic(_OneAxis):
    """A slide along a unit axis."""

    name: ClassVar[str] = "prismatic"
    reach: ClassVar[float] = 1

    @cached_property
    def columns(self) -> tuple[Motion, ...]:  # type: ignore[override]
        return (Motion(Vector(*self.axis), Vector.zero()),)

    def transform(self, q: Scalars) -> Transform:
        return Transform(MatrixRotation.identity(), _along(self.axis, q[0]))


@dataclass(frozen=True)
class Spherical(JointKind):
    """Any turn; a unit quaternion."""

    name: ClassVar[str] = "spherical"
    q_labels: ClassVar[tuple[str, ...]] = ("qx", "qy", "qz", "qw")
    v_labels: ClassVar[tuple[str, ...]] = ("wx", "wy", "wz")
    columns: ClassVar[tuple[Motion, ...]] = _UNITS[3:]  # type: ignore[assignment]

    def transform(self, q: Scalars) -> Transform:
        return Transform(rotation_from_quaternion(*q), Vector.zero())

    def integrate(self, q: Scalars, w: Scalars) -> list[Scalar]:
        return _normalised(quaternion_product(tuple(q), turn_exponential(Vector(*w))))

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return list(turn_logarithm(_quaternion_from_to(q0, q1)))

    def neutral(self) -> list[Scalar]:
        return [0, 0, 0, 1]

    def random(self, rng, lower, upper, size=None) -> list[Scalar]:
        return _uniform_quaternion(rng, size)


@dataclass(frozen=True)
class Spin(_OneAxis):
    """A turn of a body that is round about its axis, in a frame that does not turn with it: of rotors."""

    name: ClassVar[str] = "spin"

    def transform(self, q: Scalars) -> Transform:
        return Transform.identity()


@dataclass(frozen=True)
class Planar(JointKind):
    """A slide in the plane with normal ``axis`` and a turn about it.

    The plane's x and y are those of the joint's frame for the normal z; for a normal x they are
    (y, z), for y (z, x); for any other, the first two columns of `turn_of_axis`.
    """

    axis: Axis = (0, 0, 1)

    name: ClassVar[str] = "planar"
    q_labels: ClassVar[tuple[str, ...]] = ("x", "y", "cos", "sin")
    v_labels: ClassVar[tuple[str, ...]] = ("vx", "vy", "wz")

    @cached_property
    def columns(self) -> tuple[Motion, ...]:  # type: ignore[override]
        x, y, z = self._directions
        zero = Vector.zero()
        return Motion(x, zero), Motion(y, zero), Motion(zero, z)

    @cached_property
    def _directions(self) -> tuple[Vector, ...]:
        match coordinate_axis(self.axis):
            case (k, 1):
                return tuple(Vector.unit((k + n) % 3) for n in (1, 2, 0))
            case _:
                return tuple(turn_of_axis(self.axis).column(n) for n in range(3))

    def transform(self, q: Scalars) -> Transform:
        x, y, c, s = q
        ex, ey, _ = self._directions
        p = ex * x + ey * y
        match coordinate_axis(self.axis):
            case (k, 1):
                return Transform(AxisRotation(k, c, s), p)
            case _:
                R = turn_of_axis(self.axis)
                turned = AxisRotation(2, c, s).after(R).times(R.transposed())
                return Transform(MatrixRotation(turned), p)

    def integrate(self, q: Scalars, w: Scalars) -> list[Scalar]:
        x, y, c, s = q
        dx, dy, dc, ds = planar_exponential(*w)
        turn = _normalised((c * dc - s * ds, s * dc + c * ds))
        return [x + c * dx - s * dy, y + s * dx + c * dy, *turn]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        (x0, y0, c0, s0), (x1, y1, c1, s1) = q0, q1
        dx, dy = x1 - x0, y1 - y0
        turn = c0 * c1 + s0 * s1, c0 * s1 - s0 * c1
        return list(planar_logarithm(c0 * dx + s0 * dy, c0 * dy - s0 * dx, *turn))

    def neutral(self) -> list[Scalar]:
        return [0, 0, 1, 0]

    def random(self, rng, lower, upper, size=None) -> list[Scalar]:
        x, y = (_uniform(rng, lower[k], upper[k], 1, size) for k in range(2))
        angle = rng.uniform(-math.pi, math.pi, size)
        return [x, y, cos(angle), sin(angle)]


@dataclass(frozen=True)
class Free(JointKind):
    """No constraint: a floating base."""

    name: ClassVar[str] = "free"
    q_labels: ClassVar[tuple[str, ...]] = ("x", "y", "z", "qx", "qy", "qz", "qw")
    v_labels: ClassVar[tuple[str, ...]] = ("vx", "vy", "vz", "wx", "wy", "wz")
    columns: ClassVar[tuple[Motion, ...]] = _UNITS  # type: ignore[assignment]

    def transform(self, q: Scalars) -> Transform:
        return Transform(rotation_from_quaternion(*q[3:]), Vector(*q[:3]))

    def integrate(self, q: Scalars, w: Scalars) -> list[Scalar]:
        p, turn = pose_exponential(Vector(*w[:3]), Vector(*w[3:]))
        quaternion = _normalised(quaternion_product(tuple(q[3:]), turn))
        return [*self.transform(q).transform_point(p), *quaternion]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        X = self.transform(q0)
        p = X.R.rotate_back(Vector(*q1[:3]) - X.p)
        v, w = pose_logarithm(p, _quaternion_from_to(q0[3:], q1[3:]))
        return [*v, *w]

    def neutral(self) -> list[Scalar]:
        return [0, 0, 0, 0, 0, 0, 1]

    def random(self, rng, lower, upper, size=None) -> list[Scalar]:
        position = [_uniform(rng, lower[k], upper[k], 1, size) for k in range(3)]
        return position + _uniform_quaternion(rng, size)


KINDS: dict[str, type[JointKind]] = {
    kind.name: kind for kind in (Fixed, Revolute, Continuous, Prismatic, Helical, Spherical, Planar, Free)
}


# ---- axes

ROUNDING = 1e-15
"""How far off structural zeros and ones may be: only plain numbers are touched, and none by more."""


def snapped(x: Scalar, rounding: float = ROUNDING) -> Scalar:
    """``x``, or the integer 0, 1 or -1 that it is but for rounding."""
    if not is_constant(x):
        return x
    return next((n for n in (0, 1, -1) if abs(x - n) <= rounding), x)


def coordinate_axis(axis: tuple[Scalar, ...]) -> tuple[int, int] | None:
    """(k, sign) if the axis is plus or minus coordinate axis k, else None."""
    if not all(is_constant(a) for a in axis):
        return None
    nonzero = [k for k in range(3) if axis[k] != 0]
    if len(nonzero) != 1 or abs(axis[nonzero[0]]) != 1:
        return None
    return nonzero[0], int(axis[nonzero[0]])


def turn_of_axis(axis: tuple[Scalar, ...]) -> Matrix3:
    """A constant rotation R with R e_z = axis, with as many zeros as the axis allows.

    Its first column is at right angles to the axis and to the coordinate direction least along it.
    """
    a = Vector(*axis)
    least = min(range(3), key=lambda k: abs(axis[k])) if all(is_constant(e) for e in axis) else 0
    first = Vector.unit(least).cross(a)
    first = first * (1 / sqrt(first.dot(first)))
    return Matrix3.from_columns(first, a.cross(first), a)


def _turn(axis: Axis, angle: Scalar) -> Rotation:
    match coordinate_axis(axis):
        case (k, sign):
            return AxisRotation(k, cos(angle), sign * sin(angle))
        case _:
            return rotation_about(Vector(*axis), angle)


def _along(axis: Axis, distance: Scalar) -> Vector:
    # integers where the axis is none of it, not 0 times a distance
    return Vector(*(0 if is_constant(a) and a == 0 else a * distance for a in axis))


def _quaternion_from_to(q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
    x, y, z, w = q0
    return quaternion_product((-x, -y, -z, w), tuple(q1))


def _normalised(unit: tuple[Scalar, ...]) -> list[Scalar]:
    """A vector of almost unit length brought closer to it, by one Newton step, as in Pinocchio."""
    scale = (3 - sum(e * e for e in unit)) / 2
    return [e * scale for e in unit]


def _uniform(rng: np.random.Generator, lower: float, upper: float, reach: float, size: int | None) -> Scalar:
    """Uniform within the limits; an open side lies ``reach`` from zero, or twice that from the other."""
    # some files write 1e16 for "no limit"
    low, high = sorted(x if abs(x) < 1e6 else math.copysign(math.inf, x) for x in (lower, upper))
    if math.isinf(low) and math.isinf(high):
        low, high = -reach, reach
    elif math.isinf(low) or math.isinf(high):
        low, high = (high - 2 * reach, high) if math.isinf(low) else (low, low + 2 * reach)
    return rng.uniform(low, high, size)


def _uniform_quaternion(rng: np.random.Generator, size: int | None) -> list[Scalar]:
    """Unit quaternions, every turn as likely as any other."""
    parts = [rng.standard_normal(size) for _ in range(4)]
    length = np.sqrt(sum(p * p for p in parts))
    return [p / length for p in parts]
