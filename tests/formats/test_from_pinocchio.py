"""Robots from Pinocchio models: the same numbers as from the URDF, and every joint model that has a kind."""

import numpy as np
import pinocchio as pin
import pytest

from pliant.dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from pliant.errors import RobotError
from pliant.formats import PinocchioLayout, from_pinocchio
from pliant.robot import Robot, RobotBuilder
from pliant.spatial import Transform, rpy_from_matrix
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


def random_model(seed: int, *, continuous: bool = False) -> pin.Model:
    """A tree of three to nine joints of all kinds, in an order that need not be depth first."""
    rng, model = np.random.default_rng(seed), pin.Model()
    model.name = f"tree{seed}"
    axis = (lambda a: a / np.linalg.norm(a))(rng.normal(size=3))
    kinds = [
        pin.JointModelRX(), pin.JointModelPY(), pin.JointModelRevoluteUnaligned(*axis), pin.JointModelHZ(0.1),
        pin.JointModelPrismaticUnaligned(*axis), pin.JointModelSpherical(), pin.JointModelPlanar(),
        pin.JointModelFreeFlyer(),
    ]  # fmt: skip
    kinds += [pin.JointModelRUBY(), pin.JointModelRUBX()] if continuous else []
    for k in range(rng.integers(3, 10)):
        turn = pin.Quaternion(*(q := rng.normal(size=4)) / np.linalg.norm(q)).matrix()
        placement = pin.SE3(turn, rng.normal(size=3))
        parent = int(rng.integers(0, model.njoints))
        i = model.addJoint(parent, kinds[rng.integers(len(kinds))], placement, f"joint{k}")
        mass, *axes = rng.uniform(0.5, 1.5, 4)
        model.appendBodyToJoint(i, pin.Inertia.FromEllipsoid(mass, *axes), pin.SE3(turn.T, rng.normal(size=3)))
    model.armature = rng.uniform(0, 0.1, model.nv)
    return model


def agree(robot: Robot, model: pin.Model, seed: int) -> None:
    """Mass matrix, inverse and forward dynamics of a robot and a model are the same, with q and v by the layout."""
    rng, data, layout = np.random.default_rng(seed), model.createData(), PinocchioLayout(robot, model)
    q = robot.random(rng)
    v, vd = rng.normal(size=(2, robot.nv))
    theirs = layout.q_to_model(q)
    there = [layout.v_to_model(x) for x in (v, vd)]
    # by columns: Pinocchio's own mass matrix takes subtrees for neighbours in v, which they are only depth first
    still, g = np.zeros(model.nv), pin.computeGeneralizedGravity(model, data, theirs)
    M = np.stack([pin.rnea(model, data, theirs, still, unit) - g for unit in np.eye(model.nv)], axis=1)
    rows = layout.v_to_model(np.eye(robot.nv))
    ours = rows.T @ np.array(mass_matrix.algorithm(robot, q.tolist())) @ rows
    # sums of some hundred products with numbers up to about 1e3: a few hundred roundings of the largest
    np.testing.assert_allclose(ours, M, rtol=0, atol=1e-12 * np.abs(M).max())
    tau = pin.rnea(model, data, theirs, *there)
    found = layout.v_to_model(inverse_dynamics.algorithm(robot, q.tolist(), v.tolist(), vd.tolist()))
    np.testing.assert_allclose(found, tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    back = layout.v_to_model(forward_dynamics.algorithm(robot, q.tolist(), v.tolist(), layout.v_to_robot(tau).tolist()))
    # M times an error of vd is the error of tau: the condition of M multiplies it
    np.testing.assert_allclose(back, there[1], rtol=0, atol=1e-14 * np.linalg.cond(M) * np.abs(vd).max() + 1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_q_and_v_go_over_as_they_are(seed: int) -> None:
    model = random_model(seed)
    robot = from_pinocchio(model)
    assert list(robot.joints) == list(model.names)[1:]
    assert not robot.report
    q, v = robot.random(seed), np.arange(model.nv, dtype=float)
    layout = PinocchioLayout(robot, model)
    for given, taken in ((q, layout.q_to_model(q)), (q, layout.q_to_robot(q)), (v, layout.v_to_model(v))):
        np.testing.assert_array_equal(taken, given)
    agree(robot, model, seed)


@pytest.mark.parametrize("seed", range(8))
def test_continuous_joints_are_reported_and_taken_over(seed: int) -> None:
    model = random_model(seed, continuous=True)
    continuous = [
        n
        for n, j in zip(model.names, model.joints, strict=True)
        if "RUB" in j.shortname() or "Unbounded" in j.shortname()
    ]
    robot = from_pinocchio(model)
    assert robot.nq == model.nq - len(continuous)
    assert [f.kind for f in robot.report] == ["repaired"] * bool(continuous)
    assert all(name in str(robot.report) for name in continuous)
    layout, q = PinocchioLayout(robot, model), robot.random(seed, batch=4)
    # an angle within half a turn comes back as it was, but for the roundings of three functions
    np.testing.assert_allclose(layout.q_to_robot(layout.q_to_model(q)), q, atol=1e-15)
    agree(robot, model, seed)


def test_layout_of_a_robot_in_another_order() -> None:
    """Depth first, as a builder has it: q and v are arranged otherwise, and the layout takes them over."""
    model = random_model(3)
    robot = from_pinocchio(model)
    builder = RobotBuilder("other")
    for body in robot.bodies.values():
        about = body.inertia.about_com()
        builder.body(body.name, body.inertia.mass, [h / body.inertia.mass for h in body.inertia.h], list(about))
    for j in robot.joints.values():
        angles = rpy_from_matrix(j.placement.R.matrix())
        builder.joint(j.name, j.kind, j.parent, j.child, list(j.placement.p), angles, armature=j.armature)
    other = builder.build()
    assert list(other.joints) != list(robot.joints)
    agree(other, model, 0)


def test_layouts_of_different_robots() -> None:
    robot = from_pinocchio(random_model(0))
    with pytest.raises(RobotError, match="moving joint"):
        PinocchioLayout(robot, random_model(1))
    layout = PinocchioLayout(robot, random_model(0))
    with pytest.raises(RobotError, match="q of the robot has") as caught:
        layout.q_to_model(np.zeros(robot.nq + 1))
    assert caught.value.field == "q"


def test_model_without_joints() -> None:
    robot = from_pinocchio(pinocchio_robot("iris_description/iris_simple.urdf"))
    assert robot.nq == 0
    assert {"iris__base_link", "iris__rotor_0"} <= set(robot.frames)


@pytest.mark.parametrize("joint", [pin.JointModelComposite(pin.JointModelRX()), pin.JointModelSphericalZYX()])
def test_joint_models_without_a_kind(joint: pin.JointModel) -> None:
    with pytest.raises(RobotError, match=r"joint0.*does not have.*FreeFlyer.*RX"):
        from_pinocchio(chain(joint))
