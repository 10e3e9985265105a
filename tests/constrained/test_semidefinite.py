"""Factors of matrices that may be singular, against NumPy's pseudo-inverse; every rank, floats and kernels."""

import numpy as np
import pytest

from pliant.compiler import kernel_from_function
from pliant.constrained.semidefinite import SemidefiniteFactor


def matrix_of(rng: np.random.Generator, n: int, rank: int, empty: bool = False) -> np.ndarray:
    rows = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n + 2))
    if empty:
        rows[rng.integers(n)] = 0
    return rows @ rows.T


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_it_is_the_pseudo_inverse_at_every_rank(n: int) -> None:
    rng = np.random.default_rng(n)
    for rank in range(n + 1):
        for empty in (False, True):
            G = matrix_of(rng, n, rank, empty)
            b = rng.standard_normal(n)  # in the range of G or not
            factor = SemidefiniteFactor(G.tolist())
            expected = np.linalg.pinv(G, rcond=1e-9, hermitian=True)
            assert factor.rank == np.linalg.matrix_rank(G, tol=1e-9 * max(1, abs(G).max()), hermitian=True)
            # conditions of random matrices are below 1e4, and K squares them
            scale = 1e-7 * max(1, abs(expected).max())
            np.testing.assert_allclose(factor.solve(b.tolist()), expected @ b, atol=scale)
            np.testing.assert_allclose(np.array(factor.inverse(), float), expected, atol=scale)


def test_rows_that_depend_by_rounding_only_are_found() -> None:
    """The same rows again, scaled by a tenth and by a thousand."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((4, 7))
    rows = np.concatenate([rows, rows[:2] * 0.1, rows[2:] * 1e3 + rows[:2] / 3])
    G = rows @ rows.T
    factor = SemidefiniteFactor(G.tolist())
    assert factor.rank == 4
    b = G @ rng.standard_normal(8)
    f = np.array(factor.solve(b.tolist()))
    # G spans 1e6 from row to row
    np.testing.assert_allclose(G @ f, b, atol=1e-9 * abs(b).max())
    least = np.linalg.lstsq(rows.T, rows.T @ f, rcond=None)[0]
    np.testing.assert_allclose(f, least, atol=1e-8 * abs(least).max())


def test_lanes_have_ranks_of_their_own() -> None:
    rng = np.random.default_rng(2)
    batch = np.array([matrix_of(rng, 4, rank) for rank in (4, 2, 3, 0, 1, 4)])
    b = rng.standard_normal((6, 4))

    def solved(G, b):
        factor = SemidefiniteFactor(G)
        return factor.solve(b), factor.rank

    kernel = kernel_from_function(solved, {"G": (4, 4), "b": (4,)})
    x, rank = kernel(batch, b)
    np.testing.assert_array_equal(rank, [4, 2, 3, 0, 1, 4])
    for k in range(6):
        expected = np.linalg.pinv(batch[k], rcond=1e-9, hermitian=True)
        np.testing.assert_allclose(x[k], expected @ b[k], atol=1e-7 * max(1, abs(expected).max()))


def test_what_is_not_a_number_shows() -> None:
    factor = SemidefiniteFactor([[2.0, 0], [float("nan"), 1.0]])
    assert np.isnan(factor.solve([1.0, 1.0])).any()


def test_without_a_tolerance_it_is_the_plain_solution() -> None:
    G = matrix_of(np.random.default_rng(3), 5, 5)
    factor = SemidefiniteFactor(G.tolist(), tolerance=None)
    assert factor.rank == 5
    np.testing.assert_allclose(factor.solve([1.0] * 5), np.linalg.solve(G, np.ones(5)), rtol=1e-9)
