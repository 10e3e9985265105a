"""Contacts with as few points as the outline of a rigid part needs: what is simplified, hidden, kept and reported."""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

import pliant
from collision_robots import INERTIA, at, centers, mesh, robot_of, sphere_points
from pliant.errors import RobotError
from pliant.robot import Geometry, Robot
from pliant.robot.contacts import with_default_contacts
from real_robots import real_robot

STATED = re.compile(r"off by ([\d.e+-]+) mm")


def leg(foot: Geometry, *shank: Geometry) -> Robot:
    """A trunk, a shank on a joint, and a foot fixed to it 0.2 m below."""
    builder = pliant.RobotBuilder("leg")
    builder.body("trunk", mass=1, inertia=INERTIA, collisions=[Geometry("sphere", (0.1,))])
    builder.body("shank", mass=1, inertia=INERTIA, collisions=shank)
    builder.body("foot", mass=1, inertia=INERTIA, collisions=[foot])
    builder.joint("knee", "revolute", "trunk", "shank", axis=(0, 1, 0))
    builder.joint("ankle", "fixed", "shank", "foot", (0, 0, -0.2))
    return builder.build(base="free")


def corner_points(x: float, y: float, z: float) -> np.ndarray:
    return np.array([(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) / 2


PEG = np.array([[0.008, 0, 0.035], [-0.008, 0, 0.035], [0, 0.008, 0.035], [0, -0.008, 0.035]])
SHANK = Geometry("box", (0.04, 0.04, 0.2), at(0, 0, -0.08))


# ---- meshes


def test_a_ball_with_a_peg_in_its_shank_is_a_ball() -> None:
    foot = mesh(np.concatenate([sphere_points(0.02), PEG]))
    robot = leg(foot, SHANK).with_collision_contacts("foot")
    (shape,) = robot.contacts.values()
    assert (shape.kind, shape.body) == ("sphere", "foot")
    # a tenth of the radius at most, by which a mesh is nearly a ball
    assert shape.radius == pytest.approx(0.02, rel=0.1)
    (finding,) = robot.report
    assert "mesh as a sphere: 8 points -> 1, off by" in finding.message
    # without the shank, the peg can touch
    alone = leg(foot).with_collision_contacts("foot")
    assert len(alone.contact_points) > 1 or alone.contacts["foot"].kind != "sphere"


@pytest.mark.parametrize(("name", "squash", "kind", "count"), [
    ("a ball", (1, 1, 1), "sphere", 1),
    ("nearly a ball", (1, 1.1, 1), "sphere", 1),
    ("an egg", (1, 1.3, 1.6), "ellipsoid", 1),
])  # fmt: skip
def test_round_feet(name: str, squash: tuple[float, ...], kind: str, count: int) -> None:
    robot = robot_of(mesh(sphere_points(0.02) * squash)).with_collision_contacts()
    (shape,) = robot.contacts.values()
    assert (shape.kind, len(robot.contact_points)) == (kind, count), name


def test_wheels_and_rods() -> None:
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    circle = np.stack([0.1 * np.cos(turn), 0 * turn, 0.1 * np.sin(turn)], axis=1)
    wheel = np.concatenate([np.add(circle, [0, y, 0]) for y in (-0.05, 0.05)])
    robot = robot_of(mesh(wheel)).with_collision_contacts()
    (shape,) = robot.contacts.values()
    assert shape.kind == "cylinder" and shape.sizes[0] == pytest.approx(0.1, rel=0.01)
    assert abs(float(shape.axes[2].y)) == pytest.approx(1)
    rod = np.concatenate([np.add(sphere_points(0.02, 2000), [x, 0, 0]) for x in (-0.2, 0.2)])
    assert robot_of(mesh(rod)).with_collision_contacts().contacts["a"].kind == "capsule"


def test_flat_soles_keep_their_corners() -> None:
    """A sole, also one whose ankle is round, and a plate: points, exact where it is flat."""
    sole = corner_points(0.22, 0.1, 0.03)
    robot = robot_of(mesh(sole)).with_collision_contacts()
    assert robot.contacts["a"].kind == "points" and len(robot.contact_points) == 8
    ankle = 0.05 * sphere_points(1, 2000) + [0, 0, 0.04]
    robot = robot_of(mesh(np.concatenate([sole, ankle]))).with_collision_contacts()
    low = centers(robot, "a")
    assert (low[:, 2] == -0.015).sum() == 4
    assert len(robot_of(mesh(corner_points(0.2, 0.1, 0.002))).with_collision_contacts().contact_points) == 8


def test_all_points_can_be_had() -> None:
    ball, row = mesh(sphere_points(0.02)), [Geometry("box", (1, 1, 1), at(k)) for k in range(5)]
    every = robot_of(ball).with_collision_contacts(tolerance=0)
    assert every.contacts["a"].kind == "points" and len(every.contact_points) == 8
    assert "mesh: 8 points, off by" in str(every.report)
    assert len(robot_of(*row).with_collision_contacts(limit=None, tolerance=0).contact_points) == 24
    foot = mesh(np.concatenate([sphere_points(0.02), PEG]))
    assert len(leg(foot, SHANK).with_collision_contacts("foot", limit=None, tolerance=0).contact_points) == 8
    with pytest.raises(RobotError, match="tolerance is -1"):
        robot_of(ball).with_collision_contacts(tolerance=-1)


# ---- points that others hide


def test_corners_inside_the_hull_of_the_others_are_left_out() -> None:
    """An ankle on a sole: the lower corners of the ankle are in the hull, the upper ones of the sole are not."""
    sole, ankle = Geometry("box", (0.2, 0.1, 0.02)), Geometry("box", (0.06, 0.06, 0.1), at(0, 0, 0.06))
    robot = robot_of(sole, ankle).with_collision_contacts()
    assert [(s.kind, len(s.centers)) for s in robot.contacts.values()] == [("box", 8), ("points", 4)]
    assert centers(robot, "a_1")[:, 2].min() == pytest.approx(0.11)
    assert [f.message for f in robot.report] == ["box: 8 points -> 4, off by 0 mm"]


def test_four_corners_of_a_sole_under_a_shank_as_wide() -> None:
    sole = Geometry("box", (0.04, 0.04, 0.02), at(0, 0, 0.02))
    robot = leg(sole, SHANK).with_collision_contacts("foot")
    assert len(robot.contact_points) == 4
    assert {round(z, 9) for z in centers(robot, "foot")[:, 2]} == {0.01}


def test_a_capsule_of_which_one_end_is_hidden_is_a_ball() -> None:
    rod, knob = Geometry("capsule", (0.02, 0.2)), Geometry("sphere", (0.03,), at(0, 0, 0.1))
    robot = robot_of(rod, knob).with_collision_contacts()
    assert [(s.kind, s.radius) for s in robot.contacts.values()] == [("sphere", 0.02), ("sphere", 0.03)]
    assert centers(robot, "a_0")[0, 2] == pytest.approx(-0.1)
    whole = robot_of(rod, knob).with_collision_contacts(limit=None)
    assert [s.kind for s in whole.contacts.values()] == ["capsule", "sphere"]


def test_twins_do_not_hide_each_other() -> None:
    """Equal meshes and equal boxes: one of them stays."""
    for shape in (mesh(sphere_points(0.02)), mesh(corner_points(1, 1, 1)), Geometry("box", (1, 1, 1))):
        twins = robot_of(shape, shape).with_collision_contacts()
        assert len(twins.contact_points) == len(robot_of(shape).with_collision_contacts().contact_points)


def test_what_carries_hides_but_not_all() -> None:
    """A foot within a shank that is no contact is kept; of a chosen shank it is left out."""
    foot, thick = Geometry("box", (0.02, 0.02, 0.02), at(0, 0, 0.1)), Geometry("box", (0.1, 0.1, 0.4), at(0, 0, -0.1))
    assert len(leg(foot, thick).with_collision_contacts("foot").contact_points) == 8
    assert list(leg(foot, thick).with_collision_contacts(["shank", "foot"]).contacts) == ["shank"]


def test_what_is_carried_does_not_hide() -> None:
    """A cover on the trunk that is not chosen leaves the trunk its corners."""
    robot = robot_of(Geometry("box", (1, 1, 1)), more=(Geometry("box", (3, 3, 3)),))
    assert len(robot.with_collision_contacts("a").contact_points) == 8


def test_nearly_equal_points_are_one_by_the_size_of_the_part() -> None:
    """Corners a thousandth of the size apart are one, on a robot of any size."""
    for scale in (0.01, 1, 100):
        boxes = [Geometry("box", (side * scale,) * 3) for side in (1, 1.002)]
        assert len(robot_of(*boxes).with_collision_contacts().contact_points) == 8
        boxes = [Geometry("box", (scale, scale, scale)), Geometry("box", (1.2 * scale, scale, 0.8 * scale))]
        assert len(robot_of(*boxes).with_collision_contacts(limit=None).contact_points) == 16


def test_missing_meshes_of_carriers_are_not_reported() -> None:
    robot = leg(Geometry("sphere", (0.02,)), Geometry("mesh", file="lost.stl")).with_collision_contacts("foot")
    assert not robot.report and robot.contacts["foot"].radius == 0.02


# ---- robots


@cache
def default(name: str) -> Robot:
    return with_default_contacts(real_robot(name, "free"), has_ground=True)


@pytest.mark.parametrize(("name", "feet", "stated"), [
    ("go2_description/go2.urdf", ["FL_foot", "FR_foot", "RL_foot", "RR_foot"], 2.2),
    ("solo_description/solo12.urdf", ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"], 1.5),
    ("anymal_c_simple_description/anymal.urdf", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"], 0),
])  # fmt: skip
def test_feet_of_quadrupeds_are_one_point_each(name: str, feet: list[str], stated: float) -> None:
    """A tenth of the radius of a foot of 22 mm and 15 mm; of ANYmal's, which is a ball already, nothing."""
    robot = default(name)
    count = Counter(point.body for point in robot.contact_points)
    assert [count[foot] for foot in feet] == [1] * 4
    assert max(count.values()) <= 8
    for foot in feet:
        findings = [f.message for f in robot.report if f.subject == f"contacts of body {foot!r}"]
        assert findings
        assert all(float(STATED.findall(message)[0]) <= stated for message in findings)


def test_mirrored_hands_have_the_same_shapes() -> None:
    robot = default("g1_description/g1_29dof_rev_1_0.urdf")
    kinds = {shape.body: shape.kind for shape in robot.contacts.values()}
    assert kinds["left_wrist_yaw_link"] == kinds["right_wrist_yaw_link"]
    assert [len(robot.lumped().contacts[f"left_ankle_roll_link_{k}"].centers) for k in range(4)] == [1] * 4


def test_default_contacts_are_found_once() -> None:
    robot = real_robot("go2_description/go2.urdf", "free")
    assert with_default_contacts(robot, has_ground=True) is with_default_contacts(robot, has_ground=True)
