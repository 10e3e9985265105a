"""Motors: control laws, gains taken implicitly, limits, the speed-torque line, friction, rotors."""

import math

import numpy as np
import pytest

import pliant
from moving_robots import by_rk4
from pliant.robot import Robot
from simple_bodies import G, sliding, turning
from simulated_robots import ran

INERTIA = 0.5


def wheel(**motor) -> Robot:
    return turning(inertia=INERTIA).with_motor("axle", **motor)


def simulated(robot: Robot, u: float, t: float = 1.0, **options) -> tuple[pliant.Simulation, pliant.Log]:
    sim = pliant.Simulation(robot, dt=options.pop("dt", 1e-3), **options)
    return sim, sim.run(t, u=[u], channels=("q", "v", "tau"))


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint", "dormand-prince"])
def test_a_torque_accelerates(integrator: str) -> None:
    sim, log = simulated(wheel(), 2.0, integrator=integrator)
    assert sim.v[0] == pytest.approx(2 / INERTIA, rel=1e-9)
    np.testing.assert_array_equal(log.tau[1:], 2)


@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint", "rk4"])
def test_position_control_settles_at_the_static_error(integrator: str) -> None:
    """kp (u - q) = m g in the end, for any integrator and step: q = u - m g / kp."""
    robot = sliding(mass=2).with_motor("slide", control="position", kp=500, kd=60)
    sim, _ = simulated(robot, 0.3, 3.0, integrator=integrator)
    # the slow pole of 500, 60 and 2 kg decays with 15 / s
    assert sim.q[0] == pytest.approx(0.3 - 2 * G / 500, abs=1e-9)
    assert sim.tau[0] == pytest.approx(2 * G, rel=1e-7)


def test_position_control_is_a_spring_and_a_damper() -> None:
    """q'' = (kp (u - q) - kd v) / I, underdamped: the closed form, to the order of the integrator."""
    kp, kd, u = 50.0, 1.0, 0.4
    s = kd / (2 * INERTIA)
    w = math.sqrt(kp / INERTIA - s * s)
    expected = u - u * math.exp(-s) * (math.cos(w) + s / w * math.sin(w))
    robot = wheel(control="position", kp=kp, kd=kd)
    assert simulated(robot, u, integrator="rk4")[0].q[0] == pytest.approx(expected, abs=1e-8)
    errors = [abs(simulated(robot, u, dt=dt)[0].q[0] - expected) for dt in (2e-4, 1e-4)]
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)


def test_velocity_control() -> None:
    """v = u (1 - exp(-kd t / I))."""
    robot = wheel(control="velocity", kd=2)
    assert simulated(robot, 3.0, integrator="rk4")[0].v[0] == pytest.approx(3 * (1 - math.exp(-4)), rel=1e-9)
    assert simulated(robot, 3.0)[0].v[0] == pytest.approx(3 * (1 - 1 / (1 + 4e-3) ** 1000), rel=1e-11)


@pytest.mark.parametrize("kd", [0, 1e3, 1e5])
def test_stiff_gains_are_stable(kd: float) -> None:
    """kp = 1e6 at 1 ms, where an explicit step would blow up (kp dt^2 / I = 2, or kd dt / I = 200)."""
    sim, log = simulated(wheel(control="position", kp=1e6, kd=kd), 1.0, 2.0)
    assert np.isfinite(log.q).all()
    assert log.q.max() < 2.0
    assert sim.q[0] == pytest.approx(1, abs=1e-8)  # the slowest decays with kp / kd = 10 / s: exp(-20) = 2e-9


# ---- limits of torque


@pytest.mark.parametrize("control", ["torque", "position", "velocity"])
@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_no_motor_exceeds_its_effort_limit(control: str, integrator: str) -> None:
    """Controls far beyond, changed at random; the motion is that of the torque that is told."""
    gains = {"torque": {}, "position": {"kp": 300, "kd": 10}, "velocity": {"kd": 200}}[control]
    robot = wheel(control=control, effort_limit=5, **gains)
    sim = pliant.Simulation(robot, dt=1e-3, batch=8, integrator=integrator)
    rng, saturated, partial = np.random.default_rng(4), 0, 0
    for _ in range(20):
        u = rng.normal(0, {"torque": 10, "position": 0.05, "velocity": 3}[control], (8, 1))
        for _ in range(20):
            before = sim.v
            sim.step(u)
            assert np.abs(sim.tau).max() <= 5 * (1 + 1e-9)
            saturated += np.count_nonzero(np.abs(sim.tau) > 4.999)
            partial += np.count_nonzero(np.abs(sim.tau) < 4.9)
            if integrator == "semi-implicit":
                np.testing.assert_allclose(sim.v - before, sim.tau * 1e-3 / INERTIA, atol=1e-10)
    assert saturated > 100
    assert partial > 20


