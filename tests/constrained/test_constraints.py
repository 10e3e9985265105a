"""Contacts and closures as constraints: names, J and Jdot v."""

import numpy as np
import pytest
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, DIRECTIONS, Case, box, cases
from pliant.constrained import (
    constrained_dynamics, contact_bias, contact_inertia, contact_jacobian, contact_rank, contact_wrench,
    friction_margins, impact_velocity, orthogonal_projector, static_torques,
)  # fmt: skip
from pliant.constrained.constraints import constraints_of, row_count, row_names
from pliant.errors import ContactError, KernelError, PliantError
from random_robots import ALL, close, rate, robot_of, state_of

BOX = box()
HOME, REST = BOX.neutral(), np.zeros(6)
ROPED = BOX.with_closure("distance", "c0", "world", length=1, name="rope")


def test_names_pairs_and_closures() -> None:
    found = constraints_of(ROPED, ("box", ("c1", "xz ry"), "rope"))
    assert [c.directions for c in found] == [(0, 1, 2), (0, 2, 4), (0,)]
    assert [c.is_closure for c in found] == [False, False, True]
    assert row_count(ROPED, "c3") == 3
    assert row_count(ROPED, (("c3", "xyz"), ("c3", "rx ry rz"))) == 6


@pytest.mark.parametrize("contacts, message", [
    ((), "no contacts are given for robot 'box'"),
    (("c9",), "no contact frame or closure named 'c9' in robot 'box'; did you mean 'c"),
    ((("c1", "xyw"),), "contact 'c1' has no direction 'w', given in 'xyw'; valid: 'x', 'y', 'z'"),
    ((("c1", "x rq"),), "no direction 'r', given in 'x rq'"),
    ((("c1", ""),), "contact 'c1' has no directions"),
    ((("c1", "xyx"),), "has direction 'x' twice in 'xyx'"),
    (("world",), "contact 'world' of robot 'box' does not move"),
    (("c1", "c1"), "contact 'c1' is held along 'x' twice"),
    ((3,), "contact 3 is neither the name of a frame nor a pair"),
    ((("c1", "x", "y"),), "is neither the name of a frame nor a pair"),
    (7, "contacts is 7; it takes a tuple of frames"),
    ((("rope", "x"),), "contact 'rope' is a closure, whose kind says what it holds"),
    (("rope", "rope"), "contact 'rope' is held twice"),
])  # fmt: skip
def test_what_cannot_be_held(contacts, message: str) -> None:
    with pytest.raises(ContactError) as caught:
        contact_jacobian(ROPED, HOME, contacts=contacts)
    assert message in str(caught.value)


