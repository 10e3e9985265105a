"""Power by term: it is the rate of energy, whatever acts."""

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.simulation.programs import POWER_TERMS

G = 9.81


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
    sim.reset(q=robot.q_from(rigid, [0.8, -0.5]))
    log = sim.run(1.0, u=[0.4], channels=("energy", "power"))
    # the trapezoidal rule has an error of dt^2 / 12 times the change of the power's rate; the first entry has no torque
    first = abs(log["power.motors"][1]) * 1e-3
    assert abs(balance(log)).max() < 1e-4 + first
    for term in ("motors", "outside", "damping", "springs"):
        assert abs(log[f"power.{term}"]).max() > 0.05, term


def test_impacts_and_sliding_of_a_tumbling_box() -> None:
    builder = pliant.RobotBuilder("box")
    builder.body("box", mass=2, inertia=(0.05, 0, 0, 0.04, 0, 0.03))
    builder.joint("root", "free", "world", "box")
    corners = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.15, 0.15) for z in (-0.1, 0.1)]
    robot = builder.build()
    for k, corner in enumerate(corners):
        robot = robot.with_contact("box", points=[corner], name=f"corner{k}")
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.5), dt=1e-4)
    q = robot.integrate(robot.neutral(), [0, 0, 0.5, 0.4, 0.3, 0])
    sim.reset(q=q, v=[1.0, 0.3, 0, 0.5, -1, 2])
    log = sim.run(0.6, channels=("energy", "power"))
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
        q = np.array([0.1, 0.7]) if batch is None else np.array([[0, 0.2], [0.1, 0.7]])
        sim.reset(q=q)
        return sim.run(0.05, channels=kept, **how)

    one, two = run(None), run(2)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name][1])
    kept_on_file = run(None, save=tmp_path / "run.h5")
    for name in one:
        np.testing.assert_array_equal(one[name], kept_on_file[name])
    # an impulse p does p (v + v+) / 2 in its step, and that row says so
    assert np.count_nonzero(one["power.outside"]) == 1


def test_sparse_entries_have_the_power_of_the_moment() -> None:
    builder = pliant.RobotBuilder("pendulum")
    builder.body("rod", mass=1, com=(0, 0, -0.5), inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.2)
    sim = pliant.Simulation(builder.build(), dt=1e-3)
    sim.reset(q=[1.0])
    log = sim.run(0.2, channels=("v", "power"), every=10 * sim.dt)
    assert log["power.damping"] == pytest.approx(-0.2 * log.v[:, 0] ** 2)
