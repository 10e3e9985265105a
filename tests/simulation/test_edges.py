"""Stairs and height maps: risers stop and throw back, inner edges bear with both faces, outer edges let roll off."""

import math

import numpy as np
import pytest

import pliant
from pliant.control import hold
from pliant.spatial import Vector
from simple_bodies import G, ball, block
from simulated_robots import QUADRUPED, ran

H, RUN, W = 0.1, 0.3, 0.003
STAIRS = pliant.stairs(H, RUN, start=0.5, riser=W)
ALONG = np.array([W, H]) / math.hypot(W, H)  # of the riser, upwards
ACROSS = np.array([-H, W]) / math.hypot(W, H)


def rigid(ground: pliant.Ground, robot: pliant.Robot, mu: float = 0, e: float = 0, **options) -> pliant.Simulation:
    contact = pliant.RigidContact(friction=mu, restitution=e)
    return pliant.Simulation(robot, ground=ground, contact=contact, **options)


# ---- the side of a riser


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize(("radius", "speed"), [(0.02, 5.0), (0.02, 1.0), (0.06, 5.0)])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_ball_hits_a_riser(e: float, radius: float, speed: float, dt: float, precision: str) -> None:
    """Without friction: u+ = u - (1 + e) (u.n) n, and up it goes for a moment since the riser leans a little."""
    sim = rigid(STAIRS, ball(radius=radius), e=e, dt=dt, precision=precision)
    start = 0.5 - radius - 0.9 * 7.3 * speed * dt
    _, log = ran(sim, 20 * dt, [start, 0, radius, 0, 0, 0, 1], [speed, 0, 0, 0, 0, 0])
    u = log.v[:, [0, 2]].astype(float)
    after = np.array([speed, 0]) - (1 + e) * speed * ACROSS[0] * ACROSS
    k = int(np.flatnonzero(u[:, 0] < 0.9 * speed)[0])
    # within a step gravity takes g dt
    np.testing.assert_allclose(u[k], after, atol=2 * G * dt + 1e-5)
    # the plane of the riser, as far as the ball goes up: never inside, and the next tread is not reached
    q = log.q[:, [0, 2]].astype(float)
    assert ((q - [0.5, 0]) @ ACROSS).min() > radius - 2e-6
    assert q[:, 1].max() < radius + 0.03
    assert not sim.divergences


@pytest.mark.parametrize("rise", [H, -H])
@pytest.mark.parametrize("direction", [0.0, 2.0])
def test_a_fast_ball_does_not_climb(rise: float, direction: float) -> None:
    """Uphill, whichever way that is, for a batch of phases of the step: all stop at the first riser."""
    n, radius, dt = 16, 0.02, 5e-3
    ground = pliant.stairs(rise, RUN, direction=direction, riser=W)
    # stairs that go down are climbed from below, where the first riser ends at run + W
    way = np.array([math.cos(direction), math.sin(direction)]) * math.copysign(1, rise)
    edge = 0.0 if rise > 0 else -(RUN + W)
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    s = edge - radius - 0.06 - np.linspace(0, 5 * dt, n)
    q[:, :2], q[:, 6] = s[:, None] * way, 1
    q[:, 2] = np.asarray(ground.height(q[:, 0], q[:, 1])) + radius
    v[:, :2] = 5 * way
    low = q[:, 2].copy()
    sim, log = ran(rigid(ground, ball(radius=radius), mu=0.5, dt=dt, batch=n), 0.15, q, v)
    assert (log.q[:, :, 2] - low[:, None]).max() < radius
    assert (log.q[:, :, :2] @ way).max() < edge - 0.9 * radius
    assert (np.abs(sim.v[:, :2] @ way) < 0.5).all()


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_box_is_stopped_by_a_riser(dt: float) -> None:
    """Its corners are points. The lower ones in front hit first, since the riser leans; it comes to rest before it."""
    size = np.array([0.2, 0.1, 0.05])
    sim = rigid(STAIRS, block(size=tuple(size)), mu=0.3, dt=dt)
    _, log = ran(sim, 1.0, [0.2, 0, 0.025, 0, 0, 0, 1], [4, 0, 0, 0, 0, 0])
    corners = np.array(np.meshgrid(*([-s / 2, s / 2] for s in size))).reshape(3, -1).T
    x, y, z, w = log.q[:, 3:].T
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    at = log.q[:, None, :3] + np.einsum("ijt,kj->tki", R, corners)
    gaps = np.asarray(STAIRS.ball(Vector(*np.moveaxis(at, -1, 0)), 0)[0])
    # a turning box has a corner that moves on a circle
    assert gaps.min() > -1e-2 * (dt / 5e-3)
    assert 0.39 < log.q[:, 0].max() < 0.4 + W
    assert np.abs(sim.v).max() < 1e-6
    assert np.abs(sim.q[[3, 4]]).max() < 1e-5
    assert sim.q[2] == pytest.approx(0.025, abs=1e-5)


