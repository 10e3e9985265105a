"""A trot for robots with four legs, from sensors alone: diagonal legs step together, the feet keep the robot upright.

What the body does follows from where the feet land [M. Raibert 1986, *Legged Robots That Balance*, chapter 4: in a trot
each diagonal pair is one virtual leg]; in stance, the feet are moved under the body, and pushed down where it is low.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from pliant.checks import check, check_at_least, check_known
from pliant.control.attitude import heading_of, turn_of_heading
from pliant.control.leg_odometry import BaseEstimator, BaseMotion
from pliant.errors import Call, RobotError
from pliant.robot import Revolute, Robot
from pliant.scalar import Scalar, Scalars, acos, atan2, both, cos, floor, maximum, minimum, select, sin, sqrt
from pliant.signatures import explained
from pliant.simulation import Controller
from pliant.spatial import Vector

# legs are at most this share of their length long
_STRAIGHT = 0.98
# how far from straight below the hip a foot is put at most, in lengths of the leg
_REACH = 0.5
# highest speed of a foot that the law asks for [m/s]
_FASTEST = 3.0
_PAIRS = (0.0, 0.5, 0.5, 0.0)
LEGS = tuple((f"{leg}_hip_roll", f"{leg}_hip_pitch", f"{leg}_knee", f"{leg}_foot") for leg in ("lf", "lh", "rf", "rh"))
"""Names of joints and feet of the shipped quadruped."""


@explained
@dataclass(frozen=True)
class Leg:
    """A leg of three hinges, about x, y and y, in the base's axes.

    Attributes:
        joints: roll, pitch and knee.
        hip: where the axis of roll is, at the pitch axis' x [m].
        side: from there to the plane of the leg, along y [m].
        thigh, shank: lengths [m].
        bend: 1 or -1, the sign of the knee's angle: that of the robot's stance.
    """

    joints: tuple[str, str, str]
    hip: Vector
    side: Scalar
    thigh: Scalar
    shank: Scalar
    bend: int

    @classmethod
    def of(cls, robot: Robot, joints: Sequence[str], foot: str) -> "Leg":
        """That of a robot; raises if it is not of this form."""
        owner = f"robot {robot.name!r}"
        axes = ((1, 0, 0), (0, 1, 0), (0, 1, 0))
        for name, axis in zip(joints, axes, strict=True):
            check_known("joint", name, robot.joints, owner, error=RobotError)
            kind = robot.joints[name].kind
            if kind != Revolute(axis):
                problem = f"joint {name!r} of {owner} is {kind}"
                cure = f"it must be {Revolute(axis)}"
                raise RobotError(problem, subject=f"joint {name!r}", field="kind", cure=cure)
        roll, pitch, knee = (robot.joints[name].placement.p for name in joints)
        ankle = robot.mechanism.frame(foot)[1].p
        hip = Vector(roll.x + pitch.x, roll.y, roll.z)
        bend = 1 if float(robot.stance()[robot.q_slice(joints[2])][0]) > 0 else -1
        a, b, c = joints
        return cls((a, b, c), hip, pitch.y + knee.y + ankle.y, -knee.z, -ankle.z, bend)

    @property
    def length(self) -> Scalar:
        """Of thigh and shank [m]."""
        return self.thigh + self.shank

    def torques(self, angles: Scalars, load: Scalar) -> list[Scalar]:
        """Torques of roll, pitch and knee by which the foot carries a load, with the base level [N m]."""
        roll, pitch, knee = angles
        shank = -self.shank * sin(pitch + knee)
        x, low = -self.thigh * sin(pitch) + shank, self.thigh * cos(pitch) + self.shank * cos(pitch + knee)
        across = self.side * cos(roll) + low * sin(roll)
        return [-across * load, cos(roll) * x * load, cos(roll) * shank * load]

    def angles(self, p: Vector) -> list[Scalar]:
        """Roll, pitch and knee that bring the foot's centre to p, in the base's axes; as near as it gets [rad]."""
        d = p - self.hip
        low = sqrt(maximum(d.y * d.y + d.z * d.z - self.side * self.side, self.length * self.length / 100))
        roll = atan2(d.z, d.y) - atan2(-low, self.side)
        a, b = self.thigh, self.shank
        least, most = abs(a - b) + 0.1 * self.length, _STRAIGHT * self.length
        r = minimum(maximum(sqrt(d.x * d.x + low * low), least), most)
        between = acos((a * a + r * r - b * b) / (2 * a * r))
        knee = pi - acos((a * a + b * b - r * r) / (2 * a * b))
        return [roll, atan2(-d.x, low) - self.bend * between, self.bend * knee]


@explained
@dataclass(frozen=True)
class TrotGains:
    """Numbers of the gait; the defaults suit `pliant.load("quadruped")`.

    Attributes:
        period: of a stride [s]; duty: share of it that a foot is on the ground.
        height: of the hips above the feet [m]; crouch: the same at the start.
        lift: how high feet are lifted [m]; probe: how much lower than level ground they reach for it [m].
        rise, start: times until it stands, and until it trots [s]; ramp: until it follows the command in full [s].
        placement: how much further a foot is put for an error of speed [s].
        tilt: of the feet in stance against roll and pitch: share of the angle [1], and of its rate [s].
        settle: time in which a foot that landed high or low comes back to the height of the others [s].
        hold: how fast it catches up with where it should be by now [1/s]; leash: most that it catches up with [m].
        heading: how fast errors of heading die out [1/s].
    """

    period: float = 0.4
    duty: float = 0.5
    height: float = 0.28
    crouch: float = 0.16
    lift: float = 0.07
    probe: float = 0.02
    rise: float = 0.6
    start: float = 1.0
    ramp: float = 0.5
    placement: float = 0.1
    tilt: tuple[float, float] = (0.5, 0.05)
    settle: float = 0.2
    hold: float = 1.0
    leash: float = 0.2
    heading: float = 1.0

    def __post_init__(self) -> None:
        for name in ("period", "height", "crouch", "lift", "rise", "ramp", "settle"):
            check_at_least(name, getattr(self, name), 0, strict=True, subject="TrotGains", error=RobotError)
        check("duty", self.duty, "above 0 and below 1", 0 < self.duty < 1, subject="TrotGains", error=RobotError)


@explained
@dataclass(frozen=True)
class Trot:
    """The law of control, a generic function (t, sensors, command, memory) -> (u, memory).

    The memory holds that of the estimator, the target of each foot in the level frame of the base (its heading,
    no tilt), and whether the foot has landed. In stance a foot goes back as fast as the body is to go
    forward, p' = -v_wanted - w_wanted x p. In swing it goes to

        p = below the hip + v T / 2 + placement (v - v_wanted)

    with T the time of a stance, and so with the turn about the vertical. It lands with the first touch after half of
    the swing, or at its end. In stance a foot at (x, y) is further down by what the body is low there, by tilt and its
    rate. Targets of the motors compensate for the weight and for their dampers, which hold moving legs back.

    Attributes:
        feet: place of each leg's foot in the contact sensor; motors: of each joint's motor in u.
        kp, lags: of each joint's motor, kp and kd / kp [N m/rad, s].
        weight: of the robot [N].
        dt: control period [s].
    """

    estimator: BaseEstimator
    legs: tuple[Leg, ...]
    feet: tuple[int, ...]
    motors: tuple[int, ...]
    kp: tuple[Scalar, ...]
    lags: tuple[Scalar, ...]
    weight: Scalar
    gains: TrotGains
    dt: float

    @property
    def memory(self) -> tuple[float, ...]:
        """At the start: feet below the hips, on the ground."""
        feet = [x for leg in self.legs for x in (*self._below(leg), -self.gains.crouch, 1.0)]
        return (*self.estimator.memory, 0.0, 0.0, 0.0, *(float(x) for x in feet))

    def __call__(
        self, t: Scalar, sensors: Mapping[str, Scalars], command: Scalars, memory: Scalars
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Positions for the motors, and the new memory.

        Args:
            t: time [s].
            sensors: readings by channel.
            command: velocity ahead and to the left [m/s], and turn rate [rad/s].
            memory: as many numbers as `memory` has.
        """
        n = len(self.estimator.memory)
        base, kept = self.estimator.update(sensors, memory[:n], self.dt)
        touch = sensors[f"{self.estimator.contact}.touch"]
        (wanted, turn, speed, tilt), lag = self._motion(t, base, command, memory[n : n + 3])
        kept, n = [*kept, *lag], n + 3
        u: list[Scalar] = [0] * len(self.motors)
        for k, leg in enumerate(self.legs):
            before, landed = Vector(*memory[n + 4 * k : n + 4 * k + 3]), memory[n + 4 * k + 3]
            place, landed = self._step(t, k, before, landed, touch[self.feet[k]], base, wanted, turn, speed)
            kept += [*place, landed]
            angles = leg.angles(self._target(place, landed, base, tilt))
            torques = leg.torques(angles, select(landed > 0.5, self.weight / select(t < self.gains.start, 4, 2), 0))
            # dampers hold legs back that move: where they are to be a little later, by as much as each of them does
            rate = Vector(*(_within((a - b) / self.dt, _FASTEST) for a, b in zip(place, before, strict=True)))
            for i in range(3):
                j = 3 * k + i
                later = leg.angles(self._target(place + rate * self.lags[j], landed, base, tilt))
                u[self.motors[j]] = later[i] + torques[i] / self.kp[j]
        return u, kept

    def crouched(self, robot: Robot) -> np.ndarray:
        """A configuration to start from: the feet below the hips, the base level and at the origin."""
        q = robot.neutral()
        for leg in self.legs:
            angles = leg.angles(Vector(*self._below(leg), -self.gains.crouch))
            for joint, angle in zip(leg.joints, angles, strict=True):
                q[robot.q_slice(joint)] = float(angle)
        return q

    def _below(self, leg: Leg) -> tuple[Scalar, Scalar]:
        return leg.hip.x, leg.hip.y + leg.side

    def _motion(
        self, t: Scalar, base: BaseMotion, command: Scalars, lag: Scalars
    ) -> tuple[tuple[Vector, Scalar, Vector, Vector], list[Scalar]]:
        """Wanted velocity and turn rate, velocity at hand, and tilt, in the level frame; and what it lags behind.

        The lag is that of the place, ahead and to the left, and the heading that it should have by now.
        """
        gains, dt = self.gains, self.dt
        share = minimum(maximum((t - gains.start) / gains.ramp, 0), 1)
        x, y, turn = (share * entry for entry in command)
        c, s = heading_of(base.R)
        v = base.velocity
        speed = Vector(c * v.x + s * v.y, c * v.y - s * v.x, v.z)
        behind = [_within(a + dt * (b - w), gains.leash) for a, b, w in ((lag[0], x, speed.x), (lag[1], y, speed.y))]
        heading = turn_of_heading(lag[2] + dt * turn)
        wanted = Vector(x + gains.hold * behind[0], y + gains.hold * behind[1], 0)
        turn = turn + gains.heading * turn_of_heading(heading - atan2(s, c))
        # by how much a point at (x, y) is lower than the base, now and soon: up = R^T z
        up = base.R.rotate_back(Vector(0, 0, 1))
        kp, kd = gains.tilt
        tilt = Vector(kp * up.x - kd * base.rate.y, kp * up.y + kd * base.rate.x, 0)
        return (wanted, turn, speed, tilt), [*behind, heading]

    def _step(
        self, t: Scalar, k: int, place: Vector, landed: Scalar, touch: Scalar, base: BaseMotion, wanted: Vector,
        turn: Scalar, speed: Vector,
    ) -> tuple[Vector, Scalar]:  # fmt: skip
        """The place of a foot a period later, and whether it has landed."""
        gains, dt, leg = self.gains, self.dt, self.legs[k]
        cycle = (t - gains.start) / gains.period + _PAIRS[k]
        phase = cycle - floor(cycle)
        swing = (phase - gains.duty) / (1 - gains.duty)
        is_swing = both(t >= gains.start, swing > 0)
        landed = select(is_swing, select(both(swing > 0.5, touch > 0.5), 1, select(swing < 0.5, 0, landed)), 1)
        is_down = landed > 0.5

        # in stance: back under the body, to the height of the others
        rise = minimum(maximum(t / gains.rise, 0), 1)
        height = gains.crouch + (gains.height - gains.crouch) * rise
        back = Vector(wanted.x - turn * place.y, wanted.y + turn * place.x, 0)
        settled = -height + (place.z + height) * (1 - dt / gains.settle)
        stood = Vector(place.x - back.x * dt, place.y - back.y * dt, select(t < gains.start, -height, settled))

        # in swing: straight to where it is to land, which is found anew each time
        x, y = self._below(leg)
        time, spin = gains.period * gains.duty, base.rate.z
        aim_x, aim_y = (v * time / 2 + gains.placement * (v - w) for v, w in ((speed.x, wanted.x), (speed.y, wanted.y)))
        aim_w = spin * time / 2 + gains.placement * (spin - turn)
        most = _REACH * leg.length
        land_x = x + minimum(maximum(aim_x - aim_w * y, -most), most)
        land_y = y + minimum(maximum(aim_y + aim_w * x, -most), most)
        left = maximum((1 - swing) * (1 - gains.duty) * gains.period, dt)
        share = minimum(dt / left * 2, 1)
        up = gains.lift * sin(pi * maximum(minimum(swing, 1), 0)) - gains.probe * maximum(2 * swing - 1, 0)
        swung = Vector(place.x + (land_x - place.x) * share, place.y + (land_y - place.y) * share, -height + up)
        pairs = zip(stood, swung, strict=True)
        return Vector(*(select(is_down, a, b) for a, b in pairs)), landed

    def _target(self, place: Vector, landed: Scalar, base: BaseMotion, tilt: Vector) -> Vector:
        """Target of the foot's centre, in the base's axes."""
        c, s = heading_of(base.R)
        level = base.R.rotate_back(Vector(c * place.x - s * place.y, s * place.x + c * place.y, place.z))
        pushed = Vector(place.x, place.y, place.z + tilt.x * place.x + tilt.y * place.y)
        return Vector(*(select(landed > 0.5, a, b) for a, b in zip(pushed, level, strict=True)))


