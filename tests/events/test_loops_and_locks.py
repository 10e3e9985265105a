"""Loops and locked joints: they hold all the time, through impacts as well."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from pliant.robot import Robot, RobotBuilder
from simple_bodies import G, point_mass
from simulated_robots import ran

LENGTH, CRANK, COUPLER, APART = 0.5, 0.8, 1.2, 0.3
# about its axle, with the coupler's mass at its end
INERTIA = 2 * CRANK * LENGTH**2 / 3 + COUPLER * LENGTH**2
MOMENT = (CRANK + COUPLER) * LENGTH * G


def opened(sim, log) -> float:
    """The most that loops are open at an entry of the log."""
    states = zip(log.t, log.q, log.v, strict=True)
    return max(abs(sim.terms(t, q, v, np.zeros(sim.robot.nu)).open).max() for t, q, v in states)


def total(log) -> np.ndarray:
    return log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]


def parallelogram(kind: str = "point") -> Robot:
    """Two slender cranks and a coupler that does not turn: a pendulum with one angle. All three hang on hinges."""
    builder = RobotBuilder("parallelogram")
    across = CRANK * LENGTH**2 / 12
    for side, x in (("left", 0.0), ("right", APART)):
        builder.body(side, CRANK, (0, 0, -LENGTH / 2), (across, 0, 0, across, 0, 1e-3))
        builder.joint(f"{side}_axle", "revolute", "world", side, (x, 0, 0), axis=(0, -1, 0))
    builder.body("coupler", COUPLER, (APART / 2, 0, 0), (0.01, 0, 0, 0.02, 0, 0.02))
    builder.joint("pin", "revolute", "left", "coupler", (0, 0, -LENGTH), axis=(0, -1, 0))
    if kind == "weld":
        # another pin, and its end welded to the coupler: six rows, of which two are new
        builder.body("end", 1e-3, (0, 0, 0), (1e-6, 0, 0, 1e-6, 0, 1e-6))
        builder.joint("end_pin", "revolute", "right", "end", (0, 0, -LENGTH), axis=(0, -1, 0))
    else:
        builder.frame("end", "right", (0, 0, -LENGTH))
    builder.frame("hole", "coupler", (APART, 0, 0)).frame("corner", "coupler", (APART / 2, 0, -0.1))
    if kind == "distance":
        return builder.build().with_closure("distance", "left", "hole", length=math.hypot(LENGTH, APART), name="loop")
    axis = {"axis": (0, 1, 0)} if kind == "hinge" else {}
    return builder.build().with_closure(kind, "end", "hole", name="loop", **axis)


def angles(robot: Robot, theta: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the parallelogram."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    for joint, sign in (("left_axle", 1), ("right_axle", 1), ("pin", -1), ("end_pin", -1)):
        if joint in robot.joints:
            q[robot.q_slice(joint)], v[robot.v_slice(joint)] = sign * theta, sign * rate
    return q, v


@pytest.mark.parametrize("kind", ["point", "hinge", "weld"])
def test_a_parallelogram_swings_as_a_pendulum(kind: str) -> None:
    """I theta'' = -m g l sin(theta); across their plane all closures have rows that repeat others."""
    robot = parallelogram(kind)
    sim = pliant.EventSimulation(robot, rtol=1e-10, atol=1e-12)
    _, log = ran(sim, 2.0, *angles(robot, 1.0, -0.5))
    light = 1e-3 if kind == "weld" else 0.0
    inertia, moment = INERTIA + light * LENGTH**2, MOMENT + light * LENGTH * G
    exact = solve_ivp(
        lambda t, x: [x[1], -moment / inertia * math.sin(x[0])], (0, 2), [1.0, -0.5], rtol=1e-12, atol=1e-13,
        t_eval=[2.0],
    ).y[:, -1]  # fmt: skip
    at = robot.q_slice("left_axle").start
    # 1e-10 in each of some hundred steps
    assert [sim.q[at], sim.v[robot.v_slice("left_axle").start]] == pytest.approx(exact, abs=1e-7)
    assert opened(sim, log) < 1e-10
    assert abs(total(log) - total(log)[0]).max() < 1e-8


def test_a_distance_closure_is_a_rod() -> None:
    robot = point_mass().with_closure("distance", "point", "world", length=1)
    sim = pliant.EventSimulation(robot, rtol=1e-10, atol=1e-12)
    _, log = ran(sim, 1.0, [math.sin(1.0), 0, -math.cos(1.0)], [0, 0, 0])
    exact = solve_ivp(lambda t, x: [x[1], -G * math.sin(x[0])], (0, 1), [1.0, 0], rtol=1e-12, atol=1e-13).y[0, -1]
    assert math.atan2(sim.q[0], -sim.q[2]) == pytest.approx(exact, abs=1e-8)
    assert opened(sim, log) < 1e-10


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_impacts_go_through_loops(restitution: float) -> None:
    """The coupler hits the ground: theta' is turned round, and the impulse is what that takes."""
    robot = parallelogram().with_contact("corner")
    theta, rate = -0.8, 2.0
    height = -LENGTH * math.cos(0.3) - 0.1
    sim = pliant.EventSimulation(robot, ground=pliant.flat(height), friction=0, restitution=restitution)
    _, log = ran(sim, 0.5, *angles(robot, theta, rate))
    hit = log.events[0]
    before, after = np.flatnonzero(log.t == hit.t)[[0, -1]]
    at = robot.v_slice("left_axle").start
    # from energy: I w^2 / 2 = I w0^2 / 2 + m g l (cos(0.3) - cos(0.8))
    w = math.sqrt(rate**2 + 2 * MOMENT / INERTIA * (math.cos(0.3) - math.cos(theta)))
    assert log.v[before, at] == pytest.approx(w, rel=1e-7)
    assert log.v[after, at] == pytest.approx(-restitution * w, abs=1e-7)
    push = (1 + restitution) * INERTIA * w / (LENGTH * math.sin(0.3))
    assert hit.impulse["corner"][2] == pytest.approx(push, rel=1e-7)
    assert hit.energy_lost == pytest.approx((1 - restitution**2) * INERTIA * w**2 / 2, rel=1e-7)
    assert opened(sim, log) < 1e-10
    if not restitution:
        # it lies on the ground, which bears what the cranks do not: a moment of m g l sin(0.3)
        assert sim.mode_name == "corner slides"
        assert sim.contact_forces[0, 2] == pytest.approx(MOMENT / LENGTH, rel=1e-7)