@pytest.mark.parametrize("motor, u, t, speed", [
    # far from its target it pushes with all it has: limit t / I
    ({"control": "position", "kp": 1e4, "kd": 10, "effort_limit": 5}, 100.0, 0.5, 5 * 0.5 / INERTIA),
    # dry friction takes its part of the torque, and holds below it
    ({"dry_friction": 0.6}, 1.0, 1.0, (1 - 0.6) / INERTIA),
    ({"dry_friction": 0.6}, 0.59, 1.0, 0),
    # the joint feels gear^2 times the inertia of the rotor
    ({"gear": 9, "rotor_inertia": 2e-3}, 2.0, 1.0, 2 / (INERTIA + 81 * 2e-3)),
], ids=["saturated", "dry friction", "held by it", "gear"])  # fmt: skip
def test_the_speed_of_a_constant_torque(motor: dict, u: float, t: float, speed: float) -> None:
    sim, _ = simulated(wheel(**motor), u, t)
    assert sim.v[0] == pytest.approx(speed, rel=1e-12 if "gear" in motor else 1e-9)
    assert sim.q[0] == pytest.approx(speed * t / 2 * (1 + 1e-3 / t), abs=1e-12 if speed == 0 else 1e-6)


def test_the_speed_torque_line() -> None:
    """An unloaded motor at full torque: v = v0 (1 - exp(-t limit / (I v0))), towards the no-load speed."""
    robot = wheel(effort_limit=4, no_load_speed=10)
    sim, log = simulated(robot, 100.0, 1.0, integrator="rk4")
    assert sim.v[0] == pytest.approx(10 * (1 - math.exp(-0.8)), rel=1e-9)
    # the torque cut off at the speed at the start of a step: first order
    sim, log = simulated(robot, 100.0, 12.0)
    assert sim.v[0] == pytest.approx(10, rel=1e-3)
    assert log.v.max() <= 10
    np.testing.assert_allclose(log.tau[1:], 4 * (1 - log.v[:-1] / 10), atol=1e-9)


def test_beyond_the_no_load_speed_a_motor_only_brakes() -> None:
    sim = pliant.Simulation(wheel(effort_limit=4, no_load_speed=10), dt=1e-3, batch=2)
    ran(sim, 0.1, v=[12.0], u=[[4.0], [-4.0]])
    np.testing.assert_allclose(sim.v[:, 0], [12, 12 - 4 * 0.1 / INERTIA], rtol=1e-9)


# ---- friction and rotors


def test_viscous_friction() -> None:
    """Ends at u / viscous, with the time constant I / viscous."""
    robot = wheel(viscous_friction=0.25)
    assert simulated(robot, 1.0, 2.0, integrator="rk4")[0].v[0] == pytest.approx(4 * (1 - math.exp(-1)), rel=1e-9)
    assert simulated(robot, 1.0, 60.0, dt=1e-2)[0].v[0] == pytest.approx(4, rel=1e-9)


# ---- laws of the user


def test_a_motor_law() -> None:
    """tau = u - 3 q - 0.5 sin(t) v, against RK4 in Python."""
    robot = wheel(law=lambda u, q, v, t: u - 3 * q - 0.5 * pliant.math.sin(t) * v)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[1], (2 - 3 * y[0] - 0.5 * math.sin(t) * y[1]) / INERTIA])

    y = by_rk4(rate, np.zeros(2), 1, 1000)
    np.testing.assert_allclose([*simulated(robot, 2.0, integrator="rk4")[0].q], y[:1], atol=1e-11)
    assert simulated(robot, 2.0)[0].q[0] == pytest.approx(y[0], abs=5e-3)  # first order


def test_a_law_is_cut_off_at_the_limit() -> None:
    sim, _ = simulated(wheel(law=lambda u, q, v, t: 1000 * u, effort_limit=3), -1.0, 0.1)
    assert sim.tau[0] == -3


def test_two_motors_on_one_joint() -> None:
    robot = wheel().with_motor("axle", name="helper", rotor_inertia=0.1)
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.run(1.0, u=[1.0, 2.0], channels=())
    assert sim.v[0] == pytest.approx(3 / (INERTIA + 0.1), rel=1e-12)
