"""Contacts and stops that let go, and those that must not drift."""

import math

import numpy as np
import pytest

import pliant
from pliant.robot import RobotBuilder
from simple_bodies import NOTHING, G, planar_block, point
from simulated_robots import PENDULUM


def test_a_mass_leaves_when_the_ground_need_not_carry_it() -> None:
    """On the ground, a force pulls up with r t: it leaves when r t = m g, and then z'' = r (t - t0) / m."""
    rate, mass = 20.0, 1.3
    lift = pliant.ExternalForce("mass", force=lambda t: (0, 0, rate * t))
    sim = pliant.EventSimulation(point(mass), ground=pliant.flat(), forces=[lift])
    log = sim.run(1.0)
    leaves = mass * G / rate
    assert [event.kind for event in log.events] == ["lift-off"]
    assert log.events[0].t == pytest.approx(leaves, abs=1e-9)
    assert sim.q[1] == pytest.approx(rate / mass * (1 - leaves) ** 3 / 6, abs=1e-9)


def platform(stiffness: float, mass: float, load: float):
    """A platform on a spring along z, and a ball on it that is free to leave."""
    builder = RobotBuilder("platform").body("plate", mass, (0, 0, 0), NOTHING).body("load", load, (0, 0, 0), NOTHING)
    builder.joint("spring", "prismatic", "world", "plate", axis=(0, 0, 1), stiffness=stiffness)
    builder.joint("height", "prismatic", "world", "load", axis=(0, 0, 1))
    robot = builder.build().with_contact("plate", radius=0.1).with_contact("load", radius=0.1)
    return robot.with_contact_pair("load", "plate")


def test_a_load_leaves_a_swinging_platform_at_minus_g() -> None:
    """With both on it, z = -s + a cos(w t), s = (M + m) g / k; the load leaves where z'' = -g: z = 0, as s w^2 = g."""
    k, M, m, a = 400.0, 1.0, 0.5, 0.08
    sag, w = (M + m) * G / k, math.sqrt(k / (M + m))
    sim = pliant.EventSimulation(platform(k, M, m), rtol=1e-10, atol=1e-12)
    sim.reset(q=[-sag - a, 0.2 - sag - a])
    log = sim.run(0.25)
    assert log.events[0].kind == "lift-off"
    assert log.events[0].t == pytest.approx(math.acos(-sag / a) / w, abs=1e-8)
    assert log.at(log.events[0].t)[0][0] == pytest.approx(0, abs=1e-8)


def test_two_feet_leave_at_once() -> None:
    lift = pliant.ExternalForce("block", force=lambda t: (0, 0, 50 * t))
    sim = pliant.EventSimulation(planar_block(0.4, 0.2), ground=pliant.flat(), forces=[lift])
    sim.reset(q=[0, 0.1, 0])
    log = sim.run(0.6)
    assert [(event.kind, event.names) for event in log.events] == [("lift-off", ("block.0", "block.1"))]
    assert log.events[0].t == pytest.approx(2 * G / 50, abs=1e-9)
    assert abs(sim.q[2]) < 1e-12


def test_constraints_do_not_drift() -> None:
    """A mast swings on a foot that sticks, for five seconds: its springs are the only thing that moves."""
    foot = planar_block(0.4, 0.1, mass=5)
    builder = RobotBuilder("mast").body("sled", 0, (0, 0, 0), NOTHING).body("lift", 0, (0, 0, 0), NOTHING)
    builder.body("foot", 5, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1)).body("mast", 1, (0, 0, 0.3), (0.01, 0, 0, 0.01, 0, 0))
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "lift", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "lift", "foot", axis=(0, 1, 0))
    builder.joint("sway", "revolute", "foot", "mast", (0, 0, 0.05), axis=(0, 1, 0), stiffness=20)
    robot = builder.build().with_contact("foot", points=[(p.center.x, 0, p.center.z) for p in foot.contact_points])
    sim = pliant.EventSimulation(robot, ground=pliant.flat(friction=1))
    sim.reset(q=[0.3, 0.05, 0, 0.1])
    log = sim.run(5.0, every=0.05)
    assert log.events == ()
    assert log.modes == ("foot.0 sticks, foot.1 sticks",)
    assert abs(log.q[:, :3] - [0.3, 0.05, 0]).max() < 1e-10
    assert np.ptp(log.q[:, 3]) > 0.19
    total = log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]
    assert np.ptp(total) < 1e-6  # 650 steps of a relative tolerance of 1e-8, at 0.1 J


def test_a_pendulum_hits_its_stop_rests_on_it_and_leaves_it() -> None:
    """Onto a joint limit with all its energy, and thrown back with e of its speed; its motor takes it off."""
    e = 0.5
    robot = PENDULUM.with_joint("hinge", limits=(-4, -0.3), restitution=e, damping=0)
    sim = pliant.EventSimulation(robot)
    sim.reset(q=[-1.0])
    log = sim.run(6.0)
    hits = log.events_of("touch-down")
    assert {event.names for event in hits} == {("hinge upper",)}
    for event in hits[:8]:
        before, after = np.flatnonzero(log.t == event.t)[[0, -1]]
        assert log.v[after, 0] == pytest.approx(-e * log.v[before, 0], rel=1e-12)
        assert isinstance(event.impulse["hinge upper"], float)
    first = np.flatnonzero(log.t == hits[0].t)[0]
    potential = log["energy.potential"]
    assert log["energy.kinetic"][first] == pytest.approx(potential[0] - potential[first], rel=1e-8)
    assert sim.mode_name == "hinge upper limit"
    assert sim.q[0] == pytest.approx(-0.3, abs=1e-12)
    pressed = pliant.gravity_forces(robot, sim.q)[0]
    assert sim.run(0.2, u=[pressed + 1e-3]).events == ()
    log = sim.run(0.2, u=[pressed - 1e-3])
    assert [event.kind for event in log.events] == ["lift-off"]
    assert sim.q[0] < -0.3
