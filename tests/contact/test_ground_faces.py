"""Faces of stairs and height maps: distances against a slow search over the profile, written independently."""

import math

import numpy as np
import pytest

import pliant
from pliant.compiler import kernel_from_function
from pliant.contact import height_map, slope, stairs
from pliant.contact.ground_faces import FAR
from pliant.errors import ContactError
from pliant.spatial import Vector

RNG = np.random.default_rng(5)
RUN, RISER, START = 0.3, 0.02, 0.07


def profile(rise: float, steps: int | None, run: float = RUN, riser: float = RISER) -> np.ndarray:
    """The corners of stairs in the plane of s and z, far beyond both ends."""
    corners = [(-9.0, 0.0)]
    for i in range(40 if steps is None else steps):
        corners += [(i * run, i * rise), (i * run + riser, (i + 1) * rise)]
    return np.array([*corners, (corners[-1][0] + 9, corners[-1][1])])


def distance(p: np.ndarray, corners: np.ndarray) -> float:
    """Of a point from a line of segments."""
    a, b = corners[:-1], corners[1:]
    t = np.clip(((p - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1), 0, 1)
    return float(np.linalg.norm(p - a - t[:, None] * (b - a), axis=1).min())


def numbers(touch: object) -> tuple[np.ndarray, np.ndarray]:
    """Gap and normal (3, ...) of a touch of arrays."""
    gap, normal, _ = touch  # type: ignore[misc]
    gap = np.asarray(gap, dtype=float)
    return gap, np.array([np.broadcast_to(np.asarray(x, dtype=float), gap.shape) for x in normal])


@pytest.mark.parametrize("rise", [0.1, -0.1, 0.4])
@pytest.mark.parametrize("steps", [None, 1, 4])
@pytest.mark.parametrize("direction", [0.0, 3.0])
@pytest.mark.parametrize("radius", [0.0, 0.05, 0.2, 0.9])
def test_the_nearest_touch_on_stairs_is_the_distance(
    rise: float, steps: int | None, direction: float, radius: float
) -> None:
    ground = stairs(rise, RUN, steps=steps, start=START, direction=direction, riser=RISER)
    corners = profile(rise, steps)
    s, across = RNG.uniform(-0.6, 1.6, 60), RNG.uniform(-1, 1, 60)
    x = (s + START) * math.cos(direction) - across * math.sin(direction)
    y = (s + START) * math.sin(direction) + across * math.cos(direction)
    z, wanted = np.asarray(ground.height(x, y)), radius * RNG.uniform(0.95, 1.1, 60) + RNG.uniform(0, 0.02, 60)
    for _ in range(30):  # up, until the ball is as far from the stairs as wanted, or a little in them
        exact = np.array([distance(np.array(p), corners) for p in zip(s, z, strict=True)])
        z = z + np.maximum(wanted - exact, 0)
    exact = np.array([distance(np.array(p), corners) for p in zip(s, z, strict=True)])
    gap, normal = numbers((*ground.ball(Vector(x, y, z), radius), 0))
    np.testing.assert_allclose(gap, exact - radius, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=0), 1, atol=1e-12)


def test_touches_of_stairs_turn_steadily() -> None:
    """Along a ball's way around an outer edge, up the riser and over to the next: no touch that is near jumps."""
    ground, radius = stairs(0.1, RUN, riser=RISER), 0.06
    angle = np.linspace(0, math.pi / 2 - math.atan2(RISER, 0.1), 2001)
    ways = [
        (RISER - radius * np.sin(angle), 0.1 + radius * np.cos(angle)),
        (np.linspace(RISER - 0.01, RISER + 0.01, 2001), np.full(2001, 0.1 + radius)),
    ]
    for s, z in ways:
        touches = [numbers(t) for t in ground.touches(Vector(s, 0 * s, z), radius)]
        assert np.abs(min(touches, key=lambda t: t[0].min())[0]).max() < 1e-3
        for gap, normal in touches:
            near = gap < 0.03
            if near.any():
                assert near.all()
                assert np.abs(np.diff(gap)).max() < 1e-4
                assert np.abs(np.diff(normal, axis=1)).max() < 2e-3


