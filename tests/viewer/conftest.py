"""A short log of a hopping robot, and one of a batch, for all tests of the viewer."""

import numpy as np
import pytest

import pliant
from simulated_robots import started


@pytest.fixture(scope="session")
def hop() -> pliant.Log:
    """One robot that falls and bounces on its spring."""
    robot = pliant.load("hopper")
    sim = pliant.Simulation(robot, dt=2e-3, ground=pliant.flat(friction=0.6), progress=False)
    q = robot.neutral()
    q[2] = 1.0
    sim.reset(q=q)
    return sim.run(0.8)


@pytest.fixture(scope="session")
def batch() -> pliant.Log:
    """Four arms that fall."""
    robot = pliant.load("two_link_arm")
    sim = started(pliant.Simulation(robot, dt=5e-3, batch=4, progress=False), q=np.linspace(0.1, 0.4, 8).reshape(4, 2))
    return sim.run(0.1)
