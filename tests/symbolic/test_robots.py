"""Robots whose numbers are symbols, and their coordinates."""

import sys

import numpy as np
import pytest
import sympy

import pliant
import symbolic_robots as small
from pliant.robot import Robot, RobotBuilder
from pliant.spatial import rotation_from_rpy
from pliant.spatial.vectors import quaternion_from_matrix
from pliant.symbolic.coordinates import coordinates_of, identifier, robot_symbols
from pliant.symbolic.robots import WHAT, with_single_joints
from random_robots import state_of


def numbers_back(robot: pliant.Robot, values: dict, q: np.ndarray) -> np.ndarray:
    symbols = sympy.symbols([f"q{k}" for k in range(robot.nq)], real=True)
    M = sympy.Matrix(pliant.mass_matrix(robot, symbols))
    return small.numbers(M.subs(values), dict(zip(symbols, q, strict=True))).reshape(robot.nv, robot.nv)


@pytest.mark.parametrize("name", ["pendulum", "cart_pole", "two_link_arm"])
@pytest.mark.parametrize("what", [(), ("masses",), ("inertias", "lengths"), ("centers", "gravity")])
def test_numbers_can_be_put_back(name: str, what: tuple[str, ...]) -> None:
    robot = pliant.load(name)
    symbolic, values = pliant.symbolic.symbolic_robot(robot, *what)
    q = state_of(robot, 1).q
    # centres and tensors go through one division and one subtraction
    np.testing.assert_allclose(numbers_back(symbolic, values, q), pliant.mass_matrix(robot, q), rtol=0, atol=1e-14)


def test_names() -> None:
    symbolic, values = pliant.symbolic.symbolic_robot(pliant.load("two_link_arm"))
    assert {s.name: x for s, x in values.items()} == {
        "m_upper_arm": 2.4, "c_upper_arm": 0.25, "I_upper_arm_xx": 0.05, "I_upper_arm_yy": 0.05,
        "m_forearm": 2.4, "c_forearm": 0.25, "I_forearm_xx": 0.05, "I_forearm_yy": 0.05,
        "l_elbow": 0.5, "l_wrist": 0.5, "g": 9.81,
    }  # fmt: skip
    assert symbolic.joints["elbow"].placement.p.x == 0
    assert symbolic.bodies["forearm"].inertia.J.zz == 0
    # lengths are positive, and signs stay
    symbolic, values = pliant.symbolic.symbolic_robot(pliant.load("pendulum"))
    (c,) = [s for s in values if s.name == "c_rod"]
    assert c.is_positive
    assert values[c] == 0.75
    assert symbolic.bodies["rod"].inertia.com().z == -c
    (g,) = [s for s in values if s.name == "g"]
    assert symbolic.gravity.z == -g


def test_springs_dampers_friction_and_rotors() -> None:
    builder = pliant.RobotBuilder("leg").body("shin-bone", mass=2, com=(0.1, 0.2, -0.3), inertia=(1, 0.1, 0, 1, 0, 1))
    builder.joint(
        "knee", "revolute", "world", "shin-bone", axis=(0, 1, 0), damping=0.1, friction=0.2, armature=0.3,
        stiffness=50, hardening=7, rest=-0.4,
    )  # fmt: skip
    builder.motor("knee", gear=9, rotor_inertia=1e-4, viscous_friction=0.01, dry_friction=0.02)
    symbolic, values = pliant.symbolic.symbolic_robot(builder.build())
    found = {s.name: x for s, x in values.items()}
    expected = {
        "m_shin_bone": 2, "c_shin_bone_x": 0.1, "c_shin_bone_y": 0.2, "c_shin_bone_z": 0.3,
        "I_shin_bone_xx": 1, "I_shin_bone_xy": 0.1, "I_shin_bone_yy": 1, "I_shin_bone_zz": 1,
        "J_knee": 0.3, "J_knee_": 81e-4, "d_knee": 0.1, "d_knee_": 0.01, "f_knee": 0.2, "f_knee_": 0.02,
        "k_knee": 50, "h_knee": 7, "r_knee": -0.4, "g": 9.81,
    }  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-12)
    assert symbolic.mechanism.armature[0].free_symbols == {s for s in values if s.name.startswith("J_")}


def test_frames_and_springs_between_them() -> None:
    robot = pliant.load("pendulum").with_frame("tip", "rod", (0, 0, -1.5))
    robot = robot.with_spring("tip", "world", stiffness=20, damping=2, length=0.3, name="rope")
    _, values = pliant.symbolic.symbolic_robot(robot, "lengths", "stiffness", "damping")
    assert {s.name: x for s, x in values.items()} == {"l_tip": 1.5, "k_rope": 20, "d_rope": 2, "l_rope": 0.3}


