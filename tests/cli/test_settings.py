"""Settings from the command line and from TOML files, and controllers by what the user types."""

import inspect
import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.cli.run import run
from pliant.cli.run_setup import run_setup
from pliant.cli.settings import PATHS, Push, Settings, gathered, numbers, pushes, row, springs
from pliant.cli.sources import chosen_controller, default_controller, in_file
from pliant.errors import PliantError

# ---- words that mean several numbers


def test_numbers_rows_springs_and_pushes() -> None:
    assert numbers("--x", "1, -2.5,1e3") == numbers("--x", [1, -2.5, 1000]) == (1.0, -2.5, 1000.0)
    assert numbers("--x", 3) == (3.0,)
    assert row("--x", ["0,1", "2"]) == row("--x", "0,1,2") == row("--x", [0, 1, 2]) == (0.0, 1.0, 2.0)
    assert row("--x", ["knee=0.5,hip=1"]) == row("--x", ["knee=0.5", "hip=1"]) == row("--x", {"knee": 0.5, "hip": 1})
    several = {"plane": (0.0, 0.0, 1.0, 0.0), "knee": 0.5}
    assert row("--x", "plane=0,0,1,0,knee=0.5") == row("--x", ["plane=0,0,1,0", "knee=0.5"]) == several
    assert row("--x", {"plane": [0, 0, 1, 0], "knee": 0.5}) == several
    assert springs("--x", ["knee=1e4,10", "hip=2e3"]) == springs("--x", {"knee": [1e4, 10], "hip": 2000})
    assert pushes("--x", "base=1,2,3@0.5:1") == (Push("base", (1, 2, 3), 0.5, 1),)
    two = Push("a", (1, 0, 0), 0, math.inf), Push("b", (0, 1, 0), 2, math.inf)
    assert pushes("--x", ["a=1,0,0", "b=0,1,0@2"]) == two


@pytest.mark.parametrize("read, given, words", [
    (numbers, "1,,2", "'1,,2', where '' is not a number"),
    (numbers, "nan", "is not a number"),
    (numbers, ["a"], "it takes numbers"),
    (numbers, True, "it takes numbers"),
    (row, "knee=", "some by name, as knee=0.5"),
    (row, ["knee=0.5", "1"], "--x is '1'; it takes all numbers"),
    (row, {"knee": "x"}, "a number for each name"),
    (row, 5, "--x is 5; it takes all numbers"),
    (row, ["knee=1", "knee=2"], "--x has 'knee' twice"),
    (springs, "knee", "as knee=1e4,10"),
    (springs, "knee=1,2,3,4", "one to three numbers"),
    (pushes, "base=1,2", "three numbers for a force"),
    (pushes, "base=1,2,3@2:1", "an end after the start"),
    (pushes, "base=1,2,3@x", "'base=1,2,3@x', where 'x' is not a number"),
])  # fmt: skip
def test_errors(read, given, words: str) -> None:
    with pytest.raises(PliantError) as error:
        read("--x", given)
    assert words in str(error.value)
    assert error.value.field.startswith("--x")


# ---- settings


def test_options_and_settings_have_the_same_names() -> None:
    options = set(inspect.signature(run).parameters) - {"settings", "trust"}
    assert options == {field.name for field in fields(Settings)} - {"places"}
    assert set(PATHS) <= options
    # and every option is in the documentation
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    options = [name.replace("_", "-") for name in inspect.signature(run).parameters if name != "robot"]
    assert [name for name in options if f"`--{name}" not in page] == []


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], str]:
    """Writes a file of settings, and returns its path."""

    def write(text: str) -> str:
        (tmp_path / "run.toml").write_text(text)
        return str(tmp_path / "run.toml")

    return write


def test_the_file_says_the_same_as_the_command_line(toml) -> None:
    text = 'robot = "hopper"\ntime = 2\nevent-driven = true\nevery = 0.005\ncommand = [0.5, 0, 0.2]\n'
    file = toml(text + 'push = "body=1,0,0@1:2"\n[q]\nleg = 0.1\n[flexible]\nknee = [100, 1]\n')
    given = {
        "robot": "hopper", "time": 2.0, "event_driven": True, "every": 0.005, "command": "0.5,0,0.2",
        "push": ["body=1,0,0@1:2"], "q": ["leg=0.1"], "flexible": ["knee=100,1"], "dt": None,
    }  # fmt: skip
    assert gathered({}, file) == gathered(given, None)
    # the command line wins
    found = gathered({"time": 3.0, "robot": None}, file)
    assert (found.robot, found.time, found.dt) == ("hopper", 3.0, 1e-3)


