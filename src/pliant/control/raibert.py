"""Hopping by three controllers that are nearly independent: height, speed and attitude.

M. Raibert 1986, *Legged Robots That Balance*, chapters 2 and 3. In stance, the leg thrusts against its spring
and the hip turns the body upright; in flight, the hip swings the foot to where it is to land. The compression of the
leg's spring shows which of the two it is, so nothing here depends on how the ground is simulated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

from pliant.checks import check_known
from pliant.dynamics import frame_pose
from pliant.errors import Call, RobotError
from pliant.robot import Prismatic, Revolute, Robot
from pliant.scalar import Scalar, atan2, both, cos, either, maximum, minimum, negation, select, sin, sqrt
from pliant.signatures import explained
from pliant.simulation import Controller
from pliant.spatial import MatrixRotation, Vector, rotation_from_quaternion

Pair = tuple[Scalar, Scalar]

FLIGHT, LOADING, THRUST = 0, 1, 2
"""Phases: in the air; on the ground, while the spring is compressed; and while it pushes off."""
LEAST_HEIGHT = 0.01  # of a hop [m]: it never stops hopping


# ---- the robot as the controller sees it


class Measured(NamedTuple):
    """A state, as sensors and an estimator on board would measure it; pairs are roll and pitch.

    Attributes:
        R: of the body, R_WB.
        velocity: of the body, in the world's axes [m/s].
        tilt: of the body, as sines; zero is upright, whatever the heading.
        tilt_rate: angular velocity about the body's x and y [rad/s].
        hip, hip_rate: of the leg against the body [rad, rad/s].
        extension, extension_rate: of the leg by its motor [m, m/s].
        compression, compression_rate: of the leg's spring [m, m/s].
        push: force of spring and damper along the leg [N].
        spin: angular velocity about the body's z [rad/s].
    """

    R: MatrixRotation
    velocity: Vector
    tilt: Pair
    tilt_rate: Pair
    hip: Pair
    hip_rate: Pair
    extension: Scalar
    extension_rate: Scalar
    compression: Scalar
    compression_rate: Scalar
    push: Scalar
    spin: Scalar


@explained
@dataclass(frozen=True)
class HopperMachine:
    """A body on one leg: a hip with two axes, roll then pitch, and a motor in series with a spring.

    Attributes:
        q_places, v_places: of hip roll, hip pitch, spring and leg in q and v, behind those of the free joint.
        u_places: of hip roll, hip pitch and leg in u.
        mass: of all bodies [kg]; unsprung: of those below the spring [kg].
        stiffness, damping: of the spring [N/m, N s/m].
        length: from the hip to the foot, with spring and motor at zero [m].
        gravity: [m/s^2].
    """

    q_places: tuple[int, ...]
    v_places: tuple[int, ...]
    u_places: tuple[int, ...]
    mass: float
    unsprung: float
    stiffness: float
    damping: float
    length: float
    gravity: float

    @classmethod
    def of(cls, robot: Robot, hip: Sequence[str], leg: str) -> "HopperMachine":
        """Read it from a robot; raises if the robot is not such a machine.

        Args:
            hip: joints about x and y of the body, in this order.
            leg: the joint along -z, with a motor and a spring; the body that it carries has its origin at the foot.
        """
        springs = _springs(robot, hip, leg)
        joints = [*hip, springs[0], leg]
        motors = {motor.joint: i for i, motor in enumerate(robot.motors.values())}
        q = robot.neutral().tolist()
        tip, top = (frame_pose.algorithm(robot, q, robot.joints[name].child) for name in (leg, hip[1]))
        reach = [float(tip[i][3] - top[i][3]) for i in range(3)]
        if max(abs(reach[0]), abs(reach[1])) > 1e-9 or reach[2] >= 0:
            subject = f"robot {robot.name!r}"
            problem = f"{subject}: the foot, the origin of {robot.joints[leg].child!r}, is at {reach} m from the hip"
            raise RobotError(problem, subject=subject, field=leg, cure="it must be straight below")
        carried = [body for body in robot.bodies if leg in [joint.name for joint in robot.path(body)]]
        return cls(
            q_places=tuple(robot.q_slice(name).start for name in joints),
            v_places=tuple(robot.v_slice(name).start for name in joints),
            u_places=tuple(motors[name] for name in (*hip, leg)),
            mass=robot.mass,
            unsprung=sum(robot.bodies[body].inertia.mass for body in carried),
            stiffness=robot.joints[springs[0]].stiffness[0],
            damping=robot.joints[springs[0]].damping[0],
            length=-reach[2],
            gravity=float(sqrt(robot.gravity.dot(robot.gravity))),
        )

    def measured(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> Measured:
        """The measurements of a state."""
        R = rotation_from_quaternion(*q[3:7])
        up = R.rotate_back(Vector(0, 0, 1))
        roll, pitch, deflection, extension = (q[i] for i in self.q_places)
        roll_rate, pitch_rate, deflection_rate, extension_rate = (v[i] for i in self.v_places)
        push = -self.stiffness * deflection - self.damping * deflection_rate
        return Measured(
            R, velocity=R.rotate(Vector(*v[0:3])), tilt=(up.y, -up.x), tilt_rate=(v[3], v[4]), hip=(roll, pitch),
            hip_rate=(roll_rate, pitch_rate), extension=extension, extension_rate=extension_rate,
            compression=-deflection, compression_rate=-deflection_rate, push=push, spin=v[5],
        )  # fmt: skip

    def foot(self, seen: Measured) -> Vector:
        """From the hip to the foot, in the body's axes: Rx(roll) Ry(pitch) (0, 0, -l) [m]."""
        l = self.length + seen.extension - seen.compression
        roll, pitch = seen.hip
        return Vector(-sin(pitch), sin(roll) * cos(pitch), -cos(roll) * cos(pitch)) * l

    def height(self, seen: Measured) -> Scalar:
        """Of the hip above the foot [m]."""
        return -seen.R.rotate(self.foot(seen)).z

    def hip_towards(self, seen: Measured, x: Scalar, y: Scalar) -> Pair:
        """Angles of the hip that put the foot at (x, y) from the hip in the world's axes, as low as the leg is long."""
        l = self.length + seen.extension - seen.compression
        low = sqrt(maximum(l * l - x * x - y * y, l * l / 4))
        foot = seen.R.rotate_back(Vector(x, y, -low))
        return atan2(foot.y, -foot.z), atan2(-foot.x, sqrt(foot.y * foot.y + foot.z * foot.z))


