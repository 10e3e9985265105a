"""Lines of docs/conventions.md on frames and dynamics."""

import math

import numpy as np
import pytest

import pliant
from pliant.spatial import Motion, Transform, Vector, rotation_from_rpy
from stated_conventions import ROD, TIGHT, one_joint, pose, rate, state, turn

# ---- frames


def test_29_the_world_is_a_body_named_world() -> None:
    robot = one_joint("free")
    assert "world" not in robot.bodies and robot.joints["j"].parent == "world"
    np.testing.assert_array_equal(pose(robot, state(robot)[0], "world"), np.eye(4))
    with pytest.raises(pliant.RobotError, match="world"):
        pliant.RobotBuilder("bad").body("world", mass=1)


def test_30_a_body_s_frame_is_that_of_its_joint() -> None:
    robot = pliant.load("two_link_arm")
    np.testing.assert_allclose(pose(robot, [0, 0], "forearm")[:3, 3], [0, 0, 0.5], atol=TIGHT)  # the elbow
    inertia = robot.bodies["forearm"].inertia
    assert list(inertia.h) == pytest.approx([0, 0, 2.4 * 0.25])  # the rod's middle is elsewhere


def test_31_a_name_of_a_body_or_a_joint_is_also_a_frame() -> None:
    robot = pliant.load("two_link_arm").with_frame("tip", "forearm", (0, 0, 0.5))
    q = np.array([0.3, 0.4])
    np.testing.assert_array_equal(pose(robot, q, "elbow"), pose(robot, q, "forearm"))
    np.testing.assert_array_equal(pose(robot, q, "wrist"), pose(robot, q, "hand"))
    np.testing.assert_allclose(pose(robot, q, "tip"), pose(robot, q, "hand"), atol=TIGHT)
    assert robot.frame("world").body == "world"


def test_32_x_ab_is_the_pose_of_b_in_a() -> None:
    X_AB = Transform(rotation_from_rpy(0, 0, math.pi / 2), Vector(1, 0, 0))
    X_BC = Transform(rotation_from_rpy(0.1, 0.2, 0.3), Vector(0, 2, 0))
    X_AC = X_AB @ X_BC
    assert list(X_AB.transform_point(Vector(1, 0, 0))) == pytest.approx([1, 1, 0])
    assert list(X_AC.p) == pytest.approx([-1, 0, 0])
    AB, BC, AC = (np.array(X.homogeneous()) for X in (X_AB, X_BC, X_AC))
    np.testing.assert_allclose(AC, AB @ BC, atol=TIGHT)
    x = Motion(Vector(1, 2, 3), Vector(4, 5, 6))
    np.testing.assert_allclose(list(X_AC.act(x)), list(X_AB.act(X_BC.act(x))), atol=TIGHT)
    robot = one_joint("free")
    X_WF = pose(robot, [1, 2, 3, 0, 0, 0, 1])
    np.testing.assert_array_equal(X_WF, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])


def test_33_roll_pitch_and_yaw_turn_about_fixed_axes() -> None:
    roll, pitch, yaw = 0.3, -0.4, 0.5
    m = np.array(list(rotation_from_rpy(roll, pitch, yaw).matrix())).reshape(3, 3)
    np.testing.assert_allclose(m, turn("z", yaw) @ turn("y", pitch) @ turn("x", roll), atol=TIGHT)


