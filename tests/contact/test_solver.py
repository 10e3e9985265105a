"""Coulomb's law at one contact, compliant contacts within the solver, and its rows."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant
from pliant.compiler import kernel_from_function
from pliant.contact.constraint_rows import (
    dot, eliminated, moved, point_columns, relative, row_matrix, scaled, support_of, tangents_of, turn_columns,
)  # fmt: skip
from pliant.contact.coulomb import impulse_at, inverse_of, natural_residual
from pliant.contact.models import CompliantContact, HuntCrossley, SpringDamper
from pliant.contact.solver import look, push, slide, sweep, with_targets
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.pinned_factor import pinned_factor
from pliant.dynamics.kinematics import link_poses
from pliant.robot import Robot
from pliant.scalar import maximum, select
from pliant.spatial import Symmetric3, Vector
from random_robots import ALL, robot_of, seeds, state_of


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


def test_a_contact_alone_gets_the_impulse_of_a_visit() -> None:
    """In parts, of which sliding is one that only those take that slide: the same bits as at once."""
    rng, seen, n = np.random.default_rng(4), set(), 5
    group: Any = SimpleNamespace(support=tuple(range(n)), turning=())
    for _ in range(200):
        Y, D_inverse = rng.normal(size=(3, n)), np.exp(rng.normal(size=n))
        DY = Y * D_inverse
        G = row_matrix(Y.tolist(), DY.tolist())
        contact = {"G": list(G), "inverse": list(inverse_of(G)), "mu": 0.6, "slip": [0.1, -0.2]}
        rows = with_targets({"Y": Y.tolist(), "DY": DY.tolist(), "contacts": [contact], "moments": []}, [-0.3])
        w, p = rng.normal(size=n).tolist(), [*rng.normal(size=2), rng.uniform(0, 4)]
        at_once = sweep(group, rows, w, p, 0.25, relaxation=0.5)
        u, new, slides = look(group, rows, w, p)
        new = slide(rows, u, p, 0.5) if slides else new
        assert (*push(group, rows, w, p, new, 0.25), list(new)) == (at_once[0], at_once[2], at_once[1])
        seen.add("slides" if slides else "sticks" if new.z > 0 else "opens")
    assert seen == {"sticks", "slides", "opens"}


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


# next to a jam: G_nn - mu G_nx = 0.04 G_nn is small but positive, and there is one solution
@pytest.mark.parametrize("G, mu, fall, tolerance", [
    ([[1.0, 0, 0.3], [0, 1, 0], [0.3, 0, 0.8]], 0.3, 1, 1e-12),
    ([[3.5, 0, 1.5], [0, 0.8, 0], [1.5, 0, 1.25]], 0.8, 0.01, 1e-9),
], ids=["plain", "next to a jam"])  # fmt: skip
def test_sliding_in_a_plane_with_coupling(G: list[list[float]], mu: float, fall: float, tolerance: float) -> None:
    """b_n + (G_nn - mu G_nx) p_n = 0 for a slip along +x."""
    p, u = solved(np.array([2.0, 0, -fall]), np.array(G), mu)
    p_n = fall / (G[2][2] - mu * G[0][2])
    np.testing.assert_allclose(p, [-mu * p_n, 0, p_n], rtol=tolerance, atol=1e-12)
    assert u[0] > 0, "it does slide"
    assert residual(u, p, np.array(G), mu) < 1e-9


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


# ---- the answer of a compliant contact within the solver: p = dt law(depth - dt u_n, -u_n, u_t) at the end of the
# step


DT = 1e-3


def quadratic(depth, rate, slip):
    normal = select(depth > 0, 1e7 * depth * depth + maximum(0, 100 * rate), 0)
    return normal, (-20 * slip[0], -20 * slip[1])


LAWS = {
    "soft": SpringDamper(1e4, 100, friction=0.5),
    "stiff": SpringDamper(1e8, 1e4, friction=0.5),
    "hertz": HuntCrossley(1e7, 0.5, friction=0.5),
    "own": quadratic,
}


def solved_with_law(law, gap: float, b: np.ndarray, G: np.ndarray, visits: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Impulse and velocity where the law holds, by Newton's steps from no impulse; on floats."""
    answer = CompliantContact(law).answer(DT)
    p = np.zeros(3)
    for _ in range(visits):
        p = np.array([*answer({"gap": gap}, Vector(*(b + G @ p)), Vector(*p), symmetric(G))])
    return p, b + G @ p


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("gap", [-1e-3, -1e-4])
def test_the_law_holds_at_the_end_of_the_step(name: str, gap: float) -> None:
    """With a matrix like that of a body of 2 kg, hit off its centre; slips well above the smooth part of friction."""
    law = LAWS[name]
    G = np.array([[0.6, 0.05, 0.1], [0.05, 0.5, -0.05], [0.1, -0.05, 0.7]])
    for b in ([1.0, 0.5, -0.2], [-2.0, 0.1, 0.0], [0.5, -0.5, -1.0]):
        p, u = solved_with_law(law, gap, np.array(b), G)
        normal, friction = law(-gap - DT * u[2], -u[2], (u[0], u[1]))
        # derivatives by differences of 1e-7 slow the last steps down; forces reach 1e3 N
        np.testing.assert_allclose(p, np.array([*friction, normal]) * DT, atol=1e-7)


