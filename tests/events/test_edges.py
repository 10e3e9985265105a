"""Stairs, event-driven: slides off treads, falls, landings on the next one, and slides against risers."""

import math

import numpy as np
import pytest

import pliant
from simple_bodies import G, ball, block, point_mass
from simulated_robots import ran

RISE, RUN, W = 0.2, 0.5, 0.005
# across the riser, out of the ground, and up along it; stairs go up in the direction of x
OUT = np.array([-RISE, 0, W]) / math.hypot(RISE, W)
UP = np.array([W, 0, RISE]) / math.hypot(RISE, W)


@pytest.mark.parametrize("friction", [0.0, 0.05])
def test_a_point_slides_off_one_tread_after_the_other(friction: float) -> None:
    """It slides to the edge, falls freely, lands on the next tread, where friction acts on the impulse, and so on."""
    x, v, t, expected = 0.3, 1.8, 0.0, []
    edges = [1.0 + RUN * k for k in range(2)]
    for edge in edges:
        # along the tread, v' = -mu g
        faster = math.sqrt(v**2 - 2 * friction * G * (edge - x))
        slide = 2 * (edge - x) / (v + faster)
        fall = math.sqrt(2 * RISE / G)
        expected += [("lift-off", t + slide, edge), ("touch-down", t + slide + fall, edge + faster * fall)]
        x, t = edge + faster * fall, t + slide + fall
        v = faster - friction * G * fall
        assert x < edge + RUN
        assert v > 0
    ground = pliant.stairs(-RISE, RUN, start=1.0, steps=5)
    sim = pliant.EventSimulation(point_mass(), ground=ground, friction=friction, rtol=1e-10, atol=1e-12)
    _, log = ran(sim, t + 0.01, [0.3, 0, 0], [1.8, 0, 0])
    found = [(e.kind, e.t, log.at(e.t)[0][0]) for e in log.events]
    assert [kind for kind, _, _ in found] == [kind for kind, _, _ in expected]
    np.testing.assert_allclose([e[1:] for e in found], [e[1:] for e in expected], atol=1e-8)
    assert sim.q[2] == pytest.approx(-2 * RISE, abs=1e-12)
    assert sim.v[0] == pytest.approx(v - friction * G * 0.01, abs=1e-8)


@pytest.mark.parametrize("speed", [3e-4, 2e-5])
def test_a_point_that_creeps_over_an_edge_slides_down_the_riser(speed: float) -> None:
    """Its length L at g H / L, H its height: it is down after sqrt(2 L^2 / g H), and goes on along the tread."""
    sim = pliant.EventSimulation(point_mass(), ground=pliant.stairs(-RISE, RUN, start=1.0, steps=5), friction=0)
    _, log = ran(sim, 0.5, [1 - 0.1 * speed, 0, 0], [speed, 0, 0])
    length = math.hypot(RISE, W)
    # speed / g earlier or later, since it has this speed on the way
    assert log.events[-1].t == pytest.approx(0.1 + math.sqrt(2 * length**2 / (G * RISE)), abs=speed / G + 1e-8)
    assert sim.v == pytest.approx([math.sqrt(2 * G * RISE) * W / length, 0, 0], abs=speed)
    assert sim.q[2] == pytest.approx(-RISE, abs=1e-12)


@pytest.mark.parametrize("across", [0.0, 0.7])
def test_a_ball_leaves_an_edge_where_it_must(across: float) -> None:
    """Slow, it turns around the edge until its weight no longer bends its way: cos(a) = (2 + v^2 / g R) / 3."""
    radius, v = 0.05, 0.4
    ground = pliant.stairs(-RISE, RUN, start=1.0, steps=5, direction=0.0)
    sim = pliant.EventSimulation(ball(radius=radius), ground=ground, friction=0, rtol=1e-10, atol=1e-12)
    _, log = ran(sim, 0.35, [0.9, 0, radius, 0, 0, 0, 1], [v, across, 0, 0, 0, 0])
    left = next(e for e in log.events if e.kind == "lift-off")
    (x, _, z, *_), velocity = log.at(left.t)
    cosine = (2 + v**2 / (G * radius)) / 3
    assert z / radius == pytest.approx(cosine, abs=1e-6)
    assert math.hypot(x - 1, z) == pytest.approx(radius, abs=1e-9)
    assert velocity[0] ** 2 + velocity[2] ** 2 == pytest.approx(v**2 + 2 * G * radius * (1 - cosine), rel=1e-6)


