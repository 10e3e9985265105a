"""Joints with limits, dry friction and locks, and loop closures."""

import math

import numpy as np
import pytest

import pliant
from pliant.robot import Mimic, Robot, RobotBuilder
from simple_bodies import G, point_mass, sliding, turning
from simulated_robots import ran

ARM = pliant.load("arm7")


def run(robot: Robot, q=None, v=None, *, t: float = 1.0, dt: float = 1e-3, **options) -> tuple[np.ndarray, np.ndarray]:
    """q and v over time."""
    _, log = ran(pliant.Simulation(robot, dt=dt, **options), t, q, v)
    return log.q, log.v


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
    q, v = run(robot, q0, t=0.5)
    k = robot.q_slice("joint2").start
    np.testing.assert_allclose(q[:, k], q0[k], atol=1e-10)
    assert np.abs(v[-1]).max() > 0.1
    # d'Alembert: the others accelerate as the block of M without it says
    free = [d for d in range(robot.nv) if d != k]
    M, h = pliant.mass_matrix(ARM, q0), pliant.bias_forces(ARM, q0, np.zeros(robot.nv))
    M = M + 1e-3 * np.diag([float(j.damping[0]) for j in ARM.joints.values() if j.kind.nv])  # taken implicitly
    first = np.linalg.solve(M[np.ix_(free, free)], -h[free]) * 1e-3
    np.testing.assert_allclose(v[1, free], first, atol=1e-7)


# ---- springs


def test_a_stiff_joint_spring_is_stable() -> None:
    """k = 1e8 at 1 ms: the implicit spring comes to rest where it should, m g / k below."""
    q, v = run(sliding(stiffness=1e8, rest=0.1), q=[0.1001])
    assert q[-1, 0] == pytest.approx(0.1 - G / 1e8, abs=1e-12)
    assert abs(v[-1, 0]) < 1e-9


def test_a_mimicking_joint_shares_its_spring() -> None:
    """The leader feels ratio^2 k of its follower: w = sqrt((k1 + r^2 k2) / (I1 + r^2 I2))."""
    builder = RobotBuilder("geared").gravity(0, 0, 0)
    for name, inertia in (("one", 0.5), ("two", 0.2)):
        builder.body(name, 1, (0, 0, 0), (inertia, 0, 0, inertia, 0, inertia))
    builder.joint("lead", "revolute", "world", "one", axis=(0, 0, 1), stiffness=10)
    builder.joint("follow", "revolute", "world", "two", axis=(0, 0, 1), stiffness=5, mimic=Mimic("lead", -2))
    q, _ = run(builder.build(), q=[0.1], t=0.5, integrator="rk4")
    w = math.sqrt((10 + 4 * 5) / (0.5 + 4 * 0.2))
    assert q[-1, 0] == pytest.approx(0.1 * math.cos(w * 0.5), abs=1e-9)


# ---- loop closures: they stay closed, and their forces are those of statics and of the chain that they replace


def chain(n: int, *, axis=(0, 1, 0), length: float = 1.0, mass: float = 1.0, kind: str = "revolute") -> Robot:
    """n slender rods that hang on each other, the first on the world; "tip" is the end of the last."""
    builder = RobotBuilder(f"chain of {n}")
    across = mass * length**2 / 12
    for k in range(n):
        builder.body(f"rod{k}", mass, (0, 0, -length / 2), (across, 0, 0, across, 0, 1e-3))
        parent, place = ("world", (0, 0, 0)) if k == 0 else (f"rod{k - 1}", (0, 0, -length))
        options = {"axis": axis} if kind == "revolute" else {}
        builder.joint(f"joint{k}", kind, parent, f"rod{k}", place, **options)
    builder.frame("tip", f"rod{n - 1}", (0, 0, -length))
    builder.frame("anchor", "world", (2 * length, 0, 0))
    return builder.build()


FOUR_BAR = chain(3).with_closure("point", "tip", "anchor")


def gap(q: np.ndarray) -> float:
    """The most that it is open along an axis."""
    tip, anchor = (pliant.frame_pose(FOUR_BAR, q, name)[..., :3, 3] for name in ("tip", "anchor"))
    return float(np.abs(tip - anchor).max())


def four_bar_start() -> np.ndarray:
    """Angles of three rods of 1 m from (0, 0) to (2, 0): a symmetric trapezium, 60 degrees down, along, up."""
    # a rod at the angle a points to (-sin a, -cos a): to the right for negative angles
    absolute = np.array([-math.pi / 6, -math.pi / 2, -5 * math.pi / 6])
    return np.diff(absolute, prepend=0)


