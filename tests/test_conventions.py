"""Each numbered line of docs/conventions.md, proved by the test that has its number and title."""

import math
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import sympy

import pliant
from pliant.robot import Helical, Mimic, Planar
from pliant.spatial import Motion, Transform, Vector, rotation_about, rotation_from_rpy

PAGE = Path(__file__).parents[1] / "docs" / "conventions.md"
SHIPPED = Path(pliant.__file__).parent / "robots"
TIGHT = 1e-13  # a few dozen roundings of numbers of order one
ROD = {"mass": 1, "com": (0.5, 0, 0), "inertia": (0.01, 0, 0, 0.1, 0, 0.1)}


def one_joint(kind, *, axis=None, **options) -> pliant.Robot:
    """A rod along x on one joint at the world's origin."""
    builder = pliant.RobotBuilder("one").body("rod", **ROD)
    return builder.joint("j", kind, "world", "rod", axis=axis, **options).build()


def pose(robot: pliant.Robot, q, frame: str = "rod") -> np.ndarray:
    return pliant.frame_pose(robot, np.array(q, dtype=float), frame)


def turn(axis: str, angle: float) -> np.ndarray:
    """The textbook's rotation matrix, written out."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array({
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis], dtype=float)  # fmt: skip


def state(robot: pliant.Robot, seed: int = 0, batch: int | None = None) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    q = robot.random(rng, batch=batch)
    lead = () if batch is None else (batch,)
    return q, *(rng.normal(size=(*lead, robot.nv)) for _ in range(3))


def rate(function, robot: pliant.Robot, q, v) -> np.ndarray:
    """d/dt of ``function(q)`` as q moves with v; central differences, good to about 1e-9."""
    h = 1e-5
    return (np.array(function(robot.integrate(q, v, h))) - function(robot.integrate(q, v, -h))) / (2 * h)


def titles() -> list[tuple[int, str]]:
    """Number and title of every line of the page."""
    return [(int(n), t) for n, t in re.findall(r"^(\d+)\. \*\*(.+?)\.\*\*", PAGE.read_text(encoding="utf-8"), re.M)]


def test_every_line_has_its_test() -> None:
    lines = titles()
    assert [n for n, _ in lines] == list(range(1, len(lines) + 1)), "lines are numbered 1, 2, 3, ..."
    assert len(lines) == len(re.findall(r"^\d+\.", PAGE.read_text(encoding="utf-8"), re.M)), "each line has a title"
    expected = {f"test_{n:02}_{re.sub('[^a-z0-9]+', '_', t.lower()).strip('_')}" for n, t in lines}
    found = {name for name in globals() if re.match(r"test_\d", name)}
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
    functions = [f for f in (getattr(pliant, n) for n in pliant.__all__) if isinstance(f, pliant.RobotFunction)]
    assert len(functions) > 20
    order = ["robot", "q", "v", "vd", "tau", "force", "frame"]
    for function in functions:
        parameters = function.signature.parameters.values()
        places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        assert places == [n for n in order if n in places], function
        assert places[0] == "robot" and set(options) <= {"reference", "kind", "external"}, function
    with pytest.raises(pliant.PliantError, match="takes a Robot first"):
        pliant.mass_matrix(np.zeros(2), pliant.load("acrobot"))


def test_03_the_batch_axis_is_first() -> None:
    robot = pliant.load("arm7")
    q, v, vd, _ = state(robot, batch=5)
    tau, M = pliant.inverse_dynamics(robot, q, v, vd), pliant.mass_matrix(robot, q)
    assert tau.shape == (5, 7) and M.shape == (5, 7, 7)
    assert pliant.inverse_dynamics(robot, q[0], v[0], vd[0]).shape == (7,)
    assert pliant.kinetic_energy(robot, q, v).shape == (5,) and pliant.kinetic_energy(robot, q[0], v[0]).shape == ()
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
    parent, child = (
        pliant.frame_velocity(arm, np.array([0.3, 0.4]), np.array([1.0, 0.0]), body)[3:]
        for body in ("upper_arm", "forearm")
    )
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


BRANCHES = """<robot name="star">
  <link name="hub"/><link name="one"/><link name="two"/><link name="three"/>
  <joint name="b" type="prismatic">
    <parent link="hub"/><child link="one"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
  </joint>
  <joint name="a" type="prismatic">
    <parent link="hub"/><child link="two"/><limit lower="-1" upper="1" effort="0" velocity="9"/>
  </joint>
  <joint name="B" type="prismatic">
    <parent link="hub"/><child link="three"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
    <mimic joint="a" multiplier="-2" offset="0.5"/>
  </joint>
