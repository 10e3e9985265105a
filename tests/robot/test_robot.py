"""The robot: layout, configurations and how they move, copies, text."""

import copy
import math
import pickle

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from moving_robots import OFF_CENTRE, PLANAR, SPHERICAL_PENDULUM, TURNING
from pliant.compiler import kernel_from_function
from pliant.errors import RobotError
from pliant.robot import (
    Continuous, Free, Geometry, Helical, JointKind, Mimic, Planar, Prismatic, Revolute, Robot, RobotBuilder, Spherical,
)  # fmt: skip
from pliant.robot.configurations import carried_velocity, held_acceleration, straight_motion
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from random_robots import ALL, close, robot_of, robots, seeds, state_of

BALL = (0.1, 0, 0, 0.1, 0, 0.1)


@pytest.fixture
def robot() -> Robot:
    """One joint of each kind, in a chain on a free base."""
    builder = RobotBuilder("zoo").body("base", mass=5, inertia=BALL)
    kinds = [Revolute((0, 1, 0)), Continuous(), Prismatic((1, 0, 0)), Helical((0, 0, 1), 0.1), Spherical(), Planar()]
    last = "base"
    for kind in kinds:
        builder.body(f"{kind.name}_body", mass=1, com=(0, 0, 0.1), inertia=BALL)
        builder.joint(kind.name, kind, last, f"{kind.name}_body", (0.1, 0, 0))
        last = f"{kind.name}_body"
    builder.body("tool", mass=0.5, inertia=BALL, collisions=[Geometry("sphere", (0.1,))])
    builder.joint("mount", "fixed", last, "tool", (0, 0, 0.2)).frame("tip", "tool", (0, 0, 0.1))
    return builder.motor("revolute", gear=10, rotor_inertia=1e-3).build(base="free")


# ---- layout


def test_sizes_slices_and_names_of_entries(robot: Robot) -> None:
    assert (robot.nq, robot.nv, robot.nu) == (19, 16, 1)
    assert (robot.q_slice("root_joint"), robot.q_slice("mount")) == (slice(0, 7), slice(19, 19))
    assert (robot.q_slice("spherical"), robot.v_slice("spherical")) == (slice(11, 15), slice(10, 13))
    assert robot.mass == 11.5
    assert len(robot.coordinate_names) == robot.nq
    assert len(robot.velocity_names) == robot.nv
    assert robot.coordinate_names[6:8] == ("root_joint.qw", "revolute")
    assert robot.velocity_names[13:] == ("planar.vx", "planar.vy", "planar.wz")


def test_lookups(robot: Robot) -> None:
    assert robot.joints[1] is robot.joints["revolute"]
    assert robot.joints.index("revolute") == 1
    assert "revolute" in robot.joints
    assert robot.bodies[-1].name == "tool"
    with pytest.raises(RobotError, match=r"no joint named 'revolut' in robot 'zoo'; did you mean 'revolute'"):
        robot.joints["revolut"]
    with pytest.raises(IndexError):
        robot.joints[99]
    assert "joints: root_joint, revolute" in repr(robot.joints)


def test_frames_by_any_name(robot: Robot) -> None:
    assert robot.frame("tip").body == "tool"
    assert robot.frame("tool") is robot.frame("mount")
    assert robot.frame("spherical").body == "spherical_body"
    assert robot.frame("world").body == "world"
    with pytest.raises(RobotError, match=r"no frame named 'top' in robot 'zoo'; did you mean '(tip|tool)'"):
        robot.frame("top")


def test_mimic_has_no_coordinate_of_its_own(robot: Robot) -> None:
    builder = RobotBuilder("gripper").body("palm", mass=1, inertia=BALL)
    for name, mimic in (("left", None), ("right", Mimic("left", -1, 0.1)), ("thumb", Mimic("right", 2, 0))):
        builder.body(name, mass=1, inertia=BALL)
        builder.joint(name, Revolute(), "palm", name, mimic=mimic)
    gripper = builder.build()
    assert (gripper.nq, gripper.nv) == (1, 1)
    assert gripper.q_slice("thumb") == gripper.q_slice("left") == slice(0, 1)
    assert gripper.leader("thumb").name == "left"
    assert gripper.coordinate_names == ("left",)
    assert gripper.integrate([1], [2]).tolist() == [3]


# ---- configurations


def test_neutral_and_random(robot: Robot) -> None:
    assert robot.neutral().tolist() == [0] * 6 + [1] + [0] * 7 + [1] + [0, 0, 1, 0]
    assert robot.random(0).shape == (19,)
    assert robot.random(0, batch=4).shape == (4, 19)
    np.testing.assert_array_equal(robot.random(7), robot.random(7))
    assert (robot.random() != robot.random()).all()
    narrow = robot.with_joint("revolute", limits=(0.1, 0.2)).random(0, batch=100)[:, 7]
    assert 0.1 <= narrow.min() <= narrow.max() <= 0.2