def closed_velocity() -> np.ndarray:
    """A velocity that keeps the loop closed: J v = 0."""
    return np.linalg.svd(pliant.frame_jacobian(FOUR_BAR, four_bar_start(), "tip")[[0, 2]])[2][-1] * 2


def test_a_planar_loop_stays_closed() -> None:
    """Three rods between two pins, a point closure with a redundant row across the plane."""
    q, v = four_bar_start(), closed_velocity()
    assert gap(q) < 1e-12
    sim, log = ran(pliant.Simulation(FOUR_BAR, dt=1e-3), 3.0, q, v)
    assert gap(log.q) < 2e-11
    assert np.abs(log.v).max() > 1
    assert sim.diagnostics.is_converged
    energy = log["energy.kinetic"] + log["energy.potential"]
    # first order in dt: velocities are half a step older than positions, at 5 rad/s and some 20 J
    assert np.abs(energy - energy[0]).max() < 0.1


def test_loops_do_not_drift() -> None:
    """They are closed to 1e-11 m in each step, whatever its length."""
    state = four_bar_start(), closed_velocity()
    worst = [gap(run(FOUR_BAR, *state, t=0.5, dt=dt)[0]) for dt in (5e-3, 1e-3, 5e-4)]
    assert max(worst) < 2e-11, worst


def test_forces_of_a_hanging_four_bar() -> None:
    """At rest under damping, the pin at the anchor carries half the weight, and a horizontal thrust by moments."""
    robot = FOUR_BAR
    for joint in robot.joints:
        robot = robot.with_joint(joint, damping=2)
    sim, _ = ran(pliant.Simulation(robot, dt=1e-3), 10.0, four_bar_start(), channels=())
    np.testing.assert_allclose(sim.v, 0, atol=1e-6)
    force = sim.state.part("closings") / 1e-3
    # moments of a side rod about its pin: its own weight in its middle, half that of the lowest rod at its end, and
    # the thrust H there: H sin(60) = m g cos(60) / 2 + m g / 2 cos(60)
    horizontal = G * math.cos(math.pi / 3) / math.sin(math.pi / 3)
    np.testing.assert_allclose(np.abs(force), [horizontal, 0, 1.5 * G], rtol=1e-5, atol=1e-6)
    assert force[2] > 0, "it holds the tip up"


def test_a_rod_at_a_distance_is_a_pendulum() -> None:
    """A slide in three directions kept 1 m from the world swings as a pendulum from horizontal."""
    robot = point_mass().with_closure("distance", "point", "world", length=1)
    errors = []
    for dt in (1e-3, 5e-4):
        q, _ = run(robot, [1, 0, 0], t=1.2, dt=dt)
        assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 2e-11
        low = np.flatnonzero(q[:, 0] < 0)[0]
        t = (low - 1 + q[low - 1, 0] / (q[low - 1, 0] - q[low, 0])) * dt
        errors.append(abs(t - 2.3678419475762373 / 4))
    assert errors[0] < 2e-3  # first order
    assert errors[1] < 1e-3


def test_a_welded_arm_is_one_body() -> None:
    """Two rods on one spherical joint each, welded to each other: the second one follows as if it was one rod."""
    robot = chain(2, kind="spherical").with_frame("end", "rod0", (0, 0, -1)).with_closure("weld", "end", "rod1")
    single = chain(1, kind="spherical")
    assert robot.nv == 6
    start = robot.integrate(robot.neutral(), np.array([0, 0.8, 0, 0, 0, 0]))
    q, _ = run(robot, start, [0.5, 0, 0, 0, 0, 0])
    # the second joint holds its angle
    angle = 2 * np.linalg.norm(q[:, 4:7], axis=1)
    assert angle.max() < 1e-9
    # one rod of 2 m and 2 kg
    builder = RobotBuilder("one rod")
    builder.body("rod", 2, (0, 0, -1), (2 * 4 / 12, 0, 0, 2 * 4 / 12, 0, 2e-3))
    builder.joint("joint", "spherical", "world", "rod")
    alone, _ = run(builder.build(), start[:4], [0.5, 0, 0])
    # both of first order
    np.testing.assert_allclose(q[-1, :4], alone[-1], atol=5e-3)
    assert single.nv == 3


def test_a_loop_that_starts_open_closes() -> None:
    """With 1 m/s, and no speed from it."""
    q = four_bar_start() + np.array([1e-3, -1e-3, 2e-3])
    sim, _ = ran(pliant.Simulation(FOUR_BAR.with_gravity(0, 0, 0), dt=1e-3), 0.01, q, channels=())
    # 3 mm in 3 steps
    assert 1e-3 < gap(q) < 5e-3 and gap(sim.q) < 2e-11
    np.testing.assert_allclose(sim.v, 0, atol=1e-9)