def test_files_lie_beside_the_settings(toml, tmp_path: Path) -> None:
    for name in ("leg.urdf", "mine.py"):
        (tmp_path / name).write_text("")
    text = 'robot = "leg.urdf"\ncontroller = "mine.py:policy"\nlog = "run.h5"\n'
    found = gathered({}, toml(text), trust=True)
    assert found.robot == str(tmp_path / "leg.urdf")
    assert found.controller == f"{tmp_path / 'mine.py'}:policy"
    assert found.log == "run.h5", "what is written goes where the user is"


@pytest.mark.parametrize("text, line, field, cure", [
    ("\n\ntmie = 1", 3, "setting", "did you mean 'time'"),
    ('time = "long"', 1, "time", "it takes a number above 0"),
    ("time = 0", 1, "time", "it takes a number above 0"),
    ("time = nan", 1, "time", "it takes a number above 0"),
    ("time = true", 1, "time", "it takes a number above 0"),
    ("\nbatch = 1.5", 2, "batch", "it takes a whole number, 1 or more"),
    ("view = 1", 1, "view", "it takes true or false"),
    ("robot = 5", 1, "robot", "it takes text"),
    ('precision = "float16"', 1, "precision", "it takes 'float64' or 'float32'"),
    ('integrator = "verlet"', 1, "integrator", "'midpoint'"),
    ('base = "loose"', 1, "base", "it takes 'free' or 'fixed'"),
    ('push = "base=1"', 1, "push", "three numbers for a force"),
    ("event-driven = 1", 1, "event-driven", "it takes true or false"),
    ("time = ", 1, "", "strings are in quotes"),
    ("time = 1\ntime = 2", 2, "", "strings are in quotes"),
])  # fmt: skip
def test_errors_name_the_line(toml, text: str, line: int, field: str, cure: str) -> None:
    file = toml(text)
    with pytest.raises(PliantError) as error:
        gathered({}, file)
    assert (error.value.place, error.value.field) == ((file, line), field)
    assert cure in error.value.cure
    assert "\n" not in str(error.value)


def test_joints_of_a_table_name_the_line(toml) -> None:
    for table, message in (("q", "no coordinate named 'hinj'"), ("flexible", "no joint named 'hinj'")):
        file = toml(f'robot = "pendulum"\n[{table}]\nhinj = 0.5\n')
        with pytest.raises(PliantError) as error:
            run_setup(gathered({}, file))
        assert str(error.value).startswith(f"{file}:3: {message}")


def test_settings_that_do_not_fit_name_their_line(toml) -> None:
    """An error that shows only when the scene is built has its place, too; the command line wins over that, as well."""
    file = toml('robot = "pendulum"\nground = "flatt"\n')
    with pytest.raises(PliantError) as error:
        run_setup(gathered({}, file))
    assert error.value.place == (file, 2)
    with pytest.raises(PliantError) as error:
        run_setup(gathered({"ground": "flta"}, file))
    assert error.value.place is None
    assert str(error.value).startswith("--ground: no ground named 'flta'")


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(PliantError) as error:
            gathered({}, str(path))
        assert (error.value.subject, error.value.field) == (str(path), "settings")
    # errors of the command line name the option
    with pytest.raises(PliantError, match=r"^--time is -1.0; it takes a number above 0$"):
        gathered({"time": -1.0}, None)
    with pytest.raises(PliantError) as error:
        gathered({"push": ["x"]}, None)
    assert error.value.field == "--push"


# ---- controllers

PENDULUM = pliant.load("pendulum")


def chosen(name: str, robot: pliant.Robot = PENDULUM, **options):
    given = {"q": robot.neutral(), "gains": None, "command": None, **options}
    return chosen_controller(name, robot, **given)


def test_hold_makes_springs_of_motors() -> None:
    control = chosen("hold", q=np.array([0.4]))
    motor = control.robot.motors["hinge"]
    assert (motor.control, control.u) == ("position", [0.4])
    assert control.name == f"hold (kp {motor.kp:.3g}, kd {motor.kd:.3g})"
    own = chosen("hold", gains=(5.0, 1.0)).robot.motors["hinge"]
    assert (own.kp, own.kd) == (5, 1)
    stiff = PENDULUM.with_motor("hinge", control="position", kp=7, kd=3)
    assert chosen("hold", stiff).name == "hold (own gains)", "a robot that has gains keeps them"


