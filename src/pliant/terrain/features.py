"""Terrain with edges and planes: slopes, pyramids, steps, gaps, tiles, stepping stones, obstacles, waves.

All are square or rectangular fields around the origin. Lengths are rounded to whole cells of the grid. A height map has
one height at each point and is bilinear between them, so that a jump is a ramp, one cell wide. It takes its place from
the lower side: tops keep their sizes, gaps and holes are narrower by a ramp on each side.
"""

import math
from typing import Any

import numpy as np

from pliant.chance import check_seed, uniforms_at
from pliant.checks import check, check_at_least, check_finite
from pliant.errors import ContactError, bad_value
from pliant.signatures import explained
from pliant.terrain.height_field import HeightField, grid_shape, half_side, offsets, rings

SIZE = 8.0
SPACING = 0.05

# what random numbers are for
_TILE, _STONE, _ROW, _BOX = range(4)


@explained
def flat(*, size: Any = SIZE, spacing: float = SPACING) -> HeightField:
    """Level ground at height zero.

    Args:
        size: along x and y, one number or two [m].
        spacing: between points of the grid [m].
    """
    return HeightField(np.zeros(grid_shape(size, spacing, "flat")), spacing)


@explained
def slope(angle: float, *, direction: float = 0, size: Any = SIZE, spacing: float = SPACING) -> HeightField:
    """A plane through the origin, as `pliant.slope`.

    Args:
        angle: how steep it is [rad].
        direction: where it rises to, from x towards y [rad].
    """
    check_finite("direction", direction, subject="slope", error=ContactError)
    shape = grid_shape(size, spacing, "slope")
    i, j = offsets(shape)
    along = math.cos(direction) * i + math.sin(direction) * j
    return HeightField(_tangent(angle, "slope") * (spacing / 2) * along, spacing)


@explained
def waves(amplitude: float, length: float, *, size: Any = SIZE, spacing: float = SPACING) -> HeightField:
    """Hills and hollows: h = amplitude sin(k x) sin(k y) with k = 2 pi / length, as `pliant.waves`."""
    check_finite("amplitude", amplitude, subject="waves", error=ContactError)
    check_at_least("length", length, 4 * spacing, subject="waves")
    i, j = offsets(grid_shape(size, spacing, "waves"))
    k = 2 * math.pi / length * (spacing / 2)
    return HeightField(amplitude * np.sin(k * i) * np.sin(k * j), spacing)


@explained
def pyramid(angle: float, *, platform: float = 1, size: Any = SIZE, spacing: float = SPACING) -> HeightField:
    """Four planes that rise from height zero at the edge to a platform in the middle.

    Args:
        angle: how steep the sides are [rad]; negative for a pit.
        platform: side of the level square [m].
    """
    shape = grid_shape(size, spacing, "pyramid")
    top = _platform(platform, shape, spacing, "pyramid")
    edge = min(shape) - 1
    climb = np.clip(edge - rings(shape), 0, edge - top)
    return HeightField(_tangent(angle, "pyramid") * (spacing / 2) * climb, spacing)


