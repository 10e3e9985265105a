"""Chains so long that the step solves by articulated bodies: the same motion as with the factor of A."""

import numpy as np
import pytest

import pliant
from pliant.contact.ground import as_ground
from pliant.simulation import model as step_model
from pliant.simulation.model import StepModel

DT = 1e-3


def chain(joints: int, motors: bool = True, **options) -> pliant.Robot:
    """A chain of unequal links on a fixed base, with motors at every third joint."""
    builder = pliant.RobotBuilder("chain").body("link0", mass=1)
    rng = np.random.default_rng(joints)
    for k in range(joints):
        inertia = (0.02, 0.001, 0, 0.025, 0, 0.015)
        builder.body(f"link{k + 1}", float(rng.uniform(0.5, 1.5)), com=(0.02, 0.01, 0.1), inertia=inertia)
        axis = ((1, 0, 0), (0, 1, 0), (0, 0, 1))[k % 3]
        builder.joint(f"joint{k}", "revolute", f"link{k}", f"link{k + 1}", (0, 0, 0.2), axis=axis, **options)
        if motors and k % 3 == 0:
            builder.motor(f"joint{k}", control="position", kp=5, kd=0.1)
    return builder.build()


def moved(robot: pliant.Robot, speed: float, steps: int, precision: str = "float64") -> np.ndarray:
    """States of a few robots after some steps, positions first."""
    simulation = pliant.Simulation(robot, dt=DT, batch=5, precision=precision)
    rng = np.random.default_rng(0)
    simulation.reset(q=rng.normal(scale=0.3, size=(5, robot.nq)), v=rng.normal(scale=speed, size=(5, robot.nv)))
    u = rng.normal(scale=0.1, size=(5, robot.nu))
    for _ in range(steps):
        simulation.step(u)
    assert not simulation.divergences
    return np.hstack([simulation.q, simulation.v])


@pytest.mark.parametrize("options", [{}, {"damping": 0.1, "armature": 0.01}, {"stiffness": 30.0}], ids=str)
@pytest.mark.parametrize("speed, steps", [(0.5, 50), (12, 20), (200, 3)], ids=["slow", "fast", "whirling"])
def test_motion_is_that_with_the_factor(options, speed, steps, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = chain(16, **options)
    assert StepModel(robot, DT, None, pliant.RigidContact()).is_recursive
    found = moved(robot, speed, steps)
    monkeypatch.setattr(step_model, "is_recursion_cheaper", lambda mechanism: False)
    assert not StepModel(robot, DT, None, pliant.RigidContact()).is_recursive
    expected = moved(robot, speed, steps)
    # rounding, times the condition of A, which the steps do not let grow
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * max(1, speed))


def test_each_robot_by_itself_is_the_same_robot_in_a_batch() -> None:
    robot = chain(16)
    simulation = pliant.Simulation(robot, dt=DT, batch=9, threads=2)
    q, v = np.random.default_rng(3).normal(scale=(0.3,), size=(2, 9, robot.nv))
    v[4:] *= 100  # some of them whirl
    simulation.reset(q=q, v=v)
    alone = pliant.Simulation(robot, dt=DT)
    alone.reset(q=q[5], v=v[5])
    for _ in range(5):
        simulation.step()
        alone.step()
    assert (simulation.q[5] == alone.q).all()
    assert (simulation.v[5] == alone.v).all()


def test_a_long_chain_swings_without_gain_of_energy() -> None:
    simulation = pliant.Simulation(chain(40, motors=False), dt=DT / 4)
    simulation.reset(q=np.full(40, 0.05))
    log = simulation.run(0.25, channels=("q", "v", "energy"))
    total, moving = log["energy.kinetic"] + log["energy.potential"], log["energy.kinetic"].max()
    assert moving > 1
    # a step of order one: energy swings by a share of the step, and does not drift
    assert abs(total - total[0]).max() < 0.01 * moving


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_operations_grow_with_the_joints(precision: str) -> None:
    counts = []
    for joints in (20, 40):
        simulation = pliant.Simulation(chain(joints), dt=DT, precision=precision)
        counts.append(sum(simulation.kernels.stepping(8).operations().values()))
    assert counts[1] < 2.15 * counts[0]


@pytest.mark.parametrize("change", [
    lambda robot: robot.with_joint("joint3", friction=0.1),
    lambda robot: robot.with_joint("joint3", limits=(-1, 1)),
    lambda robot: robot.with_contact("link16", radius=0.05),
    lambda _: chain(8),
])  # fmt: skip
def test_what_needs_the_factor_has_it(change) -> None:
    assert not StepModel(change(chain(16)), DT, as_ground(pliant.flat()), pliant.RigidContact()).is_recursive
