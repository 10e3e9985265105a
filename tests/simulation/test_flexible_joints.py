"""Flexible joints and stiff springs against systems written by hand."""

import functools
import itertools
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import minimize_scalar

import pliant
from pliant import ExternalForce
from pliant.robot import Revolute, Robot, RobotBuilder
from pliant.scalar import sin
from simple_bodies import turning
from simulated_robots import ran, started

EXACT = {"integrator": "dormand-prince", "rtol": 1e-10, "atol": 1e-13}
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
G = 9.81


def two_masses(I=0.1, J=1.0, k=100.0, nu=0.0, If=0.0) -> Robot:
    robot = turning(inertia=I).with_motor("axle", rotor_inertia=J)
    return robot.with_flexibility("axle", stiffness=k, damping=nu, inertia=If)


def run(robot: Robot, duration: float, q, v, *, dt: float = 1e-2, controller=None, u=None, **options) -> pliant.Log:
    return ran(pliant.Simulation(robot, dt=dt, **options), duration, q, v, controller=controller, u=u)[1]


# ---- the system of rotor, spring and link


@pytest.mark.parametrize("If", [0, 0.05])
def test_rotor_spring_and_link_move_as_their_equations_say(If):
    """(I + If) x1'' + I x2'' = -k x1 - nu x1' + f,  I (x1'' + x2'') + J x2'' = u + f; u is held for 50 ms."""
    I, J, k, nu = 0.3, 0.2, 60.0, 0.4
    held = np.random.default_rng(0).uniform(-5, 5, 40)
    robot = two_masses(I, J, k, nu, If)
    push = ExternalForce("wheel", torque=lambda t: (0, 0, 2 * sin(7 * t)))
    start = [0.1, -0.2, 0.5, 1.0]
    log = run(
        robot, 2, start[:2], start[2:], dt=0.05, forces=[push], **EXACT,
        controller=lambda t, q, v: [held[round(t / 0.05)]],
    )  # fmt: skip
    M = np.array([[I + If, I], [I, I + J]])
    y = np.array(start)
    for n, u in enumerate(held):

        def rate(t, y, u=u):
            f = 2 * np.sin(7 * t)
            return [*y[2:], *np.linalg.solve(M, [-k * y[0] - nu * y[2] + f, u + f])]

        y = solve_ivp(rate, (0.05 * n, 0.05 * (n + 1)), y, **TIGHT).y[:, -1]
        np.testing.assert_allclose([*log.q[n + 1], *log.v[n + 1]], y, rtol=0, atol=1e-8)


def test_an_arm_under_gravity_is_that_of_spong():
    """M(q) q'' + c + g = k (theta - q) + nu (theta' - q'),  J theta'' = u - k (theta - q) - nu (theta' - q')."""
    k, nu, J = np.array([400.0, 250.0]), np.array([1.0, 0.5]), np.array([0.3, 0.2])
    u = np.array([6.0, -2.0])
    robot = pliant.load("double_pendulum")
    for i, name in enumerate(("shoulder", "elbow")):
        robot = robot.with_motor(name, rotor_inertia=J[i])
        robot = robot.with_flexibility(name, stiffness=k[i], damping=nu[i])

    def rate(t, y):
        (q1, q2), theta, (v1, v2), w = y[:2], y[2:4], y[4:6], y[6:]
        m = 1.2  # rods of a metre, see the file
        c2, s2 = np.cos(q2), np.sin(q2)
        M = m * np.array([[5 / 3 + c2, 1 / 3 + c2 / 2], [1 / 3 + c2 / 2, 1 / 3]])
        c = m * s2 / 2 * np.array([-2 * v1 * v2 - v2**2, v1**2])
        g = m * G * np.array([1.5 * np.sin(q1) + 0.5 * np.sin(q1 + q2), 0.5 * np.sin(q1 + q2)])
        pull = k * (theta - y[:2]) + nu * (w - y[4:6])
        return [v1, v2, *w, *np.linalg.solve(M, pull - c - g), *((u - pull) / J)]

    links, motors = np.array([0.9, -0.4]), np.array([0.95, -0.5])
    q0 = np.ravel(np.column_stack([links - motors, motors]))
    log = run(robot, 2, q0, np.zeros(4), u=u, **EXACT)
    y = solve_ivp(rate, (0, 2), [*links, *motors, 0, 0, 0, 0], t_eval=log.t, **TIGHT).y.T
    np.testing.assert_allclose(log.q[:, 0::2] + log.q[:, 1::2], y[:, :2], atol=1e-7)
    np.testing.assert_allclose(log.q[:, 1::2], y[:, 2:4], atol=1e-7)
    np.testing.assert_allclose(log.v[:, 1::2], y[:, 6:], atol=1e-6)


