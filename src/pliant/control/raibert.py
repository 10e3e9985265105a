"""Hopping by three controllers that are nearly independent: height, speed and attitude.

M. Raibert 1986, *Legged Robots That Balance*, chapters 2 and 3. In stance, the leg thrusts against its spring
and the hip turns the body upright; in flight, the hip swings the foot to where it is to land. The compression of the
leg's spring shows which of the two it is, so nothing here depends on how the ground is simulated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, NamedTuple

from pliant import scalar
from pliant.control.machine import HopperMachine, Measured
from pliant.robot import Robot
from pliant.scalar import both, either, maximum, minimum, negation, select
from pliant.simulation import Controller

__all__ = ["Raibert", "RaibertGains", "RaibertMemory", "raibert"]

Scalar = Any

FLIGHT, LOADING, THRUST = 0, 1, 2
"""Phases: in the air; on the ground, while the spring is compressed; and while it pushes off."""
LEAST_HEIGHT = 0.01  # of a hop [m]: it never stops hopping


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

    phase: Scalar
    since: Scalar
    wait: Scalar
    stance: Scalar
    loss: Scalar
    thrust: Scalar
    lag_x: Scalar
    lag_y: Scalar
    last: Scalar


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
        fall = scalar.sqrt(2 * machine.gravity * maximum(command[2], LEAST_HEIGHT))
        k_v = gains.speed * machine.length / (2 * fall + machine.gravity * now.stance)
        x, y = (
            v * now.stance / 2 + k_v * (v - wanted - gains.hold * lag)
            for v, wanted, lag in (
                (seen.velocity.x, command[0], now.lag_x),
                (seen.velocity.y, command[1], now.lag_y),
            )
        )
        far = scalar.sqrt(maximum(x * x + y * y, 1e-12))
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
    frequency = sqrt(machine.stiffness / machine.mass)
    start = RaibertMemory(
        phase=FLIGHT,
        since=0,
        wait=0,
        stance=pi / frequency,  # half a swing on the spring
        loss=pi * machine.damping / (machine.mass * frequency),  # in that half swing, by the damper
        thrust=0,
        lag_x=0,
        lag_y=0,
        last=0,
    )
    return Controller(Raibert(machine, gains or RaibertGains()), commands=3, memory=tuple(start))


def _within(x: Scalar, least: Scalar, most: Scalar) -> Scalar:
    return minimum(maximum(x, least), most)
