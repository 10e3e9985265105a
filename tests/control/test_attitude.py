"""Mahony's filter: closed forms of its errors, noise against its spectrum, and all scalars."""

import math

import numpy as np
import pytest

import pliant
from pliant.control import AttitudeFilter
from pliant.control.attitude import heading_of, turn_of_heading, upright_from
from pliant.errors import PliantError
from pliant.spatial import Vector, rotation_from_quaternion, rotation_from_rpy

G = 9.81


def angle_to_up(quaternion, up) -> np.ndarray:
    """Between the vertical of an estimate and the true one, both in the body's axes [rad]."""
    seen = rotation_from_quaternion(*quaternion).rotate_back(Vector(0, 0, 1))
    across = np.array([*seen.cross(Vector(*up))], float)
    return np.arctan2(np.sqrt((across**2).sum(axis=0)), seen.dot(Vector(*up)))


def test_errors_of_tilt_die_out_as_the_closed_form_says() -> None:
    # with e = sin(angle), angle' = -kp sin(angle): tan(angle / 2) falls exponentially, from anywhere
    kp, dt, start = 2.0, 1e-4, 2.8
    mahony = AttitudeFilter(kp=kp, ki=0)
    memory = [math.sin(start / 2), 0.0, 0.0, math.cos(start / 2), 0.0, 0.0, 0.0]
    for _ in range(20000):
        attitude, memory = mahony.update([0.0] * 3, [0.0, 0.0, G], memory, dt)
    found = angle_to_up(attitude.quaternion, (0, 0, 1))
    # Euler's method: kp dt / 2 of the exponent kp t = 4
    assert math.tan(found / 2) == pytest.approx(math.tan(start / 2) * math.exp(-kp * 2), rel=1e-3)


def test_a_bias_is_found_as_a_system_of_second_order_does() -> None:
    kp, dt, bias = 1.0, 1e-3, 0.004
    rate = kp / 2  # both roots of s^2 + kp s + kp^2 / 4
    mahony = AttitudeFilter(kp=kp, ki=rate * rate)
    memory = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    for k in range(1, 10001):
        attitude, memory = mahony.update([bias, -bias, 0.0], [0.0, 0.0, G], memory, dt)
        if k in (1000, 4000, 10000):
            t = k * dt
            decay = math.exp(-rate * t)
            tilt = bias * t * decay
            # first order in dt and third in the angles
            assert 2 * attitude.quaternion[0] == pytest.approx(tilt, rel=2e-3, abs=1e-6)
            assert 2 * attitude.quaternion[1] == pytest.approx(-tilt, rel=2e-3, abs=1e-6)
            assert attitude.bias.x == pytest.approx(bias * (1 - (1 + rate * t) * decay), rel=2e-3)
    assert [*attitude.rate][:2] == pytest.approx([0, 0], abs=bias * 0.05)


@pytest.mark.parametrize("rpy", [(0, 0, 0), (0.4, -0.9, 0), (3.0, 0.2, 0), (math.pi, 0, 0), (0, 1.5, 0)])
def test_it_starts_with_the_tilt_that_the_accelerometer_shows(rpy: tuple[float, float, float]) -> None:
    up = rotation_from_rpy(*rpy).rotate_back(Vector(0, 0, 1))
    attitude, _ = AttitudeFilter().update([0.3, 2, -1], [G * x for x in up], AttitudeFilter().memory, 1e-3)
    # half a turn that is 1e-6 of its cosine off straight down takes the one about x
    assert angle_to_up(attitude.quaternion, up) == pytest.approx(0, abs=3e-3 if rpy[0] == math.pi else 1e-12)
    assert sum(x * x for x in upright_from(up)) == pytest.approx(1, abs=1e-12)


def test_blows_and_falls_do_not_count() -> None:
    mahony = AttitudeFilter(gate=0.2)
    memory = [0.1, 0.0, 0.0, math.sqrt(0.99), 0.0, 0.0, 0.0]
    for felt in ([0.0, 0.0, 0.0], [3.0, 1.0, 30.0], [0.0, 0.0, G * 0.79]):
        _, after = mahony.update([0.0] * 3, felt, memory, 1e-2)
        assert after == pytest.approx(memory, abs=1e-15)
    _, after = mahony.update([0.0] * 3, [0.0, 0.0, G], memory, 1e-2)
    assert after[0] < memory[0]


def test_headings() -> None:
    for yaw in (-3.0, 0.0, 1.2):
        c, s = heading_of(rotation_from_rpy(0.3, 0.5, yaw))
        assert math.atan2(s, c) == pytest.approx(yaw, abs=1e-12)
    c, s = heading_of(rotation_from_rpy(0, math.pi / 2, 0))
    assert (c, s) == (1, 0)
    assert [turn_of_heading(x) for x in (4.0, -4.0, 1.0)] == pytest.approx([4 - 2 * math.pi, 2 * math.pi - 4, 1])


# ---- on a body that tumbles


def gimbal(**errors) -> pliant.Robot:
    """A body that turns freely about a fixed point, with an IMU there: it feels gravity alone."""
    builder = pliant.RobotBuilder("gimbal")
    builder.body("body", mass=1.0, inertia=(0.02, 0, 0, 0.03, 0, 0.045))
    builder.joint("pivot", "spherical", "world", "body")
    return builder.build().with_sensor("imu", "body", name="imu", **errors)


