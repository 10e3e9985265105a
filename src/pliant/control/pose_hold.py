"""Holding a pose: motors as springs and dampers towards it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.catalogue.starts import extent
from pliant.checks import check, check_at_least, numbers
from pliant.errors import RobotError
from pliant.robot import Robot
from pliant.signatures import explained

# the pose gives way by this much under the torque of all the weight at the length of the robot [rad]
_YIELD = 0.2
# time constant of the damping, kd / kp [s]
_SETTLING = 0.1
# of a robot smaller than this, its size is not known [m]
_LEAST_SIZE = 0.1


class Hold(NamedTuple):
    """A robot that holds a pose.

    Attributes:
        robot: with motors under position control.
        u: positions to hold, one for each motor [rad or m].
    """

    robot: Robot
    u: list[float]


@explained
def hold_gains(robot: Robot, q: Any) -> tuple[float, float]:
    """Gains kp, kd that carry a robot, whatever its size: kp = m g l / 0.2 rad, kd = kp 0.1 s.

    Args:
        q: configuration, nq; l is the longest side of the box around the robot in it.

    Returns:
        kp, kd [N m/rad, N m s/rad].
    """
    lower, upper = extent(robot, _pose(robot, q))
    size = max(_LEAST_SIZE, *(high - low for low, high in zip(lower, upper, strict=True)))
    g = sum(float(x) ** 2 for x in robot.gravity) ** 0.5 or 9.81
    kp = float(robot.mass) * g * size / _YIELD
    return kp, kp * _SETTLING


def _pose(robot: Robot, q: Any) -> np.ndarray:
    pose = numbers("q", q, error=RobotError)
    is_right = pose.shape == (robot.nq,) and bool(np.isfinite(pose).all())
    check("q", q, f"{robot.nq} finite numbers", is_right, error=RobotError)
    return pose


@explained
def hold(robot: Robot, q: Any, *, gains: Sequence[float] | None = None) -> Hold:
    """A robot whose motors hold a pose, and the controls that have them do so.

        robot = pliant.load("anymal")
        q = robot.on_ground(robot.stance())
        robot, u = pliant.control.hold(robot, q)
        sim = pliant.Simulation(robot, ground=pliant.flat())
        sim.reset(q=q)
        log = sim.run(5, u=u)

    A spring and a damper at each motor, tau = kp (u - q) - kd v, are part of the robot, so that the implicit step takes
    stiff ones, too.

    Args:
        q: pose to hold, nq [rad or m].
        gains: kp, kd of all motors [N m/rad, N m s/rad]. By default, motors under position control keep their own, and
            the others get those of `hold_gains`.
    """
    subject = f"robot {robot.name!r}"
    if not robot.motors:
        cure = "give it one with robot.with_motor(joint)"
        raise RobotError(f"{subject} has no motors to hold a pose", subject=subject, field="motors", cure=cure)
    q = _pose(robot, q)
    own: dict[str, Any] = {}
    if gains is None:
        own = {motor.name: motor for motor in robot.motors.values() if motor.control == "position"}
        gains = hold_gains(robot, q)
    check("gains", gains, "two numbers, kp and kd", len(gains) == 2, error=RobotError)
    for name, value in zip(("kp", "kd"), gains, strict=True):
        check_at_least(name, value, 0, error=RobotError)
    held = robot.with_motors(
        control="position",
        kp=[own[name].kp if name in own else gains[0] for name in robot.motors],
        kd=[own[name].kd if name in own else gains[1] for name in robot.motors],
    )
    return Hold(held, [float(q[robot.q_slice(motor.joint)][0]) for motor in robot.motors.values()])