def test_closed_form_of_a_linear_spring() -> None:
    """p_n = dt (k depth - (k dt + d) b_n) / (1 + dt (k dt + d) G)."""
    k, d, depth, b, g = 1e4, 100.0, 2e-3, -0.3, 0.5
    p, u = solved_with_law(SpringDamper(k, d, friction=0), -depth, np.array([0, 0, b]), np.eye(3) * g)
    gain = DT * (k * DT + d)
    assert p[2] == pytest.approx((DT * k * depth - gain * b) / (1 + gain * g), rel=1e-8)
    assert u[2] == pytest.approx(b + g * p[2], rel=1e-12)


def test_nothing_happens_far_from_the_ground() -> None:
    p, _ = solved_with_law(LAWS["soft"], 0.5, np.array([1.0, 2, -3]), np.eye(3))
    np.testing.assert_array_equal(p, 0)


def test_kernel_and_floats_agree() -> None:
    """The traced answer has exact derivatives, that on floats those by differences: one step from the same place."""
    contact = CompliantContact(LAWS["hertz"])

    def answer(gap, u, p, G):
        return list(contact.answer(DT)({"gap": gap[0]}, Vector(*u), Vector(*p), Symmetric3(*G)))

    kernel = kernel_from_function(answer, {"gap": (1,), "u": (3,), "p": (3,), "G": (6,)}, name="answer")
    G = symmetric(np.array([[0.6, 0.05, 0.1], [0.05, 0.5, -0.05], [0.1, -0.05, 0.7]]))
    u, p = np.array([0.3, -0.2, -0.1]), np.array([-0.01, 0.01, 0.1])
    found = kernel(np.array([-1e-3]), u, p, np.array([float(x) for x in G]))
    expected = contact.answer(DT)({"gap": -1e-3}, Vector(*u), Vector(*p), G)
    np.testing.assert_allclose(found, [*expected], rtol=1e-5)


def test_the_force_has_the_normal_last() -> None:
    f = CompliantContact(SpringDamper(1e4, 0, friction=0.5)).force(-1e-3, Vector(2.0, 0.0, 0.0))
    np.testing.assert_allclose([*f], [-5, 0, 10])


# ---- rows of the solver against dense linear algebra: Y, G = J M^-1 J^T, and what an impulse does


def random_robot(seed: int, *, mimic: bool = False) -> Robot:
    return robot_of(ALL, [-1, 0, 1, 1, 2, 4, -1, 3], np.random.default_rng(seed), mimic=mimic, floating=seed % 2 == 1)


def dense(columns: dict, nv: int) -> np.ndarray:
    found = np.zeros((3, nv))
    for d, column in columns.items():
        found[:, d] = [float(x) for x in column]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_columns_are_the_jacobian_of_the_point(seed: int) -> None:
    robot = random_robot(seed, mimic=seed > 1)
    q = state_of(robot, seed).q
    poses = link_poses(robot.mechanism, q.tolist())
    for name in ("frame2", "frame5", "frame6"):
        i, X = robot.mechanism.frame(name)
        p = poses[i].transform_point(X.p)
        J = pliant.frame_jacobian(robot, q, name)
        np.testing.assert_allclose(dense(point_columns(robot.mechanism, poses, i, p), robot.nv), J[:3], atol=1e-12)
        np.testing.assert_allclose(dense(turn_columns(robot.mechanism, poses, i), robot.nv), J[3:], atol=1e-12)


