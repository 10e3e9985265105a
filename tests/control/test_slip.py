"""The spring-loaded inverted pendulum, and motors that hold a pose."""

from math import acos, asin, atan2, cos, hypot, pi, radians, sin, sqrt

import numpy as np
import pytest

import pliant
from pliant.catalogue.starts import extent
from pliant.control import Apex, Slip, SlipError, hold, hold_gains
from pliant.errors import RobotError
from simulated_robots import PENDULUM, ran

# ---- closed forms, symmetry, and the runner of the literature

RUNNER = Slip(mass=80, stiffness=20e3, length=1)
HOPPER = Slip(mass=17.05, stiffness=7000, length=0.6)


def test_hopping_in_place_has_a_closed_form() -> None:
    """y'' = -w^2 (y - L) - g with y = L at both ends takes (pi + 2 atan(g / (w u))) / w, u the speed of landing."""
    apex = Apex(0.8, 0.0)
    w, u = sqrt(7000 / 17.05), sqrt(2 * 9.81 * 0.2)
    stride = HOPPER.stride(apex, pi / 2)
    assert stride.stance == pytest.approx((pi + 2 * atan2(9.81, w * u)) / w, rel=1e-10)  # the tolerance is 1e-11 a step
    assert stride.flight == pytest.approx(2 * u / 9.81, rel=1e-10)
    assert stride.apex.height == pytest.approx(0.8, abs=1e-10)
    assert abs(stride.apex.speed) < 1e-12


def test_stance_against_another_integrator() -> None:
    from scipy.integrate import solve_ivp

    k, m, g = 20e3, 80, 9.81

    def rate(_: float, s: np.ndarray) -> list[float]:
        push = k / m * (1 / hypot(s[0], s[1]) - 1)
        return [s[2], s[3], push * s[0], push * s[1] - g]

    def length(_: float, s: np.ndarray) -> float:
        return hypot(s[0], s[1]) - 1

    length.direction, length.terminal = 1, True
    start = [-cos(1.2), sin(1.2), 4.5, -0.8]
    oracle = solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-13, atol=1e-13, events=length)
    state, time = RUNNER.stance(start)
    assert time == pytest.approx(oracle.t_events[0][0], abs=1e-9)
    np.testing.assert_allclose(state, oracle.y_events[0][0], rtol=0, atol=1e-9)  # a hundred steps of 1e-11


def test_energy_and_length_at_both_ends() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        apex = Apex(rng.uniform(1, 1.2), rng.uniform(1, 5))
        angle = acos(0.09 * apex.speed) + rng.uniform(-0.02, 0.02)  # near that of a stride that comes back
        stride = RUNNER.stride(apex, angle)
        assert RUNNER.energy(stride.apex) == pytest.approx(RUNNER.energy(apex), rel=1e-9)
        assert hypot(*stride.touch_down[:2]) == pytest.approx(1, abs=1e-14)
        assert hypot(*stride.lift_off[:2]) == pytest.approx(1, abs=1e-14)


def test_time_runs_backward_as_well() -> None:
    """From the mirror image of lift-off, stance leads to the mirror image of touch-down."""
    stride = RUNNER.stride(Apex(1.0, 4.0), 1.2)
    x, y, vx, vy = stride.lift_off
    back, time = RUNNER.stance([-x, y, vx, -vy])
    x, y, vx, vy = stride.touch_down
    np.testing.assert_allclose(back, [-x, y, vx, -vy], atol=1e-9)
    assert time == pytest.approx(stride.stance, abs=1e-9)


def test_a_cycle_is_symmetric_and_comes_back() -> None:
    cycle = RUNNER.cycle(radians(68), speed=5.0)
    stride = RUNNER.stride(cycle.apex, cycle.angle)
    np.testing.assert_allclose(stride.apex, cycle.apex, atol=1e-9)
    x, y, vx, vy = stride.touch_down
    np.testing.assert_allclose(stride.lift_off, [-x, y, vx, -vy], atol=1e-9)
    assert cycle.energy == pytest.approx(RUNNER.energy(cycle.apex))
    assert RUNNER.neutral_angle(cycle.apex) == pytest.approx(cycle.angle, abs=1e-9)


