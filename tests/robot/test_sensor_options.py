"""Sensors of a robot: adding one, and changing the options of those that are there."""

import math

import numpy as np
import pytest

import pliant
from pliant.errors import RobotError
from pliant.robot.sensors import Sensor

ERRORS = {"gyro": {"noise": 1e-3, "bias": (0.1, 0.2, 0.3)}, "accelerometer": {"noise": 0.01}}
RAYS = [(3, 1, 0), (1, 2, -3), (0.1, 0.7, 0.3)]


def robot() -> pliant.Robot:
    made = pliant.load("quadruped").with_motors(gear=9)
    made = made.with_sensor("imu", "trunk", name="imu", rate=500, delay=(0.001, 0.002), misalignment=0.01, **ERRORS)
    made = made.with_sensor("encoder", ["lf_knee", "rf_knee"], name="knees", ticks=1000)
    made = made.with_sensor("contact", name="feet", threshold=5)
    made = made.with_sensor("scan", "trunk", name="scan", grid=(0.4, 0.2, 0.1), height={"noise": 0.02})
    return made.with_sensor("range", "trunk", name="eye", rays=RAYS, reach=3, distance={"offset": (1, 2, 3)})


def fault(call) -> RobotError:
    with pytest.raises(RobotError) as raised:
        call(robot())
    return raised.value


# ---- one more


def test_a_name_is_given_once() -> None:
    error = fault(lambda r: r.with_sensor("pose", "trunk", name="imu"))
    assert (error.subject, error.field) == ("sensor 'imu'", "name")
    assert "without_sensors('imu')" in error.cure and "another name" in error.cure
    # the name by default counts, too
    bare = pliant.load("quadruped").with_sensor("contact")
    with pytest.raises(RobotError, match="has a sensor named 'contact' already"):
        bare.with_sensor("contact", threshold=3)
    replaced = robot().without_sensors("imu").with_sensor("pose", "trunk", name="imu")
    assert replaced.sensors["imu"].kind == "pose"
    assert len(robot().with_sensor("imu", "trunk", name="other").sensors) == 6


def test_an_unknown_frame_is_named() -> None:
    with pytest.raises(RobotError, match="no frame named 'nowhere'"):
        robot().with_sensor("imu", "nowhere")


# ---- other options


def test_no_options_change_nothing() -> None:
    before, after = robot(), robot().with_sensors()
    assert list(after.sensors.values()) == list(before.sensors.values()), "not even the last bit of a ray"


def test_options_of_all_some_and_one() -> None:
    every = robot().with_sensors(delay=0.004)
    assert list(every.sensors) == list(robot().sensors)
    assert {sensor.delay for sensor in every.sensors.values()} == {(0.004, 0.004)}
    some = robot().with_sensors(["imu", "feet"], rate=100)
    assert [sensor.rate for sensor in some.sensors.values()] == [100, None, 100, None, None]
    one = robot().with_sensors("feet", threshold=8)
    assert one.sensors["feet"].threshold == 8
    assert robot().with_sensors([], rate=100).sensors["imu"] == robot().sensors["imu"]
    assert pliant.load("quadruped").with_sensors(rate=100).sensors == {}


def test_a_change_is_as_a_sensor_made_that_way() -> None:
    def same(name: str, kind: str, at, changes: dict, options: dict) -> Sensor:
        made = robot().without_sensors(name).with_sensor(kind, at, name=name, **options)
        changed = robot().with_sensors(name, **changes).sensors[name]
        assert changed == made.sensors[name]
        return changed

    imu = {"rate": 500, "delay": (0.001, 0.002), "misalignment": 0.01}
    noisy = {"gyro": {**ERRORS["gyro"], "noise": 1}, "accelerometer": ERRORS["accelerometer"]}
    same("imu", "imu", "trunk", {"gyro": {"noise": 1}}, {**imu, **noisy})
    same("imu", "imu", "trunk", {"gyro": None}, {**imu, "accelerometer": ERRORS["accelerometer"]})
    same("imu", "imu", "trunk", {"channels": ["gyro"]}, {**imu, "channels": ["gyro"], "gyro": ERRORS["gyro"]})
    same("imu", "imu", "trunk", {"rate": None}, {**imu, **ERRORS, "rate": None})
    knees = ["lf_knee", "rf_knee"]
    side = same("knees", "encoder", knees, {"side": "motor", "ticks": 500}, {"side": "motor", "ticks": 500})
    assert side.error("position").resolution == pytest.approx((2 * math.pi / (9 * 500),) * 2)
    grid = same("scan", "scan", "trunk", {"grid": (1, 1, 0.5)}, {"grid": (1, 1, 0.5), "height": {"noise": 0.02}})
    assert grid.error("height").noise == (0.02,) * 9
    same("eye", "range", "trunk", {"reach": 5}, {"rays": RAYS, "reach": 5, "distance": {"offset": (1, 2, 3)}})


@pytest.mark.parametrize(("call", "field"), [
    (lambda r: r.with_sensors("imu", rate=-1), "rate"),
    (lambda r: r.with_sensors("imu", gyro={"noise": -1}), "noise"),
    (lambda r: r.with_sensors("imu", gyro=3), "gyro"),
    (lambda r: r.with_sensors("imu", channels=[]), "channels"),
    (lambda r: r.with_sensors("imu", jitter=1), "jitter"),
    (lambda r: r.with_sensors("knees", side="motor"), "side"),
    (lambda r: r.with_sensors("knees", side="motor", position={"noise": 1}), "side"),
    (lambda r: r.with_sensors("knees", side="spring"), "side"),
    (lambda r: r.with_sensors("eye", rays=RAYS[:2]), "offset"),
    (lambda r: r.with_sensors("scan", grid=(1, 1, 0)), "grid"),
    (lambda r: r.with_sensors(5, rate=1), "names"),
    (lambda r: r.with_sensors([5], rate=1), "name"),
])  # fmt: skip
def test_what_cannot_be_is_refused(call, field) -> None:
    error = fault(call)
    assert error.field == field, str(error)
    assert error.cure


@pytest.mark.parametrize(("call", "message"), [
    (lambda r: r.with_sensors(threshold=5), "no option named 'threshold' in sensors of kind 'imu'"),
    (lambda r: r.with_sensors("imu", at="lf_thigh"), "no option named 'at' in sensors of kind 'imu'"),
    (lambda r: r.with_sensors("inu", rate=5), "no sensor named 'inu'"),
])  # fmt: skip
def test_unknown_names_are_listed(call, message) -> None:
    with pytest.raises(RobotError, match=message):
        call(robot())


def test_an_encoder_changes_sides_with_a_resolution_of_its_own() -> None:
    kept = robot().with_sensors("knees", side="motor", position={"resolution": 0.01})
    assert kept.sensors["knees"].error("position").resolution == (0.01, 0.01)
    none = robot().with_sensors("knees", side="motor", position=None)
    assert none.sensors["knees"].errors == ()


def test_readings_follow() -> None:
    made = pliant.load("quadruped")
    made = made.with_sensor("pose", "trunk", name="p", position={"offset": 1}).with_sensors("p", position={"offset": 2})
    sim = pliant.Simulation(made)
    sim.step()
    assert np.allclose(sim.sensors["p.position"] - sim.truth["p.position"], 2, rtol=0, atol=1e-12)
