"""Generated Python, C and Matlab against the compiled kernels."""

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import pliant
import symbolic_robots as small
from pliant.symbolic import Equations
from random_robots import ALL, robot_of, state_of
from symbolic_robots import python_function


KINDS = [kind for kind in ALL if kind != "free"]
ROBOTS = {
    "pendulum": pliant.load("pendulum"),
    "cart_pole": pliant.load("cart_pole"),
    "springs": pliant.load("two_link_arm").with_joint("elbow", stiffness=3, damping=0.2, friction=0.4),
    "every kind of joint": robot_of(KINDS, [-1, 0, -1, 0, -1, -1, 2], np.random.default_rng(8), mimic=True),
    "arm7": pliant.load("arm7"),
    "play": pliant.load("two_link_arm").with_joint("elbow", stiffness=30, damping=0.5, backlash=0.5),
    "ball": small.ball().with_joint("socket", stiffness=(3, 4, 5), damping=0.1),
}
each_robot = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
# results of a few thousand operations each
TOLERANCE = 1e-12


def check(robot: pliant.Robot, eq: Equations, run: Any) -> None:
    """``run(q, v, u)`` gives what the kernels give, at random states."""
    for seed in range(3):
        state = state_of(robot, seed)
        u = np.random.default_rng(seed).uniform(-1, 1, robot.nu)
        M, b, g, Q = (np.array(x, dtype=float) for x in run(state.q, state.v, u))
        gravity = pliant.gravity_forces(robot, state.q)
        bias = pliant.bias_forces(robot, state.q, state.v)
        for found, expected in ((M, pliant.mass_matrix(robot, state.q)), (g, gravity), (b + g, bias)):
            np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * max(1, abs(expected).max()))
        values = dict(zip([*eq.q, *eq.v, *eq.u], [*state.q, *state.v, *u], strict=True))
        right = small.numbers(eq.Q.subs(eq.parameters), values)
        np.testing.assert_allclose(Q, right, rtol=0, atol=TOLERANCE * max(1, abs(right).max()))


@cache
def equations(robot: pliant.Robot) -> Equations:
    return small.equations("arm7") if robot.name == "arm7" else pliant.equations(robot)


@each_robot
def test_python(robot: pliant.Robot) -> None:
    eq = equations(robot)
    check(robot, eq, python_function(eq.python("dynamics"), "dynamics"))


def test_python_with_parameters() -> None:
    robot = pliant.load("two_link_arm")
    eq = pliant.equations(robot, parameters="all")
    function = python_function(eq.python(), "two_link_arm")
    check(robot, eq, function)
    M, *_ = function([0, 0], [0, 0], [0, 0], m_forearm=0, I_forearm_yy=0)
    # the first rod alone: m l^2 / 3
    np.testing.assert_allclose(M, [[0.2, 0], [0, 0]], rtol=1e-14)


def c_function(source: str, name: str, eq: Equations, folder: Path) -> Any:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "a C compiler checks the generated C: install gcc or clang"
    (folder / "code.c").write_text(source)
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", "code.so", "code.c", "-lm"]
    subprocess.run([compiler, *options], cwd=folder, check=True, capture_output=True, timeout=120)
    function = getattr(ctypes.CDLL(str(folder / "code.so")), name)
    n = len(eq.b)

    def run(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
        given = [np.array(x, dtype=float) for x in (q, v, u)]
        if eq.parameters:
            given.append(np.array(list(eq.parameters.values()), dtype=float))
        made = [np.full((n, n), np.nan), *(np.full(n, np.nan) for _ in range(3))]
        function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *made)))
        return tuple(made)

    return run


@each_robot
def test_c(robot: pliant.Robot, tmp_path: Path) -> None:
    eq = equations(robot)
    check(robot, eq, c_function(eq.c("dynamics"), "dynamics", eq, tmp_path))


def test_c_with_parameters(tmp_path: Path) -> None:
    robot = pliant.load("cart_pole")
    eq = pliant.equations(robot, parameters="all")
    check(robot, eq, c_function(eq.c(), "cart_pole", eq, tmp_path))


