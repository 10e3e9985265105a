"""The robot: layout, configurations, copies, text."""

import copy
import math
import pickle

import numpy as np
import pytest
import sympy

from pliant.errors import RobotError
from pliant.robot import (
    Continuous, Free, Geometry, Helical, Mimic, Planar, Prismatic, Revolute, Robot, RobotBuilder, Spherical,
)  # fmt: skip
from pliant.scalar import Graph

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


def test_sizes_and_slices(robot: Robot) -> None:
    assert (robot.nq, robot.nv, robot.nu) == (19, 16, 1)
    assert (robot.q_slice("root_joint"), robot.q_slice("mount")) == (slice(0, 7), slice(19, 19))
    assert (robot.q_slice("spherical"), robot.v_slice("spherical")) == (slice(11, 15), slice(10, 13))
    assert robot.mass == 11.5


def test_names_of_entries(robot: Robot) -> None:
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


def test_neutral(robot: Robot) -> None:
    assert robot.neutral().tolist() == [0] * 6 + [1] + [0] * 7 + [1] + [0, 0, 1, 0]


def test_random(robot: Robot) -> None:
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


def test_robots_are_frozen_and_themselves(robot: Robot) -> None:
    with pytest.raises(AttributeError):
        robot.name = "other"  # type: ignore[misc]
    twin = copy.copy(robot)
    assert robot != twin
    assert len({robot, twin, robot}) == 2
    assert twin.digest == robot.digest


def test_pickle(robot: Robot) -> None:
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
