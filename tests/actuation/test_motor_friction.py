"""Friction of motors by speed: Stribeck's curve, friction that bends before it slides, and joints that stay at rest."""

import math

import numpy as np
import pytest

import pliant
from pliant.robot import Robot
from simple_bodies import turning

INERTIA, COULOMB, STATIC, SPEED, VISCOUS = 0.5, 1.0, 1.6, 0.4, 0.3
CURVE = {"dry_friction": COULOMB, "static_friction": STATIC, "stribeck_speed": SPEED, "viscous_friction": VISCOUS}
BENT = {"bristle_stiffness": 400.0, "bristle_damping": 2.0}


def wheel(**motor) -> Robot:
    return turning(inertia=INERTIA).with_motor("axle", **motor)


def level(v: float) -> float:
    return COULOMB + (STATIC - COULOMB) * math.exp(-((v / SPEED) ** 2))


def independent(u: float, v: float, until: float, n: int = 20000) -> float:
    """The speed of a wheel that slides, by Runge-Kutta's method of order four."""
    rate = lambda v: (u - level(v) - VISCOUS * v) / INERTIA  # noqa: E731
    h = until / n
    for _ in range(n):
        a = rate(v)
        b = rate(v + h / 2 * a)
        c = rate(v + h / 2 * b)
        v += h / 6 * (a + 2 * b + 2 * c + rate(v + h * c))
    return v


@pytest.mark.parametrize(("u", "v"), [(0.5, 1.5), (1.8, 0.05), (-1.0, 3.0)])
def test_sliding_follows_stribecks_curve(u: float, v: float) -> None:
    """Against an independent integration, to the order of the step."""
    until, errors = 0.4, []
    expected = independent(u, v, until)
    assert expected > 0.01
    for dt in (1e-3, 5e-4):
        sim = pliant.Simulation(wheel(**CURVE), dt=dt)
        sim.reset(v=[v])
        sim.run(until, u=[u])
        errors.append(abs(sim.v[0] - expected))
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)


def test_static_friction_holds_to_the_last() -> None:
    """Between Coulomb's friction and the static one a joint stays exactly where it is; beyond, it runs away."""
    sim = pliant.Simulation(wheel(**CURVE))
    log = sim.run(1.0, controller=lambda t, q, v: [0.999 * STATIC * math.sin(40 * t)], channels=("q", "v"))
    assert not log.q.any()
    assert not log.v.any()
    sim.run(0.5, u=[1.05 * STATIC])
    assert sim.v[0] > 0.01
    # and stops for good
    log = sim.run(2.0, channels=("q", "v"))
    assert sim.v[0] == 0
    assert np.ptp(log.q[-1000:]) == 0


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2])
def test_stick_slip_of_a_block_on_a_belt(dt: float) -> None:
    """A wheel on a spring whose other end turns slowly: it sticks until the spring has the static torque, then jumps.

    The spring's torque at the start of each jump is the static friction, however coarse the step.
    """
    stiffness, rate = 20.0, 0.1
    robot = turning(inertia=0.05).with_motor(
        "axle", **(CURVE | {"viscous_friction": 0.02}), control="position", kp=stiffness
    )
    sim = pliant.Simulation(robot, dt=dt)
    log = sim.run(6.0, controller=lambda t, q, v: [rate * t], channels=("v", "tau"))
    stuck = log.v[:, 0] == 0
    starts = [k for k in range(2, len(stuck)) if stuck[k - 1] and not stuck[k]]
    assert len(starts) >= 3
    # the spring gains stiffness * rate * dt in a step
    np.testing.assert_allclose(log.tau[np.array(starts) - 1, 0], STATIC, atol=3 * stiffness * rate * dt)
    assert stuck.mean() > 0.5


# ---- friction that bends


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2])
def test_bent_friction_is_a_spring_below_its_level(dt: float) -> None:
    """The deflection under a load is load / stiffness, and none is left when the load is gone."""
    sim = pliant.Simulation(wheel(**CURVE, **BENT), dt=dt)
    sim.run(20.0, controller=lambda t, q, v: [min(t, 1.0)])
    assert sim.q[0] == pytest.approx(1 / 400, rel=1e-6)
    assert sim.motor_state["friction"][0] == pytest.approx(-1, rel=1e-6)
    sim.run(20.0, controller=lambda t, q, v: [max(1 - (t - 20), 0)])
    assert abs(sim.q[0]) < 1e-8  # 19 s of a decay of 2 / s


