"""Robots whose joints turn fast for the step: their energy, and the matrix of the forces that come from it."""

import numpy as np
import pytest

import pliant
from bench.random_robots import Case
from bench.random_soak import energy_balance
from pliant.dynamics.coriolis import coriolis_matrix
from pliant.dynamics.gyroscopic import held_centers
from pliant.dynamics.implicit_coriolis import solved
from pliant.dynamics.joint_space_inertia import composite_inertia, mass_matrix
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot, RobotBuilder
from pliant.robot.configurations import held_acceleration, held_matrix
from random_robots import close, robot_of, state_of


def chain(*kinds: str, base: str) -> Robot:
    """Uneven bodies of 1 kg, one behind the other, without gravity."""
    builder = RobotBuilder(" ".join(kinds)).gravity(0, 0, 0)
    for k in range(len(kinds) + 1):
        builder.body(f"body{k}", 1, (0.03, -0.02, 0.04), (0.004, 0.0005, 0, 0.006, 0.0003, 0.003))
    for k, kind in enumerate(kinds):
        axis = None if kind == "spherical" else (0.6, 0, 0.8)
        builder.joint(f"joint{k}", kind, f"body{k}", f"body{k + 1}", (0.1, 0.05, -0.1), (0.5, 1, -0.4), axis=axis)
    return builder.build(base=base)  # type: ignore[arg-type]


def balances(robot: Robot, v: np.ndarray, dt: float, seconds: float, precision: str = "float64") -> np.ndarray:
    """Energy over time relative to that at the start, (starts, steps)."""
    q = np.tile(robot.neutral(), (len(v), 1))
    case = Case(0, robot, pliant.flat(), q, v, np.zeros(len(v)), 1.0, 0)
    sim = pliant.Simulation(robot, dt=dt, batch=len(v), precision=precision)
    seen = sim.rollout((q, v), periods=round(seconds / dt), channels=("q", "v", "torques", "divergence"))
    assert not seen["divergence"].any()
    found = energy_balance(case, dt, seen.q, seen.v, seen["torques"])[0]
    return found / found[:, :1]


def rates(robot: Robot, fastest: float) -> np.ndarray:
    v = np.random.default_rng(3).uniform(-1, 1, (8, robot.nv))
    return v * fastest / np.abs(v).max(axis=1, keepdims=True)


CHAINS = [chain("revolute", "revolute", base="free"), chain("revolute", "revolute", base="fixed"),
          chain("prismatic", base="free"), chain("spherical", "revolute", base="fixed"),
          chain("spherical", base="free")]  # fmt: skip


# Coriolis forces at the start of the step gain a share of (w dt)^2 a step, which is 20 % here
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("robot", CHAINS, ids=lambda r: f"{r.name}, {'free' if r.is_free else 'fixed'}")
def test_what_turns_fast_keeps_its_energy(robot: Robot, precision: str) -> None:
    found = balances(robot, rates(robot, 15), 5e-3, 2, precision)
    assert np.abs(found - 1).max() < 0.02
    assert found[:, -40:].mean(axis=1).max() < 1.005


# the centre of mass that a base goes straight with is that of the middle of the step: order two, and so a 16th
def test_the_energy_of_a_robot_in_flight_is_of_order_two() -> None:
    robot = CHAINS[0]
    errors = [np.abs(balances(robot, rates(robot, 30), dt, 0.5)[:, -1] - 1).max() for dt in (4e-3, 1e-3)]
    assert errors[1] < errors[0] / 8


# 0.5 rad a step: not resolved, but neither thrown away nor faster and faster
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("robot", CHAINS, ids=lambda r: f"{r.name}, {'free' if r.is_free else 'fixed'}")
def test_what_turns_too_fast_for_the_step_does_not_explode(robot: Robot, precision: str) -> None:
    found = balances(robot, rates(robot, 100), 5e-3, 4, precision)
    assert found.max() < 1.25


def test_the_matrix_of_what_joints_that_float_keep() -> None:
    robot = robot_of(
        ("planar", "free", "revolute", "spherical"), (-1, 0, 1, 1), np.random.default_rng(2), floating=True
    )
    q, v, *_ = state_of(robot, 5).lists
    M = composite_inertia(robot, q)
    centers = held_centers(robot.mechanism, M)
    H = np.zeros((robot.nv, robot.nv))
    for at, entry in held_matrix(robot, v, centers).items():
        H[at] = entry
    vd = held_acceleration(robot, v, centers)
    close(H @ v, vd, 1e-12)
    # and with it C v + M H v + g is the bias
    C, full = np.array(coriolis_matrix(robot, q, v)), np.array(mass_matrix(robot, q))
    gravity = newton_euler(robot, q, [0] * robot.nv, [0] * robot.nv)
    close((C + full @ H) @ v + gravity, newton_euler(robot, q, v, vd), 1e-12)


def test_equations_with_the_zeros_of_a_tree() -> None:
    robot = robot_of(("revolute", "spherical", "prismatic", "revolute"), (-1, 0, 0, 2), np.random.default_rng(4))
    q, v, vd, _ = state_of(robot, 1).lists
    K = np.array(mass_matrix(robot, q)) + np.array(coriolis_matrix(robot, q, v)) / 3
    close(K @ np.array(solved(robot.mechanism, K.tolist(), vd), dtype=float), vd, 1e-12)
