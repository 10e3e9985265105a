"""Symbols of motion, and names that clash."""

import sys

import pytest
import sympy

import pliant
import symbolic_robots as small
from pliant.symbolic.coordinates import coordinates_of, identifier, robot_symbols


def names(symbols: tuple) -> list[str]:
    return [s.name for s in symbols]


def test_numbers_by_default() -> None:
    made = coordinates_of(small.two_link_arm())
    assert (names(made.q), names(made.v), names(made.vd)) == (["q1", "q2"], ["v1", "v2"], ["vd1", "vd2"])
    assert names(made.u) == ["u_shoulder", "u_elbow"]
    assert made.meaning[made.q[1]] == "elbow"


def test_no_number_if_there_is_one() -> None:
    made = coordinates_of(small.pendulum())
    assert [names(part) for part in (made.q, made.v, made.vd, made.u)] == [["q"], ["v"], ["vd"], ["u"]]


def test_names_of_joints() -> None:
    made = coordinates_of(small.two_link_arm(), "joints")
    assert (names(made.q), names(made.v), names(made.vd)) == (
        ["q_shoulder", "q_elbow"], ["v_shoulder", "v_elbow"], ["vd_shoulder", "vd_elbow"],
    )  # fmt: skip


def test_chosen_names() -> None:
    made = coordinates_of(small.two_link_arm(), {"elbow": "theta"})
    assert (names(made.q), names(made.v), names(made.vd)) == (["q1", "theta"], ["v1", "v_theta"], ["vd1", "vd_theta"])


def test_joints_with_several_coordinates() -> None:
    made = coordinates_of(small.ball(), {"socket": "s"})
    assert names(made.q) == ["s_qx", "s_qy", "s_qz", "s_qw"]
    assert names(made.v) == ["v_s_wx", "v_s_wy", "v_s_wz"]
    assert made.rates == {}


def test_identifiers() -> None:
    assert [identifier(n) for n in ("left-knee.1", "a b", "--")] == ["left_knee_1", "a_b", "_"]


def test_symbols_of_a_robot() -> None:
    assert robot_symbols(small.series_elastic_joint(small.I_f)) == {small.I, small.J, small.k, small.nu, small.I_f}


def test_bad_names() -> None:
    robot = small.two_link_arm()
    with pytest.raises(pliant.PliantError, match="no joint with coordinates named 'knee'"):
        coordinates_of(robot, {"knee": "x"})
    with pytest.raises(pliant.PliantError, match="cannot be named 'x 1'"):
        coordinates_of(robot, {"elbow": "x 1"})
    with pytest.raises(pliant.PliantError, match="names is 'bodies'"):
        coordinates_of(robot, "bodies")
    with pytest.raises(pliant.PliantError, match="'x' would stand for two things in the equations of 'two_link_arm'"):
        coordinates_of(robot, {"elbow": "x", "shoulder": "x"})


def test_sympy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = small.pendulum()
    monkeypatch.setitem(sys.modules, "sympy", None)
    for function in (pliant.equations, pliant.symbolic.symbolic_robot):
        with pytest.raises(pliant.PliantError, match=r"pip install 'pliant\[symbolic\]'"):
            function(robot)


def test_a_parameter_that_is_a_coordinate() -> None:
    with pytest.raises(pliant.PliantError, match="'m' is a parameter of 'pendulum' and also the name of a coordinate"):
        pliant.equations(small.pendulum(), names={"hinge": "m"})
    builder = pliant.RobotBuilder("p").body("rod", mass=sympy.Symbol("q", real=True))
    with pytest.raises(pliant.PliantError, match="'q' is a parameter of 'p'"):
        pliant.equations(builder.joint("hinge", "revolute", "world", "rod").build())


def test_two_symbols_of_one_name() -> None:
    one, two = sympy.Symbol("m", positive=True), sympy.Symbol("m")
    builder = pliant.RobotBuilder("p").body("rod", mass=one, com=(0, 0, two))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    with pytest.raises(pliant.PliantError, match="two different symbols of 'p' are named 'm'"):
        pliant.equations(robot)