@explained
def steps(rise: float, run: float, *, platform: float = 1, size: Any = SIZE, spacing: float = SPACING) -> HeightField:
    """Stairs on four sides, from height zero at the edge to a platform in the middle.

    Every tread is ``run`` wide, from riser to riser. The riser is a ramp over the outermost cell of the tread below.

    Args:
        rise: height of a step [m]; negative for stairs that go down to the middle.
        run: width of a tread, two cells or more [m].
        platform: side of the level square [m].
    """
    check_finite("rise", rise, subject="steps", error=ContactError)
    shape = grid_shape(size, spacing, "steps")
    cells = _cells("run", run, spacing, "steps", least=2)
    top = _platform(platform, shape, spacing, "steps")
    count = max((min(shape) - 1 - top) // (2 * cells), 0)
    # the ring of a tread, from the platform outward
    ring = -((top - rings(shape)) // (2 * cells))
    return HeightField(rise * (count - np.clip(ring, 0, count)), spacing)


@explained
def gaps(
    width: float, *, depth: float = 1, ledge: float | None = None, platform: float = 1, size: Any = SIZE,
    spacing: float = SPACING,
) -> HeightField:  # fmt: skip
    """Ditches around a platform.

    Args:
        width: of a ditch at the top, two cells or more [m]. Its sides are ramps, one cell wide.
        depth: of the ditches [m].
        ledge: width of the level ground from one ditch to the next [m]; None for a single ditch.
        platform: side of the level square [m].
    """
    check_at_least("depth", depth, 0, subject="gaps")
    shape = grid_shape(size, spacing, "gaps")
    cells = _cells("width", width, spacing, "gaps", least=2)
    away = rings(shape) - _platform(platform, shape, spacing, "gaps")
    if ledge is not None:
        away = np.where(away > 0, away % (2 * (cells + _cells("ledge", ledge, spacing, "gaps", least=1))), away)
    # the edge of a top is a point of it
    return HeightField(np.where((away > 0) & (away < 2 * cells), -depth, 0.0), spacing)


@explained
def tiles(
    side: float, height: float, *, share: float = 1, seed: int = 0, size: Any = SIZE, spacing: float = SPACING
) -> HeightField:
    """Square tiles at random heights, uniform from zero to ``height``.

    Args:
        side: of a tile, two cells or more [m]; its last cell is the ramp to the next.
        height: of the highest [m].
        share: of the tiles that are raised, 0 to 1; the others are at zero.
        seed: of the heights.
    """
    check_finite("height", height, subject="tiles", error=ContactError)
    _check_share("share", share, "tiles")
    check_seed(seed, subject="tiles", error=ContactError)
    shape = grid_shape(size, spacing, "tiles")
    cells = _cells("side", side, spacing, "tiles", least=2)
    i, j = (k // cells for k in _indices(shape))
    # each tile draws once
    rows, columns = (np.arange(k.min(), k.max() + 1) for k in (i, j))
    top, chance, *_ = uniforms_at(seed, _TILE, rows[:, None], columns)
    heights = np.where(chance < share, height * top, 0.0)
    return HeightField(heights[i - rows[0], j - columns[0]], spacing)


@explained
def stepping_stones(
    stone: float, gap: float, *, depth: float = 1, height: float = 0, platform: float = 1, seed: int = 0,
    size: Any = SIZE, spacing: float = SPACING,
) -> HeightField:  # fmt: skip
    """Square stones in rows, with holes between them; rows are shifted at random.

    Args:
        stone: side of a stone's top, a cell or more [m].
        gap: between the tops of neighbours, two cells or more [m]. Its sides are ramps, one cell wide.
        depth: of the holes [m].
        height: by which stones differ, uniform about zero [m].
        platform: side of the level square in the middle, at height zero [m].
        seed: of the heights and shifts.
    """
    check_at_least("depth", depth, 0, subject="stepping_stones")
    check_at_least("height", height, 0, subject="stepping_stones")
    check_seed(seed, subject="stepping_stones", error=ContactError)
    shape = grid_shape(size, spacing, "stepping_stones")
    wide = _cells("stone", stone, spacing, "stepping_stones", least=1)
    pitch = wide + _cells("gap", gap, spacing, "stepping_stones", least=2)
    i, j = _indices(shape)
    row = i // pitch
    j = j + np.floor(pitch * uniforms_at(seed, _ROW, row)[0]).astype(np.int64)
    is_stone = (i % pitch <= wide) & (j % pitch <= wide)
    tops = height * (uniforms_at(seed, _STONE, row, j // pitch)[0] - 0.5)
    is_platform = rings(shape) <= _platform(platform, shape, spacing, "stepping_stones")
    return HeightField(np.where(is_platform, 0.0, np.where(is_stone, tops, -depth)), spacing)


@explained
def obstacles(
    count: float, height: float, *, smallest: float = 0.3, largest: float = 1, platform: float = 1, seed: int = 0,
    size: Any = SIZE, spacing: float = SPACING,
) -> HeightField:  # fmt: skip
    """Boxes at random places, of random sides and heights; where some overlap, the highest counts.

    Args:
        count: how many boxes; rounded, so that it may grow with the difficulty.
        height: of the highest; heights are uniform from half of it to all of it [m].
        smallest, largest: sides of a box, uniform between them [m].
        platform: side of the square in the middle that they leave free [m].
        seed: of all of these.
    """
    check_at_least("count", count, 0, subject="obstacles")
    check_at_least("height", height, 0, subject="obstacles")
    check_at_least("smallest", smallest, spacing, subject="obstacles")
    check_at_least("largest", largest, smallest, subject="obstacles")
    check_seed(seed, subject="obstacles", error=ContactError)
    shape = grid_shape(size, spacing, "obstacles")
    heights = np.zeros(shape)
    boxes = np.arange(round(count))
    (x, y, a, b), (h, *_) = (uniforms_at(seed, _BOX, boxes, k) for k in range(2))
    sides = [np.rint((smallest + (largest - smallest) * s) / spacing).astype(int) for s in (a, b)]
    for k, top in enumerate(height * (1 + h) / 2):
        spans = [
            slice(max(start - side // 2, 0), start - side // 2 + side + 1)
            for start, side in ((int(x[k] * shape[0]), int(sides[0][k])), (int(y[k] * shape[1]), int(sides[1][k])))
        ]
        heights[spans[0], spans[1]] = np.maximum(heights[spans[0], spans[1]], top)
    is_platform = rings(shape) <= _platform(platform, shape, spacing, "obstacles")
    return HeightField(np.where(is_platform, 0.0, heights), spacing)


# ---- checks


def _tangent(angle: float, subject: str) -> float:
    check_finite("angle", angle, subject=subject, error=ContactError)
    if abs(angle) >= math.pi / 2:
        raise ContactError(bad_value("angle", angle, "less than pi/2 either way: that would be a wall", subject))
    return math.tan(angle)


def _cells(name: str, length: float, spacing: float, subject: str, *, least: int) -> int:
    """A length in cells, rounded."""
    check_at_least(name, length, 0, strict=True, subject=subject)
    found = round(length / spacing)
    if found < least:
        takes = f"{least * spacing:g} m or more, {least} {'cell' if least == 1 else 'cells'} of the grid"
        raise ContactError(bad_value(name, length, takes, subject))
    return found


def _platform(side: float, shape: tuple[int, int], spacing: float, subject: str) -> int:
    """Half a platform's side, in half cells."""
    check_at_least("platform", side, 0, subject=subject)
    half = half_side(side, shape, spacing)
    if half > min(shape) - 1:
        size = (min(shape) - 1) * spacing
        raise ContactError(bad_value("platform", side, f"at most the size, {float(size):g} m", subject))
    return half


def _check_share(name: str, value: float, subject: str) -> None:
    check_at_least(name, value, 0, subject=subject)
    check(name, value, "0 to 1", value <= 1, subject=subject, error=ContactError)


def _indices(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the points from the middle of the field, so that larger fields go on around smaller ones."""
    n, m = shape
    return np.arange(n)[:, None] - n // 2, np.arange(m)[None, :] - m // 2
