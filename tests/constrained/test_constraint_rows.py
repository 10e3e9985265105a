"""J and Jdot v of contacts: against Jacobians of frames, and as rates; closures by differences."""

import numpy as np
import pytest
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, DIRECTIONS, Case, box, cases
from pliant.constrained.constraints import row_names
from random_robots import ALL, close, rate, robot_of, state_of


@given(case=cases())
@settings(max_examples=60)
def test_rows_are_those_of_the_frames(case: Case) -> None:
    reference = {"world": "local_world_aligned", "local": "local"}[case.options["axes"]]
    q, v = case.state.q.tolist(), case.state.v.tolist()
    J, bias = [], []
    for name, directions in case.options["contacts"]:
        rows = [DIRECTIONS.index(d) for d in directions.split()]
        J.append(np.array(pliant.frame_jacobian.algorithm(case.robot, q, name, reference=reference), float)[rows])
        Jdot = np.array(
            pliant.dynamics.frame_jacobian_rate.algorithm(case.robot, q, v, name, reference=reference), float
        )
        bias.append(Jdot[rows] @ case.state.v)
    close(case.J, np.concatenate(J), 1e-11)
    # velocities up to 1e2 in their squares
    close(case.bias, np.concatenate(bias), 1e-10)


def chain_with_closures():
    robot = robot_of(ALL, [-1, 0, 1, 1, 2, 4, -1, 3], np.random.default_rng(3), floating=True)
    robot = robot.with_closure("point", "frame2", "frame6", name="pin")
    robot = robot.with_closure("weld", "frame5", "frame3", name="weld")
    robot = robot.with_closure("distance", "frame5", "world", length=1, name="rod")
    return robot.with_closure("point", "world", "frame1", name="peg")


@pytest.mark.parametrize("closure", ["pin", "weld", "rod", "peg"])
def test_closures_hold_what_they_say(closure: str) -> None:
    """J v is the rate of the places apart, and Jdot v that of J v without vd."""
    robot = chain_with_closures()
    state = state_of(robot, 5)
    a, b = robot.closures[closure].a, robot.closures[closure].b

    def apart(q, _):
        poses = [np.array(pliant.frame_pose.algorithm(robot, q, n), float) for n in (a, b)]
        p = poses[0][:3, 3] - poses[1][:3, 3]
        return [np.linalg.norm(p)] if closure == "rod" else p

    J = np.array(pliant.constrained.contact_jacobian.algorithm(robot, state.q.tolist(), contacts=closure), float)
    size = {"pin": 3, "peg": 3, "weld": 6, "rod": 1}[closure]
    assert J.shape == (size, robot.nv) and len(row_names(robot, closure)) == size
    close((J @ state.v)[:3], rate(apart, robot, state), 1e-8)
    if closure == "weld":
        turning = [pliant.frame_velocity(robot, state.q, state.v, n)[3:] for n in (a, b)]
        close((J @ state.v)[3:], turning[0] - turning[1], 1e-11)

    def velocity(q, v):
        return np.array(pliant.constrained.contact_jacobian.algorithm(robot, q, contacts=closure), float) @ v

    bias = pliant.constrained.contact_bias(robot, state.q, state.v, contacts=closure)
    # differences of order h^4: 1e-9 of accelerations around 10
    close(bias + J @ state.vd, rate(velocity, robot, state), 1e-8)


def test_rows_are_in_the_order_given() -> None:
    robot = box()
    names = row_names(robot, ("c1", ("c0", "rz y")))
    assert names == ("c1.x", "c1.y", "c1.z", "c0.rz", "c0.y")
    J = pliant.constrained.contact_jacobian(robot, robot.neutral(), contacts=("c1", ("c0", "rz y")))
    np.testing.assert_allclose(J[3], [0, 0, 0, 0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(J[4], [0, 1, 0, 0.1, 0, 0.2], atol=1e-15)


def test_a_batch_is_robots_one_by_one() -> None:
    robot = box()
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, batch=5), rng.standard_normal((5, 6))
    J = pliant.constrained.contact_jacobian(robot, q, contacts=CORNERS)
    bias = pliant.constrained.contact_bias(robot, q, v, contacts=CORNERS)
    assert J.shape == (5, 12, 6) and bias.shape == (5, 12)
    for k in range(5):
        np.testing.assert_array_equal(J[k], pliant.constrained.contact_jacobian(robot, q[k], contacts=CORNERS))
        np.testing.assert_array_equal(bias[k], pliant.constrained.contact_bias(robot, q[k], v[k], contacts=CORNERS))
