"""Projectors and inverses of any rank: the consistent inverse, Aghili's projector, semidefinite factors."""

import numpy as np
import pytest
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases
from pliant.constrained import (
    aghili_acceleration, consistent_inverse, constrained_dynamics, constraint_inertia, contact_consistent_dynamics,
    contact_inertia, contact_jacobian, contact_rank, force_projector, impact_map, orthogonal_projector, torque_split,
)  # fmt: skip
from pliant.compiler import kernel_from_function
from pliant.constrained.semidefinite import SemidefiniteFactor
from random_robots import close

BOX = box()


@given(case=cases(most=4))
@settings(max_examples=60)
def test_the_projector_takes_out_contact_forces(case: Case) -> None:
    N = case.run(force_projector, "q")
    n = len(N)
    scale = max(1, abs(N).max()) ** 2
    # of any rank; N has the size of what M weighs, up to 1e3 here
    np.testing.assert_allclose(N @ case.J.T, 0, atol=1e-8 * scale * max(1, abs(case.J).max()))
    np.testing.assert_allclose(N @ N, N, atol=1e-8 * scale)
    np.testing.assert_allclose(N @ case.M, (N @ case.M).T, atol=1e-8 * scale * abs(case.M).max())
    np.testing.assert_allclose(np.trace(N), n - case.rank, atol=1e-6 * scale)
    np.testing.assert_array_equal(case.run(impact_map, "q"), N.T)


@given(case=cases(full=True))
@settings(max_examples=60)
def test_the_consistent_inverse(case: Case) -> None:
    inverse = case.run(consistent_inverse, "q")
    Lambda = case.run(contact_inertia, "q")
    close(inverse @ case.J.T, np.eye(len(case.J)), 1e-9)
    close(Lambda @ case.G, np.eye(len(case.J)), 1e-9)
    close(inverse, Lambda @ case.J @ np.linalg.inv(case.M), 1e-9)
    close(np.eye(len(case.M)) - case.J.T @ inverse, case.run(force_projector, "q"), 1e-9)


@given(case=cases(full=True))
@settings(max_examples=60)
def test_the_terms_make_the_same_motion(case: Case) -> None:
    """M vd + N h + J^T Lambda Jdot v = N tau."""
    terms = case.run(contact_consistent_dynamics, "q", "v", "tau")
    N, Lambda = case.run(force_projector, "q"), case.run(contact_inertia, "q")
    close(terms.M, case.M, 1e-12)
    close(terms.bias, N @ case.h, 1e-9)
    close(terms.drive, N @ case.state.tau, 1e-9)
    close(terms.curvature, case.J.T @ Lambda @ case.bias, 1e-9)
    vd = case.run(constrained_dynamics, "q", "v", "tau").vd
    close(terms.M @ vd + terms.bias + terms.curvature, terms.drive, 1e-8)


@given(case=cases(full=True))
@settings(max_examples=40)
def test_one_part_of_torque_makes_force_and_the_other_motion(case: Case) -> None:
    split = case.run(torque_split, "q", "tau")
    close(split.contact + split.motion, case.state.tau, 1e-10)
    zero = case.run(constrained_dynamics, "q", "v", "tau")

    def more(extra: np.ndarray):
        tau = (case.state.tau + extra).tolist()
        q, v = case.state.q.tolist(), case.state.v.tolist()
        return constrained_dynamics.algorithm(case.robot, q, v, tau, **case.options)

    close(more(split.contact).vd, zero.vd, 1e-9)
    close(more(split.contact).f, zero.f + split.f, 1e-9)
    close(more(split.motion).f, zero.f, 1e-9)


def test_kernels_of_a_box_on_four_corners() -> None:
    """Six of twelve rows: the floating body cannot move, N is zero, and Lambda is the pseudo-inverse."""
    rng = np.random.default_rng(0)
    q, tau = BOX.random(rng, batch=5), rng.standard_normal((5, 6))
    np.testing.assert_array_equal(contact_rank(BOX, q, contacts=CORNERS), 6)
    np.testing.assert_allclose(force_projector(BOX, q, contacts=CORNERS), 0, atol=1e-11)
    J, M = contact_jacobian(BOX, q, contacts=CORNERS), pliant.mass_matrix(BOX, q)
    G = np.einsum("krd,kde,kse->krs", J, np.linalg.inv(M), J)
    Lambda = contact_inertia(BOX, q, contacts=CORNERS)
    np.testing.assert_allclose(Lambda, np.linalg.pinv(G, rcond=1e-9, hermitian=True), atol=1e-9)
    split = torque_split(BOX, q, tau, contacts=CORNERS)
    np.testing.assert_allclose(split.motion, 0, atol=1e-10)
    np.testing.assert_allclose(np.einsum("krd,kr->kd", J, split.f), -tau, atol=1e-10)
    np.testing.assert_array_equal(split.rank, 6)


# ---- Aghili's projector: identities on random robots, of any rank


@given(case=cases(most=4))
@settings(max_examples=60)
def test_the_projector_is_orthogonal(case: Case) -> None:
    P = case.run(orthogonal_projector, "q")
    size = max(1, abs(case.J).max())
    # rows of which 1e-5 is left count, and lose five digits
    np.testing.assert_allclose(P @ case.J.T, 0, atol=1e-8 * size)
    np.testing.assert_allclose(P @ P, P, atol=1e-8)
    np.testing.assert_array_equal(P, P.T)
    np.testing.assert_allclose(np.trace(P), len(P) - np.linalg.matrix_rank(case.J, tol=1e-8), atol=1e-7)


@given(case=cases(most=4))
@settings(max_examples=60)
def test_the_constraint_inertia_can_be_inverted(case: Case) -> None:
    M_c, P = (case.run(function, "q") for function in (constraint_inertia, orthogonal_projector))
    one = np.eye(len(P))
    np.testing.assert_allclose(M_c, P @ case.M + one - P, atol=1e-9 * max(1, abs(case.M).max()))
    vd = case.run(aghili_acceleration, "q", "v", "tau")
    force = P @ (case.state.tau - case.h) - np.linalg.pinv(case.J, rcond=1e-8) @ case.bias
    np.testing.assert_allclose(M_c @ vd, force, atol=1e-8 * max(1, abs(force).max(), abs(vd).max()))


def test_kernels_are_the_algorithm() -> None:
    rng = np.random.default_rng(0)
    q, v, tau = BOX.random(rng, batch=3), *rng.standard_normal((2, 3, 6))
    contacts = ("c0", ("c3", "z"))
    vd = aghili_acceleration(BOX, q, v, tau, contacts=contacts)
    np.testing.assert_allclose(vd, constrained_dynamics(BOX, q, v, tau, contacts=contacts).vd, atol=1e-9)
    M_c = constraint_inertia(BOX, q, contacts=contacts)
    assert M_c.shape == (3, 6, 6) and np.linalg.cond(M_c).max() < 1e4
    # all corners: nothing is left free
    np.testing.assert_allclose(orthogonal_projector(BOX, q, contacts=CORNERS), 0, atol=1e-12)


# ---- factors of matrices that may be singular, against NumPy's pseudo-inverse; every rank, floats and kernels


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
