"""The stiff adaptive integrator: derivatives, order, stiff springs, contact, and springs between frames."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from moving_robots import OFF_CENTRE, PLANAR, SPHERICAL_PENDULUM, distance, slopes, state
from pliant.compiler import kernel_from_function
from pliant.integrators.rosenbrock import RODAS5P, DenseFactor, chart_turn
from pliant.robot import Prismatic, Revolute, Robot, RobotBuilder
from pliant.simulation.linear_motion import linear_motion
from pliant.simulation.smooth_step import smooth_acceleration, smooth_forces

STIFF: dict[str, Any] = {"integrator": "rosenbrock"}


def ran(sim: pliant.Simulation, duration: float, q: Any = None, v: Any = None, u: Any = None) -> pliant.Simulation:
    sim.reset(q=q, v=v)
    for _ in range(round(duration / sim.dt)):
        sim.step(u)
    return sim


# ---- the method


def test_conditions_of_order() -> None:
    """Those of [Hairer and Wanner 1996, IV.7] up to order three, from the coefficients before their transformation."""
    n = len(RODAS5P.d)
    C = np.zeros((n, n))
    for i, row in enumerate(RODAS5P.c):
        C[i, : len(row)] = row
    # U = Gamma k, and c_ij = diag(1/gamma) - Gamma^-1
    gamma = np.linalg.inv(np.eye(n) / RODAS5P.gamma - C)
    a = np.zeros((n, n))
    for i, row in enumerate(RODAS5P.a):
        a[i, : len(row)] = row
    alpha = a @ gamma
    b = np.append(a[-1, :-1], 1) @ gamma
    beta = (alpha + gamma).sum(axis=1)
    np.testing.assert_allclose(alpha.sum(axis=1), RODAS5P.alpha, atol=1e-12)
    np.testing.assert_allclose(gamma.sum(axis=1), RODAS5P.d, atol=1e-12)
    assert b.sum() == pytest.approx(1, abs=1e-12)
    assert b @ beta == pytest.approx(1 / 2, abs=1e-12)
    assert b @ alpha.sum(axis=1) ** 2 == pytest.approx(1 / 3, abs=1e-12)
    assert b @ (alpha + gamma) @ beta == pytest.approx(1 / 6, abs=1e-12)
    assert b @ alpha.sum(axis=1) ** 3 == pytest.approx(1 / 4, abs=1e-12)
    assert b @ alpha.sum(axis=1) ** 4 == pytest.approx(1 / 5, abs=1e-12)
    # L-stable: what is infinitely fast is gone after a step
    assert 1 - b @ np.linalg.solve(alpha + gamma, np.ones(n)) == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("robot", [OFF_CENTRE, SPHERICAL_PENDULUM, PLANAR], ids=lambda r: r.name)
def test_order_on_the_manifold(robot: Robot) -> None:
    """Each control period is one step here; the reference has tolerances of 1e-13."""
    q, v = state(robot, 1, 4)
    exact = ran(pliant.Simulation(robot, dt=0.1, integrator="dormand-prince", rtol=1e-13, atol=1e-14), 0.5, q, v)
    errors = []
    for steps in (10, 20):
        sim = ran(pliant.Simulation(robot, dt=0.5 / steps, rtol=1e6, atol=1e6, **STIFF), 0.5, q, v)
        errors.append(distance(robot, (sim.q, sim.v), (exact.q, exact.v)))
    assert errors[-1] > 1e-11
    assert slopes(errors)[0] > 4.6, errors


def test_forces_that_depend_on_time() -> None:
    """Their rate is part of the method: without it the order would be two."""
    robot = RobotBuilder("cart").body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1)).body(
        "cart", 2, (0, 0, 0), (1, 0, 0, 1, 0, 1)
    ).joint("slide", Prismatic((1, 0, 0)), "ground", "cart", (0, 0, 0), (0, 0, 0)).build(base="fixed")  # fmt: skip
    push = pliant.ExternalForce("cart", force=lambda t: (10 * pliant.math.sin(5 * t), 0, 0))
    errors = []
    for steps in (10, 20):
        sim = ran(pliant.Simulation(robot, dt=1 / steps, rtol=1e6, atol=1e6, forces=[push], **STIFF), 1.0)
        errors.append(abs(sim.v[0] - (1 - math.cos(5)) * 5 / 5))
    assert slopes(errors)[0] > 4.6, errors


def test_derivatives_are_those_of_the_acceleration() -> None:
    """M dvd/dw = -R_w and M dvd/dv = -R_v, by differences; on a robot with springs, motors, dampers and a free base."""
    robot = pliant.load("quadruped").with_contacts("lf_foot", radius=0.02).with_motors(control="position", kp=50, kd=2)
    robot = robot.with_spring("lf_foot", "rh_foot", stiffness=300, damping=3, length=0.1)
    sim = pliant.Simulation(robot, ground=pliant.waves(0.05, 0.7), contact=pliant.CompliantContact(), limits=False,
                            integrator="rk4")  # fmt: skip
    model, n = sim.model, robot.nv
    shapes = {"t": (), "q": (robot.nq,), "v": (n,), "u": (robot.nu,)}
    vd = kernel_from_function(lambda t, q, v, u: smooth_acceleration(model, t, q, v, u), shapes, name="vd")

    def run(t, q, v, u):
        a = smooth_acceleration(model, t, q, v, u)
        near = linear_motion(robot, lambda: smooth_forces(model, t, q, v, u), lambda: [], t, q, v, a)
        return [x for matrix in (near.M, near.by_w, near.by_v) for row in matrix for x in row]

    q, v = state(robot, 3, 0.3)
    q[2] = 0.05
    u = np.full(robot.nu, 0.1)
    t = np.array(0.2)
    M, by_w, by_v = kernel_from_function(run, shapes, name="near")(t, q, v, u).reshape(3, n, n)
    h, units = 1e-6, np.eye(n)
    moved = [
        (vd(t, robot.integrate(q, h * e), v, u) - vd(t, robot.integrate(q, -h * e), v, u)) / (2 * h) for e in units
    ]
    hurried = [(vd(t, q, v + h * e, u) - vd(t, q, v - h * e, u)) / (2 * h) for e in units]
    # differences of numbers up to 1e4, with h^2 of the next term
    for found, differences in ((by_w, moved), (by_v, hurried)):
        scale = np.abs(M @ np.array(differences).T).max()
        np.testing.assert_allclose(-found, M @ np.array(differences).T, atol=1e-6 * scale)


def test_the_turn_of_the_chart() -> None:
    v = np.array([0.3, -0.2, 0.5])
    N = np.array(chart_turn(SPHERICAL_PENDULUM, v.tolist()), float)
    w = np.array([0.2, 0.7, -0.1])
    # w' = v + w x v / 2 + ...
    np.testing.assert_allclose(N @ w, np.cross(w, v) / 2, atol=1e-15)


def test_dense_factor() -> None:
    A = np.random.default_rng(0).normal(size=(5, 5)) + 5 * np.eye(5)
    b, factor = np.arange(1, 6), DenseFactor(A.tolist())
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(A, b))
    np.testing.assert_allclose(factor.solve_transposed(b), np.linalg.solve(A.T, b))


# ---- stiff robots


def flexible(stiffness: float = 1e4) -> tuple[Robot, np.ndarray]:
    """The double pendulum with springs about three axes at both joints, the first twisted: that of `bench.flexible`."""
    robot = pliant.load("double_pendulum")
    for joint in ("shoulder", "elbow"):
        robot = robot.with_motor(joint, rotor_inertia=0.0)
        robot = robot.with_flexibility(joint, stiffness=[stiffness] * 3, damping=10.0, inertia=1e-4)
    q = robot.neutral()
    q[robot.q_slice("shoulder")], q[robot.q_slice("elbow")] = 0.5, 0.25
    half = 25 / stiffness / 2
    q[robot.q_slice("shoulder_flexibility")] = math.sin(half), 0, 0, math.cos(half)
    return robot, q


def test_the_flexible_double_pendulum_takes_a_few_thousand_steps() -> None:
    """Where Dormand-Prince takes 392,891, at the same tolerance."""
    robot, q = flexible()
    sim = pliant.Simulation(robot, dt=0.01, **STIFF)
    sim.reset(q=q)
    rolled = sim.rollout(periods=500, channels=("q", "trials"))
    assert rolled["trials"].sum() < 5000
    exact = pliant.Simulation(robot, dt=0.01, integrator="dormand-prince", rtol=1e-8, atol=1e-11)
    exact.reset(q=q)
    expected = exact.rollout(periods=10, channels=("q", "trials"))
    # tolerances of 1e-6 and 1e-9 a step, some 500 of them
    np.testing.assert_allclose(rolled.q[:10], expected.q, atol=1e-7)
    assert rolled["trials"][:10].sum() < expected["trials"].sum() / 10


def test_a_stiff_damped_spring() -> None:
    """A mass at the end of a spring and damper of 1e6 N/m and 1e5 N s/m: slaved to gravity at once."""
    robot = RobotBuilder("mass").gravity(0, 0, -9.81).body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1)).body(
        "mass", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1)
    ).joint("slide", Prismatic((0, 0, 1)), "ground", "mass", (0, 0, 0), (0, 0, 0)).build(base="fixed")  # fmt: skip
    robot = robot.with_joint("slide", stiffness=1e6, damping=1e5)
    sim = pliant.Simulation(robot, dt=0.1, **STIFF)
    sim.reset()
    trials = sim.rollout(periods=20, channels=("trials", "q"))
    # rates of 1e5 and 10 per second
    fast, slow = (-(1e5) - math.sqrt(1e10 - 4e6)) / 2, -1e6 / ((1e5 + math.sqrt(1e10 - 4e6)) / 2)
    t = 0.1 * np.arange(1, 21)
    rest = -9.81 / 1e6
    exact = rest * (1 - (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow))
    np.testing.assert_allclose(trials.q[:, 0], exact, atol=2e-9)
    assert trials["trials"].sum() < 300


@pytest.mark.parametrize("law", [pliant.SpringDamper(1e6, 2e3), pliant.AnchoredSpringDamper(1e5, 1e3)],
                         ids=["spring", "anchored"])  # fmt: skip
def test_stiff_contact(law: Any) -> None:
    """A ball that rests on stiff ground with a push along it; memory and slip take part."""
    builder = RobotBuilder("ball").gravity(0, 0, -9.81).body("ball", 1, (0, 0, 0), (4e-3, 0, 0, 4e-3, 0, 4e-3))
    robot = builder.build(base="free").with_contact("ball", radius=0.1)
    push = pliant.ExternalForce("ball", force=(1, 0, 0))
    options: dict[str, Any] = {"dt": 0.01, "ground": 0, "contact": pliant.CompliantContact(law), "forces": [push]}
    q, sims = [0, 0, 0.1, 0, 0, 0, 1], []
    for integrator in ("rosenbrock", "dormand-prince"):
        sims.append(ran(pliant.Simulation(robot, integrator=integrator, rtol=1e-7, **options), 0.2, q))
    np.testing.assert_allclose(sims[0].q, sims[1].q, atol=1e-6)
    np.testing.assert_allclose(sims[0].contact_forces[0, 2], 9.81, rtol=1e-2)
    assert not sims[0].troubles


def test_float32_and_batches() -> None:
    robot, q = flexible()
    sim = pliant.Simulation(robot, dt=0.01, precision="float32", batch=9, threads=2, rtol=1e-3, atol=1e-5, **STIFF)
    starts = np.repeat(q[None], 9, axis=0)
    starts[:, robot.q_slice("elbow").start] += np.linspace(0, 0.1, 9)
    one = pliant.Simulation(robot, dt=0.01, precision="float32", rtol=1e-3, atol=1e-5, **STIFF)
    sim.reset(q=starts)
    one.reset(q=starts[5])
    for _ in range(10):
        sim.step()
        one.step()
    np.testing.assert_array_equal(sim.data[5], one.data)
    assert not sim.troubles


# ---- springs between frames, implicitly


def arms(stiffness: float, damping: float = 0.0) -> Robot:
    """Two pendulums whose ends a spring joins: it couples branches that the mass matrix does not."""
    builder = RobotBuilder("arms").gravity(0, 0, -9.81).body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    for k, x in enumerate((0.0, 0.5)):
        builder.body(f"arm{k}", 1, (0, 0, -0.3), (0.03, 0, 0, 0.03, 0, 1e-3)).frame(f"end{k}", f"arm{k}", (0, 0, -0.6))
        builder.joint(f"hinge{k}", Revolute((0, 1, 0)), "ground", f"arm{k}", (x, 0, 0), (0, 0, 0))
    robot = builder.build(base="fixed")
    return robot.with_spring("end0", "end1", stiffness=stiffness, damping=damping, length=0.5)


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_the_midpoint_rule_takes_stiff_springs_between_frames(dt: float) -> None:
    """A spring of 1e7 N/m at steps of 50 of its periods: each step converges, and nothing grows."""
    robot = arms(1e7)
    sim = pliant.Simulation(robot, dt=dt, integrator="midpoint")
    sim.reset(q=[0.3, 0.3])
    log = sim.run(2.0)
    assert sim.diagnostics.unconverged == 0
    # the ends stay together, so it swings as two arms with one angle
    one = solve_ivp(lambda t, x: [x[1], -0.3 * 9.81 * math.sin(x[0]) / (0.03 + 0.09)], (0, 2), [0.3, 0],
                    rtol=1e-9, atol=1e-10).y[0, -1]  # fmt: skip
    np.testing.assert_allclose(log["q"][-1], one, atol=max(2e-4, 30 * dt**2))
    np.testing.assert_allclose(log["q"][:, 0], log["q"][:, 1], atol=1e-5)


def test_a_damped_spring_between_frames_by_both_implicit_integrators() -> None:
    robot = arms(1e5, 200.0)
    stiff = ran(pliant.Simulation(robot, dt=0.01, rtol=1e-8, **STIFF), 0.3, [0.3, 0.25])
    middle = ran(pliant.Simulation(robot, dt=1e-4, integrator="midpoint"), 0.3, [0.3, 0.25])
    np.testing.assert_allclose(middle.q, stiff.q, atol=1e-6)
