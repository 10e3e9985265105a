"""Deflection of a flexible joint from IMUs on both sides, against that of the spring."""

import math

import numpy as np
import pytest

import pliant
from pliant.control import DeflectionFilter
from pliant.errors import RobotError
from pliant.spatial import Vector, rotation_about

G, DT = 9.81, 1e-3


def arm(errors: dict | None = None, ticks: float | None = None) -> pliant.Robot:
    """Two links, the elbow with a spring; IMUs on both, away from the elbow and turned any way."""
    builder = pliant.RobotBuilder("arm")
    builder.body("upper", mass=2.0, com=(0, 0, -0.15), inertia=(0.02, 0, 0, 0.02, 0, 0.002))
    builder.body("lower", mass=1.0, com=(0, 0, -0.2), inertia=(0.015, 0, 0, 0.015, 0, 0.001))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", position=(0, 0, -0.3), rpy=(0, 0, 0.4), axis=(0, 1, 0))
    robot = builder.build().with_motor("shoulder", control="position", kp=300, kd=20, gear=9, rotor_inertia=1e-4)
    robot = robot.with_motor("elbow", control="position", kp=200, kd=10, gear=50, rotor_inertia=2e-5)
    robot = robot.with_flexibility("elbow", stiffness=25, damping=0.3)
    robot = robot.with_frame("upper_board", "upper", (0.02, 0.01, -0.1), rpy=(0.3, -0.2, 1.0))
    robot = robot.with_frame("lower_board", "lower", (0.03, 0, -0.25), rpy=(0, 1.2, 0.4))
    for frame, name in (("upper_board", "near"), ("lower_board", "far")):
        robot = robot.with_sensor("imu", frame, name=name, **(errors or {}))
    return robot.with_sensor("encoder", name="encoders", side="motor", **({"ticks": ticks} if ticks else {}))


def moved(robot: pliant.Robot, batch: int, seconds: float, **options: float) -> tuple[np.ndarray, ...]:
    """Estimates, rates, biases and true deflections of arms that swing, (batch, periods)."""
    estimator = DeflectionFilter.of(robot, "elbow", near="near", far="far", **options)
    n = len(estimator.memory)

    def law(t, sensors, memory):
        imus = [sensors[f"{name}.{what}"] for name in ("near", "far") for what in ("gyro", "accelerometer")]
        position, rate = sensors["encoders.position"][1], sensors["encoders.velocity"][1]
        found, kept = estimator.update(*imus, position, rate, memory[:n], DT)
        u = [0.5 + 0.4 * pliant.math.sin(3 * t), 0.8 + 0.6 * pliant.math.sin(5 * t)]
        return u, [*kept, found.angle, found.rate]

    controller = pliant.Controller(law, memory=(*estimator.memory, 0, 0))
    sim = pliant.Simulation(robot, dt=DT, controller=controller, batch=batch, seed=4)
    sim.reset(q=[0.5, 0, 0.8])
    made = sim.rollout(None, None, periods=round(seconds / DT), channels=["q", "v", "memory"])
    # an estimate is that of the beginning of its period
    state = pliant.actuation.flexibility_state
    flat = state(robot, made.q[:, :-1].reshape(-1, robot.nq), made.v[:, :-1].reshape(-1, robot.nv))
    shape = made.q[:, :-1].shape[:2]
    memory = made["memory"][:, 1:]
    truth, rate = flat.deflection.reshape(shape), flat.deflection_rate.reshape(shape)
    return memory[..., n], memory[..., n + 1], memory[..., 2], truth, rate


def test_without_errors_it_is_the_deflection_of_the_spring() -> None:
    angle, rate, bias, truth, true_rate = moved(arm(), 1, 20)
    late = slice(15000, None)
    assert truth[:, late].std() > 0.01
    # the start, with a deflection that it does not know, is gone; forces and angular velocities are those of the two
    # ends of a step, between which the elbow turns by up to 3 mrad
    assert angle[:, late] == pytest.approx(truth[:, late], abs=3e-3)
    assert rate[:, late] == pytest.approx(true_rate[:, late], abs=5e-3)
    assert np.abs(bias[:, late]).max() < 2e-3


def test_noise_and_bias_of_gyroscopes() -> None:
    noise, felt = 1e-4, 1e-3
    robot = arm({"gyro": {"noise": noise, "bias": 0.01}, "accelerometer": {"noise": felt}}, ticks=4096)
    angle, _, bias, truth, _ = moved(robot, 16, 30)
    off = (angle - truth)[:, 20000:]
    # two gyroscopes and two accelerometers through s^2 + kp s + ki, as in the attitude filter; and half a step of it
    spread = math.sqrt(2) * math.hypot(noise / math.sqrt(2), felt / G * math.sqrt(1.25 / 2))
    assert np.sqrt((off**2).mean()) < 2 * spread + 1e-3
    assert np.abs(bias[:, -1]).max() > 0.01  # there are biases to be found
    assert bias[:, -5000:].std(axis=1).max() < 2e-3


def test_biases_of_accelerometers_show_as_a_deflection() -> None:
    size = 0.05
    robot = arm({"accelerometer": {"bias": size}})
    angle, _, _, truth, _ = moved(robot, 64, 20)
    off = (angle - truth)[:, 15000:].mean(axis=1)
    # each accelerometer is off by bias / g across the specific force, which is some g
    assert off.std() == pytest.approx(math.sqrt(2) * size / G, rel=0.3)


def test_closed_form_on_plain_numbers() -> None:
    # at rest, with a deflection that it does not know: tan(error / 2) falls as exp(-kp t) for ki = 0
    robot, true = arm(), 0.3
    estimator = DeflectionFilter.of(robot, "elbow", near="near", far="far", kp=2, ki=0)
    up = Vector(0.6 * G, 0, 0.8 * G)  # in the spring's frame, across the axis
    near = estimator.X_SN.R.rotate_back(up)
    beyond = rotation_about(Vector(0, 1, 0), 0.7 + true).rotate_back(up)
    far = estimator.X_CF.R.rotate_back(beyond)
    memory = list(estimator.memory)
    for k in range(1001):
        found, memory = estimator.update([0.0] * 3, [*near], [0.0] * 3, [*far], 0.7, 0.0, memory, DT)
        left = 2 * math.atan(math.tan(true / 2) * math.exp(-2 * k * DT))
        # Euler's method
        assert true - found.angle == pytest.approx(left, abs=1e-3)
    assert found.link == pytest.approx(0.7 + found.angle)


def test_what_it_needs() -> None:
    robot = arm()
    cases = [
        (robot, "shoulder", "near", "far", "flexibility"),
        (robot, "wrist", "near", "far", "joint"),
        (robot, "elbow", "far", "near", "at"),
        (robot, "elbow", "encoders", "far", "kind"),
        (robot, "elbow", "none", "far", "sensor"),
    ]
    for given, joint, near, far, field in cases:
        with pytest.raises(RobotError) as raised:
            DeflectionFilter.of(given, joint, near=near, far=far)
        assert raised.value.field == field, str(raised.value)
    with pytest.raises(RobotError):
        DeflectionFilter.of(robot, "elbow", near="near", far="far", bandwidth=0)
