"""`pliant view`."""

import shutil
from pathlib import Path

import pytest

import pliant
from pliant.viewer import viewer


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list:
    """What the viewer would show; it has tests of its own."""
    calls: list = []
    for name in ("view_log", "view_robot"):
        monkeypatch.setattr(viewer, name, lambda *args, _name=name, **options: calls.append((_name, args, options)))
    return calls


def test_a_log_is_shown(program, shown: list, log_file: Path) -> None:
    assert program("view", log_file, "--port", "8099", "--no-browser").code == 0
    name, (log,), options = shown[0]
    assert (name, log.batch, log.source.robot.name) == ("view_log", 3, "pendulum")
    assert options | {"port": 8099, "browser": False, "block": True} == options
    # a file is known by its content, whatever its name
    shutil.copy(log_file, "strange.name")
    program("view", "strange.name")
    assert (shown[1][0], shown[1][2]["browser"]) == ("view_log", True)


def test_a_robot_is_shown_as_it_stands(program, shown: list) -> None:
    program("view", "quadruped", "--no-browser")
    program("view", "pendulum", "--no-browser")
    (name, (robot, q), options), (_, (fixed, at), other) = shown
    assert (name, robot.name, fixed.name) == ("view_robot", "quadruped", "pendulum")
    # legs of 0.2 m and 0.2 m, at 0.8 rad from the vertical each; balls touch the ground below
    assert q[robot.q_slice("lf_knee")] == -1.6
    foot = pliant.frame_pose(robot, q, "lf_foot")
    assert 0 < foot[2, 3] < 0.05
    assert options["ground"].is_flat
    assert (other["ground"], at.tolist()) == (None, [0.0])


@pytest.mark.parametrize("source, message", [
    ("pendulumm", "did you mean 'pendulum'"), ("nothing.h5", "there is no file nothing.h5"),
    ("nowhere.urdf", "no such file"),
])  # fmt: skip
def test_nothing_to_show(program, shown: list, source: str, message: str) -> None:
    done = program("view", source)
    assert (done.code, done.out, done.err.count("\n"), shown) == (1, "", 1, [])
    assert message in done.err


def test_after_a_run(program, shown: list) -> None:
    assert program("run", "pendulum", "--time", "0.05", "--view", "--quiet").code == 0
    assert shown[0][0] == "view_log"
    assert len(shown[0][1][0].t) == 51
