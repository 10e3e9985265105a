"""Inertias of rigid and articulated bodies against Pinocchio's, and the identities they keep."""

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from pliant.spatial import (
    ArticulatedInertia,
    AxisRotation,
    Inertia,
    Matrix3,
    MatrixRotation,
    Motion,
    Steps,
    Symmetric3,
    Transform,
    Vector,
)  # fmt: skip # isort: skip

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
angles = st.one_of(st.floats(0, np.pi), st.floats(0, 1e-7), st.floats(np.pi - 1e-7, np.pi))

UPPER = np.triu_indices(3)


@st.composite
def inertias(draw: st.DrawFn) -> tuple[Inertia, pin.Inertia]:
    rng = draw(seeds)
    cloud = rng.standard_normal((5, 3))
    tensor = np.trace(cloud.T @ cloud) * np.eye(3) - cloud.T @ cloud
    mass, com = rng.uniform(0.1, 10), rng.standard_normal(3)
    ours = Inertia.from_com(mass, Vector(*com), Symmetric3(*tensor[UPPER]))
    return ours, pin.Inertia(mass, com, tensor)


@st.composite
def poses(draw: st.DrawFn) -> tuple[Transform, pin.SE3]:
    rng = draw(seeds)
    axis, p = rng.standard_normal(3), rng.standard_normal(3)
    R = pin.exp3(axis / np.linalg.norm(axis) * draw(angles))
    return Transform(MatrixRotation(Matrix3(R.ravel())), Vector(*p)), pin.SE3(R, p)


motions = seeds.map(lambda rng: rng.standard_normal(6))


def motion(x: np.ndarray) -> Motion:
    return Motion(Vector(*x[:3]), Vector(*x[3:]))


def matrix(inertia: Inertia | ArticulatedInertia) -> np.ndarray:
    unit = np.eye(6)
    return np.array([list(inertia @ motion(unit[k])) for k in range(6)], dtype=float).T


def close(found: np.ndarray, expected: np.ndarray) -> None:
    # a few roundings of the largest entry
    np.testing.assert_allclose(found, expected, atol=2e-14 * max(1, abs(expected).max()))


@given(inertias(), motions)
def test_momentum(inertia: tuple, v: np.ndarray) -> None:
    close(matrix(inertia[0]), inertia[1].matrix())
    close(np.array(list(inertia[0] @ motion(v))), (inertia[1] * pin.Motion(v)).vector)


@given(inertias(), inertias())
def test_sum(a: tuple, b: tuple) -> None:
    close(matrix(a[0] + b[0]), (a[1] + b[1]).matrix())


@given(inertias(), poses(), poses())
def test_change_of_frame(inertia: tuple, X: tuple, Y: tuple) -> None:
    expected = X[1].act(inertia[1]).matrix()
    close(matrix(inertia[0].transformed(X[0])), expected)
    close(matrix(ArticulatedInertia.of(inertia[0]).transformed(X[0])), expected)
    twice = X[1].act(Y[1].act(inertia[1])).matrix()
    close(matrix(inertia[0].transformed(Steps(X[0], Y[0]))), twice)
    close(matrix(ArticulatedInertia.of(inertia[0]).transformed(Steps(X[0], Y[0]))), twice)


@given(inertias(), poses(), motions)
def test_kinetic_energy_is_the_same_in_every_frame(inertia: tuple, X: tuple, v: np.ndarray) -> None:
    here = motion(v).dot(inertia[0] @ motion(v))
    there = X[0].act(motion(v))
    assert there.dot(inertia[0].transformed(X[0]) @ there) == pytest.approx(here, rel=1e-12)


@given(seeds, poses())
def test_articulated_inertia_of_any_symmetric_matrix(rng: np.random.Generator, X: tuple) -> None:
    half = rng.standard_normal((6, 6))
    A = half @ half.T
    ours = ArticulatedInertia.from_entries(lambda r, c: A[r, c])
    close(matrix(ours), A)
    close(np.array([[ours.entry(r, c) for c in range(6)] for r in range(6)]), A)
    back = X[1].toActionMatrixInverse()
    close(matrix(ours.transformed(X[0])), back.T @ A @ back)
    close(matrix(ours + ours), 2 * A)


def test_turn_about_a_coordinate_axis_is_its_matrix() -> None:
    inertia = Inertia.from_com(2, Vector(0.1, 0.2, 0.3), Symmetric3(3, 0.1, 0.2, 4, 0.3, 5))
    turn, p = AxisRotation.by(1, 0.7), Vector(1, 2, 3)
    for kind in (inertia, ArticulatedInertia.of(inertia)):
        by_matrix = kind.transformed(Transform(MatrixRotation(turn.matrix()), p))
        close(matrix(kind.transformed(Transform(turn, p))), matrix(by_matrix))


def test_point_mass_in_formulas() -> None:
    m, x = sympy.symbols("m x", positive=True)
    inertia = Inertia.from_com(m, Vector(x, 0, 0), Symmetric3.zero())
    assert [sympy.expand(e) for e in inertia.J] == [0, 0, 0, m * x**2, 0, m * x**2]
    moved = inertia.transformed(Transform(MatrixRotation.identity(), Vector(-x, 0, 0)))
    assert [sympy.expand(e) for e in moved.J] == [0] * 6
