"""How the equations look: text, LaTeX, Markdown, and names that stand for one thing."""

import math
import re
from functools import cache

import pytest
import sympy
from matplotlib.mathtext import MathTextParser

import pliant
import symbolic_robots as small
from pliant.symbolic import Equations
from random_robots import state_of

ARM = pliant.load("two_link_arm")


def with_cases(x):
    return pliant.math.select(x > 1, pliant.math.sqrt(x * x + 1), abs(x))


ROBOTS = {
    "pendulum": (small.pendulum(), {}),
    "cart-pole": (small.cart_pole(), {"names": "joints"}),
    "two-link arm": (ARM, {"parameters": "all"}),
    "arm on a column": (small.shoulder_and_elbow(), {}),
    "ball": (small.ball(), {}),
    "ball in roll, pitch and yaw": (small.ball(), {"rotations": "euler"}),
    "arm7": (pliant.load("arm7"), {}),
    "spring with play": (
        ARM.with_joint("elbow", stiffness=30, damping=0.5, friction=0.1, backlash=0.02), {"parameters": "all"},
    ),
    "springs in all directions": (
        small.ball().with_joint("socket", stiffness=(3, 4, 5), hardening=(0, 1, 2)), {"parameters": "stiffness"},
    ),
    "a law with cases": (pliant.load("pendulum").with_joint("hinge", stiffness=1, law=with_cases), {}),
}  # fmt: skip


@cache
def equations(name: str) -> Equations:
    robot, options = ROBOTS[name]
    return small.equations(name) if name == "arm7" else pliant.equations(robot, **options)


@pytest.fixture(params=ROBOTS)
def eq(request: pytest.FixtureRequest) -> Equations:
    return equations(request.param)


@cache
def text_of(eq: Equations, width: int = 100) -> str:
    return eq.text(width)


def test_series_elastic_joint_symbol_by_symbol() -> None:
    eq = pliant.equations(small.series_elastic_joint(), names={"knee_flexibility": "x1", "knee": "x2"})
    assert str(eq).splitlines()[2:4] == ["I (x1'' + x2'') = -k x1 - nu x1'", "I (x1'' + x2'') + J x2'' = u"]
    assert eq.latex().splitlines()[1:3] == [
        r"& I (\ddot{x}_{1} + \ddot{x}_{2}) = -k x_{1} - \nu \dot{x}_{1} \\",
        r"& I (\ddot{x}_{1} + \ddot{x}_{2}) + J \ddot{x}_{2} = u \\",
    ]
    with_body = pliant.equations(small.series_elastic_joint(small.I_f), names={"knee_flexibility": "x1", "knee": "x2"})
    assert str(with_body).splitlines()[2] == "I (x1'' + x2'') + I_f x1'' = -k x1 - nu x1'"


def test_two_link_arm() -> None:
    assert (
        pliant.equations(small.two_link_arm()).text()
        == """\
two_link_arm: M q'' + b(q, q') + g(q) = Q

m l^2 ((5/3 + c2) q1'' + (1/3 + 1/2 c2) q2'' - s2 q2' (q1' + 1/2 q2'))
    - m g l (3/2 s1 + 1/2 s12) = u_shoulder
m l^2 ((1/3 + 1/2 c2) q1'' + 1/3 q2'' + 1/2 s2 q1'^2) - 1/2 m g l s12 = u_elbow

M11 = m l^2 (5/3 + c2)
M12 = M21 = m l^2 (1/3 + 1/2 c2)
M22 = 1/3 m l^2

b1 = -m l^2 s2 q2' (q1' + 1/2 q2')
b2 = 1/2 m l^2 s2 q1'^2

g1 = -m g l (3/2 s1 + 1/2 s12)
g2 = -1/2 m g l s12

Q1 = u_shoulder
Q2 = u_elbow

s1 = sin(q1), c2 = cos(q2), s2 = sin(q2), s12 = sin(q1 + q2)
q1: shoulder, q2: elbow"""
    )


