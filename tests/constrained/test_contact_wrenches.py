"""What contact forces amount to, and torques that hold a robot: balances, closed forms, least norms."""

import functools

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases, pliant_arrays
from pliant.constrained import (
    center_of_pressure, constrained_dynamics, contact_bias, contact_inverse_dynamics, contact_jacobian, contact_wrench,
    friction_margins, impact_velocity, orthogonal_projector, static_torques,
)  # fmt: skip
from pliant.errors import ContactError, RobotError
from random_robots import close

BOX = box()
HOME = BOX.neutral()

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")


@functools.cache  # its kernels, too, are made once
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
    found = pliant_arrays(contact_wrench.algorithm(case.robot, q, f.tolist(), **case.options, about="base"))
    R = np.array(pliant.frame_pose.algorithm(case.robot, q, "base"), float)[:3, :3]
    felt = (case.J.T @ f)[:6]
    close(np.concatenate([R @ felt[:3], R @ felt[3:]]), found, 1e-10)


def test_the_wrench_of_one_foot() -> None:
    robot = box().with_frame("side", "box", (0, 0.5, 0), (0.3, 0.2, 0.1))
    q = robot.random(1)
    f = np.random.default_rng(2).standard_normal((4, 6))
    for contacts, axes in ((("c0", "c1"), "world"), ((("side", "xyz rx ry rz"),), "local")):
        wrench = contact_wrench(robot, q, f, contacts=contacts, axes=axes, body="box")
        J = pliant.frame_jacobian(robot, q, "box")
        expected = np.einsum("rd,kr->kd", contact_jacobian(robot, q, contacts=contacts, axes=axes), f)
        np.testing.assert_allclose(wrench @ J, expected, atol=1e-12)


def test_the_center_of_pressure_is_where_the_moment_lies_flat() -> None:
    q = BOX.neutral()
    q[:3] = [3.0, -2.0, 0.1]
    f = np.array([0, 0, 1.0, 0.2, 0, 2.0, 0, -0.1, 3.0, 0, 0, 4.0])
    p = center_of_pressure(BOX, q, f, contacts=CORNERS)
    corners = np.array([pliant.frame_pose(BOX, q, c)[:3, 3] for c in CORNERS])
    np.testing.assert_allclose(p, np.array([0.1, 0.2, 0.3, 0.4]) @ corners, atol=1e-12)
    moment = sum(np.cross(c - p, push) for c, push in zip(corners, f.reshape(4, 3), strict=True))
    np.testing.assert_allclose(moment[:2], 0, atol=1e-12)
    # one frame with moments says the same
    wrench = contact_wrench(BOX, q, f, contacts=CORNERS, about="c0")
    whole = (("c0", "xyz rx ry rz"),)
    np.testing.assert_allclose(center_of_pressure(BOX, q, wrench, contacts=whole), p, atol=1e-12)


def test_margins_of_friction() -> None:
    f = np.array([3.0, 4.0, 20.0, 0, 0, 1.0, 1.0, 0, 1.0, 0, 0, -1.0])
    margins = friction_margins(BOX, HOME, f, contacts=CORNERS, friction=0.5)
    np.testing.assert_allclose(margins, [5, 0.5, -0.5, -0.5], atol=1e-12)
    each = friction_margins(BOX, HOME, f, contacts=CORNERS, friction=(1.0, 0.0, 2.0, 0.5))
    np.testing.assert_allclose(each, [15, 0, 1, -0.5], atol=1e-12)
    # axes of the frames: the same forces, turned with the robot
    q = BOX.random(3)
    R = pliant.frame_pose(BOX, q, "box")[:3, :3]
    turned = (f.reshape(4, 3) @ R).ravel()
    again = friction_margins(BOX, q, turned, contacts=CORNERS, friction=0.5, axes="local")
    np.testing.assert_allclose(again, margins, atol=1e-12)


def test_kernels_and_formulas_of_forces() -> None:
    kernel = pliant.compile(friction_margins, BOX, contacts=("c0", "c1"), friction=0.5)
    assert kernel.inputs["f"] == (6,)
    np.testing.assert_allclose(kernel(HOME, np.array([3.0, 4, 20, 0, 0, 1])), [5, 0.5], atol=1e-12)
    f = sympy.symbols("f_x f_y f_z", real=True)
    (margin,) = friction_margins(BOX, [0, 0, 0, 0, 0, 0, 1], list(f), contacts=("c0",), friction=sympy.Rational(1, 2))
    assert sympy.simplify(margin - (f[2] / 2 - sympy.sqrt(f[0] ** 2 + f[1] ** 2))) == 0


def test_a_quadruped_that_stands() -> None:
    """Torques and forces balance gravity, carry the weight, and no other torques that do are smaller."""
    robot, q = standing()
    found = static_torques(robot, q, contacts=FEET)
    assert found.is_possible == 1 and found.rank == 12
    J, g = contact_jacobian(robot, q, contacts=FEET), pliant.gravity_forces(robot, q)
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
    held = constrained_dynamics(robot, q, zero, found.tau, contacts=FEET)
    np.testing.assert_allclose(held.vd, 0, atol=1e-8)
    margins = friction_margins(robot, q, held.f, contacts=FEET, friction=0.8)
    assert margins.min() > 0
    p = center_of_pressure(robot, q, held.f, contacts=FEET)
    np.testing.assert_allclose(p[:2], pliant.center_of_mass(robot, q)[:2], atol=1e-9)