def test_no_load_below_the_level_makes_it_creep() -> None:
    """A bias and a vibration that together stay below the level, for 500 periods: where LuGre's model drifts away."""
    sim = pliant.Simulation(wheel(**CURVE, **BENT))
    settled = sim.run(5.0, u=[0.5], channels=("q",)).q[-1, 0]
    log = sim.run(50.0, controller=lambda t, q, v: [0.5 + 0.4 * math.sin(62.8 * t)], channels=("q", "motors"))
    assert np.abs(log["motors.friction"]).max() < 0.99 * STATIC
    sim.run(5.0, u=[0.5])
    assert sim.q[0] == pytest.approx(settled, abs=1e-6)
    assert abs(lugre_drift()) > 10 * abs(sim.q[0] - settled)


def lugre_drift() -> float:
    """How far the same load takes a wheel with LuGre's friction in 50 s, by a step of 0.1 ms."""
    s0, s1, v, z, q, h = BENT["bristle_stiffness"], BENT["bristle_damping"], 0.0, 0.0, 0.0, 2e-4
    start = 0.0
    for k in range(round(55 / h)):
        t = k * h
        u = 0.5 + (0.4 * math.sin(62.8 * t) if t > 5 else 0)
        zd = v - s0 * abs(v) / level(v) * z
        v += h / INERTIA * (u - s0 * z - s1 * zd - VISCOUS * v)
        z += h * zd
        q += h * v
        start = q if t <= 5 else start
    return q - start


def test_bent_friction_slides_along_stribecks_curve() -> None:
    """Once it slides, the motion is that of rigid friction but for the deflection."""
    bent, rigid = (pliant.Simulation(wheel(**CURVE, **own), dt=2e-4) for own in (BENT | {"bristle_stiffness": 4e6}, {}))
    for sim in (bent, rigid):
        sim.reset(v=[2.0])
        sim.run(0.4, u=[0.7])
    assert rigid.v[0] > 0.1
    # bristles take 1.6 / 4e6 rad to bend
    assert bent.v[0] == pytest.approx(rigid.v[0], abs=1e-5)


def test_stiff_bristles_are_stable_at_any_step() -> None:
    for stiffness in (1e4, 1e8, 1e12):
        robot = wheel(**CURVE, bristle_stiffness=stiffness, bristle_damping=stiffness / 1e3)
        sim = pliant.Simulation(robot, dt=1e-2)
        sim.reset(v=[1.0])
        log = sim.run(3.0, u=[0.9], channels=("v",))
        assert abs(sim.v[0]) < 1e-9
        # it swings back with no more than the energy that bends it
        assert log.v.min() >= -STATIC / math.sqrt(stiffness * INERTIA)


def test_joints_that_mimic_and_slides_have_it_too() -> None:
    """At the leader's dof friction of a follower counts by its ratio; a slide's is a force."""
    builder = pliant.RobotBuilder("grip").gravity(0, 0, 0)
    for name in ("left", "right"):
        builder.body(name, 1.0, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("a", "prismatic", "world", "left", axis=(1, 0, 0))
    builder.joint("b", "prismatic", "world", "right", axis=(1, 0, 0), mimic=pliant.robot.Mimic("a", -2.0))
    robot = (
        builder.build().with_motor("a").with_motor("b", dry_friction=1.0, bristle_stiffness=100.0, bristle_damping=20)
    )
    sim = pliant.Simulation(robot)
    sim.run(8.0, u=[1.5, 0.0])
    assert sim.q[0] == pytest.approx(1.5 / (4 * 100), rel=1e-6)
    sim.run(0.5, u=[2.5, 0.0])
    assert sim.v[0] == pytest.approx(0.5 * 0.5 / 5, rel=0.1)  # of 1 + 4 kg, less the force of 2 x 1 N
