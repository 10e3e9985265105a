"""`pliant view` and `pliant plot`."""

import shutil
from pathlib import Path

import pytest

import pliant
from pliant.viewer import viewer


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "run.h5"
    sim = pliant.Simulation(pliant.load("pendulum"), batch=3)
    sim.reset(q=[[0.1], [0.2], [0.3]])
    sim.run(0.05).save(path)
    return path


# ---- view


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
    assert options.items() >= {"port": 8099, "browser": False, "block": True}.items()
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


# ---- plot


def test_a_plot_of_channels(program, log_file: Path) -> None:
    done = program("plot", log_file, "q.hinge", "tau", "--out", "some.svg")
    assert (done.code, done.out, done.err) == (0, "some.svg\n", "")
    assert "<svg" in Path("some.svg").read_text()
    assert program("plot", log_file, "--robot", "1", "--out", "one.png").code == 0
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")


def test_it_lies_beside_the_log(program, log_file: Path, tmp_path: Path) -> None:
    shutil.copy(log_file, tmp_path / "mine.h5")
    assert program("plot", "mine.h5", "q").out == "mine.png\n"
    assert (tmp_path / "mine.png").is_file()


@pytest.mark.parametrize("arguments, message", [
    (("LOG", "qq"), "no channel named 'qq'"),
    (("LOG", "q.hinj"), "did you mean 'hinge'"),
    (("LOG", "q", "--robot", "7"), "--robot 7: the batch has 3 robots, 0 to 2"),
    (("LOG", "q", "--out", "plot.xyz"), "plot.xyz"),
    (("LOG", "q", "--out", "nowhere/plot.png"), "folder nowhere does not exist"),
    (("nothing.h5",), "there is no file nothing.h5"),
    (("notes.txt",), "notes.txt is not a log"),
])  # fmt: skip
def test_errors_are_one_line(program, log_file: Path, arguments: tuple[str, ...], message: str) -> None:
    Path("notes.txt").write_text("hello")
    done = program("plot", *(log_file if word == "LOG" else word for word in arguments))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_log_that_was_cut_off(program, log_file: Path, share: float) -> None:
    """Whatever is left of it, there is an answer: what was saved, or that it cannot be read."""
    data = log_file.read_bytes()
    Path("cut.h5").write_bytes(data[: int(share * len(data))])
    done = program("plot", "cut.h5", "q")
    assert done.code in (0, 1)
    assert "cut.h5" in done.err
    # a warning of what is lost, and an error if that is all
    assert done.err.count("\n") <= 1 + done.code
    assert "Traceback" not in done.err
