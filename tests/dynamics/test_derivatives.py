"""Derivatives of inverse and forward dynamics: against differences on random trees, and against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings

from pliant.catalogue.library import load
from pliant.dynamics import (
    forward_dynamics, inverse_dynamics, inverse_dynamics_derivatives, jacobian, mass_matrix, mass_matrix_inverse,
)  # fmt: skip
from pliant.robot import Robot
from random_robots import State, close, gradient, robots, seeds, state_of, turns
from real_robots import FAMILIES, Pair, pinocchio_robot, real_robot

DIFFERENCES = 1e-8  # see `random_robots.rate`
many = settings(max_examples=40)


def by_velocity(function, x: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Derivative of a quadratic function of x, for which central differences are exact but for rounding."""
    columns = [(np.array(function(x + h * e)) - np.array(function(x - h * e))) / (2 * h) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


@many
@given(robots(most=5), seeds, turns)
def test_inverse_dynamics_against_differences(robot: Robot, seed: int, turn: float | None) -> None:
    state = state_of(robot, seed, turn)
    q, v, vd, _ = state.lists
    if not robot.nv:
        return
    found = inverse_dynamics_derivatives.algorithm(robot, q, v, vd)
    close(found.q, gradient(lambda q: inverse_dynamics.algorithm(robot, q, v, vd), robot, state.q), DIFFERENCES)
    close(found.v, by_velocity(lambda v: inverse_dynamics.algorithm(robot, q, v.tolist(), vd), state.v), DIFFERENCES)
    close(found.vd, mass_matrix.algorithm(robot, q), 1e-12)


@settings(max_examples=15)
@given(robots(most=3), seeds)
def test_forces_on_bodies_turn_with_them(robot: Robot, seed: int) -> None:
    state = state_of(robot, seed)
    q, v, vd, _ = state.lists
    external = np.random.default_rng(seed).standard_normal((len(robot.bodies), 6)).tolist()
    if not robot.nv:
        return
    found = inverse_dynamics_derivatives.algorithm(robot, q, v, vd, external=external)

    def forces(q: list) -> list:
        return inverse_dynamics.algorithm(robot, q, v, vd, external=external)

    close(found.q, gradient(forces, robot, state.q), DIFFERENCES)


@many
@given(robots(most=4), seeds)
def test_forward_dynamics_by_the_implicit_function(robot: Robot, seed: int) -> None:
    # FD(q, v, ID(q, v, vd)) = vd: the derivatives of ID and FD undo each other
    q, v, vd, _ = state_of(robot, seed).lists
    if not robot.nv:
        return
    inverse = inverse_dynamics_derivatives.algorithm(robot, q, v, vd)
    tau = inverse_dynamics.algorithm(robot, q, v, vd)
    forward = forward_dynamics.derivative_rule(robot, q, v, tau, wrt=("q", "v", "tau"))
    M_inverse = np.array(forward["tau"], dtype=float)
    close(M_inverse @ np.array(inverse.vd, dtype=float), np.eye(robot.nv), 1e-8)
    scale = max(1, abs(M_inverse).max())
    for name in ("q", "v"):
        close(forward[name], -M_inverse @ np.array(getattr(inverse, name), dtype=float), 1e-9 * scale)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_pinocchio(name: str, base: str) -> None:
    robot, model = real_robot(name, base), pinocchio_robot(name, base)
    if not robot.nv:
        assert model.nv == 0
        return
    pair = Pair(robot, model, seed=3)
    q, v, vd, tau = pair.ours
    expected = [np.array(d) for d in pin.computeRNEADerivatives(model, pair.data, pair.q, pair.v, pair.vd)]
    expected[2] = np.triu(expected[2]) + np.triu(expected[2], 1).T
    for a, b in zip(inverse_dynamics_derivatives.algorithm(robot, q, v, vd), expected, strict=True):
        close(a, b, 1e-10)
    pin.computeABADerivatives(model, pair.data, pair.q, pair.v, pair.tau)
    M_inverse = np.triu(pair.data.Minv) + np.triu(pair.data.Minv, 1).T
    found = forward_dynamics.derivative_rule(robot, q, v, tau, wrt=("q", "v", "tau"))
    for what, b in (("q", pair.data.ddq_dq), ("v", pair.data.ddq_dv), ("tau", M_inverse)):
        close(found[what], b, 1e-7)  # conditioned as M


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-11), ("float32", 2e-3)])
def test_compiled_and_batched(precision: str, tolerance: float) -> None:
    robot = load("quadruped")
    states = [state_of(robot, seed) for seed in range(5)]
    q, v, _, tau = (np.stack([getattr(s, n) for s in states]) for n in State._fields)
    kernel = jacobian(forward_dynamics, robot, ("q", "v", "tau"), precision=precision)
    found = kernel(q, v, tau)
    assert found._fields == ("q", "v", "tau")
    for k, s in enumerate(states):
        expected = forward_dynamics.derivative_rule(robot, *s.lists[:2], s.lists[3], wrt=("q", "v", "tau"))
        for a, name in zip(found, ("q", "v", "tau"), strict=True):
            close(a[k], expected[name], tolerance)
    close(found[2], mass_matrix_inverse(robot, q), tolerance)