def _springs(robot: Robot, hip: Sequence[str], leg: str) -> list[str]:
    """The spring of the leg; raises unless the robot can hop."""
    owner = f"robot {robot.name!r}"
    if not robot.is_free:
        raise RobotError(f"{owner} has a fixed base", subject=owner, field="base", cure="load it with base='free'")
    kinds = ((hip[0], Revolute((1, 0, 0))), (hip[1], Revolute((0, 1, 0))), (leg, Prismatic((0, 0, -1))))
    for name, kind in kinds:
        check_known("joint", name, robot.joints, owner, error=RobotError)
        if robot.joints[name].kind != kind:
            problem = f"joint {name!r} of {owner} is {robot.joints[name].kind}"
            raise RobotError(problem, subject=f"joint {name!r}", field="kind", cure=f"it must be {kind}")
        motor = [m for m in robot.motors.values() if m.joint == name]
        if not motor or motor[0].control != "torque" or motor[0].law is not None:
            call = Call("with_motor", name, {"control": "torque"})
            raise _missing(name, owner, "has no motor under torque control", "motor", call)
    springs = [f.name for f in robot.flexibilities.values() if f.joint == leg]
    if len(springs) != 1 or robot.joints[springs[0]].kind != robot.joints[leg].kind:
        call = Call("with_flexibility", leg, {"stiffness": "..."})
        raise _missing(leg, owner, "needs one spring along it", "flexibility", call)
    return springs


def _missing(joint: str, owner: str, what: str, field: str, call: Call) -> RobotError:
    problem, cure = f"joint {joint!r} of {owner} {what}", "give it one with {call}"
    return RobotError(problem, subject=f"joint {joint!r}", field=field, cure=cure, call=call)


# ---- the controller


@explained
@dataclass(frozen=True)
class RaibertGains:
    """Numbers of the controller; the defaults suit `pliant.load("hopper")`.

    Attributes:
        speed: share of an error in speed that one step of the foot makes up for.
        hold: how fast it catches up with where it should be by now [1/s]; leash: most that it catches up with [m].
        upright: of the hip in stance [N m/rad, N m s/rad].
        spin: of the hip in stance against yaw: torque for each rad/s and m that the foot is off [N s/rad].
        swing: of the hip in flight [N m/rad, N m s/rad].
        leg: of the leg's motor [N/m, N s/m].
        reach: how far from below the hip the foot is put at most, in lengths of the leg.
        grip: most that the hip pulls the foot across in stance, as a share of the push of the leg.
        touch_down, lift_off: compression of the spring at which stance begins and ends [m].
        thrust: least and most that the leg gets longer in a stance [m].
        learning: share of an error in height that the next hop makes up for.
    """

    speed: float = 0.4
    hold: float = 0.6
    leash: float = 0.3
    upright: tuple[float, float] = (500, 35)
    spin: float = 100
    swing: tuple[float, float] = (150, 10)
    leg: tuple[float, float] = (3e4, 350)
    reach: float = 0.5
    grip: float = 0.4
    touch_down: float = 0.005
    lift_off: float = 0.002
    thrust: tuple[float, float] = (-0.06, 0.09)
    learning: float = 0.5


