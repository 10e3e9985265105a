"""Rotations, poses, motions, forces and inertias: identities, Pinocchio's as an oracle, and the same code on SymPy."""

import math
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from pliant.scalar import Graph
from pliant.spatial import (
    ArticulatedInertia, AxisRotation, Force, Inertia, Matrix3, MatrixRotation, Motion, Steps, Symmetric3, Transform,
    Vector, quaternion_from_matrix, quaternion_product, rotation_about, rotation_from_quaternion, rotation_from_rpy,
    skew,
)  # fmt: skip
from pliant.spatial.vectors import rpy_from_matrix

# any, next to none, next to half a turn
angles = st.one_of(st.floats(-math.pi, math.pi), st.floats(-1e-7, 1e-7), st.floats(math.pi - 1e-7, math.pi))
numbers = st.floats(-1, 1)
axes = st.integers(0, 2)
vectors = st.builds(Vector, numbers, numbers, numbers)
matrices = st.builds(Matrix3, st.tuples(*[numbers] * 9))
symmetrics = st.builds(Symmetric3, *[numbers] * 6)
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)
twists = generators.map(lambda rng: rng.standard_normal(6))


def unit(rng: np.random.Generator) -> Vector:
    v = rng.standard_normal(3)
    return Vector(*(v / np.linalg.norm(v)))


units = generators.map(unit)
rotations = st.builds(rotation_about, units, angles)


def array(x: Any) -> np.ndarray:
    """A vector, matrix, rotation, pose, motion or force as an array of floats."""
    if isinstance(x, AxisRotation | MatrixRotation):
        x = x.matrix()
    if isinstance(x, Transform):
        return np.array(x.homogeneous(), dtype=float)
    full = x.full() if isinstance(x, Symmetric3) else x
    return np.array(list(full), dtype=float).reshape((3, 3) if isinstance(full, Matrix3) else -1)


def close(found: Any, expected: Any, tolerance: float = 4e-15) -> None:
    """Equal but for a few roundings of the largest number, or of one."""
    a, b = (x if isinstance(x, np.ndarray) else array(x) for x in (found, expected))
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1, abs(b).max()))


# ---- rotations


@given(units, angles)
def test_turn_about_an_axis_is_pinocchio_s(axis: Vector, angle: float) -> None:
    close(rotation_about(axis, angle), pin.exp3(array(axis) * angle))


@given(rotations, vectors)
def test_rotating_back_undoes_rotating(R: MatrixRotation, v: Vector) -> None:
    close(R.rotate_back(R.rotate(v)), v)
    close(R.inverse().rotate(v), R.rotate_back(v))


@given(axes, angles, vectors, matrices, symmetrics)
def test_turn_about_a_coordinate_axis_is_its_matrix(
    axis: int, angle: float, v: Vector, a: Matrix3, s: Symmetric3
) -> None:
    turn = AxisRotation.by(axis, angle)
    matrix = MatrixRotation(turn.matrix())
    close(matrix, rotation_about(Vector.unit(axis), angle))
    close(turn.rotate(v), matrix.rotate(v))
    close(turn.rotate_back(v), matrix.rotate_back(v))
    close(turn.conjugate(a), matrix.conjugate(a))
    close(turn.conjugate_symmetric(s), matrix.conjugate_symmetric(s))
    close(turn.after(a), matrix.after(a))
    close(turn.inverse(), matrix.inverse())


@given(rotations, matrices, symmetrics)
def test_conjugation_is_the_product_with_both_sides(R: MatrixRotation, a: Matrix3, s: Symmetric3) -> None:
    r = array(R)
    close(R.conjugate(a), r @ array(a) @ r.T)
    close(R.conjugate_symmetric(s), r @ array(s) @ r.T)


@given(rotations)
def test_quaternion_of_a_matrix_and_back(R: MatrixRotation) -> None:
    quaternion = quaternion_from_matrix(R.matrix())
    assert quaternion[3] >= 0
    assert sum(e * e for e in quaternion) == pytest.approx(1, abs=4e-15)
    close(rotation_from_quaternion(*quaternion), R)


@given(rotations, rotations)
def test_product_of_quaternions_is_that_of_the_matrices(A: MatrixRotation, B: MatrixRotation) -> None:
    product = quaternion_product(quaternion_from_matrix(A.matrix()), quaternion_from_matrix(B.matrix()))
    expected = array(A) @ array(B)
    close(rotation_from_quaternion(*product), expected, 8e-15)


@given(angles, st.floats(-math.pi / 2, math.pi / 2), angles)
def test_roll_pitch_yaw_are_pinocchio_s_and_come_back(roll: float, pitch: float, yaw: float) -> None:
    R = rotation_from_rpy(roll, pitch, yaw)
    close(R, pin.rpy.rpyToMatrix(roll, pitch, yaw))
    close(rotation_from_rpy(*rpy_from_matrix(R.matrix())), R)


@given(angles, angles, st.sampled_from([-1, 1]))
def test_roll_pitch_yaw_come_back_where_two_axes_align(roll: float, yaw: float, sign: int) -> None:
    R = rotation_from_rpy(roll, sign * math.pi / 2, yaw)
    # through the quaternion, so that the entries that vanish carry rounding
    noisy = rotation_from_quaternion(*quaternion_from_matrix(R.matrix())).matrix()
    close(rotation_from_rpy(*rpy_from_matrix(noisy)), noisy)


