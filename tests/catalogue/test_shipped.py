"""Robots by name, and those that Pliant ships."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from pliant import load, robots
from pliant.catalogue import library
from pliant.errors import RobotError
from side_files import SHIPPED

OURS = [name for name, robot in robots().items() if robot.origin == "pliant"]

# ---- names


def test_names_of_example_robot_data_load() -> None:
    anymal, go2 = load("anymal"), load("go2")
    assert anymal.is_free and go2.is_free
    assert (anymal.name, anymal.nv, go2.nv) == ("anymal", 18, 18)
    assert not load("panda").is_free
    assert not load("anymal", base="fixed").is_free and not load("quadruped", base="fixed").is_free
    assert load("talos").is_free, "the name of a folder stands for the plainest of its files"


def test_shipped_robots_come_first_and_all_have_origin_and_base() -> None:
    known = robots()
    assert list(known)[: len(OURS)] == OURS == sorted(OURS)
    assert (known["quadruped"].base, known["pendulum"].base, known["hopper"].base) == ("free", "fixed", "free")
    assert (known["anymal"].origin, known["anymal"].base) == ("example-robot-data", "free")
    assert known["panda"].base == "fixed"
    # a part of a robot that walks
    assert (known["talos_left_arm"].base, known["talos_reduced"].base) == ("fixed", "free")
    assert known["hopper"].path is None
    assert all(robot.path.is_file() for robot in known.values() if robot.path is not None)
    # a name that is taken has that of the folder in front
    assert known["anymal_c_simple/anymal"].path != known["anymal"].path


@pytest.mark.parametrize("name", OURS)
def test_the_listed_base_is_that_of_the_robot(name: str) -> None:
    robot = load(name)
    assert robot.is_free == (robots()[name].base == "free")
    assert (robot.file is None) == (robots()[name].path is None)


def test_names_are_found_without_importing_their_package() -> None:
    code = "import sys, pliant; pliant.load('go2'); print({'example_robot_data', 'pinocchio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "set()\n"


def test_without_example_robot_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ELSEWHERE", "no-such-package")
    library.robots.cache_clear()
    try:
        assert {robot.origin for robot in robots().values()} == {"pliant"}
        with pytest.raises(RobotError) as error:
            load("anymal")
        assert "pip install no-such-package" in error.value.cure
    finally:
        library.robots.cache_clear()


def test_unknown_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RobotError) as error:
        load("anymall")
    assert (error.value.subject, error.value.field) == ("robot 'anymall'", "robot")
    assert "'anymal'" in error.value.cure and ".urdf" in error.value.cure
    with pytest.raises(RobotError, match="no robot named 'anymall'"):
        robots()["anymall"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    with pytest.raises(RobotError, match="models is a folder; give the file of a robot in it"):
        load("models")


def test_options_that_a_robot_does_not_take() -> None:
    with pytest.raises(RobotError) as error:
        load("hopper", base="fixed")
    assert (error.value.subject, error.value.field) == ("robot 'hopper'", "base")
    assert "mass" in error.value.cure
    with pytest.raises(RobotError) as error:
        load("anymal", bse="fixed")
    assert (error.value.field, error.value.cure) == ("bse", "did you mean 'base', 'side'?")
    assert str(error.value).startswith("no option named 'bse' in pliant.load; ")


# ---- shipped robots

# name: nq, nv, nu, mass [kg]
SIZES = {
    "acrobot": (2, 2, 1, 2.0), "arm7": (7, 7, 7, 19.2), "biped": (20, 19, 13, 40.8), "cart_pole": (2, 2, 1, 1.1),
    "double_pendulum": (2, 2, 0, 2.4), "pendulum": (1, 1, 1, 1.0), "quadruped": (19, 18, 12, 12.0),
    "two_link_arm": (2, 2, 2, 4.8),
}  # fmt: skip


def test_all_are_listed() -> None:
    # two are made by functions: see test_hopper.py
    assert sorted([*SIZES, "hopper", "hopper_flight"]) == OURS


@pytest.mark.parametrize("name", SIZES)
def test_clean_and_of_the_stated_size(name: str) -> None:
    robot = load(name, strict=True)
    nq, nv, nu, mass = SIZES[name]
    assert (robot.name, robot.nq, robot.nv, robot.nu) == (name, nq, nv, nu)
    assert robot.mass == pytest.approx(mass)
    assert list(robot.report) == []
    # a comment on top tells the numbers
    text = (SHIPPED / f"{name}.urdf").read_text(encoding="utf-8")
    assert text.split("\n")[1] == "<!--"
    assert " m" in text[: text.index("-->")]


@pytest.mark.parametrize("name", SIZES)
def test_inertias_are_possible(name: str) -> None:
    """Stricter than the builder: every second moment of mass is at least zero, but for the digits of the file."""
    model = pin.buildModelFromUrdf(str(SHIPPED / f"{name}.urdf"), pin.JointModelFreeFlyer())
    for inertia in list(model.inertias)[2:]:
        second = np.trace(inertia.inertia) / 2 * np.eye(3) - inertia.inertia
        assert np.linalg.eigvalsh(second)[0] >= -1e-9 * np.trace(second)


def test_pendulum_is_a_simple_one_of_one_metre() -> None:
    """I / (m c) = 1 m: the length of the simple pendulum that swings alike."""
    rod = load("pendulum").bodies["rod"].inertia
    assert rod.J.entry(1, 1) / -rod.h.z == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("name", ["acrobot", "double_pendulum", "two_link_arm", "cart_pole"])
def test_rods_are_uniform_and_slender(name: str) -> None:
    """About its hinge, a rod has m l^2 / 3, twice the centre being its length; along itself nothing."""
    for body in list(load(name).bodies.values())[-2:]:
        if body.name in ("cart", "hand"):
            continue
        m, c, J = body.inertia.mass, body.inertia.h.z / body.inertia.mass, body.inertia.J
        assert J.entry(0, 0) == J.entry(1, 1) == pytest.approx(m * (2 * c) ** 2 / 3, rel=1e-15)
        assert J.entry(2, 2) == 0


@pytest.mark.parametrize(("name", "frames", "position"), [
    ("quadruped", ["lf_foot", "rf_foot", "lh_foot", "rh_foot"], (0.19, 0.13, -0.4)),
    ("biped", ["left_sole", "right_sole"], (0.03, 0.1, -0.87)),
    ("arm7", ["tool"], (0, 0, 1.24)),
    ("two_link_arm", ["hand"], (0, 0, 1)),
])  # fmt: skip
def test_frames_are_where_the_comments_say(name: str, frames: list[str], position: tuple[float, ...]) -> None:
    robot = load(name, base="fixed")
    model = pin.buildModelFromUrdf(str(SHIPPED / f"{name}.urdf"))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    for frame in frames:
        assert robot.frame(frame).name == frame
        p = data.oMf[model.getFrameId(frame)].translation
        # legs are mirror images of each other; files have some twelve digits
        np.testing.assert_allclose([abs(p[0]), abs(p[1]), p[2]], position, atol=1e-12)


def test_feet_touch_the_ground_with_their_shapes() -> None:
    assert [load("quadruped").bodies[f"{leg}_foot"].collisions[0].kind for leg in ("lf", "rh")] == ["sphere", "sphere"]
    assert load("biped").bodies["left_foot"].collisions[0].kind == "box"


def test_path_by_suffix(tmp_path: Path) -> None:
    for name, message in (("robot.step", r"\.urdf"), ("robot", "without a suffix")):
        with pytest.raises(RobotError, match=message):
            load(tmp_path / name)
    copy = tmp_path / "mine.urdf"
    copy.write_bytes((SHIPPED / "arm7.urdf").read_bytes())
    assert load(copy).name == load(str(copy), base="free").name == "arm7"
