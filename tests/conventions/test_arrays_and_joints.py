"""Each line of docs/conventions.md has its test; here on arrays, calls, and the coordinates and order of joints."""

import math
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import sympy

import pliant
from pliant.robot import Helical, Mimic, Planar
from pliant.spatial import Vector, rotation_about
from stated_conventions import ROD, TIGHT, one_joint, pose, rate, state, turn


def test_every_line_of_the_page_has_its_test() -> None:
    """The test that has its number and title."""
    text = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
    lines = [(int(n), t) for n, t in re.findall(r"^(\d+)\. \*\*(.+?)\.\*\*", text, re.M)]
    assert [n for n, _ in lines] == list(range(1, len(lines) + 1)), "lines are numbered 1, 2, 3, ..."
    assert len(lines) == len(re.findall(r"^\d+\.", text, re.M)), "each line has a title"
    expected = {f"test_{n:02}_{re.sub('[^a-z0-9]+', '_', t.lower()).strip('_')}" for n, t in lines}
    files = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    found = {name for text in files for name in re.findall(r"^def (test_\d\w+)", text, re.M)}
    assert expected - found == set(), "lines without a test"
    assert found - expected == set(), "tests without a line"


# ---- arrays and calls


def test_01_units_are_si() -> None:
    # the shipped rod of 1.5 m and 1 kg, horizontal, hangs on its hinge with m g l/2
    pendulum = pliant.load("pendulum")
    held = pliant.gravity_forces(pendulum, np.array([math.pi / 2]))
    assert held == pytest.approx([1 * 9.81 * 0.75], rel=1e-15)
    # 1 rad/s at 1.5 m from the hinge is 1.5 m/s
    tip = pendulum.with_frame("tip", "rod", (0, 0, -1.5))
    speed = pliant.frame_velocity(tip, np.zeros(1), np.ones(1), "tip")
    assert np.linalg.norm(speed[:3]) == pytest.approx(1.5, rel=1e-15)


def test_02_the_robot_comes_first() -> None:
    public = [getattr(module, n) for module in (pliant.dynamics, pliant.constrained) for n in module.__all__]
    functions = [f for f in public if isinstance(f, pliant.dynamics.RobotFunction)]
    assert len(functions) > 20
    order = ["robot", "q", "v", "vd", "tau", "force", "f", "frame"]
    known = {"reference", "kind", "external"}
    # of rigid contact
    known |= {"contacts", "axes", "tolerance", "restitution", "actuated", "body", "about", "normal", "friction"}
    for function in functions:
        parameters = function.signature.parameters.values()
        places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        assert places == [n for n in order if n in places], function
        assert places[0] == "robot" and set(options) <= known, function
    with pytest.raises(pliant.PliantError, match="takes a Robot first"):
        pliant.mass_matrix(np.zeros(2), pliant.load("acrobot"))


def test_03_the_batch_axis_is_first() -> None:
    robot = pliant.load("arm7")
    q, v, vd, _ = state(robot, batch=5)
    tau, M = pliant.inverse_dynamics(robot, q, v, vd), pliant.mass_matrix(robot, q)
    assert tau.shape == (5, 7) and M.shape == (5, 7, 7)
    assert pliant.inverse_dynamics(robot, q[0], v[0], vd[0]).shape == (7,)
    energy = pliant.dynamics.kinetic_energy
    assert energy(robot, q, v).shape == (5,) and energy(robot, q[0], v[0]).shape == ()
    for size in (0, 1):
        assert pliant.mass_matrix(robot, q[:size]).shape == (size, 7, 7)
    np.testing.assert_array_equal(pliant.mass_matrix(robot, q[:1]), M[:1])


def test_04_an_array_without_a_batch_axis_goes_to_every_robot() -> None:
    robot = pliant.load("arm7")
    q, v, _, tau = state(robot, batch=6)
    shared = pliant.forward_dynamics(robot, q, v, tau[0])
    np.testing.assert_array_equal(shared, pliant.forward_dynamics(robot, q, v, np.tile(tau[0], (6, 1))))


