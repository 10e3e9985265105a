"""What contact forces amount to, and torques that hold a robot: balances, closed forms, least norms."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases, pliant_arrays
from pliant.errors import ContactError, RobotError
from random_robots import close

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")


def standing() -> tuple[pliant.Robot, np.ndarray]:
    robot = pliant.load("quadruped")
    q = robot.neutral()
    q[2] = 0.4
    for leg in ("lf", "lh", "rf", "rh"):
        q[robot.q_slice(f"{leg}_hip_pitch")] = 0.6
        q[robot.q_slice(f"{leg}_knee")] = -1.2
    return robot, q


@given(case=cases(most=3, floating=True))
@settings(max_examples=40)
def test_the_wrench_of_all_contacts_is_what_the_base_feels(case: Case) -> None:
    """J^T f at a floating base is the wrench about its origin, in its axes."""
    f = np.random.default_rng(0).standard_normal(len(case.J))
    q = case.state.q.tolist()
    found = pliant_arrays(
        pliant.constrained.contact_wrench.algorithm(case.robot, q, f.tolist(), **case.options, about="base")
    )
    R = np.array(pliant.frame_pose.algorithm(case.robot, q, "base"), float)[:3, :3]
    felt = (case.J.T @ f)[:6]
    close(np.concatenate([R @ felt[:3], R @ felt[3:]]), found, 1e-10)


def test_the_wrench_of_one_foot() -> None:
    robot = box().with_frame("side", "box", (0, 0.5, 0), (0.3, 0.2, 0.1))
    q = robot.random(1)
    f = np.random.default_rng(2).standard_normal((4, 6))
    for contacts, axes in ((("c0", "c1"), "world"), ((("side", "xyz rx ry rz"),), "local")):
        wrench = pliant.constrained.contact_wrench(robot, q, f, contacts=contacts, axes=axes, body="box")
        J = pliant.frame_jacobian(robot, q, "box")
        expected = np.einsum(
            "rd,kr->kd", pliant.constrained.contact_jacobian(robot, q, contacts=contacts, axes=axes), f
        )
        np.testing.assert_allclose(wrench @ J, expected, atol=1e-12)


def test_the_center_of_pressure_is_where_the_moment_lies_flat() -> None:
    robot = box()
    q = robot.neutral()
    q[:3] = [3.0, -2.0, 0.1]
    f = np.array([0, 0, 1.0, 0.2, 0, 2.0, 0, -0.1, 3.0, 0, 0, 4.0])
    p = pliant.constrained.center_of_pressure(robot, q, f, contacts=CORNERS)
    corners = np.array([pliant.frame_pose(robot, q, c)[:3, 3] for c in CORNERS])
    np.testing.assert_allclose(p, np.array([0.1, 0.2, 0.3, 0.4]) @ corners, atol=1e-12)
    moment = sum(np.cross(c - p, push) for c, push in zip(corners, f.reshape(4, 3), strict=True))
    np.testing.assert_allclose(moment[:2], 0, atol=1e-12)
    # one frame with moments says the same
    wrench = pliant.constrained.contact_wrench(robot, q, f, contacts=CORNERS, about="c0")
    whole = (("c0", "xyz rx ry rz"),)
    np.testing.assert_allclose(pliant.constrained.center_of_pressure(robot, q, wrench, contacts=whole), p, atol=1e-12)


def test_margins_of_friction() -> None:
    robot = box()
    f = np.array([3.0, 4.0, 20.0, 0, 0, 1.0, 1.0, 0, 1.0, 0, 0, -1.0])
    margins = pliant.constrained.friction_margins(robot, robot.neutral(), f, contacts=CORNERS, friction=0.5)
    np.testing.assert_allclose(margins, [5, 0.5, -0.5, -0.5], atol=1e-12)
    each = pliant.constrained.friction_margins(
        robot, robot.neutral(), f, contacts=CORNERS, friction=(1.0, 0.0, 2.0, 0.5)
    )
    np.testing.assert_allclose(each, [15, 0, 1, -0.5], atol=1e-12)
    # axes of the frames: the same forces, turned with the robot
    q = robot.random(3)
    R = pliant.frame_pose(robot, q, "box")[:3, :3]
    turned = (f.reshape(4, 3) @ R).ravel()
    np.testing.assert_allclose(
        pliant.constrained.friction_margins(robot, q, turned, contacts=CORNERS, friction=0.5, axes="local"),
        margins,
        atol=1e-12,
    )


def test_kernels_and_formulas_of_forces() -> None:
    robot = box()
    kernel = pliant.compile(pliant.constrained.friction_margins, robot, contacts=("c0", "c1"), friction=0.5)
    assert kernel.inputs["f"] == (6,)
    np.testing.assert_allclose(kernel(robot.neutral(), np.array([3.0, 4, 20, 0, 0, 1])), [5, 0.5], atol=1e-12)
    f = sympy.symbols("f_x f_y f_z", real=True)
    (margin,) = pliant.constrained.friction_margins(
        robot, [0, 0, 0, 0, 0, 0, 1], list(f), contacts=("c0",), friction=sympy.Rational(1, 2)
    )
    assert sympy.simplify(margin - (f[2] / 2 - sympy.sqrt(f[0] ** 2 + f[1] ** 2))) == 0


def test_a_quadruped_that_stands() -> None:
    """Torques and forces balance gravity, carry the weight, and no other torques that do are smaller."""
    robot, q = standing()
    found = pliant.constrained.static_torques(robot, q, contacts=FEET)
    assert found.is_possible == 1 and found.rank == 12
    J, g = pliant.constrained.contact_jacobian(robot, q, contacts=FEET), pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(found.tau + J.T @ found.f, g, atol=1e-9)
    np.testing.assert_array_equal(found.tau[:6], 0)
    weight = float(robot.mass) * 9.81
    assert found.f.reshape(4, 3)[:, 2].sum() == pytest.approx(weight)
    # least squares of all torques that balance: S^T u + J^T f = g, only u counts
    null = np.linalg.svd(J[:, :6].T)[2][6:].T  # forces that the base does not feel
    change = -J[:, 6:].T @ null
    np.testing.assert_allclose(change.T @ found.tau[6:], 0, atol=1e-8)
    # it holds: with these torques, nothing accelerates
    zero = np.zeros(robot.nv)
    held = pliant.constrained.constrained_dynamics(robot, q, zero, found.tau, contacts=FEET)
    np.testing.assert_allclose(held.vd, 0, atol=1e-8)
    margins = pliant.constrained.friction_margins(robot, q, held.f, contacts=FEET, friction=0.8)
    assert margins.min() > 0
    p = pliant.constrained.center_of_pressure(robot, q, held.f, contacts=FEET)
    np.testing.assert_allclose(p[:2], pliant.center_of_mass(robot, q)[:2], atol=1e-9)


def test_what_cannot_be_held_is_told() -> None:
    """Two feet on a line cannot bear a trunk that is not above them; four can."""
    robot, q = standing()
    q = np.stack([q, q])
    q[1, 3:7] = [np.sin(0.2), 0, 0, np.cos(0.2)]
    found = pliant.constrained.static_torques(robot, q, contacts=("lf_foot", "lh_foot"))
    np.testing.assert_array_equal(found.is_possible, 0)
    assert found.residual.min() > 1
    np.testing.assert_array_equal(pliant.constrained.static_torques(robot, q, contacts=FEET).is_possible, 1)


def test_inverse_dynamics_with_contacts() -> None:
    """Forward dynamics with the torques that it gives is the motion that was asked for."""
    robot, q = standing()
    rng = np.random.default_rng(5)
    v = pliant.constrained.impact_velocity(robot, q, rng.standard_normal(robot.nv) * 0.3, contacts=FEET)
    wish = rng.standard_normal(robot.nv)
    # of what was wished for, what keeps the feet where they are
    P = pliant.constrained.orthogonal_projector(robot, q, contacts=FEET)
    J, bias = (
        pliant.constrained.contact_jacobian(robot, q, contacts=FEET),
        pliant.constrained.contact_bias(robot, q, v, contacts=FEET),
    )
    vd = P @ wish - np.linalg.pinv(J) @ bias
    found = pliant.constrained.contact_inverse_dynamics(robot, q, v, vd, contacts=FEET)
    assert found.is_possible == 1
    forward = pliant.constrained.constrained_dynamics(robot, q, v, found.tau, contacts=FEET)
    np.testing.assert_allclose(forward.vd, vd, atol=1e-8)
    np.testing.assert_allclose(forward.f, found.f, atol=1e-7)


def test_a_box_without_motors_needs_none_on_its_corners() -> None:
    robot = box()
    with pytest.raises(ContactError, match="robot 'box' has no motors; say which joints are driven"):
        pliant.constrained.static_torques(robot, robot.neutral(), contacts=CORNERS)
    arm = pliant.load("two_link_arm")
    with pytest.raises(RobotError, match="no joint named 'elbo'"):
        pliant.constrained.static_torques(arm, np.zeros(2), contacts=("hand",), actuated=("elbo",))


def test_an_arm_with_one_motor_leans_on_its_hand() -> None:
    """The elbow free, the hand held along x and z: the shoulder need not do anything, the hand bears it all."""
    robot = pliant.load("two_link_arm")
    q = np.array([[0.4, 0.9], [1.0, -0.5]])
    found = pliant.constrained.static_torques(robot, q, contacts=(("hand", "xz"),), actuated=("shoulder",))
    np.testing.assert_array_equal(found.is_possible, 1)
    np.testing.assert_allclose(found.tau, 0, atol=1e-9)
    # held along z only, the motor has to help
    found = pliant.constrained.static_torques(robot, q, contacts=(("hand", "z"),), actuated=("shoulder",))
    np.testing.assert_array_equal(found.is_possible, 1)
    J, g = pliant.constrained.contact_jacobian(robot, q, contacts=(("hand", "z"),)), pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(found.tau + np.einsum("krd,kr->kd", J, found.f), g, atol=1e-9)
    assert (abs(found.tau[:, 0]) > 1e-3).all() and (found.tau[:, 1] == 0).all()


def test_bad_input_is_named() -> None:
    robot = box()
    q, f = robot.neutral(), np.zeros(12)
    with pytest.raises(ContactError, match="has the length 2; it must be 1"):
        pliant.constrained.center_of_pressure(robot, q, f, contacts=CORNERS, normal=(0, 0, 2))
    with pytest.raises(ContactError, match="2 coefficients for 4 contacts"):
        pliant.constrained.friction_margins(robot, q, f, contacts=CORNERS, friction=(0.5, 0.5))
    with pytest.raises(ContactError, match="friction of friction_margins is -1; it takes 0 or more"):
        pliant.constrained.friction_margins(robot, q, f, contacts=CORNERS, friction=-1)
    with pytest.raises(RobotError, match="no frame named 'boxx' in robot 'box'; did you mean 'box'"):
        pliant.constrained.contact_wrench(robot, q, f, contacts=CORNERS, body="boxx")
    quadruped, stand = standing()
    with pytest.raises(ContactError, match=r"none of the contacts .* is on body 'trunk'"):
        pliant.constrained.contact_wrench(quadruped, stand, f, contacts=FEET, body="trunk")


def test_without_contacts_others_do() -> None:
    robot, q = standing()
    rest = np.zeros(robot.nv)
    with pytest.raises(ContactError, match="without any, see gravity_forces"):
        pliant.constrained.static_torques(robot, q, contacts=())
    with pytest.raises(ContactError, match="without any, see inverse_dynamics"):
        pliant.constrained.contact_inverse_dynamics(robot, q, rest, rest, contacts=[])


def test_pressure_needs_the_normal_direction() -> None:
    robot = box()
    q = robot.neutral()
    flat = (("c0", "xy"), ("c1", "xy rz"))
    message = r"contact 'c0' is not held along the normal \(0, 0, 1\), so that nothing presses; hold 'z', too"
    with pytest.raises(ContactError, match=f"center_of_pressure: {message}"):
        pliant.constrained.center_of_pressure(robot, q, np.ones(5), contacts=flat)
    with pytest.raises(ContactError, match=f"friction_margins: {message}"):
        pliant.constrained.friction_margins(robot, q, np.ones(5), contacts=(*flat[:1], "c1"), friction=0.5)
    with pytest.raises(ContactError, match=r"hold 'xyz', too"):
        pliant.constrained.friction_margins(robot, q, np.ones(1), contacts=(("c0", "rx"),), axes="local", friction=0.5)
    # along x they do press, and one that presses is enough
    assert np.isfinite(
        pliant.constrained.center_of_pressure(robot, q, np.ones(5), contacts=flat, normal=(1, 0, 0))
    ).all()
    assert np.isfinite(pliant.constrained.center_of_pressure(robot, q, np.ones(5), contacts=(*flat[:1], "c1"))).all()


def test_where_nothing_presses_the_centre_is_not_a_number() -> None:
    robot = box()
    assert np.isnan(pliant.constrained.center_of_pressure(robot, robot.neutral(), np.zeros(12), contacts=CORNERS)).all()
