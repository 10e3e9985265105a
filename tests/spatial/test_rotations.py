"""Rotations: identities over all angles, Pinocchio's as an oracle, and the same code on SymPy."""

import math

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from pliant.scalar import Graph
from pliant.spatial import (
    AxisRotation, Matrix3, MatrixRotation, Symmetric3, Vector, quaternion_from_matrix, quaternion_product,
    rotation_about, rotation_from_quaternion, rotation_from_rpy, skew,
)  # fmt: skip
from pliant.spatial.vectors import rpy_from_matrix

# a few roundings of numbers of size one
TOLERANCE = 4e-15

numbers = st.floats(-1, 1)
angles = st.one_of(st.floats(-math.pi, math.pi), st.floats(-1e-7, 1e-7), st.floats(math.pi - 1e-7, math.pi))
axes = st.integers(0, 2)
vectors = st.builds(Vector, numbers, numbers, numbers)
matrices = st.builds(Matrix3, st.tuples(*[numbers] * 9))
symmetrics = st.builds(Symmetric3, *[numbers] * 6)


@st.composite
def units(draw: st.DrawFn) -> Vector:
    seed = draw(st.integers(0, 2**32 - 1))
    v = np.random.default_rng(seed).standard_normal(3)
    return Vector(*(v / np.linalg.norm(v)))


rotations = st.builds(rotation_about, units(), angles)


def array(m: Matrix3 | Symmetric3 | Vector) -> np.ndarray:
    if isinstance(m, Vector):
        return np.array(list(m), dtype=float)
    full = m.full() if isinstance(m, Symmetric3) else m
    return np.array(list(full), dtype=float).reshape(3, 3)


@given(units(), angles)
def test_turn_about_an_axis_is_pinocchio_s(axis: Vector, angle: float) -> None:
    np.testing.assert_allclose(
        array(rotation_about(axis, angle).matrix()), pin.exp3(array(axis) * angle), atol=TOLERANCE
    )


@given(rotations, vectors)
def test_rotating_back_undoes_rotating(R: MatrixRotation, v: Vector) -> None:
    np.testing.assert_allclose(array(R.rotate_back(R.rotate(v))), array(v), atol=TOLERANCE)
    np.testing.assert_allclose(array(R.inverse().rotate(v)), array(R.rotate_back(v)), atol=TOLERANCE)


@given(axes, angles, vectors, matrices, symmetrics)
def test_turn_about_a_coordinate_axis_is_its_matrix(
    axis: int, angle: float, v: Vector, a: Matrix3, s: Symmetric3
) -> None:
    turn = AxisRotation.by(axis, angle)
    matrix = MatrixRotation(turn.matrix())
    np.testing.assert_allclose(
        array(matrix.matrix()), array(rotation_about(Vector.unit(axis), angle).matrix()), atol=TOLERANCE
    )
    np.testing.assert_allclose(array(turn.rotate(v)), array(matrix.rotate(v)), atol=TOLERANCE)
    np.testing.assert_allclose(array(turn.rotate_back(v)), array(matrix.rotate_back(v)), atol=TOLERANCE)
    np.testing.assert_allclose(array(turn.conjugate(a)), array(matrix.conjugate(a)), atol=TOLERANCE)
    np.testing.assert_allclose(array(turn.conjugate_symmetric(s)), array(matrix.conjugate_symmetric(s)), atol=TOLERANCE)
    np.testing.assert_allclose(array(turn.after(a)), array(matrix.after(a)), atol=TOLERANCE)
    np.testing.assert_allclose(array(turn.inverse().matrix()), array(matrix.inverse().matrix()), atol=TOLERANCE)


@given(rotations, matrices, symmetrics)
def test_conjugation_is_the_product_with_both_sides(R: MatrixRotation, a: Matrix3, s: Symmetric3) -> None:
    r = array(R.matrix())
    np.testing.assert_allclose(array(R.conjugate(a)), r @ array(a) @ r.T, atol=TOLERANCE)
    np.testing.assert_allclose(array(R.conjugate_symmetric(s)), r @ array(s) @ r.T, atol=TOLERANCE)


