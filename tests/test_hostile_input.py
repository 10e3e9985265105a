"""Inputs that once raised something else than a `PliantError`: found by `bench.fuzz`, and kept as small as they get."""

import struct
import warnings
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.cli.settings import gathered
from pliant.errors import ContactError, PliantError, RobotError, SimulationError
from pliant.learn import Policy

HUGE = 10**400
RAGGED = [[1, 2], [3]]
LONG = "a" * 5000


@pytest.fixture(scope="module")
def robot() -> pliant.Robot:
    return pliant.load("pendulum")


@pytest.fixture(scope="module")
def sim(robot: pliant.Robot) -> pliant.Simulation:
    return pliant.Simulation(robot, dt=1e-3)


# ---- files


@pytest.mark.parametrize("encoding", [
    "nope", "utf-7", "utf-32", "big5", "shift_jis", "rot13", "hex", "idna", "cp037", "punycode", "undefined", "\u00e9",
])  # fmt: skip
def test_encodings_that_xml_cannot_use(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><robot name="a"><link name="b"/></robot>'.encode())
    with pytest.raises(RobotError) as error:
        pliant.load(path)
    assert error.value.place == (str(path), 1)


@pytest.mark.parametrize("name", [LONG, "a" * 3000, "a\0b"])
def test_paths_that_no_file_has(tmp_path: Path, name: str) -> None:
    for read in (
        lambda: pliant.load(f"{name}.urdf"),
        lambda: pliant.load("pendulum", side=f"{name}.toml"),
        lambda: pliant.load_log(f"{name}.h5"),
        lambda: Policy.load(f"{name}.policy"),
        lambda: pliant.terrain.load_terrain(f"{name}.toml"),
    ):
        with pytest.raises(PliantError) as error:
            read()
        assert len(str(error.value)) < 20_000


def test_settings_name_a_path_that_no_file_has(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(f'robot = "{LONG}"\n')
    assert gathered({}, str(tmp_path / "run.toml")).robot == LONG
    (tmp_path / "run.toml").write_text(f"time = {'9' * 400}\n")
    with pytest.raises(PliantError) as error:
        gathered({}, str(tmp_path / "run.toml"))
    assert error.value.field == "time"


def test_an_archive_of_a_version_to_come(tmp_path: Path) -> None:
    path = tmp_path / "x.policy"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.json", "{}")
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 6  # the version that is needed to extract it
    data[at : at + 2] = struct.pack("<H", 156)
    path.write_bytes(bytes(data))
    with pytest.raises(PliantError) as error:
        Policy.load(path)
    assert error.value.field == "path"


# ---- numbers


@pytest.mark.parametrize("value", [HUGE, Fraction(HUGE, 3), -HUGE], ids=["whole", "fraction", "negative"])
def test_numbers_that_no_float_holds(robot: pliant.Robot, sim: pliant.Simulation, value: object) -> None:
    calls = [
        lambda: sim.reset(t=value), lambda: sim.reset(q=[value]), lambda: sim.step([value]), lambda: sim.run(value),
        lambda: pliant.Simulation(robot, dt=value), lambda: robot.with_motor("hinge", kp=value),
        lambda: pliant.flat(value), lambda: pliant.RigidContact(friction=value), lambda: pliant.from_dh([{"a": value}]),
        lambda: pliant.Simulation(robot, batch=value),
        lambda: pliant.mass_matrix(robot, [value]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(PliantError) as error:
            call()
        assert len(str(error.value)) < 1000


def test_times_and_durations_that_no_clock_counts(sim: pliant.Simulation) -> None:
    for value in (1e308, -1e308, 1e14):
        with pytest.raises(SimulationError) as error:
            sim.reset(t=value)
        assert error.value.field == "t"
    with pytest.raises(SimulationError) as error:
        sim.run(1e308)
    assert error.value.field == "duration"


# ---- arguments of another kind


def test_ragged_lists_and_texts_as_arrays(robot: pliant.Robot, sim: pliant.Simulation) -> None:
    for value in (RAGGED, ["a"], [None], [1j], np.array(["a"])):
        for call, field in ((sim.reset, "q"), (sim.step, "u")):
            with pytest.raises(SimulationError) as error:
                call(value)
            assert error.value.field == field
    # the shape is not what is wrong with two texts for one number, or one
    for texts in (["a", "b"], ["a"]):
        with pytest.raises(SimulationError) as error:
            sim.reset(q=texts)
        assert "shape" not in str(error.value)


@pytest.mark.parametrize("value", [np.zeros(2), RAGGED, {1, 2}, object()])
def test_flags_names_and_options_of_another_kind(robot: pliant.Robot, value: object) -> None:
    calls = {
        "sensors": lambda: pliant.load("pendulum", sensors=value),
        "name": lambda: robot.frame(value),
        "frame": lambda: pliant.frame_pose(robot, [0.0], frame=value),
        "batch": lambda: pliant.Simulation(robot, batch=value),
        "progress": lambda: pliant.Simulation(robot, dt=value),
        "body": lambda: robot.path(value),
        "joint": lambda: robot.q_slice(value),
        "kind": lambda: pliant.Simulation(robot).run(0.01, channels=value),
        "log": lambda: pliant.analysis.energy_ledger(value),
    }
    for call in calls.values():
        with pytest.raises(PliantError):
            call()


class NoRobot:
    """Has what a robot has at first sight."""

    nq = nv = nu = 1
    name = "x"


@pytest.mark.parametrize("function", [
    pliant.mass_matrix, pliant.Simulation, pliant.EventSimulation, pliant.control.hold_gains, pliant.control.raibert,
    pliant.analysis.bode, pliant.symbolic.symbolic_robot, pliant.catalogue.read_side_file,
])  # fmt: skip
@pytest.mark.parametrize("thing", [NoRobot(), None, 3, "pendulum", [1]])
def test_something_that_is_no_robot(function, thing: object) -> None:
    arguments = {"hold_gains": ([0.0],), "mass_matrix": ([0.0],), "read_side_file": ("x.toml",)}
    with pytest.raises(PliantError) as error:
        function(thing, *arguments.get(getattr(function, "__name__", ""), ()))
    assert "obot" in str(error.value)


def test_grounds_at_places_that_do_not_fit_each_other() -> None:
    with pytest.raises(ContactError):
        pliant.slope(0.1).height(np.zeros(2), np.zeros((2, 3)))
    with pytest.raises(ContactError):
        pliant.terrain.grid({"flat": pliant.terrain.Kind("flat")}, levels=1, size=2, spacing=0.5).patch_at("a", 0)


def test_the_number_and_the_names_of_arguments_are_pythons_matter(robot: pliant.Robot) -> None:
    for call in (
        lambda: pliant.flat(1, 2),  # type: ignore[call-arg]
        lambda: pliant.Simulation(robot, nothing=1),  # type: ignore[call-arg]
        lambda: robot.random(1, 2, 3),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError):
            call()


def test_errors_of_the_users_own_functions_stay_as_they_are(robot: pliant.Robot) -> None:
    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        pliant.Simulation(robot).run(0.01, controller=controller)


def test_no_warning_of_numpy_leaks_from_an_event_driven_run() -> None:
    hopper = pliant.load("hopper")
    q, v = hopper.neutral(), np.zeros(hopper.nv)
    q[2], v[3:] = 1.0, 1e200
    sim = pliant.EventSimulation(hopper, ground=pliant.flat())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.reset(q=q, v=v)
        with pytest.raises(SimulationError):
            sim.run(0.3)


@pytest.mark.parametrize("shape", [
    "<sphere><radius>1e300</radius></sphere>", "<capsule><radius>1e200</radius><length>1</length></capsule>",
])  # fmt: skip
def test_the_inertia_of_a_shape_beyond_all_numbers(tmp_path: Path, shape: str) -> None:
    collision = f"<collision name='c'><geometry>{shape}</geometry></collision>"
    path = tmp_path / "huge.sdf"
    link = f"<link name='a'><inertial auto='true'/>{collision}</link>"
    path.write_text(f"<sdf version='1.11'><model name='m'>{link}</model></sdf>")
    robot = pliant.load(path)
    assert robot.mass == 0
    assert "beyond all numbers" in str(robot.report)
