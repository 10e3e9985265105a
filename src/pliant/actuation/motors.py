"""Motors: what torque they give, and how much of it depends on the motion within a step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import PliantError, TraceError
from pliant.robot import Motor, Robot
from pliant.scalar import either, is_constant, maximum, minimum, select

__all__ = ["Drive", "drives", "is_saturable", "torque_bounds"]

Scalar = Any


@dataclass(frozen=True)
class Drive:
    """The torque of a motor at its joint as a line in the joint's motion: torque - stiffness q - damping v.

    The line is taken from the start of the step: q + dt v is where it ends.

    Attributes:
        dof: the leader's.
        ratio: of the joint to its dof, 1 unless it mimics.
        torque: without the parts that follow, at the joint [N m or N].
        stiffness, damping: the motor's gains.
        lower, upper: what it can give.
        wanted: torque, stiffness and damping as if there was no limit.
    """

    motor: Motor
    dof: int
    ratio: Scalar
    torque: Scalar
    stiffness: Scalar
    damping: Scalar
    lower: Scalar
    upper: Scalar
    wanted: tuple[Scalar, Scalar, Scalar] = (0, 0, 0)


def is_saturable(motor: Motor) -> bool:
    """Whether its limit has to be watched: torques that are commanded are cut off at once."""
    has_gains = motor.law is None and motor.control != "torque"
    return has_gains and not (is_constant(motor.effort_limit) and motor.effort_limit == float("inf"))


def drives(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    u: Sequence[Scalar],
    t: Scalar,
    saturated: Sequence[Scalar] | None = None,
) -> list[Drive]:
    """What every motor gives for the controls u; the position part counts from q.

    Args:
        saturated: for each motor 1 if it is at its upper limit, -1 at its lower one, else 0: there it
            gives that much, whatever the motion.
    """
    links = {link.name: link for link in robot.mechanism.joint_links}
    found = []
    for k, (motor, control) in enumerate(zip(robot.motors.values(), u, strict=True)):
        link = links[motor.joint]
        x, rate = link.position(q)[0], link.rate(v)[0]
        lower, upper = torque_bounds(motor, rate)
        stiffness: Scalar = 0
        damping: Scalar = 0
        if motor.law is not None:
            torque = minimum(maximum(_law(motor, control, x, rate, t), lower), upper)
        elif motor.control == "torque":
            torque = minimum(maximum(control, lower), upper)
        elif motor.control == "position":
            torque, stiffness, damping = motor.kp * (control - x), motor.kp, motor.kd
        else:
            torque, damping = motor.kd * control, motor.kd
        wanted = torque, stiffness, damping
        if saturated is not None and is_saturable(motor):
            high, low = saturated[k] > 0, saturated[k] < 0
            torque = select(high, upper, select(low, lower, torque))
            stiffness, damping = (select(either(high, low), 0, x) for x in (stiffness, damping))
        found.append(Drive(motor, link.dofs[0], link.ratio, torque, stiffness, damping, lower, upper, wanted))
    return found


def torque_bounds(motor: Motor, rate: Scalar) -> tuple[Scalar, Scalar]:
    """The least and the most that the motor can give at a speed.

    Where it drives, from the effort limit at rest down to nothing at the no-load speed; where it brakes,
    the effort limit.
    """
    limit = motor.effort_limit
    if is_constant(motor.no_load_speed) and motor.no_load_speed == float("inf"):
        return -limit, limit
    share = rate / motor.no_load_speed
    upper = limit * minimum(1, maximum(0, 1 - share))
    lower = -limit * minimum(1, maximum(0, 1 + share))
    return lower, upper


def _law(motor: Motor, u: Scalar, q: Scalar, v: Scalar, t: Scalar) -> Scalar:
    assert motor.law is not None
    try:
        torque = motor.law(u, q, v, t)
    except TraceError as error:
        raise TraceError(
            f"law of motor {motor.name!r}: {error}; write pliant.math.select(condition, a, b) in place of a branch"
        ) from None
    if isinstance(torque, list | tuple) or hasattr(torque, "__len__"):
        raise PliantError(f"law of motor {motor.name!r} returned {torque!r}; it returns one torque")
    if torque is None:
        raise PliantError(f"law of motor {motor.name!r} returned nothing; it returns one torque")
    return torque