def test_34_spatial_vectors_are_linear_first() -> None:
    robot = one_joint("prismatic", axis=(0, 1, 0))
    np.testing.assert_array_equal(pliant.frame_velocity(robot, np.zeros(1), np.ones(1), "rod"), [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(pliant.frame_jacobian(robot, np.zeros(1), "rod")[:, 0], [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(pliant.centroidal_momentum(robot, np.zeros(1), np.ones(1)), [0, 1, 0, 0, 0, 0])
    # a unit force along y on the slider's body, in the external forces' first three places
    external = np.array([[0, 1.0, 0, 0, 0, 0]])
    assert pliant.inverse_dynamics(robot, [0.0], [0.0], [0.0], external=external) == pytest.approx([-1])


def test_35_velocities_of_frames_have_three_references() -> None:
    robot = pliant.load("arm7")
    q, v, *_ = state(robot)
    X_WF = pliant.frame_pose(robot, q, "tool")
    R, p = X_WF[:3, :3], X_WF[:3, 3]
    aligned = pliant.frame_velocity(robot, q, v, "tool")
    local, world = (pliant.frame_velocity(robot, q, v, "tool", reference=r) for r in ("local", "world"))
    np.testing.assert_array_equal(aligned, pliant.frame_velocity(robot, q, v, "tool", reference="local_world_aligned"))
    moved = rate(lambda q: pliant.frame_pose(robot, q, "tool")[:3, 3], robot, q, v)
    np.testing.assert_allclose(aligned[:3], moved, atol=1e-8)
    np.testing.assert_allclose(local, [*(R.T @ aligned[:3]), *(R.T @ aligned[3:])], atol=TIGHT)
    np.testing.assert_allclose(world, [*(aligned[:3] - np.cross(aligned[3:], p)), *aligned[3:]], atol=TIGHT)


def test_36_a_jacobian_times_v_is_the_velocity() -> None:
    robot = pliant.load("arm7")
    q, v, *_ = state(robot)
    for reference in ("local", "world", "local_world_aligned"):
        J = pliant.frame_jacobian(robot, q, "tool", reference=reference)
        assert J.shape == (6, robot.nv)
        np.testing.assert_allclose(J @ v, pliant.frame_velocity(robot, q, v, "tool", reference=reference), atol=TIGHT)
        expected = rate(lambda q, r=reference: pliant.frame_jacobian(robot, q, "tool", reference=r), robot, q, v)
        Jdot = pliant.dynamics.frame_jacobian_rate(robot, q, v, "tool", reference=reference)
        np.testing.assert_allclose(Jdot, expected, atol=1e-8)


def test_37_accelerations_are_classical() -> None:
    # a point that goes round at 1 rad/s has no spatial acceleration, and a classical one towards the centre
    robot = one_joint("continuous", axis=(0, 0, 1)).with_frame("tip", "rod", (2, 0, 0))
    q, v, vd = np.zeros(1), np.ones(1), np.zeros(1)
    acceleration = pliant.dynamics.frame_acceleration
    np.testing.assert_allclose(acceleration(robot, q, v, vd, "tip"), [-2, 0, 0, 0, 0, 0], atol=TIGHT)
    np.testing.assert_allclose(acceleration(robot, q, v, vd, "tip", kind="spatial"), np.zeros(6), atol=TIGHT)
    # gravity is no part of it: a robot held at rest does not accelerate
    assert not acceleration(robot, q, 0 * v, vd, "tip").any()


# ---- dynamics


def test_38_the_equations_of_motion_have_tau_alone() -> None:
    robot = pliant.load("quadruped")
    q, v, vd, _ = state(robot)
    external = np.random.default_rng(1).normal(size=(len(robot.bodies), 6))
    M, h = pliant.mass_matrix(robot, q), pliant.bias_forces(robot, q, v)
    C, g = pliant.coriolis_matrix(robot, q, v), pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(h, C @ v + g, atol=1e-11)
    tau = pliant.inverse_dynamics(robot, q, v, vd, external=external)
    jacobians = [pliant.frame_jacobian(robot, q, body, reference="local") for body in robot.bodies]
    pushed = np.einsum("bij,bi->j", jacobians, external)
    np.testing.assert_allclose(M @ vd + h, tau + pushed, atol=1e-11)
    np.testing.assert_allclose(pliant.forward_dynamics(robot, q, v, tau, external=external), vd, atol=1e-10)


def test_39_gravity_points_down() -> None:
    robot = one_joint("prismatic", axis=(0, 0, 1))
    assert list(robot.gravity) == [0, 0, -9.81]
    assert pliant.gravity_forces(robot, [0.0]) == pytest.approx([9.81])  # pushes up
    assert pliant.forward_dynamics(robot, [0.0], [0.0], [0.0]) == pytest.approx([-9.81])
    assert pliant.gravity_forces(robot.with_gravity(0, 0, -1.62), [0.0]) == pytest.approx([1.62])


def test_40_potential_energy_is_zero_level_with_the_origin() -> None:
    robot = one_joint("free")
    assert pliant.dynamics.potential_energy(robot, robot.neutral()) == pytest.approx(0, abs=1e-15)
    raised = robot.neutral() + np.array([0, 0, 2, 0, 0, 0, 0])
    assert pliant.dynamics.potential_energy(robot, raised) == pytest.approx(1 * 9.81 * 2)
    arm = pliant.load("arm7")
    q, *_ = state(arm)
    gradient = [rate(lambda q: pliant.dynamics.potential_energy(arm, q), arm, q, unit) for unit in np.eye(arm.nv)]
    np.testing.assert_allclose(gradient, pliant.gravity_forces(arm, q), atol=1e-7)


def test_41_the_mass_matrix_is_full_and_symmetric() -> None:
    robot = pliant.load("arm7")
    M = pliant.mass_matrix(robot, state(robot)[0])
    np.testing.assert_array_equal(M, M.T)
    assert np.tril(M, -1)[1:, 0].all()


def test_42_rotor_inertia_counts_in_m_and_in_kinetic_energy() -> None:
    plain = pliant.load("double_pendulum")
    joints = list(plain.joints)[-2:]
    robot = plain.with_joint(joints[0], armature=0.3).with_motor(joints[1], gear=10, rotor_inertia=2e-3)
    q, v, *_ = state(robot)
    M, bare = pliant.mass_matrix(robot, q), pliant.mass_matrix(plain, q)
    np.testing.assert_allclose(M - bare, np.diag([0.3, 100 * 2e-3]), atol=TIGHT)
    assert pliant.dynamics.kinetic_energy(robot, q, v) == pytest.approx(v @ M @ v / 2, rel=1e-13)
    momenta = (pliant.centroidal_momentum(r, q, v) for r in (robot, plain))
    np.testing.assert_array_equal(*momenta)


def test_43_damping_and_friction_of_joints_are_data() -> None:
    plain = pliant.load("pendulum")
    robot = plain.with_joint("hinge", damping=5, friction=2, limits=(-0.1, 0.1))
    assert robot.joints["hinge"].damping == (5,) and robot.joints["hinge"].friction == (2,)
    # beyond the limits
    np.testing.assert_array_equal(*(pliant.forward_dynamics(r, [1.0], [3.0], [0.0]) for r in (robot, plain)))


def test_44_bodies_that_cannot_move_do_not_count() -> None:
    builder = pliant.RobotBuilder("crane").body("tower", mass=1000, com=(7, 7, 7)).body("rod", **ROD)
    robot = builder.joint("j", "revolute", "tower", "rod", axis=(0, 0, 1)).build()
    q = np.zeros(1)
    assert robot.mass == 1001
    np.testing.assert_allclose(pliant.center_of_mass(robot, q), [0.5, 0, 0], atol=TIGHT)
    assert pliant.dynamics.potential_energy(robot, q) == pytest.approx(0, abs=TIGHT)
    assert pliant.dynamics.centroidal_matrix(robot, q)[:3, 0] == pytest.approx([0, 0.5, 0], abs=TIGHT)


def test_45_tensors_are_given_about_the_centre_of_mass() -> None:
    # two point masses of 1 kg at (1, 1, 0) and (-1, -1, 0): integral of x y = 2
    tensor = (2, -2, 0, 2, 0, 4)
    builder = pliant.RobotBuilder("points").body("pair", 2, (3, 0, 0), tensor)
    robot = builder.joint("j", "free", "world", "pair").build()
    inertia = robot.bodies["pair"].inertia
    points = [np.array([4, 1, 0]), np.array([2, -1, 0])]
    about_origin = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
    found = np.array([[float(inertia.J.entry(r, c)) for c in range(3)] for r in range(3)])
    np.testing.assert_allclose(found, about_origin, atol=TIGHT)
    np.testing.assert_allclose(pliant.mass_matrix(robot, robot.neutral())[3:, 3:], about_origin, atol=TIGHT)


def test_46_centroidal_momentum_is_about_the_centre_of_mass() -> None:
    robot = pliant.load("quadruped")
    q, v, *_ = state(robot)
    momentum = pliant.centroidal_momentum(robot, q, v)
    speed = pliant.dynamics.center_of_mass_velocity(robot, q, v)
    np.testing.assert_allclose(momentum[:3], robot.mass * speed, atol=1e-12)
    # from the links: linear momentum through the centre of mass, angular about it
    c, angular = pliant.center_of_mass(robot, q), np.zeros(3)
    for name, body in robot.bodies.items():
        R = pliant.frame_pose(robot, q, name)
        V = pliant.frame_velocity(robot, q, v, name, reference="local")
        f = body.inertia @ Motion(Vector(*V[:3]), Vector(*V[3:]))
        linear = R[:3, :3] @ list(f.linear)
        angular += R[:3, :3] @ list(f.angular) + np.cross(R[:3, 3] - c, linear)
    np.testing.assert_allclose(momentum[3:], angular, atol=1e-12)
    # in free flight, gravity is the only external force
    falling = pliant.forward_dynamics(robot, q, v, np.zeros(robot.nv))
    pull = pliant.dynamics.centroidal_momentum_rate(robot, q, v, falling)
    np.testing.assert_allclose(pull, [0, 0, -9.81 * robot.mass, 0, 0, 0], atol=1e-10)


def test_47_external_forces_act_at_the_body_s_origin() -> None:
    robot = pliant.load("two_link_arm")
    q, still = np.array([math.pi / 2, 0.3]), np.zeros(2)
    external = np.zeros((len(robot.bodies), 6))
    hand = list(robot.bodies).index("hand")
    external[hand, :3] = 1, 2, 3  # in the hand's own axes
    J = pliant.frame_jacobian(robot, q, "hand", reference="local")
    eased = pliant.bias_forces(robot, q, still) - pliant.bias_forces(robot, q, still, external=external)
    np.testing.assert_allclose(eased, J[:3].T @ [1, 2, 3], atol=1e-13)


def test_48_the_coriolis_matrix_makes_mdot_minus_2_c_skew() -> None:
    robot = pliant.load("quadruped")
    q, v, *_ = state(robot)
    C = pliant.coriolis_matrix(robot, q, v)
    Mdot = rate(lambda q: pliant.mass_matrix(robot, q), robot, q, v)
    np.testing.assert_allclose(Mdot, C + C.T, atol=1e-8)
    np.testing.assert_allclose((Mdot - 2 * C) + (Mdot - 2 * C).T, 0, atol=1e-8)


def test_49_derivatives_by_q_are_in_the_tangent_space() -> None:
    robot = pliant.load("quadruped")
    q, v, _, tau = state(robot)
    kernel = pliant.jacobian(pliant.forward_dynamics, robot, wrt="q")
    found = kernel(q, v, tau)
    assert found.shape == (robot.nv, robot.nv) and robot.nq == robot.nv + 1
    columns = [rate(lambda q: pliant.forward_dynamics(robot, q, v, tau), robot, q, unit) for unit in np.eye(robot.nv)]
    np.testing.assert_allclose(found, np.transpose(columns), atol=1e-6 * abs(found).max())
