"""What URDF leaves open: whether a base floats, inertias that are missing, where packages are, arguments of xacro."""

import math
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.errors import RobotError
from pliant.formats import load_urdf
from pliant.formats.legs import legs
from pliant.formats.missing_inertia import shapes_inertia
from pliant.robot import Geometry
from pliant.spatial import MatrixRotation, Transform, Vector
from urdf_text import PENDULUM, joint, link, write_urdf

BOX = '<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'
CHAIN = (link("base"), link("middle", BOX), link("end"), joint("a", "base", "middle"), joint("b", "middle", "end"))

# ---- legs


def leg(side: str) -> str:
    names = [f"{side}_hip", f"{side}_thigh", f"{side}_foot"]
    above = ["trunk", *names]
    return "".join(link(n) + joint(f"{n}_joint", p, n) for p, n in zip(above, names, strict=False))


def test_robots_with_legs_float(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, link("trunk"), leg("left"), leg("right"))
    robot = pliant.load(path)
    assert robot.is_free
    assert [(f.kind, f.subject) for f in robot.report] == [("guessed", "base")]
    assert "'left_foot', 'right_foot'" in robot.report[0].message
    assert "base='fixed'" in robot.report[0].message
    # said, there is nothing to guess; and strict reading does not refuse it
    assert not pliant.load(path, base="fixed").is_free
    assert not pliant.load(path, base="fixed").report
    assert pliant.load(path, strict=True).is_free


@pytest.mark.parametrize("elements", [
    PENDULUM, (link("trunk"), leg("left")), (link("world", ""), joint("j", "world", "trunk", "fixed"), link("trunk"),
                                             leg("left"), leg("right")),
    # a table, and wheels
    (link("top"), *(link(f"leg_{k}") + joint(f"j{k}", "top", f"leg_{k}", "fixed") for k in range(4))),
    (link("base_footprint"), link("base"), joint("f", "base_footprint", "base"), link("wheel"),
     joint("w", "base", "wheel")),
])  # fmt: skip
def test_others_do_not(tmp_path: Path, elements: tuple[str, ...]) -> None:
    robot = pliant.load(write_urdf(tmp_path, *elements))
    assert not robot.is_free
    assert not robot.report


def test_legs_are_branches() -> None:
    edges = [("trunk", "hip", True), ("hip", "knee", True), ("knee", "foot", False)]
    assert legs(edges) == ["foot"]
    assert legs([("a", "foot", True), ("foot", "a", True)]) in (["a"], ["foot"], [])


def test_guesses_are_those_of_the_list() -> None:
    """Of the robots whose base is known, those with two legs are found, and no other one."""
    missed = []
    for name, known in pliant.robots().items():
        if known.origin == "pliant" or known.path is None or known.path.suffix != ".urdf" or "/ur3" in str(known.path):
            continue
        guess = "free" if load_urdf(known.path).is_free else "fixed"
        assert known.base == "free" or guess == "fixed", name
        missed += [name] if guess != known.base else []
    # flying ones, torsos, legs that are called by other names
    assert len(missed) <= 10, missed


# ---- inertias that are missing


def test_a_weightless_link_in_a_chain_is_reported(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, *CHAIN)
    robot = pliant.load(path)
    assert (robot.bodies["middle"].inertia.mass, [f.kind for f in robot.report]) == (0, ["odd"])
    assert "repair=True" in robot.report[0].message
    with pytest.raises(RobotError, match="weighs nothing"):
        pliant.load(path, strict=True)
    repaired = pliant.load(path, repair=True)
    assert [f.kind for f in repaired.report] == ["repaired"]
    assert repaired.bodies["middle"].inertia.mass == pytest.approx(6, rel=1e-14)
    assert pliant.load(path, repair=True, density=500).bodies["middle"].inertia.mass == pytest.approx(3, rel=1e-14)


def test_what_may_weigh_nothing(tmp_path: Path) -> None:
    """Without shapes, fixed to the world, or fixed to a link with mass."""
    parts = (
        link("base", BOX),
        link("arm"),
        joint("a", "base", "arm"),
        link("tool", BOX),
        joint("t", "arm", "tool", "fixed"),
    )
    robot = pliant.load(write_urdf(tmp_path, *parts, link("dot", ""), joint("d", "arm", "dot", "fixed")))
    assert not robot.report


SOLIDS = [
    ("box", (1, 2, 3), 6, (6 * 13 / 12, 6 * 10 / 12, 6 * 5 / 12)),
    ("sphere", (2,), 32 / 3 * math.pi, (0.4 * 32 / 3 * math.pi * 4,) * 3),
    ("cylinder", (1, 2), 2 * math.pi, (2 * math.pi * 7 / 12, 2 * math.pi * 7 / 12, math.pi)),
]


