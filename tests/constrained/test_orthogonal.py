"""Aghili's projector: identities on random robots, of any rank."""

import numpy as np
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases


@given(case=cases(most=4))
@settings(max_examples=60)
def test_the_projector_is_orthogonal(case: Case) -> None:
    P = case.run(pliant.constrained.orthogonal_projector, "q")
    size = max(1, abs(case.J).max())
    # rows of which 1e-5 is left count, and lose five digits
    np.testing.assert_allclose(P @ case.J.T, 0, atol=1e-8 * size)
    np.testing.assert_allclose(P @ P, P, atol=1e-8)
    np.testing.assert_array_equal(P, P.T)
    np.testing.assert_allclose(np.trace(P), len(P) - np.linalg.matrix_rank(case.J, tol=1e-8), atol=1e-7)


@given(case=cases(most=4))
@settings(max_examples=60)
def test_the_constraint_inertia_can_be_inverted(case: Case) -> None:
    M_c, P = (
        case.run(pliant.constrained.constraint_inertia, "q"),
        case.run(pliant.constrained.orthogonal_projector, "q"),
    )
    one = np.eye(len(P))
    np.testing.assert_allclose(M_c, P @ case.M + one - P, atol=1e-9 * max(1, abs(case.M).max()))
    vd = case.run(pliant.constrained.aghili_acceleration, "q", "v", "tau")
    force = P @ (case.state.tau - case.h) - np.linalg.pinv(case.J, rcond=1e-8) @ case.bias
    np.testing.assert_allclose(M_c @ vd, force, atol=1e-8 * max(1, abs(force).max(), abs(vd).max()))


def test_kernels_are_the_algorithm() -> None:
    robot = box()
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng, batch=3), *rng.standard_normal((2, 3, 6))
    contacts = ("c0", ("c3", "z"))
    vd = pliant.constrained.aghili_acceleration(robot, q, v, tau, contacts=contacts)
    np.testing.assert_allclose(
        vd, pliant.constrained.constrained_dynamics(robot, q, v, tau, contacts=contacts).vd, atol=1e-9
    )
    M_c = pliant.constrained.constraint_inertia(robot, q, contacts=contacts)
    assert M_c.shape == (3, 6, 6) and np.linalg.cond(M_c).max() < 1e4
    # all corners: nothing is left free
    np.testing.assert_allclose(pliant.constrained.orthogonal_projector(robot, q, contacts=CORNERS), 0, atol=1e-12)