def test_sliding_joints_too():
    """The cart of a cart-pole on a spring: with the pole hanging still, two masses again."""
    rigid = pliant.load("cart_pole")
    robot = rigid.with_motor("slider", rotor_inertia=2.0).with_flexibility("slider", stiffness=500)
    assert robot.joints["slider_flexibility"].kind.name == "prismatic"
    M, rigid_M = pliant.mass_matrix(robot, robot.neutral()), pliant.mass_matrix(rigid, rigid.neutral())
    np.testing.assert_allclose(M[:2, :2], rigid_M[0, 0] + np.diag([0, 2.0]), rtol=1e-14)
    np.testing.assert_allclose(M[2, :2], rigid_M[1, 0], rtol=1e-14)


# ---- resonance and antiresonance


I2, J2, K2 = 0.1, 1.0, 100.0
RESONANCE = np.sqrt(K2 * (1 / J2 + 1 / I2))  # 33.166 rad/s
ANTIRESONANCE = np.sqrt(K2 / I2)  # of the motor: the link swings alone


def test_free_oscillation_has_the_frequency_of_two_masses():
    robot = two_masses(I2, J2, K2)
    log = run(robot, 5, [0.1, 0], [0, 0], dt=1e-3, **EXACT)
    # cubics between samples are good to (w dt)^4 / 384
    crossings = CubicHermiteSpline(log.t, log.q[:, 0], log.v[:, 0]).roots(extrapolate=False)
    found = np.pi * (len(crossings) - 1) / (crossings[-1] - crossings[0])
    np.testing.assert_allclose(found, RESONANCE, rtol=1e-8)


def linear_system(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """A, b of y' = A y + b u about rest, y = (q, v), from Pliant's own derivatives."""
    zero = np.zeros(robot.nv)
    by_q, by_v, by_tau = pliant.jacobian(pliant.forward_dynamics, robot, ("q", "v", "tau"))(zero, zero, zero)
    spring = -np.diag([K2, 0])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [by_q + by_tau @ spring, by_v]])
    return A, np.concatenate([[0, 0], by_tau[:, 1]])


def test_the_motor_stands_still_at_the_antiresonance():
    """Of motor position by motor torque: zeros at sqrt(k / I); of link position by motor torque there are none."""
    robot = two_masses(I2, J2, K2)
    A, b = linear_system(robot)
    np.testing.assert_allclose(sorted(abs(np.linalg.eigvals(A).imag))[-1], RESONANCE, rtol=1e-12)

    def response(w):
        return np.linalg.solve(1j * w * np.eye(4) - A, b)

    least = minimize_scalar(lambda w: abs(response(w)[1]), (20, 30, 33), tol=1e-12).x
    np.testing.assert_allclose(least, ANTIRESONANCE, rtol=1e-8)
    assert abs(response(ANTIRESONANCE)[:2].sum()) > 1e-3
    # from the other side, by a torque on the link, it is sqrt(k / J)
    other = np.linalg.solve(np.eye(4) * 1j * np.sqrt(K2 / J2) - A, np.concatenate([[0, 0], [1 / I2, 0]]))
    assert abs(other[:2].sum()) < 1e-12 * abs(other[1])