def test_05_a_result_does_not_depend_on_the_company() -> None:
    robot = pliant.load("arm7")
    q, v, _, tau = state(robot, batch=203)
    kernel = pliant.compile(pliant.forward_dynamics, robot)
    together = kernel(q, v, tau)
    np.testing.assert_array_equal(together, [kernel(*one) for one in zip(q, v, tau, strict=True)])
    np.testing.assert_array_equal(together, kernel(q[::-1], v[::-1], tau[::-1])[::-1])
    np.testing.assert_array_equal(together, kernel(q, v, tau, threads=3))


def test_06_a_nan_stays_in_its_lane() -> None:
    robot = pliant.load("quadruped")
    q, v, _, tau = state(robot, batch=11)
    clean = pliant.forward_dynamics(robot, q, v, tau)
    q[3, 9], q[6, 4] = math.nan, math.inf
    spoiled = pliant.forward_dynamics(robot, q, v, tau)
    others = [k for k in range(11) if k not in (3, 6)]
    np.testing.assert_array_equal(spoiled[others], clean[others])
    assert np.isnan(spoiled[[3, 6]]).all(axis=1).all()


def test_07_results_are_float64() -> None:
    robot = pliant.load("arm7")
    q, *_ = state(robot, batch=3)
    assert pliant.mass_matrix(robot, q.astype("float32")).dtype == np.float64
    assert pliant.mass_matrix(robot, [0, 0, 0, 0, 0, 0, 0]).dtype == np.float64
    short = pliant.compile(pliant.mass_matrix, robot, precision="float32")
    assert short(q).dtype == np.float32
    np.testing.assert_array_equal(short(q), short(q.astype("float32")))


def test_08_the_type_of_the_scalars_decides_what_runs() -> None:
    robot = pliant.load("pendulum")
    angle = sympy.Symbol("q")
    formula = pliant.gravity_forces(robot, [angle])
    assert formula.dtype == object and formula.shape == (1,)
    assert float(formula[0].subs(angle, 0.3)) == pytest.approx(pliant.gravity_forces(robot, [0.3])[0], rel=1e-15)
    seen = []

    def spy(robot, q):
        seen.append(type(q[0]).__name__)
        return pliant.gravity_forces(robot, q)

    pliant.compile(spy, robot)
    assert seen == ["Expr"]


def test_09_errors_derive_from_plianterror() -> None:
    robot = pliant.load("pendulum")
    for error, call in (
        (pliant.RobotError, lambda: pliant.load("no_such_robot")),
        (pliant.RobotError, lambda: pliant.frame_pose(robot, np.zeros(1), "no_such_frame")),
        (pliant.KernelError, lambda: pliant.mass_matrix(robot, np.zeros(2))),
        (pliant.TraceError, lambda: pliant.compile(lambda robot, q: 1 if q[0] > 0 else 2, robot)),
        (pliant.ContactError, lambda: pliant.flat(friction=-1)),
        (pliant.SimulationError, lambda: pliant.Simulation(robot, dt=0)),
    ):
        assert issubclass(error, pliant.PliantError)
        with pytest.raises(error):
            call()


# ---- joints: q and v


def test_10_a_revolute_joint_is_one_angle() -> None:
    for axis, name in (((1, 0, 0), "x"), ((0, 1, 0), "y"), ((0, 0, 1), "z")):
        robot = one_joint("revolute", axis=axis)
        assert (robot.nq, robot.nv) == (1, 1)
        np.testing.assert_allclose(pose(robot, [0.7])[:3, :3], turn(name, 0.7), atol=TIGHT)
        w = pliant.frame_velocity(robot, np.array([0.7]), np.array([2.0]), "rod")
        np.testing.assert_allclose(w, [0, 0, 0, *(2.0 * np.array(axis))], atol=TIGHT)


