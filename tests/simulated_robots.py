"""Robots for the tests of the simulation, and states to start them from."""

import numpy as np

import pliant
from pliant.robot import Prismatic, Revolute, Robot, RobotBuilder

PENDULUM = pliant.load("pendulum")
CART_POLE = pliant.load("cart_pole")
QUADRUPED = pliant.load("quadruped", base="free")


def ball(mass: float = 2, radius: float = 0.1) -> Robot:
    """A ball that can touch the ground."""
    moment = 0.4 * mass * radius * radius
    builder = RobotBuilder("ball")
    builder.body("ball", mass, (0, 0, 0), (moment, 0, 0, moment, 0, moment))
    return builder.build(base="free").with_contact("ball", radius=radius)


BALL = ball()


def leg(base: str = "free") -> Robot:
    """A leg of two links with a soft knee, an elastic band to the world, and all else that has a number.

    With a free base it hops as it likes; with a fixed one, on a vertical rail, it cannot move to the side.
    """
    builder = RobotBuilder("leg")
    if base == "fixed":
        builder.body("rail", 1, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.body("trunk", 3, (0.02, 0, 0.05), (0.03, 0, 0, 0.04, 0, 0.05))
    builder.body("thigh", 0.8, (0, 0, -0.1), (0.004, 0, 0, 0.005, 0, 0.001))
    builder.body("shank", 0.4, (0.01, 0, -0.1), (0.002, 0, 0, 0.002, 0, 0.0005))
    if base == "fixed":
        builder.joint("slide", Prismatic((0, 0, 1)), "rail", "trunk", (0, 0, 0), (0, 0, 0))
    builder.joint("hip", Revolute((0, 1, 0)), "trunk", "thigh", (0, 0, 0), (0, 0, 0))
    builder.joint("knee", Revolute((0, 1, 0)), "thigh", "shank", (0, 0, -0.2), (0, 0, 0))
    builder.frame("toe", "shank", (0, 0, -0.2), (0, 0, 0))
    robot = builder.build(base=base)
    robot = robot.with_motor("hip", control="position", kp=60, kd=1, gear=8, rotor_inertia=1e-4, effort_limit=12)
    robot = robot.with_motor("knee", viscous_friction=0.02, dry_friction=0.1, effort_limit=9, no_load_speed=30)
    robot = robot.with_joint("hip", damping=0.05, armature=0.002, friction=0.03)
    robot = robot.with_joint("knee", stiffness=25, rest=0.7, damping=0.03)
    robot = robot.with_spring("world", "shank", stiffness=30, damping=2, length=0.3, name="band")
    return robot.with_contact("toe", radius=0.02)


LEG = leg()
# the toe 3 mm above the ground
LEG_Q = np.array([0, 0, 0.383, 0, 0, 0, 1, -0.4, 0.9])
LEG_V = np.array([0.2, 0.1, -0.5, 0.3, 0, 0.2, 0.2, -0.1])


def leg_started(**options) -> pliant.Simulation:
    """A simulation of the leg above level ground, if not another one is given."""
    return started(pliant.Simulation(LEG, **{"ground": pliant.flat()} | options), q=LEG_Q)


def dropped(count: int, periods: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States of quadrupeds just above the ground, each its own, and torques that make them stumble."""
    rng = np.random.default_rng(seed)
    q = np.tile(QUADRUPED.neutral(), (count, 1))
    q[:, 2] = rng.uniform(0.42, 0.46, count)
    turn = rng.normal(size=(count, 4)) * [0.1, 0.1, 0.1, 0] + [0, 0, 0, 1]
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
    q[:, 7:] = rng.uniform(-0.4, 0.4, (count, 12))
    # held for some periods, so that feet leave the ground
    u = np.repeat(rng.uniform(-12, 12, (count, -(-periods // 15), 12)), 15, axis=1)[:, :periods]
    return q, 0.5 * rng.standard_normal((count, 18)), u


def started(sim, *state, **named):
    """The simulation, after ``reset`` to a state."""
    sim.reset(*state, **named)
    return sim


def ran(sim, duration, q=None, v=None, **options):
    """The simulation after ``reset`` to a state and a run, and the log."""
    sim.reset(q=q, v=v)
    return sim, sim.run(duration, **options)
