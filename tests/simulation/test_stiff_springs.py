"""Stiff springs at the ordinary step: as good as the rigid robot, and rigid in the end."""

import functools

import numpy as np
import pytest

import pliant
from pliant.robot import Robot

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


def run(robot: Robot, duration: float, *, dt: float = 1e-3, **options) -> pliant.Log:
    rigid = arm()
    sim = pliant.Simulation(robot, dt=dt, **options)
    sim.reset(q=robot.q_from(rigid, START))
    return sim.run(duration, channels=("q", "v", "energy"), every=max(dt, 1e-2))


def exact(robot: Robot, duration: float) -> pliant.Log:
    return run(robot, duration, dt=1e-2, integrator="dormand-prince", rtol=1e-8, atol=1e-11)


def links(log: pliant.Log) -> np.ndarray:
    """Angles of the links: deflection and motor's joint."""
    if log.q.shape[-1] == 2:
        return np.asarray(log.q)
    return np.stack([log.q[:, 0] + log.q[:, 1], log.q[:, 2] + log.q[:, 3]], axis=1)


def energy(log: pliant.Log) -> np.ndarray:
    return log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]


def error(log: pliant.Log, reference: pliant.Log) -> float:
    """The largest error of an angle, relative to its swing."""
    a, b = links(log), links(reference)
    return float((abs(a - b).max(axis=0) / np.ptp(b, axis=0)).max())


@functools.cache
def error_of_the_rigid_arm(rotor: float, duration: float) -> float:
    return error(run(arm(rotor), duration), exact(arm(rotor), duration))


# 1e4, J = 0 and If = 1e-4: the spring swings at 10 kHz
@pytest.mark.parametrize(
    ("stiffness", "damping", "rotor", "inertia"),
    [(1e4, 10, 0, 1e-4), (1e5, 0, 0.1, 0), (1e5, 10, 0.1, 0), (1e6, 0, 0.1, 0), (1e6, 10, 0.1, 0)],
)
def test_the_step_is_as_good_as_for_the_rigid_arm(stiffness, damping, rotor, inertia):
    """Within 1 % of the swing after 5 s, and all of it is what the step does to the rigid arm, too."""
    duration = 5
    robot = soft(stiffness, damping, rotor=rotor, inertia=inertia)
    reference = exact(robot, duration)
    found = error(run(robot, duration), reference)
    assert found < 0.01
    np.testing.assert_allclose(found, error_of_the_rigid_arm(rotor, duration), rtol=0.05)
    # the rule of the midpoint has order 2
    assert error(run(robot, duration, integrator="midpoint"), reference) < 1e-4


@pytest.mark.parametrize("damping", [0, 1])
@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint"])
def test_the_arm_tends_to_the_rigid_one_with_rotors(integrator, damping):
    """Deflections are about 1/k: static ones under weight, and swings about these."""
    reference = links(run(arm(), 2, integrator=integrator))
    stiffnesses = 10.0 ** np.arange(3, 10)
    errors = [abs(links(run(soft(k, damping), 2, integrator=integrator)) - reference).max() for k in stiffnesses]
    np.testing.assert_allclose(np.array(errors) * stiffnesses, 0.75, rtol=0.15)


@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint"])
def test_single_precision_gets_as_far_as_its_rounding(integrator):
    reference = links(run(arm(), 2, integrator=integrator))
    for k in (1e3, 1e5, 1e7, 1e9):
        log = run(soft(k), 2, integrator=integrator, precision="float32")
        # rounding of 2000 steps, 6e-8 each
        assert abs(links(log) - reference).max() < 0.9 / k + 1e-5, k


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6, 1e8, (1e4, 2e5, 3e6), (1e8, 1e6, 1e7, 1e4, 2e5, 3e6)])
def test_a_damped_spring_never_brings_energy(stiffness):
    """Kicked sharply, without weight: a hundred times more than the springs see in use."""
    robot = soft(stiffness, 2).with_gravity(0, 0, 0)
    rng = np.random.default_rng(0)
    speed = 0.3 * rng.standard_normal((8, robot.nv))
    for options in ({"dt": 1e-3}, {"dt": 5e-3}, {"dt": 1e-3, "integrator": "midpoint"}):
        sim = pliant.Simulation(robot, batch=8, **options)
        sim.reset(v=speed)
        log = sim.run(0.5, channels=("energy",))
        total = log["energy.kinetic"] + log["energy.elastic"]
        # place and velocity of a swing are known half a step apart, its energy only to a share of w dt / 2
        assert (total.max(axis=1) <= total[:, 0] * 1.2).all()
        third = total.shape[1] // 3
        parts = [total[:, k * third : (k + 1) * third].max(axis=1) for k in range(3)]
        assert (parts[1] < parts[0]).all() and (parts[2] < parts[1] * (1 + 1e-4)).all()


def test_a_slow_spring_keeps_its_swing_and_a_fast_one_loses_it():
    """The step follows what swings with w dt < 0.1, and takes out what it cannot follow, w dt > 5."""
    for k, kept in ((1e2, True), (1e7, False)):
        robot = soft(k, rotor=0.1).with_gravity(0, 0, 0)
        sim = pliant.Simulation(robot, dt=1e-3)
        q = robot.neutral()
        q[robot.q_slice("elbow_flexibility")] = 1e-3
        sim.reset(q=q)
        log = sim.run(1, channels=("energy",))
        total = log["energy.kinetic"] + log["energy.elastic"]
        left = total[-200:].max() / total[:200].max()
        assert left > 0.99 if kept else left < 1e-6


def test_stiffness_at_one_axis_and_softness_at_another():
    """Three axes from 1e2 to 1e8: the soft one moves as if alone, the stiff ones not at all."""

    def wrist(stiffness):
        robot = pliant.load("pendulum")
        name = next(n for n, j in robot.joints.items() if j.kind.nv)
        return robot.with_motor(name, rotor_inertia=0.1).with_flexibility(name, stiffness=stiffness), name

    (robot, name), (plain, _) = wrist((1e8, 1e2, 1e8)), wrist(1e2)
    axis = robot.joints[name].kind.axis
    assert tuple(axis) == (0, 1, 0)
    logs = []
    for r in (robot, plain):
        sim = pliant.Simulation(r, dt=1e-3)
        q = r.neutral()
        q[-1] = 0.7
        sim.reset(q=q)
        logs.append(sim.run(1, channels=("q", "v")))
    turn = 2 * np.arctan2(logs[0].q[:, 1], logs[0].q[:, 3])
    np.testing.assert_allclose(turn, logs[1].q[:, 0], atol=1e-9)
    assert abs(logs[0].q[:, [0, 2]]).max() < 1e-12