def test_11_a_continuous_joint_is_one_angle() -> None:
    robot = one_joint("continuous", axis=(0, 0, 1))
    assert (robot.nq, robot.nv) == (1, 1)
    np.testing.assert_allclose(robot.integrate(np.array([3.0]), np.array([40.0])), [43.0])  # turns are counted
    np.testing.assert_allclose(pose(robot, [43.0])[:3, :3], turn("z", 43.0), atol=TIGHT)
    model = pin.Model()
    model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "j")
    assert (model.nq, model.nv) == (2, 1)
    assert pliant.from_pinocchio(model).nq == 1


def test_12_a_prismatic_joint_is_one_distance() -> None:
    robot = one_joint("prismatic", axis=(0, 3, 4))
    assert (robot.nq, robot.nv) == (1, 1)
    np.testing.assert_allclose(pose(robot, [2.0])[:3, 3], [0, 1.2, 1.6], atol=TIGHT)
    moved = pliant.frame_velocity(robot, np.array([2.0]), np.array([5.0]), "rod")
    np.testing.assert_allclose(moved, [0, 3, 4, 0, 0, 0], atol=TIGHT)


def test_13_a_helical_joint_is_one_angle() -> None:
    robot = one_joint(Helical((0, 0, 1), pitch=0.2))
    assert (robot.nq, robot.nv) == (1, 1)
    X = pose(robot, [1.5])
    np.testing.assert_allclose(X[:3, :3], turn("z", 1.5), atol=TIGHT)
    np.testing.assert_allclose(X[:3, 3], [0, 0, 0.3], atol=TIGHT)


def test_14_a_spherical_joint_is_a_quaternion() -> None:
    robot = one_joint("spherical")
    assert robot.coordinate_names == ("j.qx", "j.qy", "j.qz", "j.qw")
    assert robot.velocity_names == ("j.wx", "j.wy", "j.wz")
    np.testing.assert_allclose(pose(robot, [0, math.sin(0.2), 0, math.cos(0.2)])[:3, :3], turn("y", 0.4), atol=TIGHT)


def test_15_a_planar_joint_is_a_position_a_cosine_and_a_sine() -> None:
    a = 0.6
    q = [0.1, 0.2, math.cos(a), math.sin(a)]
    for axis, name, where in (
        ((0, 0, 1), "z", (0.1, 0.2, 0)),
        ((1, 0, 0), "x", (0, 0.1, 0.2)),
        ((0, 1, 0), "y", (0.2, 0, 0.1)),
    ):
        robot = one_joint(Planar(axis))
        assert robot.coordinate_names == ("j.x", "j.y", "j.cos", "j.sin")
        assert robot.velocity_names == ("j.vx", "j.vy", "j.wz")
        X = pose(robot, q)
        np.testing.assert_allclose(X[:3, 3], where, atol=TIGHT)
        np.testing.assert_allclose(X[:3, :3], turn(name, a), atol=TIGHT)


def test_16_a_free_joint_is_a_position_and_a_quaternion() -> None:
    robot = one_joint("free")
    assert robot.coordinate_names == tuple(f"j.{n}" for n in ("x", "y", "z", "qx", "qy", "qz", "qw"))
    assert robot.velocity_names == tuple(f"j.{n}" for n in ("vx", "vy", "vz", "wx", "wy", "wz"))
    X = pose(robot, [1, 2, 3, 0, 0, math.sin(0.5), math.cos(0.5)])
    np.testing.assert_allclose(X[:3, 3], [1, 2, 3], atol=TIGHT)
    np.testing.assert_allclose(X[:3, :3], turn("z", 1.0), atol=TIGHT)


def test_17_a_fixed_joint_has_no_coordinates() -> None:
    builder = pliant.RobotBuilder("two").body("rod", **ROD).body("hand", **ROD)
    builder.joint("j", "revolute", "world", "rod", axis=(0, 0, 1)).joint("weld", "fixed", "rod", "hand", (1, 0, 0))
    robot = builder.build()
    assert robot.joints["weld"].kind.nq == robot.joints["weld"].kind.nv == 0 and robot.nq == 1
    np.testing.assert_allclose(pose(robot, [0.5], "hand")[:2, 3], [math.cos(0.5), math.sin(0.5)], atol=TIGHT)


