"""Coulomb's law at one contact: closed forms of sticking, opening and sliding, and the residual that judges them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.compiler import kernel_from_function
from pliant.contact.coulomb import impulse_at, inverse_of, natural_residual
from pliant.spatial import Symmetric3, Vector

seeds = st.integers(0, 2**32 - 1)


def symmetric(G: np.ndarray) -> Symmetric3:
    return Symmetric3(*(float(G[r, c]) for r in range(3) for c in range(r, 3)))


def random_matrix(rng: np.random.Generator, spread: float = 1.0) -> np.ndarray:
    """Positive definite, with a condition up to some exp(2 spread)."""
    R, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return (R * np.exp(rng.uniform(-spread, spread, 3))) @ R.T


def solved(b: np.ndarray, G: np.ndarray, mu: float, visits: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Impulse and velocity where visits change nothing any more, from no impulse."""
    S = symmetric(G)
    p = np.zeros(3)
    for _ in range(visits):
        p = np.array([*impulse_at(Vector(*(b + G @ p)), Vector(*p), S, inverse_of(S), mu)])
    return p, b + G @ p


def residual(u: np.ndarray, p: np.ndarray, G: np.ndarray, mu: float) -> float:
    return float(natural_residual(Vector(*u), Vector(*p), symmetric(G), mu))


def test_inverse() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        G = random_matrix(rng)
        inverse = inverse_of(symmetric(G))
        found = np.array([[inverse.entry(r, c) for c in range(3)] for r in range(3)])
        np.testing.assert_allclose(found @ G, np.eye(3), atol=1e-9)  # what is added is 1e-12 of the trace


@pytest.mark.parametrize("blocked", [0, 1])
def test_the_inverse_is_finite_where_a_contact_cannot_move(blocked: int) -> None:
    """A planar robot: across its plane neither u nor G has anything."""
    diagonal = np.array([0.5, 0.5, 2.0])
    diagonal[blocked] = 0
    assert all(math.isfinite(x) for x in inverse_of(symmetric(np.diag(diagonal))))
    b = np.array([0.1, 0.1, -1])
    b[blocked] = 0
    p, u = solved(b, np.diag(diagonal), 1.0)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(u, 0, atol=1e-9)


def test_a_contact_that_opens_gets_nothing() -> None:
    p, u = solved(np.array([3.0, -1, 0.2]), np.eye(3), 0.8)
    np.testing.assert_array_equal(p, 0)
    np.testing.assert_array_equal(u, [3, -1, 0.2])


def test_a_contact_that_sticks_is_stopped() -> None:
    """p = -G^-1 b if that is in the cone; at the first visit."""
    G = random_matrix(np.random.default_rng(2), 0.3)
    p0 = np.array([0.3, -0.2, 1.0])
    p, u = solved(-G @ p0, G, 0.5, visits=1)
    np.testing.assert_allclose(p, p0, atol=1e-10)
    np.testing.assert_allclose(u, 0, atol=1e-10)


@pytest.mark.parametrize("angle", np.arange(8) * math.pi / 4 + 0.1)
def test_a_sliding_point_mass(angle: float) -> None:
    """G = 1/m: p_n stops the fall, friction mu p_n acts against the slip."""
    slip = 3 * np.array([math.cos(angle), math.sin(angle)])
    p, u = solved(np.array([*slip, -2]), np.eye(3) / 4, 0.4, visits=5)
    np.testing.assert_allclose(p, [*(-0.4 * 8 * slip / 3), 8], atol=1e-12)
    np.testing.assert_allclose(u[:2], slip * (1 - 0.8 / 3), atol=1e-12)


def test_sliding_in_a_plane_with_coupling() -> None:
    """b_n + (G_nn - mu G_nx) p_n = 0 for a slip along +x."""
    G = np.array([[1.0, 0, 0.3], [0, 1, 0], [0.3, 0, 0.8]])
    mu, b = 0.3, np.array([2.0, 0, -1])
    p, u = solved(b, G, mu)
    p_n = 1 / (0.8 - mu * 0.3)
    np.testing.assert_allclose(p, [-mu * p_n, 0, p_n], atol=1e-12)
    assert u[0] > 0


