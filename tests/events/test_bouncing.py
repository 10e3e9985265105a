"""Impacts and edges whose outcome is known: a ball that bounces or skids, a block that rocks, ramps and stairs."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import pliant
from simple_bodies import G, jumps, planar_block, point
from simulated_robots import ball, ran

E, HEIGHT = 0.7, 0.5
ZENO = math.sqrt(2 * HEIGHT / G) * (1 + E) / (1 - E)


@pytest.fixture(scope="module")
def bounces():
    return ran(pliant.EventSimulation(point(1.5), ground=pliant.flat(), restitution=E), ZENO + 0.5, [0, HEIGHT])[1]


def test_every_bounce_is_on_time(bounces) -> None:
    # t_k = t_0 + 2 v_0 / g (e + ... + e^k); the motion between is a polynomial that the integrator has exactly.
    # The root search finds bounce k late by d_k, 0 <= d_k <= 1e-12 s =: d, when the point is v_k d_k below the ground
    # and faster by g d_k. To first order, the next bounce is then
    #     slower by g d_k (1/e - e):      |dv_k| <= g d (1/e - e) / (1 - e), the sum of a geometric series, and
    #     at dt_{k+1} = dt_k + 2 e dv_k / g + d_k (1 + 2 e - 1/e),
    # so that |dt_k| <= k 2 (1 + e) d, and k bounces and the lateness of the last one are (1 + 2 (1 + e) k) d.
    # Rounding is below: a few 1e-16 m of height over the slowest speed, 0.02 m/s, are 0.02 d a bounce.
    fall = math.sqrt(2 * HEIGHT / G)
    for k, event in enumerate(bounces.events[:15]):
        by_hand = fall * (1 + 2 * sum(E**j for j in range(1, k + 1)))
        assert event.t == pytest.approx(by_hand, abs=(1 + 2 * (1 + E) * k) * 1e-12)
        before, after = jumps(bounces, event)
        assert bounces.v[after, 1] == pytest.approx(-E * bounces.v[before, 1], rel=1e-12)
        assert event.energy_lost == pytest.approx(0.75 * (1 - E**2) * bounces.v[before, 1] ** 2, rel=1e-12)


def test_it_rests_after_infinitely_many_bounces(bounces) -> None:
    # bounces slower than rest_speed = 1e-5 m/s, which would last 2 v / g / (1 - e), are left out
    assert bounces.events[-1].t == pytest.approx(ZENO, abs=1e-5)
    assert bounces.events[-1].after == "mass sticks"
    late = bounces.between(ZENO + 1e-3, math.inf)
    assert np.allclose(late["forces", "mass.z"], 1.5 * G, rtol=1e-12)
    assert abs(late.q[:, 1]).max() < 1e-12
    assert late.events == ()


def test_a_ball_that_bounces_while_it_skids_goes_on_when_the_bounces_end() -> None:
    # friction and normal impulses keep the ratio mu all the time: v - mu (g t + v_z) whatever the bounces do
    mu, v0 = 0.1, 3.0
    sim = pliant.EventSimulation(point(), ground=pliant.flat(), restitution=0.5, friction=mu)
    _, log = ran(sim, 1.2, [0, 0.2], [v0, 0])
    assert log.events[-1].after == "mass slides"
    # the rest rule takes normal speeds below 1e-5 m/s without their friction
    assert sim.v[0] == pytest.approx(v0 - mu * G * 1.2, abs=2e-6)


def test_a_ball_slides_until_it_rolls() -> None:
    mu, v0 = 0.3, 2.0
    sim = pliant.EventSimulation(ball(mass=2, radius=0.1), ground=pliant.flat(friction=mu))
    _, log = ran(sim, 0.5, [0, 0, 0.1, 0, 0, 0, 1], [v0, 0, 0, 0, 0, 0])
    assert [event.kind for event in log.events] == ["stick"]
    # the axes of the ball turn with it, so that its velocity in them is no polynomial: rtol is 1e-8
    assert log.events[0].t == pytest.approx(2 * v0 / (7 * mu * G), abs=1e-8)
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(5 / 7 * v0, abs=3e-8)
    # within steps there is dense output, whose error is the tolerance's
    assert abs(log.q[:, 2] - 0.1).max() < 1e-9


WIDTH, TALL, TILT = 0.2, 0.6, 0.1


@pytest.fixture(scope="module")
def rocking():
    """A block released on one edge, with so much friction that it does not slide."""
    c, s = math.cos(TILT), math.sin(TILT)
    x, z = WIDTH / 2, -TALL / 2
    sim = pliant.EventSimulation(planar_block(WIDTH, TALL), ground=pliant.flat(friction=2))
    return ran(sim, 2.5, [x - (c * x + s * z), s * x - c * z, TILT])[1]


def test_a_block_rocks_as_housner_says(rocking) -> None:
    """G. Housner 1963: about the new edge, w+ = (1 - 3/2 sin(a)^2) w-, if it neither slides nor bounces."""
    ratio = 1 - 1.5 * math.sin(math.atan2(WIDTH, TALL)) ** 2
    assert len(rocking.events) > 40
    for k, event in enumerate(rocking.events[:20]):
        before, after = jumps(rocking, event)
        assert event.names == (f"block.{k % 2}",)
        assert rocking.v[after, 2] / rocking.v[before, 2] == pytest.approx(ratio, rel=1e-9)


def test_a_block_falls_onto_its_other_edge_on_time(rocking) -> None:
    # energy about the edge: 2/3 m R^2 w^2 = m g R (cos(a - tilt) - ... ), with the angle between edge, centre, vertical
    a, R = math.atan2(WIDTH, TALL), math.hypot(WIDTH, TALL) / 2

    def slowness(s: float) -> float:  # tilt = TILT - s^2 takes the square root's pole away
        w = math.sqrt(1.5 * G / R * (math.cos(a - TILT) - math.cos(a - TILT + s * s)))
        return 2 * s / w

    assert rocking.events[0].t == pytest.approx(quad(slowness, 1e-9, math.sqrt(TILT), epsabs=1e-12)[0], abs=1e-7)


def test_a_block_comes_to_rest_on_both_edges(rocking) -> None:
    assert rocking.events[-1].after == "block.0 sticks, block.1 sticks"
    late = rocking.between(rocking.events[-1].t + 1e-3, math.inf)
    assert len(late) > 10
    assert abs(late.v).max() < 1e-12
    assert np.allclose(late["forces"][:, [2, 5]], G, atol=1e-9)  # half of 2 kg each


# ---- ground with edges: a point that slides over one hits what comes next, or leaves


V, MU = 3.0, 0.1
# x = v t - mu g t^2 / 2 reaches 1, with the speed that is left
EDGE = (V - math.sqrt(V**2 - 2 * MU * G)) / (MU * G)
LEFT = V - MU * G * EDGE


def ramp(sign: int) -> pliant.Ground:
    """Level, and from x = 1 on up or down at 45 degrees."""
    return pliant.Ground(lambda x, y: sign * pliant.math.maximum(0, x - 1), name="ramp", friction=MU)


def test_a_point_that_slides_into_a_ramp_hits_it() -> None:
    _, log = ran(pliant.EventSimulation(point(), ground=ramp(1)), 0.5, [0, 0], [V, 0])
    hit = log.events[0]
    assert hit.kind == "touch-down"
    assert hit.t == pytest.approx(EDGE, abs=1e-8)
    # along the ramp what is left of the speed less friction's share of the normal impulse
    before, after = (log.v[k] for k in jumps(log, hit))
    assert after == pytest.approx(np.full(2, (1 - MU) * LEFT / 2), abs=1e-6)
    assert hit.energy_lost == pytest.approx(before @ before / 2 - after @ after / 2, abs=1e-12)


def test_a_point_that_slides_over_an_edge_flies() -> None:
    _, log = ran(pliant.EventSimulation(point(), ground=ramp(-1)), 1.2, [0, 0], [V, 0])
    assert [event.kind for event in log.events[:2]] == ["lift-off", "touch-down"]
    assert log.events[0].t == pytest.approx(EDGE, abs=1e-8)
    # falls as far as it goes on: g t^2 / 2 = speed t
    assert log.events[1].t == pytest.approx(EDGE + 2 * LEFT / G, abs=1e-7)


def test_a_point_that_slides_into_a_riser_hits_it() -> None:
    """The riser, 3 mm wide and 0.1 m high, leaves the share of the speed that is along it."""
    sim = pliant.EventSimulation(point(), ground=pliant.stairs(0.1, 0.3, start=1), friction=0)
    _, log = ran(sim, 0.7, [0, 0], [1.7, 0])
    hit = log.events[0]
    assert hit.kind == "touch-down"
    assert hit.names == ("mass",)
    assert hit.t == pytest.approx(1 / 1.7, abs=1e-8)
    along = np.array([0.003, 0.1]) / math.hypot(0.003, 0.1)
    after = log.v[jumps(log, hit)[1]]
    assert after == pytest.approx(1.7 * along[0] * along, abs=1e-9)


def test_a_point_that_lands_beyond_an_edge_that_is_not_known_is_told_not_lifted() -> None:
    """A step in a function of one's own: nothing is known of its side."""
    cliff = pliant.Ground(lambda x, y: pliant.math.select(x > 1, 0.1, 0.0), name="cliff")
    sim = pliant.EventSimulation(point(), ground=cliff, friction=0)
    with pytest.raises(pliant.SimulationError, match=r"mass, which touches, is 0\.1 m off the ground"):
        ran(sim, 0.7, [0, 0], [1.7, 0])


def test_a_point_lands_on_the_tread_of_a_stair() -> None:
    sim, log = ran(pliant.EventSimulation(point(), ground=pliant.stairs(0.1, 0.3), friction=0.5), 0.5, [0.15, 0.5])
    assert [event.kind for event in log.events] == ["touch-down"]
    assert sim.q == pytest.approx([0.15, 0.1], abs=1e-10)
    assert np.isclose(log.events[0].t, np.sqrt(2 * 0.4 / G), atol=1e-10)