def test_in_an_inner_edge_a_ball_touches_tread_and_riser() -> None:
    ground, radius = stairs(0.1, RUN, riser=RISER), 0.03
    beside = np.array([-0.1, RISER]) / math.hypot(0.1, RISER)
    # as far from both planes as the radius
    s = -radius * (1 - beside[1]) / -beside[0]
    touches = [numbers(t) for t in ground.touches(Vector(np.array(s), np.array(0.0), np.array(radius)), radius)]
    normals = sorted(normal[[0, 2]].tolist() for _, normal in touches)
    assert [float(gap) for gap, _ in touches] == pytest.approx([0, 0], abs=1e-15)
    np.testing.assert_allclose(normals, np.array([beside, [0.0, 1.0]]), atol=1e-15)


@pytest.mark.parametrize(("radius", "touches"), [(0, 2), (0.3, 2), (0.51, 3), (0.9, 3), (1.1, 4)])
def test_large_balls_have_more_touches(radius: float, touches: int) -> None:
    """On an outer edge a ball reaches the next one from R = (run^2 + rise^2) / (2 rise) on, and so on."""
    assert stairs(0.1, RUN).touch_count(radius) == touches
    assert stairs(0.1, RUN, steps=1).touch_count(radius) == 2
    assert stairs(0, RUN).touch_count(radius) == 1


def test_balls_that_are_too_large_are_told() -> None:
    with pytest.raises(ContactError, match=r"radius spans 6 steps .*use slope"):
        stairs(0.01, 0.03).touch_count(2.0)
    with pytest.raises(ContactError, match=r"radius is larger than 2.5 cells.*coarser"):
        height_map(np.zeros((5, 5)), spacing=0.1).touches(Vector(0, 0, 1), 0.26)


# ---- height maps


CELL = 0.1
BUMPS = RNG.uniform(0, 0.05, (9, 8))
MAPS = {
    "bumps": height_map(BUMPS, spacing=CELL),
    "oblong": height_map(BUMPS, spacing=(CELL, 0.15), origin=(-0.2, 0.3)),
    "cliff": height_map(np.where(np.arange(9)[:, None] > 4, 0.3, 0.0) + np.zeros((9, 8)), spacing=CELL),
}


def sampled(ground: pliant.Ground, p: np.ndarray, reach: float) -> float:
    """The distance of a point from a map, from the finest of three nested grids around it."""
    x, y, width, d = p[0], p[1], reach, np.zeros(0)
    for _ in range(6):
        u, v = (np.linspace(c - width, c + width, 81) for c in (x, y))
        u, v = np.meshgrid(u, v, indexing="ij")
        d = np.sqrt((u - p[0]) ** 2 + (v - p[1]) ** 2 + (np.asarray(ground.height(u, v)) - p[2]) ** 2)
        k = np.unravel_index(d.argmin(), d.shape)
        x, y, width = u[k], v[k], width / 10
    return float(d.min())


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("radius", [0.03, 0.05, 0.12])
def test_the_nearest_touch_on_a_map_is_the_distance(name: str, radius: float) -> None:
    ground, worst, checked = MAPS[name], 0.0, 0
    for _ in range(150):
        # beyond the borders, too
        x, y = RNG.uniform(-0.2, 1.0, 2)
        p = np.array([x, y, float(ground.height(x, y)) + radius * RNG.uniform(0.9, 1.6)])
        exact = sampled(ground, p, 2 * radius)
        if 0.8 * radius < exact < 1.2 * radius:
            gap, normal = ground.ball(Vector(*p), radius)
            worst, checked = max(worst, abs(gap + radius - exact)), checked + 1
            assert math.hypot(*normal) == pytest.approx(1, abs=1e-12)
    assert checked > 30
    # the nearest point of a twisted cell takes four steps: what is left of it counts squared
    assert worst < 1e-6


