"""Motors: the torque that a control makes, its limits and its friction.

Without limits, a motor's torque at its joint is a line in the joint's motion within a step,

    tau = torque - stiffness dq - damping v

with torque that at the configuration q where the step begins. `torque_line` is THE law of each kind of control;
the step takes the line implicitly, everything else its value (`motor_torque`, `Drive.torque_at`). The power is
tau v, and viscous friction (`viscous_torque`) takes -d v^2 of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import PliantError, TraceError
from pliant.robot import Motor, Robot
from pliant.scalar import either, is_constant, maximum, minimum, select

__all__ = ["Drive", "Line", "drives", "is_saturable", "motor_torque", "torque_bounds", "torque_line", "viscous_torque"]

Scalar = Any

_INFINITE = float("inf")


@dataclass(frozen=True)
class Line:
    """A torque at a joint, torque - stiffness dq - damping v, with dq counted from where it was taken."""

    torque: Scalar
    stiffness: Scalar = 0
    damping: Scalar = 0

    def at(self, rate: Scalar) -> Scalar:
        """The torque at a velocity of the joint, where it is [N m or N]."""
        return self.torque - self.damping * rate

    def gain(self, dt: Scalar) -> Scalar:
        """What the torque at the end of a step of dt loses for a unit of the joint's velocity there."""
        return self.damping + dt * self.stiffness


@dataclass(frozen=True)
class Drive:
    """A motor at a state.

    Attributes:
        dof: of its joint, the leader's if that mimics.
        ratio: of the joint's motion to its dof's, 1 unless it mimics.
        line: as it acts; a motor known to be saturated gives its limit.
        wanted: the line without limits.
        lower, upper: the limits of the torque.
        is_limited: whether the torque may go beyond them within the step, see `is_saturable`.
    """

    motor: Motor
    dof: int
    ratio: Scalar
    line: Line
    wanted: Line
    lower: Scalar
    upper: Scalar
    is_limited: bool

    def torque_at(self, rate: Scalar) -> Scalar:
        """The torque at a velocity of the joint, within the limits [N m or N]."""
        torque = self.line.at(rate)
        return _within(torque, self.lower, self.upper) if self.is_limited else torque

    def saturation(self, torque: Scalar) -> Scalar:
        """1 or -1 where a torque is beyond the upper or lower limit, else 0."""
        if not self.is_limited:
            return 0
        return select(torque > self.upper, 1, select(torque < self.lower, -1, 0))


def is_saturable(motor: Motor) -> bool:
    """Whether its limit depends on the motion within the step: torques that are commanded are cut off at once."""
    has_gains = motor.law is None and motor.control != "torque"
    return has_gains and not (is_constant(motor.effort_limit) and motor.effort_limit == _INFINITE)


def torque_line(motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar) -> Line:
    """The torque that a motor gives for a control, without limits and friction.

    Args:
        u: the control.
        x, rate: position and velocity of its joint.
        t: time, for a law of its own [s].
    """
    if motor.law is not None:
        return Line(_law(motor, u, x, rate, t))
    if motor.control == "position":
        return Line(motor.kp * (u - x), motor.kp, motor.kd)
    if motor.control == "velocity":
        return Line(motor.kd * u, 0, motor.kd)
    return Line(u)


def motor_torque(motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar) -> Scalar:
    """The same at the joint's position and velocity [N m or N]."""
    return torque_line(motor, u, x, rate, t).at(rate)


def viscous_torque(motor: Motor, rate: Scalar) -> Scalar:
    """Viscous friction at a velocity of the joint [N m or N]."""
    return -motor.viscous_friction * rate


def torque_bounds(motor: Motor, rate: Scalar) -> tuple[Scalar, Scalar]:
    """The least and the most that the motor can give at a speed.

    Where it drives, from the effort limit at rest down to nothing at the no-load speed; where it brakes,
    the effort limit.
    """
    limit = motor.effort_limit
    if is_constant(motor.no_load_speed) and motor.no_load_speed == _INFINITE:
        return -limit, limit
    share = rate / motor.no_load_speed
    upper = limit * minimum(1, maximum(0, 1 - share))
    lower = -limit * minimum(1, maximum(0, 1 + share))
    return lower, upper


def _within(torque: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    return minimum(maximum(torque, lower), upper)


def drives(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    u: Sequence[Scalar],
    t: Scalar,
    saturated: Sequence[Scalar] | None = None,
    *,
    has_limits: bool = True,
) -> list[Drive]:
    """All motors of a robot at a state, for the controls u.

    Args:
        saturated: for each motor 1 if it is at its upper limit, -1 at its lower one, else 0: there it
            gives that much, whatever the motion.
        has_limits: whether the limits hold; formulas leave them out.
    """
    links = {link.name: link for link in robot.mechanism.joint_links}
    found = []
    for k, (motor, control) in enumerate(zip(robot.motors.values(), u, strict=True)):
        link = links[motor.joint]
        x, rate = link.position(q)[0], link.rate(v)[0]
        lower, upper = torque_bounds(motor, rate) if has_limits else (-_INFINITE, _INFINITE)
        line = torque_line(motor, control, x, rate, t)
        if has_limits and (motor.law is not None or motor.control == "torque"):
            line = Line(_within(line.torque, lower, upper))
        wanted, is_limited = line, has_limits and is_saturable(motor)
        if saturated is not None and is_limited:
            high, low = saturated[k] > 0, saturated[k] < 0
            torque = select(high, upper, select(low, lower, line.torque))
            stiffness, damping = (select(either(high, low), 0, x) for x in (line.stiffness, line.damping))
            line = Line(torque, stiffness, damping)
        found.append(Drive(motor, link.dofs[0], link.ratio, line, wanted, lower, upper, is_limited))
    return found


def _law(motor: Motor, u: Scalar, q: Scalar, v: Scalar, t: Scalar) -> Scalar:
    """What a law of the user gives, one scalar; raises with the motor's name if it does not."""
    assert motor.law is not None
    subject = f"law of motor {motor.name!r}"
    try:
        torque = motor.law(u, q, v, t)
    except TraceError as error:
        cure = "write pliant.math.select(condition, a, b) in place of a branch"
        raise TraceError(f"{subject}: {error}", subject=subject, cure=cure) from None
    except TypeError as error:
        cure = "use functions of pliant.math, such as pliant.math.sin, in place of those of math or numpy"
        raise PliantError(f"{subject} cannot be written as a formula: {error}", subject=subject, cure=cure) from error
    if torque is None or isinstance(torque, list | tuple) or hasattr(torque, "__len__"):
        shown = "nothing" if torque is None else repr(torque)
        raise PliantError(f"{subject} returned {shown}", subject=subject, cure="it returns one torque")
    return torque
