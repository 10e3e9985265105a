"""Robots from Denavit-Hartenberg tables: both conventions against products of matrices, symbols, exactness, errors."""

import math
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from pliant.errors import RobotError
from pliant.formats import DHRow, DHTable
from pliant.formats.dh import COLUMNS
from pliant.robot import Limits, Robot
from pliant.spatial import AxisRotation, MatrixRotation, Transform, Vector, rotation_from_rpy
from random_robots import close, seeds

# products of a few matrices of entries about one
ROUNDING = 1e-13
RIGHT = math.pi / 2


def screw(axis: int, angle: float, distance: float) -> np.ndarray:
    """A turn about a coordinate axis and a slide along it, from the definitions and without Pliant."""
    X = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    X[i, i] = X[j, j] = math.cos(angle)
    X[j, i], X[i, j] = math.sin(angle), -math.sin(angle)
    X[axis, 3] = distance
    return X


def product(rows: list[dict[str, Any]], q: np.ndarray, convention: str) -> list[np.ndarray]:
    """Poses of all frames, by the products of matrices that define the conventions."""
    poses, k = [np.eye(4)], 0
    for row in rows:
        theta, d = row["theta"], row["d"]
        if row["joint"] == "revolute":
            theta, k = theta + q[k], k + 1
        elif row["joint"] == "prismatic":
            d, k = d + q[k], k + 1
        x, z = screw(0, row["alpha"], row["a"]), screw(2, theta, d)
        poses.append(poses[-1] @ (x @ z if convention == "modified" else z @ x))
    return poses