def test_a_locked_joint_is_a_rigid_one() -> None:
    def arm(kind: str) -> Robot:
        builder = RobotBuilder("arm")
        for k in range(3):
            builder.body(f"rod{k}", 1, (0.1, 0.02, -0.2), (0.02, 0, 0, 0.03, 0, 0.01))
            joint = {"axis": (0, 1, 0)} if k != 1 else ({"axis": (1, 0, 0)} if kind == "revolute" else {})
            parent, place = (f"rod{k - 1}", (0, 0, -0.4)) if k else ("world", (0, 0, 0))
            builder.joint(f"joint{k}", kind if k == 1 else "revolute", parent, f"rod{k}", place, **joint)
        return builder.build()

    locked, rigid = arm("revolute").with_joint("joint1", locked=True), arm("fixed")
    sim, log = ran(pliant.EventSimulation(locked, rtol=1e-10, atol=1e-12), 1.0, [0.7, 0.0, -0.9], [1.0, 0, -2.0])
    other, _ = ran(pliant.EventSimulation(rigid, rtol=1e-10, atol=1e-12), 1.0, [0.7, -0.9], [1.0, -2.0])
    assert sim.q[[0, 2]] == pytest.approx(other.q, abs=1e-8)
    assert abs(log.q[:, 1]).max() < 1e-14
    # a velocity that the lock does not let be is taken away, as by an impact
    sim.reset(q=[0, 0, 0], v=[0, 1, 0])
    assert abs(sim.v[1]) < 1e-15


