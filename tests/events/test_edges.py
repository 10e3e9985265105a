"""Ground with edges: a point that slides over one hits what comes next, or leaves."""

import math

import numpy as np
import pytest

import pliant
from simple_bodies import G, point

V, MU = 3.0, 0.1


def ramp(sign: int) -> pliant.Ground:
    """Level, and from x = 1 on up or down at 45 degrees."""
    return pliant.Ground(lambda x, y: sign * pliant.math.maximum(0, x - 1), name="ramp", friction=MU)


def test_a_point_that_slides_into_a_ramp_hits_it() -> None:
    sim = pliant.EventSimulation(point(), ground=ramp(1))
    sim.reset(q=[0, 0], v=[V, 0])
    log = sim.run(0.5)
    # x = v t - mu g t^2 / 2 reaches 1
    when = (V - math.sqrt(V**2 - 2 * MU * G)) / (MU * G)
    hit = log.events[0]
    assert hit.kind == "touch-down"
    assert hit.t == pytest.approx(when, abs=1e-8)
    # along the ramp what is left of the speed less friction's share of the normal impulse
    speed = V - MU * G * when
    before, after = (log.v[np.flatnonzero(log.t == hit.t)[k]] for k in (0, -1))
    assert after == pytest.approx(np.full(2, (1 - MU) * speed / 2), abs=1e-6)
    assert hit.energy_lost == pytest.approx(before @ before / 2 - after @ after / 2, abs=1e-12)


def test_a_point_that_slides_over_an_edge_flies() -> None:
    sim = pliant.EventSimulation(point(), ground=ramp(-1))
    sim.reset(q=[0, 0], v=[V, 0])
    log = sim.run(1.2)
    when = (V - math.sqrt(V**2 - 2 * MU * G)) / (MU * G)
    speed = V - MU * G * when
    assert [event.kind for event in log.events[:2]] == ["lift-off", "touch-down"]
    assert log.events[0].t == pytest.approx(when, abs=1e-8)
    # falls as far as it goes on: g t^2 / 2 = speed t
    assert log.events[1].t == pytest.approx(when + 2 * speed / G, abs=1e-7)


def test_a_point_that_jumps_over_a_riser_in_a_step_is_told_not_lifted() -> None:
    # without friction the motion is a line: one step is as long as it may be, and the riser is 3 mm wide
    sim = pliant.EventSimulation(point(), ground=pliant.stairs(0.1, 0.3, start=1), friction=0)
    sim.reset(q=[0, 0], v=[1.7, 0])
    with pytest.raises(pliant.SimulationError, match=r"mass, which touches, is 0\.1 m off the ground"):
        sim.run(0.7)


def test_a_point_lands_on_the_tread_of_a_stair() -> None:
    sim = pliant.EventSimulation(point(), ground=pliant.stairs(0.1, 0.3), friction=0.5)
    sim.reset(q=[0.15, 0.5])
    log = sim.run(0.5)
    assert [event.kind for event in log.events] == ["touch-down"]
    assert sim.q == pytest.approx([0.15, 0.1], abs=1e-10)
    assert np.isclose(log.events[0].t, np.sqrt(2 * 0.4 / G), atol=1e-10)
