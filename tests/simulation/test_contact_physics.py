"""Rigid contact against closed forms: bounces, drops, slopes, sliding, rolling, rocking."""

import math

import numpy as np
import pytest

import pliant
from simple_bodies import G, ball, block, point_mass, positions, turned

# ---- impacts


def test_a_ball_bounces_to_the_heights_of_its_restitution() -> None:
    """Apexes at e^(2n) h; at rest from the Zeno time sqrt(2 h / g) (1 + e) / (1 - e) = 1.3545709 s on."""
    e, h = 0.5, 1.0
    sim = pliant.Simulation(ball(restitution=e), dt=1e-3, ground=pliant.flat())
    sim.reset(q=[0, 0, h + 0.1, 0, 0, 0, 1])
    log = sim.run(2.0, channels=("q", "v"))
    z, rate = positions(log)[:, 2] - 0.1, np.asarray(log["v"])[:, 2]
    apexes = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    # a bounce is seen within a step: its speed may be off by g dt, which is 1.8 % of that of the third one, and its
    # height by twice as much; the errors are smaller as a rule
    np.testing.assert_allclose(apexes[:3], h * e ** (2 * np.arange(1, 4)), rtol=1e-2)
    assert apexes[3] == pytest.approx(h * e**8, rel=2e-2)
    rest = log.t[np.flatnonzero(abs(rate) > G * 1e-3)[-1]]
    # bounces slower than g dt are of a single step, and no longer timed; those before may each be late by a step
    assert rest == pytest.approx(1.3545709, abs=8e-3)
    assert abs(rate[log.t > 1.45]).max() < 1e-9
    assert z.min() > -1e-9


def test_heights_of_bounces_converge_with_the_step() -> None:
    errors = []
    for dt in (1e-3, 1e-4):
        sim = pliant.Simulation(ball(restitution=0.8), dt=dt, ground=pliant.flat())
        sim.reset(q=[0, 0, 1.1, 0, 0, 0, 1])
        z = positions(sim.run(1.5, channels=("q",)))[:, 2] - 0.1
        apexes = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
        errors.append(np.abs(apexes[:2] / 0.8 ** np.array([2, 4]) - 1).max())
    assert errors[1] < errors[0] / 3, errors
    assert errors[1] < 1e-3


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3])
def test_a_drop_without_restitution_neither_sinks_nor_rebounds(dt: float) -> None:
    sim = pliant.Simulation(ball(), dt=dt, ground=pliant.flat())
    sim.reset(q=[0, 0, 1.1, 0, 0, 0, 1])
    z = positions(sim.run(1.0, channels=("q",)))[:, 2] - 0.1
    landed = int(np.argmax(z < 1e-6))
    assert landed * dt == pytest.approx(math.sqrt(2 / G), abs=dt)  # whole steps
    assert z.min() > -1e-4
    assert z[landed:].max() < 1e-6
    np.testing.assert_allclose(sim.contact_forces, [[0, 0, G]], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.4])
def test_a_rocking_block_loses_speed_as_housner_says(alpha: float) -> None:
    """On four corners it goes over from one edge to the other: w+ / w- = 1 - 3/2 sin^2(alpha)."""
    h, tilt, errors = 0.5, 0.05, []
    b = h * math.tan(alpha)
    for dt in (1e-3, 1e-4):
        sim = pliant.Simulation(
            block(size=(2 * b, 0.6, 2 * h)), dt=dt, ground=pliant.flat(), contact=pliant.RigidContact(friction=5)
        )
        c, s = math.cos(tilt), math.sin(tilt)
        sim.reset(q=[-b + c * b - s * h, 0, s * b + c * h, *turned(-tilt)])
        w = np.asarray(sim.run(0.25, channels=("v",))["v"])[:, 4]
        k = int(np.argmax(w))
        # the impact takes two steps, one to close the gap and one to stop
        errors.append(abs(w[k + 2] / w[k] - (1 - 1.5 * math.sin(alpha) ** 2)))
    # gravity acts for those steps too: 2 dt m g b / I_edge / w- < 25 dt, and the block is not quite flat yet
    assert errors[0] < 25e-3
    assert errors[1] < 25e-4


# ---- slopes


