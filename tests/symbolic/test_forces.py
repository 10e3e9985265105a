"""The right side of the equations: motors, springs, dampers, friction, and functions of springs."""

import math

import numpy as np
import pytest
import sympy
from sympy import sign

import pliant
import symbolic_robots as small
from pliant.actuation.joint_springs import spring_force, spring_with_backlash
from pliant.robot import Robot
from pliant.symbolic.forces import play, push, turn_pull, written_out


def hinge(**values: object) -> Robot:
    builder = pliant.RobotBuilder("door").body("door", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    return builder.joint("hinge", "revolute", "world", "door", **values).build()  # type: ignore[arg-type]


k, h, d, f, r, kp, kd = sympy.symbols("k h d f r kp kd", positive=True)


def right_side(robot: Robot) -> tuple[sympy.Expr, ...]:
    eq = pliant.equations(robot)
    return eq.Q[0], *eq.q, *eq.v, *eq.u


@pytest.mark.parametrize("values, force", [
    ({"stiffness": k, "rest": r, "damping": d, "friction": f}, lambda q, v: -k * (q - r) - d * v - f * sign(v)),
    ({"stiffness": k, "hardening": h}, lambda q, v: -k * q - h * q**3),
    ({"stiffness": k, "law": lambda x: 3 * pliant.math.sin(x)}, lambda q, v: -k * q - 3 * sympy.sin(q)),
])  # fmt: skip
def test_springs(values: dict, force) -> None:
    Q, q, v = right_side(hinge(**values))
    assert sympy.expand(Q - force(q, v)) == 0


@pytest.mark.parametrize("control, torque", [
    ({}, lambda u, q, v: u),
    ({"control": "position", "kp": kp, "kd": kd}, lambda u, q, v: kp * (u - q) - kd * v),
    ({"control": "velocity", "kd": kd}, lambda u, q, v: kd * (u - v)),
    ({"viscous_friction": d, "dry_friction": f}, lambda u, q, v: u - d * v - f * sign(v)),
    ({"law": lambda u, q, v, t: u * pliant.math.cos(q)}, lambda u, q, v: u * sympy.cos(q)),
])  # fmt: skip
def test_motors(control: dict, torque) -> None:
    Q, q, v, u = right_side(hinge().with_motor("hinge", **control))
    assert sympy.expand(Q - torque(u, q, v)) == 0


def test_a_law_of_time_and_one_that_is_no_formula() -> None:
    eq = pliant.equations(hinge().with_motor("hinge", law=lambda u, q, v, t: u * pliant.math.sin(2 * t)))
    assert sympy.expand(eq.Q[0] - eq.u[0] * sympy.sin(2 * eq.symbols["t"]), trig=True) == 0
    robot = hinge().with_motor("hinge", law=lambda u, q, v, t: np.sin(q))
    with pytest.raises(pliant.PliantError, match="law of motor 'hinge' cannot be traced"):
        pliant.equations(robot)


def test_joints_that_mimic() -> None:
    builder = pliant.RobotBuilder("gripper").body("left", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    builder.body("right", mass=1, inertia=(1, 0, 0, 1, 0, 1)).joint("lead", "revolute", "world", "left", damping=d)
    mimic = pliant.robot.Mimic("lead", -2, 0)
    builder.joint("follow", "revolute", "world", "right", damping=d, stiffness=k, mimic=mimic)
    Q, q, v = right_side(builder.build())
    # the follower is at -2 q: its forces count twice, and once more by their motion
    assert sympy.expand(Q - (-d * v - 4 * d * v - 4 * k * q)) == 0


def test_a_spring_between_frames() -> None:
    # a bob at l below the hinge, tied to the point l beside the hinge: s^2 = 2 l^2 (1 - sin q)
    l, s0 = sympy.symbols("l s0", positive=True)
    builder = pliant.RobotBuilder("tied").gravity(0, 0, 0).body("bob", mass=1, com=(0, 0, -l))
    builder.joint("hinge", "revolute", "world", "bob", axis=(0, -1, 0))
    builder.frame("tip", "bob", (0, 0, -l)).frame("wall", "world", (l, 0, 0))
    robot = builder.build().with_spring("tip", "wall", stiffness=k, damping=d, length=s0)
    Q, q, v = right_side(robot)
    s = sympy.sqrt(2 * l**2 * (1 - sympy.sin(q)))
    expected = -(k * (s - s0) + d * s.diff(q) * v) * s.diff(q)
    numbers = {q: 0.4, v: -0.7, l: 1.3, s0: 0.5, k: 11, d: 0.3}
    assert float((Q - expected).subs(numbers)) == pytest.approx(0, abs=1e-13)


def test_what_simulation_does() -> None:
    """One small step of a simulation has the acceleration of the equations."""
    robot = pliant.load("two_link_arm").with_joint("elbow", stiffness=30, rest=0.2, damping=0.5)
    robot = robot.with_motor("shoulder", control="position", kp=20, kd=1)
    eq = pliant.equations(robot)
    q, v, u = np.array([0.3, -0.5]), np.array([0.6, 0.2]), np.array([0.1, 2.0])
    values = dict(zip([*eq.q, *eq.v, *eq.u], [*q, *v, *u], strict=True))
    vd = np.linalg.solve(*(small.numbers(e, values) for e in (eq.M, eq.Q - eq.b - eq.g)))
    dt = 1e-6
    simulation = pliant.Simulation(robot, dt=dt)
    simulation.reset(q=q, v=v)
    simulation.step(u)
    # the step is of first order: dt times the next derivative, some 1e3
    np.testing.assert_allclose((np.ravel(simulation.v) - v) / dt, vd, rtol=0, atol=1e-2)


def test_springs_with_several_axes() -> None:
    robot = small.ball().with_joint("socket", stiffness=(3, 4, 5), damping=0.1)
    eq = pliant.equations(robot)
    w = np.array([0.3, -0.2, 0.5])
    q = robot.integrate(robot.neutral(), w)
    found = small.numbers(eq.Q, dict(zip([*eq.q, *eq.v], [*q, 0, 0, 0], strict=True)))
    # it is the slope of 1/2 w^T K w, by central differences: h^2 and 1e-16 / h
    step = 1e-6

    def energy(motion: np.ndarray) -> float:
        x = robot.difference(robot.neutral(), robot.integrate(q, motion))
        return float(x @ np.diag([3, 4, 5]) @ x) / 2

    slope = [(energy(step * e) - energy(-step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found, np.negative(slope), rtol=0, atol=1e-8)


# ---- functions of springs by name: numbers, definitions, and what the springs of a simulation do


x, p = sympy.symbols("x p", real=True)
w = sympy.Symbol("w", positive=True)


@pytest.mark.parametrize("deflection, expected", [(0.5, 0.4), (-0.5, -0.4), (0.05, 0), (-0.1, 0), (0.1, 0)])
def test_play(deflection: float, expected: float) -> None:
    given = {x: deflection, w: 0.2}
    for found in (play(deflection, 0.2), play(x, w).doit().subs(given), play(x, w).subs(given)):
        assert float(found) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("s, force, expected", [(1, 2, 2), (1, -2, 0), (-1, -2, -2), (-1, 2, 0), (0, 3, 0)])
def test_push(s: int, force: int, expected: int) -> None:
    assert push(s, force) == expected
    assert push(x, p).doit().subs({x: s, p: force}) == expected


def test_written_out_leaves_no_names() -> None:
    formula = 2 * push(play(x, w), 3 * play(x, w) + p) + x
    (plain,) = written_out([formula])
    assert not plain.atoms(play, push)
    assert float((plain - formula).subs({x: 0.7, w: 0.1, p: -0.3})) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("values", [
    {"stiffness": 30, "backlash": 0.2}, {"stiffness": 30, "backlash": 0.2, "damping": 4},
    {"stiffness": 30, "backlash": 0.2, "damping": 4, "rest": 0.3, "hardening": 50},
    {"stiffness": 5, "backlash": 0.2, "law": lambda x: -2 * pliant.math.sin(x)},
])  # fmt: skip
def test_play_is_that_of_the_simulation(values: dict) -> None:
    """The formula against `spring_with_backlash`, on all sides of the play and for motion either way."""
    robot = hinge(**values)
    eq = pliant.equations(robot)
    (q,), (v,) = eq.q, eq.v
    for angle in (-0.6, -0.1, -0.05, 0.0, 0.1, 0.15, 0.35, 0.4, 0.9):
        for rate in (-3.0, 0.0, 3.0):
            expected = spring_with_backlash(robot.joints["hinge"], angle, rate)[0]
            found = float(eq.Q[0].subs({q: angle, v: rate}))
            # a handful of operations on numbers up to a hundred
            assert found == pytest.approx(expected, abs=1e-13)


def test_a_spring_without_damping_needs_no_push() -> None:
    eq = pliant.equations(hinge(stiffness=30, backlash=0.2))
    assert eq.written(eq.Q[0]) == "-30 play(q, 0.2)"
    eq = pliant.equations(hinge(stiffness=30, backlash=0.2, damping=1), parameters="stiffness")
    assert eq.written(eq.Q[0]) == "-push(play(q, w_hinge), k_hinge play(q, w_hinge) + q')"
    assert {s.name: value for s, value in eq.parameters.items()} == {"k_hinge": 30, "w_hinge": 0.2}


@pytest.mark.parametrize("hardening", [0, (7, 0, 2)])
def test_turns_pull_as_in_the_simulation(hardening: object) -> None:
    robot = small.ball().with_joint("socket", stiffness=(3, 4, 5), hardening=hardening)
    eq = pliant.equations(robot, parameters="stiffness")
    assert [type(e) for e in sorted(eq.Q.atoms(turn_pull), key=lambda e: e.axis)] == [turn_pull] * 3
    function = small.python_function(eq.python(), "ball")
    rng = np.random.default_rng(5)
    for _ in range(5):
        q = robot.integrate(robot.neutral(), rng.uniform(-1.5, 1.5, 3))
        numbers = {**eq.parameters, **dict(zip([*eq.q, *eq.v], [*q, 0, 0, 0], strict=True))}
        expected = spring_force(robot.joints["socket"], q.tolist()).f
        # some hundred operations on numbers up to ten
        np.testing.assert_allclose([float(e.subs(numbers)) for e in eq.Q], expected, rtol=0, atol=1e-13)
        np.testing.assert_allclose(function(q, [0, 0, 0], [])[3], expected, rtol=0, atol=1e-13)


def test_free_joints_pull_as_in_the_simulation() -> None:
    builder = pliant.RobotBuilder("base").body("box", mass=1.5, inertia=(1, 0, 0, 1, 0, 1))
    robot = builder.joint("float", "free", "world", "box", stiffness=(3, 4, 5, 6, 7, 8)).build()
    eq = pliant.equations(robot)
    q = robot.integrate(robot.neutral(), [0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    numbers = dict(zip(eq.q, q, strict=True))
    expected = spring_force(robot.joints["float"], q.tolist()).f
    np.testing.assert_allclose([float(e.subs(numbers)) for e in eq.Q], expected, rtol=0, atol=1e-13)
    text = str(eq)
    for line in ("Q1 = -(R^T K1 p)_1", "Q6 = -(Jlog^T K2 log)_3", "K1 = diag(3, 4, 5)", "K2 = diag(6, 7, 8)"):
        assert line in text.splitlines()


def test_springs_in_all_directions_are_short_to_read() -> None:
    eq = pliant.equations(small.ball().with_joint("socket", stiffness=(3, 4, 5), damping=0.1))
    text, latex = str(eq), eq.latex()
    assert "Q2 = -(Jlog^T K log)_2 - 0.1 v2" in text
    assert "K = diag(3, 4, 5)" in text
    assert "x0 =" not in text
    assert r"Q_{2} & = -(J_{\log}^{T} K \, \log)_{2} - 0.1 v_{2}" in latex
    assert r"K & = \mathrm{diag}(3, 4, 5)" in latex
    assert r"$K = \mathrm{diag}(3, 4, 5)$" in eq.markdown()


def test_two_springs_have_names_of_their_joints() -> None:
    builder = pliant.RobotBuilder("two")
    for name in ("left", "right"):
        builder.body(name, mass=1, inertia=(1, 0, 0, 1, 0, 1))
        builder.joint(f"{name}_ball", "spherical", "world", name, stiffness=(1, 2, 3 if name == "left" else 4))
    text = str(pliant.equations(builder.build()))
    assert "Q4 = -(Jlog^T K log)_right_ball_1" in text
    assert "right_ball: K = diag(1, 2, 4)" in text
    # letters of the legend are nobody else's
    robot = small.ball().with_joint("socket", stiffness=(3, 4, 5))
    text = str(pliant.equations(robot, parameters={"k_socket_1": "K"}))
    assert "Q1 = -(Jlog^T KK log)_1" in text
    assert "KK = diag(K, 4, 5)" in text


def test_what_a_law_may_contain_is_readable() -> None:
    def law(x):
        return pliant.math.select(x > 1, pliant.math.maximum(x, 2), abs(x)) + pliant.math.sqrt(x * x + 1)

    eq = pliant.equations(hinge(stiffness=3, law=law))
    assert eq.written(eq.Q[0]) == "-3 q - {max(q, 2) where q > 1, else |q|} - sqrt(1 + q^2)"
    assert math.isclose(float(eq.Q[0].subs(eq.q[0], 0.5)), -1.5 - 0.5 - math.sqrt(1.25))
