"""The consistent inverse and its projector: identities on random robots, of any rank."""

import numpy as np
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases
from random_robots import close


@given(case=cases(most=4))
@settings(max_examples=60)
def test_the_projector_takes_out_contact_forces(case: Case) -> None:
    N = case.run(pliant.constrained.force_projector, "q")
    n = len(N)
    scale = max(1, abs(N).max()) ** 2
    # of any rank; N has the size of what M weighs, up to 1e3 here
    np.testing.assert_allclose(N @ case.J.T, 0, atol=1e-8 * scale * max(1, abs(case.J).max()))
    np.testing.assert_allclose(N @ N, N, atol=1e-8 * scale)
    np.testing.assert_allclose(N @ case.M, (N @ case.M).T, atol=1e-8 * scale * abs(case.M).max())
    np.testing.assert_allclose(np.trace(N), n - case.rank, atol=1e-6 * scale)
    np.testing.assert_array_equal(case.run(pliant.constrained.impact_map, "q"), N.T)


@given(case=cases(full=True))
@settings(max_examples=60)
def test_the_consistent_inverse(case: Case) -> None:
    inverse = case.run(pliant.constrained.consistent_inverse, "q")
    Lambda = case.run(pliant.constrained.contact_inertia, "q")
    close(inverse @ case.J.T, np.eye(len(case.J)), 1e-9)
    close(Lambda @ case.G, np.eye(len(case.J)), 1e-9)
    close(inverse, Lambda @ case.J @ np.linalg.inv(case.M), 1e-9)
    close(np.eye(len(case.M)) - case.J.T @ inverse, case.run(pliant.constrained.force_projector, "q"), 1e-9)


@given(case=cases(full=True))
@settings(max_examples=60)
def test_the_terms_make_the_same_motion(case: Case) -> None:
    """M vd + N h + J^T Lambda Jdot v = N tau."""
    terms = case.run(pliant.constrained.contact_consistent_dynamics, "q", "v", "tau")
    N, Lambda = case.run(pliant.constrained.force_projector, "q"), case.run(pliant.constrained.contact_inertia, "q")
    close(terms.M, case.M, 1e-12)
    close(terms.bias, N @ case.h, 1e-9)
    close(terms.drive, N @ case.state.tau, 1e-9)
    close(terms.curvature, case.J.T @ Lambda @ case.bias, 1e-9)
    vd = case.run(pliant.constrained.constrained_dynamics, "q", "v", "tau").vd
    close(terms.M @ vd + terms.bias + terms.curvature, terms.drive, 1e-8)


@given(case=cases(full=True))
@settings(max_examples=40)
def test_one_part_of_torque_makes_force_and_the_other_motion(case: Case) -> None:
    split = case.run(pliant.constrained.torque_split, "q", "tau")
    close(split.contact + split.motion, case.state.tau, 1e-10)
    zero = case.run(pliant.constrained.constrained_dynamics, "q", "v", "tau")

    def more(extra: np.ndarray):
        tau = (case.state.tau + extra).tolist()
        q, v = case.state.q.tolist(), case.state.v.tolist()
        return pliant.constrained.constrained_dynamics.algorithm(case.robot, q, v, tau, **case.options)

    close(more(split.contact).vd, zero.vd, 1e-9)
    close(more(split.contact).f, zero.f + split.f, 1e-9)
    close(more(split.motion).f, zero.f, 1e-9)


def test_kernels_of_a_box_on_four_corners() -> None:
    """Six of twelve rows: the floating body cannot move, N is zero, and Lambda is the pseudo-inverse."""
    robot = box()
    rng = np.random.default_rng(0)
    q, tau = robot.random(rng, batch=5), rng.standard_normal((5, 6))
    np.testing.assert_array_equal(pliant.constrained.contact_rank(robot, q, contacts=CORNERS), 6)
    np.testing.assert_allclose(pliant.constrained.force_projector(robot, q, contacts=CORNERS), 0, atol=1e-11)
    J, M = pliant.constrained.contact_jacobian(robot, q, contacts=CORNERS), pliant.mass_matrix(robot, q)
    G = np.einsum("krd,kde,kse->krs", J, np.linalg.inv(M), J)
    Lambda = pliant.constrained.contact_inertia(robot, q, contacts=CORNERS)
    np.testing.assert_allclose(Lambda, np.linalg.pinv(G, rcond=1e-9, hermitian=True), atol=1e-9)
    split = pliant.constrained.torque_split(robot, q, tau, contacts=CORNERS)
    np.testing.assert_allclose(split.motion, 0, atol=1e-10)
    np.testing.assert_allclose(np.einsum("krd,kr->kd", J, split.f), -tau, atol=1e-10)
    np.testing.assert_array_equal(split.rank, 6)
