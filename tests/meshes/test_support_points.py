"""Few points for many: against exact hulls, and shapes whose best points are known."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from pliant.meshes.support_points import DIRECTIONS, extreme_points, few_points, nearest_ball


def box(x: float, y: float, z: float) -> np.ndarray:
    return np.array([(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) / 2


def ball(count: int, radius: float = 1) -> np.ndarray:
    points = np.random.default_rng(0).standard_normal((count, 3))
    return radius * points / np.linalg.norm(points, axis=1, keepdims=True)


def shortfall(points: np.ndarray, few: np.ndarray, seed: int = 1) -> float:
    """How much less far the few reach, over many directions of its own."""
    d = np.random.default_rng(seed).standard_normal((20_000, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    return float(((points @ d.T).max(axis=0) - (few @ d.T).max(axis=0)).max())


def test_directions_are_unit_and_everywhere() -> None:
    np.testing.assert_allclose(np.linalg.norm(DIRECTIONS, axis=1), 1, atol=1e-15)
    nearest = (ball(5000) @ DIRECTIONS.T).max(axis=1)
    # neighbours are some 9 degrees apart, so that no direction is farther than that from one of them
    assert np.degrees(np.arccos(nearest.min())) < 9


def test_extreme_points_are_corners_of_the_hull() -> None:
    points = np.random.default_rng(2).standard_normal((3000, 3))
    assert set(extreme_points(points)) <= set(ConvexHull(points).vertices)


def test_a_box_among_inner_points_is_its_corners() -> None:
    rng = np.random.default_rng(3)
    corners = box(0.3, 0.2, 0.1)
    inner = rng.uniform(-0.49, 0.49, (2000, 3)) * [0.3, 0.2, 0.1]
    order = rng.permutation(2008)
    points = np.concatenate([corners, inner])[order]
    chosen, error = few_points(points, 8)
    assert {int(k) for k in order[chosen]} == set(range(8))
    assert error == 0
    # more are not taken than needed, though each is there thrice as in STL
    assert len(few_points(np.repeat(corners, 3, axis=0), 20)[0]) == 8


@pytest.mark.parametrize("count", [4, 8, 12, 30])
def test_error_is_what_it_says(count: int) -> None:
    """Over many other directions, the few fall short by as much as is reported."""
    points = np.random.default_rng(4).standard_normal((500, 3)) * [3, 2, 1]
    chosen, error = few_points(points, count)
    assert len(chosen) <= count
    # 20,000 directions are 1.4 degrees apart; and what is extreme only between two of the directions of choice,
    # 9 degrees apart, by a thousandth of the size, is not even a candidate
    size = float(np.ptp(points, axis=0).max())
    assert shortfall(points, points[chosen]) == pytest.approx(error, rel=0.05, abs=1e-3 * size)


def test_more_points_are_better() -> None:
    errors = [few_points(ball(4000), count)[1] for count in (4, 6, 8, 12, 20, 40, 100)]
    assert errors == sorted(errors, reverse=True)
    # nothing is better than regular bodies: tetrahedron, octahedron, icosahedron
    for error, inradius in zip((errors[0], errors[1], errors[3]), (1 / 3, 3**-0.5, 0.7947), strict=True):
        # one exchange at a time ends in a choice that none improves, here up to 1.6 times as far off as the best
        assert 0.98 * (1 - inradius) < error < 1.6 * (1 - inradius)


def test_a_flat_sole_stays_flat() -> None:
    """A sole with rounded toes under a wide ankle: the choice by outline alone would leave it standing on three."""
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    sole = np.stack([0.1 * np.cos(angle), 0.05 * np.sin(angle), np.full(200, -0.1)], axis=1)
    chosen, _ = few_points(np.concatenate([sole, 0.08 * ball(3000)]), 8)
    on_sole = [sole[k] for k in chosen if k < 200]
    assert len(on_sole) >= 4
    # they hold a rectangle around the ankle: more than half of the extent each way
    assert (np.ptp(on_sole, axis=0)[:2] > [0.1, 0.05]).all()


def test_balls_reach_by_their_radius() -> None:
    centers = np.array([(0, 0, 0), (1, 0, 0), (0.5, 0, 0)], dtype=float)
    radii = np.array([0.1, 0.1, 0.05])
    chosen, error = few_points(centers, 3, radii)
    assert (chosen, error) == ([0, 1], 0)
    # alone, the large one in the middle of small ones hides them
    assert few_points(centers, 3, np.array([0.1, 0.1, 2.0])) == ([2], 0)


def test_one_point_is_a_point() -> None:
    assert few_points(np.ones((5, 3)), 8) == ([0], 0)


def test_nearest_ball() -> None:
    center, radius, error = nearest_ball(ball(20_000, 0.3) + np.array([1, 2, 3]))
    # 20,000 points leave caps of 2 degrees: 1 - cos(2 degrees) = 6e-4
    np.testing.assert_allclose(center, [1, 2, 3], atol=1e-3)
    assert radius == pytest.approx(0.3, rel=2e-3)
    assert error < 1e-3
    # a cube reaches 1 along its axes and sqrt(3) along its diagonals: half the difference at least
    assert nearest_ball(box(2, 2, 2))[2] >= (np.sqrt(3) - 1) / 2