def test_other_names_and_formulas() -> None:
    m, l = sympy.symbols("m l", positive=True)
    names = {"m_rod": "m", "c_rod": l / 2, "I_rod_yy": m * l**2 / 12, "I_rod_xx": m * l**2 / 12}
    symbolic, values = pliant.symbolic.symbolic_robot(
        pliant.load("pendulum"), "masses", "centers", "inertias", names=names
    )
    q = sympy.Symbol("q", real=True)
    assert sympy.expand(pliant.mass_matrix(symbolic, [q])[0, 0] - m * l**2 / 3) == 0
    assert values == {m: 1}


def test_symbols_of_the_robot_stay() -> None:
    m = sympy.Symbol("m_rod", positive=True)
    builder = pliant.RobotBuilder("one").body("rod", mass=m, com=(0, 0, 1)).body("tip", mass=2)
    builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).joint("end", "fixed", "rod", "tip", (0, 0, 1))
    symbolic, values = pliant.symbolic.symbolic_robot(builder.build(), "masses")
    assert symbolic.bodies["rod"].inertia.mass == m
    assert [s.name for s in values] == ["m_tip"]


@pytest.mark.parametrize("what, names, message", [
    (("mass",), {}, r"no symbol named 'mass'.*'masses'"),
    ((), {"m_arm": "m"}, r"no symbol named 'm_arm'.*robot 'two_link_arm'"),
    ((), {"m_upper_arm": "a", "c_forearm": "a"}, r"'a' would stand for two numbers of 'two_link_arm', 2.4 and 0.25"),
])  # fmt: skip
def test_bad_input(what: tuple[str, ...], names: dict, message: str) -> None:
    with pytest.raises(pliant.PliantError, match=message):
        pliant.symbolic.symbolic_robot(pliant.load("two_link_arm"), *what, names=names or None)
    assert "masses" in WHAT


# ---- symbols of motion, and names that clash


def names(symbols: tuple) -> list[str]:
    return [s.name for s in symbols]


@pytest.mark.parametrize("robot, chosen, q, v, vd", [
    (small.two_link_arm(), (), "q1 q2", "v1 v2", "vd1 vd2"),
    (small.two_link_arm(), ("joints",), "q_shoulder q_elbow", "v_shoulder v_elbow", "vd_shoulder vd_elbow"),
    (small.two_link_arm(), ({"elbow": "theta"},), "q1 theta", "v1 v_theta", "vd1 vd_theta"),
    (small.pendulum(), (), "q", "v", "vd"),  # no number if there is one
])  # fmt: skip
def test_names_of_coordinates(robot: Robot, chosen: tuple, q: str, v: str, vd: str) -> None:
    made = coordinates_of(robot, *chosen)
    assert [names(part) for part in (made.q, made.v, made.vd)] == [q.split(), v.split(), vd.split()]
    assert names(made.u) == (["u"] if robot.nu == 1 else ["u_shoulder", "u_elbow"])
    assert made.meaning[made.q[-1]] == list(robot.joints)[-1]


def test_joints_with_several_coordinates_and_names_of_the_robot() -> None:
    made = coordinates_of(small.ball(), {"socket": "s"})
    assert names(made.q) == ["s_qx", "s_qy", "s_qz", "s_qw"]
    assert names(made.v) == ["v_s_wx", "v_s_wy", "v_s_wz"]
    assert made.rates == {}
    assert [identifier(n) for n in ("left-knee.1", "a b", "--")] == ["left_knee_1", "a_b", "_"]
    assert robot_symbols(small.series_elastic_joint(small.I_f)) == {small.I, small.J, small.k, small.nu, small.I_f}


@pytest.mark.parametrize("wrong, message", [
    ({"knee": "x"}, "no joint with coordinates named 'knee'"),
    ({"elbow": "x 1"}, "cannot be named 'x 1'"),
    ("bodies", "names is 'bodies'"),
    ({"elbow": "x", "shoulder": "x"}, "'x' would stand for two things in the equations of 'two_link_arm'"),
])  # fmt: skip
def test_bad_names(wrong: dict | str, message: str) -> None:
    with pytest.raises(pliant.PliantError, match=message):
        coordinates_of(small.two_link_arm(), wrong)


def test_sympy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = small.pendulum()
    monkeypatch.setitem(sys.modules, "sympy", None)
    for function in (pliant.equations, pliant.symbolic.symbolic_robot):
        with pytest.raises(pliant.PliantError, match=r"pip install 'pliant\[symbolic\]'"):
            function(robot)


def test_names_that_clash() -> None:
    with pytest.raises(pliant.PliantError, match="'m' is a parameter of 'pendulum' and also the name of a coordinate"):
        pliant.equations(small.pendulum(), names={"hinge": "m"})
    builder = pliant.RobotBuilder("p").body("rod", mass=sympy.Symbol("q", real=True))
    with pytest.raises(pliant.PliantError, match="'q' is a parameter of 'p'"):
        pliant.equations(builder.joint("hinge", "revolute", "world", "rod").build())
    # two symbols of one name
    one, two = sympy.Symbol("m", positive=True), sympy.Symbol("m")
    builder = pliant.RobotBuilder("p").body("rod", mass=one, com=(0, 0, two))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    with pytest.raises(pliant.PliantError, match="two different symbols of 'p' are named 'm'"):
        pliant.equations(robot)