def random_rows(seed: int, n: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        angles = [float(rng.choice([0, RIGHT, -RIGHT, math.pi, rng.uniform(-3, 3)])) for _ in range(2)]
        lengths = [float(rng.choice([0, rng.uniform(-1, 1)])) for _ in range(2)]
        cloud = rng.standard_normal((4, 3)) * 0.3
        rows.append(
            {
                "alpha": angles[0], "theta": angles[1], "a": lengths[0], "d": lengths[1],
                "joint": str(rng.choice(["revolute", "prismatic", "fixed"])), "mass": float(rng.uniform(0.5, 2)),
                "com": rng.uniform(-0.5, 0.5, 3).tolist(),
                "inertia": np.trace(cloud.T @ cloud) * np.eye(3) - cloud.T @ cloud,
            }
        )  # fmt: skip
    return rows


@settings(max_examples=60)
@given(seeds, st.integers(1, 7), st.sampled_from(list(COLUMNS)))
def test_frames_are_the_products_of_the_convention(seed: int, n: int, convention: str) -> None:
    rows = random_rows(seed, n)
    robot = pliant.from_dh(rows, convention)
    q = robot.random(seed)
    for i, expected in enumerate(product(rows, q, convention)):
        close(pliant.frame_pose.algorithm(robot, q.tolist(), f"frame{i}"), expected, ROUNDING)
    close(pliant.frame_pose.algorithm(robot, q.tolist(), "tool"), expected, ROUNDING)


@settings(max_examples=40)
@given(seeds, st.integers(1, 5), st.sampled_from(list(COLUMNS)))
def test_kinetic_energy_is_that_of_bodies_in_their_frames(seed: int, n: int, convention: str) -> None:
    """v^T M v / 2 = sum of m |p'|^2 / 2 + w^T I w / 2, with p and R from the products of matrices."""
    rows = random_rows(seed, n)
    robot = pliant.from_dh(rows, convention)
    q, v = robot.random(seed), np.random.default_rng(seed).standard_normal(robot.nv)
    h = 1e-6
    ahead, here, behind = (product(rows, q + s * h * v, convention) for s in (1, 0, -1))
    energy = 0.0
    for row, before, X, after in zip(rows, behind[1:], here[1:], ahead[1:], strict=True):
        rate = (after - before) / (2 * h)
        p = rate @ [*row["com"], 1]
        spin = rate[:3, :3].T @ X[:3, :3]  # minus the skew matrix of w in the frame
        w = np.array([spin[1, 2], spin[2, 0], spin[0, 1]])
        energy += row["mass"] * p @ p / 2 + w @ row["inertia"] @ w / 2
    # central differences of second order: h^2 and rounding over h
    found = pliant.dynamics.kinetic_energy.algorithm(robot, q.tolist(), v.tolist())
    assert found == pytest.approx(energy, rel=1e-8, abs=1e-8)


def test_scara_in_the_standard_convention() -> None:
    # Spong, Hutchinson, Vidyasagar (2006), Robot Modeling and Control, 3.2.3, example 3.6
    a1, a2, d4, q = 0.4, 0.3, 0.1, [0.3, -0.8, 0.25, 0.5]
    rows = [(0, 0, a1, 0), (0, 0, a2, math.pi), (0, 0, 0, 0, {"joint": "prismatic"}), (0, d4, 0, 0)]
    robot = pliant.from_dh(rows, "standard")
    angle = q[0] + q[1] - q[3]
    c, s = math.cos(angle), math.sin(angle)
    x = a1 * math.cos(q[0]) + a2 * math.cos(q[0] + q[1])
    y = a1 * math.sin(q[0]) + a2 * math.sin(q[0] + q[1])
    expected = [[c, s, 0, x], [s, -c, 0, y], [0, 0, -1, -q[2] - d4], [0, 0, 0, 1]]
    np.testing.assert_allclose(pliant.frame_pose(robot, q, "frame4"), expected, atol=1e-15)


def test_wrist_of_the_puma_in_the_modified_convention() -> None:
    # Craig (2005), Introduction to Robotics, 3.7: PUMA 560, px, py, pz of frame 6, equation (3.14)
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.1244, 0.4318
    rows = [(0, 0, 0, 0), (-RIGHT, 0, 0, 0), (0, a2, 0, d3), (-RIGHT, a3, 0, d4), (RIGHT, 0, 0, 0), (-RIGHT, 0, 0, 0)]
    robot = pliant.from_dh(rows)
    q = np.random.default_rng(1).uniform(-3, 3, 6)
    (c1, c2, _), (s1, s2, _) = np.cos(q[:3]), np.sin(q[:3])
    c23, s23 = math.cos(q[1] + q[2]), math.sin(q[1] + q[2])
    reach = a2 * c2 + a3 * c23 - d4 * s23
    expected = [c1 * reach - d3 * s1, s1 * reach + d3 * c1, -a3 * s23 - a2 * s2 - d4 * c23]
    np.testing.assert_allclose(pliant.frame_pose(robot, q, "frame6")[:3, 3], expected, atol=1e-15)


def test_two_link_arm_with_symbols() -> None:
    # uniform slender rods, the textbook's mass matrix [Craig 2005, 6.7, with m l^2/12 at the centre]
    m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g", positive=True)
    q1, q2 = sympy.symbols("q1 q2", real=True)
    I1, I2 = m1 * l1**2 / 12, m2 * l2**2 / 12
    rows = [
        DHRow(name="shoulder", mass=m1, com=(l1 / 2, 0, 0), inertia=(0, I1, I1)),
        DHRow(name="elbow", a=l1, mass=m2, com=(l2 / 2, 0, 0), inertia=(0, I2, I2)),
    ]
    arm = pliant.from_dh(rows, tool=((l2, 0, 0), (0, 0, 0)), gravity=(0, -g, 0))
    M = sympy.Matrix(pliant.mass_matrix(arm, [q1, q2]))
    c = sympy.cos(q2)
    M12 = m2 * (l2**2 / 3 + l1 * l2 * c / 2)
    M11 = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3 + l1 * l2 * c)
    assert sympy.simplify(M - sympy.Matrix([[M11, M12], [M12, m2 * l2**2 / 3]])) == sympy.zeros(2)
    weight = pliant.gravity_forces(arm, [q1, q2])
    lower = m2 * g * l2 * sympy.cos(q1 + q2) / 2
    assert sympy.simplify(weight[1] - lower) == 0
    assert sympy.simplify(weight[0] - lower - (m1 / 2 + m2) * g * l1 * sympy.cos(q1)) == 0
    tip = pliant.frame_pose(arm, [q1, q2], "tool")[:2, 3]
    assert sympy.simplify(tip[1] - l1 * sympy.sin(q1) - l2 * sympy.sin(q1 + q2)) == 0
    assert arm.coordinate_names == ("shoulder", "elbow")