# ---- an inner edge


PUSH = 5.0
CONTACTS = {
    "rigid": pliant.RigidContact(friction=0),
    "compliant": pliant.CompliantContact(pliant.SpringDamper(1e5, 1e3, friction=0)),
}


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("contact", CONTACTS)
def test_a_ball_that_is_pushed_into_an_inner_edge(contact: str, precision: str) -> None:
    """The riser bears the push, the tread the rest of the weight; under its name the contact has the sum of both."""
    push = pliant.ExternalForce("ball", (PUSH, 0, 0))
    sim = pliant.Simulation(
        ball(radius=0.05), ground=STAIRS, contact=CONTACTS[contact], precision=precision, forces=[push]
    )
    sim.reset(q=[0.42, 0, 0.05, 0, 0, 0, 1])
    log = sim.run(1.5, channels=("impulses", "forces", "v"))
    forces = log["impulses"][-1].reshape(-1, 3) / sim.dt
    at_riser = PUSH / -ACROSS[0]
    exact = [[-PUSH, 0, at_riser * ACROSS[1]], [0, 0, G - at_riser * ACROSS[1]]]
    np.testing.assert_allclose(forces[forces[:, 0].argsort()], exact, atol=1e-6 if precision == "float64" else 1e-3)
    assert sim.contact_names == ["ball"]
    np.testing.assert_allclose(log["forces"][-1], [-PUSH, 0, G], atol=1e-3)
    assert np.abs(log.v[-1]).max() < 1e-6


def test_event_driven_has_the_same_inner_edge() -> None:
    sim = pliant.EventSimulation(
        ball(radius=0.05), ground=STAIRS, friction=0, forces=[pliant.ExternalForce("ball", (PUSH, 0, 0))]
    )
    _, log = ran(sim, 0.5, [0.44, 0, 0.05, 0, 0, 0, 1], channels=("q", "v", "forces", "power"))
    np.testing.assert_allclose(log["forces"][-1], [-PUSH, 0, G], atol=1e-9)
    assert sim.contact_names == ["ball"]
    assert sim.mode_name == "ball slides, ball slides"
    # as far from the riser as from the tread
    np.testing.assert_allclose((sim.q[[0, 2]] - [0.5, 0]) @ ACROSS, 0.05, atol=1e-9)


VALLEY = pliant.height_map(
    np.abs(np.arange(-4, 5))[:, None] * 0.05 + np.zeros((9, 9)), spacing=0.1, origin=(-0.4, -0.4)
)
SLANT = math.atan(0.5)


@pytest.mark.parametrize("contact", CONTACTS)
def test_a_ball_rests_in_a_valley_of_a_map(contact: str) -> None:
    """Both sides bear half of the weight: N = m g / (2 cos a)."""
    radius = 0.04
    sim = pliant.Simulation(ball(radius=radius), ground=VALLEY, contact=CONTACTS[contact])
    sim.reset(q=[0.02, 0.013, 0.1, 0, 0, 0, 1])
    log = sim.run(2.0, channels=("q", "v", "impulses"))
    forces = log["impulses"][-1].reshape(-1, 3) / sim.dt
    forces = forces[forces[:, 2] > 0]
    side = G / 2 * math.tan(SLANT)
    np.testing.assert_allclose(forces[forces[:, 0].argsort()], [[-side, 0, G / 2], [side, 0, G / 2]], atol=1e-6)
    # 1e5 N/m on both sides give by N / k
    sinks = 0 if contact == "rigid" else G / 2 / math.cos(SLANT) ** 2 / 1e5
    assert log.q[-1, 2] == pytest.approx(radius / math.cos(SLANT) - sinks, abs=2e-6)
    assert np.abs(log.v[-1]).max() < 1e-9


# ---- an outer edge


RADIUS, SPEED = 0.05, 0.2
CLIFFS = {
    "stairs": pliant.stairs(-1, 10.0, riser=1e-3),
    "map": pliant.height_map(
        np.where(np.arange(-8, 9) > 0, -1.0, 0.0)[:, None] + np.zeros((17, 3)), spacing=0.1, origin=(-0.8, -0.1)
    ),
}


