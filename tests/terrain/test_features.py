"""Terrain with edges and planes: sizes and heights as asked for on even and odd grids, and chance by place."""

import hashlib
import math

import numpy as np
import pytest

from pliant import terrain
from pliant.terrain import HeightField
from pliant.terrain.height_field import QUANTUM

SIZES = pytest.mark.parametrize("size", [4, 4.05], ids=["odd", "even"])


def middle_row(field: HeightField) -> np.ndarray:
    return field.heights[:, field.heights.shape[1] // 2]


def runs(values: np.ndarray) -> list[tuple[float, int]]:
    """Values that repeat, and how often."""
    found: list[tuple[float, int]] = []
    for value in values.tolist():
        if found and found[-1][0] == value:
            found[-1] = value, found[-1][1] + 1
        else:
            found.append((value, 1))
    return found


def test_planes_are_those_of_the_grounds_of_their_names() -> None:
    import pliant

    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1.9, 1.9, size=(2, 200))
    field = terrain.slope(0.3, direction=0.8, size=4)
    # heights are rounded
    np.testing.assert_allclose(
        field.ground().height(x, y), pliant.slope(0.3, direction=0.8).height(x, y), rtol=0, atol=QUANTUM
    )
    field = terrain.waves(0.1, 1.5, size=4)
    x, y = field.points()
    np.testing.assert_allclose(field.heights, pliant.waves(0.1, 1.5).height(x, y), rtol=0, atol=QUANTUM)


@SIZES
@pytest.mark.parametrize("angle", [0.4, -0.4])
def test_a_pyramid_has_planes_and_a_platform(size: float, angle: float) -> None:
    field = terrain.pyramid(angle, platform=1, size=size)
    x, y = field.points()
    away = np.maximum(abs(x), abs(y))
    half = 0.5 + (0.025 if size != 4 else 0)  # its edges are on points of the grid
    closed = math.tan(angle) * (size / 2 - np.maximum(away, half))
    np.testing.assert_allclose(field.heights, closed, rtol=0, atol=QUANTUM)


@SIZES
@pytest.mark.parametrize("rise", [0.1, -0.1])
def test_steps_have_treads_of_one_width(size: float, rise: float) -> None:
    field = terrain.steps(rise, 0.3, platform=1, size=size)
    found = runs(middle_row(field))
    top = max(range(len(found)), key=lambda k: found[k][0] / rise)
    # from the platform on: six points each, which are five level cells and a ramp, and what is left at height zero
    half = found[top:]
    assert half[0][1] == (21 if size == 4 else 22), "a metre, in points, and its edges are on points"
    treads = half[1:-1]
    assert treads and all(count == 6 for _, count in treads)
    steps = np.diff([value for value, _ in half])
    np.testing.assert_allclose(steps, -rise, rtol=0, atol=QUANTUM)
    assert half[-1][0] == 0
    # the same on all sides
    assert (field.heights == field.heights.T).all() and (field.heights == field.heights[::-1]).all()


@SIZES
def test_gaps_are_as_wide_and_deep_as_asked_for(size: float) -> None:
    found = runs(middle_row(terrain.gaps(0.4, depth=0.7, platform=1, size=size)))
    tops, depths = [count for value, count in found if value == 0], [c for v, c in found if v < 0]
    # between the last points of the tops there are seven points, so eight cells: 0.4 m
    assert depths == [7, 7] and min(value for value, _ in found) == pytest.approx(-0.7, abs=QUANTUM)
    assert tops[1] == (21 if size == 4 else 22)
    several = runs(middle_row(terrain.gaps(0.2, ledge=0.3, platform=1, size=size)))
    assert all(count == 3 for value, count in several[1:-1] if value < 0)
    assert [count for value, count in several[2:-2] if value == 0].count(7) == len(several[2:-2]) // 2