# ---- exactness


@pytest.mark.parametrize("convention", list(COLUMNS))
@pytest.mark.parametrize("right", [RIGHT, np.float64(RIGHT), sympy.pi / 2], ids=["float", "numpy", "sympy"])
@pytest.mark.parametrize("length", [0.5, sympy.Symbol("l")], ids=["number", "symbol"])
def test_right_angles_are_exact(convention: str, right: Any, length: Any) -> None:
    rows = [
        {"alpha": right, "theta": -right, "d": length},
        {"alpha": 2 * right, "theta": right, "a": length},
        {"alpha": -right, "theta": 4 * right, "joint": "prismatic"},
    ]
    robot = pliant.from_dh(rows, convention, base=((0, 0, length), (right, 0, -right)), tool=((0, 0, 0), (0, right, 0)))
    poses = [j.placement for j in robot.joints.values()] + [f.placement for f in robot.frames.values()]
    for X in poses:
        assert all(type(e) is int and e in (-1, 0, 1) for e in X.R.matrix()), X
        assert all(type(e) is int or e in (length, -length) for e in X.p), X


def test_numbers_of_sympy_stay_exact_next_to_symbols() -> None:
    third, m = sympy.Rational(1, 3), sympy.Symbol("m")
    robot = pliant.from_dh([(sympy.pi / 3, third, 0, 0, {"mass": m})])
    X = robot.joints["joint1"].placement
    assert X.p.x == third
    assert X.R.matrix().entry(1, 2) == -sympy.sqrt(3) / 2
    # a symbol outside of the rows is one, too
    assert pliant.from_dh([(0, third, 0, 0)], gravity=(0, 0, -m)).joints["joint1"].placement.p.x == third


def test_numbers_of_sympy_without_symbols_are_floats_and_compile() -> None:
    rows = [(sympy.pi / 3, sympy.Rational(1, 3), 0, 0, {"mass": sympy.Integer(2), "com": (sympy.Rational(1, 2), 0, 0)})]
    robot = pliant.from_dh(sympy.Matrix([list(rows[0][:4])]))
    assert type(robot.joints["joint1"].placement.p.x) is float
    heavy = pliant.from_dh(rows)
    assert type(heavy.mass) is float
    assert pliant.mass_matrix(heavy, [0.3])[0, 0] == pytest.approx(2 / 4, rel=1e-15)


# ---- what a row says


def test_a_row_may_be_written_in_many_ways() -> None:
    ways = [
        (0.1, 0.2, 0.3, 0.4, {"mass": 1, "name": "hip"}),
        [0.1, 0.2, 0.3, 0.4, {"mass": 1, "name": "hip"}],
        {"alpha": 0.1, "a": 0.2, "theta": 0.3, "d": 0.4, "mass": 1, "name": "hip"},
        DHRow(alpha=0.1, a=0.2, theta=0.3, d=0.4, mass=1, name="hip"),
    ]
    assert len({pliant.from_dh([way]).digest for way in ways}) == 1
    others = (*ways[2:], (0.3, 0.4, 0.2, 0.1, {"mass": 1, "name": "hip"}))
    assert len({pliant.from_dh([way], "standard").digest for way in others}) == 1
    array = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]])
    assert pliant.from_dh(array).digest == pliant.from_dh(array.tolist()).digest