@pytest.mark.parametrize("batch", [None, 0, 1, 5])
def test_integrate_and_difference(robot: Robot, batch: int | None) -> None:
    rng = np.random.default_rng(1)
    q = robot.random(rng, batch)
    v = rng.standard_normal((*q.shape[:-1], robot.nv))
    moved = robot.integrate(q, v, 0.5)
    assert moved.shape == q.shape
    np.testing.assert_allclose(robot.difference(q, moved), v / 2, atol=1e-14)


def test_a_batch_is_each_robot_alone(robot: Robot) -> None:
    q, v = robot.random(2, batch=3), np.random.default_rng(2).standard_normal((3, robot.nv))
    dt = np.array([0, 0.01, 1])
    moved = robot.integrate(q, v, dt)
    for k in range(3):
        np.testing.assert_allclose(robot.integrate(q[k], v[k], dt[k]), moved[k], atol=1e-15)
    # one configuration and many velocities
    np.testing.assert_allclose(robot.integrate(q[0], v), [robot.integrate(q[0], w) for w in v], atol=1e-15)


def test_nan_stays_in_its_robot(robot: Robot) -> None:
    q = robot.random(3, batch=3)
    q[1, 8] = math.nan
    moved = robot.integrate(q, np.ones((3, robot.nv)))
    assert np.isnan(moved).sum(axis=1).tolist() == [0, 1, 0]


def test_wrong_lengths(robot: Robot) -> None:
    with pytest.raises(RobotError, match="q has 3 entries, but robot 'zoo' has nq = 19"):
        robot.integrate(np.zeros(3), np.zeros(16))
    with pytest.raises(RobotError, match="v has 19 entries, but robot 'zoo' has nv = 16"):
        robot.integrate(robot.neutral(), robot.neutral())
    with pytest.raises(RobotError, match="w has 3 entries, but robot 'zoo' has nv = 16"):
        robot.chart_rate([0, 0, 0], [0, 0])


def test_configurations_of_symbols() -> None:
    arm = RobotBuilder("arm").body("rod", mass=1, inertia=BALL).joint("pivot", "revolute", "world", "rod").build()
    q, v, dt = sympy.symbols("q v dt")
    assert arm.integrate([q], [v], dt) == [q + v * dt]
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    assert arm.difference([a], [b])[0] is b - a


# ---- copies with a change


def test_with_frame_and_gravity(robot: Robot) -> None:
    more = robot.with_frame("end", "tip", position=(0, 0, 1))
    assert (more.frame("end").body, list(more.frame("end").placement.p)) == ("tool", [0, 0, 1.1])
    assert "end" not in robot.frames
    assert list(robot.with_gravity(0, 0, -1.62).gravity) == [0, 0, -1.62]


def test_lumped(robot: Robot) -> None:
    lumped = robot.lumped()
    assert (len(lumped.joints), lumped.nq, lumped.mass) == (len(robot.joints) - 1, robot.nq, robot.mass)
    assert "tool" not in lumped.bodies
    for name in ("tool", "mount", "tip"):
        assert lumped.frame(name).body == "planar_body"
    np.testing.assert_allclose(list(lumped.frame("tip").placement.p), [0, 0, 0.3])
    assert list(lumped.bodies["planar_body"].collisions[0].placement.p) == [0, 0, 0.2]
    # 1 kg at 0.1 m and 0.5 kg at 0.2 m
    np.testing.assert_allclose(list(lumped.bodies["planar_body"].inertia.h), [0, 0, 0.2])


def test_lumped_keeps_the_body_that_holds_the_base() -> None:
    builder = RobotBuilder("arm").body("foot", mass=1, inertia=BALL).body("post", mass=1, inertia=BALL)
    robot = builder.joint("bolt", "fixed", "foot", "post", (0, 0, 1)).build().lumped()
    assert (list(robot.bodies), list(robot.joints)) == (["foot"], ["root_joint"])
    assert robot.frame("bolt").body == "foot"


# ---- identity and text


def test_robots_are_frozen_themselves_and_pickled(robot: Robot) -> None:
    with pytest.raises(AttributeError):
        robot.name = "other"  # type: ignore[misc]
    twin = copy.copy(robot)
    assert robot != twin
    assert len({robot, twin, robot}) == 2
    assert twin.digest == robot.digest
    assert robot.mechanism is robot.mechanism
    again = pickle.loads(pickle.dumps(robot))
    assert again.digest == robot.digest
    assert repr(again) == repr(robot)


