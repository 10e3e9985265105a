"""Balls on curved ground: they touch where they are nearest, and roll as pendulums do."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ellipk

import pliant
from pliant.math import sqrt
from pliant.spatial import Vector
from simple_bodies import G, ball
from simulated_robots import ran

RADIUS, BOWL, START = 0.1, 0.5, 0.6
LENGTH = BOWL - RADIUS

bowl = pliant.Ground(lambda x, y: BOWL - sqrt(BOWL**2 - x * x - y * y), name="bowl")
waves = pliant.waves(0.05, 1.2)

SIMULATIONS = {
    "rigid": lambda robot, mu: pliant.Simulation(robot, ground=bowl, contact=pliant.RigidContact(friction=mu)),
    "float32": lambda robot, mu: pliant.Simulation(
        robot, ground=bowl, contact=pliant.RigidContact(friction=mu), precision="float32"
    ),
    "compliant": lambda robot, mu: pliant.Simulation(
        robot, ground=bowl, contact=pliant.CompliantContact(pliant.SpringDamper(1e6, 1e3, friction=mu))
    ),
    "event-driven": lambda robot, mu: pliant.EventSimulation(robot, ground=bowl, friction=mu),
}


# without friction a ball is a pendulum of the length 0.4 m; rolling, it has 7/5 of the inertia
@pytest.mark.parametrize(("mu", "inertia"), [(0.0, 1.0), (1.0, 1.4)])
@pytest.mark.parametrize(("kind", "period", "energy"), [
    ("rigid", 1e-5, 1e-3), ("float32", 1e-4, 1e-3), ("compliant", 1e-4, 2e-3), ("event-driven", 1e-8, 1e-5),
])  # fmt: skip
def test_a_ball_in_a_bowl(kind: str, period: float, energy: float, mu: float, inertia: float) -> None:
    exact = 4 * math.sqrt(inertia * LENGTH / G) * ellipk(math.sin(START / 2) ** 2)
    q = [LENGTH * math.sin(START), 0, BOWL - LENGTH * math.cos(START), 0, 0, 0, 1]
    _, log = ran(SIMULATIONS[kind](ball(radius=RADIUS), mu), 4 * exact, q, every=1e-3)
    x = log.q[:, 0].astype(float)
    at = np.flatnonzero(np.sign(x[:-1]) != np.sign(x[1:]))
    crossings = log.t[at] - x[at] * np.diff(log.t)[at] / np.diff(x)[at]
    assert 2 * np.diff(crossings).mean() == pytest.approx(exact, rel=period)
    # the ball comes back to its height: kinetic energy is small there, and half a step matters little
    tops = np.abs(x)[np.flatnonzero((np.diff(np.abs(x))[:-1] > 0) & (np.diff(np.abs(x))[1:] <= 0)) + 1]
    assert len(tops) >= 6
    heights = BOWL - np.sqrt(LENGTH**2 - tops**2)
    fall = LENGTH * (1 - math.cos(START))
    assert np.abs(heights - heights[0]).max() / fall < energy


def test_a_ball_on_a_wave_keeps_its_energy() -> None:
    """Across hills and hollows, without friction: the same as the event-driven motion, where it stays on the ground."""
    robot, q = ball(radius=RADIUS), [0.1, 0.05, 1, 0, 0, 0, 1]
    q = robot.on_ground(q, waves)
    exact, _ = ran(pliant.EventSimulation(robot, ground=waves, friction=0), 1.0, q, [0.4, 0.2, 0, 0, 0, 0])
    sim, log = ran(
        pliant.Simulation(robot, ground=waves, contact=pliant.RigidContact(friction=0)), 1.0, q, [0.4, 0.2, 0, 0, 0, 0]
    )
    np.testing.assert_allclose(sim.q[:3], exact.q[:3], atol=2e-4)
    # v is that of the middle of a step; the first velocity given is brought into the ground's tangent
    energy = (log.v[1:, :3] ** 2).sum(axis=1) / 2 + G * (log.q[1:, 2] - 0.5e-3 * log.v[1:, 2])
    assert np.abs(energy - energy[0]).max() < 3e-4


@pytest.mark.parametrize("ground", [bowl, waves, pliant.slope(0.4, direction=0.3)])
def test_the_gap_is_the_distance(ground: pliant.Ground) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = rng.uniform(-0.2, 0.2, 2)
        height, n = ground.surface(x, y)
        center = np.array([x, y, float(height)]) + (RADIUS + 1e-3) * np.array([float(c) for c in n])

        def distance(p: np.ndarray, center: np.ndarray = center) -> float:
            return float(np.linalg.norm([*p, float(ground.height(*p))] - center))

        nearest = minimize(distance, [x, y], tol=1e-12).fun
        gap, normal = ground.ball(Vector(*center), RADIUS)
        # the place is that of a ball that just touches: of second order in the gap of 1 mm
        assert float(gap) == pytest.approx(nearest - RADIUS, abs=1e-6)
        np.testing.assert_allclose([float(c) for c in normal], [float(c) for c in n], atol=1e-2)


def test_a_ball_is_put_onto_curved_ground() -> None:
    robot = ball(radius=RADIUS)
    q = robot.on_ground([0.2, -0.1, 3, 0, 0, 0, 1], bowl)
    assert np.linalg.norm(q[:3] - [0, 0, BOWL]) == pytest.approx(LENGTH, abs=1e-9)
    many = robot.on_ground(np.tile(q, (3, 1)), bowl, height=0.01)
    np.testing.assert_allclose(many[:, 2], q[2] + 0.01, rtol=0, atol=1e-9)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_ground_without_a_height_says_so(precision: str) -> None:
    """A ball that leaves the bowl, where the root has no value, is frozen by name; the other rolls on."""
    sim = pliant.Simulation(ball(radius=RADIUS), ground=bowl, batch=2, precision=precision)
    sim.reset(q=[[0, 0, 0.1, 0, 0, 0, 1], [0.3, 0, 1, 0, 0, 0, 1]], v=[[0.1, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0]])
    with pytest.warns(pliant.SimulationWarning, match="the ground has no finite height or slope at contact 'ball'"):
        sim.run(0.3)
    (found,) = sim.divergences
    assert found.robot == 1
    assert sim.q[0, 0] != 0 and np.isfinite(sim.data).all()