def test_the_same_from_simulated_motion():
    """Driven by sin(w t), started on the forced swing: amplitude (w_a^2 - w^2) / (J w^2 (w^2 - w_r^2)) of the motor."""
    robot = two_masses(I2, J2, K2)
    frequencies = ANTIRESONANCE + np.array([-0.02, -0.01, 0.01, 0.02])
    amplitudes = []
    for w in [*frequencies, ANTIRESONANCE]:
        motor = (ANTIRESONANCE**2 - w**2) / (J2 * w**2 * (w**2 - RESONANCE**2))
        deflection = 1 / (J2 * (w**2 - RESONANCE**2))
        push = robot.with_motor("axle", law=lambda u, q, v, t, w=w: sin(w * t))
        log = run(push, 2, [0, 0], [deflection * w, motor * w], dt=1e-2, **EXACT)
        s = np.sin(w * log.t)
        amplitudes.append(s @ log.q[:, 1] / (s @ s))
        np.testing.assert_allclose(log.q[:, 1], motor * s, atol=1e-10)
    # the zero of the line through the measured amplitudes
    slope, offset = np.polyfit(frequencies - ANTIRESONANCE, amplitudes[:4], 2)[1:]
    assert abs(offset / slope) < 1e-6 * ANTIRESONANCE
    assert abs(amplitudes[4]) < 1e-10


def test_error_is_proportional_to_the_inertia_of_the_body_between():
    """As If goes to zero the motion is that without it."""
    exact, *logs = (
        run(two_masses(0.3, 0.2, 60, 0.4, If), 1, [0.1, 0], [0, 1], **EXACT) for If in (0, 1e-1, 1e-2, 1e-3, 1e-4)
    )
    errors = [abs(log.q - exact.q).max() for log in logs]
    slopes = [np.log10(a / b) for a, b in itertools.pairwise(errors)]
    # 0.1 is not small beside an inertia of 0.3 yet
    np.testing.assert_allclose(slopes, 1, atol=0.3)
    np.testing.assert_allclose(slopes[1:], 1, atol=0.05)


# ---- energy


SPRINGS = {
    "three axes": {"stiffness": (100, 300, 900)},
    "six axes": {"stiffness": (3e3, 2e3, 4e3, 100, 300, 900)},
    "hardening": {"stiffness": (100, 300, 900), "hardening": (50, 0, 400)},
    "laws": {"stiffness": (100, 300, 900), "law": (lambda x: 20 * sin(3 * x), None, lambda x: 50 * x**5)},
}


def hanging(name: str, **more) -> tuple[Robot, np.ndarray]:
    """A link on a flexible hip, and deflections of 0.2 and 0.8 rad about a skew axis."""
    builder = RobotBuilder("hanging")
    builder.body("link", 2, (0.1, 0.05, -0.3), (0.4, 0.02, 0, 0.3, 0.01, 0.25))
    builder.joint("hip", Revolute((0, 1, 0)), "world", "link", (0.1, 0, 0), (0.3, 0.2, 0))
    robot = builder.build().with_motor("hip", rotor_inertia=0.2).with_flexibility("hip", **SPRINGS[name], **more)
    w = np.zeros((2, robot.nv))
    w[:, -4:-1] = np.outer([0.2, 0.8], [0.6, -0.48, 0.64])
    w[:, -1] = 0.5
    return robot, robot.integrate(np.tile(robot.neutral(), (2, 1)), w)


def energies(robot: Robot, q, duration: float, **options) -> tuple[np.ndarray, np.ndarray]:
    log = started(pliant.Simulation(robot, batch=len(q), **options), q=q).run(duration, channels=("energy",))
    total = log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]
    return total, log["energy.elastic"][:, :1]


