"""Contact shapes from collision geometry: exact ones, approximated ones, what is left out and what is reported."""

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy

import pliant
from collision_robots import at, centers, mesh, robot_of, sphere_points
from pliant.errors import RobotError
from pliant.meshes import MeshFile
from pliant.robot import Geometry, Robot
from real_robots import real_robot
from urdf_text import INERTIAL, link

# ---- kinds


def test_exact_kinds() -> None:
    capsule = Geometry("capsule", (0.1, 2), at(0, 5, 0, (np.pi / 2, 0, 0)))
    robot = robot_of(Geometry("sphere", (0.1,), at(1)), capsule, Geometry("box", (1, 2, 3), at(10)))
    robot = robot.with_collision_contacts(limit=None)
    assert [(s.name, s.kind, s.radius) for s in robot.contacts.values()] == [
        ("a_0", "sphere", 0.1), ("a_1", "capsule", 0.1), ("a_2", "box", 0),
    ]  # fmt: skip
    np.testing.assert_array_equal(centers(robot, "a_0"), [[1, 0, 0]])
    # rounding of cos(pi/2)
    np.testing.assert_allclose(centers(robot, "a_1"), [[0, 6, 0], [0, 4, 0]], atol=1e-15)
    np.testing.assert_array_equal(np.abs(centers(robot, "a_2") - [10, 0, 0]), [[0.5, 1, 1.5]] * 8)
    assert len(robot.report) == 0


def test_a_cylinder_is_one() -> None:
    turned = at(1, rpy=(np.pi / 2, 0, 0))
    robot = robot_of(Geometry("cylinder", (0.1, 2), turned)).with_collision_contacts()
    (shape,) = robot.contacts.values()
    assert (shape.kind, shape.sizes, shape.radius) == ("cylinder", (0.1,), 0)
    # along y; rounding of cos(pi/2)
    np.testing.assert_allclose(centers(robot, "a"), [[1, 1, 0], [1, -1, 0]], atol=1e-15)
    np.testing.assert_allclose([float(x) for x in shape.axes[2]], [0, -1, 0], atol=1e-15)
    assert len(robot.contact_points) == 6
    assert len(robot.report) == 0


@pytest.mark.parametrize(("points", "each"), [(4, 3), (8, 4), (16, 8)])
def test_cylinders_on_a_part_with_too_many_points_are_points_on_their_rims(points: int, each: int) -> None:
    pair = [Geometry("cylinder", (0.1, 2), at(x)) for x in (-5, 5)]
    limit = min(3 * each, 11)  # the two have 12
    robot = robot_of(*pair).with_collision_contacts(points=points, limit=limit)
    found = np.concatenate([centers(robot, name) for name in robot.contacts])
    assert {shape.kind for shape in robot.contacts.values()} == {"points"}
    assert len(robot.contact_points) <= limit
    assert str(robot.report).count("cylinder: 6 points -> ") == 2
    assert np.abs(found[:, 0]).max() > 4.9


def test_a_mesh_is_its_outer_points() -> None:
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], dtype=float)
    inner = np.random.default_rng(1).uniform(-0.9, 0.9, (500, 3))
    shape = mesh(np.concatenate([inner, corners]), scale=(0.1, 0.1, -0.1), placement=at(5))
    robot = robot_of(shape).with_collision_contacts()
    found = centers(robot, "a")
    np.testing.assert_allclose(np.unique(found, axis=0), np.unique(corners * 0.1 + [5, 0, 0], axis=0), atol=1e-15)
    assert str(robot.report) == "guessed: contacts of body 'a': mesh: 8 points, off by 0 mm"


def test_a_mesh_of_a_ball_is_a_sphere() -> None:
    robot = robot_of(mesh(sphere_points(0.02), placement=at(1))).with_collision_contacts()
    (shape,) = robot.contacts.values()
    assert shape.kind == "sphere"
    # 5000 points leave caps of some 4 degrees: 1 - cos(4 degrees) = 2.4e-3
    assert shape.radius == pytest.approx(0.02, rel=5e-3)
    np.testing.assert_allclose(centers(robot, "a"), [[1, 0, 0]], atol=1e-4)
    assert "mesh as a sphere: 8 points -> 1, off by 0." in str(robot.report)


# ---- left out


def test_points_inside_of_another_shape_are_left_out() -> None:
    """A rod of half length 1 ends in a ball at one end: the rim there is inside, the other is not."""
    rod, knob = Geometry("cylinder", (0.01, 2)), Geometry("sphere", (0.1,), at(0, 0, 1))
    robot = robot_of(rod, knob).with_collision_contacts()
    assert [(s.kind, len(s.centers)) for s in robot.contacts.values()] == [("rim", 1), ("sphere", 1)]
    assert set(centers(robot, "a_0")[:, 2]) == {-1}


