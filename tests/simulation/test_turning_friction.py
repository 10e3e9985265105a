"""Torsional and rolling friction: balls and wheels that spin and roll come to rest as closed forms say."""

import math
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.contact.moments import moment_at, moment_residual
from pliant.errors import RobotError, SimulationError
from pliant.robot import RobotBuilder
from pliant.spatial import Symmetric3, Vector
from simple_bodies import G, ball
from simulated_robots import ran

RADIUS = 0.1
INERTIA = 0.4 * RADIUS**2
PRECISIONS = ("float64", "float32")


def simulated(robot: Any, ground: Any = None, *, precision: str = "float64", mu: float = 1.0) -> Any:
    contact = pliant.RigidContact(friction=mu)
    return pliant.Simulation(robot, ground=ground or pliant.flat(), contact=contact, precision=precision)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_ball_that_spins_on_its_pole_stops(precision: str) -> None:
    """After I w / (torsion m g), and up to then its spin falls evenly."""
    torsion, spin = 0.01, 20.0
    end = INERTIA * spin / (torsion * G)
    q, v = [0, 0, RADIUS, 0, 0, 0, 1], [0, 0, 0, 0, 0, spin]
    sim, log = ran(simulated(ball(radius=RADIUS, torsion=torsion), precision=precision), 1.5 * end, q, v, every=1e-3)
    # within a step, in which it stops
    np.testing.assert_allclose(log.v[:, 5], spin * np.maximum(1 - log.t / end, 0), atol=1.1e-3 * spin / end)
    assert np.abs(sim.v).max() < 1e-12
    np.testing.assert_allclose(sim.q[:3], q[:3], atol=1e-6)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_ball_that_rolls_stops(precision: str) -> None:
    """About the place of contact, rolling m g slows I + m R^2: it comes to rest after v^2 / 2a, and stays."""
    rolling, speed = 0.005, 1.0
    slowing = rolling * G * RADIUS / (INERTIA + RADIUS**2)
    robot = ball(radius=RADIUS, rolling=rolling, torsion=rolling)
    q, v = [0, 0, RADIUS, 0, 0, 0, 1], [0.6, 0.8, 0, -8, 6, 0]
    sim, log = ran(simulated(robot, precision=precision), 1.2 * speed / slowing, q, v, every=1e-3)
    going = np.maximum(speed - slowing * log.t, 0)
    np.testing.assert_allclose(np.linalg.norm(log.v[:, :3], axis=1), going, atol=1.1e-3 * slowing)
    # positions are half a step ahead
    assert np.linalg.norm(sim.q[:2]) == pytest.approx(speed**2 / (2 * slowing), rel=1e-3)
    # straight on
    assert sim.q[1] / sim.q[0] == pytest.approx(0.8 / 0.6, rel=1e-4)
    assert np.abs(sim.v).max() < 1e-7


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_ball_stays_on_a_slope_up_to_its_rolling_friction(share: float, precision: str) -> None:
    """It rolls if tan(a) > rolling / R, with the acceleration of what is left."""
    rolling = 0.005
    angle = math.atan(share * rolling / RADIUS)
    robot, ground = ball(radius=RADIUS, rolling=rolling), pliant.slope(-angle)
    q = robot.on_ground([0, 0, 1, 0, 0, 0, 1], ground)
    sim, _ = ran(simulated(robot, ground, precision=precision), 2, q)
    left = G * (math.sin(angle) - rolling / RADIUS * math.cos(angle)) / 1.4 if share > 1 else 0.0
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(2 * left, rel=2e-4, abs=1e-8)
    assert sim.q[0] == pytest.approx(2 * left * math.cos(angle), rel=2e-3, abs=1e-8)
    assert sim.diagnostics.is_converged


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_wheel_on_an_axle_stops(precision: str) -> None:
    """A cart on four wheels: each wheel's moment brakes it by rolling / R of the weight."""
    builder = RobotBuilder("cart")
    builder.body("frame", 4, (0, 0, 0), (0.1, 0, 0, 0.2, 0, 0.3))
    about = 0.5 * RADIUS**2 / 4
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        builder.body(f"wheel{k}", 0.5, (0, 0, 0), (about, 0, 0, 2 * about, 0, about))
        builder.joint(f"axle{k}", "continuous", "frame", f"wheel{k}", (x, y, 0), axis=(0, 1, 0))
        builder.frame(f"rim{k}", f"wheel{k}", (0, 0, 0), (math.pi / 2, 0, 0))
    cart, rolling = builder.build(base="free"), 0.004
    for k in range(4):
        cart = cart.with_contact(f"rim{k}", rim=RADIUS, rolling=rolling)
    slowing = 6 * G * rolling / RADIUS / (6 + 4 * 2 * about / RADIUS**2)
    sim, _ = ran(simulated(cart, precision=precision), 1, cart.on_ground(cart.neutral()), [1, *[0] * 5, *[10] * 4])
    # it nods a little as it is let go
    assert sim.v[0] == pytest.approx(1 - slowing, rel=2e-3)
    sim.run(3)
    assert np.abs(sim.v).max() < 1e-5


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_thrown_coin_comes_to_rest(precision: str) -> None:
    """Without these it would run around on its rim for ever."""
    builder = RobotBuilder("coin")
    builder.body("coin", 1, (0, 0, 0), (0.0025, 0, 0, 0.0025, 0, 0.005))
    coin = builder.build(base="free").with_contact("coin", rim=RADIUS, rolling=0.002, torsion=0.002)
    tilted = [0, 0, 0.15, math.sin(0.2), 0, 0, math.cos(0.2)]
    sim, _ = ran(simulated(coin, precision=precision, mu=0.5), 4, tilted, [0.3, 0, 0, 1, 2, 3])
    assert np.abs(sim.v).max() < 1e-7
    assert abs(sim.q[2]) < 3e-6


