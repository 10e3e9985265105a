"""Contacts between bodies of one robot, and compliant contact in motion."""

import math

import numpy as np
import pytest

import pliant
from moving_robots import slopes
from pliant.robot import Robot, RobotBuilder
from simple_bodies import G, ball, point_mass, sliding, turned
from simulated_robots import ran, started

# ---- compliant contact in motion: statics, oscillation, restitution, stiff laws, laws of the user


DROP = sliding(mass=2).with_contact("mass", points=[(0, 0, 0)])


def simulated(law, z: float, t: float, *, dt: float = 1e-3, rate: float = 0, robot: Robot = DROP, **options):
    options = {"limits": False, "ground": pliant.flat(), "contact": pliant.CompliantContact(law), **options}
    return ran(pliant.Simulation(robot, dt=dt, **options), t, [z], [rate], channels=("q", "v", "energy"))


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
    expected = -sink - 0.5 * sink * np.exp(-s * log.t) * (np.cos(w * log.t) + s / w * np.sin(w * log.t))
    np.testing.assert_allclose(log.q[:, 0], expected, atol=2e-5 * sink)  # (w dt)^4 / 120 a step
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
    law, options = pliant.HuntCrossley(1e7, 0.2), {"dt": 2e-5, "robot": weightless}
    rebounds = [simulated(law, 1e-3, 0.2, rate=-speed, **options)[0].v[0] / speed for speed in (0.5, 1, 2, 4)]
    assert (np.diff(rebounds) < 0).all()


@pytest.mark.parametrize("damping", [0, 1e3, 1e6])
def test_a_stiff_law_is_stable(damping: float) -> None:
    """k = 1e8 at 1 ms, where w dt = 7: no energy is gained, and it comes to rest at m g / k."""
    sim, log = simulated(pliant.SpringDamper(1e8, damping), 0.2, 3.0)
    energy = log["energy.kinetic"] + log["energy.potential"]
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
    ran(sim, 0.2, v=[1, 2, 0])
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
    ran(sim, 1.0, [0, 0, 0.1 - G / 1e5, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0])
    # the ball is in the ground by 0.1 mm: its rolling radius is a thousandth less
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(2 * 5 / 7, rel=2e-3)


# ---- spheres and capsules of one robot that meet: momentum, restitution, and that they stay apart


MASSES = (1.0, 2.5)


def two_bodies(length: float | None = None, **contact: float) -> Robot:
    """Two free spheres of radius 0.1 m, or capsules, without gravity."""
    builder = RobotBuilder("two").gravity(0, 0, 0)
    for name, mass in zip("ab", MASSES, strict=True):
        i = 0.4 * mass * 0.01
        builder.body(name, mass, (0, 0, 0), (i, 0, 0, i, 0, i))
        builder.joint(f"float {name}", "free", "world", name)
    robot = builder.build().with_contacts("a", "b", radius=0.1, length=length, **contact)
    return robot.with_contact_pair("a", "b")


def thrown(robot: Robot, q: list[float], v: list[float], friction: float = 0, **options: float) -> pliant.Simulation:
    # far above the ground, so that only the pair can touch
    contact = pliant.RigidContact(friction=friction, **options)
    return started(pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(-100), contact=contact), q, v)


@pytest.mark.parametrize("e", [0, 0.3, 1])
def test_balls_in_line(e: float) -> None:
    """v1' and v2' of a central impact with restitution e."""
    q, v = [0, 0, 0, *turned(0), 1, 0, 0, *turned(0)], [2, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0]
    sim = thrown(two_bodies(restitution=e), q, v)
    sim.run(0.5, channels=())
    m1, m2 = MASSES
    centre = (2 * m1 - m2) / (m1 + m2)
    expected = [centre - e * m2 / (m1 + m2) * 3, centre + e * m1 / (m1 + m2) * 3]
    # nothing but rounding: the landing is remembered exactly
    np.testing.assert_allclose(sim.v[[0, 6]], expected, atol=1e-9)
    np.testing.assert_allclose(np.delete(sim.v, [0, 6]), 0, atol=1e-9)


OBLIQUE = (
    [0, 0, 0, *turned(0.3, (1, 1, 0)), 0.5, 0.12, 0.05, *turned(1.2, (1, 0, 0.5))],
    [3, 0, 0.2, 0, 0, 0, -1, 0, 0, 0, 0, 0],
)


def momentum(robot: Robot, sim: pliant.Simulation) -> np.ndarray:
    """Linear and angular, about the world's origin."""
    h = pliant.centroidal_momentum(robot, sim.q, sim.v)
    return np.concatenate([h[:3], h[3:] + np.cross(pliant.center_of_mass(robot, sim.q), h[:3])])