def test_what_cannot_be_held_is_told() -> None:
    """Two feet on a line cannot bear a trunk that is not above them; four can."""
    robot, q = standing()
    q = np.stack([q, q])
    q[1, 3:7] = [np.sin(0.2), 0, 0, np.cos(0.2)]
    found = static_torques(robot, q, contacts=("lf_foot", "lh_foot"))
    np.testing.assert_array_equal(found.is_possible, 0)
    assert found.residual.min() > 1
    np.testing.assert_array_equal(static_torques(robot, q, contacts=FEET).is_possible, 1)


def test_inverse_dynamics_with_contacts() -> None:
    """Forward dynamics with the torques that it gives is the motion that was asked for."""
    robot, q = standing()
    rng = np.random.default_rng(5)
    v = impact_velocity(robot, q, rng.standard_normal(robot.nv) * 0.3, contacts=FEET)
    wish = rng.standard_normal(robot.nv)
    # of what was wished for, what keeps the feet where they are
    P = orthogonal_projector(robot, q, contacts=FEET)
    J, bias = contact_jacobian(robot, q, contacts=FEET), contact_bias(robot, q, v, contacts=FEET)
    vd = P @ wish - np.linalg.pinv(J) @ bias
    found = contact_inverse_dynamics(robot, q, v, vd, contacts=FEET)
    assert found.is_possible == 1
    forward = constrained_dynamics(robot, q, v, found.tau, contacts=FEET)
    np.testing.assert_allclose(forward.vd, vd, atol=1e-8)
    np.testing.assert_allclose(forward.f, found.f, atol=1e-7)


def test_an_arm_with_one_motor_leans_on_its_hand() -> None:
    """The elbow free, the hand held along x and z: the shoulder need not do anything, the hand bears it all."""
    robot = pliant.load("two_link_arm")
    q = np.array([[0.4, 0.9], [1.0, -0.5]])
    found = static_torques(robot, q, contacts=(("hand", "xz"),), actuated=("shoulder",))
    np.testing.assert_array_equal(found.is_possible, 1)
    np.testing.assert_allclose(found.tau, 0, atol=1e-9)
    # held along z only, the motor has to help
    found = static_torques(robot, q, contacts=(("hand", "z"),), actuated=("shoulder",))
    np.testing.assert_array_equal(found.is_possible, 1)
    J, g = contact_jacobian(robot, q, contacts=(("hand", "z"),)), pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(found.tau + np.einsum("krd,kr->kd", J, found.f), g, atol=1e-9)
    assert (abs(found.tau[:, 0]) > 1e-3).all() and (found.tau[:, 1] == 0).all()


FLAT = (("c0", "xy"), ("c1", "xy rz"))
ANY = np.zeros(12)
UNPRESSED = r"contact 'c0' is not held along the normal \(0, 0, 1\), so that nothing presses; hold 'z', too"


@pytest.mark.parametrize("call, kind, message", [
    (lambda: center_of_pressure(BOX, HOME, ANY, contacts=CORNERS, normal=(0, 0, 2)), ContactError,
     "has the length 2; it must be 1"),
    (lambda: friction_margins(BOX, HOME, ANY, contacts=CORNERS, friction=(0.5, 0.5)), ContactError,
     "2 coefficients for 4 contacts"),
    (lambda: friction_margins(BOX, HOME, ANY, contacts=CORNERS, friction=-1), ContactError,
     "friction of friction_margins is -1; it takes 0 or more"),
    (lambda: contact_wrench(BOX, HOME, ANY, contacts=CORNERS, body="boxx"), RobotError,
     "no frame named 'boxx' in robot 'box'; did you mean 'box'"),
    (lambda: contact_wrench(*standing(), ANY, contacts=FEET, body="trunk"), ContactError,
     r"none of the contacts .* is on body 'trunk'"),
    (lambda: static_torques(BOX, HOME, contacts=CORNERS), ContactError,
     "robot 'box' has no motors; say which joints are driven"),
    (lambda: static_torques(pliant.load("two_link_arm"), np.zeros(2), contacts=("hand",), actuated=("elbo",)),
     RobotError, "no joint named 'elbo'"),
    (lambda: static_torques(*standing(), contacts=()), ContactError, "without any, see gravity_forces"),
    (lambda: contact_inverse_dynamics(*standing(), np.zeros(18), np.zeros(18), contacts=[]), ContactError,
     "without any, see inverse_dynamics"),
    (lambda: center_of_pressure(BOX, HOME, np.ones(5), contacts=FLAT), ContactError,
     f"center_of_pressure: {UNPRESSED}"),
    (lambda: friction_margins(BOX, HOME, np.ones(5), contacts=(*FLAT[:1], "c1"), friction=0.5), ContactError,
     f"friction_margins: {UNPRESSED}"),
    (lambda: friction_margins(BOX, HOME, np.ones(1), contacts=(("c0", "rx"),), axes="local", friction=0.5),
     ContactError, "hold 'xyz', too"),
])  # fmt: skip
def test_bad_input_is_named(call, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("options", [{"contacts": FLAT, "normal": (1, 0, 0)}, {"contacts": (*FLAT[:1], "c1")}])
def test_along_x_they_do_press_and_one_that_presses_is_enough(options: dict) -> None:
    assert np.isfinite(center_of_pressure(BOX, HOME, np.ones(5), **options)).all()


def test_where_nothing_presses_the_centre_is_not_a_number() -> None:
    assert np.isnan(center_of_pressure(BOX, HOME, np.zeros(12), contacts=CORNERS)).all()
