"""Environments of robots whose motors remember: late controls act when they should."""

import numpy as np

import pliant
from pliant.environment import Controls, Environment, Reward, observations, rewards


def late(compiled: bool = True) -> Environment:
    """A cart whose motor acts a control period late."""
    robot = pliant.load("cart_pole").with_motor("slider", command_delay=0.02)
    sim = pliant.Simulation(robot, dt=0.01, substeps=2, batch=4)
    effort = Reward(rewards.action_size, -0.1, compiled=compiled)
    return Environment(
        sim, action=Controls(5.0), observations={"rates": observations.joint_velocities}, rewards={"effort": effort}
    )


def test_late_controls_act_a_period_later() -> None:
    for compiled in (True, False):
        env = late(compiled)
        env.reset(seed=0)
        push = np.ones((4, 1))
        assert np.all(env.step(push).observations["actor"] == 0)
        assert np.all(env.step(0 * push).observations["actor"] > 0.01)
        assert np.array_equal(env.terms["effort"], np.zeros(4))
