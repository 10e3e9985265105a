"""The right side of the equations: motors, springs, dampers, friction."""

import numpy as np
import pytest
import sympy
from sympy import sign

import pliant
import symbolic_robots as small
from pliant.robot import Robot


def hinge(**values: object) -> Robot:
    builder = pliant.RobotBuilder("door").body("door", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    return builder.joint("hinge", "revolute", "world", "door", **values).build()  # type: ignore[arg-type]


k, h, d, f, r, kp, kd = sympy.symbols("k h d f r kp kd", positive=True)


def right_side(robot: Robot) -> tuple[sympy.Expr, ...]:
    eq = pliant.equations(robot)
    return eq.Q[0], *eq.q, *eq.v, *eq.u


def test_spring_damper_and_friction() -> None:
    Q, q, v = right_side(hinge(stiffness=k, rest=r, damping=d, friction=f))
    assert sympy.expand(Q - (-k * (q - r) - d * v - f * sign(v))) == 0


def test_a_spring_that_hardens() -> None:
    Q, q, _ = right_side(hinge(stiffness=k, hardening=h))
    assert sympy.expand(Q + k * q + h * q**3) == 0


def test_a_spring_with_its_own_law() -> None:
    Q, q, _ = right_side(hinge(stiffness=k, law=lambda x: 3 * pliant.math.sin(x)))
    assert sympy.expand(Q + k * q + 3 * sympy.sin(q)) == 0


@pytest.mark.parametrize(
    ("control", "torque"),
    [
        ({}, lambda u, q, v: u),
        ({"control": "position", "kp": kp, "kd": kd}, lambda u, q, v: kp * (u - q) - kd * v),
        ({"control": "velocity", "kd": kd}, lambda u, q, v: kd * (u - v)),
        ({"viscous_friction": d, "dry_friction": f}, lambda u, q, v: u - d * v - f * sign(v)),
        ({"law": lambda u, q, v, t: u * pliant.math.cos(q)}, lambda u, q, v: u * sympy.cos(q)),
    ],
)
def test_motors(control: dict, torque) -> None:
    Q, q, v, u = right_side(hinge().with_motor("hinge", **control))
    assert sympy.expand(Q - torque(u, q, v)) == 0


def test_a_law_of_time() -> None:
    eq = pliant.equations(hinge().with_motor("hinge", law=lambda u, q, v, t: u * pliant.math.sin(2 * t)))
    assert sympy.expand(eq.Q[0] - eq.u[0] * sympy.sin(2 * eq.symbols["t"]), trig=True) == 0


def test_a_law_that_is_no_formula() -> None:
    robot = hinge().with_motor("hinge", law=lambda u, q, v, t: np.sin(q))
    with pytest.raises(pliant.PliantError, match="law of motor 'hinge' cannot be written as a formula"):
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
    numbers = dict(zip([*eq.q, *eq.v, *eq.u], [*q, *v, *u], strict=True))
    M, rest = (np.array(e.subs(numbers).evalf().tolist(), dtype=float) for e in (eq.M, eq.Q - eq.b - eq.g))
    vd = np.linalg.solve(M, rest)[:, 0]
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
    numbers = dict(zip([*eq.q, *eq.v], [*q, 0, 0, 0], strict=True))
    found = np.array(eq.Q.subs(numbers).evalf().tolist(), dtype=float)[:, 0]
    # it is the slope of 1/2 w^T K w, by central differences: h^2 and 1e-16 / h
    step = 1e-6

    def energy(motion: np.ndarray) -> float:
        x = robot.difference(robot.neutral(), robot.integrate(q, motion))
        return float(x @ np.diag([3, 4, 5]) @ x) / 2

    slope = [(energy(step * e) - energy(-step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found, np.negative(slope), rtol=0, atol=1e-8)
