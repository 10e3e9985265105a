"""Kinds of joints: Pinocchio's as an oracle, group identities, and the same code on every scalar."""

import math
import pickle

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pliant.robot import Continuous, Fixed, Free, Helical, JointKind, Planar, Prismatic, Revolute, Spherical
from pliant.robot.joints import turn_of_axis
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from pliant.spatial import AxisRotation, Force, Transform, Vector
from random_robots import seeds

OBLIQUE = (1 / math.sqrt(14), -2 / math.sqrt(14), 3 / math.sqrt(14))
UNITS = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}
PITCH = 0.3

# each kind with the model Pinocchio has of it
PAIRS: list[tuple[JointKind, pin.JointModel]] = [
    *((Revolute(u), getattr(pin, f"JointModelR{x}")()) for x, u in UNITS.items()),
    *((Prismatic(u), getattr(pin, f"JointModelP{x}")()) for x, u in UNITS.items()),
    *((Helical(u, PITCH), getattr(pin, f"JointModelH{x}")(PITCH)) for x, u in UNITS.items()),
    (Revolute((0, -1, 0)), pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0]))),
    (Revolute(OBLIQUE), pin.JointModelRevoluteUnaligned(np.array(OBLIQUE))),
    (Continuous(OBLIQUE), pin.JointModelRevoluteUnaligned(np.array(OBLIQUE))),
    (Prismatic(OBLIQUE), pin.JointModelPrismaticUnaligned(np.array(OBLIQUE))),
    (Helical(OBLIQUE, PITCH), pin.JointModelHelicalUnaligned(np.array(OBLIQUE), PITCH)),
    (Spherical(), pin.JointModelSpherical()),
    (Planar(), pin.JointModelPlanar()),
    (Free(), pin.JointModelFreeFlyer()),
]
KINDS = [kind for kind, _ in PAIRS] + [Planar((1, 0, 0)), Planar((0, -1, 0)), Planar(OBLIQUE)]
each_pair = pytest.mark.parametrize(("kind", "theirs"), PAIRS, ids=[repr(kind) for kind, _ in PAIRS])
each_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)

few = settings(max_examples=40)  # of each kind
# length of the rotation: any, next to none, next to half a turn, and about where the series take over
end = math.pi - 1e-9
turns = st.one_of(st.floats(0, end), st.floats(0, 1e-7), st.floats(math.pi - 1e-7, end), st.floats(0.05, 0.15))


def tangent(kind: JointKind, rng: np.random.Generator, turn: float) -> np.ndarray:
    """A velocity that turns by the given angle in unit time, if the kind can turn freely."""
    w = rng.standard_normal(kind.nv)
    angular = slice(3, 6) if isinstance(kind, Free) else slice(2, 3) if isinstance(kind, Planar) else slice(0, 3)
    w[angular] *= turn / np.linalg.norm(w[angular])
    return w


def configuration(kind: JointKind, rng: np.random.Generator, size: int | None = None) -> list:
    return kind.random(rng, [-math.inf] * kind.nq, [math.inf] * kind.nq, size)


def homogeneous(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous(), dtype=float)


def model_of(theirs: pin.JointModel) -> tuple[pin.Model, pin.Data]:
    model = pin.Model()
    model.addJoint(0, theirs, pin.SE3.Identity(), "joint")
    return model, model.createData()


