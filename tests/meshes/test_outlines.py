"""Outlines by support functions, their distance, and the round shapes nearest to them: closed forms and exact hulls."""

import numpy as np
import pytest

from pliant.meshes.outlines import DIRECTIONS, NOTHING, Outline, distance
from pliant.meshes.round_fits import RoundFit, round_fits
from pliant.meshes.support_points import flat_sides, needed, outermost


def random_rotation(seed: int) -> np.ndarray:
    q, r = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    return q * np.sign(np.diag(r)) * np.sign(np.linalg.det(q * np.sign(np.diag(r))))


def box(x: float, y: float, z: float) -> np.ndarray:
    return np.array([(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) / 2


def unit_points(count: int = 4000) -> np.ndarray:
    points = np.random.default_rng(0).standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def tube(half: float, rim: float, radius: float) -> np.ndarray:
    """Points of a cylinder along z with round edges: balls of the radius about two circles."""
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.stack([rim * np.cos(turn), rim * np.sin(turn), np.zeros(60)], axis=1)
    rims = np.concatenate([np.add(circle, [0, 0, z]) for z in (-half, half)])
    return (rims[:, None] + radius * unit_points(300)).reshape(-1, 3)


SHAPES = {
    # as meshes have them, with the fit that is expected and its girth
    "sphere": (0.3 * unit_points(), 0.3),
    "ellipsoid": (unit_points() * [0.3, 0.2, 0.12], 0.12),
    "capsule": (tube(0.2, 0, 0.1), 0.1),
    "rim": (tube(0, 0.2, 0.05), 0.05),
    "cylinder": (tube(0.15, 0.1, 0), 0.1),
}


def nearest(points: np.ndarray, rest: Outline = NOTHING, most: float = 0.01) -> RoundFit:
    return next(round_fits(Outline.of(points), rest, 0.1, most))


# ---- support functions


def test_support_of_each_piece() -> None:
    """A ball, a disc and an ellipsoid, against many of their points."""
    rng = np.random.default_rng(1)
    R, half = random_rotation(2), np.array([0.5, 0.3, 0.2])
    unit = unit_points(200_000)
    turn = np.linspace(0, 2 * np.pi, 20_000)
    disc = np.stack([0.4 * np.cos(turn), 0.4 * np.sin(turn), 0 * turn], axis=1)
    for outline, points in (
        (Outline.of(np.ones((1, 3)), 0.3), 1 + 0.3 * unit),
        (Outline.of(np.zeros((1, 3)), 0, R * half), (unit * half) @ R.T),
        (Outline.of(np.zeros((1, 3)), 0, R * [0.4, 0.4, 0]), disc @ R.T),
    ):
        d = rng.standard_normal((50, 3))
        d /= np.linalg.norm(d, axis=1, keepdims=True)
        # 200,000 points leave caps of 0.6 degrees: 6e-5
        np.testing.assert_allclose(outline.support(d), (points @ d.T).max(axis=0), atol=1e-4)


def test_moved_joined_and_some() -> None:
    a, b = Outline.of(box(1, 2, 3)), Outline.of(np.zeros((1, 3)), 0.7, np.diag([0.4, 0.3, 0]))
    R, p = random_rotation(3), np.array([1.0, 2, 3])
    both = Outline.joined([a, b])
    assert len(both) == 9
    np.testing.assert_array_equal(both.some([8]).support(DIRECTIONS), b.support(DIRECTIONS))
    moved = both.moved(R, p).support(DIRECTIONS)
    np.testing.assert_allclose(moved, both.support(DIRECTIONS @ R) + DIRECTIONS @ p, atol=1e-14)


def test_size_is_half_of_the_mean_width() -> None:
    """Of a ball its radius, wherever it is; of a segment a quarter of its length; of a box of sides a, b, c
    (a + b + c) / 4 [Schneider, Convex Bodies, 5.3]."""
    assert Outline.of(np.array([[1.0, 2, 3]]), 0.2).size == pytest.approx(0.2, rel=1e-6)
    # 2000 directions
    assert Outline.of(np.array([[0.0, 0, 1], [0, 0, 3]])).size == pytest.approx(0.5, rel=1e-3)
    assert Outline.of(box(1, 2, 3)).size == pytest.approx(1.5, rel=1e-3)
    assert NOTHING.size == 0


# ---- distance


def test_distance_of_boxes() -> None:
    """It is that of a corner from the smaller box, and the same both ways."""
    small, large = Outline.of(box(1, 1, 1)), Outline.of(box(1.2, 1.4, 1))
    assert distance(small, large) == distance(large, small) == pytest.approx(np.hypot(0.1, 0.2), rel=1e-4)
    assert distance(small, small) == 0


def test_the_rest_covers() -> None:
    small, large, cover = Outline.of(box(1, 1, 1)), Outline.of(box(1.2, 1, 1)), Outline.of(box(1.1, 1, 1))
    assert distance(small, large, cover) == pytest.approx(0.05, rel=1e-4)
    assert distance(small, NOTHING, Outline.of(box(2, 2, 2))) == 0
    assert distance(small, NOTHING) == np.inf
    assert distance(NOTHING, NOTHING) == 0


# ---- needed


def test_what_others_hide_is_not_needed() -> None:
    corners = box(1, 1, 1)
    inside = np.array([[0.1, 0.2, 0.3], [0, 0, 0.499]])
    assert needed(Outline.of(np.concatenate([inside, corners])), NOTHING, 1e-6) == list(range(2, 10))
    # just outside, by less and by more than is enough
    assert needed(Outline.of(np.concatenate([corners, [[0, 0, 0.505]]])), NOTHING, 0.01) == list(range(8))
    assert needed(Outline.of(np.concatenate([corners, [[0, 0, 0.55]]])), NOTHING, 0.01) == list(range(9))


def test_what_the_rest_hides_is_not_needed() -> None:
    """A block on a sole: of the block the upper corners, of the sole all; on a large one nothing of the block."""
    block = Outline.of(box(1, 1, 1))
    upper = [k for k in range(8) if box(1, 1, 1)[k, 2] > 0]
    assert needed(block, Outline.of(np.add(box(1, 1, 0.2), [0, 0, -0.5])), 1e-6) == upper
    assert needed(block, Outline.of(box(4, 4, 4)), 1e-6) == []


def test_of_nearly_equal_points_one_is_needed() -> None:
    corners = box(1, 1, 1)
    doubled = np.concatenate([corners, corners + 0.001])
    assert len(needed(Outline.of(doubled), NOTHING, 0.005)) == 8


def test_flat_sides_that_can_touch() -> None:
    cube = Outline.of(box(1, 1, 1))
    assert [len(side) for side in flat_sides(cube)] == [4] * 6
    # a plate above covers the upper side, and reaches beyond the four around
    assert len(flat_sides(cube, Outline.of(np.add(box(2, 2, 0.1), [0, 0, 0.5])))) == 1
    # vertices amid a flat side are not needed for its extent, those at its ends are
    turn = np.linspace(0, 2 * np.pi, 1000, endpoint=False)
    sole = np.stack([np.cos(turn), np.sin(turn), -np.ones(1000)], axis=1)
    mesh = Outline.of(np.concatenate([sole, 0.5 * sole + [0, 0, -0.5], 0.9 * unit_points()]))
    (full,), (few,) = flat_sides(mesh), flat_sides(mesh.some(outermost(mesh)))
    assert len(full) > 1000 > len(few)
    np.testing.assert_allclose(
        np.ptp(mesh.some(outermost(mesh)).centers[few], axis=0), np.ptp(mesh.centers[full], axis=0), atol=1e-2
    )


# ---- round fits


@pytest.mark.parametrize("kind", SHAPES)
def test_each_shape_is_found(kind: str) -> None:
    """Turned and moved; ahead of those with more contacts, which are at least as near."""
    points, girth = SHAPES[kind]
    R, p = random_rotation(4), np.array([1.0, -2, 0.5])
    fit = nearest(points @ R.T + p)
    assert fit.kind == kind
    # points of a mesh leave caps: 300 of a ball some 12 degrees, 1 - cos(12 degrees) = 2.2e-2
    assert fit.girth == pytest.approx(girth, rel=3e-2)
    assert fit.error < 1.5e-2 * np.ptp(points)
    np.testing.assert_allclose(fit.centers.mean(axis=0), p, atol=2e-3)
    np.testing.assert_allclose(fit.axes @ fit.axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(fit.axes) == pytest.approx(1)
    own = fit.outline.support(DIRECTIONS)
    assert abs(own - Outline.of(points @ R.T + p).support(DIRECTIONS)).max() <= fit.error


def test_the_nearest_ball_of_a_cube() -> None:
    """A cube reaches 1 along its axes and sqrt(3) along its diagonals, so that half the difference is the best."""
    fit = nearest(box(2, 2, 2), most=1)
    assert fit.kind == "sphere"
    best = (np.sqrt(3) - 1) / 2
    assert best <= fit.error < 1.02 * best


def test_boxes_are_none_of_them() -> None:
    for sides in ((1, 1, 1), (1, 0.5, 0.2), (1, 0.1, 0.1), (1, 1, 0.1)):
        assert not list(round_fits(Outline.of(box(*sides)), NOTHING, 0.25, 0.0))


def test_only_the_part_that_can_touch_counts() -> None:
    """A ball with a peg that the rest hides is a ball; without the rest it is none."""
    foot = np.concatenate([0.02 * unit_points(), [[0, 0, 0.035], [0.01, 0, 0.03]]])
    shank = Outline.of(np.add(box(0.03, 0.03, 0.2), [0, 0, 0.12]))
    fit = nearest(foot, shank, most=0.002)
    assert fit.kind == "sphere" and fit.radius == pytest.approx(0.02, rel=2e-2)
    assert fit.error < 3e-4
    assert not [fit for fit in round_fits(Outline.of(foot), NOTHING, 0.1, 0.002) if fit.kind == "sphere"]


def test_a_bound_on_the_error() -> None:
    egg = Outline.of(unit_points() * [1, 1, 1.2])
    kinds = [fit.kind for fit in round_fits(egg, NOTHING, 0.15, 0.01)]
    assert kinds[0] == "ellipsoid"
    # half of the bound counts even beyond the tolerance
    assert next(round_fits(egg, NOTHING, 0, 1.0)).kind == "sphere"
    assert not list(round_fits(egg, NOTHING, 0, 0.0))
