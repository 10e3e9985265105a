"""Balls on waves, stairs and height maps: never far in the ground, and at rest where it is level."""

import math

import numpy as np
import pytest

import pliant
from pliant.contact import Ground
from simple_bodies import G, ball, positions

BUMPS = np.random.default_rng(9).uniform(0, 0.15, (9, 9))
GROUNDS = {
    "waves": pliant.waves(0.1, 2.0),
    "ridges": pliant.waves(0.08, 1.0, direction=0.4),
    "height map": pliant.height_map(BUMPS, spacing=0.5, origin=(-2, -2)),
    "function": Ground(lambda x, y: 0.1 * pliant.math.sin(2 * x) * pliant.math.cos(y) + 0.05 * y),
}


def thrown(ground: Ground, n: int, seed: int, seconds: float, **contact: float) -> tuple[pliant.Simulation, pliant.Log]:
    """Balls of 0.1 m dropped from up to a metre, with up to 1 m/s sideways."""
    rng = np.random.default_rng(seed)
    sim = pliant.Simulation(ball(), dt=1e-3, ground=ground, contact=pliant.RigidContact(**contact), batch=n)
    q = np.zeros((n, 7))
    q[:, :2] = rng.uniform(-1, 1, (n, 2))
    q[:, 2] = ground.height(q[:, 0], q[:, 1]) + rng.uniform(0.2, 1, n)
    q[:, 6] = 1
    v = np.zeros((n, 6))
    v[:, :3] = rng.uniform(-1, 1, (n, 3))
    sim.reset(q=q, v=v)
    return sim, sim.run(seconds, channels=("q", "v", "energy"), every=5 * sim.dt)


def gap(ground: Ground, p: np.ndarray) -> np.ndarray:
    """To the plane that is tangent below the center, as a contact has it."""
    height, normal = ground.surface(p[..., 0], p[..., 1])
    return (p[..., 2] - height) * np.asarray(normal.z) - 0.1


@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.parametrize("restitution", [0, 0.5])
def test_balls_stay_above_the_ground(name: str, restitution: float) -> None:
    """The plane below the center turns while the ball moves: the gap shrinks by r h' h'' v, and a fifth is taken back.

    On the ridges, with h' = 0.5, h'' = 3 / m and 1 m/s, that is 0.15 mm a step, or 0.75 mm in all.
    """
    ground = GROUNDS[name]
    sim, log = thrown(ground, 16, 1, 2.0, restitution=restitution)
    depth = -gap(ground, positions(log)).min()
    # the normal of a height map jumps from cell to cell, by up to 0.3 rad: r (1 / cos - 1) = 5 mm
    assert depth < (5e-3 if name == "height map" else 1e-3)
    assert not sim.divergences


def test_balls_on_stairs() -> None:
    """Treads are level: a ball at rest sits on one, its center never below the tread."""
    ground = pliant.stairs(0.1, 0.4, steps=5)
    sim, log = thrown(ground, 16, 2, 2.0)
    p = positions(log)
    # the contact is below the center, which may be over the end of a narrow riser: a step of 1 m/s goes 1 mm
    assert (p[..., 2] - ground.height(p[..., 0], p[..., 1])).min() > 0.1 - 2e-3
    assert p[..., 2].min() > 0.1 - 1e-6
    assert not sim.divergences


def test_energy_on_waves_does_not_grow() -> None:
    """Without restitution, contacts only take energy; what the steps add is of first order in dt."""
    _, log = thrown(GROUNDS["waves"], 16, 3, 3.0, friction=0.3)
    energy = np.asarray(log["energy.kinetic"]) + np.asarray(log["energy.potential"])
    scale = energy[:, :1] + 2  # above the lowest place, -0.1 m
    assert (np.diff(energy, axis=1) / scale).max() < 5e-4
    assert (energy[:, -1] < energy[:, 0]).all()


def test_a_ball_comes_to_rest_in_a_hollow() -> None:
    """A frictionless ball in a bowl oscillates with g h'' for small swings: w^2 = g k^2 a."""
    a, length = 0.05, 4.0
    k = 2 * math.pi / length
    ground = pliant.waves(a, length, direction=0)
    bottom = -length / 4
    sim = pliant.Simulation(ball(radius=1e-3), dt=1e-3, ground=ground, contact=pliant.RigidContact(friction=0))
    x0 = bottom + 0.05
    sim.reset(q=[x0, 0, float(ground.height(x0, 0.0)) + 1e-3, 0, 0, 0, 1])
    x = positions(sim.run(10.0, channels=("q",)))[:, 0] - bottom
    w = math.sqrt(G * a) * k
    crossings = np.flatnonzero(np.diff(np.sign(x))) * 1e-3
    # small swings: k x0 = 0.08, whose square is the error, over 4; and the slope adds (k a)^2
    assert np.diff(crossings).mean() == pytest.approx(math.pi / w, rel=1e-2)


@pytest.mark.parametrize("direction", [0, 1.0, 2.5])
def test_a_ball_rolls_down_any_slope(direction: float) -> None:
    """5/7 g sin(slope), downhill."""
    angle = math.radians(10)
    ground = pliant.slope(angle, direction=direction)
    sim = pliant.Simulation(ball(), dt=1e-3, ground=ground)
    n = np.array([float(x) for x in ground.surface(0.0, 0.0)[1]])
    sim.reset(q=[*(0.1 * n), 0, 0, 0, 1])
    sim.run(1.0, channels=())
    moved = sim.q[:3] - 0.1 * n
    downhill = -np.array(
        [math.cos(direction) * math.cos(angle), math.sin(direction) * math.cos(angle), math.sin(angle)]
    )
    # exact steps: a t (t + dt) / 2
    np.testing.assert_allclose(moved, 5 / 7 * G * math.sin(angle) / 2 * 1.001 * downhill, atol=1e-6)
