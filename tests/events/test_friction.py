"""Dry friction on slopes and under forces that change, against motions by hand."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant
from simple_bodies import G, box, point

MU = 0.4
ANGLE = math.atan(MU)


def on_slope(angle: float, direction: float = 0.0):
    """A box at rest on a slope, and its simulation."""
    sim = pliant.EventSimulation(box(), ground=pliant.slope(angle, direction=direction), friction=MU)
    # turned by the angle about the axis that lies in the slope
    axis = np.array([math.sin(direction), -math.cos(direction), 0]) * math.sin(angle / 2)
    normal = np.array([-math.sin(angle) * math.cos(direction), -math.sin(angle) * math.sin(direction), math.cos(angle)])
    sim.reset(q=[*(0.05 * normal), *axis, math.cos(angle / 2)])
    return sim


def test_it_stays_below_the_angle_of_friction() -> None:
    sim = on_slope(ANGLE - 1e-3)
    q = sim.q.copy()
    log = sim.run(1.0)
    assert log.events == ()
    assert abs(sim.q - q).max() < 1e-12
    assert log["forces"][-1].reshape(4, 3).sum(axis=0) == pytest.approx([0, 0, 2 * G], abs=1e-9)


@pytest.mark.parametrize("direction", [0.0, 0.7])
def test_it_slides_above_the_angle_of_friction(direction: float) -> None:
    angle = ANGLE + 0.1
    sim = on_slope(angle, direction)
    start = sim.q[:3].copy()
    log = sim.run(0.8)
    along = G * (math.sin(angle) - MU * math.cos(angle)) * 0.8**2 / 2
    assert np.linalg.norm(sim.q[:3] - start) == pytest.approx(along, rel=1e-9)
    assert log.events == ()  # it slides from the beginning
    assert log.modes == ("box.0 slides, box.1 slides, box.2 slides, box.3 slides",)


def test_it_slides_uphill_stops_and_stays_or_comes_back() -> None:
    for angle, kinds in ((ANGLE - 0.1, ["stick"]), (ANGLE + 0.1, ["reversal"])):
        sim = on_slope(angle)
        up = np.array([math.cos(angle), 0, math.sin(angle)])
        sim.reset(q=sim.q, v=[1.5, 0, 0, 0, 0, 0])  # in the axes of the box
        start = sim.q[:3].copy()
        log = sim.run(1.0)
        braking = G * (math.sin(angle) + MU * math.cos(angle))
        assert [event.kind for event in log.events] == kinds
        assert log.events[0].t == pytest.approx(1.5 / braking, abs=1e-9)
        falling = max(0.0, G * (math.sin(angle) - MU * math.cos(angle)))
        left = 1 - 1.5 / braking
        assert (sim.q[:3] - start) @ up == pytest.approx(1.5**2 / 2 / braking - falling * left**2 / 2, abs=1e-8)


# a mass of 1 kg under 15 N sin(w t), mu m g = 3.92 N: where it stops, the force is stronger than friction
F, W = 15.0, 3.0


@pytest.fixture(scope="module")
def reversing():
    push = pliant.ExternalForce("mass", force=lambda t: (F * pliant.math.sin(W * t), 0, 0))
    sim = pliant.EventSimulation(point(), ground=pliant.flat(), friction=MU, forces=[push])
    return sim.run(4.0)


def test_slip_and_reversals_by_hand(reversing) -> None:
    hold = MU * G
    times = [math.asin(hold / F) / W]
    for sign in (1, -1, 1):
        since = times[-1]

        def speed(t: float, since: float = since, sign: float = sign) -> float:
            return F / W * (math.cos(W * since) - math.cos(W * t)) - sign * hold * (t - since)

        times.append(float(brentq(speed, since + 0.5, since + 1.5, xtol=1e-14)))  # type: ignore[arg-type]
        assert abs(F * math.sin(W * times[-1])) > hold
    assert [event.kind for event in reversing.events[:4]] == ["slip", "reversal", "reversal", "reversal"]
    assert [event.t for event in reversing.events[:4]] == pytest.approx(times, abs=1e-8)


def test_it_sticks_again_where_the_force_is_weak() -> None:
    hold, force = 0.4 * G, 4.2
    push = pliant.ExternalForce("mass", force=lambda t: (force * pliant.math.sin(W * t), 0, 0))
    sim = pliant.EventSimulation(point(), ground=pliant.flat(), friction=0.4, forces=[push])
    log = sim.run(math.pi / W + 0.7)
    begins = math.asin(hold / force) / W
    ends = brentq(lambda t: force / W * (math.cos(W * begins) - math.cos(W * t)) - hold * (t - begins), 0.5, 2)
    found = [(event.kind, event.t) for event in log.events]
    assert [kind for kind, _ in found[:3]] == ["slip", "stick", "slip"]
    # the slip dies off at an angle; the second one begins half a period after the first
    assert [t for _, t in found[:3]] == pytest.approx([begins, ends, begins + math.pi / W], abs=1e-8)


def test_friction_never_exceeds_its_limit(reversing) -> None:
    forces = reversing["forces"]
    assert (np.hypot(forces[:, 0], forces[:, 1]) <= 0.4 * forces[:, 2] + 1e-9).all()


def test_a_push_that_begins_and_ends_does_so_at_once() -> None:
    """mu m g = 3.92 N holds; 10 N from 0.1 to 0.15 s do not: v = (F - mu m g) t, then friction alone."""
    push = pliant.ExternalForce("mass", force=(10, 0, 0), start=0.1, end=0.15)
    sim = pliant.EventSimulation(point(), ground=pliant.flat(), friction=0.4, forces=[push])
    log = sim.run(0.5)
    speed = (10 - 0.4 * G) * 0.05
    assert [event.kind for event in log.events] == ["slip", "stick"]
    assert [event.t for event in log.events] == pytest.approx([0.1, 0.15 + speed / (0.4 * G)], abs=1e-8)
    assert log.at(0.15)[1][0] == pytest.approx(speed, abs=1e-7)  # forces switch within a nanosecond


def test_an_impulse_is_a_force_of_a_millisecond() -> None:
    push = pliant.ExternalForce("mass", impulse=(2, 0, 0), start=0.1)
    sim = pliant.EventSimulation(point(), ground=pliant.flat(), friction=0.0, forces=[push])
    sim.run(0.3)
    assert sim.v[0] == pytest.approx(2, abs=1e-5)
    assert sim.q[0] == pytest.approx(2 * (0.2 - 0.5e-3), abs=1e-5)
