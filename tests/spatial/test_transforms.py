"""Poses, motions, forces and inertias against Pinocchio's, and the identities between them."""

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from pliant.spatial import (
    ArticulatedInertia, AxisRotation, Force, Inertia, Matrix3, MatrixRotation, Motion, Steps, Symmetric3, Transform,
    Vector,
)  # fmt: skip

# a few roundings of numbers of size one
TOLERANCE = 1e-14

seeds = st.integers(0, 2**32 - 1)
# angle of the turn: any, next to none, next to half a turn
angles = st.one_of(st.floats(0, np.pi), st.floats(0, 1e-7), st.floats(np.pi - 1e-7, np.pi))


@st.composite
def poses(draw: st.DrawFn) -> tuple[Transform, pin.SE3]:
    rng = np.random.default_rng(draw(seeds))
    axis, p = rng.standard_normal(3), rng.standard_normal(3)
    R = pin.exp3(axis / np.linalg.norm(axis) * draw(angles))
    return Transform(MatrixRotation(Matrix3(R.ravel())), Vector(*p)), pin.SE3(R, p)


@st.composite
def spatials(draw: st.DrawFn, ours: type, theirs: type) -> tuple:
    x = np.random.default_rng(draw(seeds)).standard_normal(6)
    return ours(Vector(*x[:3]), Vector(*x[3:])), theirs(x)


motions = spatials(Motion, pin.Motion)
forces = spatials(Force, pin.Force)


def array(x: Motion | Force) -> np.ndarray:
    return np.array(list(x))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=TOLERANCE * max(1, abs(expected).max()))


@given(poses(), poses())
def test_composition_and_inverse(a: tuple, b: tuple) -> None:
    close(np.array((a[0] @ b[0]).homogeneous(), dtype=float), (a[1] * b[1]).homogeneous)
    close(np.array(a[0].inverse().homogeneous(), dtype=float), a[1].inverse().homogeneous)


@given(poses(), motions, forces)
def test_motions_and_forces_change_frame(X: tuple, v: tuple, f: tuple) -> None:
    close(array(X[0].act(v[0])), X[1].act(v[1]).vector)
    close(array(X[0].act_back(v[0])), X[1].actInv(v[1]).vector)
    close(array(X[0].act(f[0])), X[1].act(f[1]).vector)
    close(array(X[0].act_back(f[0])), X[1].actInv(f[1]).vector)


@given(poses(), motions, forces)
def test_power_is_the_same_in_every_frame(X: tuple, v: tuple, f: tuple) -> None:
    assert X[0].act(v[0]).dot(X[0].act(f[0])) == pytest.approx(v[0].dot(f[0]), abs=1e-13)


@given(motions, motions, forces)
def test_cross_products(v: tuple, m: tuple, f: tuple) -> None:
    close(array(v[0].cross(m[0])), v[1].cross(m[1]).vector)
    close(array(v[0].cross_force(f[0])), v[1].cross(f[1]).vector)
    # the one is minus the transpose of the other
    assert v[0].cross(m[0]).dot(f[0]) == pytest.approx(-m[0].dot(v[0].cross_force(f[0])), abs=1e-13)


@given(poses(), poses(), poses(), motions, forces)
def test_two_steps_are_their_product(a: tuple, b: tuple, c: tuple, v: tuple, f: tuple) -> None:
    steps, product = Steps(a[0], b[0]), a[0] @ b[0]
    for x in (v[0], f[0]):
        close(array(steps.act(x)), array(product.act(x)))
        close(array(steps.act_back(x)), array(product.act_back(x)))
    whole = np.array((c[0] @ product).homogeneous(), dtype=float)
    close(np.array(steps.onto(c[0]).homogeneous(), dtype=float), whole)
    w = v[0].linear
    close(np.array(list(steps.rotate(w))), np.array(list(product.R.rotate(w))))
    close(np.array(list(steps.rotate_back(w))), np.array(list(product.R.rotate_back(w))))


def test_a_point_moves_with_the_pose() -> None:
    X = Transform(AxisRotation(2, 0, 1), Vector(1, 2, 3))
    assert list(X.transform_point(Vector(1, 0, 0))) == [1, 3, 3]


def test_change_of_frame_in_formulas() -> None:
    a, x, w = sympy.symbols("a x w", real=True)
    X = Transform(AxisRotation.by(2, a), Vector(x, 0, 0))
    moved = X.act(Motion(Vector.zero(), Vector(0, 0, w)))
    assert list(moved) == [0, -x * w, 0, 0, 0, w]


