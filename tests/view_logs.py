"""Short logs to look at: a hopping robot, one or several, and a ball that bounces."""

from functools import cache
from typing import Any

import numpy as np

import pliant
from simulated_robots import started

CHANNELS = ("q", "v", "tau", "forces", "energy", "power")


@cache
def hopper_log() -> pliant.Log:
    sim, q = _hopper(None)
    sim.reset(q=q)
    return sim.run(0.4, commands=[0.5, 0, 0.2], channels=CHANNELS)


@cache
def batch_log() -> pliant.Log:
    sim, q = _hopper(3)
    sim.reset(q=np.tile(q, (3, 1)) + np.outer([0, 0.1, 0.2], np.eye(len(q))[2]))
    return sim.run(0.1, commands=np.tile([0.5, 0, 0.2], (3, 1)), channels=CHANNELS, every=0.005)


def _hopper(batch: int | None) -> tuple[pliant.Simulation, Any]:
    robot = pliant.load("hopper")
    sim = pliant.Simulation(
        robot, ground=pliant.flat(friction=0.8), controller=pliant.control.raibert(robot), batch=batch
    )
    return sim, robot.integrate(robot.neutral(), [0, 0, 0.7, 0, 0, 0, 0, 0, 0, 0])


def event_hopper() -> pliant.EventSimulation:
    """A hopping robot 2 cm above the ground, about to fall."""
    sim = pliant.EventSimulation(pliant.load("hopper"), ground=pliant.flat())
    q = sim.robot.neutral()
    q[2] += 0.02
    return started(sim, q=q, lift=True)


def ball() -> pliant.Robot:
    """A kilogram on a vertical rail, 0.1 m in radius."""
    builder = pliant.RobotBuilder("ball")
    builder.body("ball", mass=1, inertia=(0.004, 0, 0, 0.004, 0, 0.004))
    builder.joint("height", "prismatic", "world", "ball", axis=(0, 0, 1))
    return builder.build().with_contact("ball", radius=0.1)


@cache
def bounce_log() -> pliant.Log:
    sim = started(pliant.EventSimulation(ball(), ground=pliant.flat(), restitution=0.5), q=[1.0])
    return sim.run(1.2, channels=("q", "v", "u", "forces", "energy", "power"))