def test_a_fast_ball_flies_off_and_lands_on_the_next_tread() -> None:
    ground = pliant.stairs(-RISE, RUN, start=1.0, steps=5)
    sim = pliant.EventSimulation(ball(radius=0.05), ground=ground, friction=0, restitution=0.5, rtol=1e-10, atol=1e-12)
    _, log = ran(sim, 0.4, [0.8, 0, 0.05, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0])
    off, down = log.events[:2]
    assert (off.kind, down.kind) == ("lift-off", "touch-down")
    assert off.t == pytest.approx(0.1, abs=1e-8)
    assert down.t == pytest.approx(0.1 + math.sqrt(2 * RISE / G), abs=1e-8)
    assert log.at(down.t)[1][2] == pytest.approx(0.5 * math.sqrt(2 * RISE * G), abs=1e-7)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_point_slides_against_a_riser(restitution: float) -> None:
    """v+ = v - (1 + e) (n . v) n; without restitution it goes up the riser and comes back."""
    ground = pliant.stairs(RISE, RUN, start=1.0)
    sim = pliant.EventSimulation(point_mass(), ground=ground, friction=0, restitution=restitution)
    _, log = ran(sim, 0.3, [0.8, 0, 0], [2, 0, 0])
    hit = log.events[0]
    assert (hit.kind, round(hit.t, 9)) == ("touch-down", 0.1)
    v = np.array([2.0, 0, 0])
    after = v - (1 + restitution) * (OUT @ v) * OUT
    at = np.flatnonzero(log.t == hit.t)[-1]
    assert log.v[at] == pytest.approx(after, abs=1e-9)
    if not restitution:
        # with gravity along the riser
        back = log.events[1]
        assert back.t - hit.t == pytest.approx(2 * (UP @ v) / (G * UP[2]), abs=1e-7)
        # the tread stops it from falling, not from going back
        assert log.v[np.flatnonzero(log.t == back.t)[-1]] == pytest.approx([-(UP @ v) * UP[0], 0, 0], abs=1e-9)


def test_friction_in_a_corner_stops_a_point() -> None:
    """The riser's friction bears what its impulse gives, mu > tan of its lean: the point stays where it hits."""
    sim = pliant.EventSimulation(point_mass(), ground=pliant.stairs(RISE, RUN, start=1.0), friction=0.3)
    _, log = ran(sim, 1.0, [0.9, 0, 0], [1.2, 0.0, 0])
    t = (1.2 - math.sqrt(1.2**2 - 2 * 0.3 * G * 0.1)) / (0.3 * G)
    assert log.events[0].t == pytest.approx(t, abs=1e-9)
    assert abs(sim.v).max() < 1e-12
    assert sim.q == pytest.approx([1.0, 0, 0], abs=1e-9)
    assert sim.contact_forces.sum(axis=0) == pytest.approx([0, 0, G], abs=1e-9)


def test_a_box_slides_off_and_comes_to_rest_below() -> None:
    """Its corners leave the tread one pair after the other; nothing sinks in, no energy is gained."""
    ground = pliant.stairs(-0.1, 0.4, start=0.3, steps=3)
    sim = pliant.EventSimulation(block(size=(0.2, 0.1, 0.05)), ground=ground, friction=0.2)
    _, log = ran(sim, 2.5, [0, 0, 0.025, 0, 0, 0, 1], [1.6, 0, 0, 0, 0.0, 0])
    energy = log["energy.kinetic"] + log["energy.potential"]
    assert np.diff(energy).max() < 1e-8
    gaps = [sim.terms(t, q, v, np.zeros(0)).gap.min() for t, q, v in zip(log.t, log.q, log.v, strict=True)]
    assert min(gaps) > -1e-8
    assert log.q[-1, 2] < 0
    assert abs(sim.v).max() < 1e-6