# ---- inertias of rigid and articulated bodies against Pinocchio's, and the identities they keep


generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)

UPPER = np.triu_indices(3)


@st.composite
def inertias(draw: st.DrawFn) -> tuple[Inertia, pin.Inertia]:
    rng = draw(generators)
    cloud = rng.standard_normal((5, 3))
    tensor = np.trace(cloud.T @ cloud) * np.eye(3) - cloud.T @ cloud
    mass, com = rng.uniform(0.1, 10), rng.standard_normal(3)
    ours = Inertia.from_com(mass, Vector(*com), Symmetric3(*tensor[UPPER]))
    return ours, pin.Inertia(mass, com, tensor)


twists = generators.map(lambda rng: rng.standard_normal(6))


def motion(x: np.ndarray) -> Motion:
    return Motion(Vector(*x[:3]), Vector(*x[3:]))


def matrix(inertia: Inertia | ArticulatedInertia) -> np.ndarray:
    unit = np.eye(6)
    return np.array([list(inertia @ motion(unit[k])) for k in range(6)], dtype=float).T


def near(found: np.ndarray, expected: np.ndarray) -> None:
    # a few roundings of the largest entry
    np.testing.assert_allclose(found, expected, atol=2e-14 * max(1, abs(expected).max()))


@given(inertias(), twists)
def test_momentum(inertia: tuple, v: np.ndarray) -> None:
    near(matrix(inertia[0]), inertia[1].matrix())
    near(np.array(list(inertia[0] @ motion(v))), (inertia[1] * pin.Motion(v)).vector)


@given(inertias(), inertias())
def test_sum(a: tuple, b: tuple) -> None:
    near(matrix(a[0] + b[0]), (a[1] + b[1]).matrix())


@given(inertias(), poses(), poses())
def test_change_of_frame(inertia: tuple, X: tuple, Y: tuple) -> None:
    expected = X[1].act(inertia[1]).matrix()
    near(matrix(inertia[0].transformed(X[0])), expected)
    near(matrix(ArticulatedInertia.of(inertia[0]).transformed(X[0])), expected)
    twice = X[1].act(Y[1].act(inertia[1])).matrix()
    near(matrix(inertia[0].transformed(Steps(X[0], Y[0]))), twice)
    near(matrix(ArticulatedInertia.of(inertia[0]).transformed(Steps(X[0], Y[0]))), twice)


@given(inertias(), poses(), twists)
def test_kinetic_energy_is_the_same_in_every_frame(inertia: tuple, X: tuple, v: np.ndarray) -> None:
    here = motion(v).dot(inertia[0] @ motion(v))
    there = X[0].act(motion(v))
    assert there.dot(inertia[0].transformed(X[0]) @ there) == pytest.approx(here, rel=1e-12)


@given(generators, poses())
def test_articulated_inertia_of_any_symmetric_matrix(rng: np.random.Generator, X: tuple) -> None:
    half = rng.standard_normal((6, 6))
    A = half @ half.T
    ours = ArticulatedInertia.from_entries(lambda r, c: A[r, c])
    near(matrix(ours), A)
    near(np.array([[ours.entry(r, c) for c in range(6)] for r in range(6)]), A)
    back = X[1].toActionMatrixInverse()
    near(matrix(ours.transformed(X[0])), back.T @ A @ back)
    near(matrix(ours + ours), 2 * A)


def test_turn_about_a_coordinate_axis_is_its_matrix() -> None:
    inertia = Inertia.from_com(2, Vector(0.1, 0.2, 0.3), Symmetric3(3, 0.1, 0.2, 4, 0.3, 5))
    turn, p = AxisRotation.by(1, 0.7), Vector(1, 2, 3)
    for kind in (inertia, ArticulatedInertia.of(inertia)):
        by_matrix = kind.transformed(Transform(MatrixRotation(turn.matrix()), p))
        near(matrix(kind.transformed(Transform(turn, p))), matrix(by_matrix))


def test_point_mass_in_formulas() -> None:
    m, x = sympy.symbols("m x", positive=True)
    inertia = Inertia.from_com(m, Vector(x, 0, 0), Symmetric3.zero())
    assert [sympy.expand(e) for e in inertia.J] == [0, 0, 0, m * x**2, 0, m * x**2]
    moved = inertia.transformed(Transform(MatrixRotation.identity(), Vector(-x, 0, 0)))
    assert [sympy.expand(e) for e in moved.J] == [0] * 6
