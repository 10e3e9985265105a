"""Friction and contacts that let go, against motions by hand."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant
from pliant.robot import RobotBuilder
from simple_bodies import NOTHING, G, box, jumps, planar_block, point
from simulated_robots import PENDULUM, ran, started

MU = 0.4
ANGLE = math.atan(MU)


def on_slope(angle: float, direction: float = 0.0):
    """A box at rest on a slope, and its simulation."""
    sim = pliant.EventSimulation(box(), ground=pliant.slope(angle, direction=direction), friction=MU)
    # turned by the angle about the axis that lies in the slope
    axis = np.array([math.sin(direction), -math.cos(direction), 0]) * math.sin(angle / 2)
    normal = np.array([-math.sin(angle) * math.cos(direction), -math.sin(angle) * math.sin(direction), math.cos(angle)])
    return started(sim, q=[*(0.05 * normal), *axis, math.cos(angle / 2)])


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


def pushed(seconds: float, friction: float = MU, mass: float = 1, **push):
    """A mass on the ground under a force from outside; also its log."""
    forces = [pliant.ExternalForce("mass", **push)]
    return ran(pliant.EventSimulation(point(mass), ground=pliant.flat(), friction=friction, forces=forces), seconds)


@pytest.fixture(scope="module")
def reversing():
    return pushed(4.0, force=lambda t: (F * pliant.math.sin(W * t), 0, 0))[1]


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
    _, log = pushed(math.pi / W + 0.7, force=lambda t: (force * pliant.math.sin(W * t), 0, 0))
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
    _, log = pushed(0.5, force=(10, 0, 0), start=0.1, end=0.15)
    speed = (10 - 0.4 * G) * 0.05
    assert [event.kind for event in log.events] == ["slip", "stick"]
    assert [event.t for event in log.events] == pytest.approx([0.1, 0.15 + speed / (0.4 * G)], abs=1e-8)
    assert log.at(0.15)[1][0] == pytest.approx(speed, abs=1e-7)  # forces switch within a nanosecond


def test_an_impulse_is_a_force_of_a_millisecond() -> None:
    sim, _ = pushed(0.3, friction=0.0, impulse=(2, 0, 0), start=0.1)
    assert sim.v[0] == pytest.approx(2, abs=1e-5)
    assert sim.q[0] == pytest.approx(2 * (0.2 - 0.5e-3), abs=1e-5)


# ---- contacts and stops that let go, and those that must not drift


def test_a_mass_leaves_when_the_ground_need_not_carry_it() -> None:
    """On the ground, a force pulls up with r t: it leaves when r t = m g, and then z'' = r (t - t0) / m."""
    rate, mass = 20.0, 1.3
    sim, log = pushed(1.0, mass=mass, force=lambda t: (0, 0, rate * t))
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
    _, log = ran(sim, 0.25, [-sag - a, 0.2 - sag - a])
    assert log.events[0].kind == "lift-off"
    assert log.events[0].t == pytest.approx(math.acos(-sag / a) / w, abs=1e-8)
    assert log.at(log.events[0].t)[0][0] == pytest.approx(0, abs=1e-8)


def test_two_feet_leave_at_once() -> None:
    lift = pliant.ExternalForce("block", force=lambda t: (0, 0, 50 * t))
    sim = pliant.EventSimulation(planar_block(0.4, 0.2), ground=pliant.flat(), forces=[lift])
    _, log = ran(sim, 0.6, [0, 0.1, 0])
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
    _, log = ran(pliant.EventSimulation(robot, ground=pliant.flat(friction=1)), 5.0, [0.3, 0.05, 0, 0.1], every=0.05)
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
    sim, log = ran(pliant.EventSimulation(robot), 6.0, [-1.0])
    hits = log.events_of("touch-down")
    assert {event.names for event in hits} == {("hinge upper",)}
    for event in hits[:8]:
        before, after = jumps(log, event)
        assert log.v[after, 0] == pytest.approx(-e * log.v[before, 0], rel=1e-12)
        assert isinstance(event.impulse["hinge upper"], float)
    first, _ = jumps(log, hits[0])
    potential = log["energy.potential"]
    assert log["energy.kinetic"][first] == pytest.approx(potential[0] - potential[first], rel=1e-8)
    assert sim.mode_name == "hinge upper limit"
    assert sim.q[0] == pytest.approx(-0.3, abs=1e-12)
    pressed = pliant.gravity_forces(robot, sim.q)[0]
    assert sim.run(0.2, u=[pressed + 1e-3]).events == ()
    log = sim.run(0.2, u=[pressed - 1e-3])
    assert [event.kind for event in log.events] == ["lift-off"]
    assert sim.q[0] < -0.3