class RaibertMemory(NamedTuple):
    """The state of the controller, kept from period to period.

    Attributes:
        phase: 0 in flight, 1 on the ground until the bottom, 2 from there to lift-off.
        since: time of the last touch-down or lift-off [s].
        wait: how long after lift-off a spring that is compressed does not count as a touch-down [s].
        stance: how long the last stance took [s].
        loss: energy that a stance loses, as a share of the energy that it needs; learned from the heights of hops.
        thrust: how much longer the leg gets in this stance [m].
        lag_x, lag_y: how far it lags behind the commanded motion, in the world's axes [m].
        last: time of the last period [s].
    """

    phase: Scalar = FLIGHT
    since: Scalar = 0
    wait: Scalar = 0
    stance: Scalar = 0
    loss: Scalar = 0
    thrust: Scalar = 0
    lag_x: Scalar = 0
    lag_y: Scalar = 0
    last: Scalar = 0


@explained
@dataclass(frozen=True)
class Raibert:
    """The law of control, a generic function (t, q, v, command, memory) -> (u, memory).

    Height: at the bottom of stance, with x the compression of the spring and h the height wanted, the leg
    is commanded to get longer by

        thrust = ((1 + loss) m g (h + x) - k x^2 / 2) / (k x)

    the energy that is missing over the force. The true losses are learned hop by hop, from the height that
    the speed at lift-off leads to. Speed: the foot lands off the hip by

        x_f = v T_s / 2 + k_v (v - v_wanted - hold lag)        k_v = speed L / (2 sqrt(2 g h) + g T_s)

    The first term is where the foot would have to be for the speed to stay, with T_s the duration of the last
    stance; and a foot that is further by d takes about d (2 sqrt(2 g h) + g T_s) / L of the speed, by the impulse of a
    stance, so that ``speed`` is the share of the error that is gone after a hop. Attitude: in stance the hip turns the
    body upright, with no more torque than the foot can hold.

    Yaw: nothing drives it directly. A foot at (x, y) from the hip has hip torques (roll, pitch) turn the body by
    -(x roll + y pitch) / l about the vertical, which is used against its spin while it travels; hopping in place, it
    keeps the spin that it has. Neither matters to the rest, which is in the world's axes.
    """

    machine: HopperMachine
    gains: RaibertGains

    def __call__(
        self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], command: Sequence[Scalar], memory: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Controls of the motors, and the new memory.

        Args:
            t: time [s].
            q, v: state of the robot.
            command: velocity along x and y of the world [m/s], height of hops [m].
            memory: `RaibertMemory`, as a row of numbers.
        """
        seen = self.machine.measured(q, v)
        now = self._remembered(t, seen, command, RaibertMemory(*memory))
        in_flight = now.phase < 0.5
        torques = zip(self._swing(seen, command, now), self._upright(seen), strict=True)
        hip = [select(in_flight, a, b) for a, b in torques]
        u: list[Scalar] = [0, 0, 0]
        for place, effort in zip(self.machine.u_places, (*hip, self._leg(seen, now)), strict=True):
            u[place] = effort
        return u, list(now)

    # ---- phases

    def _remembered(self, t: Scalar, seen: Measured, command: Sequence[Scalar], was: RaibertMemory) -> RaibertMemory:
        """The memory after a measurement."""
        gains, g = self.gains, self.machine.gravity
        flying, loading = was.phase < 0.5, both(was.phase > 0.5, was.phase < 1.5)
        elapsed, x = t - was.since, seen.compression
        # an unloaded foot swings on its spring: for a while after a change of phase, its motion is not another change
        settled = elapsed > was.stance / 4
        touches = both(flying, both(x > gains.touch_down, elapsed > was.wait))
        turns = both(loading, both(seen.compression_rate <= 0, settled))
        leaves = both(negation(flying), both(x < gains.lift_off, settled))

        # body and foot fly with their common momentum
        rise = maximum(seen.velocity.z, 0) * (1 - self.machine.unsprung / self.machine.mass)
        height = maximum(command[2], LEAST_HEIGHT)
        reached = rise * rise / (2 * g) + self.machine.height(seen) - self.machine.length
        loss = _within(was.loss + gains.learning * (height - reached) / (height + 0.1), -0.5, 2)
        lag = self._lag(t, seen, command, was)
        return RaibertMemory(
            phase=select(touches, LOADING, select(leaves, FLIGHT, select(turns, THRUST, was.phase))),
            since=select(either(touches, leaves), t, was.since),
            wait=select(leaves, rise / (2 * g), was.wait),
            stance=select(leaves, _within(elapsed, 0.05, 0.5), was.stance),
            loss=select(leaves, loss, was.loss),
            thrust=select(turns, self._thrust(x, height, was.loss), was.thrust),
            lag_x=lag[0],
            lag_y=lag[1],
            last=t,
        )

    def _thrust(self, x: Scalar, height: Scalar, loss: Scalar) -> Scalar:
        """How much longer the leg is to get, from the bottom on [m]."""
        weight, k = self.machine.mass * self.machine.gravity, self.machine.stiffness
        missing = (1 + loss) * weight * (height + x) - k * x * x / 2
        return _within(missing / maximum(k * x, weight), *self.gains.thrust)

    def _lag(self, t: Scalar, seen: Measured, command: Sequence[Scalar], was: RaibertMemory) -> list[Scalar]:
        """By how far it lags behind: the speed that is missing, summed up since the last period [m]."""
        period, leash = _within(t - was.last, 0, 0.02), self.gains.leash
        pairs = ((was.lag_x, command[0], seen.velocity.x), (was.lag_y, command[1], seen.velocity.y))
        return [_within(lag + period * (wanted - v), -leash, leash) for lag, wanted, v in pairs]

    # ---- motors

    def _swing(self, seen: Measured, command: Sequence[Scalar], now: RaibertMemory) -> list[Scalar]:
        """Torques of the hip in flight: the foot to where it is to land [N m]."""
        gains, machine = self.gains, self.machine
        fall = sqrt(2 * machine.gravity * maximum(command[2], LEAST_HEIGHT))
        k_v = gains.speed * machine.length / (2 * fall + machine.gravity * now.stance)
        x, y = (
            v * now.stance / 2 + k_v * (v - wanted - gains.hold * lag)
            for v, wanted, lag in ((seen.velocity.x, command[0], now.lag_x), (seen.velocity.y, command[1], now.lag_y))
        )
        far = sqrt(maximum(x * x + y * y, 1e-12))
        shrink = minimum(1, gains.reach * machine.length / far)
        targets = machine.hip_towards(seen, x * shrink, y * shrink)
        kp, kd = gains.swing
        return [kp * (a - b) - kd * r for a, b, r in zip(targets, seen.hip, seen.hip_rate, strict=True)]

    def _upright(self, seen: Measured) -> list[Scalar]:
        """Torques of the hip in stance: the leg is held by the ground, so the body turns the other way [N m]."""
        kp, kd = self.gains.upright
        foot = self.machine.foot(seen)
        against_spin = [self.gains.spin * seen.spin * p for p in (foot.x, foot.y)]
        most = self.gains.grip * maximum(seen.push, 0) * self.machine.length
        terms = zip(seen.tilt, seen.tilt_rate, against_spin, strict=True)
        return [_within(kp * tilt + kd * rate + spin, -most, most) for tilt, rate, spin in terms]

    def _leg(self, seen: Measured, now: RaibertMemory) -> Scalar:
        """Force of the leg's motor: it carries the spring, and holds its place [N]."""
        kp, kd = self.gains.leg
        target = select(now.phase > 1.5, now.thrust, 0)
        return seen.push + kp * (target - seen.extension) - kd * seen.extension_rate


