"""The commands but `pliant run`: `robots`, `plot`, `view`, `bench`, `cache`, `info` and `equations`."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.catalogue import library
from pliant.cli import bench
from pliant.cli.bench import OtherRobotError, mujoco_model, pinocchio_model
from pliant.cli.sources import load_robot, origin
from pliant.errors import PliantError
from symbolic_robots import python_function
from urdf_text import joint, link

# ---- pliant robots


def test_all_names_are_listed(program) -> None:
    done = program("robots")
    assert done.code == 0
    words = set(done.out.replace(",", " ").split())
    assert set(pliant.robots()) <= words
    assert max(map(len, done.out.splitlines()[:-1])) <= 80
    about = program("robots", "--json").json
    assert [*about["shipped"], *about["example-robot-data"]] == list(pliant.robots())
    assert all(Path(robot["path"]).is_file() for robot in about["example-robot-data"].values())


def test_names_and_files_and_where_they_are_from(block: Path) -> None:
    assert (load_robot("anymal").nv, origin("anymal")) == (18, "example-robot-data: anymal.urdf")
    assert origin("hopper") == origin("quadruped") == "shipped with Pliant"
    # a folder stands for the plainest of its files, and --base wins
    assert load_robot("hyq", "fixed").nv == 12
    # a file
    assert load_robot(str(block), "free").is_free
    assert not load_robot(str(block)).is_free
    assert (load_robot(str(block)).file, origin(str(block))) == (block, str(block))
    # an option that a robot does not take
    with pytest.raises(PliantError) as error:
        load_robot("hopper", "fixed")
    assert (error.value.field, error.value.cure) == ("base", "leave out --base")


def test_without_example_robot_data(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ELSEWHERE", "no-such-package")
    library.robots.cache_clear()
    try:
        assert "pip install" in program("robots").out
        assert program("robots", "--json").json["no-such-package"] == {}
    finally:
        library.robots.cache_clear()


@pytest.mark.parametrize("source, base, message", [
    ("pendulumm", None, "did you mean 'pendulum'"),
    ("anymall", None, "did you mean 'anymal'"),
    ("pendulum", "loose", "it takes 'free' or 'fixed'"),
    ("zzzqq", None, "no robot named 'zzzqq'; `pliant robots` lists all"),
    (".", None, "is a folder; give the file of a robot"),
    ("nowhere.urdf", None, "nowhere.urdf"),
    ("notes.txt", None, r"no reader for \.txt"),
    ("run.h5", None, r"run\.h5 is a log, not a robot; `pliant view"),
])  # fmt: skip
def test_errors(source: str, base: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("hello")
    Path("run.h5").write_bytes(b"")
    with pytest.raises(PliantError, match=message):
        load_robot(source, base)


def test_xacro_is_run_on_demand_only(program, tmp_path: Path) -> None:
    text = '<robot name="rod" xmlns:xacro="http://wiki.ros.org/xacro"><xacro:property name="m" value="${1 + 2}"/>'
    text += '<link name="rod"><inertial><mass value="${m}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    (tmp_path / "rod.xacro").write_text(text + "</inertial></link></robot>")
    done = program("info", "rod.xacro")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "add --xacro" in done.err
    assert program("info", "rod.xacro", "--xacro", "--base", "free", "--json").json["mass"] == 3


# ---- pliant plot


def test_a_plot_of_channels(program, log_file: Path) -> None:
    done = program("plot", log_file, "q.hinge", "tau", "--out", "some.svg")
    assert (done.code, done.out, done.err) == (0, "some.svg\n", "")
    assert "<svg" in Path("some.svg").read_text()
    assert program("plot", log_file, "--robot", "1", "--out", "one.png").code == 0
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")
    # it lies beside the log
    shutil.copy(log_file, "mine.h5")
    assert program("plot", "mine.h5", "q").out == "mine.png\n"
    assert Path("mine.png").is_file()


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


# ---- pliant view


def test_a_log_is_shown(program, shown: list, log_file: Path) -> None:
    assert program("view", log_file, "--port", "8099", "--host", "0.0.0.0", "--no-browser").code == 0
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
    # after a run
    assert program("run", "pendulum", "--time", "0.05", "--view", "--quiet").code == 0
    assert shown[2][0] == "view_log"
    assert len(shown[2][1][0].t) == 51


# ---- pliant bench


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


def test_peers_have_the_same_robot_or_none() -> None:
    """Checked by their mass matrices; a robot that was changed is another one."""
    path = Path(pliant.__file__).parent / "catalogue" / "urdf" / "quadruped.urdf"
    robot = pliant.load("quadruped")
    assert pinocchio_model(robot, path).nv == mujoco_model(robot, 1e-3, 0.7).nv == 18
    heavier = robot.with_joint("lf_knee", armature=0.1)
    with pytest.raises(OtherRobotError, match="its mass matrix is off by"):
        pinocchio_model(heavier, path)
    assert mujoco_model(heavier, 1e-3, 0.7).nv == 18, "is made from the robot, not the file"


# ---- pliant cache


def test_what_is_compiled_is_counted_and_removed(program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kernels"
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(folder))
    assert program("cache", "--json").json == {"folder": str(folder), "kernels": 0, "bytes": 0, "most": 2_000_000_000}
    robot = pliant.load("pendulum")
    pliant.compile(pliant.mass_matrix, robot)(robot.neutral())
    about = program("cache", "--json").json
    files = list(folder.glob("*.o"))
    assert about["kernels"] == len(files) > 0
    assert about["bytes"] == sum(file.stat().st_size for file in files)
    shown = program("cache").out
    assert f"kernels  {len(files)}" in shown
    assert "folder" in shown
    # what another program left behind goes too, and nothing else
    (folder / ".writing-x").write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    assert program("cache", "--clear").out.startswith(f"removed {len(files) + 1} kernels")
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]
    assert program("cache", "--json").json["kernels"] == 0
    # no cache
    monkeypatch.setenv("PLIANT_CACHE_DIR", "off")
    assert program("cache").out == "there is no cache: PLIANT_CACHE_DIR turns it off\n"
    assert program("cache", "--clear", "--json").json == {
        "folder": None,
        "kernels": 0,
        "bytes": 0,
        "most": None,
        "removed": 0,
    }


def test_the_largest_size_is_set(program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    assert program("cache", "--size", "0.5GB", "--json").json["most"] == 500_000_000
    assert "0 B of 500 MB" in program("cache").out
    for wrong in ("lots", "1kB", "nanGB", "5"):
        done = program("cache", "--size", wrong)
        assert done.code == 1 and "--size" in done.err


# ---- pliant info: what it says is what the robot has


def test_numbers_are_the_robots(program) -> None:
    robot, about = pliant.load("hopper"), program("info", "hopper", "--json").json
    assert (about["nq"], about["nv"], about["nu"]) == (robot.nq, robot.nv, robot.nu)
    assert about["mass"] == robot.mass == sum(body["mass"] for body in about["bodies"])
    assert [joint["name"] for joint in about["joints"]] == list(robot.joints)
    assert [motor["name"] for motor in about["motors"]] == list(robot.motors)
    leg = next(joint for joint in about["joints"] if joint["name"] == "leg")
    assert (leg["kind"], leg["lower"], leg["upper"]) == ("prismatic", [-0.12], [0.12])
    assert [(shape["name"], shape["points"]) for shape in about["contacts"]] == [("foot", 1), ("body", 1)]
    # the foot is 0.6 m below the hip, with a ball of 0.03 m
    assert about["extent"]["lower"][2] == pytest.approx(-0.63, abs=1e-12)
    assert about["problems"] == []
    # a limit that is not there
    joint = program("info", "pendulum", "--json").json["joints"][-1]
    assert joint["lower"] == joint["upper"] == [None]


def test_text(program) -> None:
    for robot in ("quadruped", "hopper", "arm7"):
        done = program("info", robot)
        assert (done.code, done.err) == (0, "")
        assert max(map(len, done.out.splitlines())) <= 80
        found = pliant.load(robot)
        assert f"nq = {found.nq}, nv = {found.nv}, nu = {found.nu}" in done.out
        assert all(name in done.out for name in [*found.joints, *found.bodies, *found.motors])
        assert "problems: none found" in done.out


def test_the_tree_of_a_long_chain_is_whole(program, write) -> None:
    joints = (joint(f"j{k + 1}", f"b{k}", f"b{k + 1}", "continuous", "") for k in range(39))
    write(*(link(f"b{k}") for k in range(40)), *joints, name="chain.urdf")
    assert "b39  2 kg  (j39)" in program("info", "chain.urdf").out


def test_the_extent_of_a_box_and_problems_in_its_file(program, block: Path) -> None:
    about = program("info", block, "--base", "free", "--json").json
    # of the box 0.4 x 0.4 x 0.2 m; the wheel's origin is on top of it
    assert about["extent"]["lower"] == pytest.approx([-0.2, -0.2, -0.1], abs=1e-9)
    assert about["extent"]["upper"] == pytest.approx([0.2, 0.2, 0.1], abs=1e-9)
    assert (about["base"], about["nv"]) == ("free", 7)
    about = program("info", block, "--json").json
    assert (about["base"], about["nv"]) == ("fixed", 1)
    # an inertia that no body can have, on the line on which it stands
    block.write_text(block.read_text().replace('izz="0.02"', 'izz="0.9"'))
    done = program("info", block)
    assert (done.code, done.err) == (0, "")
    assert "problems: 1 found" in done.out
    problem = program("info", block, "--json").json["problems"][0]
    assert (problem["kind"], problem["line"]) == ("odd", 2)
    assert f"{problem['subject']} (line 2): {problem['message']}" in done.out


def test_a_log(program) -> None:
    program("run", "pendulum", "--time", "0.1", "--log", "run.h5")
    about = program("info", "run.h5", "--json").json
    assert (about["robot"], about["entries"], about["is_complete"]) == ("pendulum", 101, True)
    assert about["channels"]["q"] == ["hinge"]
    assert about["settings"]["dt"] == 0.001
    done = program("info", "run.h5")
    assert "101, t = 0 to 0.1 s" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


# ---- pliant equations


def test_text_fits_the_terminal(program, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        done = program("equations", "two_link_arm")
        assert done.code == 0
        assert "M22 = 0.2" in done.out
        assert max(map(len, done.out.splitlines())) <= columns


@pytest.mark.parametrize("form, sign", [
    ("latex", r"\begin{aligned}"), ("markdown", "$$"), ("python", "def "), ("c", "#include <math.h>"),
    ("matlab", "function ["), ("text", "0.75 q''"),
])  # fmt: skip
def test_forms(program, form: str, sign: str) -> None:
    own = () if form == "text" else (f"--{form}",)
    done = program("equations", "pendulum", *own)
    assert done.code == 0
    assert sign in done.out
    assert done == program("equations", "pendulum", "--format", form)
    assert done == program("equations", "pendulum", *own, "--format", form)


def test_symbols_names_and_methods(program) -> None:
    options = ("--symbols", "masses,gravity", "--names", "hinge=x", "--method")
    texts = [program("equations", "pendulum", *options, m).out for m in ("newton-euler", "projected", "lagrange")]
    assert "x''" in texts[0]
    assert "m_rod" in texts[0]
    assert " g" in texts[0]
    assert len(set(texts)) == 1, "the methods agree"
    assert "m_rod" not in program("equations", "pendulum", "--symbols", "m_rod=m,gravity=gravity").out
    # a name that a term has
    assert "M(q) = 0.1875 + 0.5625 M" in program("equations", "pendulum", "--symbols", "m_rod=M").out.splitlines()


@pytest.mark.parametrize("name, options", [("pendulum", ()), ("arm7", ("--raw",))])
def test_python_runs(program, name: str, options: tuple[str, ...]) -> None:
    done = program("equations", name, *options, "--python")
    assert done.code == 0
    robot = pliant.load(name)
    q = [0.1 * (k + 3) for k in range(robot.nq)]
    M, *_ = python_function(done.out, name)(q, [0] * robot.nv, [0] * robot.nu)
    # some thousand operations
    np.testing.assert_allclose(M, pliant.mass_matrix(robot, q), rtol=0, atol=1e-12)


def test_the_page_of_the_documentation(program, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows "$ pliant ..." on it is what is printed; "..." stands for the rest."""
    monkeypatch.setenv("COLUMNS", "100")
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ pliant (.*)\n((?:(?!\$ |```).*\n)*)", page, re.M)
    assert len(shown) == 4
    for command, expected in shown:
        done = program(*command.split())
        start = expected.partition("...\n")[0].rstrip()
        found = (done.out or done.err).rstrip()
        assert found.startswith(start) if "..." in expected else found == start
    for command in re.findall(r"^pliant (equations .*)$", page, re.M):
        options = [word for word in command.split() if word.startswith("--")]
        assert all(option in page.partition("Text fits")[0] for option in options)