@given(vectors, vectors)
def test_skew_matrix_is_the_cross_product(a: Vector, b: Vector) -> None:
    close(skew(a) @ b, a.cross(b))
    close(a.cross(b), np.cross(array(a), array(b)))


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


# ---- poses, motions and forces


@st.composite
def poses(draw: st.DrawFn) -> tuple[Transform, pin.SE3]:
    rng = draw(generators)
    R, p = pin.exp3(array(unit(rng)) * draw(angles)), rng.standard_normal(3)
    return Transform(MatrixRotation(Matrix3(R.ravel())), Vector(*p)), pin.SE3(R, p)


def motion(x: np.ndarray) -> Motion:
    return Motion(Vector(*x[:3]), Vector(*x[3:]))


motions = twists.map(lambda x: (motion(x), pin.Motion(x)))
forces = twists.map(lambda x: (Force(Vector(*x[:3]), Vector(*x[3:])), pin.Force(x)))


@given(poses(), poses())
def test_composition_and_inverse(a: tuple, b: tuple) -> None:
    close(a[0] @ b[0], (a[1] * b[1]).homogeneous)
    close(a[0].inverse(), a[1].inverse().homogeneous)


@given(poses(), motions, forces)
def test_motions_and_forces_change_frame(X: tuple, v: tuple, f: tuple) -> None:
    close(X[0].act(v[0]), X[1].act(v[1]).vector)
    close(X[0].act_back(v[0]), X[1].actInv(v[1]).vector)
    close(X[0].act(f[0]), X[1].act(f[1]).vector)
    close(X[0].act_back(f[0]), X[1].actInv(f[1]).vector)


@given(poses(), motions, forces)
def test_power_is_the_same_in_every_frame(X: tuple, v: tuple, f: tuple) -> None:
    assert X[0].act(v[0]).dot(X[0].act(f[0])) == pytest.approx(v[0].dot(f[0]), abs=1e-13)


@given(motions, motions, forces)
def test_cross_products(v: tuple, m: tuple, f: tuple) -> None:
    close(v[0].cross(m[0]), v[1].cross(m[1]).vector)
    close(v[0].cross_force(f[0]), v[1].cross(f[1]).vector)
    # the one is minus the transpose of the other
    assert v[0].cross(m[0]).dot(f[0]) == pytest.approx(-m[0].dot(v[0].cross_force(f[0])), abs=1e-13)


@given(poses(), poses(), poses(), motions, forces)
def test_two_steps_are_their_product(a: tuple, b: tuple, c: tuple, v: tuple, f: tuple) -> None:
    steps, product = Steps(a[0], b[0]), a[0] @ b[0]
    for x in (v[0], f[0]):
        close(steps.act(x), product.act(x))
        close(steps.act_back(x), product.act_back(x))
    close(steps.onto(c[0]), c[0] @ product)
    w = v[0].linear
    close(steps.rotate(w), product.R.rotate(w))
    close(steps.rotate_back(w), product.R.rotate_back(w))


def test_a_point_moves_with_the_pose() -> None:
    X = Transform(AxisRotation(2, 0, 1), Vector(1, 2, 3))
    assert list(X.transform_point(Vector(1, 0, 0))) == [1, 3, 3]


def test_change_of_frame_in_formulas() -> None:
    a, x, w = sympy.symbols("a x w", real=True)
    X = Transform(AxisRotation.by(2, a), Vector(x, 0, 0))
    moved = X.act(Motion(Vector.zero(), Vector(0, 0, w)))
    assert list(moved) == [0, -x * w, 0, 0, 0, w]


# ---- inertias of rigid and articulated bodies against Pinocchio's, and the identities they keep


@st.composite
def inertias(draw: st.DrawFn) -> tuple[Inertia, pin.Inertia]:
    rng = draw(generators)
    cloud = rng.standard_normal((5, 3))
    tensor = np.trace(cloud.T @ cloud) * np.eye(3) - cloud.T @ cloud
    mass, com = rng.uniform(0.1, 10), rng.standard_normal(3)
    ours = Inertia.from_com(mass, Vector(*com), Symmetric3(*tensor[np.triu_indices(3)]))
    return ours, pin.Inertia(mass, com, tensor)


def matrix(inertia: Inertia | ArticulatedInertia) -> np.ndarray:
    unit = np.eye(6)
    return np.array([list(inertia @ motion(unit[k])) for k in range(6)], dtype=float).T


@given(inertias(), twists)
def test_momentum(inertia: tuple, v: np.ndarray) -> None:
    close(matrix(inertia[0]), inertia[1].matrix())
    close(inertia[0] @ motion(v), (inertia[1] * pin.Motion(v)).vector)


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
    close(matrix(ours), A)
    close(np.array([[ours.entry(r, c) for c in range(6)] for r in range(6)]), A)
    back = X[1].toActionMatrixInverse()
    close(matrix(ours.transformed(X[0])), back.T @ A @ back)
    close(matrix(ours + ours), 2 * A)


def test_turn_of_an_inertia_about_a_coordinate_axis_is_that_of_its_matrix() -> None:
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
