"""Many contacts at once: chains and boxes that fall, and lie."""

import numpy as np
import pytest

import pliant
from simple_bodies import G, box, chain


@pytest.fixture(scope="module", params=[0.0, 0.4])
def fallen(request):
    """A chain dropped askew, with and without restitution."""
    robot = chain(4).with_joint("hinge1", damping=0.01).with_joint("hinge2", damping=0.01)
    robot = robot.with_joint("hinge3", damping=0.01)
    sim = pliant.EventSimulation(robot, ground=pliant.flat(friction=0.6), restitution=request.param, rest_speed=1e-3)
    sim.reset(q=[0, 0, 0.5, 0, np.sin(0.2), 0, np.cos(0.2), 0.5, -0.9, 0.4], v=[0.3, 0, 0, 0, 0.5, 0, 0, 0, 0])
    return sim, sim.run(3.0, every=0.01)


def test_no_event_gains_energy(fallen) -> None:
    _, log = fallen
    if log.source.settings["contact"]["restitution"] == 0:
        landings = ["touch-down", "reversal", "touch-down", "touch-down", "touch-down", "stick", "touch-down"]
        assert [event.kind for event in log.events] == landings
    else:
        assert len(log.events) >= 8
    assert min(event.energy_lost for event in log.events) >= -1e-12
    for event in log.events:
        at = np.flatnonzero(log.t == event.t)
        lost = log["energy.kinetic"][at[0]] - log["energy.kinetic"][at[-1]]
        together = sum(other.energy_lost for other in log.events if other.t == event.t)
        # rounding of some joules
        assert lost == pytest.approx(together, abs=1e-12)


def test_no_energy_is_gained_between_events(fallen) -> None:
    _, log = fallen
    total = log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]
    # of 5 J, to the integrator's 1e-8 in a step
    assert np.diff(total).max() < 1e-7


def test_it_lies_still_and_the_ground_carries_it(fallen) -> None:
    sim, log = fallen
    assert abs(sim.v).max() < 1e-6
    weight = log["forces"][-1].reshape(-1, 3).sum(axis=0)
    assert weight == pytest.approx([0, 0, sim.robot.mass * G], abs=1e-6)


def test_nothing_sinks_and_nothing_pulls(fallen) -> None:
    sim, log = fallen
    for t, q, v in zip(log.t[::10], log.q[::10], log.v[::10], strict=True):
        assert sim.terms(t, q, v, np.zeros(0)).gap.min() > -1e-8
    assert log["forces"][:, 2::3].min() > -1e-6


def test_friction_bears_all_that_sticks(fallen) -> None:
    # tips in a row hold each other: of the forces that fit their motion, those within the cones are told
    _, log = fallen
    forces = log["forces"].reshape(len(log), -1, 3)
    assert (np.hypot(forces[..., 0], forces[..., 1]) - 0.6 * forces[..., 2]).max() < 1e-9


def test_a_box_that_falls_on_its_corner_comes_to_rest_on_its_face() -> None:
    sim = pliant.EventSimulation(box(), ground=pliant.flat(friction=0.5))
    turn = np.array([0.1, 0.15, 0.05, 1]) / np.linalg.norm([0.1, 0.15, 0.05, 1])
    sim.reset(q=[0, 0, 0.3, *turn])
    log = sim.run(1.5)
    assert sim.mode_name == "box.0 sticks, box.1 sticks, box.2 sticks, box.3 sticks"
    assert sim.q[2] == pytest.approx(0.05, abs=1e-10)
    assert sum(event.energy_lost for event in log.events) == pytest.approx(
        log["energy.potential"][0] - log["energy.potential"][-1], rel=0.2
    )
    assert min(event.energy_lost for event in log.events) >= -1e-12
