"""The mechanism: on random trees of all kinds of joints it is the robot, in other frames."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given

from pliant.dynamics import frame_pose
from pliant.robot import Helical, Mimic, Robot, RobotBuilder
from pliant.robot.joints import snapped
from pliant.robot.mechanism import snapped_transform
from pliant.spatial import AxisRotation, Motion, Transform, Vector, rotation_from_rpy
from random_robots import close, robots, seeds, state_of, turns

BALL = (0.1, 0, 0, 0.1, 0, 0.1)


def body_states(robot: Robot, q: np.ndarray, v: np.ndarray) -> dict[str, tuple[Transform, Motion]]:
    """Pose and velocity of every body, straight from the robot's own joints and frames."""

    def own(name: str) -> tuple[np.ndarray, np.ndarray]:
        mimic = robot.joints[name].mimic
        if mimic is None:
            return q[robot.q_slice(name)], v[robot.v_slice(name)]
        position, rate = own(mimic.joint)
        return mimic.multiplier * position + mimic.offset, mimic.multiplier * rate

    states = {"world": (Transform.identity(), Motion.zero())}
    for joint in robot.joints.values():
        (X_WP, v_P), (position, rate) = states[joint.parent], own(joint.name)
        X_PB = joint.placement @ joint.kind.transform(position)
        states[joint.child] = (X_WP @ X_PB, X_PB.act_back(v_P) + joint.kind.motion(rate))
    return states


def link_states(robot: Robot, q: np.ndarray, v: np.ndarray) -> list[tuple[Transform, Motion]]:
    """The same of every link of the mechanism."""
    states: list[tuple[Transform, Motion]] = []
    for link in robot.mechanism.links:
        X_WP, v_P = states[link.parent] if link.parent >= 0 else (Transform.identity(), Motion.zero())
        X = link.transform(q)
        states.append((X.onto(X_WP), X.act_back(v_P) + link.kind.motion(link.rate(v))))
    return states


def homogeneous(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous(), dtype=float)


@given(robots(most=8), seeds, turns)
def test_frames_are_where_the_robot_has_them(robot: Robot, seed: int, turn: float | None) -> None:
    q, v, _, _ = state_of(robot, seed, turn)
    bodies, links = body_states(robot, q, v), link_states(robot, q, v)
    for name in [*robot.frames, *robot.joints, "world"]:
        frame = robot.frame(name)
        expected = bodies[frame.body][0] @ frame.placement
        i, X_BF = robot.mechanism.frame(name)
        found = links[i][0] @ X_BF if i >= 0 else X_BF
        np.testing.assert_allclose(homogeneous(found), homogeneous(expected), atol=1e-12)
        close(frame_pose.algorithm(robot, q.tolist(), name), homogeneous(expected), 1e-12)


@given(robots(most=8), seeds)
def test_kinetic_energy_is_the_robot_s(robot: Robot, seed: int) -> None:
    q, v, _, _ = state_of(robot, seed)
    bodies, links = body_states(robot, q, v), link_states(robot, q, v)
    # bodies that do not move have no energy, so that it does not matter that they are gone
    expected = sum(bodies[b.name][1].dot(b.inertia @ bodies[b.name][1]) for b in robot.bodies.values())
    found = sum(links[link.index][1].dot(link.inertia @ links[link.index][1]) for link in robot.mechanism.links)
    assert found == pytest.approx(expected, rel=1e-11)
    moving = {name for name, (i, _) in robot.mechanism.poses.items() if i >= 0}
    mass = sum(robot.bodies[name].inertia.mass for name in moving)
    assert sum(link.inertia.mass for link in robot.mechanism.links) == pytest.approx(mass)


@given(robots(most=8))
def test_structure(robot: Robot) -> None:
    mechanism = robot.mechanism
    for i, link in enumerate(mechanism.links):
        assert link.index == i
        assert link.parent < i
        assert link.dofs == tuple(range(link.v.start, link.v.stop))
        # the motion subspace is made of unit vectors, but for screws
        assert (link.kind.rows is None) == isinstance(link.kind, Helical)
        assert mechanism.ancestors(i) == ((link.parent, *mechanism.ancestors(link.parent)) if link.parent >= 0 else ())
        assert all(mechanism.links[c].parent == i for c in mechanism.children[i])
        number, X_BL = mechanism.body(link.body)
        assert number == i
        assert list(X_BL.R.matrix()) == list(link.frame_turn.R.matrix())
    below = [c for children in mechanism.children for c in children]
    assert sorted([*mechanism.roots, *below]) == list(range(len(mechanism.links)))
    assert len(mechanism.support) == mechanism.nv


@given(robots(most=8))
def test_lumping_beforehand_changes_nothing(robot: Robot) -> None:
    lumped = robot.lumped().mechanism
    for a, b in zip(robot.mechanism.links, lumped.links, strict=True):
        assert (a.name, a.parent, a.q, a.v) == (b.name, b.parent, b.q, b.v)
        np.testing.assert_allclose(homogeneous(a.placement), homogeneous(b.placement), atol=1e-12)
        np.testing.assert_allclose(list(map(float, a.inertia.J)), list(map(float, b.inertia.J)), rtol=1e-9, atol=1e-9)
    for name in [*robot.frames, *robot.joints]:
        assert robot.mechanism.frame(name)[0] == lumped.frame(name)[0]