def left_at(log: pliant.Log, k: int) -> float:
    """The cosine of the angle from the vertical at the edge."""
    return float(log.q[k, 2] / np.hypot(log.q[k, 0], log.q[k, 2]))


@pytest.mark.parametrize("name", CLIFFS)
@pytest.mark.parametrize("dt", [1e-3, 2e-4])
def test_a_ball_slides_off_an_edge(name: str, dt: float) -> None:
    """Without friction: v^2 = v0^2 + 2 g R (1 - cos a), and it leaves where g R cos a = v^2."""
    sim = rigid(CLIFFS[name], ball(radius=RADIUS), dt=dt)
    channels = ("q", "v", "forces", "energy")
    _, log = ran(sim, 0.5, [-0.05, 0, RADIUS, 0, 0, 0, 1], [SPEED, 0, 0, 0, 0, 0], channels=channels)
    last = int(np.flatnonzero(log["forces"][:, 2] > 0)[-1])
    exact = (SPEED**2 + 2 * G * RADIUS) / (3 * G * RADIUS)
    # a step turns the ball by v dt / R
    assert left_at(log, last) == pytest.approx(exact, abs=12 * dt)
    # the gap bends as the ball turns: what is left is of third order
    around = log.q[:, 0] > 0
    around[last + 1 :] = False
    assert np.abs(np.hypot(log.q[around, 0], log.q[around, 2]) - RADIUS).max() < 1e-6
    assert np.diff(log["energy.kinetic"] + log["energy.potential"]).max() < 1e-12


def test_a_ball_rolls_off_an_edge() -> None:
    """Rolling, 7/10 v^2 = 7/10 v0^2 + g R (1 - cos a): it leaves at cos a = (10 + 7 v0^2 / g R) / 17."""
    sim = rigid(CLIFFS["stairs"], ball(radius=RADIUS), mu=5)
    q, v = [-0.05, 0, RADIUS, 0, 0, 0, 1], [SPEED, 0, 0, 0, SPEED / RADIUS, 0]
    _, log = ran(sim, 0.5, q, v, channels=("q", "v", "forces", "energy"))
    last = int(np.flatnonzero(log["forces"][:, 2] > 0)[-1])
    assert left_at(log, last) == pytest.approx((10 + 7 * SPEED**2 / (G * RADIUS)) / 17, abs=0.012)
    assert np.diff(log["energy.kinetic"] + log["energy.potential"]).max() < 1e-12


def test_event_driven_slides_off_an_edge() -> None:
    sim = pliant.EventSimulation(ball(radius=RADIUS), ground=CLIFFS["stairs"], friction=0)
    _, log = ran(sim, 0.45, [-0.05, 0, RADIUS, 0, 0, 0, 1], [SPEED, 0, 0, 0, 0, 0])
    off = log.events[0]
    assert off.kind == "lift-off"
    at = int(np.searchsorted(log.t, off.t))
    assert left_at(log, at) == pytest.approx((SPEED**2 + 2 * G * RADIUS) / (3 * G * RADIUS), abs=1e-7)


# ---- thrown about


BUMPS = np.random.default_rng(3).uniform(0, 0.12, (25, 25))
ROUGH = {
    "stairs": pliant.stairs(0.1, 0.25, direction=0.4),
    "down": pliant.stairs(-0.15, 0.3, direction=-0.3, steps=4),
    "map": pliant.height_map(BUMPS, spacing=0.2, origin=(-2.4, -2.4)),
    "fine map": pliant.height_map(BUMPS / 2, spacing=0.08, origin=(-1, -1)),
}


@pytest.mark.parametrize("name", ROUGH)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_thrown_balls_stay_outside_and_gain_nothing(name: str, precision: str) -> None:
    n, radius, ground = 32, 0.06, ROUGH[name]
    rng = np.random.default_rng(1)
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    q[:, :2], q[:, 6] = rng.uniform(-0.7, 0.7, (n, 2)), 1
    q[:, 2] = 0.7
    v[:, :3] = rng.uniform(-2, 2, (n, 3))
    robot = ball(radius=radius)
    sim = rigid(ground, robot, mu=0.5, batch=n, precision=precision)
    sim, log = ran(sim, 2.0, q, v, channels=("q", "v", "energy", "solver"))
    p = np.moveaxis(log.q[..., :3].astype(float), -1, 0)
    gaps = np.asarray(ground.ball(Vector(*p), radius)[0])
    # a ball lands on one face of several within a step of 1 ms at 4 m/s; the others it meets in the next
    assert gaps.min() > -1e-3
    # energy from v of the middle of a step and q of its end: off by g v dt / 2
    energy = log["energy.kinetic"] + log["energy.potential"]
    assert (energy.max(axis=1) < energy[:, 0] + 0.03).all()
    assert (energy[:, -1] < energy[:, 0] - 1).all()
    assert log["solver"][..., 3].mean() < 1e-3
    assert not sim.divergences


