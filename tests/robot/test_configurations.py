"""Joints that float keep their velocity in space: where they go, and what their numbers become."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant
from moving_robots import OFF_CENTRE, PLANAR, SPHERICAL_PENDULUM, TURNING
from pliant.robot import Robot
from pliant.robot.configurations import carried_velocity, held_acceleration, straight_motion
from random_robots import ALL, robot_of, state_of

seeds = st.integers(0, 2**32 - 1)
FLOATING = [OFF_CENTRE, PLANAR]


def names(robot: Robot) -> str:
    return robot.name


def linear_velocity(robot: Robot, q, v) -> np.ndarray:
    """Of the body's origin, in the world's axes."""
    return pliant.frame_velocity(robot, np.array(q), np.array(v), "body", reference="local_world_aligned")[:3]


@pytest.mark.parametrize("robot", FLOATING, ids=names)
@pytest.mark.parametrize("dt", [1e-3, 0.3])
def test_a_floating_body_moves_along_a_straight_line(robot: Robot, dt: float) -> None:
    """p + V dt exactly, however fast it spins; the turn is that of `Robot.integrate`."""
    for seed in range(5):
        state = state_of(robot, seed)
        q, v = state.q.tolist(), (5 * state.v).tolist()
        q1 = straight_motion(robot, q, v, dt)
        before, after = (pliant.frame_pose(robot, np.array(x), "body") for x in (q, q1))
        np.testing.assert_allclose(after[:3, 3], before[:3, 3] + linear_velocity(robot, q, v) * dt, atol=1e-12)
        turned = pliant.frame_pose(robot, robot.integrate(state.q, 5 * state.v * dt), "body")
        np.testing.assert_allclose(after[:3, :3], turned[:3, :3], atol=1e-12)


@pytest.mark.parametrize("robot", FLOATING, ids=names)
def test_a_carried_velocity_is_the_same_in_space(robot: Robot) -> None:
    for seed in range(5):
        state = state_of(robot, seed)
        q, v, dt = state.q.tolist(), (4 * state.v).tolist(), 0.2
        q1, v1 = straight_motion(robot, q, v, dt), carried_velocity(robot, v, dt)
        np.testing.assert_allclose(linear_velocity(robot, q1, v1), linear_velocity(robot, q, v), atol=1e-12)
        turns = slice(3, None) if robot is OFF_CENTRE else slice(2, None)
        np.testing.assert_array_equal(v1[turns], v[turns])


@pytest.mark.parametrize("robot", FLOATING, ids=names)
def test_a_held_acceleration_is_the_rate_of_a_carried_velocity(robot: Robot) -> None:
    """Central differences; those of order h^4 are 1e-9 here."""
    h = 1e-3
    for seed in range(5):
        v = state_of(robot, seed).v.tolist()

        def at(t: float, v=v) -> np.ndarray:
            return np.array(carried_velocity(robot, v, t))

        rate = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        np.testing.assert_allclose(held_acceleration(robot, v), rate, atol=1e-9)


@pytest.mark.parametrize("robot", FLOATING, ids=names)
def test_a_held_acceleration_leaves_the_origin_without_one(robot: Robot) -> None:
    """The classical acceleration of the origin in space, by Pliant's own kinematics, is zero."""
    state = state_of(robot, 3)
    vd = np.array(held_acceleration(robot, state.v.tolist()))
    a = pliant.dynamics.frame_acceleration(robot, state.q, state.v, vd, "body", reference="local_world_aligned")
    # rounding of products of numbers of some 3
    np.testing.assert_allclose(a[:3], 0, atol=1e-12)


@pytest.mark.parametrize("robot", [SPHERICAL_PENDULUM, TURNING], ids=names)
def test_other_joints_are_left_alone(robot: Robot) -> None:
    state = state_of(robot, 4)
    q, v = state.q.tolist(), state.v.tolist()
    np.testing.assert_allclose(straight_motion(robot, q, v, 0.1), robot.integrate(state.q, state.v * 0.1), atol=1e-14)
    assert list(carried_velocity(robot, v, 0.1)) == v
    assert held_acceleration(robot, v) == [0] * robot.nv


@given(seeds)
def test_any_robot(seed: int) -> None:
    """All kinds of joints, mimicking ones too: sizes are right, small steps agree with `integrate` to dt^2."""
    rng = np.random.default_rng(seed)
    robot = robot_of(ALL, [-1, 0, 1, 1, 2, 4, -1, 3], rng, mimic=True, floating=bool(rng.random() < 0.5))
    state = state_of(robot, seed)
    q, v, dt = state.q.tolist(), state.v.tolist(), 1e-5
    q1 = straight_motion(robot, q, v, dt)
    assert len(q1) == robot.nq
    assert len(carried_velocity(robot, v, dt)) == len(held_acceleration(robot, v)) == robot.nv
    apart = robot.difference(np.array(q1), robot.integrate(state.q, state.v * dt))
    # w x v dt^2 / 2, with numbers of up to 4
    assert np.abs(apart).max() < 20 * dt**2
    # nothing at all happens in no time
    np.testing.assert_allclose(straight_motion(robot, q, v, 0), q, atol=1e-15)
    np.testing.assert_allclose(carried_velocity(robot, v, 0), v, atol=1e-15)