@pytest.mark.parametrize("call, kind, message", [
    (lambda: contact_inertia(pliant.load("two_link_arm"), [0, 0], contacts=("base",)), ContactError,
     "contact 'base' of robot 'two_link_arm' does not move"),
    (lambda: constraints_of(BOX.with_closure("distance", "c0", "world", length=1, name="c1"), ("c1",)), ContactError,
     "'c1' is the name of a frame and of a closure"),
    (lambda: constrained_dynamics(BOX, HOME, REST, np.zeros(5), contacts=("c1",)), KernelError, "tau"),
    (lambda: constrained_dynamics(BOX, None, REST, REST, contacts=("c1",)), PliantError,
     "q is None; give an array of shape \\(7,\\)"),
    (lambda: constrained_dynamics(BOX, HOME, REST, REST), PliantError, "missing a required argument: 'contacts'"),
    (lambda: contact_rank(BOX, HOME, contacts={"c1"}), PliantError, "are options"),
    (lambda: contact_jacobian(BOX, HOME, contacts=("c1",), axes="body"), ContactError,
     "axes is 'body'; it takes 'world' or 'local'"),
    (lambda: contact_wrench(BOX, HOME, np.zeros(4), contacts=("c1",)), KernelError, "f"),
    (lambda: impact_velocity(BOX, HOME, REST, contacts=("c1",), restitution=2), ContactError,
     "restitution of an impact is 2; it takes 0 to 1"),
    (lambda: contact_jacobian(BOX, HOME, contacts=[("c1", ["x", 3])]), ContactError,
     r"contact \('c1', \('x', 3\)\) is neither"),
])  # fmt: skip
def test_names_shapes_and_options_that_do_not_fit(call, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_lists_are_as_good_as_tuples() -> None:
    q = BOX.random(3)
    expected = contact_jacobian(BOX, q, contacts=("c0", ("c1", "xz ry")))
    for contacts in (["c0", ["c1", "xz ry"]], ["c0", ("c1", ["x", "z", "ry"])], ("c0", ("c1", ("xz", "ry")))):
        np.testing.assert_array_equal(contact_jacobian(BOX, q, contacts=contacts), expected)
        kernel = pliant.compile(contact_jacobian, BOX, contacts=contacts)
        np.testing.assert_array_equal(kernel(q), expected)
    held = constrained_dynamics(BOX, q, REST, REST, contacts=["c0", "c1"])
    options = {"contacts": ["c0", "c1"], "normal": [0, 0, 1]}
    margins = friction_margins(BOX, q, held.f, friction=[0.5, 0.7], **options)
    again = friction_margins(BOX, q, held.f, friction=(0.5, 0.7), contacts=("c0", "c1"))
    np.testing.assert_array_equal(margins, again)


@pytest.mark.parametrize("tolerance, takes", [
    (-1, "0 or more"), ("a", "a number"), (float("nan"), "a finite number"), (1, "a share, below 1"),
])  # fmt: skip
@pytest.mark.parametrize("function", [contact_rank, orthogonal_projector, static_torques])
def test_tolerances_that_are_none(function, tolerance, takes: str) -> None:
    with pytest.raises(ContactError) as error:
        function(BOX, HOME, contacts="c0", tolerance=tolerance)
    assert (error.value.field, error.value.cure) == ("tolerance", f"it takes {takes}")


# ---- J and Jdot v of contacts: against Jacobians of frames, and as rates; closures by differences


@given(case=cases())
@settings(max_examples=60)
def test_rows_are_those_of_the_frames(case: Case) -> None:
    reference = {"world": "local_world_aligned", "local": "local"}[case.options["axes"]]
    robot, q, v = case.robot, case.state.q.tolist(), case.state.v.tolist()
    J, bias = [], []
    for name, directions in case.options["contacts"]:
        rows = [DIRECTIONS.index(d) for d in directions.split()]
        J.append(np.array(pliant.frame_jacobian.algorithm(robot, q, name, reference=reference), float)[rows])
        Jdot = pliant.dynamics.frame_jacobian_rate.algorithm(robot, q, v, name, reference=reference)
        bias.append(np.array(Jdot, float)[rows] @ case.state.v)
    close(case.J, np.concatenate(J), 1e-11)
    # velocities up to 1e2 in their squares
    close(case.bias, np.concatenate(bias), 1e-10)


def chain_with_closures():
    robot = robot_of(ALL, [-1, 0, 1, 1, 2, 4, -1, 3], np.random.default_rng(3), floating=True)
    robot = robot.with_closure("point", "frame2", "frame6", name="pin")
    robot = robot.with_closure("weld", "frame5", "frame3", name="weld")
    robot = robot.with_closure("distance", "frame5", "world", length=1, name="rod")
    robot = robot.with_closure("hinge", "frame6", "frame4", axis=(1, 2, -2), name="hinge")
    return robot.with_closure("point", "world", "frame1", name="peg")


@pytest.mark.parametrize("closure", ["pin", "hinge", "weld", "rod", "peg"])
def test_closures_hold_what_they_say(closure: str) -> None:
    """J v is the rate of the places apart, and Jdot v that of J v without vd."""
    robot = chain_with_closures()
    state = state_of(robot, 5)
    a, b = robot.closures[closure].a, robot.closures[closure].b

    def apart(q, _):
        poses = [np.array(pliant.frame_pose.algorithm(robot, q, n), float) for n in (a, b)]
        p = poses[0][:3, 3] - poses[1][:3, 3]
        return [np.linalg.norm(p)] if closure == "rod" else p

    J = np.array(contact_jacobian.algorithm(robot, state.q.tolist(), contacts=closure), float)
    size = {"pin": 3, "peg": 3, "hinge": 5, "weld": 6, "rod": 1}[closure]
    assert J.shape == (size, robot.nv) and len(row_names(robot, closure)) == size
    close((J @ state.v)[:3], rate(apart, robot, state), 1e-8)
    if closure == "weld":
        turning = [pliant.frame_velocity(robot, state.q, state.v, n)[3:] for n in (a, b)]
        close((J @ state.v)[3:], turning[0] - turning[1], 1e-11)
    if closure == "hinge":
        # the turning across the axis, along directions that are fixed in b
        turning = [pliant.frame_velocity(robot, state.q, state.v, n, reference="local")[3:] for n in (a, b)]
        R_a, R_b = (pliant.frame_pose(robot, state.q, n)[:3, :3] for n in (a, b))
        seen, axis = R_b.T @ R_a @ turning[0] - turning[1], np.array([1, 2, -2]) / 3
        found = (J @ state.v)[3:]
        close(found @ found, seen @ seen - (axis @ seen) ** 2, 1e-10)
        assert row_names(robot, closure)[3:] == ("hinge.across1", "hinge.across2")

    def velocity(q, v):
        return np.array(contact_jacobian.algorithm(robot, q, contacts=closure), float) @ v

    bias = contact_bias(robot, state.q, state.v, contacts=closure)
    # differences of order h^4: 1e-9 of accelerations around 10
    close(bias + J @ state.vd, rate(velocity, robot, state), 1e-8)


def test_rows_are_in_the_order_given() -> None:
    names = row_names(BOX, ("c1", ("c0", "rz y")))
    assert names == ("c1.x", "c1.y", "c1.z", "c0.rz", "c0.y")
    J = contact_jacobian(BOX, HOME, contacts=("c1", ("c0", "rz y")))
    np.testing.assert_allclose(J[3], [0, 0, 0, 0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(J[4], [0, 1, 0, 0.1, 0, 0.2], atol=1e-15)


def test_a_batch_is_robots_one_by_one() -> None:
    rng = np.random.default_rng(0)
    q, v = BOX.random(rng, batch=5), rng.standard_normal((5, 6))
    J = contact_jacobian(BOX, q, contacts=CORNERS)
    bias = contact_bias(BOX, q, v, contacts=CORNERS)
    assert J.shape == (5, 12, 6) and bias.shape == (5, 12)
    for k in range(5):
        np.testing.assert_array_equal(J[k], contact_jacobian(BOX, q[k], contacts=CORNERS))
        np.testing.assert_array_equal(bias[k], contact_bias(BOX, q[k], v[k], contacts=CORNERS))
