"""Settings from the command line and from TOML files."""

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from pliant.cli.main import run
from pliant.cli.settings import PATHS, Settings, gathered
from pliant.errors import PliantError


def test_options_and_settings_have_the_same_names() -> None:
    options = set(inspect.signature(run).parameters) - {"settings"}
    assert options == {field.name for field in fields(Settings)}
    assert set(PATHS) <= options


def test_every_option_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    options = [name.replace("_", "-") for name in inspect.signature(run).parameters if name != "robot"]
    assert [name for name in options if f"`--{name}" not in page] == []


def test_the_file_says_the_same_as_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'robot = "hopper"\ntime = 2\nevent-driven = true\nevery = 5\ncommand = [0.5, 0, 0.2]\n'
        'push = "body=1,0,0@1:2"\n[q]\nleg = 0.1\n[flexible]\nknee = [100, 1]\n'
    )
    given = {
        "robot": "hopper", "time": 2.0, "event_driven": True, "every": 5, "command": "0.5,0,0.2",
        "push": ["body=1,0,0@1:2"], "q": ["leg=0.1"], "flexible": ["knee=100,1"], "dt": None,
    }  # fmt: skip
    assert gathered({}, str(file)) == gathered(given, None)


def test_the_command_line_wins(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('robot = "hopper"\ntime = 2\n')
    found = gathered({"time": 3.0, "robot": None}, str(file))
    assert (found.robot, found.time, found.dt) == ("hopper", 3.0, 1e-3)


def test_files_lie_beside_the_settings(tmp_path: Path) -> None:
    for name in ("leg.urdf", "mine.py"):
        (tmp_path / name).write_text("")
    file = tmp_path / "run.toml"
    file.write_text('robot = "leg.urdf"\ncontroller = "mine.py:policy"\nlog = "run.h5"\n')
    found = gathered({}, str(file))
    assert found.robot == str(tmp_path / "leg.urdf")
    assert found.controller == f"{tmp_path / 'mine.py'}:policy"
    assert found.log == "run.h5", "what is written goes where the user is"


@pytest.mark.parametrize("text, message", [
    ('\n\ntmie = 1', "run.toml:3: no setting named 'tmie'; did you mean 'time'"),
    ('time = "long"', "run.toml:1: time: it takes a number above 0, not 'long'"),
    ("time = 0", "takes a number above 0"),
    ("time = nan", "takes a number above 0"),
    ("\nbatch = 1.5", "run.toml:2: batch: it takes a whole number from 1 on"),
    ("view = 1", "it takes true or false"),
    ("robot = 5", "it takes text"),
    ('precision = "float16"', "did you mean 'float64'"),
    ('integrator = "euler"', "no choice named 'euler'"),
    ('base = "loose"', "no choice named 'loose'"),
    ('push = "base=1"', "a force takes three"),
    ("time = ", "this is not TOML"),
    ("time = 1\ntime = 2", "this is not TOML"),
])  # fmt: skip
def test_errors_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text(text)
    with pytest.raises(PliantError) as error:
        gathered({}, str(file))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_joints_of_a_table_name_the_line(tmp_path: Path) -> None:
    from pliant.cli.scene import scene

    file = tmp_path / "run.toml"
    for table, message in (("q", "no coordinate named 'hinj'"), ("flexible", "no joint named 'hinj'")):
        file.write_text(f'robot = "pendulum"\n[{table}]\nhinj = 0.5\n')
        with pytest.raises(PliantError) as error:
            scene(gathered({}, str(file)))
        assert str(error.value).startswith(f"{file}:3: {message}")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(PliantError, match="cannot read the settings"):
        gathered({}, str(tmp_path / "none.toml"))
    with pytest.raises(PliantError, match="cannot read the settings"):
        gathered({}, str(tmp_path))


def test_errors_of_the_command_line_name_the_option() -> None:
    with pytest.raises(PliantError, match=r"^--time: it takes a number above 0"):
        gathered({"time": -1.0}, None)
    with pytest.raises(PliantError, match=r"^--push: "):
        gathered({"push": ["x"]}, None)
