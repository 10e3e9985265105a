"""Joints with limits, dry friction, locks: rows of the solver."""

import math

import numpy as np
import pytest

import pliant
from pliant.robot import Robot
from simple_bodies import G, sliding, turning

ARM = pliant.load("arm7")


def run(robot: Robot, q=None, v=None, *, t: float = 1.0, dt: float = 1e-3, **options) -> tuple[np.ndarray, np.ndarray]:
    """q and v over time."""
    sim = pliant.Simulation(robot, dt=dt, **options)
    sim.reset(q=q, v=v)
    log = sim.run(t, channels=("q", "v"))
    return np.asarray(log["q"]), np.asarray(log["v"])


# ---- limits


def test_no_joint_oversteps_its_limits() -> None:
    """Seven joints under random torques, which change every 20 ms."""
    robot, n = ARM, 16
    sim = pliant.Simulation(robot, dt=1e-3, batch=n)
    rng = np.random.default_rng(3)
    bounds = [robot.joints[j].limits for j in robot.motors]
    lower, upper = (np.array([float(getattr(b, side)[0]) for b in bounds]) for side in ("lower", "upper"))
    at_limit = 0
    for _ in range(50):
        u = rng.uniform(-40, 40, (n, robot.nu))
        for _ in range(20):
            sim.step(u)
            q = sim.q
            # what is beyond is what the solver leaves: 1e-9 m/s a step, taken back by a fifth in each
            assert (q > lower - 1e-8).all()
            assert (q < upper + 1e-8).all()
            at_limit += np.count_nonzero((q < lower + 1e-6) | (q > upper - 1e-6))
    assert at_limit > 100, "the limits were hardly met"
    assert not sim.divergences


def test_limits_can_be_switched_off() -> None:
    q, _ = run(turning(limits=(-0.5, 0.5)), v=[1.0], limits=False)
    assert q[-1, 0] == pytest.approx(1, rel=1e-9)


def test_a_joint_rests_on_its_limit() -> None:
    """Falls for half a metre, lands without a bounce, and stays."""
    q, v = run(sliding(limits=(-0.5, 1)))
    landed = int(np.argmax(q[:, 0] < -0.5 + 1e-9))
    assert landed * 1e-3 == pytest.approx(math.sqrt(1 / G), abs=1e-3)
    np.testing.assert_allclose(q[landed:, 0], -0.5, atol=1e-12)
    np.testing.assert_allclose(v[landed + 1 :, 0], 0, atol=1e-12)


@pytest.mark.parametrize("e", [0.25, 0.6, 1])
@pytest.mark.parametrize("side", [-1, 1])
def test_restitution_of_a_limit(e: float, side: int) -> None:
    """It leaves with e times the speed it came with."""
    q, v = run(turning(limits=(-0.5, 0.5), restitution=e), v=[side * 2.0], t=0.3)
    assert v[-1, 0] == pytest.approx(-side * 2 * e, rel=1e-9)
    assert np.abs(q).max() <= 0.5 + 1e-9


def test_apexes_over_an_elastic_limit() -> None:
    """As a bouncing ball: e^2 of the height."""
    q, _ = run(sliding(limits=(-1, 1), restitution=0.7), t=1.4)
    z = q[:, 0] + 1
    apexes = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    assert apexes[0] == pytest.approx(0.49, rel=1e-2)  # the impact is seen within a step


# ---- dry friction


def test_dry_friction_holds_below_its_bound() -> None:
    robot = turning(inertia=0.5, friction=2).with_motor("axle")
    sim = pliant.Simulation(robot, dt=1e-3, batch=4)
    u = np.array([[1.0], [1.999], [-1.999], [2.5]])
    sim.run(1.0, u=u, channels=())
    assert np.abs(sim.q[:3]).max() < 1e-12
    # above it, what is left accelerates: (2.5 - 2) / 0.5
    assert sim.v[3, 0] == pytest.approx(1.0, rel=1e-9)


def test_dry_friction_brakes_evenly() -> None:
    """v = v0 - f / I t until it stops, and then it stays."""
    q, v = run(turning(inertia=0.5, friction=2), v=[1.0], t=0.5)
    t = np.arange(len(v)) * 1e-3
    np.testing.assert_allclose(v[:, 0], np.maximum(1 - 4 * t, 0), atol=1e-9)
    assert q[-1, 0] == pytest.approx(1 / 8, abs=1e-3)  # v0^2 I / (2 f), first order
    assert q[-1, 0] == q[-100, 0]


def test_a_weight_on_a_rough_slide() -> None:
    """Holds if f >= m g, else falls with g - f / m."""
    stays, _ = run(sliding(mass=2, friction=2 * G * 1.001))
    assert np.abs(stays).max() < 1e-12
    _, falls = run(sliding(mass=2, friction=2 * G * 0.5))
    assert falls[-1, 0] == pytest.approx(-G / 2, rel=1e-9)


# ---- locks


def test_a_locked_joint_stays() -> None:
    """An arm with one joint locked moves as an arm without that joint."""
    robot = ARM.with_joint("joint2", locked=True)
    q0 = ARM.neutral() + 0.3
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.reset(q=q0)
    log = sim.run(0.5, channels=("q", "v"))
    k = robot.q_slice("joint2").start
    np.testing.assert_allclose(np.asarray(log["q"])[:, k], q0[k], atol=1e-10)
    assert np.abs(sim.v).max() > 0.1
    # d'Alembert: the others accelerate as the block of M without it says
    free = [d for d in range(robot.nv) if d != k]
    M, h = pliant.mass_matrix(ARM, q0), pliant.bias_forces(ARM, q0, np.zeros(robot.nv))
    M = M + 1e-3 * np.diag([float(j.damping[0]) for j in ARM.joints.values() if j.kind.nv])  # taken implicitly
    first = np.linalg.solve(M[np.ix_(free, free)], -h[free]) * 1e-3
    np.testing.assert_allclose(np.asarray(log["v"])[1, free], first, atol=1e-7)


# ---- springs


def test_a_stiff_joint_spring_is_stable() -> None:
    """k = 1e8 at 1 ms: the implicit spring comes to rest where it should, m g / k below."""
    q, v = run(sliding(stiffness=1e8, rest=0.1), q=[0.1001])
    assert q[-1, 0] == pytest.approx(0.1 - G / 1e8, abs=1e-12)
    assert abs(v[-1, 0]) < 1e-9


def test_a_mimicking_joint_shares_its_spring() -> None:
    """The leader feels ratio^2 k of its follower: w = sqrt((k1 + r^2 k2) / (I1 + r^2 I2))."""
    from pliant.robot import Mimic, RobotBuilder

    builder = RobotBuilder("geared").gravity(0, 0, 0)
    for name, inertia in (("one", 0.5), ("two", 0.2)):
        builder.body(name, 1, (0, 0, 0), (inertia, 0, 0, inertia, 0, inertia))
    builder.joint("lead", "revolute", "world", "one", axis=(0, 0, 1), stiffness=10)
    builder.joint("follow", "revolute", "world", "two", axis=(0, 0, 1), stiffness=5, mimic=Mimic("lead", -2))
    q, _ = run(builder.build(), q=[0.1], t=0.5, integrator="rk4")
    w = math.sqrt((10 + 4 * 5) / (0.5 + 4 * 0.2))
    assert q[-1, 0] == pytest.approx(0.1 * math.cos(w * 0.5), abs=1e-9)