def test_an_offset_is_added_to_what_moves() -> None:
    for joint, what in (("revolute", "theta"), ("prismatic", "d")):
        plain = pliant.from_dh([{"joint": joint, what: 0.7, "alpha": 0.2}])
        split = pliant.from_dh([{"joint": joint, what: 0.5, "offset": 0.2, "alpha": 0.2}])
        close(pliant.frame_pose(plain, [0.1], "tool"), pliant.frame_pose(split, [0.1], "tool"), 1e-15)


@pytest.mark.parametrize("convention", list(COLUMNS))
def test_base_and_tool(convention: str) -> None:
    rows = random_rows(5, 4)
    position, rpy = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6)
    X = Transform(rotation_from_rpy(*rpy), Vector(*position))
    bare = pliant.from_dh(rows, convention)
    q = bare.random(3)
    expected = np.array(X.homogeneous()) @ pliant.frame_pose(bare, q, "tool") @ np.array(X.homogeneous())
    for pose in (X, (position, rpy)):
        robot = pliant.from_dh(rows, convention, base=pose, tool=pose)
        close(pliant.frame_pose(robot, q, "tool"), expected, ROUNDING)
        close(pliant.frame_pose(robot, q, "frame0"), X.homogeneous(), ROUNDING)
    turned = Transform(AxisRotation.by(0, 0.3), Vector(0, 0, 1))
    close(pliant.frame_pose(pliant.from_dh(rows, base=turned), q, "frame0"), turned.homogeneous(), ROUNDING)


def test_inertia_as_diagonal_entries_or_rows() -> None:
    def tensor(inertia: Any) -> tuple:
        return tuple(pliant.from_dh([{"mass": 1, "inertia": inertia}]).bodies[0].inertia.J)

    assert tensor((3, 4, 5)) == tensor((3, 0, 0, 4, 0, 5)) == tensor(np.diag([3, 4, 5])) == (3, 0, 0, 4, 0, 5)
    full = [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]]
    assert tensor(full) == tensor(sympy.Matrix(full)) == (3, 0.1, 0.2, 4, 0.3, 5)


def test_names_limits_motors_and_the_rest() -> None:
    rows = [
        (0, 0, 0, 0.3, {"name": "pan", "body": "mast", "limits": (-1, 1), "motor": {"gear": 50, "effort_limit": 9}}),
        (RIGHT, 0, 0, 0, {"joint": "prismatic", "limits": Limits(0, 0.2, velocity=3), "motor": True, "armature": 0.1}),
        (0, 0, 0, 0, {"joint": "continuous", "damping": 0.2, "friction": 0.3}),
        (0, 0, 0, 0.1, {"joint": "fixed"}),
    ]
    robot = pliant.from_dh(rows, name="turret", gravity=(1, 2, 3))
    assert (robot.name, tuple(robot.gravity)) == ("turret", (1, 2, 3))
    assert list(robot.joints) == ["pan", "joint2", "joint3", "joint4"]
    assert list(robot.bodies) == ["mast", "link2", "link3", "link4"]
    assert list(robot.motors) == ["pan", "joint2"]
    assert (robot.motors["pan"].gear, robot.motors["pan"].effort_limit) == (50, 9)
    assert (robot.joints["pan"].limits.lower, robot.joints["joint2"].limits.velocity) == ((-1,), (3,))
    assert robot.joints["joint2"].armature == (0.1,)
    assert (robot.joints["joint3"].damping, robot.joints["joint3"].friction) == ((0.2,), (0.3,))
    assert [j.kind.name for j in robot.joints.values()] == ["revolute", "prismatic", "continuous", "fixed"]
    assert list(robot.frames)[4:] == ["frame0", "frame1", "frame2", "frame3", "frame4", "tool"]


def test_modified_bodies_are_at_their_frames() -> None:
    rows = random_rows(8, 4)
    robot = pliant.from_dh(rows)
    for i, row in enumerate(rows, 1):
        body = robot.bodies[f"link{i}"].inertia
        np.testing.assert_allclose(tuple(body.com()), row["com"], atol=1e-15)
        assert robot.frame(f"frame{i}").body == f"link{i}"