@pytest.mark.parametrize("friction", [0, 0.3])
@pytest.mark.parametrize("length", [None, 0.3])
def test_oblique_impacts_keep_momentum(friction: float, length: float | None) -> None:
    """Linear and angular momentum stay, energy does not grow; without friction spheres do not start to spin."""
    robot = two_bodies(length, restitution=0.6)
    sim = thrown(robot, *OBLIQUE, friction, correction=0)
    before, energy = momentum(robot, sim), sim.diagnostics.energy["kinetic"]
    forces = np.asarray(sim.run(0.5, channels=("forces",))["forces"])
    assert np.abs(forces).max() > 100, "they missed"
    after = momentum(robot, sim)
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-10)
    # the impulse of a landing acts where the bodies were at the start of the step, up to 4 mm before
    np.testing.assert_allclose(after[3:], before[3:], atol=2e-2)
    assert sim.diagnostics.energy["kinetic"] < energy
    if length is None and friction == 0:
        np.testing.assert_allclose(sim.v[[3, 4, 5, 9, 10, 11]], 0, atol=1e-9)


def test_corrections_of_penetrations_keep_momentum() -> None:
    robot = two_bodies(0.3, restitution=0.6)
    sim = thrown(robot, *OBLIQUE, correction=0.2)
    before = momentum(robot, sim)
    sim.run(0.5, channels=())
    np.testing.assert_allclose(momentum(robot, sim)[:3], before[:3], atol=1e-10)


def test_an_oblique_impact_without_friction_turns_the_normal_part_only() -> None:
    """Along the line of centres the relative speed is thrown back with e, across it nothing changes."""
    e = 0.6
    robot = two_bodies(restitution=e)
    sim = thrown(robot, [0, 0, 0, *turned(0), 0.5, 0.12, 0, *turned(0)], [3, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0])
    log = sim.run(0.3, channels=("q", "v"))
    q, v = log.q, log.v
    k = int(np.argmax(np.abs(v[:, 0] - 3) > 1e-9))
    apart = q[k - 1, 7:10] - q[k - 1, :3]
    # the centres come nearest at 0.2 m: the normal at that moment, by the straight lines before
    closing, s = np.array([-4.0, 0, 0]), np.array([0.5, 0.12, 0])
    t = (0.5 - math.sqrt(0.04 - 0.12**2)) / 4
    n = (s + closing * t) / 0.2
    dv0, dv1 = closing, v[-1, 6:9] - v[-1, :3]
    # the normal is that of the start of the step, at 4 m/s up to 4 mm away: 4 mm / 0.2 m
    assert np.linalg.norm(apart / np.linalg.norm(apart) - n) < 0.02
    n = apart / np.linalg.norm(apart)
    # it turns on until they are thrown back, in the next step, by as much
    assert dv1 @ n == pytest.approx(-e * dv0 @ n, rel=4e-2)
    np.testing.assert_allclose(dv1 - dv1 @ n * n, dv0 - dv0 @ n * n, atol=0.05)


def test_crossed_capsules_meet_in_the_middle() -> None:
    """Axes along y and x, centres on one line: a central impact without restitution, and no spin."""
    q = [0, 0, 0, *turned(math.pi / 2, (1, 0, 0)), 0, 0, 0.5, *turned(math.pi / 2, (0, 1, 0))]
    v = [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]  # in the body's axes: its y is the world's z
    sim = thrown(two_bodies(0.4), q, v)
    z = sim.run(0.5, channels=("q",)).q[:, [2, 9]]
    assert np.diff(z, axis=1).min() == pytest.approx(0.2, abs=1e-6)  # two radii
    m1, m2 = MASSES
    rate = np.diff(z[-2:], axis=0)[0] / 1e-3
    np.testing.assert_allclose(rate, 2 * m1 / (m1 + m2), rtol=1e-6)
    np.testing.assert_allclose(sim.v[[3, 4, 5, 9, 10, 11]], 0, atol=1e-7)


def test_spheres_at_the_ends_of_an_arm_stay_apart() -> None:
    """Two pendulums pushed together by random torques: the spheres at their ends never overlap."""
    builder = RobotBuilder("tongs")
    for k, name in enumerate(("left", "right")):
        builder.body(name, 1, (0, 0, -0.5), (0.05, 0, 0, 0.05, 0, 0.01))
        builder.joint(f"hinge {name}", "revolute", "world", name, (0.4 * k, 0, 1), axis=(0, 1, 0))
        builder.frame(f"tip {name}", name, (0, 0, -0.8))
        builder.motor(f"hinge {name}")
    tips = "tip left", "tip right"
    robot = builder.build().with_contacts(*tips, radius=0.1).with_contact_pair(*tips)
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(-10), batch=32)
    rng = np.random.default_rng(7)
    nearest = math.inf
    for _ in range(40):
        sim.run(0.05, u=rng.uniform(-20, 20, (32, 2)), channels=())
        left, right = (pliant.frame_pose(robot, sim.q, tip)[:, :3, 3] for tip in tips)
        nearest = min(nearest, float(np.linalg.norm(left - right, axis=1).min()))
    assert nearest < 0.21, "they never touched"
    # at up to 20 m/s, in steps of 1 ms, the spheres turn past each other's normal by (20 mm)^2 / 0.2 m
    assert nearest > 0.2 - 2e-3
    assert sim.diagnostics.is_converged.all()


def test_without_ground_only_the_pair_touches() -> None:
    q, v = [0, 0, 1, *turned(0), 1, 0, 1, *turned(0)], [0, 0, -5, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    sim, _ = ran(pliant.Simulation(two_bodies(), dt=1e-3, ground=None), 1.0, q, v)
    assert sim.contact_names == ["a|b"]
    assert sim.q[2] == pytest.approx(-4)