def test_18_quaternions_have_the_scalar_last() -> None:
    robot = one_joint("spherical")
    q = np.array([0.1, -0.5, 0.3, 0.2])
    q /= np.linalg.norm(q)
    x, y, z, w = q
    direction = Vector(*(np.array([x, y, z]) / math.hypot(x, y, z)))
    expected = np.array(list(rotation_about(direction, 2 * math.atan2(math.hypot(x, y, z), w)).matrix())).reshape(3, 3)
    np.testing.assert_allclose(pose(robot, q)[:3, :3], expected, atol=TIGHT)
    np.testing.assert_array_equal(pose(robot, q), pose(robot, -q))
    assert abs(pose(robot, 2 * q)[:3, :3] - expected).max() > 0.1  # not normalised
    for _ in range(1000):
        q = robot.integrate(q, np.array([3.0, -1.0, 2.0]), 0.01)
    assert np.linalg.norm(q) == pytest.approx(1, abs=1e-15)


def test_19_joint_velocities_are_in_the_child_s_frame() -> None:
    robot = one_joint("free")
    q = np.array([1, 2, 3, 0, 0, math.sin(math.pi / 4), math.cos(math.pi / 4)])  # a quarter turn about z
    forward = np.array([1.0, 0, 0, 0, 0, 0])  # along the body's x, the world's y
    np.testing.assert_allclose(rate(lambda q: q[:3], robot, q, forward), [0, 1, 0], atol=1e-9)
    np.testing.assert_allclose(pliant.frame_velocity(robot, q, forward, "rod", reference="local"), forward, atol=TIGHT)
    # relative to the parent: a child at rest in a turning parent has v = 0
    arm = pliant.load("two_link_arm")
    parent, child = (pliant.frame_velocity(arm, [0.3, 0.4], [1.0, 0.0], body)[3:] for body in ("upper_arm", "forearm"))
    np.testing.assert_allclose(child, parent, atol=TIGHT)


def test_20_at_neutral_the_child_s_frame_is_the_joint_s() -> None:
    for kind in ("revolute", "continuous", "prismatic", "helical", "spherical", "planar", "free"):
        builder = pliant.RobotBuilder("one").body("rod", **ROD)
        robot = builder.joint("j", kind, "world", "rod", (1, 2, 3), (0.1, 0.2, 0.3)).build()
        expected = np.eye(4)
        expected[:3, :3], expected[:3, 3] = turn("z", 0.3) @ turn("y", 0.2) @ turn("x", 0.1), (1, 2, 3)
        np.testing.assert_allclose(pose(robot, robot.neutral()), expected, atol=TIGHT)
    assert one_joint("free").neutral().tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert one_joint("planar").neutral().tolist() == [0, 0, 1, 0]


def test_21_integration_is_on_the_manifold() -> None:
    robot = one_joint("free")
    q0, v, *_ = state(robot)
    # one long step with a constant velocity is the same as many short ones
    q = q0
    for _ in range(64):
        q = robot.integrate(q, v, 1 / 64)
    np.testing.assert_allclose(q * np.sign(q[6]), (q1 := robot.integrate(q0, v)) * np.sign(q1[6]), atol=TIGHT)
    np.testing.assert_allclose(robot.difference(q0, q1), v, atol=TIGHT)
    ball = one_joint("spherical")
    far = ball.integrate(ball.neutral(), np.array([0, 0, 1.5 * math.pi]))
    np.testing.assert_allclose(ball.difference(ball.neutral(), far), [0, 0, -0.5 * math.pi], atol=TIGHT)


# ---- joints: order