@pytest.mark.parametrize(("outer", "inside"), [
    (Geometry("box", (1, 1, 1)), True),
    (Geometry("sphere", (0.5,)), True),
    (Geometry("capsule", (0.4, 1)), True),
    (Geometry("cylinder", (0.4, 1)), True),
    (Geometry("box", (1, 1, 0.19)), False),
    (Geometry("box", (1, 1, 0.2)), False),  # it touches from inside: not strictly within
    (Geometry("sphere", (0.2,), at(0, 0, 0.15)), False),
    (Geometry("capsule", (0.09, 1)), False),
    (Geometry("cylinder", (0.4, 0.15)), False),
])  # fmt: skip
def test_a_ball_inside(outer: Geometry, inside: bool) -> None:
    robot = robot_of(Geometry("sphere", (0.1,)), outer).with_collision_contacts(points=32, limit=None)
    assert ("sphere" in [s.kind for s in robot.contacts.values() if s.radius == 0.1]) is not inside


def test_a_rigid_part_counts_as_one_body() -> None:
    """The ball on b, which is fixed 1 m above a, is inside of the box on a."""
    box = Geometry("box", (1, 1, 4))
    assert list(robot_of(box, more=(Geometry("sphere", (0.1,)),)).with_collision_contacts().contacts) == ["a"]
    outside = robot_of(box, more=(Geometry("sphere", (0.1,), at(0, 0, 3)),)).with_collision_contacts()
    assert [(s.name, s.body) for s in outside.contacts.values()] == [("a", "a"), ("b", "b")]


def test_coinciding_points_are_one() -> None:
    stacked = (Geometry("box", (1, 1, 1)), Geometry("box", (1, 1, 1), at(0, 0, 1)), Geometry("box", (1, 1, 1)))
    robot = robot_of(*stacked).with_collision_contacts(limit=None)
    assert [(s.kind, len(s.centers)) for s in robot.contacts.values()] == [("box", 8), ("points", 4)]
    # by half a millimetre apart: one, or two
    near = (Geometry("sphere", (0.1,)), Geometry("sphere", (0.1,), at(0.0005)))
    assert len(robot_of(*near).with_collision_contacts().contact_points) == 1
    assert len(robot_of(*near).with_collision_contacts(merge=0.0001).contact_points) == 2


def test_bodies_can_be_chosen_and_twice_is_once() -> None:
    robot = pliant.load("quadruped")
    once = robot.with_collision_contacts()
    assert list(once.with_collision_contacts().contacts) == list(once.contacts)
    assert list(robot.with_collision_contacts(["lf_foot", "rh_foot"]).contacts) == ["lf_foot", "rh_foot"]
    assert list(robot.with_collision_contacts("trunk").contacts) == ["trunk"]
    with pytest.raises(RobotError, match="'lf_foot'"):
        robot.with_collision_contacts("lf_fot")


def test_added_to_what_is_there() -> None:
    shapes = (Geometry("sphere", (0.1,)), Geometry("sphere", (0.2,), at(3)))
    robot = robot_of(*shapes).with_contact("a", radius=0.1, friction=3).with_collision_contacts()
    assert [(s.name, s.radius, s.friction) for s in robot.contacts.values()] == [("a", 0.1, 3), ("a_0", 0.2, None)]


def test_what_the_world_holds_is_left_out() -> None:
    robot = robot_of(Geometry("sphere", (0.1,)), base="fixed").with_collision_contacts()
    assert len(robot.contacts) == 0
    assert "dropped: contacts of body 'a': it is fixed to the world" in str(robot.report)


def test_limit_on_a_part() -> None:
    many = [Geometry("box", (1, 1, 1), at(k)) for k in range(5)]
    robot = robot_of(*many).with_collision_contacts(limit=8)
    # of 24 different corners in a row, the outer 8 are the outline
    assert len(robot.contact_points) == 8
    found = np.array([tuple(p.center) for p in robot.contact_points], dtype=float)
    assert set(found[:, 0]) == {-0.5, 4.5}
    assert [f.message for f in robot.report] == [f"box: 8 points -> {k}, off by 0 mm" for k in (4, 0, 0, 0, 4)]
    assert len(robot_of(*many).with_collision_contacts(limit=None).contact_points) == 24


def test_symbols_stay() -> None:
    r, l = sympy.symbols("r l", positive=True)
    robot = robot_of(Geometry("cylinder", (r, l)), Geometry("sphere", (r,)), Geometry("box", (1, 1, 1)))
    contacts = robot.with_collision_contacts().contacts
    assert contacts["a_1"].radius == r
    assert [len(s.centers) for s in contacts.values()] == [2, 1, 8]


# ---- what cannot be


