"""Dry friction at joints: it holds what rests, brakes what moves, and takes no part in impacts."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant
from pliant.robot import RobotBuilder
from simple_bodies import G, pendulum, turning
from simulated_robots import ran


def test_a_wheel_comes_to_rest_and_stays() -> None:
    """w' = -f / I, until it rests at w I / f."""
    sim, log = ran(pliant.EventSimulation(turning(inertia=0.5, friction=0.2)), 4.0, [0.0], [1.2])
    assert [(e.kind, e.names, e.after) for e in log.events] == [("stick", ("axle",), "axle sticks")]
    assert log.events[0].t == pytest.approx(3.0, abs=1e-9)
    assert sim.q[0] == pytest.approx(1.2**2 * 0.5 / (2 * 0.2), abs=1e-9)
    assert sim.v[0] == 0
    assert log.modes == ("flight", "axle sticks")


def test_it_slips_where_the_torque_exceeds_it() -> None:
    """A torque k t: the joint moves from t = f / k on, with I w = k (t - f / k)^2 / 2."""
    robot = turning(inertia=0.5, friction=0.2).with_motor("axle", dry_friction=0.1)
    sim, log = ran(pliant.EventSimulation(robot), 2.0, [0.0], [0.0], controller=lambda t, q, v: [-0.25 * t])
    assert [e.kind for e in log.events] == ["slip"]
    # the bound is reached to 1e-9 of a newton metre
    assert log.events[0].t == pytest.approx(0.3 / 0.25, abs=1e-7)
    assert sim.v[0] == pytest.approx(-0.25 * 0.8**2 / 2 / 0.5, abs=1e-7)


def test_a_pendulum_loses_the_same_torque_in_each_swing() -> None:
    """From rest at a to rest at b, m g l (cos(b) - cos(a)) = f (a + b), until the weight's moment is less than f."""
    friction = 1.2
    robot = pendulum(1).with_joint("pivot", friction=friction)
    _, log = ran(pliant.EventSimulation(robot, rtol=1e-10, atol=1e-12), 12.0, [1.5], [0.0])
    turns, swing = [], 1.5
    while G * math.sin(swing) > friction:

        def left(b: float, a: float = swing) -> float:
            return G * (math.cos(b) - math.cos(a)) - friction * (a + b)

        # on the other side, or before the bottom if that is negative; at -a it has not moved
        turns.append(brentq(left, -swing + 1e-6, swing))
        swing = abs(turns[-1])
    found = [abs(log.at(e.t)[0][0]) for e in log.events]
    np.testing.assert_allclose(found, np.abs(turns), atol=1e-7)
    assert [e.kind for e in log.events] == ["reversal"] * (len(turns) - 1) + ["stick"]
    assert len(turns) > 3
    assert np.diff(log["energy.kinetic"] + log["energy.potential"]).max() < 1e-9


def rams() -> pliant.Robot:
    """A sled that rubs on a rail, and one in it that runs into a stop."""
    nothing = (0, 0, 0, 0, 0, 0)
    builder = RobotBuilder("rams").body("outer", 2, (0, 0, 0), nothing).body("inner", 1, (0, 0, 0), nothing)
    builder.joint("rail", "prismatic", "world", "outer", axis=(1, 0, 0), friction=3)
    builder.joint("slot", "prismatic", "outer", "inner", axis=(1, 0, 0), limits=(-1, 0.2))
    return builder.build()


def test_an_impact_knows_no_dry_friction() -> None:
    """Its force is finite: the stop sets both sleds in motion as if the rail were smooth, and then it brakes them."""
    _, log = ran(pliant.EventSimulation(rams()), 1.0, [0, 0], [0, 1.5])
    hit = log.events[0]
    assert (hit.kind, hit.names) == ("touch-down", ("slot upper",))
    assert (hit.before, hit.after) == ("rail sticks", "slot upper limit")
    assert hit.t == pytest.approx(0.2 / 1.5, abs=1e-9)
    assert hit.impulse["slot upper"] == pytest.approx(2 * 1.5 / 3, abs=1e-9)
    common = 1.5 / 3
    assert log.v[np.flatnonzero(log.t == hit.t)[-1]] == pytest.approx([common, 0], abs=1e-12)
    # 3 N at 3 kg, since the inner one leans on the stop
    assert [(e.kind, e.names) for e in log.events[1:]] == [("stick", ("rail",))]
    assert log.events[1].t - hit.t == pytest.approx(common, abs=1e-8)


def test_the_ledger_counts_it() -> None:
    robot = turning(inertia=0.5, friction=0.2)
    _, log = ran(pliant.EventSimulation(robot), 2.0, [0.0], [1.2], channels=("q", "v", "energy", "power"))
    assert log["power.friction"] == pytest.approx(-0.2 * log.v[:, 0], abs=1e-12)
    ledger = pliant.analysis.energy_ledger(log)
    assert abs(ledger.error[-1]) < 1e-6


def test_a_free_robot_with_rubbing_joints_comes_to_rest_on_the_ground() -> None:
    """Joints and contacts hold each other; what is left at the end obeys both bounds."""
    builder = RobotBuilder("table").body("top", 2, (0, 0, 0), (0.02, 0, 0, 0.02, 0, 0.04))
    for k, x in enumerate((-0.2, 0.2)):
        builder.body(f"leg{k}", 0.3, (0, 0, -0.1), (1e-3, 0, 0, 1e-3, 0, 1e-4))
        builder.frame(f"foot{k}", f"leg{k}", (0, 0, -0.2))
        builder.joint(f"hip{k}", "revolute", "top", f"leg{k}", (x, 0, 0), axis=(0, 1, 0), friction=2.5)
    builder.joint("x", "prismatic", "world", "slide", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "slide", "top", axis=(0, 0, 1))
    builder.body("slide", 0.0, (0, 0, 0), (0, 0, 0, 0, 0, 0))
    robot = builder.build().with_contacts("foot0", "foot1")
    q = robot.neutral()
    q[robot.q_slice("z")], q[robot.q_slice("hip0")], q[robot.q_slice("hip1")] = 0.25, 0.3, -0.3
    sim, log = ran(pliant.EventSimulation(robot, ground=pliant.flat(friction=0.3)), 1.0, q)
    assert abs(sim.v).max() < 1e-9
    assert np.diff(log["energy.kinetic"] + log["energy.potential"]).max() < 1e-8
    forces = sim.contact_forces
    assert forces[:, 2].sum() == pytest.approx(2.6 * G, rel=1e-9)
    assert (np.hypot(forces[:, 0], forces[:, 1]) <= 0.3 * forces[:, 2] + 1e-9).all()
    held = sim.motion.forces(sim.terms(sim.t, sim.q, sim.v, np.zeros(0)), sim.v)
    joints = [i for i, c in enumerate(sim.constraints) if c.is_joint]
    assert (abs(held[joints, 1]) <= 2.5 + 1e-9).all()