@explained
def trot(
    robot: Robot,
    *,
    dt: float,
    gains: TrotGains | None = None,
    legs: Sequence[Sequence[str]] = LEGS,
    estimator: BaseEstimator | None = None,
) -> Controller:
    """A controller that has a robot with four legs trot, from its sensors alone.

        robot = pliant.load("quadruped", sensors=True).with_motors(control="position", kp=100, kd=3)
        controller = pliant.control.trot(robot, dt=2e-3)
        sim = pliant.Simulation(robot, substeps=2, ground=pliant.flat(), controller=controller)
        sim.reset(q=controller.function.crouched(robot))
        sim.run(10, commands=[0.3, 0, 0])                # velocity ahead and to the left, turn rate

    Args:
        robot: with a free base, motors under position control, and the sensors of the estimator.
        dt: control period [s].
        gains: `TrotGains`, by default those for the shipped robot.
        legs: of each leg the joints of roll, pitch and knee, and the body of its foot; left front, left hind, right
            front, right hind.
        estimator: by default `BaseEstimator.of(robot)`, for sensors "imu", "encoders" and "feet".
    """
    check_at_least("dt", dt, 0, strict=True, subject="trot", error=RobotError)
    is_right = len(legs) == 4 and all(len(leg) == 4 for leg in legs)
    check("legs", legs, "four of four names each: three joints and a foot", is_right, subject="trot", error=RobotError)
    estimator = BaseEstimator.of(robot) if estimator is None else estimator
    made = tuple(Leg.of(robot, leg[:3], leg[3]) for leg in legs)
    names = [foot.body for foot in estimator.odometry.feet]
    for leg in legs:
        check_known("foot", leg[3], names, "the contact sensor", error=RobotError)
    joints = [joint for leg in made for joint in leg.joints]
    motors = {motor.joint: motor for motor in robot.motors.values() if motor.control == "position" and motor.kp}
    for joint in joints:
        if joint not in motors:
            call = Call("with_motor", joint, {"control": "position", "kp": "...", "kd": "..."})
            problem, cure = f"joint {joint!r} has no motor under position control", "give it one with {call}"
            raise RobotError(problem, subject=f"joint {joint!r}", field="motor", cure=cure, call=call)
    order = list(robot.motors)
    law = Trot(
        estimator, made, tuple(names.index(leg[3]) for leg in legs),
        tuple(order.index(motors[joint].name) for joint in joints), tuple(motors[joint].kp for joint in joints),
        tuple(motors[joint].kd / motors[joint].kp for joint in joints), robot.mass * estimator.odometry.gravity,
        gains or TrotGains(), float(dt),
    )  # fmt: skip
    return Controller(law, commands=3, memory=law.memory)


def _within(x: Scalar, most: Scalar) -> Scalar:
    return minimum(maximum(x, -most), most)