@pytest.mark.parametrize("width", [60, 100])
def test_lines_fit(eq: Equations, width: int) -> None:
    # what has no place to break may be longer: single products, and quotients
    long = [line for line in text_of(eq, width).splitlines() if len(line) > width]
    assert not [line for line in long if " + " in line.strip()[2:] or " - " in line.strip()[2:]]
    assert max(map(len, text_of(equations("two-link arm"), 70).splitlines())) <= 70


def test_text_is_plain(eq: Equations) -> None:
    text = text_of(eq)
    assert text.isascii()
    assert all(word not in text for word in ("**", "*", "Matrix", "vd", "Piecewise", "Max", "Min", "Abs"))


def test_names_that_clash_with_short_ones() -> None:
    c1 = small.sympy.Symbol("c1", positive=True)
    builder = pliant.RobotBuilder("p").body("rod", mass=1, com=(0, 0, -c1)).body("cart", mass=1)
    builder.joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))
    builder.joint("hinge", "revolute", "cart", "rod", axis=(0, 1, 0))
    text = str(pliant.equations(builder.build()))
    assert "cos(q2)" in text
    assert "c2" not in text


def lines_of(latex: str) -> list[str]:
    body = latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    return [line.replace("&", "").strip() for line in body.split(" \\\\\n")]


def test_every_line_of_latex_is_balanced_and_can_be_rendered(eq: Equations) -> None:
    latex, parser = eq.latex(), MathTextParser("path")
    assert latex.startswith("\\begin{aligned}")
    assert latex.endswith("\\end{aligned}")
    for line in lines_of(latex):
        # width, height, depth and shapes: a box that is not empty
        assert parser.parse(f"${line}$")[0] > 0, line
        depth = 0
        for character in line:
            depth += {"{": 1, "}": -1}.get(character, 0)
            assert depth >= 0
        assert depth == 0


def test_latex_of_names_and_markdown() -> None:
    eq = equations("two-link arm")
    latex, text = eq.latex(), eq.markdown()
    for part in (r"m_{\mathrm{upper}\,\mathrm{arm}}", r"I_{\mathrm{forearm}\,yy}", r"\ddot{q}_{1}", r"s_{12}"):
        assert part in latex
    assert text.count("$$\n") == 4
    assert "| $q_{2}$ | elbow |" in text
    assert "| $l_{\\mathrm{elbow}}$ | 0.5 |" in text
    assert "$s_{12} = \\sin(q_{1} + q_{2})$" in text


def test_notebooks_render_short_equations_only() -> None:
    short, long = equations("pendulum"), equations("arm7")
    assert short._repr_markdown_() == short.markdown()
    assert short._repr_latex_() == f"$\\displaystyle {short.latex()}$"
    assert long._repr_markdown_() is None
    assert long._repr_latex_() is None
    assert repr(long) == "<Equations of 'arm7' by newton-euler: 7 dofs, parameters: none>"


def test_long_equations_name_shared_parts() -> None:
    lines = text_of(equations("arm7")).splitlines()
    assert lines[2].startswith("x0 = ")
    assert any(line.startswith("M77 = ") for line in lines)


def test_what_is_left_out_is_said() -> None:
    robot = ARM.with_closure("point", "hand", "world", name="grip").with_joint("elbow", locked=True)
    title = str(pliant.equations(robot)).splitlines()[0]
    assert title.endswith("(without closure 'grip', that joint 'elbow' is locked)")


def test_numbers() -> None:
    lines = str(pliant.equations(pliant.load("pendulum"))).splitlines()
    assert lines[2] == "0.75 q'' + 7.3575 sin(q) = u"
    assert "M = 0.75" in lines
    builder = pliant.RobotBuilder("p").body("rod", mass=1e-7, com=(0, 0, -math.pi))
    eq = pliant.equations(builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build())
    assert "M = 9.8696e-07" in str(eq)
    assert r"9.8696 \times 10^{-7}" in eq.latex()