def test_tiles_are_uniform_and_independent() -> None:
    field = terrain.tiles(0.1, 1, seed=3, size=20)
    heights = field.heights[1::2, 1::2][:200, :200]
    # the mean, the variance and the correlations of 40,000 uniform numbers, within five standard deviations
    n = heights.size
    assert abs(heights.mean() - 0.5) < 5 / math.sqrt(12 * n)
    assert abs(heights.var() - 1 / 12) < 5 / math.sqrt(180 * n)
    for a, b in ((heights[1:], heights[:-1]), (heights[:, 1:], heights[:, :-1])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / math.sqrt(n)
    raised = terrain.tiles(0.1, 1, share=0.25, seed=3, size=20).heights[1::2, 1::2] > 0
    assert abs(raised.mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / n)


def test_chance_belongs_to_places() -> None:
    small, large = (terrain.tiles(0.4, 0.2, seed=9, size=size).heights for size in (4, 8))
    assert (large[40:-40, 40:-40] == small).all()


def test_stones_have_their_size_and_holes_their_depth() -> None:
    field = terrain.stepping_stones(0.3, 0.2, depth=0.8, height=0.1, platform=1, seed=4, size=8)
    heights = field.heights
    is_top = heights > -0.5
    assert heights.min() == pytest.approx(-0.8, abs=QUANTUM) and abs(heights[is_top]).max() <= 0.05
    # a row of stones, away from the platform and from the edges: tops of seven points, gaps of three
    row = next(k for k in range(20, 40) if is_top[k].any() and not is_top[k - 1].any())
    found = [count for _, count in runs(is_top[row + 3])][1:-1]
    assert set(found[::2]) | set(found[1::2]) == {3, 7}
    # two thirds by two thirds, less what rounds at the edges
    away = np.maximum(*np.abs(field.points())) > 0.6
    assert is_top[away].mean() == pytest.approx((7 / 10) ** 2, abs=0.03)
    assert (heights[~away & (np.maximum(*np.abs(field.points())) < 0.5)] == 0).all()


def test_obstacles_leave_the_platform_free() -> None:
    field = terrain.obstacles(60, 0.3, platform=1.5, seed=2)
    x, y = field.points()
    assert (field.heights[np.maximum(abs(x), abs(y)) < 0.75] == 0).all()
    tops = np.unique(field.heights)
    assert tops[0] == 0 and tops[1] >= 0.15 - QUANTUM and tops[-1] <= 0.3
    # overlaps and the platform hide some
    assert 40 <= len(tops) - 1 <= 60
    assert (terrain.obstacles(0, 0.3).heights == 0).all()


DIGESTS = {
    "steps": (lambda: terrain.steps(0.1, 0.3), "537b212bd1eb1313"),
    "gaps": (lambda: terrain.gaps(0.4), "25f568ff3ec2d227"),
    "tiles": (lambda: terrain.tiles(0.4, 0.2, seed=1), "5c7d8e5034d06ffd"),
    "stepping_stones": (lambda: terrain.stepping_stones(0.3, 0.2, height=0.1, seed=1), "ac2c161db6b3f5b6"),
    "obstacles": (lambda: terrain.obstacles(30, 0.3, seed=1), "5e0561e348de75d7"),
    "perlin": (lambda: terrain.perlin(0.05, 1, octaves=3, seed=1), "8493d431d49840f1"),
}


@pytest.mark.parametrize("name", DIGESTS)
def test_same_numbers_on_every_machine(name: str) -> None:
    # sums, products and roots of IEEE 754 and whole numbers, rounded to a micrometre
    make, digest = DIGESTS[name]
    assert hashlib.sha256((make().heights / QUANTUM).astype("<i8").tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("make, field", [
    (lambda: terrain.flat(size=0.01), "size"),
    (lambda: terrain.flat(size=(1, 2, 3)), "size"),
    (lambda: terrain.flat(spacing=-1), "spacing"),
    (lambda: terrain.slope(2), "angle"),
    (lambda: terrain.slope(math.nan), "angle"),
    (lambda: terrain.slope(0.1, direction=math.inf), "direction"),
    (lambda: terrain.waves(0.1, 0.1), "length"),
    (lambda: terrain.pyramid(0.1, platform=9), "platform"),
    (lambda: terrain.steps(0.1, 0.05), "run"),
    (lambda: terrain.steps(math.inf, 0.3), "rise"),
    (lambda: terrain.gaps(0.05), "width"),
    (lambda: terrain.gaps(0.3, depth=-1), "depth"),
    (lambda: terrain.gaps(0.3, ledge=0), "ledge"),
    (lambda: terrain.tiles(0.05, 0.1), "side"),
    (lambda: terrain.tiles(0.4, 0.1, share=2), "share"),
    (lambda: terrain.tiles(0.4, 0.1, seed=-1), "seed"),
    (lambda: terrain.tiles(0.4, 0.1, seed=1.5), "seed"),
    (lambda: terrain.stepping_stones(0.3, 0.05), "gap"),
    (lambda: terrain.stepping_stones(0, 0.3), "stone"),
    (lambda: terrain.obstacles(-1, 0.3), "count"),
    (lambda: terrain.obstacles(3, 0.3, smallest=2), "largest"),
])  # fmt: skip
def test_what_cannot_be_says_which_field(make, field: str, refused) -> None:
    refused(make, field)
