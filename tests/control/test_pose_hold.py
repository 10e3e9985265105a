"""Motors that hold a pose."""

import numpy as np
import pytest

import pliant
from pliant.catalogue.starts import extent
from pliant.control import hold, hold_gains
from pliant.errors import RobotError

PENDULUM = pliant.load("pendulum")


def test_motors_become_springs_towards_the_pose() -> None:
    robot, u = hold(PENDULUM, [0.3], gains=(5, 1))
    motor = robot.motors["hinge"]
    assert (motor.control, motor.kp, motor.kd, u) == ("position", 5, 1, [0.3])


def test_default_gains_carry_the_weight() -> None:
    """Under the torque of all the weight at its length, the robot gives way by 0.2 rad."""
    q = PENDULUM.neutral()
    lower, upper = extent(PENDULUM, q)
    size = max(b - a for a, b in zip(lower, upper, strict=True))
    kp, kd = hold_gains(PENDULUM, q)
    assert kp * 0.2 == pytest.approx(PENDULUM.mass * 9.81 * max(size, 0.1), rel=1e-12)
    assert kd == pytest.approx(0.1 * kp, rel=1e-12)
    assert hold(PENDULUM, q).robot.motors["hinge"].kp == kp


def test_motors_under_position_control_keep_their_gains() -> None:
    stiff = PENDULUM.with_motor("hinge", control="position", kp=7, kd=3)
    assert hold(stiff, [0.0]).robot.motors["hinge"].kp == 7
    assert hold(stiff, [0.0], gains=(5, 1)).robot.motors["hinge"].kp == 5


def test_a_quadruped_stands() -> None:
    robot = pliant.load("quadruped")
    q = robot.on_ground(robot.stance())
    robot, u = hold(robot, q)
    sim = pliant.Simulation(robot, ground=pliant.flat())
    sim.reset(q=q)
    log = sim.run(1.0, u=u)
    # it gives way a little, and stays upright
    assert abs(log.q[-1, 2] - q[2]) < 0.03
    np.testing.assert_allclose(log.q[-1, 3:7], [0, 0, 0, 1], atol=0.05)


def test_errors() -> None:
    with pytest.raises(RobotError) as error:
        hold(PENDULUM, [0.0], gains=(1.0,))
    assert error.value.field == "gains"
    with pytest.raises(RobotError) as error:
        hold(PENDULUM, [0.0], gains=(1.0, -1.0))
    assert error.value.field == "kd"
    with pytest.raises(RobotError) as error:
        hold(pliant.load("double_pendulum"), [0.0, 0.0])
    assert (error.value.subject, error.value.field) == ("robot 'double_pendulum'", "motors")