@pytest.mark.parametrize("name", SPRINGS)
def test_energy_is_kept_however_large_the_deflection(name):
    robot, q = hanging(name)
    # some 300 swings in 10 s; at the default tolerance of 1e-6 it is 2e-5
    total, scale = energies(robot, q, 10, dt=1e-2, integrator="dormand-prince", rtol=1e-8, atol=1e-11)
    assert (abs(total - total[:, :1]) / scale).max() < 1e-6
    # of second order, 1.5e-6 at 1e-4 s: truncation, beside which the rounding of 5e4 steps (1e-11) does not show
    total, scale = energies(robot, q, 0.4, dt=8e-6, substeps=100, integrator="midpoint")
    assert (abs(total - total[:, :1]) / scale).max() < 1e-8


@pytest.mark.parametrize("name", SPRINGS)
def test_damped_springs_lose_energy_all_the_time(name):
    robot, q = hanging(name, damping=0.5)
    for options in ({"integrator": "dormand-prince", "rtol": 1e-8}, {"integrator": "midpoint", "dt": 1e-4}):
        total, scale = energies(robot, q, 1, **({"dt": 1e-3} | options))
        assert (np.diff(total) <= 1e-6 * scale).all() and (total[:, -1] < total[:, 0] - 0.2 * scale[:, 0]).all()


def test_a_link_on_a_spring_of_three_axes_swings_for_a_minute():
    """In the default step of 1 ms, undamped, from 0.2 and 0.8 rad: it neither explodes nor dies out."""
    builder = RobotBuilder("link").gravity(0, 0, 0).body("link", 1, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.02))
    builder.joint("hip", Revolute((0, 1, 0)), "world", "link", (0, 0, 0), (0, 0, 0))
    robot = builder.build().with_motor("hip", rotor_inertia=0.2).with_flexibility("hip", stiffness=(100, 300, 900))
    axes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, -0.48, 0.64], [0.3, 0.3, 0.9]])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    w = np.zeros((10, robot.nv))
    w[:, -4:-1] = np.concatenate([0.2 * axes, 0.8 * axes])
    q = robot.integrate(np.tile(robot.neutral(), (10, 1)), w)
    total, _ = energies(robot, q, 60, dt=1e-3)
    total /= total[:, :1]
    # the fastest swing, sqrt(900 / 0.02) = 212 rad/s, turns by w dt = 0.2 in a step: (w dt)^2 = 4.5 %
    assert np.abs(total - 1).max() < 0.045


# ---- batches, parameters, copies


@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint", "dormand-prince"])
def test_stiffness_and_damping_of_each_robot(integrator):
    """A batch is its robots bit for bit, and each of them is the robot that is built with its numbers."""
    paths = [f"joints.hip_flexibility.{what}" for what in ("stiffness", "damping", "hardening")]
    robot, q = hanging("hardening", damping=0.1)
    rng = np.random.default_rng(2)
    stiffness, damping = rng.uniform(50, 500, (5, 3)), rng.uniform(0, 1, (5, 3))
    hardening = rng.uniform(0, 90, (5, 3))
    options = {"dt": 1e-3, "integrator": integrator, "varying": paths}
    starts = np.tile(q[0], (5, 1))
    batch = pliant.Simulation(robot, batch=5, **options)
    single = pliant.Simulation(robot, **options)
    batch.parameters.update(zip(paths, (stiffness, damping, hardening), strict=True))
    _, log = ran(batch, 0.1, starts, channels=("q", "v"))
    for k in range(5):
        own = (stiffness[k], damping[k], hardening[k])
        single.parameters.update(zip(paths, own, strict=True))
        _, alone = ran(single, 0.1, starts[k], channels=("q", "v"))
        assert np.array_equal(log.robot(k).q, alone.q) and np.array_equal(log.robot(k).v, alone.v)
        values = dict(zip(("stiffness", "damping", "hardening"), (tuple(x) for x in own), strict=True))
        built = run(robot.with_joint("hip_flexibility", **values), 0.1, starts[k], np.zeros(4), dt=1e-3,
                    integrator=integrator)  # fmt: skip
        np.testing.assert_allclose(built.q, alone.q, atol=1e-10)