def test_a_rounded_right_angle_is_remarked_on() -> None:
    robot = pliant.from_dh([(1.5708, 0, 0, 0, {"mass": 1, "com": (1, 0, 0)}), (RIGHT, 0, math.pi, 0, {"mass": 1})])
    assert [f.subject for f in robot.report if "off a multiple" in f.message] == ["row 1"]


def test_a_frame_gives_way_to_a_body_of_its_name() -> None:
    robot = pliant.from_dh([{"body": "tool", "mass": 1, "d": 0.2}])
    assert robot.frame("tool").body == "tool"
    assert any(f.kind == "dropped" and "tool" in f.subject for f in robot.report)


def test_a_table_of_rows_prints_as_papers_do() -> None:
    l2 = sympy.Symbol("l2")
    rows = (
        DHRow(alpha=-RIGHT, theta=RIGHT, name="th2"),
        DHRow(alpha=0.25, d=l2, joint="prismatic", name="d7"),
        DHRow(a=-1, theta=math.pi, joint="fixed"),
    )
    assert str(DHTable(rows)).splitlines() == [
        "row  joint      alpha  a   theta       d",
        "1    revolute   -pi/2  0   pi/2 + th2  0",
        "2    prismatic  0.25   0   0           l2 + d7",
        "3    fixed      0      -1  pi          0",
    ]


def test_a_table_knows_its_convention() -> None:
    rows = (DHRow(a=1, mass=1), DHRow(a=2, mass=1))
    table = DHTable(rows, "standard", "arm", gravity=(0, 0, 0))
    robot = pliant.from_dh(table)
    assert (robot.name, tuple(robot.gravity)) == ("arm", (0, 0, 0))
    assert robot.digest == pliant.from_dh(rows, "standard", gravity=(0, 0, 0)).digest
    moved = pliant.from_dh(table, name="other", tool=Transform(MatrixRotation.identity(), Vector(0, 0, 1)))
    assert isinstance(moved, Robot) and moved.name == "other"
    with pytest.raises(RobotError, match="standard convention, not modified"):
        pliant.from_dh(table, "modified")


# ---- tables that cannot be: every error names the row and the cure

GOOD = (0, 0.5, 0, 0)
l, m = sympy.symbols("l m")