@pytest.mark.parametrize(("kind", "size", "mass", "moments"), SOLIDS)
def test_solids(kind: str, size: tuple, mass: float, moments: tuple) -> None:
    found, unread = shapes_inertia((Geometry(kind, size),), 1)  # type: ignore[arg-type]
    assert found is not None and not unread
    assert found.mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose([found.J.xx, found.J.yy, found.J.zz], moments, rtol=1e-14)


def test_a_capsule_is_between_two_cylinders_and_ends_as_a_ball() -> None:
    ball, _ = shapes_inertia((Geometry("sphere", (1,)),), 1)
    short, _ = shapes_inertia((Geometry("capsule", (1, 1e-9)),), 1)
    assert ball is not None and short is not None
    np.testing.assert_allclose([*short.J], [*ball.J], atol=1e-8)
    # by parts: a cylinder, and two half balls whose centres of mass are 3 r / 8 from their flat sides
    found, _ = shapes_inertia((Geometry("capsule", (1, 2)),), 1)
    assert found is not None
    half = 2 / 3 * math.pi
    across = 2 * math.pi * 7 / 12 + 2 * half * (0.4 - (3 / 8) ** 2 + (1 + 3 / 8) ** 2)
    assert found.J.xx == pytest.approx(across, rel=1e-14)


def test_a_mesh_is_the_solid_that_it_encloses(tmp_path: Path) -> None:
    """A tetrahedron with its corners at the origin and the units: 1/6 of a cube; integrals of x and x^2 by hand."""
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "a.obj").write_text(corners)
    shape = '<collision><origin xyz="1 0 0"/><geometry><mesh filename="a.obj" scale="2 2 2"/></geometry></collision>'
    path = write_urdf(tmp_path, link("base"), link("middle", shape), joint("a", "base", "middle"))
    inertia = pliant.load(path, repair=True, density=600).bodies["middle"].inertia
    assert inertia.mass == pytest.approx(800, rel=1e-13)
    np.testing.assert_allclose([h / 800 for h in inertia.h], [1.5, 0.5, 0.5], rtol=1e-13)
    # about the tetrahedron's own corner the integral of x^2 is m a^2 / 10
    assert inertia.J.xx == pytest.approx(800 * 2 * 4 / 10, rel=1e-13)
    moved, _ = shapes_inertia((Geometry("box", (1, 1, 1), Transform(MatrixRotation.identity(), Vector(1, 0, 0))),), 1)
    assert moved is not None
    assert moved.J.yy == pytest.approx(1 / 6 + 1, rel=1e-14)


# ---- packages

MESH = link("a", '<visual><geometry><mesh filename="package://pack/a.stl"/></geometry></visual>')


@pytest.mark.parametrize(("variable", "inside"), [
    ("ROS_PACKAGE_PATH", "ws/pack"), ("AMENT_PREFIX_PATH", "ws/share/pack"), ("GAZEBO_MODEL_PATH", "ws/pack"),
])  # fmt: skip
def test_packages_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, inside: str
) -> None:
    file = tmp_path / inside / "a.stl"
    file.parent.mkdir(parents=True)
    file.write_text("solid")
    path = write_urdf(tmp_path, MESH, name="here/robot.urdf")
    missing = pliant.load(path)
    assert missing.bodies["a"].visuals[0].file is None
    assert f"not found in {(tmp_path / 'here').resolve()}" in str(missing.report)
    monkeypatch.setenv(variable, str(tmp_path / "ws"))
    assert pliant.load(path).bodies["a"].visuals[0].file == str(file.resolve())
    # the message names what was searched
    other = write_urdf(tmp_path, MESH.replace("pack/", "other/"), name="here/other.urdf")
    assert f"{variable} ({tmp_path / 'ws'})" in str(pliant.load(other).report)


def test_a_package_in_the_file_s_folder(tmp_path: Path) -> None:
    file = tmp_path / "pack" / "a.stl"
    file.parent.mkdir()
    file.write_text("solid")
    assert pliant.load(write_urdf(tmp_path, MESH)).bodies["a"].visuals[0].file == str(file.resolve())


# ---- xacro

XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:arg name="m" default="1"/>\n'


def test_arguments_of_xacro(tmp_path: Path) -> None:
    inertial = '<inertial><mass value="$(arg m)"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = write_urdf(tmp_path, link("a", inertial), name="a.xacro", head=XACRO)
    assert load_urdf(path, xacro=True).mass == 1
    assert load_urdf(path, xacro=True, xacro_arguments={"m": 2.5}).mass == 2.5
    with pytest.raises(RobotError, match="takes no arguments"):
        load_urdf(write_urdf(tmp_path, *PENDULUM), xacro_arguments={"m": 1})