def test_a_pickled_robot_moves_alike():
    robot, q = hanging("six axes", damping=(1, 2, 3, 0.1, 0.2, 0.3))
    again = pickle.loads(pickle.dumps(robot))
    assert again.digest == robot.digest
    logs = [run(r, 0.05, q[1], np.zeros(7), dt=1e-3) for r in (robot, again)]
    assert np.array_equal(logs[0].q, logs[1].q)


def test_the_motor_without_inertia_is_told_by_the_simulation():
    robot = two_masses().with_motor("axle", rotor_inertia=0)
    message = "'axle_flexibility' at joint 'axle' has no inertia of its own and the motor of 'axle' no rotor inertia"
    for attempt in (
        lambda: pliant.forward_dynamics(robot, [0, 0], [0, 0], [0, 0]),
        lambda: pliant.Simulation(robot).step([0]),
        lambda: pliant.Simulation(robot, integrator="midpoint").step([0]),
        lambda: pliant.Simulation(robot, integrator="dormand-prince").step([0]),
        lambda: pliant.dynamics.mass_matrix_inverse(robot, [0, 0]),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            attempt()
    np.testing.assert_allclose(pliant.mass_matrix(robot, [0.0, 0.0]), 0.1, rtol=1e-15)


# ---- stiff springs at the ordinary step: as good as the rigid robot, and rigid in the end


START = (0.8, 0.3)
JOINTS = ("shoulder", "elbow")


def arm(rotor: float = 0.1) -> Robot:
    robot = pliant.load("double_pendulum")
    for name in JOINTS:
        robot = robot.with_motor(name, rotor_inertia=rotor)
    return robot


def soft(stiffness, damping=0, *, rotor: float = 0.1, **values) -> Robot:
    robot = arm(rotor)
    for name in JOINTS:
        robot = robot.with_flexibility(name, stiffness=stiffness, damping=damping, **values)
    return robot


def run_shaken(robot: Robot, duration: float, *, dt: float = 1e-3, **options) -> pliant.Log:
    sim, kept = pliant.Simulation(robot, dt=dt, **options), ("q", "v", "energy")
    return ran(sim, duration, robot.q_from(arm(), START), channels=kept, every=max(dt, 1e-2))[1]


def exact(robot: Robot, duration: float) -> pliant.Log:
    return run_shaken(robot, duration, dt=1e-2, integrator="dormand-prince", rtol=1e-8, atol=1e-11)


def links(log: pliant.Log) -> np.ndarray:
    """Angles of the links: deflection and motor's joint."""
    if log.q.shape[-1] == 2:
        return np.asarray(log.q)
    return np.stack([log.q[:, 0] + log.q[:, 1], log.q[:, 2] + log.q[:, 3]], axis=1)


def error(log: pliant.Log, reference: pliant.Log) -> float:
    """The largest error of an angle, relative to its swing."""
    a, b = links(log), links(reference)
    return float((abs(a - b).max(axis=0) / np.ptp(b, axis=0)).max())


@functools.cache
def error_of_the_rigid_arm(rotor: float, duration: float) -> float:
    return error(run_shaken(arm(rotor), duration), exact(arm(rotor), duration))


# 1e4, J = 0 and If = 1e-4: the spring swings at 10 kHz
@pytest.mark.parametrize("stiffness, damping, rotor, inertia", [
    (1e4, 10, 0, 1e-4), (1e5, 0, 0.1, 0), (1e5, 10, 0.1, 0), (1e6, 0, 0.1, 0), (1e6, 10, 0.1, 0),
])  # fmt: skip
def test_the_step_is_as_good_as_for_the_rigid_arm(stiffness, damping, rotor, inertia):
    """Within 1 % of the swing after 5 s, and all of it is what the step does to the rigid arm, too."""
    duration = 5
    robot = soft(stiffness, damping, rotor=rotor, inertia=inertia)
    reference = exact(robot, duration)
    found = error(run_shaken(robot, duration), reference)
    assert found < 0.01
    np.testing.assert_allclose(found, error_of_the_rigid_arm(rotor, duration), rtol=0.05)
    # the rule of the midpoint has order 2
    assert error(run_shaken(robot, duration, integrator="midpoint"), reference) < 1e-4


@pytest.mark.parametrize("damping", [0, 1])
@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint"])
def test_the_arm_tends_to_the_rigid_one_with_rotors(integrator, damping):
    """Deflections are about 1/k: static ones under weight, and swings about these."""
    reference = links(run_shaken(arm(), 2, integrator=integrator))
    stiffnesses = 10.0 ** np.arange(3, 10)
    errors = [abs(links(run_shaken(soft(k, damping), 2, integrator=integrator)) - reference).max() for k in stiffnesses]
    np.testing.assert_allclose(np.array(errors) * stiffnesses, 0.75, rtol=0.15)


@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint"])
def test_single_precision_gets_as_far_as_its_rounding(integrator):
    reference = links(run_shaken(arm(), 2, integrator=integrator))
    for k in (1e3, 1e5, 1e7, 1e9):
        log = run_shaken(soft(k), 2, integrator=integrator, precision="float32")
        # rounding of 2000 steps, 6e-8 each
        assert abs(links(log) - reference).max() < 0.9 / k + 1e-5, k


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6, 1e8, (1e4, 2e5, 3e6), (1e8, 1e6, 1e7, 1e4, 2e5, 3e6)])
def test_a_damped_spring_never_brings_energy(stiffness):
    """Kicked sharply, without weight: a hundred times more than the springs see in use."""
    robot = soft(stiffness, 2).with_gravity(0, 0, 0)
    rng = np.random.default_rng(0)
    speed = 0.3 * rng.standard_normal((8, robot.nv))
    for options in ({"dt": 1e-3}, {"dt": 5e-3}, {"dt": 1e-3, "integrator": "midpoint"}):
        _, log = ran(pliant.Simulation(robot, batch=8, **options), 0.5, v=speed, channels=("energy",))
        total = log["energy.kinetic"] + log["energy.elastic"]
        # swings that the step resolves in part, w dt near 1, have place and velocity at different times
        assert (total.max(axis=1) <= total[:, 0] * 1.2).all()
        third = total.shape[1] // 3
        parts = [total[:, k * third : (k + 1) * third].max(axis=1) for k in range(3)]
        assert (parts[1] < parts[0]).all() and (parts[2] < parts[1] * (1 + 1e-4)).all()


