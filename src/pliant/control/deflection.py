"""Deflection of a flexible joint from IMUs on both sides of its spring.

The encoder of a motor does not see the spring between motor and link. IMUs before and behind it see the turn of both,
and with it the deflection. As in the estimators for legged robots with flexible joints [M. Vigne, A. El Khoury, F. Di
Meglio, N. Petit 2020, "State estimation for a legged robot with multiple flexibilities using IMUs: a kinematic
approach", IEEE Robotics and Automation Letters 5], nothing is assumed about the spring. Here the two accelerometers are
compared with each other at the joint, which may accelerate as it likes; there, each is compared with gravity.
"""

from dataclasses import dataclass
from typing import NamedTuple

from pliant.checks import check, check_at_least, check_known
from pliant.errors import RobotError
from pliant.robot import Revolute, Robot
from pliant.robot.joints import Continuous
from pliant.scalar import Scalar, Scalars, equal, maximum, select
from pliant.signatures import explained
from pliant.spatial import Transform, Vector, rotation_about

# specific forces below this share of gravity show no direction
_LEAST = 0.3
_SAME = 1e-9


class Deflection(NamedTuple):
    """A deflection, as estimated.

    Attributes:
        angle: of the link against the motor, about the joint's axis [rad].
        rate: [rad/s].
        link: position of the link, that of the motor and the deflection [rad].
        bias: of the difference of the gyroscopes about the axis [rad/s].
    """

    angle: Scalar
    rate: Scalar
    link: Scalar
    bias: Scalar


