"""Rays against height maps: from cell to cell, with larger steps over blocks that the ray stays clear of.

Above the cells is a pyramid: blocks of 4 x 4 cells, of 4 x 4 of these blocks and so on, with the largest and the
smallest height of each; Tevs, Ihrke and Seidel [2008] have one of squares of two. A round looks at one
block, that of the ray's position. A block that lies wholly below the ray is skipped: the ray continues at the far side
of the block, and with the larger block if it has reached the edge of that. Otherwise the round descends to the smaller
blocks. In a cell

    h = h00 + f A + g B + f g C,    f = f0 + f1 t, g = g0 + g1 t

is a quadratic in t, so the first place is a root in closed form. The walk is exact: no cell that the ray crosses is
left out. Places are exact but for rounding; a ray that touches a crest within rounding may be found there or not.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pliant.contact.ground import Ground
from pliant.contact.ground_faces import MapFaces, corner_heights
from pliant.scalar import (
    Scalar, Scalars, Table, abs, both, either, equal, floor, is_constant, lookup, maximum, minimum, negation,
    select, sqrt,
)  # fmt: skip
from pliant.sensors.ground_rays import BEYOND, TINY, GroundRay, Ray, away_from_zero, clamped, met

# blocks along a side of a larger block, and of the whole map at most
_SIDE = 4


class Level(NamedTuple):
    """The blocks of one size: cells along a side, how many blocks in x and y, and where they start in the table."""

    side: int
    shape: tuple[int, int]
    start: int


class Pyramid(NamedTuple):
    """The largest heights of all blocks in one table, then the smallest ones, negative, ``size`` of each."""

    levels: tuple[Level, ...]
    table: Table
    size: int


@lru_cache(maxsize=8)
def pyramid_of(table: Table, shape: tuple[int, int]) -> Pyramid | None:
    """The pyramid of a map; None for one that is too small to need it."""
    heights = table.numbers.reshape(shape)
    corners = heights[:-1, :-1], heights[1:, :-1], heights[:-1, 1:], heights[1:, 1:]
    high, low = (np.maximum.reduce([sign * c for c in corners]) for sign in (1, -1))
    levels: list[Level] = []
    parts: list[list[np.ndarray]] = [[], []]
    side, start = 1, 0
    while max(high.shape) > _SIDE:
        high, low = _merged(high), _merged(low)
        side *= _SIDE
        levels.append(Level(side, (high.shape[0], high.shape[1]), start))
        start += high.size
        parts[0].append(high.ravel())
        parts[1].append(low.ravel())
    if not levels:
        return None
    return Pyramid(tuple(levels), Table(np.concatenate([*parts[0], *parts[1]])), start)


def _merged(blocks: np.ndarray) -> np.ndarray:
    """The largest of each square of blocks; those at the end may be smaller."""
    counts = [-(-n // _SIDE) for n in blocks.shape]
    padding = [(0, _SIDE * m - n) for m, n in zip(counts, blocks.shape, strict=True)]
    padded = np.pad(blocks, padding, mode="edge")
    return padded.reshape(counts[0], _SIDE, counts[1], _SIDE).max(axis=(1, 3))


class MapRay(GroundRay):
    """A ray on a height map.

    Beyond the edges of the map are cells without end, in which the height depends on one coordinate or none.
    """

    size = 7

    def __init__(self, ground: Ground, faces: MapFaces, reach: Scalar):
        self.ground, self.faces = ground, faces
        self.cells = tuple(n - 1 for n in faces.shape)
        self.pyramid = pyramid_of(faces.table, faces.shape)
        levels = () if self.pyramid is None else self.pyramid.levels
        self.top = levels[-1].side if levels else 1
        # borders of cells that a ray crosses; of those of blocks there are a quarter, a sixteenth, ...
        borders = sum(n + 1 for n in self.cells)
        if is_constant(reach):
            borders = min(borders, sum(math.ceil(float(reach) / spacing) + 1 for spacing in faces.spacing))
        self.rounds = 1 + sum(2 * (borders // level + 2) for level in (1, *(lv.side for lv in levels)))

    def begin(self, ray: Ray) -> list[Scalar]:
        side = select(ray.p.z < self.ground.height(ray.p.x, ray.p.y), -1, 1)
        (u, _), (v, _) = self._in_cells(ray)
        i, j = (clamped(floor(c), -1, n) for c, n in zip((u, v), self.cells, strict=True))
        return [1, 0, side, 0, self.top, i, j]

    def _in_cells(self, ray: Ray) -> list[tuple[Scalar, Scalar]]:
        """Where the ray starts and how fast it goes, in cells, along x and y."""
        starts, rates = (ray.p.x, ray.p.y), (ray.d.x, ray.d.y)
        axes = zip(starts, rates, self.faces.origin, self.faces.spacing, strict=True)
        return [((c - c0) / size, rate / size) for c, rate, c0, size in axes]

    def advance(self, ray: Ray, state: Scalars) -> list[Scalar]:
        _, _, side, t, width, i, j = state
        axes = self._in_cells(ray)
        is_cell = width < 2
        counts = [self._count(axis, width) for axis in (0, 1)]
        blocks = [_Block.of(k, axis, width, n) for k, axis, n in zip((i, j), axes, counts, strict=True)]
        t_x, t_y = (block.exit for block in blocks)
        t_out = maximum(minimum(minimum(t_x, t_y), ray.reach), t)
        # the whole block is below, or above, what the ray does in it
        ends = [side * (ray.p.z + ray.d.z * at) for at in (t, t_out)]
        is_clear = minimum(*ends) > self._bound(side, width, blocks)
        root, has_root = self._root(ray, side, t, i, j)
        is_found = both(is_cell, both(has_root, root <= t_out - t))
        moves = both(negation(is_found), either(is_cell, is_clear))
        goes_on = both(negation(is_found), either(negation(moves), t_out < ray.reach))
        # on to the next block: over the border that comes first
        over_x = t_x <= t_y
        i_out = select(over_x, blocks[0].next, blocks[0].within(t_out))
        j_out = select(over_x, blocks[1].within(t_out), blocks[1].next)
        wider = minimum(_SIDE * width, self.top)
        is_new = either(negation(_same(i, i_out, wider)), negation(_same(j, j_out, wider)))
        width_out = select(is_new, wider, width)
        return [
            select(goes_on, 1, 0),
            select(is_found, 1, 0),
            side,
            select(is_found, t + root, select(moves, t_out, t)),
            select(moves, width_out, maximum(width / _SIDE, 1)),
            select(moves, i_out, i),
            select(moves, j_out, j),
        ]

    def _count(self, axis: int, width: Scalar) -> Scalar:
        """Blocks of that width along an axis."""
        found: Scalar = self.cells[axis]
        for level in self.pyramid.levels if self.pyramid else ():
            found = select(width >= level.side, level.shape[axis], found)
        return found

    def _bound(self, side: Scalar, width: Scalar, blocks: "list[_Block]") -> Scalar:
        """The largest height of a block, or the negative of the smallest one for rays from below; of cells nothing."""
        if self.pyramid is None:
            return BEYOND
        start: Scalar = 0
        for level in self.pyramid.levels[1:]:
            start = select(width >= level.side, level.start, start)
        start = start + select(side < 0, self.pyramid.size, 0)
        return lookup(self.pyramid.table, start + blocks[0].number * blocks[1].count + blocks[1].number)

    def _root(self, ray: Ray, side: Scalar, t: Scalar, i: Scalar, j: Scalar) -> tuple[Scalar, Scalar]:
        """How far on the ray meets the patch of a cell, and whether it does, within the cell or later."""
        places = []
        for k, (start, rate), n in zip((i, j), self._in_cells(ray), self.cells, strict=True):
            # beyond the map only its edge matters
            is_out = either(k < 0, k >= n)
            inner = clamped(k, 0, n - 1)
            offset = select(is_out, select(k < 0, 0, 1), start + rate * t - inner)
            places.append((inner, offset, select(is_out, 0, rate)))
        (i, f, f_rate), (j, g, g_rate) = places
        h00, h01, h10, h11 = corner_heights(self.faces.table, self.faces.shape, i, j)
        A, B, C = h10 - h00, h01 - h00, h11 - h10 - h01 + h00
        c0 = side * (ray.p.z + ray.d.z * t - (h00 + f * A + g * (B + f * C)))
        c1 = side * (ray.d.z - (f_rate * (A + g * C) + g_rate * (B + f * C)))
        c2 = -side * C * f_rate * g_rate
        square = c1 * c1 - 4 * c0 * c2
        root = sqrt(maximum(square, 0))
        # the first one, without cancellation; below the patch by rounding is on it
        falls, late = c1 < 0, 2 * c0 / maximum(root - c1, TINY)
        early = (c1 + root) / maximum(-2 * c2, TINY)
        found = select(c0 <= 0, 0, select(falls, late, early))
        return found, either(c0 <= 0, both(square >= 0, either(falls, c2 < -TINY)))

    def end(self, ray: Ray, state: Scalars) -> tuple[Scalar, Scalar]:
        return met(state[3], equal(state[1], 1), ray.reach)


class _Block(NamedTuple):
    """Where a ray is in a row of blocks: along one axis.

    Attributes:
        number: of the block; count: how many there are.
        exit: the distance at which the ray leaves it, BEYOND if it does not.
        next: the cell after the border.
        lowest, highest: cells of it, with those beyond the map.
        cell: that the ray is in; start, rate: of the ray, in cells.
    """

    number: Scalar
    count: Scalar
    exit: Scalar
    next: Scalar
    lowest: Scalar
    highest: Scalar
    cell: Scalar
    start: Scalar
    rate: Scalar

    @classmethod
    def of(cls, cell: Scalar, axis: tuple[Scalar, Scalar], width: Scalar, count: Scalar) -> "_Block":
        start, rate = axis
        # beyond the map, cells are blocks of their own, and larger blocks go on
        is_cell = width < 2
        first, last = select(is_cell, -1, 0), select(is_cell, count, count - 1)
        number = clamped(floor(cell / width), first, last)
        begin = number * width
        is_ahead = rate > 0
        is_open = either(abs(rate) < TINY, select(is_ahead, number >= last, number <= first))
        border = select(is_ahead, begin + width, begin)
        leaves = select(is_open, BEYOND, (border - start) / away_from_zero(rate))
        lowest = select(number <= first, -1, begin)
        return cls(
            number, count, leaves, select(is_ahead, border, border - 1), lowest,
            select(number >= last, BEYOND, begin + width - 1), cell, start, rate,
        )  # fmt: skip

    def within(self, t: Scalar) -> Scalar:
        """The cell of it that the ray is in at a distance; never one that it has left."""
        low = select(self.rate > 0, self.cell, self.lowest)
        high = select(self.rate > 0, self.highest, self.cell)
        return clamped(floor(self.start + self.rate * t), low, high)


def _same(a: Scalar, b: Scalar, width: Scalar) -> Scalar:
    """Whether two cells are in the same block."""
    return equal(floor(a / width), floor(b / width))