def test_a_quadruped_stands_on_stairs_and_maps() -> None:
    """Put onto the ground, no foot is in it; held, it comes to rest and the feet carry its weight."""
    stance = np.asarray(QUADRUPED.stance(), dtype=float)
    robot, u = hold(QUADRUPED, stance)
    for ground in (pliant.stairs(0.05, 0.3), pliant.height_map(BUMPS / 4, spacing=0.2, origin=(-2.4, -2.4))):
        q = np.tile(stance, (4, 1))
        q[:, 0] = [0.0, 0.05, 0.1, 0.17]
        q = robot.on_ground(q, ground)
        sim = rigid(ground, robot, mu=0.9, batch=4)
        sim.reset(q=q)
        sim.run(2e-3, u=u, channels=())
        assert np.max(sim.diagnostics.penetration) < 1e-6
        log = sim.run(3.0, u=u, channels=("v", "forces"))
        total = log["forces"][:, -1].reshape(4, -1, 3).sum(axis=1)
        np.testing.assert_allclose(total, np.tile([0, 0, G * float(robot.mass)], (4, 1)), atol=0.5)
        assert np.abs(log.v[:, -1]).max() < 0.02


# ---- a cliff of one cell


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("e", [0.0, 1.0])
def test_a_ball_hits_a_cliff_of_a_map(e: float, dt: float, precision: str) -> None:
    """From x = 0.5 to 0.6 the ground rises by 0.8 m: without friction u+ = u - (1 + e) (u.n) n, as on a riser."""
    heights = np.where(np.arange(12) > 5, 0.8, 0.0)[:, None] + np.zeros((12, 5))
    ground = pliant.height_map(heights, spacing=0.1, origin=(0, -0.2))
    n = np.array([-0.8, 0.1]) / math.hypot(0.8, 0.1)
    sim = rigid(ground, ball(radius=0.03), e=e, dt=dt, precision=precision)
    _, log = ran(sim, 0.12, [0.2, 0.013, 0.03, 0, 0, 0, 1], [4, 0, 0, 0, 0, 0])
    u = log.v[:, [0, 2]].astype(float)
    k = int(np.flatnonzero(u[:, 0] < 3.5)[0])
    np.testing.assert_allclose(u[k], [4, 0] - (1 + e) * 4 * n[0] * n, atol=2 * G * dt)
    # the face of the cliff: never inside
    assert ((log.q[:, [0, 2]].astype(float) - [0.5, 0]) @ n).min() > 0.03 - 5e-6


# ---- energy


@pytest.mark.parametrize("kind", ["rigid", "compliant", "rk4"])
def test_the_power_of_both_faces_is_accounted_for(kind: str) -> None:
    """A ball that slides into an inner edge: what contacts take, along their normals and across, is what is lost."""
    if kind == "rigid":
        sim = rigid(STAIRS, ball(radius=0.05), mu=0.4, dt=1e-4)
    else:
        contact = pliant.CompliantContact(pliant.SpringDamper(1e4, 50, friction=0.4))
        integrator = "rk4" if kind == "rk4" else "semi-implicit"
        sim = pliant.Simulation(ball(radius=0.05), ground=STAIRS, contact=contact, dt=1e-4, integrator=integrator)
    _, log = ran(sim, 0.3, [0.4, 0, 0.05, 0, 0, 0, 1], [1.5, 0, 0, 0, 0, 0], channels=("q", "energy", "power"))
    energy = log["energy.kinetic"] + log["energy.potential"]
    power = log["power.impacts"] + log["power.sliding"]
    done = np.cumsum(power[1:]) * sim.dt
    lost = energy[0] - energy[-1]
    assert lost > 0.5
    # the whole kinetic energy is m v^2 / 2 = 1.1 J; a step of 0.1 ms resolves it to a few per mille
    np.testing.assert_allclose(energy[1:] - energy[0], done, atol=1e-2)
