"""Joints that float keep their velocity in space, and the rate of the chart that integrate(q, w) needs for that."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from moving_robots import OFF_CENTRE, PLANAR, SPHERICAL_PENDULUM, TURNING
from pliant import load
from pliant.compiler import kernel_from_function
from pliant.errors import RobotError
from pliant.robot import Continuous, Free, Helical, JointKind, Planar, Prismatic, Revolute, Robot, Spherical
from pliant.robot.configurations import carried_velocity, held_acceleration, straight_motion
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from random_robots import ALL, close, robot_of, robots, seeds, state_of

FLOATING = [OFF_CENTRE, PLANAR]


def names(robot: Robot) -> str:
    return robot.name


def linear_velocity(robot: Robot, q, v) -> np.ndarray:
    """Of the body's origin, in the world's axes."""
    return pliant.frame_velocity(robot, np.array(q), np.array(v), "body", reference="local_world_aligned")[:3]


@pytest.mark.parametrize("robot", FLOATING, ids=names)
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


@pytest.mark.parametrize("robot", FLOATING, ids=names)
def test_a_carried_velocity_is_the_same_in_space(robot: Robot) -> None:
    for seed in range(5):
        state = state_of(robot, seed)
        q, v, dt = state.q.tolist(), (4 * state.v).tolist(), 0.2
        q1, v1 = straight_motion(robot, q, v, dt), carried_velocity(robot, v, dt)
        np.testing.assert_allclose(linear_velocity(robot, q1, v1), linear_velocity(robot, q, v), atol=1e-12)
        turns = slice(3, None) if robot is OFF_CENTRE else slice(2, None)
        np.testing.assert_array_equal(v1[turns], v[turns])


@pytest.mark.parametrize("robot", FLOATING, ids=names)
def test_a_held_acceleration_is_the_rate_of_a_carried_velocity(robot: Robot) -> None:
    """Central differences; those of order h^4 are 1e-9 here."""
    h = 1e-3
    for seed in range(5):
        v = state_of(robot, seed).v.tolist()

        def at(t: float, v=v) -> np.ndarray:
            return np.array(carried_velocity(robot, v, t))

        rate = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        np.testing.assert_allclose(held_acceleration(robot, v), rate, atol=1e-9)


@pytest.mark.parametrize("robot", FLOATING, ids=names)
def test_a_held_acceleration_leaves_the_origin_without_one(robot: Robot) -> None:
    """The classical acceleration of the origin in space, by Pliant's own kinematics, is zero."""
    state = state_of(robot, 3)
    vd = np.array(held_acceleration(robot, state.v.tolist()))
    a = pliant.dynamics.frame_acceleration(robot, state.q, state.v, vd, "body", reference="local_world_aligned")
    # rounding of products of numbers of some 3
    np.testing.assert_allclose(a[:3], 0, atol=1e-12)


@pytest.mark.parametrize("robot", [SPHERICAL_PENDULUM, TURNING], ids=names)
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


# ---- the rate of the chart

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


def test_wrong_sizes() -> None:
    with pytest.raises(RobotError, match=r"w has 3 entries, but .* has nv = 2"):
        load("double_pendulum").chart_rate([0, 0, 0], [0, 0])
