"""Side files and robot files, found and loaded together; a side file never leads out of its folder."""

from pathlib import Path

import pytest

import pliant
from pliant.errors import RobotError
from pliant.robot import Robot
from side_files import SHIPPED, Write, assert_same, refused


def test_load_with_the_robot_in_the_file(toml: Write, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "leg.urdf").write_bytes((SHIPPED / "quadruped.urdf").read_bytes())
    path = toml('robot = "models/leg.urdf"\nbase = "free"\n[motors."*"]\ngear = 9\n')
    assert_same(pliant.load(path), pliant.load("quadruped").with_motors(gear=9))
    assert_same(pliant.load(str(path)), pliant.load(path))


def test_load_with_a_shipped_robot(toml: Write) -> None:
    assert pliant.load(toml('robot = "quadruped"')).is_free
    assert not pliant.load(toml('robot = "quadruped"\nbase = "fixed"')).is_free
    made = pliant.load(toml('robot = "hopper_flight"\ngravity = [0, 0, -1]'), m2=2.0)
    assert_same(made, pliant.load("hopper_flight", m2=2.0).with_gravity(0, 0, -1))


def test_load_with_a_side_file(toml: Write) -> None:
    path = toml('robot = "acrobot"\nbase = "free"\n[motors."*"]\ngear = 9\n')
    urdf = SHIPPED / "quadruped.urdf"
    # arguments win over what the file says of robot and base
    assert_same(pliant.load(urdf, side=path), pliant.load("quadruped").with_motors(gear=9))
    assert_same(pliant.load(urdf, side=path, base="fixed"), pliant.load(urdf).with_motors(gear=9))
    assert_same(pliant.load("quadruped", side=str(path)), pliant.load("quadruped").with_motors(gear=9))
    # and one side file goes on top of another
    more = toml('[motors."*_knee"]\ngear = 5\n', "more.toml")
    first = toml('robot = "quadruped"\n[motors."*"]\ngear = 9\n', "first.toml")
    assert {m.name[3:]: m.gear for m in pliant.load(first, side=more).motors.values()} == {
        "hip_roll": 9, "hip_pitch": 9, "knee": 5,
    }  # fmt: skip


def test_side_is_an_option_of_load() -> None:
    with pytest.raises(RobotError, match=r"no option named 'sides' in pliant\.load; did you mean 'side'\?"):
        pliant.load("acrobot", sides="x.toml")


def test_base_must_agree_with_a_robot_that_is_there(toml: Write, arm: Robot) -> None:
    path = toml('\nbase = "free"\n')
    refused(path, arm, "base is 'free'", "is 'fixed'", "load it with base='free'", line=2)
    assert_same(pliant.catalogue.read_side_file(pliant.load("quadruped"), path), pliant.load("quadruped"))


def test_base_that_the_robot_refuses(toml: Write) -> None:
    refused(toml('robot = "hopper_flight"\nbase = "free"'), None, "takes no base", line=2)
    # an error that is not the base's stays as it is
    with pytest.raises(RobotError, match=r"^no option named 'gear' in pliant\.load"):
        pliant.load(toml('robot = "quadruped"\nbase = "free"'), gear=1)


def test_robot_paths_stay_in_the_folder(toml: Write, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    urdf = (SHIPPED / "acrobot.urdf").read_bytes()
    (tmp_path / "outside.urdf").write_bytes(urdf)
    (inner / "leg.urdf").write_bytes(urdf)
    (inner / "link.urdf").symlink_to(tmp_path / "outside.urdf")
    outside = ["../outside.urdf", str(tmp_path / "outside.urdf"), "link.urdf", "C:\\robots\\leg.urdf", "a/../../x.urdf",
               "\\\\server\\leg.urdf", "https://example.org/leg.urdf", "file:///leg.urdf"]  # fmt: skip
    for reference in outside:
        path = toml(f"# first\nrobot = '{reference}'\n", "inner/robot.toml")
        refused(path, None, "not in the folder of this file", "pliant.load(path, side='robot.toml')", line=2)
    assert pliant.load(toml("robot = './leg.urdf'", "inner/robot.toml")).name == "acrobot"


def test_robots_that_are_not_there(toml: Write, tmp_path: Path) -> None:
    (tmp_path / "leg.urdf").write_text("<robot/>")
    refused(toml('robot = "lge.urdf"'), None, "no file named 'lge.urdf'", "did you mean 'leg.urdf'?", line=1)
    refused(toml('robot = "quadrupd"'), None, "no robot named 'quadrupd'", "did you mean 'quadruped'", line=1)
    refused(toml('robot = "other.toml"'), None, "a robot file, which ends in .urdf or .xacro", line=1)
    refused(toml('robot = "a\\u0000.urdf"'), None, "cannot be a path", line=1)
    refused(toml('robot = ""'), None, "robot is ''", 'robot = "leg.urdf"', line=1)
    refused(toml("gravity = [0, 0, 0]"), None, "does not name its robot", "side='robot.toml'")


def test_xacro_still_needs_trust(toml: Write, tmp_path: Path) -> None:
    (tmp_path / "leg.xacro").write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(RobotError, match="xacro=True"):
        pliant.load(toml('robot = "leg.xacro"'))


def test_side_file_that_is_not_there(tmp_path: Path, toml: Write, arm: Robot) -> None:
    toml("", "leg.toml")
    with pytest.raises(RobotError, match=r"leg2\.toml: no such file; in that folder: leg\.toml"):
        pliant.catalogue.read_side_file(arm, tmp_path / "leg2.toml")
    with pytest.raises(RobotError, match=r"leg2\.toml: no such file"):
        pliant.load("acrobot", side=tmp_path / "leg2.toml")
    with pytest.raises(RobotError, match="is a folder"):
        pliant.catalogue.read_side_file(arm, tmp_path)


def test_paths_that_are_none(arm: Robot, toml: Write) -> None:
    for call, message in (
        (lambda: pliant.load("two_link_arm", side=5), "side of pliant.load is 5; it takes the path of a .toml file"),  # type: ignore[arg-type]
        (lambda: pliant.load(5), "source of pliant.load is 5"),  # type: ignore[arg-type]
        (lambda: pliant.catalogue.read_side_file(arm, None), "it takes the path of a .toml file"),  # type: ignore[arg-type]
        (lambda: pliant.catalogue.read_side_file("arm", toml("")), "it takes a Robot, see pliant.load"),  # type: ignore[arg-type]
    ):
        with pytest.raises(RobotError, match=message):
            call()