@each_pair
@few
@given(seed=seeds)
def test_transform_and_motion_are_pinocchio_s(kind: JointKind, theirs: pin.JointModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, v = np.array(configuration(kind, rng)), rng.standard_normal(kind.nv)
    model, data = model_of(theirs)
    assert (kind.nq, kind.nv) == (model.nq, model.nv)
    pin.forwardKinematics(model, data, q, v)
    np.testing.assert_allclose(homogeneous(kind.transform(q)), data.oMi[1].homogeneous, atol=4e-15)
    np.testing.assert_allclose(list(kind.motion(v)), data.v[1].vector, atol=4e-15)


@each_pair
@few
@given(seed=seeds, turn=st.one_of(turns, st.floats(math.pi, 10)))
def test_integrate_is_pinocchio_s(kind: JointKind, theirs: pin.JointModel, seed: int, turn: float) -> None:
    rng = np.random.default_rng(seed)
    q, w = np.array(configuration(kind, rng)), tangent(kind, rng, turn)
    # their planar joint takes (1 - cos w) / w as it stands, and loses half of the digits near zero
    assume(not isinstance(kind, Planar) or turn > 0.01)
    np.testing.assert_allclose(kind.integrate(q, w), pin.integrate(model_of(theirs)[0], q, w), rtol=1e-13, atol=1e-13)


@few
@given(seed=seeds, turn=turns)
def test_planar_is_a_free_joint_in_the_plane(seed: int, turn: float) -> None:
    rng = np.random.default_rng(seed)
    q, w = configuration(Planar(), rng), tangent(Planar(), rng, turn)
    x, y, c, s = Planar().integrate(q, w)
    half = math.atan2(q[3], q[2]) / 2
    free_q, free_w = [q[0], q[1], 0, 0, 0, math.sin(half), math.cos(half)], [w[0], w[1], 0, 0, 0, w[2]]
    expected = homogeneous(Free().transform(Free().integrate(free_q, free_w)))
    np.testing.assert_allclose(expected, [[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-14)


@each_pair
@few
@given(seed=seeds, turn=turns)
def test_difference_is_pinocchio_s(kind: JointKind, theirs: pin.JointModel, seed: int, turn: float) -> None:
    rng = np.random.default_rng(seed)
    model = model_of(theirs)[0]
    q0 = np.array(configuration(kind, rng))
    q1 = pin.integrate(model, q0, tangent(kind, rng, turn))
    # their planar joint divides what has cancelled by the square of a small turn
    assume(not isinstance(kind, Planar) or turn > 0.05)
    # next to pi, theirs loses half of the digits: the sum of some four products has the cosine of the angle to
    # e = 1e-15, and the angle is off by sqrt(2 e)
    atol = 1e-13 if turn < 3 else math.sqrt(2 * 1e-15)
    np.testing.assert_allclose(kind.difference(q0, q1), pin.difference(model, q0, q1), rtol=1e-12, atol=atol)


@each_kind
@few
@given(seed=seeds, turn=turns)
def test_difference_undoes_integrate(kind: JointKind, seed: int, turn: float) -> None:
    rng = np.random.default_rng(seed)
    q, w = configuration(kind, rng), tangent(kind, rng, turn)
    np.testing.assert_allclose(kind.difference(q, kind.integrate(q, w)), w, rtol=1e-14, atol=1e-14)


@each_kind
@few
@given(seed=seeds)
def test_integrate_undoes_difference(kind: JointKind, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q0, q1 = configuration(kind, rng), configuration(kind, rng)
    again = kind.transform(kind.integrate(q0, kind.difference(q0, q1)))
    np.testing.assert_allclose(homogeneous(again), homogeneous(kind.transform(q1)), atol=1e-13)


@each_kind
@few
@given(seed=seeds)
def test_steps_of_one_velocity_add_up(kind: JointKind, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, w = configuration(kind, rng), rng.standard_normal(kind.nv)
    whole = kind.integrate(q, w)
    halves = kind.integrate(kind.integrate(q, 0.25 * w), 0.75 * w)
    np.testing.assert_allclose(homogeneous(kind.transform(halves)), homogeneous(kind.transform(whole)), atol=1e-14)


@each_kind
def test_motion_is_the_rate_of_the_transform(kind: JointKind) -> None:
    rng, h = np.random.default_rng(0), 1e-6
    q, v = configuration(kind, rng), rng.standard_normal(kind.nv)
    ends = [homogeneous(kind.transform(kind.integrate(q, s * v))) for s in (-h, h)]
    rate = np.linalg.inv(homogeneous(kind.transform(q))) @ (ends[1] - ends[0]) / (2 * h)
    twist = [*rate[:3, 3], rate[2, 1], rate[0, 2], rate[1, 0]]
    np.testing.assert_allclose(twist, list(kind.motion(v)), atol=1e-9)  # central differences at h = 1e-6


@each_kind
def test_projection_is_the_transpose_of_motion(kind: JointKind) -> None:
    rng = np.random.default_rng(1)
    v, x = rng.standard_normal(kind.nv), rng.standard_normal(6)
    f = Force(Vector(*x[:3]), Vector(*x[3:]))
    assert np.dot(kind.project(f), v) == pytest.approx(kind.motion(v).dot(f), abs=1e-14)
    columns = sum(c.dot(f) * rate for c, rate in zip(kind.columns, v, strict=True))
    assert np.dot(kind.project(f), v) == pytest.approx(columns, abs=1e-14)


def test_rows_of_unit_columns() -> None:
    assert Revolute((0, 1, 0)).rows == (4,)
    assert Prismatic((1, 0, 0)).rows == (0,)
    assert Planar((0, 1, 0)).rows == (2, 0, 4)
    assert Planar().rows == (0, 1, 5)
    assert Spherical().rows == (3, 4, 5)
    assert Free().rows == (0, 1, 2, 3, 4, 5)
    assert Fixed().rows == ()
    for kind in (Revolute((0, -1, 0)), Prismatic(OBLIQUE), Helical((0, 0, 1), PITCH), Planar(OBLIQUE)):
        assert kind.rows is None


@pytest.mark.parametrize("sign", [1, -1])
def test_coordinate_axes_turn_two_coordinates_only(sign: int) -> None:
    q = Graph().input("q")
    R = Revolute((0, sign, 0)).transform([q]).R
    assert isinstance(R, AxisRotation)
    assert R.axis == 1


@pytest.mark.parametrize("axis", [(0, 0, -1), (0, -1, 0), (-1, 0, 0), (0.6, 0.8, 0), OBLIQUE])
def test_turn_of_an_axis(axis: tuple) -> None:
    R = np.array(list(turn_of_axis(axis)), dtype=float).reshape(3, 3)
    np.testing.assert_allclose(R[:, 2], axis)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1)
    # an axis in a coordinate plane costs as few products as can be
    assert np.count_nonzero(R) <= (8 if axis == OBLIQUE else 5)


# ---- scalars


@each_kind
def test_a_batch_is_a_column_in_each_scalar(kind: JointKind) -> None:
    rng = np.random.default_rng(3)
    q0, q1 = configuration(kind, rng, 6), configuration(kind, rng, 6)
    w = rng.standard_normal((kind.nv, 6)) * [0, 1e-9, 1e-3, 0.1, 1, 3]
    many = np.array(kind.integrate(q0, list(w)))
    far = np.array(kind.difference(q0, q1))
    for k in range(6):
        one, other = [x[k] for x in q0], [x[k] for x in q1]
        np.testing.assert_allclose(many[:, k], kind.integrate(one, w[:, k]), atol=1e-15)
        np.testing.assert_allclose(far[:, k], kind.difference(one, other), atol=1e-14)


@each_kind
@pytest.mark.parametrize("scale", [0, 1e-8, 1])
def test_traced_scalars(kind: JointKind, scale: float) -> None:
    rng, graph = np.random.default_rng(4), Graph()
    q, w = configuration(kind, rng), scale * rng.standard_normal(kind.nv)
    traced_q = [graph.input(f"q{k}") for k in range(kind.nq)]
    traced_w = [graph.input(f"w{k}") for k in range(kind.nv)]
    traced = kind.integrate(traced_q, traced_w)
    back = kind.difference(traced_q, traced)
    inputs = {f"q{k}": x for k, x in enumerate(q)} | {f"w{k}": x for k, x in enumerate(w)}
    found = interpret([graph.lift(x) for x in (*traced, *back)], inputs)
    np.testing.assert_allclose(found[: kind.nq], kind.integrate(q, w), atol=1e-15)
    np.testing.assert_allclose(found[kind.nq :], w, atol=1e-14)


def test_transform_in_formulas() -> None:
    q = sympy.Symbol("q", real=True)
    X = Revolute((0, 0, 1)).transform([q])
    c, s = sympy.cos(q), sympy.sin(q)
    assert list(X.R.matrix()) == [c, -s, 0, s, c, 0, 0, 0, 1]
    assert list(Prismatic((0, 1, 0)).transform([q]).p) == [0, q, 0]
    assert list(Helical((0, 0, -1), 2).transform([q]).p) == [0, 0, -2 * q]


@pytest.mark.parametrize("kind", [Spherical(), Planar(), Free()], ids=repr)
def test_derivatives_are_finite_and_right_at_zero(kind: JointKind) -> None:
    w = sympy.symbols(f"w:{kind.nv}", real=True)
    at_zero = dict.fromkeys(w, 0)
    reached = sympy.Matrix(kind.integrate(kind.neutral(), w))
    rate = np.array(reached.jacobian(w).subs(at_zero), dtype=float)
    expected = np.zeros((kind.nq, kind.nv))
    if isinstance(kind, Planar):
        expected[0, 0] = expected[1, 1] = expected[3, 2] = 1
    else:
        position = kind.nv - 3
        expected[:position, :position] = np.eye(position)
        expected[position : position + 3, position:] = np.eye(3) / 2
    np.testing.assert_allclose(rate, expected, atol=1e-15)


def test_derivative_of_difference_is_right_at_zero() -> None:
    x = sympy.symbols("x:3", real=True)
    w = sympy.Matrix(Spherical().difference([0, 0, 0, 1], [*x, 1]))
    rate = np.array(w.jacobian(x).subs(dict.fromkeys(x, 0)), dtype=float)
    np.testing.assert_allclose(rate, 2 * np.eye(3), atol=1e-15)


# ---- chance


def test_random_heeds_limits() -> None:
    rng = np.random.default_rng(5)
    sample = Revolute().random(rng, [1], [2], 1000)[0]
    assert 1 <= sample.min() < 1.01 < 1.99 < sample.max() <= 2
    above = Prismatic().random(rng, [3], [math.inf], 100)[0]
    assert 3 <= above.min() <= above.max() <= 5
    below = Prismatic().random(rng, [-math.inf], [-3], 100)[0]
    assert -5 <= below.min() <= below.max() <= -3
    # iris.urdf limits a rotor to 1e16 rad, where an angle has no meaning left: it counts as none
    assert np.abs(Revolute().random(rng, [-1e16], [1e16], 100)[0]).max() <= np.pi


def test_random_rotations_are_uniform() -> None:
    q = np.array(configuration(Spherical(), np.random.default_rng(6), 20_000))
    np.testing.assert_allclose((q * q).sum(axis=0), 1, atol=1e-14)
    # the second moment of a uniform unit quaternion is 1/4 on the diagonal; four standard deviations
    np.testing.assert_allclose(q @ q.T / q.shape[1], np.eye(4) / 4, atol=0.007)


@each_kind
def test_kinds_are_values_and_neutral_is_the_identity(kind: JointKind) -> None:
    np.testing.assert_allclose(homogeneous(kind.transform(kind.neutral())), np.eye(4), atol=1e-15)
    again = pickle.loads(pickle.dumps(kind))
    assert again == kind
    assert hash(again) == hash(kind)
    assert kind != Fixed()
