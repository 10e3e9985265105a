"""Inverse dynamics, bias and gravity forces: identities on random trees, and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from pliant.dynamics import (
    bias_forces, energy, forward_dynamics, frame_jacobian, gravity_forces, inverse_dynamics, mass_matrix,
    potential_energy,
)  # fmt: skip
from pliant.robot import RobotBuilder
from random_robots import close, gradient, rate, robots, seeds, state_of, turns

ROUNDING = 1e-11  # of sums over a few links
DIFFERENCES = 1e-7  # see random_robots.rate
many = settings(max_examples=100)


@many
@given(robots(), seeds, turns)
def test_bias_and_gravity_are_special_cases(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    zero = [0] * robot.nv
    close(bias_forces.algorithm(robot, q, v), inverse_dynamics.algorithm(robot, q, v, zero), ROUNDING)
    close(gravity_forces.algorithm(robot, q), inverse_dynamics.algorithm(robot, q, zero, zero), ROUNDING)


@many
@given(robots(), seeds, turns)
def test_force_is_linear_in_the_acceleration(robot, seed, turn) -> None:
    q, v, vd, _ = state_of(robot, seed, turn).lists
    M, h = np.array(mass_matrix.algorithm(robot, q)).reshape(robot.nv, robot.nv), bias_forces.algorithm(robot, q, v)
    close(inverse_dynamics.algorithm(robot, q, v, vd), M @ vd + h, ROUNDING)


@many
@given(robots(most=4), seeds, turns)
def test_gravity_is_the_gradient_of_potential_energy(robot, seed, turn) -> None:
    q = state_of(robot, seed, turn).q
    if robot.nv:
        slope = gradient(lambda q: potential_energy.algorithm(robot, q), robot, q)
        close(gravity_forces.algorithm(robot, q.tolist()), slope, DIFFERENCES)


@many
@given(robots(), seeds, turns)
def test_power_in_is_the_rate_of_energy(robot, seed, turn) -> None:
    state = state_of(robot, seed, turn)
    q, v, vd, _ = state.lists
    tau = inverse_dynamics.algorithm(robot, q, v, vd)
    close(rate(lambda q, v: sum(energy.algorithm(robot, q, v)), robot, state), np.dot(tau, v), DIFFERENCES)


@many
@given(robots(), seeds, turns)
def test_external_forces_are_those_of_the_bodies_jacobians(robot, seed, turn) -> None:
    q, v, vd, _ = state_of(robot, seed, turn).lists
    f = np.random.default_rng(seed).standard_normal((len(robot.bodies), 6))
    J = [frame_jacobian.algorithm(robot, q, name, reference="local") for name in robot.bodies]
    expected = inverse_dynamics.algorithm(robot, q, v, vd) - sum(np.array(a).T @ b for a, b in zip(J, f, strict=True))
    close(inverse_dynamics.algorithm(robot, q, v, vd, external=f.tolist()), expected, ROUNDING)
    close(
        forward_dynamics.algorithm(robot, q, v, expected.tolist(), external=f.tolist()),
        forward_dynamics.algorithm(robot, q, v, inverse_dynamics.algorithm(robot, q, v, vd)),
        1e-8,  # times the condition of M
    )


def test_pendulum() -> None:
    # m l^2 qdd + m g l sin q = tau, for a point mass (any textbook)
    m, l, g = 2, 0.7, 9.81
    builder = RobotBuilder("pendulum").body("bob", mass=m, com=(0, 0, -l))
    robot = builder.joint("pivot", "revolute", "world", "bob", axis=(0, 1, 0)).build()
    tau = inverse_dynamics(robot, [0.3], [5.0], [1.5])
    assert tau == pytest.approx([m * l * l * 1.5 + m * g * l * math.sin(0.3)], rel=1e-14)


def test_free_body_obeys_euler() -> None:
    # moment = I wd + w x I w about the centre of mass, force = m (a + w x v) in the body's frame [Goldstein, 5.5]
    inertia, m = np.diag([1.0, 2, 2.5]), 3.0
    builder = RobotBuilder("brick").body("brick", mass=m, inertia=(1, 0, 0, 2, 0, 2.5)).gravity(0, 0, 0)
    robot = builder.build(base="free")
    v, vd = np.random.default_rng(0).standard_normal((2, 6))
    w = v[3:]
    tau = inverse_dynamics(robot, robot.random(1), v, vd)
    np.testing.assert_allclose(tau[:3], m * (vd[:3] + np.cross(w, v[:3])), rtol=1e-13)
    np.testing.assert_allclose(tau[3:], inertia @ vd[3:] + np.cross(w, inertia @ w), rtol=1e-13)