def test_digest_sees_what_dynamics_sees(robot: Robot) -> None:
    changed = [
        robot.with_gravity(0, 0, -9.8), robot.with_joint("revolute", armature=1e-9), robot.with_frame("end", "tip"),
        robot.with_joint("planar", damping=1), robot.with_motor("prismatic"), robot.lumped(),
    ]  # fmt: skip
    assert len({r.digest for r in [robot, *changed]}) == len(changed) + 1
    assert robot.with_gravity(0, 0, -9.81).digest == robot.digest


def test_table(robot: Robot) -> None:
    text = repr(robot.with_joint("revolute", limits=(-1, 1)))
    assert text.startswith("Robot 'zoo': nq = 19, nv = 16, nu = 1, 8 bodies, 11.5 kg\n")
    line = next(line for line in text.splitlines() if line.startswith("revolute"))
    assert " ".join(line.split()) == "revolute revolute (0 1 0) base revolute_body 7 6 [-1, 1] 1"
    assert "motors: revolute" in text
    assert "frames: tip" in text


def test_tree() -> None:
    builder = RobotBuilder("t").body("a").body("b").body("c")
    builder.joint("ab", "fixed", "a", "b").joint("ac", Free(), "a", "c")
    assert builder.build().tree().splitlines() == [
        "world", "└─ a  (root_joint: fixed)", "   ├─ b  (ab: fixed)", "   └─ c  (ac: free)",
    ]  # fmt: skip


# ---- joints that float keep their velocity in space

each_floating = pytest.mark.parametrize("robot", [OFF_CENTRE, PLANAR], ids=lambda r: r.name)


def linear_velocity(robot: Robot, q, v) -> np.ndarray:
    """Of the body's origin, in the world's axes."""
    return pliant.frame_velocity(robot, np.array(q), np.array(v), "body", reference="local_world_aligned")[:3]


@each_floating
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


@each_floating
def test_a_carried_velocity_is_the_same_in_space(robot: Robot) -> None:
    for seed in range(5):
        state = state_of(robot, seed)
        q, v, dt = state.q.tolist(), (4 * state.v).tolist(), 0.2
        q1, v1 = straight_motion(robot, q, v, dt), carried_velocity(robot, v, dt)
        np.testing.assert_allclose(linear_velocity(robot, q1, v1), linear_velocity(robot, q, v), atol=1e-12)
        turns = slice(3, None) if robot is OFF_CENTRE else slice(2, None)
        np.testing.assert_array_equal(v1[turns], v[turns])


@each_floating
def test_a_held_acceleration_is_the_rate_of_a_carried_velocity(robot: Robot) -> None:
    """Central differences; those of order h^4 are 1e-9 here."""
    h = 1e-3
    for seed in range(5):
        v = state_of(robot, seed).v.tolist()

        def at(t: float, v=v) -> np.ndarray:
            return np.array(carried_velocity(robot, v, t))

        rate = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        np.testing.assert_allclose(held_acceleration(robot, v), rate, atol=1e-9)


@each_floating
def test_a_held_acceleration_leaves_the_origin_without_one(robot: Robot) -> None:
    """The classical acceleration of the origin in space, by Pliant's own kinematics, is zero."""
    state = state_of(robot, 3)
    vd = np.array(held_acceleration(robot, state.v.tolist()))
    a = pliant.dynamics.frame_acceleration(robot, state.q, state.v, vd, "body", reference="local_world_aligned")
    # rounding of products of numbers of some 3
    np.testing.assert_allclose(a[:3], 0, atol=1e-12)


@pytest.mark.parametrize("robot", [SPHERICAL_PENDULUM, TURNING], ids=lambda r: r.name)
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


# ---- the rate of the chart that integrate(q, w) needs

OBLIQUE = (1 / math.sqrt(14), -2 / math.sqrt(14), 3 / math.sqrt(14))
CURVED = [Spherical(), Planar(), Planar((0, 1, 0)), Planar((0, -1, 0)), Planar(OBLIQUE), Free()]
STRAIGHT = [Revolute(OBLIQUE), Continuous(), Prismatic(), Helical((1, 0, 0), 0.3)]
each_curved = pytest.mark.parametrize("kind", CURVED, ids=repr)
# length of the rotation: any within the chart, next to none, and about where the series takes over (0.316)
turns = st.one_of(st.floats(0, 5), st.floats(0, 1e-7), st.floats(0.3, 0.33))


def angular(kind: JointKind) -> slice:
    return {"free": slice(3, 6), "planar": slice(2, 3), "spherical": slice(0, 3)}[kind.name]


def chart(kind: JointKind, rng: np.random.Generator, turn: float) -> np.ndarray:
    w = rng.standard_normal(kind.nv)
    w[angular(kind)] *= turn / np.linalg.norm(w[angular(kind)])
    return w


