"""Contacts that jam: a mechanism of few dofs whose friction cannot be settled does not gain energy."""

import numpy as np
import pytest

import pliant
from pliant.robot import Helical, Robot, RobotBuilder


def screw(axis: np.ndarray, pitch: float, friction: float) -> Robot:
    """A capsule on a screw 30 cm above the ground, which it reaches on its side: both ends touch, one dof moves."""
    builder = RobotBuilder("screw")
    builder.body("base", 1, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.body("arm", 0.33, (0.02, 0.01, 0), (1e-3, 0, 0, 2e-3, 0, 2e-3))
    builder.joint("mount", "fixed", "world", "base", (0, 0, 0.3))
    builder.joint("screw", Helical(tuple(axis.tolist()), pitch), "base", "arm")
    robot = builder.build(base="fixed").with_frame("capsule", "arm", (0, 0, 0), (0.5, 1, 0.3))
    return robot.with_contact("capsule", radius=0.167, length=0.18, friction=friction)


# a step of gravity at the speeds at hand: m g v dt is 0.02 of m g 0.3 m; and two hundredths of the kinetic energy
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_a_screw_that_jams_gains_no_energy(angle: float, precision: str) -> None:
    rng = np.random.default_rng(0)
    touches = 0
    for _ in range(4):
        axis = rng.standard_normal(3)
        robot = screw(axis / np.linalg.norm(axis), rng.uniform(0.03, 0.1), rng.uniform(0.4, 1.2))
        sim = pliant.Simulation(robot, dt=5e-3, ground=pliant.slope(angle), batch=64, precision=precision)
        q, v = rng.uniform(-3, 3, (64, 1)), rng.uniform(-10, 10, (64, 1))
        seen = sim.rollout((q, v), periods=400, channels=("q", "v", "solver", "impulses", "divergence"))
        assert not seen["divergence"].any()
        touches += int((seen["impulses"] != 0).any(axis=-1).sum())
        # those that begin in the ground are lifted
        above = seen["solver"][:, 0, 2] <= 0
        before = total_energy(robot, q[above], v[above])
        after = total_energy(robot, *(x[above].reshape(-1, 1).astype(float) for x in (seen.q, seen.v)))
        rise = after.reshape(len(before), -1).max(axis=1) - before
        assert (rise <= 0.02 * (np.ptp(before) + 0.33 * 9.81 * 0.3)).all()
    assert touches > 10_000


def total_energy(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    kinetic, potential = pliant.energy(robot, q, v)
    return np.asarray(kinetic) + np.asarray(potential)