@given(rotations)
def test_quaternion_of_a_matrix_and_back(R: MatrixRotation) -> None:
    quaternion = quaternion_from_matrix(R.matrix())
    assert quaternion[3] >= 0
    assert sum(e * e for e in quaternion) == pytest.approx(1, abs=TOLERANCE)
    np.testing.assert_allclose(array(rotation_from_quaternion(*quaternion).matrix()), array(R.matrix()), atol=TOLERANCE)


@given(rotations, rotations)
def test_product_of_quaternions_is_that_of_the_matrices(A: MatrixRotation, B: MatrixRotation) -> None:
    product = quaternion_product(quaternion_from_matrix(A.matrix()), quaternion_from_matrix(B.matrix()))
    expected = array(A.matrix()) @ array(B.matrix())
    np.testing.assert_allclose(array(rotation_from_quaternion(*product).matrix()), expected, atol=2 * TOLERANCE)


@given(angles, st.floats(-math.pi / 2, math.pi / 2), angles)
def test_roll_pitch_yaw_are_pinocchio_s_and_come_back(roll: float, pitch: float, yaw: float) -> None:
    R = rotation_from_rpy(roll, pitch, yaw)
    np.testing.assert_allclose(array(R.matrix()), pin.rpy.rpyToMatrix(roll, pitch, yaw), atol=TOLERANCE)
    again = rotation_from_rpy(*rpy_from_matrix(R.matrix()))
    np.testing.assert_allclose(array(again.matrix()), array(R.matrix()), atol=TOLERANCE)


@given(angles, angles, st.sampled_from([-1, 1]))
def test_roll_pitch_yaw_come_back_where_two_axes_align(roll: float, yaw: float, sign: int) -> None:
    R = rotation_from_rpy(roll, sign * math.pi / 2, yaw)
    # through the quaternion, so that the entries that vanish carry rounding
    noisy = rotation_from_quaternion(*quaternion_from_matrix(R.matrix())).matrix()
    again = rotation_from_rpy(*rpy_from_matrix(noisy))
    np.testing.assert_allclose(array(again.matrix()), array(noisy), atol=TOLERANCE)


@given(vectors, vectors)
def test_skew_matrix_is_the_cross_product(a: Vector, b: Vector) -> None:
    np.testing.assert_allclose(array(skew(a) @ b), array(a.cross(b)), atol=TOLERANCE)
    np.testing.assert_allclose(array(a.cross(b)), np.cross(array(a), array(b)), atol=TOLERANCE)


def test_matrix_products() -> None:
    a, b = Matrix3(range(9)), Matrix3(range(1, 10))
    np.testing.assert_array_equal(array(a.times(b)), array(a) @ array(b))
    np.testing.assert_array_equal(array(a.transposed()), array(a).T)
    v = Vector(1, 2, 3)
    np.testing.assert_array_equal(array(a.transposed_times(v)), array(a).T @ array(v))


@pytest.mark.parametrize("axis", range(3))
def test_conjugation_in_formulas(axis: int) -> None:
    angle, *entries = sympy.symbols("a xx xy xz yy yz zz", real=True)
    turn = AxisRotation.by(axis, angle)
    r, s = sympy.Matrix(3, 3, list(turn.matrix())), Symmetric3(*entries)
    expected = r * sympy.Matrix(3, 3, list(s.full())) * r.T
    found = sympy.Matrix(3, 3, list(turn.conjugate_symmetric(s).full()))
    assert (found - expected).applyfunc(sympy.simplify) == sympy.zeros(3)


def test_structural_zeros_stay_out_of_a_graph() -> None:
    graph = Graph()
    z = graph.input("z")
    turned = AxisRotation.by(2, graph.input("q")).rotate(Vector(0, 0, z))
    assert turned.z is z
    assert all(e.op == "const" and e.value == 0 for e in (turned.x, turned.y))