def test_22_joints_are_in_depth_first_order() -> None:
    builder = pliant.RobotBuilder("tree")
    for name in "abcd":
        builder.body(name, **ROD)
    builder.joint("wa", "revolute", "world", "a").joint("ac", "revolute", "a", "c")
    builder.joint("wb", "revolute", "world", "b").joint("cd", "revolute", "c", "d")
    robot = builder.build()
    assert list(robot.joints) == ["wa", "ac", "cd", "wb"]
    assert list(robot.bodies) == [j.child for j in robot.joints.values()] == ["a", "c", "d", "b"]
    given = builder.build(order="given")
    assert list(given.joints) == ["wa", "ac", "wb", "cd"]
    assert list(given.bodies) == ["a", "c", "b", "d"]


def test_23_siblings_in_a_urdf_are_ordered_by_joint_name(star: Path) -> None:
    assert list(pliant.load(star).joints) == ["root_joint", "B", "a", "b"]
    assert list(pin.buildModelFromUrdf(str(star)).names) == ["universe", "B", "a", "b"]


def test_24_siblings_in_the_builder_keep_the_order_of_addition() -> None:
    builder = pliant.RobotBuilder("star").body("one", **ROD).body("two", **ROD)
    robot = builder.joint("b", "revolute", "world", "two").joint("a", "revolute", "world", "one").build()
    assert list(robot.joints) == ["b", "a"]


def test_25_entries_of_q_and_v_follow_the_joints() -> None:
    robot = pliant.load("quadruped")
    iq = iv = 0
    for joint in robot.joints.values():
        nq, nv = joint.kind.nq, joint.kind.nv
        if nv:
            assert (robot.q_slice(joint.name), robot.v_slice(joint.name)) == (slice(iq, iq + nq), slice(iv, iv + nv))
            assert all(n.split(".")[0] == joint.name for n in robot.coordinate_names[iq : iq + nq])
        iq, iv = iq + nq, iv + nv
    assert (iq, iv) == (robot.nq, robot.nv) == (len(robot.coordinate_names), len(robot.velocity_names))


def test_26_the_root_hangs_on_root_joint() -> None:
    floating, bolted = pliant.load("quadruped"), pliant.load("quadruped", base="fixed")
    assert floating.joints["root_joint"].kind.name == "free" and floating.is_free and floating.nv == 18
    assert bolted.joints["root_joint"].kind.name == "fixed" and not bolted.is_free and bolted.nv == 12
    assert "root_joint" not in one_joint("revolute").joints


def test_27_a_configuration_of_pinocchio_is_one_of_pliant() -> None:
    robot = pliant.load("biped")
    shipped = Path(pliant.__file__).parent / "catalogue" / "urdf" / "biped.urdf"
    model = pin.buildModelFromUrdf(str(shipped), pin.JointModelFreeFlyer())
    data = model.createData()
    rng = np.random.default_rng(1)
    q, v, vd = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)), *rng.normal(size=(2, model.nv))
    tau = pin.rnea(model, data, q, v, vd)
    np.testing.assert_allclose(pliant.inverse_dynamics(robot, q, v, vd), tau, rtol=0, atol=1e-12 * abs(tau).max())
    moved = pin.integrate(model, q, 0.1 * v)
    np.testing.assert_allclose(robot.integrate(q, v, 0.1), moved, atol=TIGHT)


def test_28_mimicking_joints_are_independent_unless_coupled(star: Path) -> None:
    apart, coupled = pliant.load(star), pliant.load(star, mimic=True)
    assert (apart.nq, coupled.nq) == (3, 2)
    assert pin.buildModelFromUrdf(str(star)).nq == 3
    assert coupled.joints["B"].mimic == Mimic("a", -2, 0.5)
    assert coupled.q_slice("B") == coupled.q_slice("a") == slice(0, 1)
    places = [pose(coupled, [0.3, 0.0], body)[2, 3] for body in ("three", "two")]
    assert places == pytest.approx([-2 * 0.3 + 0.5, 0.3])
