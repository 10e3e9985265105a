"""Rows of the solver against dense linear algebra: Y, G = J M^-1 J^T, and what an impulse does."""

import math

import numpy as np
import pytest

import pliant
from pliant.contact.constraint_rows import (
    dot, eliminated, moved, point_columns, relative, row_matrix, scaled, support_of, tangents_of, turn_columns,
)  # fmt: skip
from pliant.contact.solver import factor_record
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.joint_space_inertia import factorized
from pliant.dynamics.kinematics import link_poses
from pliant.robot import Robot
from pliant.spatial import Vector
from random_robots import ALL, robot_of, state_of


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
    factor = factorized(mechanism, composite_inertia(robot, state.q.tolist()))
    record = factor_record(factor)
    (a, X), (b, _) = mechanism.frame("frame5"), mechanism.frame("frame3")
    p = poses[a].transform_point(X.p)
    support = support_of(mechanism, [a, b])
    columns = relative(point_columns(mechanism, poses, a, p), point_columns(mechanism, poses, b, p))
    n = np.random.default_rng(seed).standard_normal(3)
    normal = Vector(*(n / np.linalg.norm(n)).tolist())
    axes = (*tangents_of(normal), normal)
    Y = [eliminated(record["L"], support, columns, axis) for axis in axes]
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
