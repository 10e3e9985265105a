"""Velocity and height of a base from its legs: feet that stand tell how fast the base moves, and how high it is.

A foot that sticks to the ground and the joints between tell the velocity of the base; an accelerometer tells how it
changes. The first is right for long times, the second for short ones, in the air, and where a foot slips. Both are
weighted by constant gains, those of a Kalman filter in its steady state with one kind of noise each [M. Bloesch et al.
2012, "State estimation for legged robots: consistent fusion of leg kinematics and IMU", RSS, has the filter with
covariances].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pliant.checks import check, check_at_least, check_known
from pliant.control.attitude import Attitude, AttitudeFilter
from pliant.dynamics import frame_pose, frame_velocity
from pliant.errors import RobotError
from pliant.robot import Robot
from pliant.robot.contacts import ContactShape, with_default_contacts
from pliant.scalar import Scalar, Scalars, maximum, minimum, sqrt
from pliant.signatures import explained
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector

# squared speeds below this count as zero [m^2/s^2]
_STILL = 1e-12


class BaseMotion(NamedTuple):
    """The motion of a base, as estimated.

    Attributes:
        attitude: of the IMU's frame.
        R: of the base, R_WB, in a world whose heading is that of the IMU at the start.
        rate: angular velocity, in the base's axes [rad/s].
        velocity: of the base's origin, in that world's axes [m/s].
        height: of the base's origin above the feet that stand [m].
        feet: from the base's origin to the centre of each foot, in the base's axes [m].
    """

    attitude: Attitude
    R: MatrixRotation
    rate: Vector
    velocity: Vector
    height: Scalar
    feet: tuple[Vector, ...]


@explained
@dataclass(frozen=True)
class LegOdometry:
    """Velocity and height of a base by its feet, generic over the scalar.

    With a the accelerometer's reading, and for foot i with contact c_i (1 on the ground, 0 in the air) v_i the velocity
    of the base at which the foot's lowest point stands still, and z_i the base's height above it,

        v' = R a - g + k / max(1, sum c) sum_i c_i  min(1, slip / |v_i - v|) (v_i - v)
        z' = v_z + k_z / max(1, sum c) sum_i c_i (z_i - z)

    A foot that slips pulls with no more than ``slip``, so that one among n feet shifts the estimate by at most
    slip / (n - 1) (Huber's weights); in flight nothing pulls.

    Attributes:
        joints: those of the encoders, in their order.
        feet: contacts with one centre each; they stand on the lowest point of a ball about it.
        X_BF: pose of the IMU in the base.
        k, k_height: how fast legs correct velocity and height [1/s].
        slip: speed of a foot from which it is taken to slip [m/s].
        gravity: [m/s^2].
    """

    robot: Robot
    joints: tuple[str, ...]
    feet: tuple[ContactShape, ...]
    X_BF: Transform
    k: Scalar = 30.0
    k_height: Scalar = 10.0
    slip: Scalar = 0.2
    gravity: Scalar = 9.81

    def __post_init__(self) -> None:
        for name in ("k", "k_height", "gravity"):
            check_at_least(name, getattr(self, name), 0, subject="LegOdometry", error=RobotError)
        check_at_least("slip", self.slip, 0, strict=True, subject="LegOdometry", error=RobotError)

    @property
    def memory(self) -> tuple[float, ...]:
        """At the start: at rest, at no height."""
        return (0.0,) * 4

    def update(
        self, attitude: Attitude, accelerometer: Scalars, positions: Scalars, rates: Scalars, touch: Scalars,
        memory: Scalars, dt: Scalar,
    ) -> tuple[BaseMotion, list[Scalar]]:  # fmt: skip
        """The motion of the base after a sample, and the new memory.

        Args:
            attitude: of the IMU's frame F.
            accelerometer: reading, in F's axes [m/s^2].
            positions, rates: of the joints [rad or m; per s].
            touch: of each foot, from 0 in the air to 1 on the ground.
            memory: velocity of F's origin and height, 4.
            dt: time since the last sample [s].
        """
        to_base, place = self.X_BF.R, self.X_BF.p
        R = MatrixRotation(to_base.inverse().after(attitude.rotation.matrix()))
        w = to_base.rotate(attitude.rate)
        lever = R.rotate(w.cross(place))
        felt = attitude.rotation.rotate(Vector(*accelerometer))
        v = Vector(*memory[:3]) + (felt - Vector(0, 0, self.gravity)) * dt
        height = memory[3] + dt * v.z
        feet, stances = self._stances(R, w, positions, rates)

        standing = sum(touch[1:], touch[0])
        share = 1 / maximum(standing, 1)
        pull, lift = Vector.zero(), 0
        for c, (velocity, above) in zip(touch, stances, strict=True):
            off = velocity + lever - v
            size = sqrt(maximum(off.dot(off), _STILL))
            pull = pull + off * (c * share * minimum(1, self.slip / size))
            lift = lift + c * share * (above + R.rotate(place).z - height)
        v = v + pull * _step(self.k, dt)
        height = height + lift * _step(self.k_height, dt)
        motion = BaseMotion(attitude, R, w, v - lever, height - R.rotate(place).z, feet)
        return motion, [*v, height]

    def _stances(
        self, R: MatrixRotation, w: Vector, positions: Scalars, rates: Scalars
    ) -> tuple[tuple[Vector, ...], list[tuple[Vector, Scalar]]]:
        """Centres of the feet in the base; and by foot the velocity of a base on it, and its height."""
        robot = self.robot
        q, v = [*robot.neutral().tolist()], [0] * robot.nv
        root = next(iter(robot.joints))
        q[robot.q_slice(root)] = [0, 0, 0, 0, 0, 0, 1]
        v[robot.v_slice(root)] = [0, 0, 0, *w]
        for name, x, rate in zip(self.joints, positions, rates, strict=True):
            q[robot.q_slice(name)], v[robot.v_slice(name)] = [x], [rate]
        down = R.rotate_back(Vector(0, 0, -1))
        feet, found = [], []
        for foot in self.feet:
            rows = frame_pose.algorithm(robot, q, foot.body)
            V = frame_velocity.algorithm(robot, q, v, foot.body)
            center = Matrix3(x for row in rows[:3] for x in row[:3]) @ foot.centers[0]
            origin, sole = Vector(*(row[3] for row in rows[:3])), center + down * foot.radius
            # as seen from the base, that point moves by so much; on the ground it stands still
            velocity = Vector(*V[:3]) + Vector(*V[3:]).cross(sole)
            feet.append(origin + center)
            found.append((-R.rotate(velocity), -R.rotate(origin + sole).z))
        return tuple(feet), found


@explained
@dataclass(frozen=True)
class BaseEstimator:
    """Attitude, velocity and height of a base from the sensors of a robot, in a controller with memory.

        estimator = BaseEstimator.of(robot)                             # by its sensors imu, encoders and feet
        def function(t, sensors, memory):
            base, memory = estimator.update(sensors, memory, dt)
            return law(base), memory
        Controller(function, memory=estimator.memory)

    Attributes:
        imu, encoder, contact: names of the sensors.
    """

    imu: str
    encoder: str
    contact: str
    attitude: AttitudeFilter
    odometry: LegOdometry

    @classmethod
    def of(
        cls, robot: Robot, *, imu: str = "imu", encoder: str = "encoders", contact: str = "feet",
        kp: Scalar = 1.0, ki: Scalar = 0.25, gate: Scalar = 0.3, k: Scalar = 30.0, k_height: Scalar = 10.0,
        slip: Scalar = 0.2,
    ) -> "BaseEstimator":  # fmt: skip
        """That of a robot with a free base, an IMU on it, encoders at all joints of the legs, and contacts at the feet.

        Args:
            imu, encoder, contact: names of the sensors.
            kp, ki, gate: of the `AttitudeFilter`.
            k, k_height, slip: of the `LegOdometry`.
        """
        owner = f"robot {robot.name!r}"
        if not robot.is_free:
            raise RobotError(f"{owner} has a fixed base", subject=owner, field="base", cure="load it with base='free'")
        needed = (
            (imu, "imu", ("gyro", "accelerometer")), (encoder, "encoder", ("position", "velocity")),
            (contact, "contact", ("touch",)),
        )  # fmt: skip
        for name, kind, channels in needed:
            check_known("sensor", name, robot.sensors, owner, error=RobotError)
            sensor = robot.sensors[name]
            check("kind", sensor.kind, repr(kind), sensor.kind == kind, subject=sensor.subject, error=RobotError)
            for channel in channels:
                check_known("channel", channel, sensor.channels, sensor.subject, error=RobotError)
        link, X_BF = robot.mechanism.frame(robot.sensors[imu].at[0])
        subject = robot.sensors[imu].subject
        base = robot.mechanism.links[0].body
        check("at", robot.sensors[imu].at[0], f"a frame of the base, {base!r}", link == 0, subject=subject,
              error=RobotError)  # fmt: skip
        g = float(sqrt(robot.gravity.dot(robot.gravity)))
        shapes = list(with_default_contacts(robot, has_ground=True).contacts.values())
        feet = tuple(_foot(shapes, name) for name in robot.sensors[contact].at)
        odometry = LegOdometry(robot, robot.sensors[encoder].at, feet, X_BF, k, k_height, slip, g)
        _check_legs(robot, odometry)
        return cls(imu, encoder, contact, AttitudeFilter(kp, ki, g, gate), odometry)

    @property
    def memory(self) -> tuple[float, ...]:
        """At the start, that of both filters."""
        return (*self.attitude.memory, *self.odometry.memory)

    def update(self, sensors: Mapping[str, Scalars], memory: Scalars, dt: Scalar) -> tuple[BaseMotion, list[Scalar]]:
        """The motion of the base after a sample, and the new memory.

        Args:
            sensors: readings by channel: a row of numbers each, or of arrays with a number for each robot.
            memory: as many as `memory` has.
            dt: time since the last sample [s].
        """
        n = len(self.attitude.memory)
        accelerometer = sensors[f"{self.imu}.accelerometer"]
        attitude, first = self.attitude.update(sensors[f"{self.imu}.gyro"], accelerometer, memory[:n], dt)
        positions, rates = (sensors[f"{self.encoder}.{what}"] for what in ("position", "velocity"))
        touch = sensors[f"{self.contact}.touch"]
        motion, second = self.odometry.update(attitude, accelerometer, positions, rates, touch, memory[n:], dt)
        return motion, [*first, *second]


def _step(k: Scalar, dt: Scalar) -> Scalar:
    """The share that a rate k takes in a time dt, implicitly: never more than all."""
    return k * dt / (1 + k * dt)


def _foot(shapes: Sequence[ContactShape], place: str) -> ContactShape:
    """The contact of a place of a contact sensor: the contact of that name, or the one of that body."""
    shapes = [shape for shape in shapes if place in (shape.name, shape.body)]
    if len(shapes) != 1 or len(shapes[0].centers) != 1 or shapes[0].supports != (None,):
        subject = f"contact {place!r}"
        problem = f"{subject}: {len(shapes)} contacts, or one that is not a point or a ball"
        cure = "declare one with robot.with_contact(frame, radius=...)"
        raise RobotError(problem, subject=subject, field="contact", cure=cure)
    return shapes[0]


def _check_legs(robot: Robot, odometry: LegOdometry) -> None:
    """Raise if a joint of a leg has no encoder."""
    for foot in odometry.feet:
        springs = {flexibility.name for flexibility in robot.flexibilities.values()}
        moving: Sequence[str] = [j.name for j in robot.path(foot.body)[:-1] if j.kind.nv and j.name not in springs]
        absent = [name for name in moving if name not in odometry.joints]
        if absent:
            problem = f"joint {absent[0]!r}, between base and {foot.name!r}, has no encoder"
            cure = f"give it one: with_sensor('encoder', [..., {absent[0]!r}])"
            raise RobotError(problem, subject=f"joint {absent[0]!r}", field="encoder", cure=cure)
