"""The basis of closed directions: rank, projections and impulses against NumPy's factors, for rows that depend."""

import numpy as np
import pytest

from pliant.compiler import kernel_from_function
from pliant.contact.loops import closed_basis

RNG = np.random.default_rng(11)


def rows_of(kind: str, n: int = 7) -> np.ndarray:
    """Rows of rank 3 or 4, with combinations of one another in some kinds."""
    Y = RNG.normal(size=(4, n))
    if kind == "twice":
        return Y[[0, 1, 0, 2, 1]]
    if kind == "combined":
        return np.array([Y[0], Y[1], Y[0] - 2 * Y[1], Y[2], 3 * Y[0] + Y[2]])
    if kind == "empty":
        return np.array([Y[0], 0 * Y[1], Y[1], 1e-17 * Y[2], Y[3]])
    return Y


def basis_of(Y: np.ndarray, D: np.ndarray, precision: str = "float64"):
    sizes = [1.0] * len(Y)
    return closed_basis(Y.tolist(), (1 / D).tolist(), sizes, [0] * len(Y), precision)


@pytest.mark.parametrize("kind", ["regular", "twice", "combined", "empty"])
def test_projections_and_impulses_are_those_of_numpy(kind: str) -> None:
    Y, D = rows_of(kind), np.exp(RNG.normal(size=7))
    basis = basis_of(Y, D)
    C = basis.factor()
    rank = np.linalg.matrix_rank(Y, tol=1e-9)
    assert basis.rank == rank

    # the nearest w in the product of D with Y w = t, t one that can be had
    w, t = RNG.normal(size=7), Y @ RNG.normal(size=7)
    found = np.array(basis.closed(w.tolist(), D.tolist(), basis.targets(t.tolist(), C)))
    G = (Y / D) @ Y.T
    p = np.linalg.pinv(G, rcond=1e-12) @ (t - Y @ w)
    np.testing.assert_allclose(found, w + (p @ Y) / D, atol=1e-12)

    # what an impulse along another row does to the closed mechanism
    row = RNG.normal(size=7)
    plain = row / D
    along = np.array(basis.response(row.tolist(), plain.tolist()))
    np.testing.assert_allclose(along, plain - (np.linalg.pinv(G, rcond=1e-12) @ (Y @ plain) @ Y) / D, atol=1e-12)
    np.testing.assert_allclose(Y @ along, 0, atol=1e-12)

    # the impulses that closed w, the least of them
    speeds = basis.speeds((found - w).tolist(), D.tolist())
    np.testing.assert_allclose(basis.impulses(speeds, C), p, atol=1e-11)
    # without rows that depend, by substitution
    assert bool(basis.is_weak) == (kind in ("twice", "combined"))
    if not basis.is_weak:
        np.testing.assert_allclose(basis.impulses(speeds), p, atol=1e-11)
        np.testing.assert_allclose(basis.targets(t.tolist()), basis.targets(t.tolist(), C), atol=1e-12)
    blocks = closed_basis(Y.tolist(), (1 / D).tolist(), [1.0] * len(Y), [0] * len(Y), blocks=[0, 0, 1, 1, 2][: len(Y)])
    np.testing.assert_allclose(blocks.closed(w.tolist(), D.tolist(), blocks.targets(t.tolist(), C)), found, atol=1e-11)


def test_what_a_closed_mechanism_holds_does_not_answer_at_all() -> None:
    Y, D = rows_of("combined"), np.ones(7)
    row = Y[0] + 2 * Y[3]
    assert basis_of(Y, D).response(row.tolist(), row.tolist()) == [0] * 7


def test_a_row_that_fades_is_held_until_it_is_rounding() -> None:
    """At an angle of 1e-5 to another one, it still holds its direction to 1e-10; at 1e-7 it is left out."""
    for angle, rank in ((1e-2, 2), (1e-5, 2), (1e-7, 1), (0, 1)):
        Y = np.array([[1.0, 0, 0], [np.cos(angle), np.sin(angle), 0]])
        basis = basis_of(Y, np.ones(3))
        assert basis.rank == rank
        np.testing.assert_allclose(basis.closed([1, 1, 1], [1, 1, 1]), [0, 2 - rank, 1], atol=1e-10)


def test_a_faint_row_that_comes_first_spoils_none() -> None:
    """Rows of a plane that is tilted a little against the axes: x, next to nothing, and z, which all is about."""
    for tilt in np.geomspace(1e-14, 1e-2, 60):
        Y = np.array([[1.0, 0, 0], [0.3 * tilt, tilt, 0], [0.1, 1, 0]])
        basis = basis_of(Y, np.ones(3))
        C = basis.factor()
        assert basis.rank == 2
        found = basis.closed([1, 1, 1], [1, 1, 1], basis.targets((Y @ [0.2, 0.3, 0]).tolist(), C))
        np.testing.assert_allclose(found, [0.2, 0.3, 1], atol=1e-8)
        np.testing.assert_allclose(basis.response([0.5, 0.5, 1], [0.5, 0.5, 1]), [0, 0, 1], atol=1e-8)


def test_doubts_leave_rows_out() -> None:
    """In a loop that is open by a thousandth of its size, an angle of 1e-4 may be none."""
    Y = [[1.0, 0], [1.0, 1e-4]]
    assert closed_basis(Y, [1, 1], [1, 1], [0, 0]).rank == 2
    assert closed_basis(Y, [1, 1], [1, 1], [1e-6, 1e-6]).rank == 1


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_compiled_rank_in_both_precisions(precision: str) -> None:
    """Rows turned at random, one of them a combination of the others, in a batch."""

    def rank(Y, D):
        rows = [list(Y[3 * k : 3 * k + 3]) for k in range(3)]
        return closed_basis(rows, [1 / d for d in D], [1] * 3, [0] * 3, precision).rank

    kernel = kernel_from_function(rank, {"Y": (9,), "D": (3,)}, name="rank", precision=precision)
    Y = RNG.normal(size=(200, 3, 3))
    Y[:, 2] = 0.3 * Y[:, 0] - 2 * Y[:, 1]
    D = np.exp(RNG.normal(size=(200, 3)))
    dtype = np.dtype(precision)
    found = kernel(Y.reshape(200, 9).astype(dtype), D.astype(dtype))
    assert (found == 2).all()


def test_generic_over_the_scalar() -> None:
    """Plain floats and a compiled kernel give the same closed w."""
    Y, D, w = rows_of("twice"), np.exp(RNG.normal(size=7)), RNG.normal(size=7)

    def closed(Y, D, w):
        rows = [list(row) for row in np.asarray(Y, object).reshape(5, 7)]
        basis = closed_basis(rows, [1 / d for d in D], [1] * 5, [0] * 5)
        return basis.closed(list(w), list(D))

    kernel = kernel_from_function(closed, {"Y": (35,), "D": (7,), "w": (7,)}, name="closed")
    found = kernel(Y.reshape(1, 35), D[None], w[None])[0]
    np.testing.assert_allclose(found, closed(Y.ravel().tolist(), D.tolist(), w.tolist()), atol=1e-13)
