"""Errors of sensors against their closed forms: deviations, Allan's variance, ranges and steps."""

import math

import numpy as np
import pytest

import pliant
from pliant.analysis import allan
from pliant.analysis.allan import gauss_markov, white_noise

DT = 1e-2


def still(batch: int = 400, **options) -> pliant.Simulation:
    """Robots that do not move, with an inertial unit."""
    builder = pliant.RobotBuilder("bob")
    builder.body("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    robot = builder.build().with_sensor("imu", "bob", name="imu", **options)
    return pliant.Simulation(robot, dt=DT, batch=batch)


def gyro(sim: pliant.Simulation, periods: int) -> np.ndarray:
    """(batch, periods, 3)"""
    return sim.rollout(None, None, periods=periods, channels=["imu: reading"]).channels["imu: reading"][..., :3]


def test_white_noise_has_the_deviation_of_its_density_and_rate() -> None:
    density = np.array([1e-3, 2e-3, 5e-3])
    read = gyro(still(100, rate=50, gyro={"noise": density}), 1000)[:, 1::2]
    count = read.shape[0] * read.shape[1]
    # five deviations of an estimated deviation, s / sqrt(2 n)
    assert read.std(axis=(0, 1)) == pytest.approx(density * math.sqrt(50), rel=5 / math.sqrt(2 * count))


def test_what_is_drawn_at_turn_on_stays_and_differs_between_robots() -> None:
    sim = still(4000, gyro={"bias": 0.02}, accelerometer={"scale": 0.01}, misalignment=0.0)
    first = sim.sensors
    bias, g = first["imu.gyro"], first["imu.accelerometer"][:, 2]
    for _ in range(5):
        sim.step()
    assert np.array_equal(sim.sensors["imu.gyro"], bias)
    assert bias.std() == pytest.approx(0.02, rel=5 / math.sqrt(2 * bias.size))
    assert (g / 9.81).std() == pytest.approx(0.01, rel=5 / math.sqrt(2 * g.size))


def test_one_turn_misaligns_all_channels_of_a_sensor() -> None:
    builder = pliant.RobotBuilder("top")
    builder.body("top", mass=1.0, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("axle", "continuous", "world", "top", axis=(0, 0, 1))
    robot = builder.build().with_sensor(
        "imu", "top", name="imu", misalignment=0.1, channels=["gyro", "accelerometer", "orientation"]
    )
    sim = pliant.Simulation(robot, dt=DT, batch=500)
    sim.reset(v=[2.0])
    sim.step()
    w, a = sim.sensors["imu.gyro"], sim.sensors["imu.accelerometer"]
    # both along the same true axis, z, so they are turned alike
    assert w / 2.0 == pytest.approx(a / 9.81, abs=1e-12)
    assert np.linalg.norm(w, axis=1) == pytest.approx(2.0, abs=1e-12)
    tilt = w[:, :2] / 2.0
    assert tilt.std() == pytest.approx(0.1, rel=0.1)
    # the orientation of the sensor as it is mounted takes its own readings into the world
    x, y, z, s = sim.sensors["imu.orientation"].T
    u = np.stack([x, y, z], axis=1)
    in_world = a + 2 * np.cross(u, np.cross(u, a) + s[:, None] * a)
    assert in_world == pytest.approx(np.tile([0, 0, 9.81], (500, 1)), abs=1e-9)


def test_range_and_resolution() -> None:
    sim = still(3, accelerometer={"range": 5.0, "resolution": 0.4, "offset": (0.31, -0.75, 0)})
    read = sim.sensors["imu.accelerometer"][0]
    assert read == pytest.approx([0.4, -0.8, 5.0], abs=1e-12)


def test_gain_offset_and_law() -> None:
    sim = still(1, accelerometer={"gain": 2, "offset": 1, "law": lambda x: x - 0.01 * x * x})
    x = 2 * 9.81
    assert sim.sensors["imu.accelerometer"][0] == pytest.approx([1, 1, x - 0.01 * x * x + 1], abs=1e-12)


def test_allan_deviation_of_white_noise_and_drift() -> None:
    density, deviation, time = 2e-3, 0.01, 5.0
    read = gyro(
        still(200, gyro={"noise": (density, 0, density), "drift": (0, deviation, deviation), "drift_time": time}),
        12_000,
    )
    found = allan(read, period=DT)
    tau = found.times
    white, drift = white_noise(tau, density), gauss_markov(tau, deviation, time)
    # the drift goes on after each hundredth of its time, so shorter averages are not those of the process
    assert found.deviation[:, 0] == pytest.approx(white, rel=0.04)
    long = tau >= 0.2
    assert found.deviation[long, 1] == pytest.approx(drift[long], rel=0.05)
    assert found.deviation[long, 2] == pytest.approx(np.hypot(white, drift)[long], rel=0.05)
    # bias instability, where the curve is highest
    assert found.deviation[:, 1].max() == pytest.approx(0.618 * deviation, rel=0.04)
    assert tau[found.deviation[:, 1].argmax()] == pytest.approx(1.89 * time, rel=0.4)


def test_drift_is_stationary_and_bounded() -> None:
    read = gyro(still(3000, gyro={"drift": 0.05, "drift_time": 1.0}), 400)
    for k in (0, 100, 399):
        values = read[:, k]
        assert values.std() == pytest.approx(0.05, rel=5 / math.sqrt(2 * values.size))
    # correlation falls as exp(-t / T)
    correlation = (read[:, 100] * read[:, 200]).mean() / 0.05**2
    assert correlation == pytest.approx(math.exp(-1.0), abs=0.05)


def test_numbers_of_sensors_may_vary() -> None:
    robot = still(1, gyro={"noise": 1e-3}).robot
    sim = pliant.Simulation(robot, dt=DT, batch=300, varying=["sensors.imu.gyro.noise", "sensors.imu.gyro.offset"])
    sim.parameters["sensors.imu.gyro.offset"] = np.arange(300)[:, None] * np.ones(3)
    sim.parameters["sensors.imu.gyro.noise"] = 0
    sim.reset(seed=1)
    sim.step()
    assert sim.sensors["imu.gyro"] == pytest.approx(np.arange(300)[:, None] * np.ones(3), abs=1e-12)
    with pytest.raises(pliant.PliantError, match="no number named 'loudness'"):
        pliant.Simulation(robot, varying=["sensors.imu.gyro.loudness"])


def test_an_orientation_is_turned_by_its_noise() -> None:
    sim = still(2000, channels=["orientation"], orientation={"bias": 0.02})
    q = sim.sensors["imu.orientation"]
    assert np.linalg.norm(q, axis=1) == pytest.approx(1, abs=1e-12)
    angle = 2 * np.arcsin(np.linalg.norm(q[:, :3], axis=1))
    # the length of a vector of three normal numbers
    assert math.sqrt((angle**2).mean() / 3) == pytest.approx(0.02, rel=0.05)