def test_sliding_next_to_a_jam() -> None:
    """G_nn - mu G_nx = 0.04 G_nn is small but positive: there is one solution, the p_n of the closed form."""
    G = np.array([[3.5, 0, 1.5], [0, 0.8, 0], [1.5, 0, 1.25]])
    mu, b = 0.8, np.array([2.0, 0, -0.01])
    p, u = solved(b, G, mu)
    p_n = 0.01 / (1.25 - mu * 1.5)
    assert 2 + (1.5 - mu * 3.5) * p_n > 0, "it does slide"
    np.testing.assert_allclose(p, [-mu * p_n, 0, p_n], rtol=1e-9)
    assert residual(u, p, G, mu) < 1e-9


def test_without_friction_only_the_normal_counts() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        G, b = random_matrix(rng), rng.standard_normal(3)
        p, _ = solved(b, G, 0, visits=1)
        np.testing.assert_allclose(p, [0, 0, max(0, -b[2] / G[2, 2])], rtol=1e-12)


@given(seeds, st.sampled_from([0.1, 0.5, 1.0]))
def test_visits_end_at_coulombs_law(seed: int, mu: float) -> None:
    """For any matrix with a spread of some 3 : 1 and any approach, the natural residual vanishes."""
    rng = np.random.default_rng(seed)
    G = random_matrix(rng, 0.6)
    b = rng.standard_normal(3)
    p, u = solved(b, G, mu)
    # rounding, times the condition
    assert residual(u, p, G, mu) < 1e-9
    assert p[2] >= 0
    assert u[2] > -1e-9
    assert abs(p[2] * u[2]) < 1e-9
    assert math.hypot(p[0], p[1]) <= mu * p[2] + 1e-9
    # maximal dissipation: friction on the disc, straight against the slip
    if math.hypot(u[0], u[1]) > 1e-6 and p[2] > 0:
        assert p[:2] @ u[:2] == pytest.approx(-mu * p[2] * math.hypot(u[0], u[1]), rel=1e-6)


def test_the_residual_sees_every_violation() -> None:
    """Zero only if u_n >= 0, p_n >= 0, u_n p_n = 0, in the disc, and opposed."""
    G, mu = np.eye(3), 0.5

    def of(u: tuple[float, ...], p: tuple[float, ...]) -> float:
        return residual(np.array(u), np.array(p), G, mu)

    assert of((0, 0, 0), (0.5, 0, 1)) == 0  # sticks on the edge of the cone
    assert of((1, 0, 0), (-0.5, 0, 1)) == 0  # slides
    assert of((1, 2, 3), (0, 0, 0)) == 0  # is open
    assert of((0, 0, -0.1), (0, 0, 1)) == pytest.approx(0.1, rel=1e-9)  # goes into the ground
    assert of((0, 0, 0.1), (0, 0, 1)) > 0.05  # pushes while it opens
    assert of((0, 0, 0), (0.6, 0, 1)) == pytest.approx(0.1)  # beyond the disc
    assert of((1, 0, 0), (0.5, 0, 1)) > 0.1  # friction drives
    assert of((1, 0, 0), (0, -0.5, 1)) > 0.1  # friction across
    assert of((1, 0, 0), (-0.3, 0, 1)) == pytest.approx(0.2)  # less than it should


def test_float32_has_numbers_small_enough() -> None:
    """A contact that does not slip has no direction of sliding; guards against zero must not be zero in float32."""

    def impulse(u, p):
        G = Symmetric3(2.0, 0.1, 0.3, 1.5, -0.2, 1.0)
        return [*impulse_at(Vector(*u), Vector(*p), G, inverse_of(G, "float32"), 0.7)]

    kernel = kernel_from_function(impulse, {"u": (3,), "p": (3,)}, precision="float32")
    for u in ([0, 0, 0], [0, 0, 1], [0, 0, -1], [1e-20, 0, -1e-20], [1e-12, 1e-12, 1e-6]):
        for p in ([0, 0, 0], [1e-20, 0, 1e-20], [0, 0, 1]):
            assert np.isfinite(kernel(np.array(u, np.float32), np.array(p, np.float32))).all()
