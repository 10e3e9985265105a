"""Energy and power by term, and passive robots, which never gain energy."""

import math
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.robot import Robot, RobotBuilder
from pliant.simulation.programs import POWER_TERMS
from simple_bodies import G, block
from simulated_robots import PENDULUM, ran

# ---- power by term: it is the rate of energy, whatever acts


def balance(log: pliant.Log) -> np.ndarray:
    """Change of energy less work, for entries of every step."""
    total = sum(log[f"energy.{name}"] for name in ("kinetic", "potential", "elastic"))
    power = sum(log[f"power.{name}"] for name in POWER_TERMS)
    dt = np.diff(log.t)
    mean = power[1:] if log.metadata["integrator"] == "semi-implicit" else (power[1:] + power[:-1]) / 2
    return total - total[0] - np.concatenate([[0], np.cumsum(mean * dt)])


def test_smooth_motion_of_everything_that_damps() -> None:
    """Motor with gains and viscous friction, damped joint, flexibility, spring between frames, push from outside."""
    builder = pliant.RobotBuilder("arm")
    for name, length in (("upper", 0.5), ("lower", 0.4)):
        builder.body(name, mass=1, com=(0, 0, -length / 2), inertia=(0.02, 0, 0, 0.02, 0, 0.002))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), damping=0.3)
    builder.joint("elbow", "revolute", "upper", "lower", (0, 0, -0.5), axis=(1, 0, 0))
    builder.motor("elbow", control="position", kp=20, kd=1, rotor_inertia=0.02, viscous_friction=0.1)
    rigid = builder.build().with_spring("world", "lower", stiffness=30, damping=2, length=0.3)
    robot = rigid.with_flexibility("elbow", stiffness=60, damping=0.5)
    push = pliant.ExternalForce("lower", force=lambda t: (3 * pliant.math.sin(5 * t), 1, 0), torque=(0.2, 0, 0.1))
    sim = pliant.Simulation(robot, dt=1e-3, integrator="dormand-prince", rtol=1e-10, atol=1e-12, forces=[push])
    _, log = ran(sim, 1.0, robot.q_from(rigid, [0.8, -0.5]), u=[0.4], channels=("energy", "power"))
    # the trapezoidal rule has an error of dt^2 / 12 times the change of the power's rate; the first entry has no torque
    first = abs(log["power.motors"][1]) * 1e-3
    assert abs(balance(log)).max() < 1e-4 + first
    for term in ("motors", "outside", "damping", "springs"):
        assert abs(log[f"power.{term}"]).max() > 0.05, term


def test_impacts_and_sliding_of_a_tumbling_box() -> None:
    robot = block(mass=2, size=(0.4, 0.3, 0.2))
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.5), dt=1e-4)
    q, v = robot.integrate(robot.neutral(), [0, 0, 0.5, 0.4, 0.3, 0]), [1.0, 0.3, 0, 0.5, -1, 2]
    _, log = ran(sim, 0.6, q, v, channels=("energy", "power"))
    total = log["energy.kinetic"] + log["energy.potential"]
    assert total[0] - total[-1] > 3
    # a step of first order; velocities are in axes that turn by w dt
    assert abs(balance(log)).max() < 5e-3 * (total[0] - total[-1]) + 2 * G * 1e-4 * 4
    # p (u + u+) / 2 = p u+ - p G p / 2, and neither friction nor a normal impulse pushes along u+; but where G couples
    # the two, one of the parts may be positive
    assert (log["power.sliding"] + log["power.impacts"]).max() < 0.05
    assert log["power.impacts"].min() < -1 and log["power.sliding"].sum() * 1e-4 < -0.5


def test_a_batch_has_the_powers_of_its_robots_and_files_the_same(tmp_path: Path) -> None:
    robot = pliant.load("cart_pole")
    push = pliant.ExternalForce(list(robot.bodies)[-1], impulse=(0.3, 0, 0), start=0.01)
    kept = ("q", "v", "energy", "power")

    def run(batch: int | None, **how) -> pliant.Log:
        sim = pliant.Simulation(robot, dt=1e-3, batch=batch, forces=[push], limits=False)
        return ran(sim, 0.05, [0.1, 0.7] if batch is None else [[0, 0.2], [0.1, 0.7]], channels=kept, **how)[1]

    one, two = run(None), run(2)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name][1])
    kept_on_file = run(None, save=tmp_path / "run.h5")
    for name in one:
        np.testing.assert_array_equal(one[name], kept_on_file[name])
    # an impulse p does p (v + v+) / 2 in its step, and that row says so
    assert np.count_nonzero(one["power.outside"]) == 1


def test_sparse_entries_have_the_power_of_the_moment() -> None:
    sim = pliant.Simulation(PENDULUM.with_joint("hinge", damping=0.2), dt=1e-3)
    _, log = ran(sim, 0.2, [1.0], channels=("v", "power"), every=10 * sim.dt)
    assert log["power.damping"] == pytest.approx(-0.2 * log.v[:, 0] ** 2)


# ---- passive robots on the ground: contacts without restitution never bring energy, and all comes to rest


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


def test_a_chain_of_bodies_loses_energy_and_comes_to_rest() -> None:
    robot, n = snake(3), 12
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), batch=n, varying=("friction",))
    sim.parameters["friction"] = np.random.default_rng(2).uniform(0.2, 1, n)
    _, log = ran(sim, 4.0, *dropped(robot, n, 1, 0.6), channels=("q", "v", "energy"))
    energy = log["energy.kinetic"] + log["energy.potential"]
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