def test_a_slow_spring_keeps_its_swing_and_a_fast_one_loses_it():
    """The step follows what swings with w dt < 0.1, and takes out what it cannot follow, w dt > 5."""
    for k, kept in ((1e2, True), (1e7, False)):
        robot = soft(k, rotor=0.1).with_gravity(0, 0, 0)
        q = robot.neutral()
        q[robot.q_slice("elbow_flexibility")] = 1e-3
        _, log = ran(pliant.Simulation(robot, dt=1e-3), 1, q, channels=("energy",))
        total = log["energy.kinetic"] + log["energy.elastic"]
        left = total[-200:].max() / total[:200].max()
        assert left > 0.99 if kept else left < 1e-6


def test_stiffness_at_one_axis_and_softness_at_another():
    """Three axes from 1e2 to 1e8: the soft one moves as if alone, the stiff ones not at all."""

    wrist = pliant.load("pendulum").with_motor("hinge", rotor_inertia=0.1)
    assert tuple(wrist.joints["hinge"].kind.axis) == (0, 1, 0)
    robots = [wrist.with_flexibility("hinge", stiffness=k) for k in ((1e8, 1e2, 1e8), 1e2)]
    logs = [run(r, 1, [*r.neutral()[:-1], 0.7], None, dt=1e-3) for r in robots]
    turn = 2 * np.arctan2(logs[0].q[:, 1], logs[0].q[:, 3])
    np.testing.assert_allclose(turn, logs[1].q[:, 0], atol=1e-9)
    assert abs(logs[0].q[:, [0, 2]]).max() < 1e-12
