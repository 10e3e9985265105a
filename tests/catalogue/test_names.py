"""Robots by name in Python: shipped ones and those of example-robot-data, as on the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

import pliant
from pliant.catalogue import library
from pliant.errors import RobotError


def test_names_of_example_robot_data_load() -> None:
    anymal, go2 = pliant.load("anymal"), pliant.load("go2")
    assert anymal.is_free and go2.is_free
    assert (anymal.name, anymal.nv, go2.nv) == ("anymal", 18, 18)
    assert not pliant.load("panda").is_free
    assert not pliant.load("anymal", base="fixed").is_free
    assert pliant.load("talos").is_free, "the name of a folder stands for the plainest of its files"


def test_shipped_robots_come_first_and_all_have_origin_and_base() -> None:
    known = pliant.robots()
    shipped = [name for name, robot in known.items() if robot.origin == "pliant"]
    assert list(known)[: len(shipped)] == shipped == sorted(shipped)
    assert (known["quadruped"].base, known["pendulum"].base, known["hopper"].base) == ("free", "fixed", "free")
    assert (known["anymal"].origin, known["anymal"].base) == ("example-robot-data", "free")
    assert known["panda"].base == "fixed"
    assert known["hopper"].path is None
    assert all(robot.path.is_file() for robot in known.values() if robot.path is not None)
    # a name that is taken has that of the folder in front
    assert known["anymal_c_simple/anymal"].path != known["anymal"].path


@pytest.mark.parametrize("name", [name for name, robot in pliant.robots().items() if robot.origin == "pliant"])
def test_the_listed_base_is_that_of_the_robot(name: str) -> None:
    robot = pliant.load(name)
    assert robot.is_free == (pliant.robots()[name].base == "free")
    assert (robot.file is None) == (pliant.robots()[name].path is None)


def test_names_are_found_without_importing_their_package() -> None:
    code = (
        "import sys, pliant; pliant.load('go2'); print('example_robot_data' in sys.modules, 'pinocchio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False False\n"


def test_without_example_robot_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ELSEWHERE", "no-such-package")
    library.robots.cache_clear()
    try:
        assert {robot.origin for robot in pliant.robots().values()} == {"pliant"}
        with pytest.raises(RobotError) as error:
            pliant.load("anymal")
        assert "pip install no-such-package" in error.value.cure
    finally:
        library.robots.cache_clear()


def test_unknown_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RobotError) as error:
        pliant.load("anymall")
    assert (error.value.subject, error.value.field) == ("robot 'anymall'", "robot")
    assert "'anymal'" in error.value.cure and ".urdf" in error.value.cure
    with pytest.raises(RobotError, match="no robot named 'anymall'"):
        pliant.robots()["anymall"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    with pytest.raises(RobotError, match="models is a folder; give the file of a robot in it"):
        pliant.load("models")


def test_options_that_a_robot_does_not_take() -> None:
    with pytest.raises(RobotError) as error:
        pliant.load("hopper", base="fixed")
    assert (error.value.subject, error.value.field) == ("robot 'hopper'", "base")
    assert "mass" in error.value.cure
    with pytest.raises(RobotError) as error:
        pliant.load("anymal", bse="fixed")
    assert (error.value.field, error.value.cure) == ("bse", "did you mean 'base', 'side'?")