CASES: dict[str, tuple[Any, str]] = {
    "three numbers": ([GOOD, (0, 1, 2)], r"row 2 has 3 numbers; give alpha, a, theta, d \(modified convention\)"),
    "no numbers": ([()], "row 1 has 0 numbers"),
    "five numbers": ([(0, 1, 2, 3, 4)], "row 1 has 5 numbers"),
    "no row": ([GOOD, 3], "row 2 is 3; give alpha, a, theta, d as a tuple, or a DHRow"),
    "text for a row": ([GOOD, "0 0 0 0"], "row 2 is '0 0 0 0'; give"),
    "numbers not in rows": ([0, 0, 1, 0], "row 1 is 0; give"),
    "text": ("0 0 0 0", "takes a sequence of rows, not str"),
    "a row alone": ({"alpha": 0}, r"takes a sequence of rows, not dict; for one row, give \[row\]"),
    "nothing": ([], "the table has no rows; give one for each joint"),
    "a number": (3.0, "takes a sequence of rows, not float"),
    "unknown attribute": ([GOOD, {"aplha": 1}], "no attribute named 'aplha' in row 2; did you mean 'alpha'"),
    "twice": ([(0, 0, 0, 0, {"theta": 1})], "row 1 has theta twice"),
    "unknown joint": ([GOOD, (*GOOD, {"joint": "prismatik"})], "no kind of joint named 'prismatik' in row 2; .*pris"),
    "spherical joint": ([(*GOOD, {"joint": "spherical"})], "no kind of joint named 'spherical' in row 1"),
    "nan": ([GOOD, GOOD, (0, math.nan, 0, 0)], "a of row 3 is nan; it takes a finite number"),
    "infinite": ([(0, 0, 0, math.inf)], "d of row 1 is inf"),
    "nan of sympy": ([(sympy.nan, 0, 0, 0)], "alpha of row 1 is nan; it takes a finite number"),
    "infinity of sympy": ([(0, sympy.oo, 0, 0)], "a of row 1 is oo"),
    "pole of sympy": ([(0, 0, sympy.zoo, 0)], "theta of row 1 is zoo"),
    "nan in com": ([(*GOOD, {"com": (0, math.nan, 0)})], "com of row 1 is nan"),
    "nan in inertia": ([(*GOOD, {"mass": 1, "inertia": (1, 1, math.nan)})], "inertia of row 1 is nan"),
    "angle as text": ([("pi/2", 0, 0, 0)], "alpha of row 1 is 'pi/2'; it takes a number or a symbol, as math.pi"),
    "none": ([(None, 0, 0, 0)], "alpha of row 1 is None; it takes a number or a symbol"),
    "short com": ([(*GOOD, {"com": (0, 1)})], r"com of row 1 is \(0, 1\); it takes 3 numbers"),
    "scalar inertia": ([(*GOOD, {"inertia": 1})], "inertia of row 1 is 1; it takes 3 or 6 numbers"),
    "four of inertia": ([(*GOOD, {"inertia": (1, 2, 3, 4)})], "it takes 3 or 6 numbers"),
    "ragged inertia": ([(*GOOD, {"inertia": [[1, 0], [0, 1], [0, 0]]})], "a row of inertia of row 1"),
    "crooked inertia": ([(*GOOD, {"inertia": [[1, 0, 0], [1, 1, 0], [0, 0, 1]]})], "inertia is not symmetric, 0 aga"),
    "impossible inertia": ([(*GOOD, {"mass": 1, "inertia": (1, 1, 9)})], "body 'link1': .* triangle inequality"),
    "negative mass": ([GOOD, (*GOOD, {"mass": -1})], "row 2: mass of body 'link2' is -1; it takes 0 or more"),
    "crossed limits": ([(*GOOD, {"limits": (1, -1)})], "joint 'joint1': the lower limit 1 is above"),
    "negative damping": ([GOOD, (*GOOD, {"damping": -1})], "row 2: damping of joint 'joint2' is -1"),
    "motor's words": ([(*GOOD, {"motor": {"gere": 3}})], "row 1: no attribute named 'gere' in motor 'joint1'"),
    "limits of a fixed row": ([(*GOOD, {"joint": "fixed", "limits": (0, 1)})], "row 1 is fixed, .* no limits"),
    "motor of a fixed row": ([(*GOOD, {"joint": "fixed", "motor": True})], "row 1 is fixed, .* no motor"),
    "offset of a fixed row": ([(*GOOD, {"joint": "fixed", "offset": 1})], "row 1 is fixed, .* no offset"),
    "two names": ([(*GOOD, {"name": "hip"}), GOOD, (*GOOD, {"name": "hip"})], "rows 1 and 3 have the name 'hip'"),
    "two bodies": ([(*GOOD, {"body": "arm"}), (*GOOD, {"body": "arm"})], "rows 1 and 2 have the body 'arm'"),
    "body world": ([(*GOOD, {"body": "world"})], "row 1: body 'world' is always there"),
    "coordinate in theta": (
        [GOOD, (0, 0, sympy.pi / 2 + sympy.Symbol("th2"), 0, {"name": "th2"})],
        r"theta of row 2 is th2 \+ pi/2, but th2 is the coordinate of row 2; give the constant part only",
    ),
    "coordinate as a": ([(*GOOD, {"name": "l"}), (0, l, 0, 0)], "a of row 2 is l, but l is the coordinate of row 1"),
    "coordinate in a mass": ([(*GOOD, {"name": "m", "mass": 2 * m})], r"mass of row 1 is 2\*m, but m is the coord"),
    "limits that are none": ([{"limits": 5}], r"row 1: limits of joint 'joint1' is 5; it takes a pair"),
    "three limits": ([{"limits": (1, 2, 3)}], r"row 1: limits of joint 'joint1' is \(1, 2, 3\); it takes a pair"),
    "motor that is none": ([GOOD, {"motor": 5}], "motor of row 2 is 5; it takes True, or a dict as in {'gear': 9}"),
    "motor without words": ([{"motor": {5: 1}}], "motor of row 1 is {5: 1}; it takes True"),
    "gear of zero": ([{"motor": {"gear": 0}}], "gear of motor 'joint1' is 0"),
    "complex damping": ([{"damping": 1j}], "row 1: damping of joint 'joint1' is 1j; it takes a number"),
    "name that is none": ([GOOD, {"name": 5}], "name of row 2 is 5; it takes a name, a non-empty string"),
    "names": ([{"name": ["a"]}], r"name of row 1 is \['a'\]; it takes a name"),
    "body that is none": ([{"body": 5}], "body of row 1 is 5; it takes a name"),
    "one symbol for two things": (
        [(0, l, 0, 0), (0, 0, 0, 0, {"mass": l})],
        r"symbol l is a length in row 1 \(a\) and a mass in row 2 \(mass\); use two symbols",
    ),
    "an angle and a length": ([(l, l, 0, 0)], r"symbol l is an angle in row 1 \(alpha\) and a length"),
    "two symbols of one name": (
        [(0, l, 0, 0), (0, sympy.Symbol("l", positive=True), 0, 0)],
        "rows 1 and 2 have two symbols named l, with different assumptions; make it once",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_told(case: str) -> None:
    rows, message = CASES[case]
    with pytest.raises(RobotError, match=message):
        pliant.from_dh(rows)


@pytest.mark.parametrize(("options", "message"), [
    ({"gravity": 5}, "gravity of from_dh is 5; it takes three numbers"),
    ({"gravity": (0, 0)}, "gravity of from_dh has 2 entries"),
    ({"gravity": (0, 0, math.nan)}, "gravity of from_dh is nan; it takes a finite number"),
    *(({"name": name}, r"name of from_dh is .*; it takes a name") for name in (5, ["arm"], "")),
    ({"convention": "Modified"}, "no convention named 'Modified' in from_dh; did you mean 'modified'"),
    ({"rows": [(0, 1)], "convention": "standard"}, r"give theta, d, a, alpha \(standard convention\)"),
    *(({which: pose}, f"{which} of from_dh.*{message}") for which in ("base", "tool") for pose, message in [
        (3, "is 3; it takes a Transform or"),
        ((0, 0, 1), "it takes a Transform or"),
        (((0, 0), (0, 0, 0)), "has 2 entries; it takes three"),
        (((0, 0, math.nan), (0, 0, 0)), "is nan"),
        (Transform(MatrixRotation.identity(), Vector(0, math.inf, 0)), "is inf"),
        (np.eye(4), "it takes a Transform or"),
    ]),
])  # fmt: skip
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=f"(?s){message}"):
        pliant.from_dh(**{"rows": [GOOD], **options})


def test_powers_of_a_symbol_are_no_second_meaning() -> None:
    """A length in an inertia is right; only a bare symbol can be told to be one thing."""
    robot = pliant.from_dh([(0, l, 0, 0, {"mass": m, "com": (l / 2, 0, 0), "inertia": (0, m * l**2, m * l**2)})])
    assert robot.mass == m


def test_impossible_inertias_can_be_kept_or_mended() -> None:
    rows = [(*GOOD, {"mass": 1, "inertia": (1, 1, 9)})]
    kept = pliant.from_dh(rows, strict=False)
    assert kept.bodies[0].inertia.J.zz == 9
    assert [f.kind for f in kept.report] == ["odd"]
    assert [f.kind for f in pliant.from_dh(rows, repair=True).report] == ["repaired"]