@each_curved
@settings(max_examples=40)
@given(seed=seeds, turn=turns)
def test_rate_of_the_chart_gives_the_velocity(kind: JointKind, seed: int, turn: float) -> None:
    rng, h = np.random.default_rng(seed), 1e-3
    w, v = chart(kind, rng, turn), rng.standard_normal(kind.nv)
    q0 = kind.random(rng, [-math.inf] * kind.nq, [math.inf] * kind.nq)
    rate = np.array(kind.chart_rate(w, v))
    here = kind.integrate(q0, w)

    def moved(s: float) -> np.ndarray:
        return np.array(kind.difference(here, kind.integrate(q0, w + s * rate)))

    found = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    # differences of order h^4 and of rounding over h; next to the end of the chart at 2 pi rates are larger
    np.testing.assert_allclose(found, v, atol=1e-9 * max(1, abs(rate).max()) ** 3)


@each_curved
@settings(max_examples=40)
@given(seed=seeds, turn=st.floats(0, 0.5))
def test_rate_of_the_chart_is_the_series_of_brackets(kind: JointKind, seed: int, turn: float) -> None:
    """v + 1/2 [w, v] + 1/12 [w, [w, v]] - 1/720 ad^4 + 1/30240 ad^6 - ..., with Bernoulli's numbers."""
    rng = np.random.default_rng(seed)
    w, v = chart(kind, rng, turn), rng.standard_normal(kind.nv)
    term, expected, factor = kind.motion(v), np.zeros(6), 1.0
    for n in range(16):
        # B_1 = +1/2, for velocities in the body's frame
        number = float(abs(sympy.bernoulli(n))) if n == 1 else float(sympy.bernoulli(n))
        expected += number / factor * np.array(list(term), dtype=float)
        term, factor = kind.motion(w).cross(term), factor * (n + 1)
    # the series converges like (turn / 2 pi)^n
    np.testing.assert_allclose(list(kind.motion(kind.chart_rate(w, v))), expected, atol=1e-13)


def test_at_zero_and_for_joints_of_one_dof_it_is_the_velocity() -> None:
    for kind in (*CURVED, *STRAIGHT):
        v = [0.3 * (k + 1) for k in range(kind.nv)]
        assert kind.chart_rate([0] * kind.nv, v) == pytest.approx(v, abs=1e-15)  # an oblique plane rounds
    for kind in STRAIGHT:
        assert kind.chart_rate([0.7], [1.5]) == [1.5]


@settings(max_examples=15)
@given(robot=robots(), seed=seeds)
def test_of_robots(robot: Robot, seed: int) -> None:
    """Joint by joint, for one, for a batch, and compiled."""
    rng = np.random.default_rng(seed)
    w, v = rng.normal(size=(2, 5, robot.nv)) * 0.7
    many = robot.chart_rate(w, v)
    assert many.shape == (5, robot.nv)
    for k in range(5):
        close(many[k], robot.chart_rate(w[k], v[k]), 1e-15)
        close(many[k], robot.chart_rate(w[k].tolist(), v[k].tolist()), 1e-15)
    for joint in robot.joints.values():
        if joint.mimic is None:
            part = robot.v_slice(joint.name)
            close(many[0, part], joint.kind.chart_rate(w[0, part], v[0, part]), 1e-15)


@each_curved
@pytest.mark.parametrize("scale", [0, 1e-8, 0.3, 2])
def test_scalars(kind: JointKind, scale: float) -> None:
    rng, graph = np.random.default_rng(4), Graph()
    w, v = scale * rng.standard_normal(kind.nv), rng.standard_normal(kind.nv)
    expected = kind.chart_rate(w.tolist(), v.tolist())
    names = [f"{x}{k}" for x in "wv" for k in range(kind.nv)]
    nodes = [graph.input(n) for n in names]
    traced = kind.chart_rate(nodes[: kind.nv], nodes[kind.nv :])
    found = interpret([graph.lift(x) for x in traced], dict(zip(names, [*w, *v], strict=True)))
    np.testing.assert_allclose(found, expected, atol=1e-14)
    kernel = kernel_from_function(kind.chart_rate, {"w": (kind.nv,), "v": (kind.nv,)})
    np.testing.assert_allclose(kernel(w, v), expected, atol=1e-14)
    symbols = sympy.symbols(f"w:{kind.nv}", real=True)
    formula = sympy.Matrix(kind.chart_rate(symbols, v.tolist()))
    values = dict(zip(symbols, w.tolist(), strict=True))
    np.testing.assert_allclose(np.array(formula.subs(values), dtype=float).ravel(), expected, atol=1e-13)
