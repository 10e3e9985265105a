"""Backlash: play between stops, and play in a spring, against impact formulas and pieces of closed forms."""

import math

import numpy as np
import pytest

import pliant
from moving_robots import slopes
from pliant.errors import RobotError
from pliant.robot import Mimic, Robot, RobotBuilder
from simple_bodies import turning
from simulated_robots import CART_POLE, ran

I, J, WIDTH = 0.3, 0.8, 0.05


def geared(**motor) -> Robot:
    return turning(inertia=I).with_motor("axle", **({"rotor_inertia": J} | motor))


def run(robot: Robot, duration: float, q, v, u=None, **options) -> pliant.Log:
    return ran(pliant.Simulation(robot, **options), duration, q, v, u=u)[1]


# ---- between stops


def test_with_backlash_adds_a_joint_between_stops():
    robot = geared().with_backlash("axle", WIDTH, restitution=0.2)
    assert robot.coordinate_names == ("axle_backlash", "axle")
    joint = robot.joints["axle_backlash"]
    assert joint.limits.lower == (-WIDTH / 2,) and joint.limits.upper == (WIDTH / 2,) and joint.restitution == 0.2
    assert [(f.name, f.joint) for f in robot.flexibilities.values()] == [("axle_backlash", "axle")]
    np.testing.assert_allclose(pliant.mass_matrix(robot, [0.0, 0.0]), [[I, I], [I, I + J]], rtol=1e-15)


@pytest.mark.parametrize("e", [0, 0.5, 1])
def test_rotor_hits_the_link_as_two_masses_do(e):
    """Newton's law of impact: link (1 + e) J w / (I + J), rotor (J - e I) w / (I + J)."""
    w, dt = 2.0, 1e-3
    robot = geared().with_backlash("axle", WIDTH, restitution=e)
    log = run(robot, 0.03, [0, 0], [-w, w], dt=dt)
    link, rotor = log.v.sum(axis=1), log.v[:, 1]
    hit = WIDTH / 2 / w
    before, after = log.t <= hit - dt, log.t >= hit + 2 * dt
    # inside the play nothing acts at all
    np.testing.assert_allclose(link[before], 0, atol=1e-13)
    np.testing.assert_allclose(rotor[before], w, rtol=1e-13)
    # the speeds are exact; only when they change is known to a step or two
    np.testing.assert_allclose(link[after][0], (1 + e) * J * w / (I + J), rtol=1e-7)
    np.testing.assert_allclose(rotor[after][0], (J - e * I) * w / (I + J), rtol=1e-7)
    assert abs(log.q[:, 0]).max() < WIDTH / 2 + 1e-9
    np.testing.assert_allclose(I * link + J * rotor, J * w, rtol=1e-7)