# ---- joints with quaternions as chains of single joints: the same motion in other coordinates


def brick() -> Robot:
    builder = RobotBuilder("brick").body("brick", mass=2, com=(0.1, 0, 0.2), inertia=(0.2, 0.01, 0, 0.3, 0, 0.25))
    builder.body("arm", mass=1, com=(0, 0, 0.3), inertia=(0.05, 0, 0, 0.05, 0, 0.01))
    return builder.joint("hinge", "revolute", "brick", "arm", (0.2, 0, 0), axis=(1, 0, 0)).build(base="free")


def disc() -> Robot:
    builder = RobotBuilder("disc").body("disc", mass=2, com=(0.1, 0.3, 0.2), inertia=(0.2, 0.01, 0, 0.3, 0, 0.25))
    return builder.joint("plane", "planar", "world", "disc", axis=(0, 1, 0)).build()


def quaternion_of(roll: float, pitch: float, yaw: float) -> list[float]:
    return list(quaternion_from_matrix(rotation_from_rpy(roll, pitch, yaw).matrix()))


def own_coordinates(robot: Robot, x: np.ndarray) -> np.ndarray:
    """q of the robot from the coordinates of the chain."""
    if robot.name == "brick":
        return np.array([*x[:3], *quaternion_of(*x[3:6][::-1]), *x[6:]])
    if robot.name == "ball":
        return np.array(quaternion_of(*x[::-1]))
    return np.array([x[0], x[1], np.cos(x[2]), np.sin(x[2])])


@pytest.mark.parametrize("robot", [brick(), small.ball(), disc()], ids=lambda r: r.name)
def test_the_same_motion(robot: Robot) -> None:
    chain = with_single_joints(robot, "euler")
    assert chain.nq == chain.nv == robot.nv
    rng = np.random.default_rng(5)
    x, rate = rng.uniform(-1, 1, chain.nv), rng.uniform(-1, 1, chain.nv)
    q = own_coordinates(robot, x)
    body = list(robot.bodies)[-1]
    np.testing.assert_allclose(pliant.frame_pose(chain, x, body), pliant.frame_pose(robot, q, body), rtol=0, atol=1e-14)
    # v = E xdot, column by column from the same small motion of both
    h = 1e-6
    E = np.stack([robot.difference(own_coordinates(robot, x - h * e), own_coordinates(robot, x + h * e)) / (2 * h)
                  for e in np.eye(chain.nv)], axis=1)  # fmt: skip
    # central differences: h^2 of truncation, 1e-16 / h of rounding
    close = {"rtol": 0, "atol": 1e-8}
    np.testing.assert_allclose(pliant.mass_matrix(chain, x), E.T @ pliant.mass_matrix(robot, q) @ E, **close)
    np.testing.assert_allclose(pliant.gravity_forces(chain, x), E.T @ pliant.gravity_forces(robot, q), **close)
    energies = pliant.dynamics.kinetic_energy(chain, x, rate), pliant.dynamics.kinetic_energy(robot, q, E @ rate)
    assert energies[0] == pytest.approx(energies[1], abs=1e-8)


@pytest.mark.parametrize("method", ["newton-euler", "projected", "lagrange"])
def test_equations_in_roll_pitch_and_yaw(method: str) -> None:
    robot = brick()
    eq = pliant.equations(robot, method, rotations="euler")
    assert list(eq.coordinates.meaning.values())[:7] == [
        "root_joint_x", "root_joint_y", "root_joint_z", "root_joint_yaw", "root_joint_pitch", "root_joint_roll",
        "hinge",
    ]  # fmt: skip
    rng = np.random.default_rng(6)
    x, v = rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 7)
    found = small.numbers(eq.b + eq.g, dict(zip([*eq.q, *eq.v], [*x, *v], strict=True)))
    # formulas of some hundred terms
    np.testing.assert_allclose(found, pliant.bias_forces(eq.robot, x, v), rtol=0, atol=1e-11)


def test_frames_and_motors_stay_and_what_cannot_be_done_is_told() -> None:
    chain = with_single_joints(brick().with_frame("tip", "arm", (0, 0, 1)).with_motor("hinge"), "euler")
    assert list(chain.motors) == ["hinge"]
    assert chain.frame("tip").body == "arm"
    oblique = RobotBuilder("disc").body("d", mass=1).joint("plane", "planar", "world", "d", axis=(1, 1, 0)).build()
    with pytest.raises(pliant.PliantError, match="planar joint 'plane' of 'disc' has an oblique normal"):
        with_single_joints(oblique, "euler")
    damped = small.ball().with_joint("socket", damping=0.1)
    with pytest.raises(pliant.PliantError, match="joint 'socket' of 'ball' has damping"):
        with_single_joints(damped, "euler")