@pytest.mark.parametrize("degrees", [5, 20, 40])
def test_a_point_on_a_slope_sticks_if_and_only_if_the_slope_is_in_the_cone(degrees: int) -> None:
    """tan(slope) <= mu; else it slides with g (sin - mu cos)."""
    angle, shares = math.radians(degrees), np.array([0, 0.5, 0.99, 0.9999, 1.0001, 1.01, 2])
    mu = shares * math.tan(angle)
    ground = pliant.slope(angle, direction=0.6)
    sim = pliant.Simulation(point_mass(), dt=1e-3, ground=ground, batch=len(mu), varying=("friction",))
    sim.parameters["friction"] = mu
    sim.run(1.0, channels=())
    down = np.array([-math.cos(0.6) * math.cos(angle), -math.sin(0.6) * math.cos(angle), -math.sin(angle)])
    a = np.maximum(G * (math.sin(angle) - mu * math.cos(angle)), 0)
    # each step of the semi-implicit scheme is exact: v = a t, x = a t (t + dt) / 2; the solver goes to 1e-9 m/s
    np.testing.assert_allclose(sim.v, a[:, None] * down, atol=1e-7)
    np.testing.assert_allclose(sim.q, 0.5 * a[:, None] * 1.001 * down, atol=1e-7)
    assert np.abs(sim.q[mu > math.tan(angle)]).max() < 1e-12


def test_a_box_on_a_slope_does_not_creep() -> None:
    """mu 0.5 on 20 degrees, four corners on the ground: less than a nanometre in ten seconds."""
    angle = math.radians(20)
    sim = pliant.Simulation(
        block(size=(0.4, 0.3, 0.2)), dt=1e-3, ground=pliant.slope(angle), contact=pliant.RigidContact(friction=0.5)
    )
    start = [-0.1 * math.sin(angle), 0, 0.1 * math.cos(angle), *turned(-angle)]
    sim.reset(q=start)
    log = sim.run(10.0, channels=("q",), every=0.1)
    assert np.abs(positions(log) - start[:3]).max() < 1e-9
    # all corners together carry the weight
    np.testing.assert_allclose(sim.contact_forces.sum(axis=0), [0, 0, G], atol=1e-6)


def test_a_box_slides_down_a_slope() -> None:
    angle, mu = math.radians(30), 0.3
    sim = pliant.Simulation(
        block(size=(0.4, 0.3, 0.1)), dt=1e-3, ground=pliant.slope(angle), contact=pliant.RigidContact(friction=mu)
    )
    start = np.array([-0.05 * math.sin(angle), 0, 0.05 * math.cos(angle)])
    sim.reset(q=[*start, *turned(-angle)])
    sim.run(1.0, channels=())
    a = G * (math.sin(angle) - mu * math.cos(angle))
    # four corners that slide: what is left over from the solver, 1e-9 m/s a step, may turn it a little
    assert np.linalg.norm(sim.q[:3] - start) == pytest.approx(0.5 * a * 1.001, rel=1e-4)
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(a, rel=1e-4)


@pytest.mark.parametrize("model", ["rigid", "compliant"])
def test_a_ball_rolls_down_a_slope(model: str) -> None:
    """5/7 g sin(slope), as long as it does not slip: mu >= 2/7 tan(slope)."""
    angle = math.radians(15)
    law = pliant.SpringDamper(stiffness=1e5, damping=200, friction=0.5)
    contact = pliant.RigidContact(friction=0.5) if model == "rigid" else pliant.CompliantContact(law)
    sink = 0 if model == "rigid" else G * math.cos(angle) / 1e5
    sim = pliant.Simulation(ball(), dt=1e-3, ground=pliant.slope(angle), contact=contact)
    start = np.array([-math.sin(angle), 0, math.cos(angle)]) * (0.1 - sink)
    sim.reset(q=[*start, *turned(0)])
    sim.run(1.0, channels=())
    a = 5 / 7 * G * math.sin(angle)
    # compliant friction is a damper at rest, so it slips a little: slip_speed = 1 mm/s of 1.8 m/s
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(a, rel=1e-9 if model == "rigid" else 1e-3)
    assert np.linalg.norm(sim.q[:3] - start) == pytest.approx(a / 2, rel=2e-3)


# ---- friction on level ground