@pytest.mark.parametrize("radius", [0.0, 0.03, 0.12])
def test_a_map_of_a_plane_is_a_slope(radius: float) -> None:
    plane = slope(0.3, direction=0.5)
    x, y = np.meshgrid(np.arange(12) * CELL - 0.2, np.arange(12) * CELL - 0.2, indexing="ij")
    ground = height_map(plane.height(x, y), spacing=CELL, origin=(-0.2, -0.2))
    # everywhere, and exactly above lines and corners of the grid
    p = RNG.uniform(0.2, 0.5, (200, 3))
    p[100:150, 0] = 0.3
    p[150:, :2] = 0.3, 0.4
    p[:, 2] = plane.height(p[:, 0], p[:, 1]) + (radius + RNG.uniform(-0.1, 0.1, 200) * radius) / math.cos(0.3)
    touches = [numbers(t) for t in ground.touches(Vector(*p.T), radius)]
    gaps = np.array([gap for gap, _ in touches])
    first = gaps.argmin(axis=0)
    exact, n = numbers((*plane.ball(Vector(*p.T), radius), 0))
    np.testing.assert_allclose(gaps.min(axis=0), exact, atol=1e-14)
    for k, (_, normal) in enumerate(touches):
        np.testing.assert_allclose(normal[:, first == k], n[:, first == k], atol=1e-13)
    # one contact, not several
    assert ((gaps < FAR / 2).sum(axis=0) == 1).all()


def test_a_valley_has_two_touches_and_a_ridge_one() -> None:
    """A ball in the middle of a V touches both sides; on a ridge the edge, once."""
    rows = np.abs(np.arange(-4, 5))[:, None] * CELL * 0.5 + np.zeros((9, 8))
    radius, slanted = 0.04, math.hypot(1, 0.5)
    for sign, count in ((1, 2), (-1, 1)):
        ground = height_map(sign * rows, spacing=CELL, origin=(-4 * CELL, 0))
        for y in (0.23, 0.3):  # within cells, and above a corner of four
            z = radius * (slanted if sign > 0 else 1)
            gaps = [float(gap) for gap, _, _ in ground.touches(Vector(0.0, y, z), radius)]
            assert sorted(gaps)[:count] == pytest.approx([0] * count, abs=1e-12)
            assert min(sorted(gaps)[count:]) > FAR / 2


@pytest.mark.parametrize("ground", [stairs(0.1, RUN, steps=3), stairs(-0.1, RUN), MAPS["bumps"]])
def test_touches_are_the_same_compiled(ground: pliant.Ground) -> None:
    def found(x, y, z):
        return [v for t in ground.touches(Vector(x, y, z), 0.03, Vector(1, 2, -1)) for v in (t.gap, *t.normal, t.bend)]

    kernel = kernel_from_function(found, {"x": (), "y": (), "z": ()})
    p = RNG.uniform(-0.2, 0.8, (50, 3))
    np.testing.assert_allclose(kernel(*p.T), [[float(v) for v in found(*row.tolist())] for row in p], atol=1e-12)


def test_stairs_of_each_robot() -> None:
    """Numbers that differ between robots are inputs of the kernel: also which way the stairs lead."""

    def found(rise, run, start, x, z):
        ground = stairs(rise, run, start=start, steps=5)
        return [v for t in ground.touches(Vector(x, 0, z), 0.03) for v in (t.gap, *t.normal)]

    kernel = kernel_from_function(found, dict.fromkeys(("rise", "run", "start", "x", "z"), ()))
    given = np.array([[0.1, 0.3, 0.05, 0.34, 0.2], [-0.1, 0.25, 0.0, 0.5, -0.1], [0.2, 0.4, -1.0, 0.7, 1.1]])
    np.testing.assert_allclose(
        kernel(*given.T), [[float(v) for v in found(*row.tolist())] for row in given], atol=1e-12
    )
