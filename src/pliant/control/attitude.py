"""Attitude from a gyroscope and an accelerometer.

The explicit complementary filter with a bias [R. Mahony, T. Hamel, J.-M. Pflimlin 2008, "Nonlinear complementary
filters on the special orthogonal group", IEEE Trans. Automatic Control 53, section V]. The gyroscope, integrated, is
right for short times; the accelerometer, which on the average feels gravity alone, for long ones.
"""

from dataclasses import dataclass
from math import pi
from typing import NamedTuple

from pliant.checks import check_at_least
from pliant.errors import PliantError
from pliant.robot.exponential import Quaternion, turn_exponential
from pliant.scalar import Scalar, Scalars, maximum, select, sqrt
from pliant.signatures import explained
from pliant.spatial import MatrixRotation, Vector, quaternion_product, rotation_from_quaternion

_UP = Vector(0, 0, 1)
# squared length of a quaternion that is not set yet
_HALF = 0.5
# shorter vectors have no direction, relative to gravity
_NOTHING = 1e-6


class Attitude(NamedTuple):
    """An attitude, as estimated.

    Attributes:
        quaternion: (x, y, z, w) of R_WF, the sensor's frame F in a world whose heading is that of F at the start.
        rate: angular velocity, the gyroscope's less its bias, in F's axes [rad/s].
        bias: of the gyroscope [rad/s].
    """

    quaternion: Quaternion
    rate: Vector
    bias: Vector

    @property
    def rotation(self) -> MatrixRotation:
        """R_WF."""
        return rotation_from_quaternion(*self.quaternion)

    @property
    def up(self) -> Vector:
        """The vertical in F's axes, R_WF^T z."""
        return self.rotation.rotate_back(_UP)


@explained
@dataclass(frozen=True)
class AttitudeFilter:
    """Mahony's filter, generic over the scalar.

        filter = AttitudeFilter()
        memory = filter.memory
        attitude, memory = filter.update(gyro, accelerometer, memory, dt)      # for each sample

    With u the direction of the accelerometer's reading, z the vertical, and R, b the estimates,

        e = trust  u x R^T z        R' = R (w - b + kp e)~        b' = -ki e

    and trust = 1 - ((|a| - g) / (gate g))^2, or 0 where that is negative: in a blow or a fall the accelerometer does
    not show the vertical. Small errors of tilt die out as s^2 + kp s + ki, the bias about the vertical remains: gravity
    says nothing about the heading. The first sample gives the tilt at the start, by the shortest turn.

    Attributes:
        kp: how fast errors of tilt die out [1/s]; ki: the same for the bias [1/s^2].
        gravity: [m/s^2].
        gate: by how much the size of the reading may differ from gravity, as a share of it.
    """

    kp: Scalar = 1.0
    ki: Scalar = 0.25
    gravity: Scalar = 9.81
    gate: Scalar = 0.3

    def __post_init__(self) -> None:
        for name in ("kp", "ki"):
            check_at_least(name, getattr(self, name), 0, subject="AttitudeFilter", error=PliantError)
        for name in ("gravity", "gate"):
            check_at_least(name, getattr(self, name), 0, strict=True, subject="AttitudeFilter", error=PliantError)

    @property
    def memory(self) -> tuple[float, ...]:
        """At the start: no quaternion yet, and no bias."""
        return (0.0,) * 7

    def update(
        self, gyro: Scalars, accelerometer: Scalars, memory: Scalars, dt: Scalar
    ) -> tuple[Attitude, list[Scalar]]:
        """The attitude after a sample, and the new memory.

        Args:
            gyro: reading [rad/s]; accelerometer: reading [m/s^2]; both in the axes of the sensor's frame.
            memory: quaternion and bias, 7.
            dt: time since the last sample [s].
        """
        felt = Vector(*accelerometer)
        size = sqrt(felt.dot(felt))
        felt = felt * (1 / maximum(size, _NOTHING * self.gravity))
        is_new = sum((x * x for x in memory[1:4]), memory[0] * memory[0]) < _HALF
        pairs = zip(upright_from(felt), memory[:4], strict=True)
        before = tuple(select(is_new, start, x) for start, x in pairs)

        off = (size - self.gravity) / (self.gate * self.gravity)
        trust = maximum(0, 1 - off * off)
        error = felt.cross(rotation_from_quaternion(*before).rotate_back(_UP)) * trust
        bias = Vector(*memory[4:7]) - error * (self.ki * dt)
        rate = Vector(*gyro) - bias
        # of the first sample nothing has gone by yet
        turn = (rate + error * self.kp) * select(is_new, 0, dt)
        x, y, z, w = quaternion_product(before, turn_exponential(turn))
        # rounding is taken back: 1 / |q| near 1
        scale = (3 - (x * x + y * y + z * z + w * w)) / 2
        after = (x * scale, y * scale, z * scale, w * scale)
        return Attitude(after, rate, bias), [*after, *bias]


def upright_from(up: Vector) -> Quaternion:
    """The shortest turn that brings the unit vector ``up`` to the vertical, as a quaternion (x, y, z, w).

    With half the angle between them, (up x z, 1 + up . z) has the right direction; where up points straight down there
    are many, and it is half a turn about x.
    """
    w = 1 + up.z
    is_down = w < _NOTHING
    length = sqrt(select(is_down, 1, up.y * up.y + up.x * up.x + w * w))
    x, y, c = (select(is_down, a, b / length) for a, b in ((1, up.y), (0, -up.x), (0, w)))
    return x, y, 0 * c, c


def heading_of(R: MatrixRotation) -> tuple[Scalar, Scalar]:
    """Cosine and sine of the heading: the direction of R's x axis in the horizontal plane.

    Where x points straight up or down there is none, and it is 1, 0.
    """
    ahead = R.rotate(Vector.unit(0))
    square = ahead.x * ahead.x + ahead.y * ahead.y
    is_there = square > _NOTHING
    length = sqrt(select(is_there, square, 1))
    return select(is_there, ahead.x / length, 1), select(is_there, ahead.y / length, 0)


def turn_of_heading(angle: Scalar) -> Scalar:
    """An angle, brought to within half a turn of zero for angles within one and a half [rad]."""
    return select(angle > pi, angle - 2 * pi, select(angle < -pi, angle + 2 * pi, angle))