def tumbling(robot: pliant.Robot, mahony: AttitudeFilter, batch: int, seconds: float, speed: float = 0.6) -> tuple:
    """Errors of tilt of the filter compiled into the simulation, and biases, (times, batch, ...)."""
    dt = 1e-3

    def law(t, sensors, memory):
        _, memory = mahony.update(sensors["imu.gyro"], sensors["imu.accelerometer"], memory, dt)
        return [], memory

    sim = pliant.Simulation(robot, dt=dt, controller=pliant.Controller(law, memory=mahony.memory), batch=batch, seed=3)
    rng = np.random.default_rng(1)
    # not about the vertical, which would show no bias about it
    spin = rng.normal(size=(batch, 3)) * [1, 1, 0]
    sim.reset(v=speed * spin / np.linalg.norm(spin, axis=1, keepdims=True))
    tilts, biases = [], []
    for _ in range(round(seconds / 0.05)):
        for _ in range(50):
            q = sim.q
            sim.step()
        memory = sim.state.part("memory")
        up = rotation_from_quaternion(*q.T).rotate_back(Vector(0, 0, 1))
        tilts.append(angle_to_up(memory[:, :4].T, up))
        biases.append(memory[:, 4:])
    return np.array(tilts), np.array(biases)


def test_noise_of_tilt_at_rest_is_that_of_its_spectrum() -> None:
    kp, ki, gyro, accelerometer = 1.0, 0.25, 2e-3, 0.02
    robot = gimbal(gyro={"noise": gyro}, accelerometer={"noise": accelerometer})
    tilts, biases = tumbling(robot, AttitudeFilter(kp=kp, ki=ki), 64, 60, speed=0)
    # theta'' + kp theta' + ki theta = n_gyro' + (kp d/dt + ki) n_acc / g, with white noises of these densities
    on_acc = (accelerometer / G) ** 2
    variance = gyro**2 / (2 * kp) + on_acc * (kp**2 + ki) / (2 * kp)
    # 64 robots, two axes, some 10 correlation times each: the deviation is known to 2 %
    assert np.sqrt((tilts[400:] ** 2).mean()) == pytest.approx(math.sqrt(2 * variance), rel=0.1)
    # and b = -ki / s of the error: its variance is ki / (2 kp) times that of n_gyro, and ki^2 / (2 kp) of n_acc / g
    spread = math.sqrt(ki * gyro**2 / (2 * kp) + ki**2 * on_acc / (2 * kp))
    assert biases[400:, :, :2].std() == pytest.approx(spread, rel=0.1)


def test_noise_and_bias_on_a_tumbling_body() -> None:
    kp, gyro, accelerometer, truth = 1.0, 2e-3, 0.02, [0.02, -0.03, 0.01]
    robot = gimbal(gyro={"noise": gyro, "offset": truth}, accelerometer={"noise": accelerometer})
    tilts, biases = tumbling(robot, AttitudeFilter(kp=kp), 64, 60)
    # the error of the bias turns against the vertical with the body, and comes on top of what there is at rest
    at_rest = math.sqrt(gyro**2 / kp + (accelerometer / G) ** 2 * kp)
    assert at_rest < np.sqrt((tilts[600:] ** 2).mean()) < 2 * at_rest
    assert biases[600:].mean(axis=(0, 1)) == pytest.approx(truth, abs=5e-4)
    # of each robot at each moment: about sqrt(ki / 2 kp) of the noise, as at rest
    assert (biases[600:] - truth).std() < 2 * math.sqrt(0.25 / (2 * kp)) * gyro


def test_a_bias_of_all_axes_is_found_on_a_tumbling_body() -> None:
    truth = [0.02, -0.03, 0.01]
    tilts, biases = tumbling(gimbal(gyro={"offset": truth}), AttitudeFilter(), 8, 60)
    assert biases[-1] == pytest.approx(np.tile(truth, (8, 1)), abs=1e-3)
    # without noise nothing is left but the step of the filter, a period of 1 ms at 0.6 rad/s
    assert tilts[-100:].max() < 2e-3


def test_it_is_generic_over_the_scalar() -> None:
    mahony, dt = AttitudeFilter(), 2e-3
    rng = np.random.default_rng(0)
    gyro, felt = rng.normal(size=(20, 5, 3)), rng.normal((0, 0, G), size=(20, 5, 3))
    kernel = pliant.compiler.kernel_from_function(
        lambda w, a, m: mahony.update(w, a, m, dt)[1], {"w": (3,), "a": (3,), "m": (7,)}, name="mahony"
    )
    floats = [list(mahony.memory) for _ in range(5)]
    arrays = [np.zeros(5) for _ in range(7)]
    compiled = np.zeros((5, 7))
    for w, a in zip(gyro, felt, strict=True):
        floats = [mahony.update(w[k].tolist(), a[k].tolist(), floats[k], dt)[1] for k in range(5)]
        arrays = mahony.update(w.T, a.T, arrays, dt)[1]
        compiled = kernel(w, a, compiled)
    assert pytest.approx(np.array(floats), abs=1e-13) == np.array(arrays).T
    assert compiled == pytest.approx(np.array(floats), abs=1e-13)


@pytest.mark.parametrize(("name", "value"), [("kp", -1), ("ki", -0.1), ("gravity", 0), ("gate", 0)])
def test_bad_gains(name: str, value: float) -> None:
    with pytest.raises(PliantError) as raised:
        AttitudeFilter(**{name: value})
    assert raised.value.field == name