</robot>"""


@pytest.fixture
def star(tmp_path: Path) -> Path:
    path = tmp_path / "star.urdf"
    path.write_text(BRANCHES, encoding="utf-8")
    return path


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
    model = pin.buildModelFromUrdf(str(SHIPPED / "biped.urdf"), pin.JointModelFreeFlyer())
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
    places = [pose(coupled, [0.3, 0.0], body)[0, 3] for body in ("three", "two")]
    assert places == pytest.approx([-2 * 0.3 + 0.5, 0.3])


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
    np.testing.assert_allclose(
        np.array(X_AC.homogeneous()), np.array(X_AB.homogeneous()) @ np.array(X_BC.homogeneous()), atol=TIGHT
    )
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
    np.testing.assert_allclose(
        aligned[:3], rate(lambda q: pliant.frame_pose(robot, q, "tool")[:3, 3], robot, q, v), atol=1e-8
    )
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
        Jdot = pliant.frame_jacobian_rate(robot, q, v, "tool", reference=reference)
        np.testing.assert_allclose(Jdot, expected, atol=1e-8)


def test_37_accelerations_are_classical() -> None:
    # a point that goes round at 1 rad/s has no spatial acceleration, and a classical one towards the centre
    robot = one_joint("continuous", axis=(0, 0, 1)).with_frame("tip", "rod", (2, 0, 0))
    q, v, vd = np.zeros(1), np.ones(1), np.zeros(1)
    np.testing.assert_allclose(pliant.frame_acceleration(robot, q, v, vd, "tip"), [-2, 0, 0, 0, 0, 0], atol=TIGHT)
    spatial = pliant.frame_acceleration(robot, q, v, vd, "tip", kind="spatial")
    np.testing.assert_allclose(spatial, np.zeros(6), atol=TIGHT)
    # gravity is no part of it: a robot held at rest does not accelerate
    assert not pliant.frame_acceleration(robot, q, 0 * v, vd, "tip").any()


# ---- dynamics


def test_38_the_equations_of_motion_have_tau_alone() -> None:
    robot = pliant.load("quadruped")
    q, v, vd, _ = state(robot)
    external = np.random.default_rng(1).normal(size=(len(robot.bodies), 6))
    M, h = pliant.mass_matrix(robot, q), pliant.bias_forces(robot, q, v)
    C, g = pliant.coriolis_matrix(robot, q, v), pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(h, C @ v + g, atol=1e-11)
    tau = pliant.inverse_dynamics(robot, q, v, vd, external=external)
    pushed = sum(
        pliant.frame_jacobian(robot, q, body, reference="local").T @ f
        for body, f in zip(robot.bodies, external, strict=True)
    )
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
    assert pliant.potential_energy(robot, robot.neutral()) == pytest.approx(0, abs=1e-15)
    raised = robot.neutral() + np.array([0, 0, 2, 0, 0, 0, 0])
    assert pliant.potential_energy(robot, raised) == pytest.approx(1 * 9.81 * 2)
    arm = pliant.load("arm7")
    q, *_ = state(arm)
    gradient = [rate(lambda q: pliant.potential_energy(arm, q), arm, q, unit) for unit in np.eye(arm.nv)]
    np.testing.assert_allclose(gradient, pliant.gravity_forces(arm, q), atol=1e-7)


def test_41_the_mass_matrix_is_full_and_symmetric() -> None:
    robot = pliant.load("arm7")
    M = pliant.mass_matrix(robot, state(robot)[0])
    np.testing.assert_array_equal(M, M.T)
    assert np.tril(M, -1)[1:, 0].all()


def test_42_rotor_inertia_counts_in_m_and_in_kinetic_energy() -> None:
    plain = pliant.load("double_pendulum")
    joints = list(plain.joints)[-2:]
    robot = plain.with_armature(joints[0], 0.3).with_motor(joints[1], gear=10, rotor_inertia=2e-3)
    q, v, *_ = state(robot)
    M, bare = pliant.mass_matrix(robot, q), pliant.mass_matrix(plain, q)
    np.testing.assert_allclose(M - bare, np.diag([0.3, 100 * 2e-3]), atol=TIGHT)
    assert pliant.kinetic_energy(robot, q, v) == pytest.approx(v @ M @ v / 2, rel=1e-13)
    momenta = (pliant.centroidal_momentum(r, q, v) for r in (robot, plain))
    np.testing.assert_array_equal(*momenta)


def test_43_damping_and_friction_of_joints_are_data() -> None:
    plain = pliant.load("pendulum")
    robot = plain.with_joint("hinge", damping=5, friction=2, limits=(-0.1, 0.1))
    assert robot.joints["hinge"].damping == (5,) and robot.joints["hinge"].friction == (2,)
    q, v = np.array([1.0]), np.array([3.0])  # beyond the limits
    np.testing.assert_array_equal(
        pliant.forward_dynamics(robot, q, v, [0.0]), pliant.forward_dynamics(plain, q, v, [0.0])
    )


def test_44_bodies_that_cannot_move_do_not_count() -> None:
    builder = pliant.RobotBuilder("crane").body("tower", mass=1000, com=(7, 7, 7)).body("rod", **ROD)
    robot = builder.joint("j", "revolute", "tower", "rod", axis=(0, 0, 1)).build()
    q = np.zeros(1)
    assert robot.mass == 1001
    np.testing.assert_allclose(pliant.center_of_mass(robot, q), [0.5, 0, 0], atol=TIGHT)
    assert pliant.potential_energy(robot, q) == pytest.approx(0, abs=TIGHT)
    assert pliant.centroidal_matrix(robot, q)[:3, 0] == pytest.approx([0, 0.5, 0], abs=TIGHT)


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
    np.testing.assert_allclose(momentum[:3], robot.mass * pliant.center_of_mass_velocity(robot, q, v), atol=1e-12)
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
    pull = pliant.centroidal_momentum_rate(robot, q, v, falling)
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


# ---- motors and robots


def test_50_controls_follow_the_motors() -> None:
    robot = pliant.load("double_pendulum")
    first, second = list(robot.joints)[-2:]
    robot = robot.with_motor(second, gear=5, effort_limit=40).with_motor(first)
    assert robot.nu == 2 and list(robot.motors) == [second, first]
    assert robot.motors[second].effort_limit == 40 and robot.motors[second].armature == 0
    with pytest.raises(pliant.RobotError, match="cannot drive the free joint"):
        pliant.load("quadruped").with_motor("root_joint")


def test_51_a_urdf_joint_has_a_motor_unless_its_effort_limit_is_zero(star: Path) -> None:
    assert list(pliant.load(star).motors) == ["B", "b"]
    assert list(pliant.load(star, mimic=True).motors) == ["b"]


def test_52_robots_do_not_change() -> None:
    robot = pliant.load("pendulum")
    heavier = robot.with_armature("hinge", 1)
    assert robot.joints["hinge"].armature == (0,) and heavier.joints["hinge"].armature == (1,)
    with pytest.raises(AttributeError):
        robot.name = "other"  # type: ignore[misc]
    twin = pliant.load("pendulum")
    assert robot != twin and robot.digest == twin.digest != heavier.digest


def test_53_random_configurations_keep_the_limits() -> None:
    robot = pliant.load("quadruped")
    q = robot.random(0, batch=2000)
    for joint in robot.joints.values():
        part = q[:, robot.q_slice(joint.name)]
        if joint.kind.nq == 1:
            assert part.min() >= joint.limits.lower[0] and part.max() <= joint.limits.upper[0]
            assert np.ptp(part) > 0.95 * (joint.limits.upper[0] - joint.limits.lower[0])
    assert abs(q[:, :3]).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-15)
    assert abs(q[:, 3:7].mean(axis=0)).max() < 0.05  # no direction preferred
    assert abs(pliant.load("pendulum").random(0, batch=500)).max() <= math.pi


# ---- simulation

RADIUS, DT = 0.1, 1e-3


def ball(**options) -> pliant.Robot:
    """A ball of 2 kg that touches."""
    builder = pliant.RobotBuilder("ball").body("ball", mass=2, inertia=(0.008, 0, 0, 0.008, 0, 0.008))
    return builder.build(base="free").with_contact("ball", radius=RADIUS, **options)


def wheel(**motor) -> pliant.Robot:
    """A wheel of 0.5 kg m^2 on a motor, without gravity."""
    builder = pliant.RobotBuilder("wheel").gravity(0, 0, 0).body("wheel", mass=1, inertia=(1, 0, 0, 1, 0, 0.5))
    return builder.joint("hub", "continuous", "world", "wheel", axis=(0, 0, 1)).build().with_motor("hub", **motor)


def placed(z: float = RADIUS) -> list[float]:
    return [0, 0, z, 0, 0, 0, 1]


def test_54_time_counts_whole_steps() -> None:
    sim = pliant.Simulation(wheel(), dt=DT, substeps=4)
    sim.reset(t=0.0104)
    assert sim.t == pytest.approx(0.010, abs=1e-15)
    sim.step([1.0])
    assert sim.t == pytest.approx(0.014, abs=1e-15)
    # the control is held for four steps
    assert sim.v == pytest.approx([4 * DT / 0.5], rel=1e-13)


def test_55_contact_forces_are_on_the_robot() -> None:
    sim = pliant.Simulation(ball(), dt=DT, ground=pliant.flat(friction=0.5))
    sim.reset(q=placed(), v=[1, 0, 0, 0, 0, 0])
    sim.step()
    assert list(sim.contact_names) == ["ball"]
    # pushed up with the weight, and slowed down by friction; the solver stops at 1e-9 m/s a step of 1 ms
    np.testing.assert_allclose(sim.contact_forces, [[-0.5 * 2 * 9.81, 0, 2 * 9.81]], atol=1e-5)


def test_56_a_pair_s_force_is_on_its_first_shape() -> None:
    builder = pliant.RobotBuilder("two").gravity(0, 0, 0)
    for name in ("a", "b"):
        builder.body(name, mass=1, inertia=(1, 0, 0, 1, 0, 1)).joint(
            f"j{name}", "prismatic", "world", name, axis=(1, 0, 0)
        )
    robot = builder.build().with_contacts("a", "b", radius=0.5).with_contact_pair("a", "b")
    sim = pliant.Simulation(robot, dt=DT)
    sim.reset(q=[1, 0], v=[-1, 0])  # a is on the side of +x and moves into b
    sim.step()
    assert list(sim.contact_names)[-1] == "a|b"
    # they go on together with half of the speed: the impulse on a is +0.5 N s
    np.testing.assert_allclose(sim.v, -0.5, atol=1e-9)
    np.testing.assert_allclose(sim.contact_forces[-1], [0.5 / DT, 0, 0], atol=1e-5)


def test_57_depth_is_positive_in_the_ground() -> None:
    law = pliant.SpringDamper(stiffness=1000, damping=10, friction=0.5, slip_speed=1e-3)
    assert law(-0.01, 0, (0, 0))[0] == 0
    normal, friction = law(0.01, 0.2, (3, 0))
    assert normal == pytest.approx(1000 * 0.01 + 10 * 0.2) and friction[0] == pytest.approx(-0.5 * normal)
    # the same in a simulation, whose explicit integrator takes the law at the start of the step
    seen = pliant.CompliantContact(lambda depth, rate, slip: (1000 * depth + 10 * rate, (-slip[0], -slip[1])))
    sim = pliant.Simulation(ball(), dt=1e-7, ground=pliant.flat(), contact=seen, integrator="rk4")
    sim.reset(q=placed(RADIUS - 0.01), v=[3, 4, -0.2, 0, 0, 0])
    sim.step()
    rate = sim.v[:3] - [3, 4, -0.2]
    # over 1e-7 s the forces change by less than a part in 1e5; the difference of v has 9 digits
    np.testing.assert_allclose(rate / 1e-7, [-3 / 2, -4 / 2, (10 + 2) / 2 - 9.81], rtol=1e-4)


def test_58_the_contact_s_own_friction_goes_first() -> None:
    model = pliant.RigidContact(friction=0.1)
    for robot, ground, mu in (
        (ball(friction=0.3), pliant.flat(friction=0.2), 0.3),
        (ball(), pliant.flat(friction=0.2), 0.2),
        (ball(), pliant.flat(), 0.1),
    ):
        sim = pliant.Simulation(robot, dt=DT, ground=ground, contact=model)
        sim.reset(q=placed(), v=[1, 0, 0, 0, 0, 0])
        sim.step()
        assert sim.contact_forces[0, 0] == pytest.approx(-mu * 2 * 9.81, abs=1e-5)


def test_59_restitution_is_a_ratio_of_speeds() -> None:
    sim = pliant.Simulation(ball(restitution=0.6).with_gravity(0, 0, 0), dt=DT, ground=pliant.flat())
    sim.reset(q=placed(RADIUS + 0.01), v=[0, 0, -2, 0, 0, 0])
    sim.run(0.02)
    assert sim.v[2] == pytest.approx(0.6 * 2, abs=1e-8)
    builder = pliant.RobotBuilder("slider").gravity(0, 0, 0).body("slider", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    robot = builder.joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), limits=(-1, 0.01)).build()
    sim = pliant.Simulation(robot.with_joint("rail", restitution=0.6), dt=DT)
    sim.reset(v=[2])
    sim.run(0.02)
    assert sim.v == pytest.approx([-0.6 * 2], abs=1e-8)


def test_60_motors_act_at_joints() -> None:
    sim = pliant.Simulation(wheel(gear=10, rotor_inertia=1e-3, effort_limit=3), dt=DT)
    sim.step([5.0])
    assert sim.tau == pytest.approx([3.0])
    assert sim.v == pytest.approx([3 * DT / (0.5 + 10 * 10 * 1e-3)], rel=1e-13)


def test_61_gains_act_at_the_end_of_the_step() -> None:
    kp, kd, q, v, u = 1e5, 20.0, 0.2, 3.0, 0.5
    sim = pliant.Simulation(wheel(control="position", kp=kp, kd=kd), dt=DT)
    sim.reset(q=[q], v=[v])
    sim.step([u])
    expected = (0.5 * v + DT * kp * (u - q)) / (0.5 + DT * kd + DT * DT * kp)
    assert sim.v == pytest.approx([expected], rel=1e-12)
    assert sim.tau == pytest.approx([kp * (u - sim.q[0]) - kd * expected], rel=1e-9)


def test_62_external_forces_act_at_a_frame_s_origin() -> None:
    robot = (
        ball().without_contacts().with_gravity(0, 0, 0).with_frame("rim", "ball", (0, RADIUS, 0), (0, 0, math.pi / 2))
    )
    for frame, force in (("world", (4.0, 0, 0)), ("body", (0, -4.0, 0))):  # the frame's -y is the world's x
        push = pliant.ExternalForce("rim", force=force, frame=frame, start=2 * DT, end=3 * DT)
        sim = pliant.Simulation(robot, dt=DT, forces=[push])
        sim.step()
        sim.step()
        assert not sim.v.any()
        for _ in range(2):  # it acts in one of the two
            sim.step()
        # at y = 0.1 m, a force along x turns about -z
        np.testing.assert_allclose(sim.v[[0, 5]], [4 * DT / 2, -4 * RADIUS * DT / 0.008], rtol=1e-3)


def test_63_a_state_is_a_row_of_numbers() -> None:
    sim = pliant.Simulation(ball(), ground=pliant.flat(), batch=3)
    sim.reset(q=placed(1))
    state = sim.state
    assert state.data.shape == (3, state.layout.size) and state.robot(0).data.shape == (state.layout.size,)
    assert list(state.layout.sizes)[:3] == ["q", "v", "clock"]
    assert state.layout.span("v") == slice(7, 13)
    state.part("v")[1, 0] = 5
    assert state.data[1, 7] == 5 and not sim.v.any()


def test_64_a_step_ends_in_the_axes_of_its_end() -> None:
    robot = ball().without_contacts().with_gravity(0, 0, 0)
    sim = pliant.Simulation(robot, dt=DT)
    sim.reset(v=[1, 2, 3, 4, -5, 6])
    sim.run(0.5)
    R = pliant.frame_pose(robot, sim.q, "ball")[:3, :3]
    assert abs(sim.v[:3] - [1, 2, 3]).max() > 0.1
    np.testing.assert_allclose(R @ sim.v[:3], [1, 2, 3], atol=1e-12)  # 500 steps of rounding
    np.testing.assert_allclose(sim.q[:3], [0.5, 1, 1.5], atol=1e-12)


def test_65_a_robot_in_trouble_stands_still() -> None:
    sims = [pliant.Simulation(wheel(), dt=DT, batch=3) for _ in range(2)]
    sims[0].step([[1.0], [1.0], [1.0]])
    with pytest.warns(pliant.SimulationWarning, match="robot 1"):
        sims[1].step([[1.0], [np.nan], [1.0]])
    sound, troubled = sims[0].state, sims[1].state
    assert np.array_equal(sound.data[[0, 2]], troubled.data[[0, 2]])
    assert sims[1].t[1] == 0 and sims[1].q[1] == 0 and [trouble.robot for trouble in sims[1].troubles] == [1]


def test_66_energy_has_three_terms() -> None:
    robot = wheel(control="position", kp=100).with_joint("hub", stiffness=4, rest=0.5)
    robot = robot.with_spring("world", "wheel", stiffness=10, length=0.3)
    sim = pliant.Simulation(robot)
    sim.reset(q=[1.5], v=[2])
    terms = sim.diagnostics.energy
    assert list(terms) == ["kinetic", "potential", "elastic"]
    # the wheel's origin is the world's: the spring between them is 0.3 m short
    assert terms["kinetic"] == pytest.approx(0.5 * 0.5 * 4) and terms["potential"] == 0
    assert terms["elastic"] == pytest.approx(0.5 * 4 * 1 + 0.5 * 10 * 0.3**2)
