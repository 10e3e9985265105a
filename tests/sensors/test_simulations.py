"""Sensors in simulations: controllers that take them, logs and files, side files, shipped sets."""

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, RobotError, SimulationError


@pytest.fixture
def robot() -> pliant.Robot:
    base = pliant.load("cart_pole")
    cart, pole = "slider", "hinge"
    base = base.with_sensor("encoder", [pole], name="pole", ticks=20_000)
    return base.with_sensor("encoder", [cart], name="cart", position={"noise": 1e-6})


def test_controllers_in_python_and_compiled_take_sensors_in_place_of_q_and_v(robot: pliant.Robot) -> None:
    def damped(t, sensors):
        return [-3 * sensors["cart.velocity"][..., 0] + 5 * sensors["pole.position"][..., 0]]

    def compiled(t, sensors):
        return [-3 * sensors["cart.velocity"][0] + 5 * sensors["pole.position"][0]]

    start = [0, 0.3]
    logs = []
    for own in (None, compiled):
        sim = pliant.Simulation(robot, controller=own, seed=5)
        sim.reset(q=start, seed=5)
        logs.append(sim.run(0.5, controller=damped if own is None else None, channels=["q", "u", "sensors", "truth"]))
    assert logs[0]["q"] == pytest.approx(logs[1]["q"], abs=1e-12)
    assert logs[0]["u"][1:] == pytest.approx(logs[1]["u"][1:], abs=1e-12)
    assert logs[1]["cart.position"] == pytest.approx(logs[1]["truth.cart.position"], abs=1e-3)
    assert (logs[1]["cart.position"] != logs[1]["truth.cart.position"]).all()


def test_a_controller_with_sensors_commands_and_memory(robot: pliant.Robot) -> None:
    def integral(t, sensors, command, memory):
        error = command[0] - sensors["cart.position"][0]
        return [20 * error + 5 * memory[0] - 8 * sensors["cart.velocity"][0]], [memory[0] + 1e-3 * error]

    sim = pliant.Simulation(robot, controller=pliant.Controller(integral, commands=1, memory=(0,)))
    log = sim.run(0.2, commands=[0.1], channels=["q", "u"])
    assert log["u"][1, 0] == pytest.approx(20 * 0.1, abs=0.01)


def test_controllers_with_sensors_need_some() -> None:
    bare = pliant.load("cart_pole")
    with pytest.raises(SimulationError, match=r"called with \(t, q, v\).*or take \(t, sensors\)"):
        pliant.Simulation(bare, controller=lambda t, sensors: [0])
    with pytest.raises(SimulationError, match=r"called with \(t, q, v\).*of a robot with sensors"):
        pliant.Simulation(bare).run(0.1, controller=lambda t, sensors: [0])


def test_readings_list_their_channels(robot: pliant.Robot) -> None:
    sim = pliant.Simulation(robot, batch=2)
    assert list(sim.sensors) == ["pole.position", "pole.velocity", "cart.position", "cart.velocity"]
    assert "pole.position (2, 1)" in repr(sim.sensors)
    with pytest.raises(SimulationError, match=r"no channel named 'pole\.speed'.*pole\.position"):
        sim.sensors["pole.speed"]


