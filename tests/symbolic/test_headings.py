"""No name on a page stands for two things."""

import re

import pytest
import sympy

import pliant
import symbolic_robots as small


def left_sides(text: str) -> list[str]:
    return [side for line in text.splitlines() if " = " in line for side in line.split(" = ")[:-1]]


def test_gravity_of_one_joint() -> None:
    eq = pliant.equations(pliant.load("pendulum"), parameters="all")
    assert "g(q) = m_rod g c_rod sin(q)" in str(eq).splitlines()
    assert r"g(q) & = m_{\mathrm{rod}} g c_{\mathrm{rod}} \sin(q)" in eq.latex()
    assert r"g(q) & = " in eq.markdown()


@pytest.mark.parametrize("name", ["M", "b", "g", "Q", "C"])
def test_a_parameter_with_the_name_of_a_term(name: str) -> None:
    eq = pliant.equations(pliant.load("pendulum"), parameters={"m_rod": name})
    for lines in (str(eq).splitlines(), eq.latex().replace(" & ", " ").replace(" \\\\", "").splitlines()):
        named = [line for line in lines if re.match(rf"{name} = ", line)]
        # the value of the parameter, in text
        assert named in ([], [f"{name} = 1"])
    if name != "C":
        assert f"{name}(q" in str(eq)
        assert f"{name}(q" in eq.latex()


def test_title() -> None:
    def title(*arguments, **options) -> str:
        return str(pliant.equations(*arguments, **options)).splitlines()[0]

    assert title(small.cart_pole()) == "cart_pole: M(q) q'' + b(q, q') + g(q) = Q"
    assert title(small.two_link_arm()) == "two_link_arm: M q'' + b(q, q') + g(q) = Q"
    assert title(small.pendulum(), names={"hinge": "x"}) == "pendulum: M x'' + b(x, x') + g(x) = Q"
    assert title(small.ball()) == "ball: M(q) v' + b(q, v) + g(q) = Q"
    arm = pliant.load("two_link_arm")
    assert title(arm, parameters={"m_forearm": "q"}) == "two_link_arm: equations of motion"
    assert title(arm, parameters={"m_forearm": "Q"}) == (
        "two_link_arm: M q'' + b(q, q') + g(q) = Q(q, q', u_shoulder, u_elbow)"
    )


def test_entries_with_the_name_of_a_parameter() -> None:
    eq = pliant.equations(pliant.load("two_link_arm"), parameters={"m_forearm": "M11", "l_elbow": "g2"})
    text = str(eq)
    for entry in ("M11(q) = ", "M22(q) = ", "g1(q) = ", "g2(q) = ", "b1 = "):
        assert entry in text
    assert "M_{11}(q)" in eq.latex()


def test_vectors_that_would_be_misread_are_listed() -> None:
    text = str(pliant.equations(pliant.load("two_link_arm"), parameters={"m_forearm": "q", "l_elbow": "M11"}))
    assert "M11(q1, q2) = " in text


def test_a_term_that_is_zero() -> None:
    eq = pliant.equations(small.series_elastic_joint(), names={"knee_flexibility": "b", "knee": "x"})
    assert "b(q, q') = g = 0" in str(eq)
    assert r"b(q, \dot{q}) = g & = 0" in eq.latex()


def test_every_left_side_is_unique() -> None:
    for name in ("M", "b", "g", "Q", "x0", "c1", "s12", "K"):
        eq = pliant.equations(pliant.load("two_link_arm"), parameters={"m_forearm": name})
        sides = left_sides(str(eq).partition("\n\nM")[2])
        assert len(sides) == len(set(sides)), name


def test_coordinates_with_short_names() -> None:
    text = str(pliant.equations(small.two_link_arm(), names={"elbow": "c1"}))
    assert "sin(q1 + c1)" in text or "sin(c1 + q1)" in text
    assert sympy.Symbol("c1", real=True) in pliant.equations(small.two_link_arm(), names={"elbow": "c1"}).q
