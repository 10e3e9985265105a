"""The guide for coding agents in the package: its code runs, and the names in it exist."""

import pkgutil
import re
from importlib import resources

import pliant

TEXT = (resources.files("pliant") / "llms.txt").read_text(encoding="utf-8")


def test_its_code_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "llms.txt", "exec"), {"__name__": "guide"})


def test_names_of_the_package_exist() -> None:
    names = set(re.findall(r"\bpliant((?:\.[A-Za-z_]+)+)", TEXT))
    assert len(names) > 15
    for name in names:
        assert pkgutil.resolve_name(f"pliant{name}") is not None


def test_sensors_are_read_as_it_says() -> None:
    robot = pliant.load("pendulum").with_sensor("imu", "rod", rate=500, gyro={"noise": 2e-4})
    sim = pliant.Simulation(robot)
    sim.step()
    assert sim.sensors["rod_imu.gyro"].shape == (3,)
