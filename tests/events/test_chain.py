"""Many contacts at once, and the limit of short time steps."""

import numpy as np
import pytest

import pliant
from pliant.robot import RobotBuilder
from simple_bodies import G, box, chain
from simulated_robots import ran


@pytest.fixture(scope="module", params=[0.0, 0.4])
def fallen(request):
    """A chain dropped askew, with and without restitution."""
    robot = chain(4)
    for hinge in ("hinge1", "hinge2", "hinge3"):
        robot = robot.with_joint(hinge, damping=0.01)
    sim = pliant.EventSimulation(robot, ground=pliant.flat(friction=0.6), restitution=request.param, rest_speed=1e-3)
    q, v = [0, 0, 0.5, 0, np.sin(0.2), 0, np.cos(0.2), 0.5, -0.9, 0.4], [0.3, 0, 0, 0, 0.5, 0, 0, 0, 0]
    return ran(sim, 3.0, q, v, every=0.01)


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
    turn = np.array([0.1, 0.15, 0.05, 1]) / np.linalg.norm([0.1, 0.15, 0.05, 1])
    sim, log = ran(pliant.EventSimulation(box(), ground=pliant.flat(friction=0.5)), 1.5, [0, 0, 0.3, *turn])
    assert sim.mode_name == "box.0 sticks, box.1 sticks, box.2 sticks, box.3 sticks"
    assert sim.q[2] == pytest.approx(0.05, abs=1e-10)
    lost = [event.energy_lost for event in log.events]
    assert sum(lost) == pytest.approx(log["energy.potential"][0] - log["energy.potential"][-1], rel=0.2)
    assert min(lost) >= -1e-12


# ---- next to `Simulation`: as its steps get shorter, its motion becomes the event-driven one


HOPPER = pliant.load("hopper")
START = [0, 0, 0.83, 0, 0, 0, 1, 0, 0, 0, 0]


def leg():
    """A trunk on a rail, and a leg of two links with springs that lands and slides."""
    builder = RobotBuilder("leg").body("trunk", 3, (0, 0, 0), (0.03, 0, 0, 0.04, 0, 0.05))
    builder.body("thigh", 0.8, (0, 0, -0.1), (0.004, 0, 0, 0.005, 0, 0.001))
    builder.body("shank", 0.4, (0, 0, -0.1), (0.002, 0, 0, 0.002, 0, 0.0005))
    builder.joint("rail", "prismatic", "world", "trunk", axis=(0, 0, 1))
    spring = {"axis": (0, 1, 0), "stiffness": 60, "damping": 0.5}
    builder.joint("hip", "revolute", "trunk", "thigh", rest=-0.4, **spring)
    builder.joint("knee", "revolute", "thigh", "shank", (0, 0, -0.2), rest=0.8, **spring)
    builder.frame("toe", "shank", (0, 0, -0.2))
    return builder.build().with_contact("toe", radius=0.02)


def test_a_leg_that_lands_converges_with_first_order() -> None:
    robot, q, duration = leg(), [0.45, -0.4, 0.8], 0.25
    event, log = ran(pliant.EventSimulation(robot, ground=pliant.flat(friction=0.6)), duration, q)
    assert {"touch-down"} <= {e.kind for e in log.events}
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        sim, _ = ran(pliant.Simulation(robot, dt=dt, ground=pliant.flat(friction=0.6)), duration, q)
        errors.append(np.linalg.norm(sim.q - event.q))
    # landings fall anywhere in a step, so the order holds in the mean: an eighth after three halvings
    assert errors[-1] < errors[0] / 4
    assert errors[-1] < 5e-4


def apexes(log) -> np.ndarray:
    """Heights of the body at which it turns from up to down, in the air."""
    t, first = np.unique(log.t, return_index=True)  # events have two entries
    z = log.q[first, 2]
    rate = np.gradient(z, t)
    tops = np.flatnonzero((rate[:-1] > 0) & (rate[1:] <= 0) & (z[:-1] > 0.7))
    return z[tops]


@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_a_hopper_hops_as_high_as_by_time_stepping(speed: float) -> None:
    controller = pliant.control.raibert(HOPPER)
    sim = pliant.EventSimulation(HOPPER, ground=pliant.flat(friction=0.8), rtol=1e-6, atol=1e-8)
    told = {"commands": [speed, 0, 0.2], "every": 1e-3}
    _, log = ran(sim, 3.0, START, controller=controller, period=1e-3, **told)
    stepped = pliant.Simulation(HOPPER, dt=5e-4, substeps=2, ground=pliant.flat(friction=0.8), controller=controller)
    _, other = ran(stepped, 3.0, START, **told)

    found, expected = apexes(log), apexes(other)
    assert len(found) == len(expected) >= 4
    # above standing at 0.63 m
    assert found - 0.63 == pytest.approx(expected - 0.63, rel=0.01)
    assert {"touch-down", "lift-off"} <= {event.kind for event in log.events}
    if speed:
        assert sim.q[0] == pytest.approx(stepped.q[0], rel=0.02)
