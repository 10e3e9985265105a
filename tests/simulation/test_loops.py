"""Loops: they stay closed and keep their energy, overconstrained and singular ones too; contacts see what is closed."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import pliant
from closed_robots import (
    BRICARD_Q, bricard, free_velocity, leg, leg_q, opening, parallelogram, slider_crank, stewart, stewart_q,
)  # fmt: skip
from pliant.constrained import constrained_dynamics, contact_rank, impact_velocity
from pliant.robot import Robot
from simple_bodies import G
from simulated_robots import ran

STEPS = (5e-3, 1e-3, 1e-4)


def energy_of(log: pliant.Log) -> np.ndarray:
    """Kinetic and potential energy over time."""
    return log["energy.kinetic"] + log["energy.potential"]


def kept(robot: Robot, q, v, dt: float, t: float = 2.0, **options) -> tuple[float, float, pliant.Log]:
    """The largest change of energy over the largest kinetic energy, its mean in the last tenth, and the log.

    Every step converges, and the loops do not open.
    """
    sim, log = ran(pliant.Simulation(robot, dt=dt, **options), t, q, v, channels=("q", "v", "energy", "solver"))
    assert not log["solver"][:, 3].any() and not sim.troubles
    energy, most = energy_of(log), log["energy.kinetic"].max()
    change = (energy - energy[0]) / most
    return float(np.abs(change).max()), float(change[-len(change) // 10 :].mean()), log


# ---- overconstrained and singular


@pytest.mark.parametrize("dt", STEPS)
def test_bricards_mechanism_keeps_its_energy(dt: float) -> None:
    """Rank 5 of 6. The energy of a state wobbles with w dt / 2, at some 13 rad/s, and does not drift."""
    robot = bricard()
    assert contact_rank(robot, BRICARD_Q, contacts="ring") == 5
    worst, last, log = kept(robot, BRICARD_Q, free_velocity(robot, BRICARD_Q, 0.9), dt)
    assert np.abs(log.v).max() > 10
    assert worst < 0.025 * dt / 5e-3 and abs(last) < 0.015 * dt / 5e-3
    assert opening(robot, log.q) < 3e-11
    # threefold symmetric all the time, on the curve of its closed form
    t, f = log.q[:, 0], log.q[:, 1]
    np.testing.assert_allclose(np.cos(t) + np.cos(f) + np.cos(t) * np.cos(f), 0, atol=1e-9)


@pytest.mark.parametrize("kind, copies", [("point", 1), ("hinge", 2)])
def test_a_parallelogram_passes_its_singular_position(kind: str, copies: int) -> None:
    """It turns over and over, through its position in line with the base, and stays a parallelogram.

    Loops that are held once or twice are the same. The energy wobbles with w dt / 2, and does not drift.
    """
    robot, q = parallelogram(kind, copies), np.array([0.4, -0.4, 0.4])
    for dt in STEPS:
        worst, last, log = kept(robot, q, np.array([12.0, -12, 12]), dt, 1.0)
        assert worst < 0.015 * dt / 5e-3 and abs(last) < 0.01 * dt / 5e-3
        assert log.q[-1, 0] > 2 * math.pi, "it turned over"
        np.testing.assert_allclose(log.q[:, 0], log.q[:, 2], atol=1e-8)
        assert opening(robot, log.q) < 2e-11


def test_wheels_with_two_side_rods_at_right_angles() -> None:
    """A locomotive: where one parallelogram is in line, the other carries it, so that the wheels turn alike."""
    builder = pliant.RobotBuilder("wheels")
    for k, x in enumerate((0.0, 1.0)):
        builder.body(f"wheel{k}", 3, (0, 0, 0), (0.1, 0, 0, 0.2, 0, 0.1))
        builder.joint(f"wheel{k}", "revolute", "world", f"wheel{k}", (x, 0, 0), axis=(0, 1, 0))
    for k, (x, z) in enumerate(((0.2, 0.0), (0.0, 0.2))):
        builder.body(f"side{k}", 1, (0.5, 0, 0), (1e-3, 0, 0, 1 / 12, 0, 1 / 12))
        builder.joint(f"side{k}", "revolute", "wheel0", f"side{k}", (x, 0, z), axis=(0, 1, 0))
        builder.frame(f"end{k}", f"side{k}", (1, 0, 0)).frame(f"pin{k}", "wheel1", (x, 0, z))
    robot = builder.build()
    for k in range(2):
        robot = robot.with_closure("hinge", f"end{k}", f"pin{k}", axis=(0, 1, 0))
    v = free_velocity(robot, robot.neutral(), 6)
    assert contact_rank(robot, robot.neutral(), contacts=tuple(robot.closures)) == 3
    for dt in (5e-3, 1e-3):
        worst, last, log = kept(robot, robot.neutral(), v, dt, 3.0)
        # the potential energy of the rods changes by 5.5 J of 30 J
        assert worst < 0.01 * dt / 5e-3 and abs(last) < 0.005 * dt / 5e-3
        left, right = (log.q[:, robot.q_slice(f"wheel{k}").start] for k in range(2))
        np.testing.assert_allclose(left, right, atol=1e-8)


@pytest.mark.parametrize("turn", [(0, 0, 0), (2e-4, 0, 0), (0.3, -0.4, 1.1)])
def test_the_last_digits_of_a_file_lock_no_loop(turn: tuple[float, float, float]) -> None:
    """A planar loop with pins that are parallel, and in one plane, to eight digits only, swings as the exact one does.

    No motion closes what is open across it. Nor does it matter how the plane lies in the world.
    """
    exact = parallelogram()
    builder = pliant.RobotBuilder("file")
    for body in exact.bodies.values():
        com = [h / float(body.inertia.mass) for h in body.inertia.h]
        builder.body(body.name, body.inertia.mass, com, list(body.inertia.about_com()))
    builder.joint("hold", "fixed", "world", "ground", rpy=turn).body("ground")
    off = 3e-8
    builder.joint("left", "revolute", "ground", "left", axis=(0, 1, 0))
    builder.joint("coupler", "revolute", "left", "coupler", (0, off, -0.5), axis=(off, 1, -off))
    builder.joint("right", "revolute", "ground", "right", (1, 0, 0), axis=(-off, 1, 2 * off))
    builder.frame("end", "coupler", (1, 0, 0)).frame("tip", "right", (0, 0, -0.5))
    down = Rotation.from_euler("xyz", turn).apply([0, 0, -G])
    robot = builder.gravity(*down).build().with_closure("point", "end", "tip")
    found = []
    for one in (exact, robot):
        sim, log = ran(pliant.Simulation(one, dt=1e-3), 1.0, [0.6, -0.6, 0.6], channels=("q", "solver"))
        assert not log["solver"][:, 3].any() and not sim.troubles
        found.append(log.q)
    assert np.ptp(found[0][:, 0]) > 1
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)


def test_in_single_precision() -> None:
    """Rank and singular positions are found with seven digits, too; steps of 1e-7 rad are what q is stored with."""
    slow, fast = free_velocity(bricard(), BRICARD_Q, 0.9), np.array([12.0, -12, 12])
    for robot, q, v in ((bricard(), BRICARD_Q, slow), (parallelogram(), [0.4, -0.4, 0.4], fast)):
        worst, last, log = kept(robot, q, v, 1e-3, precision="float32")
        # a third of a percent is the wobble of the step; going through a singular position, where a row is as small as
        # its rounding, may take off one percent more (without fused multiply-add it does), and brings none
        assert worst < 0.02 and last < 0.005
        assert opening(robot, log.q.astype(float)) < 1e-5


def test_the_same_bits_in_any_batch() -> None:
    robot = bricard()
    speeds = np.array([0.3, -0.7, 0.9, 0, 0.1])
    v = speeds[:, None] * free_velocity(robot, BRICARD_Q, 1)
    many = pliant.Simulation(robot, dt=2e-3, batch=5)
    many.reset(q=BRICARD_Q, v=v)
    many.run(0.3, channels=())
    one = pliant.Simulation(robot, dt=2e-3)
    for k in range(5):
        one.reset(q=BRICARD_Q, v=v[k])
        one.run(0.3, channels=())
        np.testing.assert_array_equal(one.q, many.q[k])
        np.testing.assert_array_equal(one.state.part("closings"), many.state.part("closings")[k])


# ---- closed forms


def test_a_slider_crank_turns_as_its_energy_says() -> None:
    """Without gravity, I(t) t'^2 / 2 = E, with I(t) the inertia felt at the crank: time is an integral."""
    r, length, m, m_rod, m_slider = 0.2, 0.5, 1, 0.5, 0.8

    def inertia(t: float) -> float:
        s = -r / length * math.sin(t)
        c = math.sqrt(1 - s * s)
        turn = -r * math.cos(t) / (length * c)  # of the rod, for one of the crank
        x_slider = -r * math.sin(t) - length * s * turn
        x, z = -r * math.sin(t) - length / 2 * s * turn, -r * math.cos(t) - length / 2 * c * turn
        rod = m_rod * (x * x + z * z + length**2 / 12 * turn**2)
        return m * r * r / 3 + rod + m_slider * x_slider**2

    speed = 8.0
    energy = inertia(0) * speed**2 / 2

    def time(t: float) -> float:
        return quad(lambda x: math.sqrt(inertia(x) / (2 * energy)), 0, t, limit=200)[0]

    angle = brentq(lambda t: time(t) - 1, 1, 50)
    robot = slider_crank().with_gravity(0, 0, 0)
    q = np.array([0, 0, r + length])
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        log = kept(robot, q, np.array([speed, -speed * (1 + r / length), 0]), dt, 1.0)[2]
        errors.append(log.q[-1, 0] - angle)
    assert abs(errors[1]) < 2e-2
    # of order one, or better
    assert abs(errors[1]) < 0.6 * abs(errors[0]) and abs(errors[2]) < 0.6 * abs(errors[1])


