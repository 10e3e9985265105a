"""Kinematics and Jacobians, centre of mass and centroidal momentum, and energy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.dynamics import (
    center_of_mass, center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix, centroidal_momentum,
    centroidal_momentum_rate, energy, forward_dynamics, frame_acceleration, frame_jacobian, frame_jacobian_rate,
    frame_pose, frame_velocity, kinetic_energy, mass_matrix, potential_energy,
)  # fmt: skip
from pliant.dynamics.kinematics import REFERENCES
from pliant.errors import RobotError
from pliant.robot import RobotBuilder
from random_robots import close, rate, robot_of, robots, seeds, state_of, turns

ROUNDING = 1e-12
SUMMED = 1e-11  # over bodies
DIFFERENCES = 1e-7  # see random_robots.rate


def pose(robot, q, frame) -> np.ndarray:
    return np.array(frame_pose.algorithm(robot, list(q), frame), dtype=float)


@given(robots(), seeds, turns)
def test_velocity_is_the_rate_of_the_pose(robot, seed, turn) -> None:
    state, frame = state_of(robot, seed, turn), robot.frames[-1].name
    q, v, _, _ = state.lists
    X, Xdot = pose(robot, q, frame), rate(lambda q, _: pose(robot, q, frame), robot, state)
    aligned = frame_velocity.algorithm(robot, q, v, frame)
    turning = Xdot[:3, :3] @ X[:3, :3].T
    close(aligned, [*Xdot[:3, 3], turning[2, 1], turning[0, 2], turning[1, 0]], DIFFERENCES)
    # the other references are turned, and seen from another point
    R, p = X[:3, :3], X[:3, 3]
    linear, angular = np.array(aligned[:3], float), np.array(aligned[3:], float)
    local = frame_velocity.algorithm(robot, q, v, frame, reference="local")
    close(local, [*(R.T @ linear), *(R.T @ angular)], ROUNDING)
    world = frame_velocity.algorithm(robot, q, v, frame, reference="world")
    close(world, [*(linear + np.cross(p, angular)), *angular], ROUNDING)


@given(robots(), seeds, turns)
def test_acceleration_is_the_rate_of_the_velocity(robot, seed, turn) -> None:
    state, frame = state_of(robot, seed, turn), robot.frames[-1].name
    rates = {
        r: rate(lambda q, v, r=r: frame_velocity.algorithm(robot, q, v, frame, reference=r), robot, state)
        for r in REFERENCES
    }

    def found(**options) -> list:
        return frame_acceleration.algorithm(robot, *state.lists[:3], frame, **options)

    close(found(), rates["local_world_aligned"], DIFFERENCES)
    close(found(kind="spatial", reference="local"), rates["local"], DIFFERENCES)
    close(found(kind="spatial", reference="world"), rates["world"], DIFFERENCES)
    R = pose(robot, state.q, frame)[:3, :3]
    for kind in ("classical", "spatial"):
        local = np.array(found(kind=kind, reference="local"), dtype=float).reshape(2, 3)
        close(found(kind=kind), (local @ R.T).ravel(), ROUNDING)


def test_point_on_a_turning_disc() -> None:
    # centripetal acceleration w^2 r, tangential wd r (any textbook)
    builder = RobotBuilder("disc").body("disc", mass=1).frame("rim", "disc", (0.5, 0, 0))
    robot = builder.joint("axle", "continuous", "world", "disc").build(strict=False)
    q, w, wd = math.pi / 2, 3.0, 2.0
    np.testing.assert_allclose(frame_pose(robot, [q], "rim")[:3, 3], [0, 0.5, 0], atol=1e-15)
    np.testing.assert_allclose(frame_velocity(robot, [q], [w], "rim"), [-1.5, 0, 0, 0, 0, 3], atol=1e-15)
    found = frame_acceleration(robot, [q], [w], [wd], "rim")
    np.testing.assert_allclose(found, [-wd * 0.5, -w * w * 0.5, 0, 0, 0, wd], atol=1e-14)
    # the point of space at the rim sees each point of the disc with the same speed: no centripetal part
    spatial = frame_acceleration(robot, [q], [w], [wd], "rim", kind="spatial")
    np.testing.assert_allclose(spatial, [-wd * 0.5, 0, 0, 0, 0, wd], atol=1e-14)


def test_a_tilt_below_the_rounding_of_its_cosine_is_kept() -> None:
    builder = RobotBuilder("tilted").body("arm", mass=1).body("tip", mass=1)
    builder.joint("pivot", "revolute", "world", "arm", axis=(0, 1, 0))
    robot = builder.joint("weld", "fixed", "arm", "tip", rpy=(1e-9, 0, 0.3)).build(strict=False)
    tilt = frame_pose(robot, [0.0], "tip")[2, 1]
    assert tilt == pytest.approx(1e-9, rel=1e-6)


def test_frames_that_do_not_move() -> None:
    builder = RobotBuilder("post").body("post").body("arm", mass=1).frame("plate", "post", (1, 2, 3))
    robot = builder.joint("pivot", "revolute", "post", "arm").build(strict=False)
    np.testing.assert_allclose(frame_pose(robot, [0.4], "plate")[:3, 3], [1, 2, 3])
    np.testing.assert_array_equal(frame_pose(robot, [0.4], "world"), np.eye(4))
    assert not frame_velocity(robot, [0.4], [1.0], "plate", reference="world").any()
    assert not frame_acceleration(robot, [0.4], [1.0], [1.0], "plate").any()


# ---- Jacobians of frames: they give the velocities, their rates the rest of the accelerations
references = st.sampled_from(REFERENCES)


@given(robots(), seeds, turns, references)
def test_it_gives_the_velocity(robot, seed, turn, reference) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    for frame in robot.frames:
        J = np.array(frame_jacobian.algorithm(robot, q, frame, reference=reference), dtype=float)
        assert J.shape == (6, robot.nv)
        close(J @ v, frame_velocity.algorithm(robot, q, v, frame, reference=reference), ROUNDING)


@given(robots(), seeds, turns, references)
def test_rate_is_the_derivative(robot, seed, turn, reference) -> None:
    state, frame = state_of(robot, seed, turn), robot.frames[-1].name
    found = frame_jacobian_rate.algorithm(robot, *state.lists[:2], frame, reference=reference)
    expected = rate(lambda q, _: frame_jacobian.algorithm(robot, q, frame, reference=reference), robot, state)
    close(found, expected, DIFFERENCES)


@given(robots(), seeds, turns)
def test_acceleration_is_its_product_rule(robot, seed, turn) -> None:
    q, v, vd, _ = state_of(robot, seed, turn).lists
    frame = robot.frames[-1].name
    J = np.array(frame_jacobian.algorithm(robot, q, frame), dtype=float)
    Jdot = np.array(frame_jacobian_rate.algorithm(robot, q, v, frame), dtype=float)
    close(J @ vd + Jdot @ v, frame_acceleration.algorithm(robot, q, v, vd, frame), 1e-11)


@given(robots(mimic=False), seeds)
def test_dofs_off_the_path_are_structural_zeros(robot, seed) -> None:
    q, v, _, _ = state_of(robot, seed).lists
    mechanism = robot.mechanism
    for frame in robot.frames:
        i, _ = mechanism.frame(frame)
        on = {d for k in (i, *mechanism.ancestors(i)) for d in mechanism.links[k].dofs} if i >= 0 else set()
        for matrix in (frame_jacobian.algorithm(robot, q, frame), frame_jacobian_rate.algorithm(robot, q, v, frame)):
            for row in matrix:
                assert all(type(row[d]) is int and row[d] == 0 for d in range(robot.nv) if d not in on)


def test_place_of_the_base_is_no_part_of_it() -> None:
    # a robot that has walked a thousand kilometres: not one bit is lost
    robot = robot_of(
        ["revolute", "helical", "prismatic", "spherical"], [-1, 0, 1, 2], np.random.default_rng(3), floating=True
    )
    q, v = robot.random(4), np.ones(robot.nv)
    far = q.copy()
    far[:3] += 1e6
    for reference in ("local", "local_world_aligned"):
        for function, args in ((frame_jacobian, ()), (frame_jacobian_rate, (v,)), (frame_velocity, (v,))):
            near = function(robot, q, *args, "frame2", reference=reference)
            np.testing.assert_array_equal(function(robot, far, *args, "frame2", reference=reference), near)
    np.testing.assert_array_equal(centroidal_momentum(robot, far, v), centroidal_momentum(robot, q, v))
    np.testing.assert_array_equal(centroidal_matrix(robot, far), centroidal_matrix(robot, q))


# ---- centre of mass and centroidal momentum: sums over the bodies, rates, and external forces

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
    close(center_of_mass.algorithm(robot, q), center, SUMMED)
    close(center_of_mass_velocity.algorithm(robot, q, v), momentum / mass, SUMMED)
    close(centroidal_momentum.algorithm(robot, q, v), [*momentum, *(spin - np.cross(center, momentum))], SUMMED)


@given(robots(), seeds, turns)
def test_matrices_give_the_velocities(robot, seed, turn) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    if robot.nv:
        J, A = np.array(center_of_mass_jacobian.algorithm(robot, q)), np.array(centroidal_matrix.algorithm(robot, q))
        close(J @ v, center_of_mass_velocity.algorithm(robot, q, v), SUMMED)
        close(A @ v, centroidal_momentum.algorithm(robot, q, v), SUMMED)


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
