"""Kinematics and Jacobians."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.dynamics import (
    centroidal_matrix, centroidal_momentum, frame_acceleration, frame_jacobian, frame_jacobian_rate, frame_pose,
    frame_velocity,
)  # fmt: skip
from pliant.dynamics.kinematics import REFERENCES
from pliant.errors import PliantError
from pliant.robot import RobotBuilder
from random_robots import close, rate, robot_of, robots, seeds, state_of, turns

ROUNDING = 1e-12
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


def test_choices_that_are_none() -> None:
    robot = RobotBuilder("stone").body("stone", mass=1).build(base="free", strict=False)
    q, v = robot.neutral(), np.zeros(6)
    with pytest.raises(PliantError, match=r"reference is 'body'.*'local_world_aligned'"):
        frame_velocity(robot, q, v, "stone", reference="body")
    with pytest.raises(PliantError, match="reference is 'global'; it takes 'world', 'local' or 'local_world_aligned'"):
        frame_jacobian(robot, q, "stone", reference="global")
    with pytest.raises(PliantError, match="kind is 'proper'; it takes 'classical' or 'spatial'"):
        frame_acceleration(robot, q, v, v, "stone", kind="proper")


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