def test_raibert_and_what_is_usual() -> None:
    assert default_controller(pliant.load("hopper")) == "raibert"
    assert default_controller(pliant.load("quadruped")) == "hold"
    assert default_controller(PENDULUM) == "none"
    control = chosen("raibert", pliant.load("hopper"), command=(1.0, 0.0, 0.1))
    assert (control.compiled.commands, control.u) == (3, [1.0, 0.0, 0.1])


OWN = """
import pliant

def policy(t, q, v):
    return [-q[0]]

def stiff(robot):
    return lambda t, q, v: [0.0] * robot.nu

def made(robot):
    return pliant.Controller(lambda t, q, v, command: [command[0]], commands=1)

ready = pliant.Controller(lambda t, q, v: [0 * q[0]])
number = 5

def broken(t, q, v):
    return [1 / 0]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path / "mine.py"


def test_a_function_of_the_users_own(mine: Path) -> None:
    assert chosen(f"{mine}:policy").called(0.0, [2.0], [0.0]) == [-2.0]
    assert chosen(f"{mine}:stiff").called(0.0, [2.0], [0.0]) == [0.0]
    assert chosen(f"{mine}:made", command=(3.0,)).u == [3.0]
    assert chosen(f"{mine}:ready").compiled is not None
    # it may import what lies beside it
    mine.with_name("gains_of_mine.py").write_text("KP = 3")
    mine.write_text("from gains_of_mine import KP\ndef policy(t, q, v):\n    return [KP]\n")
    assert in_file(f"{mine}:policy", "--controller", "control.py:policy")(0, 0, 0) == [3]


@pytest.mark.parametrize("name, message", [
    ("hodl", "no controller named 'hodl'; did you mean 'hold'"),
    ("mine.py", "it takes FILE.py:NAME"),
    ("none.py:policy", "there is no file none.py"),
    ("mine.py:polcy", "did you mean 'policy'"),
    ("mine.py:number", "is 5; it takes a function"),
    ("raibert", "pendulum"),
])  # fmt: skip
def test_controllers_that_do_not_exist(mine: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.chdir(mine.parent)
    with pytest.raises(PliantError) as error:
        chosen(name)
    assert message in str(error.value)


def test_errors_in_the_users_code_name_the_line(mine: Path) -> None:
    with pytest.raises(PliantError, match=r"mine.py:17: ZeroDivisionError: division by zero"):
        chosen(f"{mine}:broken").called(0.0, [0.0], [0.0])
    for text, name in (("x = (\n", "SyntaxError"), ("import nothing_of_that_name", "ModuleNotFoundError")):
        mine.write_text(text)
        with pytest.raises(PliantError, match=rf"mine.py:1: {name}"):
            chosen(f"{mine}:broken")


def test_options_that_do_not_fit(mine: Path) -> None:
    for name, options, message in (
        ("none", {"gains": (1.0, 1.0)}, "--gains belong to --controller hold"),
        ("hold", {"gains": (1.0,)}, "it takes two numbers"),
        ("hold", {"command": (1.0,)}, "--command is for --controller raibert"),
        (f"{mine}:policy", {"command": (1.0,)}, "--command is for a pliant.Controller"),
        (f"{mine}:made", {"command": (1.0, 2.0)}, "it takes 1 numbers"),
        ("raibert", {"robot": pliant.load("hopper"), "command": (1.0,)}, "vx, vy and the height"),
    ):
        with pytest.raises(PliantError, match=message):
            chosen(name, **options)


def test_contacts_to_hold(toml) -> None:
    assert gathered({"held": ["lf_foot, rh_foot", "rf_foot"]}, None).held == ("lf_foot", "rh_foot", "rf_foot")
    assert gathered({}, toml('held = ["lf_foot", "rh_foot"]')).held == ("lf_foot", "rh_foot")
    assert gathered({}, None).held == ()


@pytest.mark.parametrize(("text", "name", "same"), [
    ('controller = "mine.py:policy"\n', "controller", {"controller": "mine.py:policy"}),
    ("xacro = true\n", "xacro", {"xacro": True}),
])  # fmt: skip
def test_a_file_of_settings_runs_no_code_unless_it_is_trusted(
    toml, tmp_path: Path, text: str, name: str, same: dict
) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('it was run')\n")
    path = toml('robot = "pendulum"\n' + text)
    with pytest.raises(PliantError) as error:
        gathered({}, path)
    assert error.value.field == name and error.value.place == (path, 2) and "--trust" in error.value.cure
    # with the user's word, or by the option itself
    assert getattr(gathered({}, path, trust=True), name)
    assert getattr(gathered(same, path), name) == same[name]
