"""`pliant bench`: figures for the right things, whatever they are."""

import sys
from pathlib import Path

import pytest

import pliant
from pliant.cli import bench
from pliant.cli.bench import OtherRobotError, mujoco_model, pinocchio_model


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_LENGTH", 1e-4)
    monkeypatch.setattr(bench, "_REPEATS", 1)


def test_with_both_peers(program) -> None:
    about = program("bench", "two_link_arm", "--batch", "16", "--json").json
    assert (about["robot"], about["batch"]) == ("two_link_arm", 16)
    measured = [(row["what"], row["by"]) for row in about["rows"] if row["us"] is not None]
    assert measured == [
        ("forward dynamics", "pliant float64"), ("forward dynamics", "pliant float32"),
        ("forward dynamics", "pinocchio"), ("a step of 1 ms", "pliant float64"),
        ("a step of 1 ms", "pliant float32"), ("a step of 1 ms", "mujoco"),
    ]  # fmt: skip
    for row in about["rows"]:
        assert row["us"] * row["per_second"] == pytest.approx(1e6)


def test_text_and_what_cannot_be_compared(program, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pinocchio has a cosine and a sine where Pliant has an angle
    done = program("bench", "pendulum", "--batch", "8")
    assert (done.code, done.err) == (0, "")
    assert "pinocchio: no comparison: its coordinates are others there" in done.out
    for name in ("pinocchio", "mujoco"):
        monkeypatch.setitem(sys.modules, name, None)
    done = program("bench", "two_link_arm", "--batch", "8")
    assert "pinocchio: not installed: pip install pin\n" in done.out
    assert "mujoco: not installed: pip install mujoco\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_an_unknown_robot(program) -> None:
    done = program("bench", "pendulumm")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


def test_peers_have_the_same_robot_or_none() -> None:
    """Checked by their mass matrices; a robot that was changed is another one."""
    path = Path(pliant.__file__).parent / "catalogue" / "urdf" / "quadruped.urdf"
    robot = pliant.load("quadruped")
    assert pinocchio_model(robot, path).nv == mujoco_model(robot, 1e-3, 0.7).nv == 18
    heavier = robot.with_joint("lf_knee", armature=0.1)
    with pytest.raises(OtherRobotError, match="its mass matrix is off by"):
        pinocchio_model(heavier, path)
    assert mujoco_model(heavier, 1e-3, 0.7).nv == 18, "is made from the robot, not the file"