def test_the_world_does_not_move() -> None:
    robot = random_robot(0)
    poses = link_poses(robot.mechanism, robot.neutral().tolist())
    assert point_columns(robot.mechanism, poses, -1, Vector(1, 2, 3)) == {}
    columns = point_columns(robot.mechanism, poses, 0, Vector(1, 2, 3))
    np.testing.assert_array_equal(dense(relative(columns, {}), robot.nv), dense(columns, robot.nv))
    np.testing.assert_array_equal(dense(relative({}, columns), robot.nv), -dense(columns, robot.nv))


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_those_of_dense_algebra(seed: int) -> None:
    """G = J M^-1 J^T, u = J v, and an impulse changes v by M^-1 J^T p; between two bodies of one tree."""
    robot = random_robot(seed, mimic=seed > 1)
    mechanism = robot.mechanism
    state = state_of(robot, seed)
    poses = link_poses(mechanism, state.q.tolist())
    factor = pinned_factor(mechanism, composite_inertia(robot, state.q.tolist()))
    record = factor.record()
    (a, X), (b, _) = mechanism.frame("frame5"), mechanism.frame("frame3")
    p = poses[a].transform_point(X.p)
    support = support_of(mechanism, [a, b])
    columns = relative(point_columns(mechanism, poses, a, p), point_columns(mechanism, poses, b, p))
    n = np.random.default_rng(seed).standard_normal(3)
    normal = Vector(*(n / np.linalg.norm(n)).tolist())
    axes = (*tangents_of(normal), normal)
    Y = [eliminated(record, support, columns, axis) for axis in axes]
    DY = [scaled(row, support, record["D_inverse"]) for row in Y]

    M = pliant.mass_matrix(robot, state.q)
    J = np.array([[float(x) for x in axis] for axis in axes]) @ dense(columns, robot.nv)
    G = J @ np.linalg.solve(M, J.T)
    found = row_matrix(Y, DY)
    scale = np.abs(G).max()
    np.testing.assert_allclose([[found.entry(r, c) for c in range(3)] for r in range(3)], G, atol=1e-10 * scale)
    w = factor.coordinates(state.v.tolist())
    np.testing.assert_allclose([dot(row, support, w) for row in Y], J @ state.v, atol=1e-11)
    impulse = [0.3, -0.7, 1.1]
    after = factor.velocity(moved(w, support, DY, impulse))
    # conditions of M up to 1e4
    np.testing.assert_allclose(after, state.v + np.linalg.solve(M, J.T @ impulse), atol=1e-10 * max(1, scale))


def test_the_support_holds_all_dofs_that_matter() -> None:
    """From the bodies down to the world, the last one first, each once."""
    robot = random_robot(1)
    mechanism = robot.mechanism
    a, _ = mechanism.frame("frame5")
    support = support_of(mechanism, [a, -1])
    assert list(support) == sorted(set(support), reverse=True)
    J = pliant.frame_jacobian(robot, state_of(robot, 1).q, "frame5")
    assert set(np.flatnonzero(np.abs(J).max(axis=0) > 0)) <= set(support)
    assert support_of(mechanism, [-1]) == ()


@pytest.mark.parametrize("seed", range(5))
def test_tangents_make_a_right_handed_frame(seed: int) -> None:
    rng = np.random.default_rng(seed)
    normals = [*rng.standard_normal((20, 3)), [0, 0, 1], [0, 0, -1], [1, 0, 0], [0, -1, 0], [1e-9, 0, -1]]
    for n in normals:
        n = np.array(n, float) / np.linalg.norm(n)
        x, y = (np.array([float(e) for e in t]) for t in tangents_of(Vector(*n.tolist())))
        frame = np.stack([x, y, n], axis=1)
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-14)
        assert np.linalg.det(frame) == pytest.approx(1)
    assert [list(t) for t in tangents_of(Vector(0, 0, 1))] == [[1, 0, 0], [0, 1, 0]]
    assert math.isfinite(sum(map(float, tangents_of(Vector(0.0, 0.0, -1.0))[0])))
