"""What walkers see by sensors, and what walking costs them."""

import dataclasses

import numpy as np
import pytest

from pliant import tasks
from pliant.tasks import walkers
from pliant.tasks.effort import effort
from pliant.tasks.sensing import noisy, with_walking_sensors
from pliant.tasks.walking import environment, seen_by, spread_of


def test_exact_sensors_tell_what_the_state_tells():
    env = tasks.make("quadruped", batch=8, sensors=True, history=2)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        seen = env.step(rng.uniform(-0.3, 0.3, (8, 12)).astype(np.float32)).observations
    names = env.observation_names
    for what, size in (("rates", 3), ("vertical", 3), ("joints", 12), ("joint rates", 12)):
        truth = seen["critic"][:, [names["critic"].index(f"{what}[{k}]") for k in range(size)]]
        # the newest of the two periods that are shown
        found = seen["actor"][:, [names["actor"].index(f"{what}[{size + k}]") for k in range(size)]]
        # float32, with rates of up to 10 rad/s and quaternions that are normalised once more
        np.testing.assert_allclose(found, truth, atol=2e-5)


def test_no_sensor_tells_the_velocity_of_the_base():
    env = tasks.make("quadruped", batch=4, sensors=True)
    assert not any(name.startswith("velocity") for name in env.observation_names["actor"])
    assert env.observation_names["actor"][:3] == ["odometry[0]", "odometry[1]", "odometry[2]"]
    assert any(name.startswith("velocity") for name in env.observation_names["critic"])


def test_legs_tell_the_velocity_of_the_base():
    """Of a robot that follows its commands by the policy of the package, which sees the true state."""
    env, policy = tasks.make("quadruped", batch=16, sensors=True), tasks.trained("quadruped")
    env.reset(seed=0)
    env.set_command("velocity", [0.5, 0.0, 0.2])
    names, seen = env.observation_names, env.look()
    errors, speeds = [], []
    for k in range(100):
        seen = env.step(policy(seen["critic"])).observations
        own, truth = (
            seen[group][:, [names[group].index(f"{what}[{i}]") for i in range(3)]]
            for group, what in (("actor", "odometry"), ("critic", "velocity"))
        )
        if k >= 20:
            errors.append(own - truth)
            speeds.append(truth)
    # there is one sample in 20 ms, of an accelerometer in a trot: 0.04 m/s ahead were measured; an estimate of zero,
    # or one in the axes of the world, would be off by 0.5
    assert np.sqrt(np.mean(np.square(errors), axis=(0, 1))).max() < 0.1
    assert np.mean(speeds, axis=(0, 1))[0] > 0.4


def test_feet_of_several_points_have_no_odometry():
    env = tasks.make("biped", batch=2, sensors=True)
    assert "odometry[0]" not in env.observation_names["actor"] and "feet" not in env.sim.robot.sensors


def test_errors_come_with_noise_only():
    robot = walkers.quadruped().robot
    exact, poor = (with_walking_sensors(robot, noise=noise, scan=True) for noise in (False, True))
    assert not any(sensor.is_random for sensor in exact.sensors.values())
    assert all(sensor.is_random for sensor in poor.sensors.values())
    # left and right of the heading alike
    points = {(round(float(x), 6), round(float(y), 6)) for x, y, _ in exact.sensors["scan"].rays}
    assert points == {(x, -y) for x, y in points}


def test_noise_is_on_what_is_measured_and_not_on_what_is_known():
    seen = noisy(seen_by(walkers.quadruped()))
    known = {name for name, term in seen.items() if term.noise is None}
    assert known == {"last action", "command", "clock"}
    assert all(term.delay == (0, 0) for name, term in seen.items() if name in known)


def test_what_differs_is_drawn_around_the_robot():
    env = tasks.make("quadruped", batch=256, randomised=True)
    env.reset(seed=0)
    body = "trunk"
    mass = env.sim.parameters[f"bodies.{body}.mass"]
    assert spread_of(env.sim.robot, False) == []
    assert 0.8 * 6 <= mass.min() < 0.85 * 6 and 1.25 * 6 < mass.max() <= 1.3 * 6
    assert np.abs(env.sim.parameters[f"bodies.{body}.com"]).max() <= 0.02 + 1e-6


def test_standing_takes_torques_and_the_weight():
    # without chance at the start both sides carry the same
    still = dataclasses.replace(walkers.quadruped(), start={"joints": 0.0, "velocity": 0.0})
    env = environment(still, batch=8)
    found = effort(env, lambda seen: np.zeros((len(seen), 12), np.float32), (0, 0, 0), seconds=3.0)
    assert found.falls == 0 and found.transport == np.inf
    # some foot carries a quarter or more, and none more than its side; 10 % for what is left of the settling
    assert 0.25 <= found.impact <= 0.5 * 1.1
    # at rest a motor holds with kp times what its joint sags; the robot settles in the first part of what is measured
    sag = env.sim.q[:, 7:] - np.array(still.stance[7:])
    assert found.torque == pytest.approx(40 * np.sqrt(np.mean(sag**2)), rel=0.1)
    weight = 9.81 * env.sim.robot.mass
    np.testing.assert_allclose(env.sim.contact_forces[..., 2].sum(axis=1), weight, rtol=0.01)
