"""Next to `Simulation`: as its steps get shorter, its motion becomes the event-driven one."""

import numpy as np
import pytest

import pliant
from pliant.robot import RobotBuilder

HOPPER = pliant.load("hopper")
START = [0, 0, 0.83, 0, 0, 0, 1, 0, 0, 0, 0]


def leg():
    """A trunk on a rail, and a leg of two links with springs that lands and slides."""
    builder = RobotBuilder("leg").body("trunk", 3, (0, 0, 0), (0.03, 0, 0, 0.04, 0, 0.05))
    builder.body("thigh", 0.8, (0, 0, -0.1), (0.004, 0, 0, 0.005, 0, 0.001))
    builder.body("shank", 0.4, (0, 0, -0.1), (0.002, 0, 0, 0.002, 0, 0.0005))
    builder.joint("rail", "prismatic", "world", "trunk", axis=(0, 0, 1))
    builder.joint("hip", "revolute", "trunk", "thigh", axis=(0, 1, 0), stiffness=60, rest=-0.4, damping=0.5)
    builder.joint(
        "knee", "revolute", "thigh", "shank", (0, 0, -0.2), axis=(0, 1, 0), stiffness=60, rest=0.8, damping=0.5
    )
    builder.frame("toe", "shank", (0, 0, -0.2))
    return builder.build().with_contact("toe", radius=0.02)


def test_a_leg_that_lands_converges_with_first_order() -> None:
    robot, q, duration = leg(), [0.45, -0.4, 0.8], 0.25
    event = pliant.EventSimulation(robot, ground=pliant.flat(friction=0.6))
    event.reset(q=q)
    log = event.run(duration)
    assert {"touch-down"} <= {e.kind for e in log.events}
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        sim = pliant.Simulation(robot, dt=dt, ground=pliant.flat(friction=0.6))
        sim.reset(q=q)
        sim.run(duration)
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
    sim.reset(q=START)
    log = sim.run(3.0, controller=controller, commands=[speed, 0, 0.2], period=1e-3, every=1e-3)
    stepped = pliant.Simulation(HOPPER, dt=5e-4, substeps=2, ground=pliant.flat(friction=0.8), controller=controller)
    stepped.reset(q=START)
    other = stepped.run(3.0, commands=[speed, 0, 0.2])

    found, expected = apexes(log), apexes(other)
    assert len(found) == len(expected) >= 4
    # above standing at 0.63 m
    assert found - 0.63 == pytest.approx(expected - 0.63, rel=0.01)
    assert {"touch-down", "lift-off"} <= {event.kind for event in log.events}
    if speed:
        assert sim.q[0] == pytest.approx(stepped.q[0], rel=0.02)