@pytest.mark.parametrize("mu", [0.1, 0.5])
def test_a_sliding_ball_starts_to_roll(mu: float) -> None:
    """From 2 v0 / (7 mu g) on with 5/7 v0."""
    v0, dt = 2.0, 1e-4
    sim = pliant.Simulation(ball(), dt=dt, ground=pliant.flat(), contact=pliant.RigidContact(friction=mu))
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1], v=[v0, 0, 0, 0, 0, 0])
    ends = 2 * v0 / (7 * mu * G)
    log = sim.run(round(1.5 * ends, 4), channels=("q", "v"))
    q, v = np.asarray(log["q"]), np.asarray(log["v"])
    half = 2 * np.arctan2(q[:, 4], q[:, 6])  # it turns about y; v is in its own axes
    speed = v[:, 0] * np.cos(half) + v[:, 2] * np.sin(half)
    slip = speed - 0.1 * v[:, 4]
    rolls = log.t[np.argmax(np.abs(slip) < 1e-8)]
    assert rolls == pytest.approx(ends, abs=1.1 * dt)
    # rolling is exact: the last impulse of friction is cut to what stops the slip
    np.testing.assert_allclose(speed[log.t > rolls], 5 / 7 * v0, rtol=1e-9)
    before = log.t < ends - dt
    np.testing.assert_allclose(speed[before], v0 - mu * G * log.t[before], rtol=1e-9)


def test_friction_is_the_same_in_all_directions() -> None:
    """Sixteen directions: deceleration mu g, and the stopping distance that its steps add up to."""
    angles = np.arange(16) * math.pi / 8 + 0.01
    mu, v0, dt = 0.5, 1.0, 1e-3
    sim = pliant.Simulation(
        point_mass(), dt=dt, ground=pliant.flat(), contact=pliant.RigidContact(friction=mu), batch=16
    )
    sim.reset(v=v0 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1))
    log = sim.run(0.4, channels=("q", "v"))
    speed = np.linalg.norm(log["v"], axis=2)
    np.testing.assert_allclose(speed[:, 100], v0 - mu * G * 0.1, rtol=1e-9)
    assert np.ptp(speed[:, 100]) < 1e-12
    steps = int(v0 / (mu * G * dt))
    distance = sum(v0 - mu * G * dt * k for k in range(1, steps + 1)) * dt
    np.testing.assert_allclose(np.linalg.norm(sim.q, axis=1), distance, rtol=1e-9)
    np.testing.assert_allclose(sim.q[:, 1] * np.cos(angles), sim.q[:, 0] * np.sin(angles), atol=1e-9)
    np.testing.assert_array_equal(np.abs(sim.v) < 1e-12, True)
    # v0^2 / (2 mu g) up to v0 dt / 2
    np.testing.assert_allclose(distance, v0**2 / (2 * mu * G), atol=0.6 * v0 * dt)


def test_friction_of_a_box_is_the_same_in_all_directions() -> None:
    """Four corners with equal loads, on a cube that is flat enough not to tip."""
    angles = np.arange(16) * math.pi / 8
    sim = pliant.Simulation(
        block(size=(0.4, 0.4, 0.04)), dt=1e-3, ground=pliant.flat(), contact=pliant.RigidContact(friction=0.4),
        batch=16,
    )  # fmt: skip
    q = np.zeros((16, 7))
    q[:, 2], q[:, 6] = 0.02, 1
    v = np.zeros((16, 6))
    v[:, 0], v[:, 1] = np.cos(angles), np.sin(angles)
    sim.reset(q=q, v=v)
    sim.run(0.4, channels=())
    distance = np.linalg.norm(sim.q[:, :2], axis=1)
    np.testing.assert_allclose(distance, distance.mean(), rtol=1e-6)
    np.testing.assert_allclose(distance, 1 / (2 * 0.4 * G), atol=1e-3)


@pytest.mark.parametrize("model", ["rigid", "compliant"])
def test_sliding_deceleration_does_not_depend_on_speed(model: str) -> None:
    """mu g at 0.1, 1 and 4 m/s."""
    mu, k = 0.5, 1e5
    law = pliant.SpringDamper(stiffness=k, damping=500, friction=mu)
    contact = pliant.RigidContact(friction=mu) if model == "rigid" else pliant.CompliantContact(law)
    speeds = np.array([0.1, 1, 4])
    sim = pliant.Simulation(point_mass(), dt=1e-3, ground=pliant.flat(), contact=contact, batch=3)
    sim.reset(q=[0, 0, 0 if model == "rigid" else -G / k], v=np.stack([speeds, 0 * speeds, 0 * speeds], axis=1))
    sim.run(0.015, channels=())
    # 15 steps, each solved to 1e-9 m/s
    np.testing.assert_allclose((speeds - sim.v[:, 0]) / 0.015, mu * G, rtol=1e-6)