def test_logs_keep_sensors_by_name_and_files_keep_the_robot_with_them(robot: pliant.Robot, tmp_path) -> None:
    gyro = {"noise": 1e-3, "range": 10, "law": lambda x: x - 1e-3 * x * x * x}
    options = {"rate": 500, "delay": (0.001, 0.004), "misalignment": 0.01, "gyro": gyro}
    robot = robot.with_sensor("imu", robot.bodies[-1].name, name="imu", **options)
    sim = pliant.Simulation(robot, batch=2)
    log = sim.run(0.05, save=tmp_path / "run.h5")
    assert log.columns["imu.gyro"] == ("x", "y", "z")
    assert log.columns["pole.position"] == ("hinge",)
    loaded = pliant.load_log(tmp_path / "run.h5")
    assert np.array_equal(loaded["imu.gyro"], log["imu.gyro"])
    again = loaded.source.robot
    assert list(again.sensors) == list(robot.sensors)
    kept, own = again.sensors["imu"], robot.sensors["imu"]
    assert (kept.rate, kept.delay, kept.misalignment, kept.channels) == (
        own.rate,
        own.delay,
        own.misalignment,
        own.channels,
    )
    assert kept.error("gyro").noise == own.error("gyro").noise
    assert kept.error("gyro").law(0.5) == own.error("gyro").law(0.5)
    # and it runs
    second = pliant.Simulation(again, batch=2)
    second.step()
    sim.reset(seed=0)
    sim.step()
    assert np.array_equal(second.sensors["imu.gyro"], sim.sensors["imu.gyro"])


def test_a_side_file_has_sensors(tmp_path) -> None:
    side = tmp_path / "side.toml"
    side.write_text('robot = "cart_pole"\n[sensors.imu]\nkind = "imu"\nat = "BODY"\nrate = 200\n'
                    'gyro = { noise = 1e-3, bias = [0.1, 0.2, 0.3] }\ndelay = [0.001, 0.002]\n'
                    .replace("BODY", pliant.load("cart_pole").bodies[-1].name))  # fmt: skip
    sensor = pliant.load(side).sensors["imu"]
    assert (sensor.rate, sensor.delay) == (200, (0.001, 0.002))
    assert sensor.error("gyro").bias == (0.1, 0.2, 0.3)


@pytest.mark.parametrize(("line", "match"), [
    ("", "kind is not given"),
    ('kind = "imu"\nat = "nowhere"', "no frame named 'nowhere'"),
    ('kind = "radar"\nat = "pole"', "it takes 'imu'"),
    ('kind = "imu"\nat = "pole"\ngyro = { noise = "much" }', "a table of numbers"),
    ('kind = "imu"\nat = "pole"\ngyro = { law = "exec" }', "a table of numbers"),
    ('kind = "imu"\nat = "pole"\nrate = -5', "rate of sensor 'x' is -5"),
])  # fmt: skip
def test_a_bad_side_file_names_the_line(line: str, match: str, tmp_path) -> None:
    body = pliant.load("cart_pole").bodies[-1].name
    side = tmp_path / "side.toml"
    side.write_text(f'robot = "cart_pole"\n[sensors.x]\n{line}\n'.replace('"pole"', f'"{body}"'))
    with pytest.raises(RobotError, match=match) as caught:
        pliant.load(side)
    assert caught.value.place is not None


@pytest.mark.parametrize("name", ["quadruped", "biped", "hopper"])
def test_shipped_robots_have_sensors_that_read_what_is_there(name: str) -> None:
    robot = pliant.load(name, sensors=True)
    sim = pliant.Simulation(robot, ground=pliant.flat())
    q = robot.on_ground(robot.neutral())
    sim.reset(q=q)
    for _ in range(10):
        sim.step()
    assert np.linalg.norm(sim.sensors["imu.accelerometer"]) < 100
    for channel in sim.sensors:
        assert np.isfinite(sim.sensors[channel]).all(), channel
    assert "imu (imu at" in repr(robot)


def test_other_robots_come_without() -> None:
    with pytest.raises(RobotError, match="no sensors come with robot 'pendulum'"):
        pliant.load("pendulum", sensors=True)
    with pytest.raises(PliantError, match=r"sensors of pliant\.load is"):
        pliant.load("quadruped", sensors="yes")  # type: ignore[arg-type]


def test_without_sensors() -> None:
    robot = pliant.load("quadruped", sensors=True)
    assert list(robot.without_sensors("imu").sensors) == ["encoders", "feet"]
    assert not robot.without_sensors().sensors
    assert robot.digest == robot.without_sensors().digest