@explained
@dataclass(frozen=True)
class DeflectionFilter:
    """A complementary filter for the deflection of a hinge, generic over the scalar.

        filter = DeflectionFilter.of(robot, "knee", near="thigh_imu", far="shank_imu")
        deflection, memory = filter.update(near_gyro, near_accelerometer, far_gyro, far_accelerometer, position, rate,
                                           memory, dt)

    With a the axis, w and f the angular velocities and the specific forces at the joint on both sides, and x the
    position of the link against what carries it,

        e = a . (Rot(a, x) f_far x f_near) / |f_near|^2        x' = a . (w_far - w_near) - b + kp e        b' = -ki e

    and x less the motor's position is the deflection. Specific forces are brought to the joint with the angular
    velocities and their filtered derivatives. It cannot see a deflection about an axis along which they both point:
    with a vertical axis at rest, only the gyroscopes tell, and their bias is not found.

    Attributes:
        axis: of joint and spring.
        X_SN: pose of the near IMU in the spring's frame; X_CF: of the far one in the link's.
        kp, ki: as those of an `AttitudeFilter` [1/s, 1/s^2].
        bandwidth: of the derivatives of angular velocities [1/s].
        gravity: [m/s^2].
    """

    axis: Vector
    X_SN: Transform
    X_CF: Transform
    kp: Scalar = 1.0
    ki: Scalar = 0.25
    bandwidth: Scalar = 200.0
    gravity: Scalar = 9.81

    def __post_init__(self) -> None:
        for name in ("kp", "ki"):
            check_at_least(name, getattr(self, name), 0, subject="DeflectionFilter", error=RobotError)
        for name in ("bandwidth", "gravity"):
            check_at_least(name, getattr(self, name), 0, strict=True, subject="DeflectionFilter", error=RobotError)

    @classmethod
    def of(
        cls, robot: Robot, joint: str, *, near: str, far: str, kp: Scalar = 1.0, ki: Scalar = 0.25,
        bandwidth: Scalar = 200.0,
    ) -> "DeflectionFilter":  # fmt: skip
        """That of a joint with a spring about its own axis.

        Args:
            joint: a hinge with one flexibility, see `Robot.with_flexibility`.
            near, far: names of IMUs on the body that carries the joint, and on the link that it drives.
        """
        owner = f"robot {robot.name!r}"
        check_known("joint", joint, robot.joints, owner, error=RobotError)
        springs = [robot.joints[f.name] for f in robot.flexibilities.values() if f.joint == joint]
        driven = robot.joints[joint]
        is_hinge = isinstance(driven.kind, Revolute | Continuous) and len(springs) == 1
        is_hinge = is_hinge and springs[0].kind.nv == 1 and springs[0].child == driven.parent
        if not is_hinge or not _is_same_axis(springs[0].kind.columns[0].angular, driven.kind.columns[0].angular):
            subject = f"joint {joint!r}"
            problem = f"{subject} of {owner} is not a hinge with one spring about its axis"
            cure = f"give it one: robot.with_flexibility({joint!r}, stiffness=...)"
            raise RobotError(problem, subject=subject, field="flexibility", cure=cure)
        (spring,) = springs
        link, X_LP = robot.mechanism.body(spring.parent)
        X_SN = _mounting(robot, near, link, (X_LP @ spring.placement).inverse(), spring.parent)
        link, X_LC = robot.mechanism.body(driven.child)
        X_CF = _mounting(robot, far, link, X_LC.inverse(), driven.child)
        g = sum(float(x) ** 2 for x in robot.gravity) ** 0.5
        return cls(driven.kind.columns[0].angular, X_SN, X_CF, kp, ki, bandwidth, g)

    @property
    def memory(self) -> tuple[float, ...]:
        """At the start: whether it has begun, position of the link, bias, and angular velocities on both sides."""
        return (0.0,) * 9

    def update(
        self, near_gyro: Scalars, near_accelerometer: Scalars, far_gyro: Scalars, far_accelerometer: Scalars,
        position: Scalar, rate: Scalar, memory: Scalars, dt: Scalar,
    ) -> tuple[Deflection, list[Scalar]]:  # fmt: skip
        """The deflection after a sample, and the new memory. It begins with none.

        Args:
            near_gyro, near_accelerometer, far_gyro, far_accelerometer: readings [rad/s, m/s^2].
            position, rate: of the motor's joint, by an encoder on the motor's side [rad, rad/s].
            memory: as many numbers as `memory` has.
            dt: time since the last sample [s].
        """
        is_new = equal(memory[0], 0)
        step = self.bandwidth * dt / (1 + self.bandwidth * dt)
        w_near, w_far = self.X_SN.R.rotate(Vector(*near_gyro)), self.X_CF.R.rotate(Vector(*far_gyro))
        sides, kept = [], []
        for w, X, felt, slow in (
            (w_near, self.X_SN, near_accelerometer, memory[3:6]), (w_far, self.X_CF, far_accelerometer, memory[6:9]),
        ):  # fmt: skip
            before = Vector(*(select(is_new, a, b) for a, b in zip(w, slow, strict=True)))
            after = before + (w - before) * step
            # the filter's own rate: a derivative of what is slower than it
            wd = (after - before) * (1 / dt)
            sides.append(X.R.rotate(Vector(*felt)) - wd.cross(X.p) - w.cross(w.cross(X.p)))
            kept += [*after]
        f_near, f_far = sides

        x = select(is_new, position, memory[1])
        across = self.axis.dot(rotation_about(self.axis, x).rotate(f_far).cross(f_near))
        least = _LEAST * self.gravity
        error = across / maximum(f_near.dot(f_near), least * least)
        bias = memory[2] - self.ki * dt * error
        turning = self.axis.dot(w_far) - self.axis.dot(w_near) - bias
        x = x + select(is_new, 0, dt) * (turning + self.kp * error)
        return Deflection(x - position, turning - rate, x, bias), [1, x, bias, *kept]


def _is_same_axis(a: Vector, b: Vector) -> bool:
    return all(abs(float(x - y)) < _SAME for x, y in zip(a, b, strict=True))


def _mounting(robot: Robot, name: str, link: int, X_SL: Transform, body: str) -> Transform:
    """The pose of an IMU in a frame S of its link; raises if it is on another one."""
    check_known("sensor", name, robot.sensors, f"robot {robot.name!r}", error=RobotError)
    sensor = robot.sensors[name]
    check("kind", sensor.kind, "'imu'", sensor.kind == "imu", subject=sensor.subject, error=RobotError)
    at, X_LF = robot.mechanism.frame(sensor.at[0])
    check("at", sensor.at[0], f"a frame of {body!r}", at == link, subject=sensor.subject, error=RobotError)
    return X_SL @ X_LF