def as_python(formula: str) -> str:
    """A printed formula as Python: a space is a product, a prime a rate."""
    return re.sub(r"(?<=[\w)']) (?=[\w(])", "*", formula.replace("^", "**").strip()).replace("'", "_")


def test_named_parts_put_back_give_the_equations() -> None:
    eq = equations("arm7")
    lines = " ".join(line.strip() if line.startswith(" ") else f"\n{line}" for line in text_of(eq).splitlines())
    state = state_of(eq.robot, 4)
    values: dict = {"cos": math.cos, "sin": math.sin}
    values |= {s.name: x for s, x in zip(eq.q, state.q, strict=True)}
    values |= {f"{s.name}_": x for s, x in zip(eq.q, state.v, strict=True)}
    # the legend first, then the lines in order
    legend = re.findall(r"([cs]\d+) = ((?:cos|sin)\([^)]*\))", lines)
    for name, formula in legend:
        values[name] = eval(as_python(formula), values)
    for names, formula in re.findall(r"^((?:(?:x|M|b|g)\d+ = )+)(.+)$", lines, re.M):
        values |= dict.fromkeys(re.findall(r"\w+", names), eval(as_python(formula), values))
    M, h = pliant.mass_matrix(eq.robot, state.q), pliant.bias_forces(eq.robot, state.q, state.v)
    # six digits are printed
    for i in range(7):
        for j in range(7):
            assert values.get(f"M{i + 1}{j + 1}", 0) == pytest.approx(M[i, j], abs=1e-4)
        found = values.get(f"b{i + 1}", 0) + values.get(f"g{i + 1}", 0)
        assert found == pytest.approx(h[i], abs=1e-3)


# ---- no name on a page stands for two things


def left_sides(text: str) -> list[str]:
    return [side for line in text.splitlines() if " = " in line for side in line.split(" = ")[:-1]]


def test_terms_named_as_functions() -> None:
    eq = pliant.equations(pliant.load("pendulum"), parameters="all")
    assert "g(q) = m_rod g c_rod sin(q)" in str(eq).splitlines()
    assert r"g(q) & = m_{\mathrm{rod}} g c_{\mathrm{rod}} \sin(q)" in eq.latex()
    assert r"g(q) & = " in eq.markdown()
    # a term that is zero
    eq = pliant.equations(small.series_elastic_joint(), names={"knee_flexibility": "b", "knee": "x"})
    assert "b(q, q') = g = 0" in str(eq)
    assert r"b(q, \dot{q}) = g & = 0" in eq.latex()


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
    assert title(ARM, parameters={"m_forearm": "q"}) == "two_link_arm: equations of motion"
    assert title(ARM, parameters={"m_forearm": "Q"}) == (
        "two_link_arm: M q'' + b(q, q') + g(q) = Q(q, q', u_shoulder, u_elbow)"
    )


def test_entries_with_the_name_of_a_parameter() -> None:
    eq = pliant.equations(ARM, parameters={"m_forearm": "M11", "l_elbow": "g2"})
    text = str(eq)
    for entry in ("M11(q) = ", "M22(q) = ", "g1(q) = ", "g2(q) = ", "b1 = "):
        assert entry in text
    assert "M_{11}(q)" in eq.latex()
    # vectors that would be misread are listed
    assert "M11(q1, q2) = " in str(pliant.equations(ARM, parameters={"m_forearm": "q", "l_elbow": "M11"}))


def test_every_left_side_is_unique() -> None:
    for name in ("M", "b", "g", "Q", "x0", "c1", "s12", "K"):
        eq = pliant.equations(ARM, parameters={"m_forearm": name})
        sides = left_sides(str(eq).partition("\n\nM")[2])
        assert len(sides) == len(set(sides)), name


def test_coordinates_with_short_names() -> None:
    eq = pliant.equations(small.two_link_arm(), names={"elbow": "c1"})
    assert "sin(q1 + c1)" in str(eq) or "sin(c1 + q1)" in str(eq)
    assert sympy.Symbol("c1", real=True) in eq.q