def test_loops_are_closed_by_a_reset_or_raise() -> None:
    robot = parallelogram()
    sim = pliant.EventSimulation(robot)
    q, v = angles(robot, 0.5, 1.0)
    sim.reset(q=q + np.array([1e-4, -2e-4, 1e-4]), v=v + 0.01)
    terms = sim.terms(0.0, sim.q, sim.v, np.zeros(0))
    assert abs(terms.open).max() < 1e-12
    assert abs(terms.B @ sim.v).max() < 1e-12
    short = point_mass().with_closure("point", "point", "world").with_joint("x", locked=True)
    with pytest.raises(pliant.SimulationError, match=r"loop 'point-world' is open by 1.*closed loops"):
        pliant.EventSimulation(short).reset(q=[1, 0, 0])


def bennett() -> Robot:
    """Four hinges on skew axes that move although they should not: a / sin(alpha) = b / sin(beta) [Bennett 1903]."""
    alpha, beta, a = 0.6, 1.1, 0.4
    b = a * math.sin(beta) / math.sin(alpha)
    builder, parent, place, turn = RobotBuilder("bennett"), "world", (0, 0, 0), (0, 0, 0)
    for k, (length, twist) in enumerate([(a, alpha), (b, beta), (a, alpha), (b, beta)]):
        builder.body(f"link{k}", 1, (length / 2, 0, 0), (0.01, 0, 0, 0.03, 0, 0.03))
        builder.joint(f"hinge{k}", "revolute", parent, f"link{k}", place, turn, axis=(0, 0, 1))
        parent, place, turn = f"link{k}", (length, 0, 0), (twist, 0, 0)
    builder.frame("end", parent, place, turn)
    return builder.build().with_closure("weld", "end", "world", name="loop")


def test_an_overconstrained_loop_moves() -> None:
    """Six rows on four hinges, rank three: one freedom. Its energy stays, and it stays closed."""
    robot = bennett()
    first = 1.9
    # tan(t1 / 2) tan(t2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2); opposite angles are opposite
    second = 2 * math.atan2(math.sin(0.85) / math.sin(0.25), math.tan(first / 2))
    sim = pliant.EventSimulation(robot, rtol=1e-9, atol=1e-11)
    sim.reset(q=[first, second, -first, -second])
    assert sim.q == pytest.approx([first, second, -first, -second], abs=1e-9)
    B = sim.terms(0.0, sim.q, sim.v, np.zeros(0)).B
    assert np.linalg.matrix_rank(B, tol=1e-9) == 3
    before = sim.run(0.6)
    assert np.ptp(before.q, axis=0).min() > 0.3
    assert opened(sim, before) < 1e-10
    # of 3 J, 1e-9 in each of some 100 steps
    assert abs(total(before) - total(before)[0]).max() < 1e-8


def test_a_parallelogram_goes_through_where_it_is_flat() -> None:
    """With cranks and coupler in a line, one row repeats another: it is singular there, and goes on."""
    robot = parallelogram()
    sim, log = ran(pliant.EventSimulation(robot), 1.0, *angles(robot, 0.3, 12.0))
    exact = solve_ivp(
        lambda t, x: [x[1], -MOMENT / INERTIA * math.sin(x[0])], (0, 1), [0.3, 12.0], rtol=1e-12, atol=1e-13
    ).y[:, -1]
    # 1e-8 in each of some eighty steps, and more near the singular configuration
    assert [sim.q[0], sim.v[0]] == pytest.approx(exact, abs=1e-5)
    assert exact[0] > 2 * math.pi
    assert opened(sim, log) < 1e-10