# ---- particulars


def chain(*axes: tuple, rpy: tuple = (0, 0, 0)) -> RobotBuilder:
    builder, last = RobotBuilder("chain"), "world"
    for k, axis in enumerate(axes):
        builder.body(f"b{k}", mass=1, com=(0.1, 0.2, 0.3), inertia=BALL)
        builder.joint(f"j{k}", "revolute", last, f"b{k}", (0, 0, 1), rpy, axis=axis, armature=0.5, damping=2)
        last = f"b{k}"
    return builder


def test_quarter_turns_leave_only_zeros_and_ones() -> None:
    robot = chain((0, 0, 1), (0, -1, 0), (-1, 0, 0), (0, 1, 0), rpy=(math.pi / 2, -math.pi / 2, math.pi)).build()
    for link in robot.mechanism.links:
        entries = [*link.placement.R.matrix(), *link.placement.p]
        assert all(type(e) is int and e in (-1, 0, 1) for e in entries)


def test_snapping_changes_nothing_by_more_than_rounding() -> None:
    assert [snapped(x) for x in (6e-17, 1 - 2e-16, -1.0, 1e-12, 0.5)] == [0, 1, -1, 1e-12, 0.5]
    assert type(snapped(-1.0)) is int
    x = sympy.Symbol("x")
    assert snapped(x) is x


def test_turns_about_coordinate_axes_stay_such() -> None:
    about_y = snapped_transform(Transform(rotation_from_rpy(0, 0.3, 0), Vector.zero()))
    assert isinstance(about_y.R, AxisRotation)
    assert about_y.R.axis == 1
    np.testing.assert_allclose(list(about_y.R.matrix()), list(rotation_from_rpy(0, 0.3, 0).matrix()), atol=1e-16)
    oblique = snapped_transform(Transform(rotation_from_rpy(0.1, 0.3, 0), Vector.zero()))
    assert not isinstance(oblique.R, AxisRotation)


def test_support_follows_branches() -> None:
    builder = RobotBuilder("fork").body("base", mass=1, inertia=BALL)
    for side in ("left", "right"):
        builder.body(f"{side}_a", mass=1, inertia=BALL).body(f"{side}_b", mass=1, inertia=BALL)
        builder.joint(f"{side}_1", "revolute", "base", f"{side}_a")
        builder.joint(f"{side}_2", "revolute", f"{side}_a", f"{side}_b")
    mechanism = builder.build(base="free").mechanism
    base = (5, 4, 3, 2, 1, 0)
    assert mechanism.support[5:] == (base, (6, *base), (7, 6, *base), (8, *base), (9, 8, *base))
    assert mechanism.children[0] == (1, 3)
    assert mechanism.roots == (0,)


def test_bodies_that_cannot_move_are_gone() -> None:
    builder = RobotBuilder("arm").body("table", mass=9, inertia=BALL).body("post", mass=9, inertia=BALL)
    builder.body("rod", mass=1, inertia=BALL)
    builder.joint("bolt", "fixed", "table", "post", (0, 0, 1)).joint("pivot", "revolute", "post", "rod", (0, 0, 1))
    mechanism = builder.build().mechanism
    assert [(link.name, link.parent, link.inertia.mass) for link in mechanism.links] == [("pivot", -1, 1)]
    assert list(mechanism.links[0].placement.p) == [0, 0, 2]
    i, X = mechanism.body("post")
    assert (i, list(X.p)) == (-1, [0, 0, 1])


def test_armature_sums_joints_motors_and_followers() -> None:
    builder = chain((0, 0, 1), (0, 0, 1)).motor("j0", gear=10, rotor_inertia=0.01)
    builder.body("c", mass=1, inertia=BALL)
    builder.joint("follower", "revolute", "b1", "c", armature=1, damping=3, mimic=Mimic("j1", 2, 0.5))
    mechanism = builder.build().mechanism
    assert mechanism.armature == (1.5, 0.5 + 4)
    assert mechanism.damping == (2, 2 + 12)
    assert mechanism.has_mimic
    assert mechanism.support == ((0,), (1, 0))
    follower = mechanism.links[2]
    assert (follower.position([7, 8]), follower.rate([7, 8])) == ([16.5], [16])


def test_symbols_pass_through() -> None:
    m, length, q = sympy.symbols("m l q", positive=True)
    builder = RobotBuilder("pendulum").body("bob", mass=m, com=(0, 0, -length), inertia=(0, 0, 0, 0, 0, 0))
    robot = builder.joint("pivot", "revolute", "world", "bob", (0, 0, length), axis=(0, 1, 0)).build()
    link = robot.mechanism.links[0]
    assert list(link.inertia.h) == [0, 0, -length * m]
    pose = link.transform([q]).onto(Transform.identity())
    bob = pose.transform_point(Vector(0, 0, -length))
    assert sympy.simplify(bob.x + length * sympy.sin(q)) == 0
    assert sympy.simplify(bob.z - length + length * sympy.cos(q)) == 0
