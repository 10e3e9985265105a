"""Compliant contact in motion: statics, oscillation, restitution, stiff laws, laws of the user."""

import math

import numpy as np
import pytest

import pliant
from moving_robots import slopes
from pliant.robot import Robot
from simple_bodies import G, ball, point_mass, sliding

DROP = sliding(mass=2).with_contact("mass", points=[(0, 0, 0)])


def simulated(law, z: float, t: float, *, dt: float = 1e-3, rate: float = 0, robot: Robot = DROP, **options):
    sim = pliant.Simulation(
        robot, dt=dt, ground=pliant.flat(), contact=pliant.CompliantContact(law), **{"limits": False, **options}
    )
    sim.reset(q=[z], v=[rate])
    return sim, sim.run(t, channels=("q", "v", "energy"))


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint", "dormand-prince"])
def test_static_penetration(integrator: str) -> None:
    """m g / k."""
    sim, _ = simulated(pliant.SpringDamper(1e4, 300), 0.0, 2.0, integrator=integrator)
    # critically damped with d / 2m = 75 / s: gone after 2 s, to the tolerance of the integrator
    assert sim.q[0] == pytest.approx(-2 * G / 1e4, abs=1e-8)


def test_static_penetration_of_a_hertzian_law() -> None:
    """(m g / k)^(2/3)."""
    sim, _ = simulated(pliant.HuntCrossley(1e6, 2), 0.0, 20.0)
    assert sim.q[0] == pytest.approx(-((2 * G / 1e6) ** (2 / 3)), rel=1e-6)


def test_a_damped_oscillation() -> None:
    """Around m g / k with sqrt(k / m - (d / 2m)^2), as long as it does not lift off."""
    k, d, m = 1e4, 20.0, 2.0
    sink, s = m * G / k, d / (2 * m)
    w = math.sqrt(k / m - s * s)
    sim, log = simulated(pliant.SpringDamper(k, d), -1.5 * sink, 0.5, integrator="rk4")
    z = np.asarray(log["q"])[:, 0]
    expected = -sink - 0.5 * sink * np.exp(-s * log.t) * (np.cos(w * log.t) + s / w * np.sin(w * log.t))
    np.testing.assert_allclose(z, expected, atol=2e-5 * sink)  # (w dt)^4 / 120 a step
    assert sim.q[0] == pytest.approx(expected[-1], abs=1e-7)


def test_the_semi_implicit_step_converges_to_the_same_motion() -> None:
    """With order one, against RK4 with tiny steps: in contact all the time."""
    law = pliant.SpringDamper(1e4, 20)
    reference = simulated(law, -3e-3, 0.1, dt=1e-5, integrator="rk4")[0].q[0]
    errors = [abs(simulated(law, -3e-3, 0.1, dt=dt)[0].q[0] - reference) for dt in (2e-4, 1e-4, 5e-5)]
    assert slopes(errors) == pytest.approx([1, 1], abs=0.15), errors


def test_a_drop_with_a_bounce_converges_too() -> None:
    """In flight after a landing and a lift-off, which fall between steps: at least a third less for a fifth."""
    law = pliant.HuntCrossley(1e6, 0.3)
    reference = simulated(law, 0.2, 0.35, dt=1e-5, integrator="rk4")[0].q[0]
    assert reference > 0.02
    errors = [abs(simulated(law, 0.2, 0.35, dt=dt)[0].q[0] - reference) for dt in (1e-4, 2e-5, 4e-6)]
    assert errors[1] < errors[0] / 3, errors
    assert errors[2] < errors[1] / 3, errors
    # a contact of some milliseconds loses or gains a share of dt / 2 ms of its speed, over 0.15 s at 1 m/s
    assert errors[2] < 5e-4


def test_restitution_of_hunt_and_crossley() -> None:
    """e = 1 - a v for small a v, whatever the mass and stiffness; lower for faster impacts."""
    weightless = DROP.with_gravity(0, 0, 0)
    for dissipation, speed, stiffness in ((0.05, 1.0, 1e7), (0.05, 0.5, 1e6), (0.2, 0.1, 1e7)):
        law = pliant.HuntCrossley(stiffness, dissipation)
        sim, _ = simulated(law, 1e-3, 0.2, dt=1e-5, rate=-speed, robot=weightless, integrator="rk4")
        # the next term is (a v)^2 and less
        assert sim.v[0] / speed == pytest.approx(1 - dissipation * speed, abs=(dissipation * speed) ** 2)
    rebounds = []
    for speed in (0.5, 1, 2, 4):
        sim, _ = simulated(pliant.HuntCrossley(1e7, 0.2), 1e-3, 0.2, dt=2e-5, rate=-speed, robot=weightless)
        rebounds.append(sim.v[0] / speed)
    assert (np.diff(rebounds) < 0).all()


@pytest.mark.parametrize("damping", [0, 1e3, 1e6])
def test_a_stiff_law_is_stable(damping: float) -> None:
    """k = 1e8 at 1 ms, where w dt = 7: no energy is gained, and it comes to rest at m g / k."""
    sim, log = simulated(pliant.SpringDamper(1e8, damping), 0.2, 3.0)
    energy = np.asarray(log["energy.kinetic"]) + np.asarray(log["energy.potential"])
    assert energy.max() <= energy[0] * (1 + 1e-3)
    assert sim.q[0] == pytest.approx(-2 * G / 1e8, abs=1e-8)
    assert abs(sim.v[0]) < 1e-6
    assert sim.diagnostics.is_converged


def test_a_law_of_the_user() -> None:
    """N = c depth^2: rests at sqrt(m g / c)."""

    def law(depth, rate, slip):
        normal = pliant.math.select(depth > 0, pliant.math.maximum(1e6 * depth * depth + 300 * rate, 0), 0)
        return normal, (-5 * slip[0], -5 * slip[1])

    sim, _ = simulated(law, 0.0, 3.0)
    assert sim.q[0] == pytest.approx(-math.sqrt(2 * G / 1e6), rel=1e-6)
    # its friction is viscous, 5 N s/m on 1 kg
    sim = pliant.Simulation(point_mass(), dt=1e-4, ground=pliant.flat(), contact=pliant.CompliantContact(law))
    sim.reset(v=[1, 2, 0])
    sim.run(0.2, channels=())
    np.testing.assert_allclose(sim.v[:2], np.array([1, 2]) * math.exp(-1), rtol=1e-3)


def test_the_force_is_that_of_the_law() -> None:
    """At the end of the step: k depth + d rate."""
    sim, _ = simulated(pliant.SpringDamper(1e4, 100), -1e-3, 0.005)
    force = -1e4 * sim.q[0] - 100 * sim.v[0]
    np.testing.assert_allclose(sim.contact_forces, [[0, 0, force]], rtol=1e-7, atol=1e-6)


def test_a_sliding_ball_starts_to_roll() -> None:
    """As on rigid ground: 5/7 v0, up to the slip that smooth friction needs."""
    law = pliant.SpringDamper(1e5, 500, friction=0.3)
    sim = pliant.Simulation(ball(), dt=1e-3, ground=pliant.flat(), contact=pliant.CompliantContact(law))
    sim.reset(q=[0, 0, 0.1 - G / 1e5, 0, 0, 0, 1], v=[2, 0, 0, 0, 0, 0])
    sim.run(1.0, channels=())
    # the ball is in the ground by 0.1 mm: its rolling radius is a thousandth less
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(2 * 5 / 7, rel=2e-3)
