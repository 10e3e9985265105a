"""Jacobians of frames: they give the velocities, their rates the rest of the accelerations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.dynamics import frame_acceleration, frame_jacobian, frame_jacobian_rate, frame_velocity
from pliant.dynamics.kinematics import REFERENCES
from pliant.errors import PliantError, RobotError
from random_robots import close, rate, robot_of, robots, seeds, state_of, turns

ROUNDING = 1e-12
DIFFERENCES = 1e-7  # see random_robots.rate
many = settings(max_examples=100)
references = st.sampled_from(REFERENCES)


def array(rows: list) -> np.ndarray:
    return np.array(rows, dtype=float)


@many
@given(robots(), seeds, turns, references)
def test_it_gives_the_velocity(robot, seed, turn, reference) -> None:
    q, v, _, _ = state_of(robot, seed, turn).lists
    for frame in robot.frames:
        J = array(frame_jacobian.algorithm(robot, q, frame, reference=reference))
        assert J.shape == (6, robot.nv)
        close(J @ v, frame_velocity.algorithm(robot, q, v, frame, reference=reference), ROUNDING)


@many
@given(robots(), seeds, turns, references)
def test_rate_is_the_derivative(robot, seed, turn, reference) -> None:
    state, frame = state_of(robot, seed, turn), list(robot.frames)[-1]
    found = frame_jacobian_rate.algorithm(robot, *state.lists[:2], frame, reference=reference)
    close(
        found,
        rate(lambda q, _: frame_jacobian.algorithm(robot, q, frame, reference=reference), robot, state),
        DIFFERENCES,
    )


@many
@given(robots(), seeds, turns)
def test_acceleration_is_its_product_rule(robot, seed, turn) -> None:
    q, v, vd, _ = state_of(robot, seed, turn).lists
    frame = list(robot.frames)[-1]
    J, Jdot = (
        array(frame_jacobian.algorithm(robot, q, frame)),
        array(frame_jacobian_rate.algorithm(robot, q, v, frame)),
    )
    close(J @ vd + Jdot @ v, frame_acceleration.algorithm(robot, q, v, vd, frame), 1e-11)


@many
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
    robot = robot_of(["revolute", "helical", "prismatic"], [-1, 0, 1], np.random.default_rng(3), floating=True)
    q, v = robot.random(4), np.ones(robot.nv)
    far = q.copy()
    far[:3] += 1e6
    for reference in ("local", "local_world_aligned"):
        for function, args in ((frame_jacobian, ()), (frame_jacobian_rate, (v,)), (frame_velocity, (v,))):
            near = function(robot, q, *args, "frame2", reference=reference)
            np.testing.assert_array_equal(function(robot, far, *args, "frame2", reference=reference), near)


def test_bad_names() -> None:
    robot = robot_of(["revolute"], [-1], np.random.default_rng(0))
    with pytest.raises(PliantError, match="reference is 'global'; it takes 'world', 'local' or 'local_world_aligned'"):
        frame_jacobian(robot, [0.1], "frame0", reference="global")
    with pytest.raises(RobotError, match="no frame named 'frame7' in robot 'random'; did you mean 'frame0'"):
        frame_jacobian_rate(robot, [0.1], [0.1], "frame7")