@pytest.mark.parametrize(("options", "words"), [
    ({"points": 3}, "points is 3"),
    ({"points": 8.5}, "points is 8.5"),
    ({"merge": -1}, "merge is -1"),
    ({"merge": float("nan")}, "merge is nan; it takes a finite number"),
    ({"limit": 0}, "limit is 0"),
    ({"packages": "nowhere"}, "nowhere is not a folder"),
])  # fmt: skip
def test_bad_options(options: dict[str, object], words: str) -> None:
    with pytest.raises(RobotError, match=words):
        robot_of().with_collision_contacts(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("shape", "words"), [
    (Geometry("sphere", (0,)), "sphere: size (0,) is not positive"),
    (Geometry("box", (1, -1, 1)), "box: size (1, -1, 1) is not positive"),
    (Geometry("sphere", (float("nan"),)), "not positive"),
    (Geometry("mesh", file="a.stl"), "mesh: no reader for its file; give"),
    (Geometry("mesh", mesh=MeshFile("missing.stl")), "mesh: no file"),
    (Geometry("mesh", mesh=MeshFile("package://lost/a.stl")), "mesh: package 'lost' not found in"),
    (Geometry("mesh", mesh=MeshFile("../outside.stl")), "leaves"),
])  # fmt: skip
def test_what_cannot_be_used_is_reported(shape: Geometry, words: str) -> None:
    robot = robot_of(shape, Geometry("sphere", (0.1,))).with_collision_contacts()
    assert len(robot.contact_points) == 1
    (finding,) = robot.report
    assert finding.kind == "dropped" and finding.subject == "contacts of body 'a'"
    assert words in finding.message


def test_broken_and_missing_meshes_of_a_file(load, tmp_path: Path) -> None:
    """A mesh that is cut off is reported; one that is missing is found in folders given later."""
    (tmp_path / "cut.stl").write_bytes(bytes(80) + b"\7\0\0\0")
    (tmp_path / "elsewhere" / "pack").mkdir(parents=True)
    (tmp_path / "elsewhere" / "pack" / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n")
    shape = '<collision><geometry><mesh filename="{}"/></geometry></collision>'
    shapes = (shape.format(name) for name in ("cut.stl", "package://pack/a.obj", "../outside.stl"))
    robot = load(link("a", INERTIAL + "".join(shapes)), base="free")
    without = robot.with_collision_contacts()
    assert len(without.contacts) == 0
    for words in ("promises 7 triangles and holds 0", "package 'pack' not found", "'../outside.stl' leaves"):
        assert words in str(without.report)
    assert len(robot.with_collision_contacts(packages=tmp_path / "elsewhere").contact_points) == 4


# ---- robots


def test_shipped_robots_touch_with_feet_and_trunk() -> None:
    quadruped = pliant.load("quadruped").with_collision_contacts()
    feet = [(f"{leg}_foot", "sphere", 0.02) for leg in ("lf", "lh", "rf", "rh")]
    assert [(s.name, s.kind, s.radius) for s in quadruped.contacts.values() if s.name != "trunk"] == feet
    assert quadruped.contacts["trunk"].kind == "box"
    biped = pliant.load("biped").with_collision_contacts().lumped()
    for side in ("left", "right"):
        sole = biped.frame(f"{side}_sole").placement.p.z
        low = [c for c in biped.contacts[f"{side}_foot"].centers if c.z == pytest.approx(sole, abs=1e-12)]
        assert len(low) == 4
        assert np.ptp([c.x for c in low]) == pytest.approx(0.22)
        assert np.ptp([c.y for c in low]) == pytest.approx(0.1)


@cache
def touching(name: str) -> Robot:
    return real_robot(name, "free").with_collision_contacts()


@pytest.mark.parametrize(("name", "feet"), [
    ("anymal_b_simple_description/anymal.urdf", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]),
    ("go2_description/go2.urdf", ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]),
    ("solo_description/solo12.urdf", ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]),
    ("talos_data/talos_reduced.urdf", ["leg_left_6_link", "leg_right_6_link"]),
])  # fmt: skip
def test_real_robots_touch_with_their_feet(name: str, feet: list[str]) -> None:
    robot = touching(name)
    assert set(feet) <= {p.body for p in robot.contact_points}
    assert max(Counter(p.body for p in robot.lumped().contact_points).values()) <= 12
    assert not [f for f in robot.report if f.kind == "dropped" and f.subject.startswith("contacts")]


def test_sole_of_talos_is_flat() -> None:
    """Four points of its foot are in a plane across z, within half a hundredth of its length, 0.22 m."""
    robot = touching("talos_data/talos_reduced.urdf")
    heights = sorted(float(c.z) for c in robot.contacts["leg_left_6_link"].centers)
    assert heights[3] - heights[0] < 0.0011
    assert heights[4] - heights[3] > 0.01