@pytest.mark.parametrize("kind", ["point", "hinge"])
def test_forces_are_those_of_the_laboratory(kind: str) -> None:
    """In motion, the impulse over dt is the force of `constrained_dynamics`, to order one; of redundant ones least."""
    robot, q, v = parallelogram(kind, 2), np.array([0.4, -0.4, 0.4]), np.array([3.0, -3, 3])
    expected = constrained_dynamics(robot, q, v, np.zeros(3), contacts=tuple(robot.closures)).f
    errors = []
    for dt in (1e-3, 5e-4):
        sim = pliant.Simulation(robot, dt=dt)
        sim.reset(q=q, v=v)
        # the second step: the first one has all of the bend before it
        sim.step()
        sim.step()
        errors.append(np.abs(sim.state.part("closings") / dt - expected).max())
    assert np.abs(expected).max() > 5 and errors[0] < 0.1 and errors[1] < 0.6 * errors[0]


def test_a_stewart_platform_stands_by_virtual_work() -> None:
    """Locked legs carry it. With L the lengths of the legs and X its pose, f dL/dX = dU/dX, by closed-form geometry."""
    p, turn = np.array([0.05, -0.1, 1.1]), np.array([0.1, -0.2, 0.3])

    def pose(x: np.ndarray) -> np.ndarray:
        R = Rotation.from_rotvec(turn) * Rotation.from_rotvec(x[3:])
        return stewart_q(p + x[:3], R.as_matrix(), R.as_quat())

    def slope(function, h: float = 1e-5) -> np.ndarray:
        return np.array([(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(6)])

    robot = stewart(locked=True)
    slides = [robot.q_slice(f"slide{k}").start for k in range(6)]
    lengths = slope(lambda x: pose(x)[slides])
    weight = slope(lambda x: float(pliant.dynamics.potential_energy(robot, pose(x))))
    forces = np.linalg.solve(lengths, weight)
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.reset(q=pose(np.zeros(6)))
    for _ in range(20):
        sim.step()
    assert opening(robot, sim.q) < 2e-11 and not sim.troubles
    np.testing.assert_allclose(sim.q, pose(np.zeros(6)), atol=1e-9)
    np.testing.assert_allclose(sim.state.part("steady") / 1e-3, forces, rtol=1e-6, atol=1e-6)
    # the ground carries all of it
    feet = sim.state.part("closings").reshape(6, 3) / 1e-3
    np.testing.assert_allclose(feet.sum(axis=0), [0, 0, robot.mass * G], atol=1e-6)
    # the same forces by motors
    free = stewart()
    sim = pliant.Simulation(free, dt=1e-3)
    sim.reset(q=pose(np.zeros(6)))
    sim.step(forces)
    np.testing.assert_allclose(sim.v, 0, atol=1e-8)


# ---- contacts, limits, locks and dry friction of closed mechanisms


def test_a_leg_with_a_parallelogram_stands() -> None:
    """Without friction the ground carries the weight, and motors what virtual work says, with U(thigh, lever)."""
    robot = leg()
    for joint in ("thigh", "lever"):
        robot = robot.with_motor(joint, control="position", kp=3e4, kd=300)
    angles = np.array([0.5, -0.4])
    q = leg_q(*angles)
    sim = pliant.Simulation(robot, dt=1e-3, ground=0, contact=pliant.RigidContact(friction=0))
    sim, log = ran(sim, 2.0, q, u=angles, channels=("q", "solver"))
    assert not sim.troubles and opening(robot, log.q) < 2e-11
    np.testing.assert_allclose(sim.v, 0, atol=1e-7)
    np.testing.assert_allclose(sim.contact_forces[0], [0, 0, robot.mass * G], rtol=1e-6, atol=1e-6)
    at = np.array([sim.q[robot.q_slice(j).start] for j in ("thigh", "lever")])

    def weight(angles: np.ndarray) -> float:
        return float(pliant.dynamics.potential_energy(robot, leg_q(*angles.tolist())))

    h = 1e-5
    expected = [(weight(at + h * e) - weight(at - h * e)) / (2 * h) for e in np.eye(2)]
    torques = [float(sim.state.part("torques")[list(robot.motors).index(j)]) for j in ("thigh", "lever")]
    # the solver leaves 1e-9 m/s, of 7 kg in a step of 1 ms
    np.testing.assert_allclose(torques, expected, rtol=1e-5, atol=1e-4)


def test_a_foot_that_lands_strikes_the_closed_leg() -> None:
    """It sticks where it lands: the velocity after is that of the laboratory's impact, with the loop held, too."""
    robot = leg()
    q = leg_q(0.5, -0.4)
    v = np.zeros(5)
    v[0] = -1
    # where the ball touches: below its centre
    R = pliant.frame_pose(robot, q, "foot")[:3, :3]
    held = robot.with_frame("sole", "foot", (R.T @ [0, 0, -0.02]).tolist())
    expected = impact_velocity(held, q, v, contacts=("loop", "sole"), restitution=0)
    errors = []
    for dt in (1e-4, 1e-5):
        sim = pliant.Simulation(robot, dt=dt, ground=0, contact=pliant.RigidContact(friction=20))
        sim.reset(q=q, v=v)
        sim.step()
        errors.append(np.abs(sim.v - expected).max())
    assert np.abs(expected).max() > 1 and errors[1] < 1e-2 and errors[1] < 0.2 * errors[0]


def weight_torque(angle: float) -> float:
    """What turns the parallelogram back: half of each crank and the coupler, at 0.5 m."""
    return 3 * G * 0.5 * math.sin(angle)


def test_a_limit_inside_a_loop_carries_the_mechanism() -> None:
    robot = parallelogram().with_joint("right", limits=(0.3, 2))
    sim, log = ran(pliant.Simulation(robot, dt=1e-3), 1.0, [0.6, -0.6, 0.6], channels=("q", "solver"))
    assert not sim.troubles and opening(robot, log.q) < 2e-11
    np.testing.assert_allclose(sim.q, [0.3, -0.3, 0.3], atol=1e-8)
    np.testing.assert_allclose(sim.v, 0, atol=1e-9)
    np.testing.assert_allclose(sim.state.part("stops") / 1e-3, [weight_torque(0.3)], rtol=1e-6)


def test_a_lock_inside_a_loop_holds_it() -> None:
    """The torque of the locked coupler by virtual work: it turns back as the cranks turn."""
    robot = parallelogram().with_joint("coupler", locked=True)
    sim, log = ran(pliant.Simulation(robot, dt=1e-3), 0.2, [0.6, -0.6, 0.6], channels=("q", "solver"))
    assert not sim.troubles
    np.testing.assert_allclose(log.q[-1], [0.6, -0.6, 0.6], atol=1e-12)
    np.testing.assert_allclose(sim.state.part("steady") / 1e-3, [-weight_torque(0.6)], rtol=1e-9)


@pytest.mark.parametrize("share, moves", [(0.99, True), (1.01, False)])
def test_dry_friction_of_all_joints_of_a_loop_adds_up(share: float, moves: bool) -> None:
    robot = parallelogram()
    for joint in robot.joints:
        robot = robot.with_joint(joint, friction=share * weight_torque(0.6) / 3)
    sim, log = ran(pliant.Simulation(robot, dt=1e-3), 0.2, [0.6, -0.6, 0.6], channels=("q", "solver"))
    assert not sim.troubles and opening(robot, log.q) < 2e-11
    assert (sim.q[0] < 0.6 - 1e-3) == moves
    if not moves:
        np.testing.assert_allclose(sim.q, [0.6, -0.6, 0.6], atol=1e-9)