def test_the_ledger_has_the_work_of_moments() -> None:
    sim = simulated(ball(radius=RADIUS, rolling=0.005, torsion=0.005))
    sim.reset(q=[0, 0, RADIUS, 0, 0, 0, 1], v=[1, 0, 0, 0, 10, 5])
    log = sim.run(1, every=1e-3, channels=("q", "v", "energy", "power"))
    lost = log["energy.kinetic"][0] - log["energy.kinetic"][-1]
    assert lost > 0.3
    # velocities in the mean of a step, axes at its end: parts of (w dt)^2
    assert -log["power.sliding"][1:].sum() * 1e-3 == pytest.approx(lost, rel=1e-4)


def test_a_batch_and_a_state_that_goes_on() -> None:
    """Moments are part of the state: a run in two parts is the same as one."""
    robot = ball(radius=RADIUS, rolling=0.005, torsion=0.01)
    v = [[1, 0, 0, 0, 10, 5], [0, 0.5, 0, -5, 0, -3], [0] * 6]
    ends = []
    for parts in ((1.0,), (0.4, 0.6)):
        sim = pliant.Simulation(robot, ground=pliant.slope(0.04), batch=3)
        sim.reset(q=[[0, 0, RADIUS / math.cos(0.04), 0, 0, 0, 1]] * 3, v=v)
        for part in parts:
            sim.run(part)
        ends.append(np.array(sim.q))
    np.testing.assert_array_equal(*ends)


def test_the_law_at_one_contact() -> None:
    """From any moment, repeated visits end where the law holds: K is that of an uneven body."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        A = rng.standard_normal((3, 3))
        full = A @ A.T + 0.3 * np.eye(3)
        K = Symmetric3(*(float(full[a, b]) for a in range(3) for b in range(a, 3)))
        free = Vector(*rng.standard_normal(3).tolist())
        torsion, rolling, push = rng.uniform(0, 1, 3).tolist()
        m = Vector(0, 0, 0)
        for _ in range(400):
            m = moment_at(free + K @ m, m, K, torsion, rolling, push)
        assert moment_residual(free + K @ m, m, torsion, rolling, push, K) < 1e-7


def test_who_has_none_says_so() -> None:
    robot = ball(radius=RADIUS, rolling=0.01)
    with pytest.raises(SimulationError, match=r"contact 'ball' has torsional or rolling friction.*RigidContact"):
        pliant.Simulation(robot, ground=pliant.flat(), contact=pliant.CompliantContact())
    with pytest.raises(SimulationError, match=r"contact 'ball' has torsional or rolling friction.*use Simulation"):
        pliant.EventSimulation(robot, ground=pliant.flat())
    with pytest.raises(RobotError, match="rolling of contact 'ball' is -1"):
        ball(radius=RADIUS, rolling=-1)
    assert robot.digest != ball(radius=RADIUS).digest
