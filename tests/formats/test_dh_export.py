"""Denavit-Hartenberg tables of robots: there and back, with parallel, meeting and nearly parallel axes."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from pliant.errors import RobotError
from pliant.formats import DHRow, to_dh
from pliant.formats.dh import COLUMNS
from pliant.robot import Mimic, Robot, RobotBuilder
from random_robots import robot_of, seeds
from real_robots import real_robot

CONVENTIONS = list(COLUMNS)
KINDS = ("revolute", "continuous", "prismatic", "fixed")
RIGHT = math.pi / 2
conventions = st.sampled_from(CONVENTIONS)


def check_same(robot: Robot, other: Robot, tool: str, seed: int, scale: float = 1) -> None:
    """Equal poses of the tool, mass matrices and bias forces, at random states.

    Within 1e-12 of the largest: entries of poses are about one, and a step of a table adds some 1e-16 of its length.
    """
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q, v = rng.uniform(-3, 3, robot.nq).tolist(), rng.standard_normal(robot.nv).tolist()
        for function, mine, its in (
            (pliant.frame_pose, (q, tool), (q, "tool")),
            (pliant.mass_matrix, (q,), (q,)),
            (pliant.bias_forces, (q, v), (q, v)),
        ):
            a = np.array(function.algorithm(robot, *mine), dtype=float)
            b = np.array(function.algorithm(other, *its), dtype=float)
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-12 * scale * max(1, abs(a).max()))


@settings(max_examples=150)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=7), seeds, conventions)
def test_random_chains_there_and_back(kinds: list[str], seed: int, convention: str) -> None:
    """Any axes and placements, half of them along coordinate axes and at right angles, so that many are parallel."""
    kinds = [*kinds, "revolute"]
    robot = robot_of(kinds, list(range(-1, len(kinds) - 1)), np.random.default_rng(seed))
    table = to_dh(robot, convention=convention)
    assert table.convention == convention
    assert [row.name for row in table.rows if row.name] == [link.name for link in robot.mechanism.links]
    assert all(row.joint in KINDS for row in table.rows)
    check_same(robot, pliant.from_dh(table), f"body{len(kinds) - 1}", seed)


@settings(max_examples=150)
@given(seeds, st.integers(1, 7), conventions, conventions)
def test_tables_with_special_angles_there_and_back(seed: int, n: int, made: str, convention: str) -> None:
    """Axes that are the same line, parallel either way, that meet, or are skew."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        alpha, theta = (float(rng.choice([0, RIGHT, -RIGHT, math.pi, rng.uniform(-3, 3)])) for _ in range(2))
        a, d = (float(rng.choice([0, rng.uniform(-1, 1)])) for _ in range(2))
        row = {"mass": 1.3, "com": rng.uniform(-1, 1, 3).tolist(), "inertia": (0.3, 0.4, 0.5), "armature": 0.1}
        joint = str(rng.choice(["revolute", "prismatic"]))
        rows.append({"alpha": alpha, "a": a, "theta": theta, "d": d, "joint": joint, **row})
    pose = (rng.uniform(-1, 1, 3).tolist(), rng.uniform(-1, 1, 3).tolist())
    robot = pliant.from_dh(rows, made, base=pose, tool=pose)
    table = to_dh(robot, convention=convention)
    check_same(robot, pliant.from_dh(table), "tool", seed)
    assert len(table.rows) == n
    if made == convention == "modified":
        # the angle between two axes is theirs, whatever frames are put on them
        found = np.cos([row.alpha for row in table.rows[1:]])
        np.testing.assert_allclose(found, np.cos([row["alpha"] for row in rows[1:]]), atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("tilt", [1e-14, 1e-10, 1e-8, 3.67e-6, 1e-4, 9e-4, 2e-3])
@pytest.mark.parametrize("apart", [0, 0.4])
def test_axes_that_are_nearly_parallel(tilt: float, apart: float, convention: str) -> None:
    """Their common normal is up to 1e10 m away; a fixed row between them keeps all the digits."""
    builder = RobotBuilder("arm")
    names = ["upper", "lower", "hand"]
    for name in names:
        builder.body(name, 1, (0.1, 0.2, 0.3), (0.1, 0, 0, 0.1, 0, 0.1))
    for k, (parent, child) in enumerate(pairwise(["world", *names])):
        rpy = (tilt, 0, 0.3) if k else (0.3, 0.2, 0.1)
        builder.joint(f"joint{k}", "revolute", parent, child, (apart, 0.1 * apart, 0.7), rpy)
    robot = builder.build()
    table = to_dh(robot, convention=convention)
    assert all(abs(x) < 10 for row in table.rows for x in (row.a, row.d)) or tilt > 1e-3
    fixed = [row for row in table.rows if row.joint == "fixed"]
    assert len(fixed) == (2 if 1e-13 < tilt < 1e-3 else 0)
    # at 2e-3 rad the normal is up to 200 m away, which costs two digits
    check_same(robot, pliant.from_dh(table), "hand", 3, scale=200 if tilt > 1e-3 else 1)


def test_rounded_angles_of_a_file_can_be_cleaned_up() -> None:
    builder = RobotBuilder("arm")
    for name in ("upper", "lower"):
        builder.body(name, 1, (0.1, 0.2, 0.3), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("first", "revolute", "world", "upper", rpy=(1.5708, 0, 0))
    builder.joint("second", "revolute", "upper", "lower", (0.5, 0, 0), (3.14159, 0, 0))
    robot = builder.build()
    table = to_dh(robot, tolerance=1e-4)
    assert [(row.alpha, row.a, row.d) for row in to_dh(robot).rows] == [(1.5708, 0, 0), (3.14159, 0.5, 0)]
    assert [(row.alpha, row.a, row.d) for row in table.rows] == [(RIGHT, 0, 0), (math.pi, 0.5, 0)]
    q = [0.3, 0.4]
    moved = pliant.frame_pose(pliant.from_dh(table), q, "tool") - pliant.frame_pose(robot, q, "lower")
    assert 0 < abs(moved).max() < 1e-5


# ---- what the tables are


def test_table_of_the_shipped_arm() -> None:
    """A wrist, elbow and shoulder of axes that meet: no lengths a, and right angles throughout."""
    robot = pliant.load("arm7")
    table = to_dh(robot)
    assert [row.alpha for row in table.rows] == [0, -RIGHT, RIGHT, -RIGHT, RIGHT, -RIGHT, RIGHT]
    assert [row.a for row in table.rows] == [0] * 7
    assert [row.theta for row in table.rows] == [0] * 7
    assert [row.d for row in table.rows] == pytest.approx([0.3, 0, 0.38, 0, 0.38, 0, 0.18], abs=1e-15)
    # the tool stands on the last axis, and the first one on the world's: nothing is left for tool and base
    for X in (table.base, table.tool):
        np.testing.assert_allclose(np.array(X.homogeneous()), np.eye(4), atol=1e-15)
    back = pliant.from_dh(table)
    check_same(robot, back, "tool", 1)
    assert list(back.motors) == list(robot.motors)
    assert back.motors["joint2"] == robot.motors["joint2"]
    assert all(back.joints[name].limits == robot.joints[name].limits for name in back.joints)


def test_lengths_of_the_ur5_are_those_that_its_maker_publishes() -> None:
    # Universal Robots, "DH parameters for calculations of kinematics and dynamics": d1, a2, a3, d4, d5 of the UR5
    robot = real_robot("ur_description/ur5_robot.urdf")
    table = to_dh(robot, convention="standard", tolerance=1e-9)  # the file has eleven digits of pi/2
    d, a = [row.d for row in table.rows], [row.a for row in table.rows]
    # the maker's x points the other way along the arm: its a are negative
    assert (d[0], a[1], a[2], d[3], d[4]) == pytest.approx((0.089159, 0.425, 0.39225, 0.10915, 0.09465), abs=1e-9)
    assert [row.alpha for row in table.rows[1:3]] == [0, 0]
    assert [abs(row.alpha) for row in (table.rows[0], *table.rows[3:5])] == [RIGHT, RIGHT, RIGHT]


def test_angles_that_files_round_are_shown_as_the_right_ones() -> None:
    """The numbers keep all their digits, so that the way back is exact."""
    robot = real_robot("ur_description/ur5_robot.urdf")
    table = to_dh(robot)
    assert "e-12" not in str(table) and "-pi/2" in str(table)
    assert any(0 < abs(row.theta) < 1e-11 for row in table.rows)
    check_same(robot, pliant.from_dh(table, strict=False), "tool0", 4)


def test_which_of_two_ends_is_the_tool_is_told() -> None:
    robot = real_robot("ur_description/ur5_robot.urdf")
    text = str(to_dh(robot).report)
    assert "guessed: robot 'ur5': 'tool0' is taken for the tool; for another, give tool='ee_link'" in text
    assert "no frames of other names: base_link, base, ee_link\n" in text
    assert "guessed" not in str(to_dh(robot, tool="ee_link").report)
    assert "guessed" not in str(to_dh(pliant.load("arm7")).report), "it has a frame of that name"


ARMS = (
    "kinova_description/kinova.urdf", "so_arm_description/so101.urdf", "ur_description/ur10_robot.urdf",
    "xarm_description/xarm7.urdf", "z1_description/z1.urdf",
)  # fmt: skip


@pytest.mark.parametrize("name", ARMS)
def test_arms_of_others_there_and_back(name: str) -> None:
    robot = real_robot(name)
    last = [body for body, (link, _) in robot.mechanism.poses.items() if link == len(robot.mechanism.links) - 1][-1]
    for convention in CONVENTIONS:
        check_same(robot, pliant.from_dh(to_dh(robot, convention=convention), strict=False), last, 1)


def test_modified_table_that_comes_back_as_it_was() -> None:
    """One of skew axes leaves no choice but at its ends, which are the world and the tool."""
    rows = [
        DHRow(theta=0.3, d=0.2, mass=1),
        DHRow(alpha=1.1, a=0.4, theta=-0.7, d=0.5, mass=1),
        DHRow(alpha=0.8, a=0.3, theta=1.9, d=-0.4, joint="prismatic", mass=1),
        DHRow(alpha=-1.2, a=0.6, theta=0.1, d=0.7, mass=1),
    ]  # fmt: skip
    for row, given_row in zip(to_dh(pliant.from_dh(rows)).rows, rows, strict=True):
        # normals from axis to axis: a is not negative
        for name in ("alpha", "a", "theta", "d"):
            assert getattr(row, name) == pytest.approx(getattr(given_row, name), abs=1e-14)


def test_tool_may_be_chosen() -> None:
    robot = pliant.load("arm7").with_frame("camera", "link7", (0.1, 0, 0.05), (0.2, 0, 0))
    table = to_dh(robot, tool="camera")
    check_same(robot, pliant.from_dh(table), "camera", 2)


def test_masses_may_be_symbols() -> None:
    m, I = sympy.symbols("m I", positive=True)
    builder = RobotBuilder("pendulum").body("rod", m, (0, 0, -0.5), (I, 0, 0, I, 0, 0))
    robot = builder.joint("pivot", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    back = pliant.from_dh(to_dh(robot))
    M = pliant.mass_matrix(back, [sympy.Symbol("q")])[0, 0]
    assert sympy.simplify(sympy.nsimplify(M, rational=True, tolerance=1e-12) - (I + m / 4)) == 0


def test_what_has_no_row_is_told() -> None:
    robot = pliant.load("arm7").with_contact("tool", radius=0.01)
    robot = robot.with_joint("joint2", restitution=0.5).with_motor("joint3", name="second")
    text = str(to_dh(robot).report)
    assert "joint 'joint2': a row has no restitution" in text
    assert "joint 'joint3': a row has no motor 'second'" in text
    assert "contacts: tool" in text
    assert "no shapes" in text
    assert "no frames of other names: base" in text
    assert "u is arranged otherwise" in text
    assert str(pliant.from_dh(to_dh(robot)).report) == text


# ---- what has no table


def tree(kinds: list[str], parents: list[int]) -> Robot:
    return robot_of(kinds, parents, np.random.default_rng(0))


FINGERS = RobotBuilder("fingers").body("a", 1).body("b", 1).joint("first", "revolute", "world", "a")
FINGERS.joint("second", "revolute", "a", "b", (1, 0, 0), mimic=Mimic("first"))
ARM = pliant.load("arm7")


@pytest.mark.parametrize(("robot", "options", "message"), [
    (tree(["revolute"] * 2, [-1, -1]), {}, "'random' branches: joints 'joint0', 'joint1' are on the world"),
    (tree(["revolute"] * 4, [-1, 0, 1, 0]), {}, "joints 'joint1', 'joint3' are on body 'body0'; a table is a chain"),
    *((tree(["revolute", kind, "revolute"], [-1, 0, 1]), {},
       f"joint 'joint1' is {kind}; a row is revolute, prismatic or fixed")
      for kind in ("spherical", "planar", "helical", "free")),
    (pliant.load("arm7", base="free"), {}, "joint 'root_joint' is free"),
    (FINGERS.build(), {}, "joint 'second' mimics 'first'"),
    (pliant.from_dh([{"mass": 1}, {"a": sympy.Symbol("l"), "mass": 1}]), {}, "joint 'joint2' is placed by symbols"),
    (RobotBuilder("rock").body("rock", 1).build(), {}, "no joint of robot 'rock' moves"),
    ("arm7", {}, "robot of to_dh is 'arm7'; it takes a Robot, see pliant.load"),
    (ARM, {"tool": "link3"}, "'link3' does not move with the last joint"),
    (ARM, {"tool": "camra"}, "no frame named 'camra'"),
    (ARM, {"tool": ["tool"]}, r"no frame named \['tool'\]"),
    (ARM, {"tolerance": "x"}, "tolerance of to_dh is 'x'; it takes"),
    (ARM, {"tolerance": -1}, "tolerance of to_dh is -1; it takes 0 or more"),
    (ARM, {"tolerance": math.nan}, "tolerance of to_dh is nan"),
    (ARM, {"tolerance": 9}, "tolerance of to_dh is 9; it takes an angle up to 0.1"),
    (ARM, {"convention": "craig"}, "no convention named 'craig' in to_dh; .*modified"),
])  # fmt: skip
def test_what_has_no_table_is_named(robot: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        to_dh(robot, **options)


def test_fixed_branches_are_none() -> None:
    robot = tree(["revolute", "fixed", "revolute", "fixed"], [-1, 0, 0, 2])
    check_same(robot, pliant.from_dh(to_dh(robot)), "body3", 5)
