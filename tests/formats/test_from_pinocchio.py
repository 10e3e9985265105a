"""Robots from Pinocchio models: the same numbers as from the URDF, and every joint model that has a kind."""

import numpy as np
import pinocchio as pin
import pytest

from pliant.errors import RobotError
from pliant.formats import from_pinocchio
from pliant.robot import Robot
from pliant.spatial import Transform
from real_robots import pinocchio_robot, real_robot

ROBOTS = [
    "panda_description/panda.urdf", "anymal_b_simple_description/anymal.urdf", "ur_description/ur5_robot.urdf",
    "kinova_description/kinova.urdf", "pr2_description/pr2.urdf",
]  # fmt: skip


def matrix(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous(), dtype=float)


def ten_numbers(robot: Robot, body: str) -> list[float]:
    inertia = robot.bodies[body].inertia
    return [inertia.mass, *inertia.h, *inertia.J]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_same_robot_as_from_the_urdf(name: str) -> None:
    theirs = from_pinocchio(pinocchio_robot(name, "free"))
    ours = real_robot(name, "free").lumped()
    assert list(theirs.joints) == list(ours.joints)
    assert list(theirs.bodies) == list(ours.bodies)
    assert list(theirs.motors) == list(ours.motors)
    assert (theirs.nq, theirs.nv) == (ours.nq, ours.nv)
    assert set(theirs.frames) >= set(ours.bodies)
    for a, b in zip(theirs.joints.values(), ours.joints.values(), strict=True):
        assert (a.kind, a.parent, a.child) == (b.kind, b.parent, b.child)
        assert (a.damping, a.friction, a.armature) == (b.damping, b.friction, b.armature)
        assert a.limits == b.limits
        # by way of roll, pitch, yaw: a few roundings, of lengths of about 1 m
        np.testing.assert_allclose(matrix(a.placement), matrix(b.placement), atol=1e-14)
        np.testing.assert_allclose(ten_numbers(theirs, a.child), ten_numbers(ours, b.child), rtol=1e-12, atol=1e-13)
    for frame in ours.frames.values():
        same = theirs.frame(frame.name)
        assert same.body == frame.body
        np.testing.assert_allclose(matrix(same.placement), matrix(frame.placement), atol=1e-14)


def chain(*joints: pin.JointModel) -> pin.Model:
    """A chain with these joints, each placed and loaded at random."""
    model, rng = pin.Model(), np.random.default_rng(0)
    model.name = "chain"
    last = 0
    for k, joint in enumerate(joints):
        turn = pin.Quaternion(*(q := rng.normal(size=4)) / np.linalg.norm(q)).matrix()
        last = model.addJoint(last, joint, pin.SE3(turn, rng.normal(size=3)), f"joint{k}")
        model.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Identity())
    return model


KINDS = [
    (pin.JointModelRX(), "revolute"), (pin.JointModelRY(), "revolute"), (pin.JointModelRZ(), "revolute"),
    (pin.JointModelRevoluteUnaligned(0.6, 0.0, 0.8), "revolute"), (pin.JointModelRUBX(), "continuous"),
    (pin.JointModelPX(), "prismatic"), (pin.JointModelPZ(), "prismatic"),
    (pin.JointModelPrismaticUnaligned(0.0, 0.6, 0.8), "prismatic"), (pin.JointModelHY(0.3), "helical"),
    (pin.JointModelHelicalUnaligned(0.6, 0.8, 0.0, -0.2), "helical"), (pin.JointModelSpherical(), "spherical"),
    (pin.JointModelPlanar(), "planar"), (pin.JointModelFreeFlyer(), "free"),
]  # fmt: skip


@pytest.mark.parametrize(("joint", "kind"), KINDS, ids=lambda k: k if isinstance(k, str) else k.shortname())
def test_joint_models_keep_their_motion(joint: pin.JointModel, kind: str) -> None:
    model = chain(joint)
    robot = from_pinocchio(model)
    ours = robot.joints["joint0"]
    assert ours.kind.name == kind
    data, q = model.createData(), pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    pin.forwardKinematics(model, data, q)
    own = [np.arctan2(q[1], q[0])] if kind == "continuous" else list(q)
    X_WB = matrix(ours.placement) @ matrix(ours.kind.transform(own))
    np.testing.assert_allclose(X_WB, data.oMi[1].homogeneous, atol=1e-14)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-8, 1.0])
def test_placements_at_a_pitch_of_ninety_degrees(pitch: float) -> None:
    model = pin.Model()
    placement = pin.SE3(pin.rpy.rpyToMatrix(0.3, pitch, -0.7), np.zeros(3))
    model.addJoint(0, pin.JointModelRX(), placement, "j")
    found = from_pinocchio(model).joints["j"].placement
    np.testing.assert_allclose(matrix(found), placement.homogeneous, atol=1e-15)


def test_other_numbers() -> None:
    model = chain(pin.JointModelRX(), pin.JointModelRZ())
    model.armature, model.damping = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    model.upperEffortLimit = np.array([5.0, 0.0])
    model.gravity.linear = np.array([0, 0, -1.62])
    model.addFrame(pin.Frame("tip", 2, 0, pin.SE3(np.eye(3), np.array([1.0, 2, 3])), pin.FrameType.OP_FRAME))
    robot = from_pinocchio(model)
    assert [j.armature for j in robot.joints.values()] == [(0.1,), (0.2,)]
    assert [j.damping for j in robot.joints.values()] == [(0.3,), (0.4,)]
    assert {m.name: m.effort_limit for m in robot.motors.values()} == {"joint0": 5}
    assert list(robot.gravity) == [0, 0, -1.62]
    assert (robot.frame("tip").body, list(robot.frame("tip").placement.p)) == ("joint1_body", [1, 2, 3])


def test_joints_in_another_order_are_reported() -> None:
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "first")
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "second")
    model.addJoint(first, pin.JointModelRX(), pin.SE3.Identity(), "third")
    robot = from_pinocchio(model)
    assert list(robot.joints) == ["first", "third", "second"]
    assert "depth-first" in str(robot.report)


def test_model_without_joints() -> None:
    robot = from_pinocchio(pinocchio_robot("iris_description/iris_simple.urdf"))
    assert robot.nq == 0
    assert {"iris__base_link", "iris__rotor_0"} <= set(robot.frames)


@pytest.mark.parametrize("joint", [pin.JointModelComposite(pin.JointModelRX()), pin.JointModelSphericalZYX()])
def test_joint_models_without_a_kind(joint: pin.JointModel) -> None:
    with pytest.raises(RobotError, match=r"joint0.*does not have.*FreeFlyer.*RX"):
        from_pinocchio(chain(joint))
