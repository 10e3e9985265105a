"""Robots whose numbers are symbols."""

import numpy as np
import pytest
import sympy

import pliant
from pliant.symbolic.robots import WHAT
from random_robots import state_of


def numbers_back(robot: pliant.Robot, values: dict, q: np.ndarray) -> np.ndarray:
    symbols = sympy.symbols([f"q{k}" for k in range(robot.nq)], real=True)
    M = sympy.Matrix(pliant.mass_matrix(robot, symbols))
    return np.array(M.subs(values).subs(dict(zip(symbols, q, strict=True))).evalf().tolist(), dtype=float)


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


def test_lengths_are_positive_and_signs_stay() -> None:
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


def test_bad_input() -> None:
    robot = pliant.load("two_link_arm")
    with pytest.raises(pliant.PliantError, match=r"no symbol named 'mass'.*'masses'"):
        pliant.symbolic.symbolic_robot(robot, "mass")
    with pytest.raises(pliant.PliantError, match=r"no symbol named 'm_arm'.*robot 'two_link_arm'"):
        pliant.symbolic.symbolic_robot(robot, names={"m_arm": "m"})
    with pytest.raises(pliant.PliantError, match=r"'a' would stand for two numbers of 'two_link_arm', 2.4 and 0.25"):
        pliant.symbolic.symbolic_robot(robot, names={"m_upper_arm": "a", "c_forearm": "a"})
    assert "masses" in WHAT
