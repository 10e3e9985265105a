"""The rasterizer, against weights worked out for each pixel, and against the silhouette of a ball."""

import numpy as np
import pytest

from pliant.render.camera import Camera
from pliant.render.software_renderer import rasterised
from pliant.render.shapes import sphere


def by_hand(triangles: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    found, nearness = np.full((height, width), -1), np.full((height, width), -np.inf)
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    for k, corners in enumerate(triangles):
        (x0, y0, n0), (x1, y1, n1), (x2, y2, n2) = corners
        shares = np.linalg.solve(
            np.array([[x0, x1, x2], [y0, y1, y2], [1, 1, 1]]),
            np.stack([x.ravel(), y.ravel(), np.ones(x.size)]),
        )
        n = (shares.T @ [n0, n1, n2]).reshape(x.shape)
        takes = (shares >= 0).all(axis=0).reshape(x.shape) & (n > nearness)
        found[takes], nearness[takes] = k, n[takes]
    return found, nearness


@pytest.mark.parametrize("seed", range(3))
def test_each_pixel_has_what_is_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triangles = rng.uniform(-15, 60, (40, 3, 3))
    found, nearness = rasterised(triangles, 41, 37)
    expected, n = by_hand(triangles, 41, 37)
    # at an edge, rounding may decide either way
    same = found == expected
    assert same.mean() > 0.998
    hit = same & (expected >= 0)
    # weights are sums along a row, of some 40 roundings of numbers up to 100
    np.testing.assert_allclose(nearness[hit], n[hit], atol=1e-11)
    assert (nearness[found < 0] == -np.inf).all()


def test_either_side_is_drawn_and_nothing_outside() -> None:
    triangle = np.array([[[2.0, 2.0, 1.0], [8.0, 2.0, 1.0], [2.0, 8.0, 1.0]]])
    front, _ = rasterised(triangle, 10, 10)
    back, _ = rasterised(triangle[:, ::-1], 10, 10)
    np.testing.assert_array_equal(front, back)
    assert front[2, 2] == 0 and front[7, 7] == -1 and front[1, 2] == -1
    assert (front >= 0).sum() == 21  # centers with x + y <= 10 - 1/2 - 1/2 and x, y >= 2: 6 + 5 + ... + 1


def test_what_has_no_area_or_no_place_is_left_out() -> None:
    line = [[1, 1, 1], [5, 5, 1], [9, 9, 1]]
    lost = [[1, 1, np.nan], [5, 1, 1], [1, 5, 1]]
    far = [[1e12, 1, 1], [5, 1, 1], [1, 5, 1]]
    whole = [[0, 0, 1], [20, 0, 1], [0, 20, 1]]
    found, _ = rasterised(np.array([line, lost, far, whole], dtype=float), 8, 8)
    assert (found == 3).all()
    assert (rasterised(np.zeros((0, 3, 3)), 4, 3)[0] == -1).all()


def test_a_ball_looks_like_a_circle() -> None:
    ball = sphere(0.5, segments=96)
    eye = Camera(distance=4.0, elevation=20).eye(np.zeros(3), 1.0, 300, 200)
    found, _ = rasterised(eye.seen(ball.vertices[ball.faces]), 300, 200)
    # the cone of a ball of radius r at distance d meets the picture in a circle of radius f r / sqrt(d^2 - r^2)
    radius = eye.focal * 0.5 / np.sqrt(4.0**2 - 0.5**2)
    # the polygon lacks 0.1 % of the circle, and the count of pixels some 0.3 %
    assert (found >= 0).sum() == pytest.approx(np.pi * radius**2, rel=0.01)
    rows, columns = np.nonzero(found >= 0)
    assert columns.mean() + 0.5 == pytest.approx(150, abs=0.2) and rows.mean() + 0.5 == pytest.approx(100, abs=0.2)
