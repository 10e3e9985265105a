"""Passive robots on the ground: contacts without restitution never bring energy, and all comes to rest."""

import math

import numpy as np
import pytest

import pliant
from pliant.robot import Robot, RobotBuilder


def snake(n: int) -> Robot:
    """A floating chain of n bars with hinges about changing axes, a little damped; edgy, or it would roll away."""
    builder = RobotBuilder("snake")
    for k in range(n):
        builder.body(f"link{k}", 0.5, (0.1, 0, 0), (4e-4, 0, 0, 2e-3, 0, 2e-3))
        if k:
            axis = (0, 1, 0) if k % 2 else (0, 0, 1)
            builder.joint(f"hinge{k}", "revolute", f"link{k - 1}", f"link{k}", (0.2, 0, 0), axis=axis, damping=0.01)
    robot = builder.build(base="free")
    corners = [(0.02, 0.03, 0.03), (0.02, -0.03, -0.03), (0.18, 0.03, -0.03), (0.18, -0.03, 0.03)]
    return robot.with_contacts(*(f"link{k}" for k in range(n)), points=corners)


def dropped(robot: Robot, n: int, seed: int, height: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.stack([robot.integrate(robot.neutral(), rng.uniform(-0.6, 0.6, robot.nv)) for _ in range(n)])
    q[:, 2] = height + rng.uniform(0, 0.3, n)
    return q, rng.normal(0, 0.5, (n, robot.nv))


def energies(log: pliant.Log) -> np.ndarray:
    return np.asarray(log["energy.kinetic"]) + np.asarray(log["energy.potential"])


def test_a_chain_of_bodies_loses_energy_and_comes_to_rest() -> None:
    robot, n = snake(3), 12
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), batch=n, varying=("friction",))
    sim.parameters["friction"] = np.random.default_rng(2).uniform(0.2, 1, n)
    q, v = dropped(robot, n, 1, 0.6)
    sim.reset(q=q, v=v)
    log = sim.run(4.0, channels=("q", "v", "energy"))
    energy = energies(log)
    # a semi-implicit step is off by dt^2 of the rate of power: 1e-3 of the energy over a fall at most
    scale = energy[:, 0].max()
    assert np.diff(energy, axis=1).max() < 5e-4 * scale
    growth = energy - np.minimum.accumulate(energy, axis=1)
    assert growth.max() < 5e-3 * scale
    # 1e-9 m/s of the solver, at a lever of 3 cm
    assert np.abs(sim.v).max() < 1e-7, "not at rest after 4 s"
    # nothing is in the ground, and the ground carries all
    assert sim.diagnostics.penetration.max() < 1e-5
    np.testing.assert_allclose(sim.contact_forces.sum(axis=1)[:, 2], 3 * 0.5 * 9.81, rtol=1e-6)


@pytest.mark.parametrize("name", ["quadruped", "biped"])
def test_shipped_robots_lose_energy(name: str) -> None:
    """They fall in a heap, limp; joints damped a little, and stopped by their limits without a bounce."""
    robot, n = pliant.load(name, base="free"), 8
    for joint in robot.motors:
        robot = robot.with_joint(joint, damping=0.1)
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), batch=n, varying=("friction",))
    sim.parameters["friction"] = np.random.default_rng(3).uniform(0.1, 1, n)
    q, v = dropped(robot, n, 4, 1.0)
    for k, joint in enumerate(robot.motors):
        limits = robot.joints[joint].limits
        np.clip(q[:, 7 + k], float(limits.lower[0]), float(limits.upper[0]), out=q[:, 7 + k])
    sim.reset(q=q, v=v)
    worst, before, least, first = 0.0, math.inf, math.inf, 0.0
    for step in range(1200):
        sim.step()
        if step % 4 == 0:
            energy = sum(sim.diagnostics.energy.values())
            first = first or float(np.max(energy))
            worst = max(worst, float(np.max(energy - before)))
            before, least = energy, np.minimum(least, energy)
    # explicit Coriolis forces of the light legs: dt of the power that passes through them
    assert worst < 5e-3 * first
    assert float(np.max(energy - least)) < 1e-2 * first
    assert float(np.max(energy)) < 0.7 * first
    assert not sim.divergences