@explained
def raibert(
    robot: Robot,
    *,
    gains: RaibertGains | None = None,
    hip: tuple[str, str] = ("hip_roll", "hip_pitch"),
    leg: str = "leg",
) -> Controller:
    """A controller that has a one-legged robot hop, as high and as fast as commanded.

        controller = pliant.control.raibert(robot)
        sim = pliant.Simulation(robot, ground=pliant.flat(), controller=controller)
        sim.run(10, u=[0.5, 0, 0.2])                   # velocity along x and y of the world, height of hops
        u, memory = controller.function(t, q, v, command, memory)           # the same law, in Python

    The height of a hop is how far the foot is above the ground at the apex, with the leg at its length at rest. The
    control period should be 2 ms or less. See `Raibert` for the law.

    Args:
        robot: with a free base, a hip of two motors, and a leg whose motor is in series with a spring.
        gains: `RaibertGains`, by default those for the shipped robot.
        hip: joints about x and y of the body, in this order; the centre of mass is near them.
        leg: joint along -z.
    """
    machine = HopperMachine.of(robot, hip, leg)
    frequency = math.sqrt(machine.stiffness / machine.mass)
    # half a swing on the spring, and what the damper takes in that
    start = RaibertMemory(stance=pi / frequency, loss=pi * machine.damping / (machine.mass * frequency))
    return Controller(Raibert(machine, gains or RaibertGains()), commands=3, memory=tuple(start))


def _within(x: Scalar, least: Scalar, most: Scalar) -> Scalar:
    return minimum(maximum(x, least), most)