def matlab_function(source: str, eq: Equations) -> Any:
    """The few lines of Matlab that are generated, read as Python: assignments, 1-based brackets, .* and .^."""
    lines = [line.strip().rstrip(";") for line in source.splitlines()[1:-1]]
    taken = r"\b(M|b|g|g_|Q|q|v|u|p)\(([\d, ]+)\)"

    def statement(line: str) -> str:
        line = re.sub(taken, lambda m: f"{m[1]}[{','.join(str(int(k) - 1) for k in m[2].split(','))}]", line)
        sizes = r"zeros((\1, \2))" if line.startswith("M") else r"zeros(\1)"
        line = re.sub(r"zeros\((\d+), (\d+)\)", sizes, line)
        return line.replace(".^", "**").replace(".*", "*").replace("./", "/")

    outputs = re.match(r"function \[(.*?)\]", source)[1].split(", ")  # type: ignore[index]

    def run(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
        names = {n: getattr(np, n) for n in ("zeros", "sin", "cos", "sqrt", "sign")}
        values: dict[str, Any] = {**names, "q": q, "v": v, "u": u, "p": list(eq.parameters.values())}
        for line in lines:
            if not line.startswith("%"):
                exec(statement(line), values)
        return tuple(values[x] for x in outputs)

    return run


@pytest.mark.parametrize("name", ["pendulum", "cart_pole", "springs"])
@pytest.mark.parametrize("parameters", [None, "all"])
def test_matlab(name: str, parameters: str | None) -> None:
    robot = ROBOTS[name]
    eq = pliant.equations(robot, parameters=parameters)
    check(robot, eq, matlab_function(eq.matlab(), eq))


def test_names_that_languages_keep_for_themselves() -> None:
    strange = [sympy.Symbol(n, positive=True) for n in ("lambda", "double", "b", "x0", "\\theta_1", "q", "u")]
    builder = pliant.RobotBuilder("2nd robot").gravity(0, 0, -9.81)
    builder.body("a", strange[0], (strange[1], 0, strange[2]), (0, 0, 0, strange[3], 0, 0))
    builder.joint("one", "revolute", "world", "a", (strange[4], 0, 0), axis=(0, 1, 0), damping=strange[5])
    builder.body("c", 1).joint("two", "prismatic", "a", "c", (strange[4], 0, 0), damping=strange[6])
    eq = pliant.equations(builder.build())
    values = {s: 0.1 * (k + 1) for k, s in enumerate(eq.parameters)}
    function = python_function(eq.python(), "robot_2nd_robot")
    arguments = re.search(r"\*, (.*?)\):", eq.python())[1].split(", ")  # type: ignore[index]
    M, *_ = function([0.2, 0.3], [0, 0], [], **dict(zip(arguments, values.values(), strict=True)))
    np.testing.assert_allclose(M, small.numbers(eq.M, {**values, eq.q[0]: 0.2, eq.q[1]: 0.3}), rtol=1e-14)
    assert "void robot_2nd_robot(" in eq.c()


def test_time_is_an_argument_where_it_is_used() -> None:
    robot = pliant.load("pendulum").with_motor("hinge", law=lambda u, q, v, t: pliant.math.sin(t))
    eq = pliant.equations(robot)
    function = python_function(eq.python(), "pendulum")
    assert function([0], [0], [0], np.pi / 2)[3] == [1]
    assert "double t," in eq.c()
    assert eq.matlab().startswith("function [M, b, g, Q] = pendulum(q, v, u, t)")
    assert "t" not in pliant.equations(small.pendulum()).python().split("(")[1].split(")")[0].split(", ")


def test_what_the_arguments_are_is_said() -> None:
    eq = pliant.equations(pliant.load("pendulum"), parameters="all")
    order = ["I_rod_yy (0.1875)", "c_rod (0.75)", "g (9.81)", "m_rod (1.0)"]
    assert f"Parameters, given by name, else as the robot has them: {', '.join(order)}" in eq.python()
    entries = ", ".join(f"p[{k}] = {name}" for k, name in enumerate(order))
    assert f" * p: parameters in this order; the robot's values are in brackets: {entries}" in eq.c()
    entries = ", ".join(f"p({k + 1}) = {name}" for k, name in enumerate(order))
    assert f"  % p: parameters in this order; the robot's values are in brackets: {entries}" in eq.matlab()
    for source in (eq.python(), eq.c(), eq.matlab()):
        assert "Here g is g_: a parameter has that name." in source
    assert [s.name for s in eq.parameters] == ["I_rod_yy", "c_rod", "g", "m_rod"]


def test_floats_are_exact_and_short() -> None:
    builder = pliant.RobotBuilder("p").body("rod", mass=0.1, com=(0, 0, -1), inertia=(0.2, 0, 0, 0.2, 0, 0))
    eq = pliant.equations(builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build())
    assert "[0.30000000000000004]," in eq.python()
    assert "M[0][0] = 0.30000000000000004;" in eq.c()
