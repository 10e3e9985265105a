"""Robots on their feet whose joints have dry friction, limits and motors with limits: every law holds in every step."""

import numpy as np
import pytest

import pliant
from pliant.robot import Robot

DT = 2e-3
FRICTION = 0.3


def biped() -> tuple[Robot, np.ndarray]:
    robot = pliant.load("biped", base="free")
    for motor in robot.motors.values():
        robot = robot.with_joint(motor.joint, armature=0.05, friction=FRICTION)
    robot = robot.with_motors(control="position", kp=300, kd=10, effort_limit=40)
    return robot, np.asarray(robot.stance(), dtype=float)


def thrown(robot: Robot, stance: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, nv = np.random.default_rng(4), robot.nv
    off = np.concatenate([np.zeros((count, 3)), rng.normal(0, 0.2, (count, nv - 3))], axis=1)
    q = robot.on_ground(robot.integrate(np.tile(stance, (count, 1)), off), height=0.02)
    targets = stance[7:] + np.repeat(rng.uniform(-0.6, 0.6, (count, 8, robot.nu)), 20, axis=1)
    return q, rng.normal(0, 1, (count, nv)), targets


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_all_laws_hold_in_every_step(precision: str) -> None:
    robot, stance = biped()
    sim = pliant.Simulation(robot, dt=DT, ground=pliant.flat(), batch=32, precision=precision)
    q, v, u = thrown(robot, stance, 32)
    sim.reset(q=q, v=v)
    seen = sim.rollout(sim.state, u.astype(precision), channels=("q", "v", "steady", "stops", "torques", "solver"))
    assert (seen["solver"][..., 3] == 0).all()
    rates, rub = seen.v[..., 6:].astype(float), seen["steady"].astype(float)
    speed = 1 + np.abs(seen.v).max(axis=-1, keepdims=True) / 10
    tolerance = (1e-9 if precision == "float64" else 2e-6) * speed
    bound = FRICTION * DT
    # dry friction: within its bound, at it where the joint turns, and against the motion
    assert (np.abs(rub) <= bound * (1 + 1e-6)).all()
    slides = np.abs(rates) > 100 * tolerance
    np.testing.assert_allclose(rub[slides], -np.sign(rates[slides]) * bound, rtol=1e-6)
    assert slides.any()
    assert (np.abs(rub) < bound * 0.99).any()
    # motors: within their limits, and at them
    assert (np.abs(seen["torques"]) <= 40 * (1 + 1e-6)).all()
    assert (np.abs(seen["torques"]) > 39.99).any()
    # limits of joints: they push away from the end that is reached
    limits = [robot.joints[m.joint].limits for m in robot.motors.values()]
    lower, upper = (np.array([float(getattr(x, side)[0]) for x in limits]) for side in ("lower", "upper"))
    stops, places = seen["stops"], seen.q[..., 7:]
    assert ((stops <= 0) | (places < lower + 1e-3)).all()
    assert ((stops >= 0) | (places > upper - 1e-3)).all()
    assert (stops != 0).any()


def test_stiff_gains_within_effort_limits_settle() -> None:
    """An arm at 10 ms whose gains are far too stiff for it; torques are cut off, and it comes to rest all the same."""
    robot = pliant.load("arm7").with_motors(control="position", kp=1e6, kd=1e3)
    sim = pliant.Simulation(robot, dt=1e-2)
    target = np.array([0.3, -0.4, 0.5, -0.8, 0.2, 0.6, -0.3])
    log = sim.run(4.0, u=target, channels=("q", "v"))
    assert not sim.divergences
    np.testing.assert_allclose(log.q[-1], target, atol=1e-3)
    assert np.abs(log.v[-1]).max() < 1e-3
    # motors of 90 N m at most: no joint was ever thrown about
    assert np.abs(log.v).max() < 100


def test_joints_that_stick_stay_where_they_are() -> None:
    """Held by friction alone, an arm does not creep by a bit."""
    robot = pliant.load("arm7").with_motors(control="torque")
    for joint in robot.motors:
        robot = robot.with_joint(joint, friction=200)
    sim = pliant.Simulation(robot, dt=5e-3)
    start = np.full(7, 0.3)
    sim.reset(q=start)
    sim.run(2.0, channels=())
    assert (sim.q == start).all()
    assert (sim.v == 0).all()


def hyq() -> tuple[Robot, np.ndarray]:
    robot = pliant.load("hyq", base="free").lumped()
    stance = np.asarray(robot.neutral(), dtype=float)
    for leg in ("lf", "lh", "rf", "rh"):
        robot = robot.with_contact(f"{leg}_foot", radius=0.02175)
        front = 1 if leg[1] == "f" else -1
        for joint, angle in (("haa", -0.2), ("hfe", 0.75 * front), ("kfe", -1.5 * front)):
            stance[robot.q_slice(f"{leg}_{joint}_joint").start] = angle
    return robot.with_motors(control="position", kp=600, kd=15), stance


def test_limits_and_contacts_that_push_each_other_away() -> None:
    """Thrown quadrupeds with a limit that holds while a foot is open, and is let go of while it pushes.

    What the one does depends on the other, and rounds that solve them in turn never agreed in 52 of these steps.
    """
    robot, stance = hyq()
    batch, rng = 512, np.random.default_rng(17)
    contact = pliant.RigidContact(friction=0.7)
    sim = pliant.Simulation(robot, dt=DT, ground=pliant.flat(), contact=contact, batch=batch)
    off = np.concatenate([np.zeros((batch, 3)), rng.normal(0, 0.2, (batch, robot.nv - 3))], axis=1)
    q = robot.on_ground(robot.integrate(np.tile(stance, (batch, 1)), off), height=0.02)
    targets = stance[7:] + np.repeat(rng.uniform(-0.5, 0.5, (batch, 8, robot.nu)), 25, axis=1)
    sim.reset(q=q, v=rng.normal(0, 1.5, (batch, robot.nv)))
    seen = sim.rollout(sim.state, targets, channels=("v", "solver", "stops"))
    assert (seen["solver"][..., 3] == 0).all()
    # what is told as solved is solved: joints stay within what their limits allow
    assert (seen["stops"] != 0).any()
    assert seen["solver"][..., 0].max() < 1e-8