def test_rattling_between_the_stops_loses_what_each_impact_takes():
    e, w, dt = 0.8, 3.0, 1e-4
    robot = geared().with_backlash("axle", WIDTH, restitution=e)
    log = run(robot, 0.2, [0, 0], [-w, w], dt=dt)
    # the relative speed falls by e at each impact; the step that lands has a speed of its own
    speeds = np.median(abs(log.v[: len(log.t) // 40 * 40, 0]).reshape(-1, 40), axis=1)
    expected = w * e ** np.arange(12)
    assert np.isclose(speeds[:, None], expected, rtol=1e-6).any(axis=1).all()
    assert np.isclose(speeds[:, None], expected[:6], rtol=1e-6).any(axis=0).all()
    np.testing.assert_allclose(I * log.v.sum(axis=1) + J * log.v[:, 1], J * w, rtol=1e-6)


def test_dead_time_in_reversing():
    """The rotor turns back for sqrt(2 b J / u) before the link feels it."""
    torque, dt = 0.7, 1e-4
    robot = geared().with_backlash("axle", WIDTH)
    log = run(robot, 0.5, [-WIDTH / 2, 0], [0, 0], u=[-torque], dt=dt)
    link = log.v.sum(axis=1)
    dead = math.sqrt(2 * WIDTH * J / torque)
    moving = log.t[np.argmax(abs(link) > 1e-6)]
    assert abs(moving - dead) < 3 * dt
    # inelastic: from then on both turn as one, once what was left of the gap, 4e-6 rad, is closed with 10 dt
    after = log.t > dead + 3 * dt
    momentum = -torque * log.t[after]
    np.testing.assert_allclose(link[after], momentum / (I + J), atol=10 * dt)
    np.testing.assert_allclose(link[after][50:], momentum[50:] / (I + J), rtol=1e-6)
    np.testing.assert_allclose(log.q[after, 0], WIDTH / 2, atol=5e-6)
    np.testing.assert_allclose(log.q[after, 0][50:], WIDTH / 2, atol=1e-8)


def test_a_prismatic_joint_has_backlash_too():
    robot = CART_POLE.with_motor("slider", rotor_inertia=0.5).with_backlash("slider", 0.01)
    assert robot.joints["slider_backlash"].kind.name == "prismatic"
    sim = pliant.Simulation(robot, dt=1e-3)
    for _ in range(200):
        sim.step([2.0])
    assert abs(sim.q[0]) <= 0.005 + 1e-9 and np.isfinite(sim.data).all()


# ---- in a spring


def period(a: float, b: float, k: float, m: float) -> float:
    """Of a mass between two springs with a gap b, from rest at a: half cycles of the springs, and coasting."""
    return 4 * math.sqrt(m / k) * (math.pi / 2 + b / 2 / (a - b / 2))


@pytest.mark.parametrize("a", [0.03, 0.1, 1.5])
def test_period_of_an_oscillator_with_a_dead_zone(a):
    k, b = 40.0, WIDTH
    robot = turning(inertia=I, stiffness=k, backlash=b)
    T = period(a, b, k, I)
    log = run(robot, T, [a], [0], dt=T / 64, integrator="dormand-prince", rtol=1e-10, atol=1e-13)
    # the kinks of the force are found by small steps: about 1e-7
    np.testing.assert_allclose(log.q[[32, 64], 0], [-a, a], rtol=1e-6)
    np.testing.assert_allclose(log["energy.elastic"] + log["energy.kinetic"], k * (a - b / 2) ** 2 / 2, rtol=1e-7)


def test_the_step_converges_to_it_with_first_order():
    k, b, a = 40.0, WIDTH, 0.1
    robot = turning(inertia=I, stiffness=k, backlash=b)
    T = period(a, b, k, I)
    errors = [abs(run(robot, T, [a], [0], dt=T / n).q[-1, 0] - a) for n in (500, 1000, 2000, 4000)]
    assert slopes(errors) == pytest.approx([1, 1, 1], abs=0.1)
    assert errors[-1] < 0.01 * a


def test_energy_never_grows_with_play():
    robot = turning(inertia=I, stiffness=1e4, backlash=WIDTH)
    for dt in (1e-4, 1e-3, 1e-2):
        log = run(robot, 2, [0.2], [0], dt=dt)
        total = log["energy.elastic"] + log["energy.kinetic"]
        assert np.diff(total).max() <= 1e-9 * total[0], dt


def test_a_damper_does_nothing_within_the_play():
    """The wheel coasts up to the end of the play, however strong the damper; then all integrators agree."""
    robot = turning(inertia=1, stiffness=1e4, damping=10, backlash=0.02)
    reference = run(robot, 0.02, [0], [2], dt=1e-4, integrator="dormand-prince", rtol=1e-10)
    errors = []
    for dt in (1e-4, 5e-5, 2.5e-5):
        log = run(robot, 0.02, [0], [2], dt=dt)
        inside = log.t < 0.005 - dt / 2
        np.testing.assert_allclose(log.v[inside, 0], 2, rtol=1e-12)
        errors.append(abs(log.q[:: round(1e-4 / dt), 0] - reference.q[:, 0]).max())
    assert errors[-1] < 5e-5 and errors[0] / errors[-1] > 3, errors


@pytest.mark.parametrize("options", [{"dt": 1e-3}, {"dt": 1e-4, "integrator": "dormand-prince"}])
def test_a_damper_never_pulls_inward(options):
    """Pressed in and let go, the wheel gets as fast as the damper lets it, k s / d, and leaves the spring behind."""
    robot = turning(inertia=1e-3, stiffness=100, damping=50, backlash=0.02)
    log = run(robot, 0.6, [0.06], [0], **options)
    assert log.q[-1, 0] > -0.01
    # it takes some 2e-5 s, in which s hardly changes
    np.testing.assert_allclose(log.v[5:, 0], -0.1, rtol=5e-3)
    assert np.ptp(log.v[5:, 0]) < 1e-9


def test_stiff_springs_with_play_tend_to_elastic_stops():
    """Half a swing of the spring, pi sqrt(m / k), is how long it touches: nothing, in the end."""
    w, duration, m = 3.0, 0.02, I * J / (I + J)
    stops = run(geared().with_backlash("axle", WIDTH, restitution=1), duration, [0, 0], [-w, w], dt=1e-5)
    for k in (1e5, 1e6, 1e8):
        robot = geared().with_flexibility("axle", stiffness=k, backlash=WIDTH)
        soft = run(robot, duration, [0, 0], [-w, w], dt=1e-3, integrator="dormand-prince", rtol=1e-9)
        late = w * math.pi * math.sqrt(m / k)
        np.testing.assert_allclose(soft.q[-1, 0], w * duration - WIDTH - late, atol=1e-7)
        np.testing.assert_allclose(soft.v[-1], [w, w - 2 * I * w / (I + J)], rtol=1e-6)
        # the stops throw back a step late
        assert abs(soft.q[-1, 0] - stops.q[-1, 0]) < late + 2e-5 * w


def test_two_springs_with_play_in_one_arm():
    """The rows of the solver see each other: the step converges to the adaptive integrator's motion."""
    robot = pliant.load("double_pendulum")
    for name in ("shoulder", "elbow"):
        robot = robot.with_motor(name, rotor_inertia=0.05)
        robot = robot.with_flexibility(name, stiffness=2e3, damping=4, backlash=0.02)
    q0 = [0, 0.8, 0, -0.5]
    reference = run(robot, 0.5, q0, np.zeros(4), dt=1e-3, integrator="dormand-prince", rtol=1e-9)
    ends = [run(robot, 0.5, q0, np.zeros(4), dt=dt).q[-1] for dt in (1e-3, 2.5e-4)]
    errors = [abs(end - reference.q[-1]).max() for end in ends]
    assert errors[1] < 4e-4 and errors[0] > 3 * errors[1], errors


def test_a_follower_with_play_has_its_spring():
    """A joint that mimics another has no row of its own; its spring must act all the same."""
    builder = RobotBuilder("pair").gravity(0, 0, 0)
    for name in ("a", "b"):
        builder.body(name, 1, (0, 0, 0), (I, 0, 0, I, 0, I))
    builder.joint("lead", "revolute", "world", "a", axis=(0, 0, 1))
    builder.joint("follow", "revolute", "world", "b", axis=(0, 0, 1), mimic=Mimic("lead", -2))
    robot = builder.build().with_joint("follow", stiffness=30, backlash=0.02, damping=0.5)
    reference = run(robot, 1, [0.1], [0], dt=1e-2, integrator="dormand-prince")
    log = run(robot, 1, [0.1], [0], dt=1e-4)
    np.testing.assert_allclose(log.q[::100, 0], reference.q[:, 0], atol=1e-3)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_each_robot_has_its_own_play(precision):
    robot = geared().with_flexibility("axle", stiffness=300, damping=1, backlash=0.01)
    widths = np.array([0.004, 0.01, 0.03, 0.0, 0.05])
    sim = pliant.Simulation(robot, dt=1e-3, batch=5, varying=["joints.axle_flexibility.backlash"], precision=precision)
    sim.parameters["joints.axle_flexibility.backlash"] = widths
    _, log = ran(sim, 0.3, [0, 0], [0, 1])
    for k, width in enumerate(widths):
        own = geared().with_flexibility("axle", stiffness=300, damping=1, backlash=max(float(width), 1e-300))
        single = run(own, 0.3, [0, 0], [0, 1], dt=1e-3, precision=precision)
        np.testing.assert_allclose(log.robot(k).q, single.q, atol=1e-10 if precision == "float64" else 1e-5)


# ---- bad input


@pytest.mark.parametrize("call, message", [
    (lambda: geared().with_backlash("axle", -0.1), "width of the backlash at joint 'axle' is -0.1; it takes 0 or more"),
    (lambda: geared().with_backlash("axle", math.nan), "width of the backlash at joint 'axle' is nan"),
    (lambda: turning().with_backlash("axle", 0.1), "has no motor, so a backlash has nothing to be between"),
    (lambda: geared().with_backlash("axle", 0.1, restitution=1.5),
     "restitution of joint 'axle_backlash' is 1.5; it takes 0 to 1"),
    (lambda: geared(rotor_inertia=0).with_backlash("axle", 0.1),
     "no inertia of its own and the motor of 'axle' no rotor inertia"),
    (lambda: geared().with_backlash("axle", 0.1).with_flexibility("axle", stiffness=10),
     "has backlash between joint limits already, 'axle_backlash'"),
])  # fmt: skip
def test_bad_backlash(call, message: str):
    with pytest.raises(RobotError, match=message):
        call()


def test_backlash_again_is_another_width():
    robot = geared().with_backlash("axle", 0.1).with_backlash("axle", 0.02)
    assert robot.joints["axle_backlash"].limits.upper == (0.01,) and robot.nv == 2
    sprung = geared().with_flexibility("axle", stiffness=10, backlash=0.1).with_backlash("axle", 0.02)
    assert sprung.joints["axle_flexibility"].backlash == 0.02 and sprung.nv == 2


@pytest.mark.parametrize("values", [{"restitution": 0.5}, {"inertia": 1e-3}, {"name": "play"}])
def test_backlash_in_a_spring_takes_no_more_than_its_width(values):
    message = f"in the spring 'axle_flexibility', which takes no {next(iter(values))}"
    with pytest.raises(RobotError, match=message):
        geared().with_flexibility("axle", stiffness=10).with_backlash("axle", 0.02, **values)
