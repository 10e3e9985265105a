"""Energy, centre of mass and centroidal momentum."""

import numpy as np
import pytest
from hypothesis import given

from pliant.dynamics import (
    center_of_mass, center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix, centroidal_momentum,
    centroidal_momentum_rate, energy, forward_dynamics, frame_pose, frame_velocity, kinetic_energy, mass_matrix,
    potential_energy,
)  # fmt: skip
from pliant.errors import RobotError
from pliant.robot import RobotBuilder
from random_robots import close, rate, robots, seeds, state_of, turns

ROUNDING = 1e-11
DIFFERENCES = 1e-7  # see random_robots.rate
# all bodies of these move, so that all count
floating = robots(floating=True)


@given(floating, seeds, turns)
def test_sums_over_the_bodies(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    mass, moment, momentum, spin = 0.0, np.zeros(3), np.zeros(3), np.zeros(3)
    for body in robot.bodies.values():
        I, X = body.inertia, np.array(frame_pose.algorithm(robot, q, body.name), dtype=float)
        V = np.array(frame_velocity.algorithm(robot, q, v, body.name), dtype=float)
        R, w = X[:3, :3], V[3:]
        h, J = R @ list(I.h), R @ np.array(list(I.J.full())).reshape(3, 3) @ R.T
        p = I.mass * V[:3] + np.cross(w, h)
        mass, moment = mass + I.mass, moment + I.mass * X[:3, 3] + h
        momentum, spin = momentum + p, spin + J @ w + np.cross(h, V[:3]) + np.cross(X[:3, 3], p)
    center = moment / mass
    close(center_of_mass.algorithm(robot, q), center, ROUNDING)
    close(center_of_mass_velocity.algorithm(robot, q, v), momentum / mass, ROUNDING)
    close(centroidal_momentum.algorithm(robot, q, v), [*momentum, *(spin - np.cross(center, momentum))], ROUNDING)


@given(robots(), seeds, turns)
def test_matrices_give_the_velocities(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    if robot.nv:
        J, A = np.array(center_of_mass_jacobian.algorithm(robot, q)), np.array(centroidal_matrix.algorithm(robot, q))
        close(J @ v, center_of_mass_velocity.algorithm(robot, q, v), ROUNDING)
        close(A @ v, centroidal_momentum.algorithm(robot, q, v), ROUNDING)


@given(robots(), seeds, turns)
def test_rates(robot, seed, turn) -> None:
    state = state_of(robot, seed, turn)
    q, v, vd, _ = state.lists
    if robot.nv:
        expected = rate(lambda q, _: center_of_mass.algorithm(robot, q), robot, state)
        close(center_of_mass_velocity.algorithm(robot, q, v), expected, DIFFERENCES)
        expected = rate(lambda q, v: centroidal_momentum.algorithm(robot, q, v), robot, state)
        close(centroidal_momentum_rate.algorithm(robot, q, v, vd), expected, DIFFERENCES)


@given(floating, seeds, turns)
def test_rate_is_the_sum_of_external_forces(robot, seed, turn) -> None:
    q, v, _, tau = state_of(robot, seed, turn).lists
    tau[:6] = [0] * 6  # the base is held by nothing
    f = np.random.default_rng(seed).standard_normal((len(robot.bodies), 6))
    # rotors take up moments that no link feels: none here
    for name, joint in robot.joints.items():
        if joint.kind.nv:
            robot = robot.with_joint(name, armature=0)
    vd = forward_dynamics.algorithm(robot, q, v, tau, external=f.tolist())
    center = np.array(center_of_mass.algorithm(robot, q))
    force, moment = robot.mass * np.array([float(g) for g in robot.gravity]), np.zeros(3)
    for name, wrench in zip(robot.bodies, f, strict=True):
        X = np.array(frame_pose.algorithm(robot, q, name), dtype=float)
        pull = X[:3, :3] @ wrench[:3]
        force, moment = force + pull, moment + X[:3, :3] @ wrench[3:] + np.cross(X[:3, 3] - center, pull)
    close(centroidal_momentum_rate.algorithm(robot, q, v, vd), [*force, *moment], 1e-8)


def test_several_trees_on_the_world() -> None:
    builder = RobotBuilder("two").body("a", mass=1).body("b", mass=3)
    builder.joint("left", "prismatic", "world", "a", (0, 1, 0), axis=(1, 0, 0))
    robot = builder.joint("right", "prismatic", "world", "b", (0, -1, 0), axis=(1, 0, 0)).build(strict=False)
    q, v = [0.4, 0.8], [2.0, 1.0]
    np.testing.assert_allclose(center_of_mass(robot, q), [0.7, -0.5, 0], atol=1e-15)
    # momenta 2 and 3 along x, at y = 1.5 and -0.5 from the centre of mass
    np.testing.assert_allclose(centroidal_momentum(robot, q, v), [5, 0, 0, 0, 0, -2 * 1.5 + 3 * 0.5], atol=1e-14)
    np.testing.assert_allclose(centroidal_matrix(robot, q) @ v, centroidal_momentum(robot, q, v), atol=1e-14)


def test_no_mass_no_centre() -> None:
    ghost = RobotBuilder("ghost").body("ghost").build(base="free", strict=False)
    with pytest.raises(RobotError, match="robot 'ghost' has no centre of mass: its bodies have no mass"):
        center_of_mass(ghost, ghost.neutral())
    statue = RobotBuilder("statue").body("statue", mass=900).build(strict=False)
    for function, args in ((center_of_mass, 1), (centroidal_momentum, 2), (centroidal_momentum_rate, 3)):
        with pytest.raises(RobotError, match="robot 'statue' has no centre of mass: nothing of it moves"):
            function(statue, *[np.zeros(0)] * args)


# ---- kinetic and potential energy


@given(robots(), seeds, turns)
def test_kinetic_energy_is_that_of_the_mass_matrix(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float).reshape(robot.nv, robot.nv)
    close(kinetic_energy.algorithm(robot, q, v), v @ M @ v / 2, 1e-12)


@given(floating, seeds, turns)
def test_potential_energy_is_that_of_the_centre_of_mass(robot, seed, turn) -> None:
    q = state_of(robot, seed, turn).lists[0]
    g = np.array([float(x) for x in robot.gravity])
    close(potential_energy.algorithm(robot, q), -robot.mass * g @ center_of_mass.algorithm(robot, q), 1e-12)


def test_both_together_and_in_batches() -> None:
    # a ball of 2 kg at 3 m, thrown with 5 m/s and spinning with 4 rad/s
    robot = RobotBuilder("ball").body("ball", mass=2, inertia=(0.1, 0, 0, 0.1, 0, 0.1)).build(base="free")
    q, v = np.tile([0, 0, 3.0, 0, 0, 0, 1], (3, 1)), np.tile([3.0, 4, 0, 0, 0, 4], (3, 1))
    found = energy(robot, q, v)
    np.testing.assert_allclose(found.kinetic, [25 + 0.8] * 3)
    np.testing.assert_allclose(found.potential, [2 * 9.81 * 3] * 3)
    assert kinetic_energy(robot, q[0], v[0]) == pytest.approx(25.8)
    assert potential_energy(robot, q[0]) == pytest.approx(58.86)