def test_the_runner_of_the_literature_is_stable() -> None:
    """A. Seyfarth, H. Geyer et al. 2002, "A movement criterion for running": 80 kg, 1 m, 20 kN/m, 68 degrees, 5 m/s."""
    energy = RUNNER.energy(Apex(1.0, 5.0))
    stable, unstable = RUNNER.cycles(radians(68), energy=energy)
    assert stable.is_stable and not unstable.is_stable
    assert stable == RUNNER.cycle(radians(68), energy=energy)
    apex = Apex(1.0, 5.0)
    for _ in range(40):
        apex = RUNNER.stride(apex, radians(68)).apex
    np.testing.assert_allclose(apex, stable.apex, atol=1e-8)  # what rounding of 40 strides leaves of the energy
    # and not with a leg much flatter, as they report: it falls within some steps
    apex = Apex(1.0, 5.0)
    with pytest.raises(SlipError):
        for _ in range(40):
            apex = RUNNER.stride(apex, radians(60)).apex


def test_the_eigenvalue_is_that_of_small_errors() -> None:
    cycle = RUNNER.cycle(radians(68), energy=RUNNER.energy(Apex(1.0, 5.0)))
    height = cycle.apex.height + 1e-4
    speed = sqrt(2 * (cycle.energy / 80 - 9.81 * height))
    after = RUNNER.stride(Apex(height, speed), cycle.angle).apex.height - cycle.apex.height
    # an error of 1e-4 leaves terms of its square
    assert after / 1e-4 == pytest.approx(cycle.eigenvalue, abs=0.02)


def test_foot_placement_of_raibert_at_small_speeds() -> None:
    """x_f = v T_s / 2 is where the neutral foot is, to a tenth: gravity has the mass linger over the foot."""
    for speed in (0.05, 0.3, -0.3):
        apex = Apex(0.8, speed)
        angle = HOPPER.neutral_angle(apex)
        stride = HOPPER.stride(apex, angle)
        np.testing.assert_allclose(stride.apex, apex, atol=1e-9)
        assert 0.6 * cos(angle) == pytest.approx(speed * stride.stance / 2, rel=0.1)
    assert HOPPER.neutral_angle(Apex(0.8, 0.0)) == pi / 2


@pytest.mark.parametrize("call, kind, message", [
    (lambda: RUNNER.stride(Apex(0.9, 5), asin(0.93)), SlipError, "an apex of 0.9 m is below the 0.93"),
    (lambda: Slip(80, 2e3, 1).stride(Apex(1.2, 1), radians(68)), SlipError, "hits the ground"),
    (lambda: RUNNER.cycles(radians(68), energy=700), SlipError, "below the"),
    (lambda: RUNNER.cycle(0.8, speed=1), SlipError, "no stride with angle 0.8 rad and speed 1 m/s"),
    (lambda: RUNNER.cycles(1.2), pliant.PliantError, "need a speed or an energy"),
    (lambda: Slip(80, 0, 1), pliant.PliantError, "stiffness of Slip is 0"),
])  # fmt: skip
def test_what_cannot_be_is_an_error(call, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


# ---- motors that hold a pose


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
    _, log = ran(pliant.Simulation(robot, ground=pliant.flat()), 1.0, q, u=u)
    # it gives way a little, and stays upright
    assert abs(log.q[-1, 2] - q[2]) < 0.03
    np.testing.assert_allclose(log.q[-1, 3:7], [0, 0, 0, 1], atol=0.05)


def test_errors() -> None:
    for robot, gains, field in (
        (PENDULUM, (1.0,), "gains"), (PENDULUM, (1.0, -1.0), "kd"), (pliant.load("double_pendulum"), None, "motors")
    ):  # fmt: skip
        with pytest.raises(RobotError) as error:
            hold(robot, robot.neutral(), gains=gains)
        assert error.value.field == field
    assert error.value.subject == "robot 'double_pendulum'"
