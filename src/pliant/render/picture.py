"""A picture of triangles above a floor: NumPy around compiled kernels, for triangles and for light.

What covers a pixel is found on a grid twice as fine, so that edges are smooth; floor and sky, which have no edges,
pixel by pixel. Shadows are found by looking from the sun: what it does not see is dark. On the ground they are soft.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.render.camera import Eye
from pliant.render.raster import rasterized
from pliant.render.shading import SUN, behind_kernel, floor_kernel, screen, surface_kernel

__all__ = ["Floor", "Surface", "joined", "picture"]

_FINER = 2
_MAP = 1024
_IN_FRONT = 1e3

# two axes across the light, and the one toward the sun
_TO_SUN = np.array(list(SUN))
_ACROSS = np.cross(_TO_SUN, [0.0, 1.0, 0.0])
_ACROSS /= np.linalg.norm(_ACROSS)
_SUN_AXES = np.stack([_ACROSS, np.cross(_TO_SUN, _ACROSS), _TO_SUN], axis=1)


@dataclass(frozen=True)
class Surface:
    """Triangles in the world.

    Attributes:
        corners: (m, 3, 3) [m].
        normals: at the corners, (m, 3, 3).
        colors: albedo, linear, (m, 3).
        is_ground: whether a face is part of the ground: it has the ground's pattern and throws no shadow, (m,).
        is_mark: whether a face is an arrow or the like, which throws none either, (m,).
    """

    corners: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    is_ground: np.ndarray
    is_mark: np.ndarray


@dataclass(frozen=True)
class Floor:
    """A plane without end, under everything.

    Attributes:
        z: its height [m].
        tile: side of the squares on it [m]; those of ground of another shape, too.
        reach: how far it is clear to see [m].
        is_drawn: not if there is ground of another shape.
    """

    z: float
    tile: float
    reach: float
    is_drawn: bool = True


def joined(surfaces: list[Surface]) -> Surface:
    """All of them as one."""
    names = ("corners", "normals", "colors", "is_ground", "is_mark")
    return Surface(*(np.concatenate([getattr(s, name) for s in surfaces]) for name in names))


def picture(surface: Surface, eye: Eye, floor: Floor) -> np.ndarray:
    """Colors of the pixels, (height, width, 3), bytes."""
    fine = eye.scaled(_FINER)
    flat = fine.seen(surface.corners)
    # forces and the like are seen through what is before them
    flat[surface.is_mark, :, 2] *= _IN_FRONT
    found, nearness = rasterized(flat, fine.width, fine.height)
    if floor.is_drawn:
        found[nearness < _floor_nearness(fine, floor)] = -1
    shadow = _Shadow(surface)

    # what is hit: once where one triangle has all of a pixel, else for each part of it
    parts = [(i, j, found[i::_FINER, j::_FINER].reshape(-1)) for i in range(_FINER) for j in range(_FINER)]
    near = [nearness[i::_FINER, j::_FINER].reshape(-1) for i, j, _ in parts]
    k = parts[0][2]
    is_whole = np.logical_and.reduce([k >= 0, *(other == k for *_, other in parts[1:])])
    total = np.zeros((eye.height * eye.width, 3), dtype=np.float32)
    cover = is_whole.astype(np.float32)

    # in single precision, which is a thousandth of a pixel
    tables = [a.astype(np.float32).reshape(len(flat), -1) for a in (flat, surface.normals, surface.colors)]

    def light(pixels: np.ndarray, k: np.ndarray, nearness: np.ndarray, right: float, down: float) -> np.ndarray:
        points = _points(eye, pixels) * np.float32(_FINER) + np.array([right, down], dtype=np.float32)
        return _hit_light(surface, tables, k[pixels], points, nearness[pixels], fine, floor, shadow)

    whole = np.flatnonzero(is_whole)
    if len(whole):
        total[whole] = light(whole, k, np.add.reduce(near) / len(near), 0, 0)
    for (i, j, k), n in zip(parts, near, strict=True):
        some = np.flatnonzero(~is_whole & (k >= 0))
        if len(some):
            middle = (_FINER - 1) / 2
            total[some] += light(some, k, n, j - middle, i - middle) / len(parts)
            cover[some] += 1 / len(parts)

    # what lies behind
    bare = np.flatnonzero(cover < 1)
    if len(bare):
        total[bare] += (1 - cover[bare])[:, None] * _behind(eye, bare, floor, shadow)
    return screen(total).reshape(eye.height, eye.width, 3)


def _points(eye: Eye, pixels: np.ndarray) -> np.ndarray:
    """Centers of pixels, (k, 2), by their indices."""
    rows, columns = np.divmod(pixels, eye.width)
    found = np.empty((len(pixels), 2), dtype=np.float32)
    found[:, 0], found[:, 1] = columns + 0.5, rows + 0.5
    return found


def _floor_nearness(eye: Eye, floor: Floor) -> np.ndarray:
    """1/z of the floor, (height, 1): it is the same along a row, since cameras do not tilt to the side."""
    y = (eye.height / 2 - np.arange(eye.height) - 0.5) / eye.focal
    fall = eye.forward[2] + y * eye.up[2]
    drop = floor.z - eye.place[2]
    nearness = fall / drop if drop else np.zeros_like(fall)
    # what stands on the floor is not cut off by rounding
    return np.where(nearness > 0, nearness * (1 - 1e-6), -np.inf)[:, None]


def _hit_light(
    surface: Surface,
    tables: Sequence[np.ndarray],
    k: np.ndarray,
    points: np.ndarray,
    nearness: np.ndarray,
    eye: Eye,
    floor: Floor,
    shadow: "_Shadow",
) -> np.ndarray:
    """Light (n, 3) of points of the picture, (n, 2), at which there are triangles k.

    Args:
        tables: corners in the picture, normals and colors of all triangles, a row each.
    """
    is_ground = surface.is_ground[k]
    corners, normals, colors = (table.take(k, axis=0) for table in tables)
    corners.reshape(-1, 3, 3)[..., :2] -= points[:, None]
    given = np.empty((len(k), 4), dtype=np.float32)
    given[:, :2], given[:, 2], given[:, 3] = points, nearness, is_ground
    lit = np.ones((len(k), 1), dtype=np.float32)
    for some, share in (
        (np.flatnonzero(~is_ground & ~surface.is_mark[k]), shadow.on_bodies),
        (np.flatnonzero(is_ground), shadow.on_ground),
    ):
        if len(some):
            z = 1 / nearness[some]
            right, down = (
                (points[some, a] - half) / eye.focal * z for a, half in enumerate((eye.width / 2, eye.height / 2))
            )
            lit[some, 0] = share([e + z * f + right * r - down * u for e, f, r, u in
                                  zip(eye.place, eye.forward, eye.right, eye.up, strict=True)])  # fmt: skip
    about = np.array([floor.tile, floor.reach], dtype=np.float32)
    return surface_kernel()(eye.numbers().astype(np.float32), about, given, corners, normals, colors, lit)


def _behind(eye: Eye, pixels: np.ndarray, floor: Floor, shadow: "_Shadow") -> np.ndarray:
    """Light (n, 3) of floor and sky."""
    numbers, points = eye.numbers().astype(np.float32), _points(eye, pixels)
    lit = np.ones((len(pixels), 1), dtype=np.float32)
    if floor.is_drawn and floor.z < eye.place[2]:
        x, y, misses = floor_kernel()(numbers, np.array([floor.z], dtype=np.float32), points).T
        meets = np.flatnonzero(misses == 0)
        lit[meets, 0] = shadow.on_ground([x[meets], y[meets], np.full(len(meets), floor.z)])
    about = np.array([floor.tile, floor.reach, floor.z, floor.is_drawn], dtype=np.float32)
    return behind_kernel()(numbers, about, points, lit)


def _coarse(fine: np.ndarray) -> np.ndarray:
    """Means of blocks of pixels."""
    parts: list[np.ndarray] = [fine[i::_FINER, j::_FINER] for i in range(_FINER) for j in range(_FINER)]
    return np.add.reduce(parts) * np.float32(1 / _FINER**2)


class _Shadow:
    """What the sun sees."""

    def __init__(self, surface: Surface):
        places = surface.corners[~surface.is_ground & ~surface.is_mark] @ _SUN_AXES
        self.size = 0.0
        if not len(places):
            return
        low, high = places[..., :2].min(axis=(0, 1)), places[..., :2].max(axis=(0, 1))
        self.size = float(max(high - low)) * 1.3 + 1e-9
        self.low = (low + high - self.size) / 2
        places[..., :2] = (places[..., :2] - self.low) * (_MAP / self.size)
        found, nearness = rasterized(places, _MAP, _MAP)
        self.nearness = nearness.astype(np.float32)
        self.cover = _blurred(_coarse((found >= 0).astype(np.float32)), _MAP // 180)

    def on_ground(self, places: Sequence[np.ndarray]) -> np.ndarray:
        """The share of the sun that ground gets, with soft edges: whatever throws shadows is above it."""
        lit = np.ones(len(places[0]), dtype=np.float32)
        if self.size:
            i, j, _ = self._seen(places)
            near = np.flatnonzero((i >= 0) & (i < _MAP) & (j >= 0) & (j < _MAP))
            rows, columns = (x[near].astype(np.int32) // _FINER for x in (j, i))
            lit[near] -= self.cover.take(_MAP // _FINER * rows + columns)
        return lit

    def on_bodies(self, places: Sequence[np.ndarray]) -> np.ndarray:
        """The share of the sun that bodies get, which throw shadows on each other."""
        i, j, nearness = self._seen(places)
        # a surface does not shadow itself
        nearness += np.float32(self.size * 0.008)
        lit = np.zeros(len(places[0]), dtype=np.float32)
        for di, dj in _AROUND:
            columns, rows = ((x + d).clip(0, _MAP - 1).astype(np.int32) for x, d in ((i, di), (j, dj)))
            lit += self.nearness.take(_MAP * rows + columns) < nearness
        return lit / len(_AROUND)

    def _seen(self, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Column, row and nearness in the map of what the sun sees, of x, y and z."""
        scale = np.array([_MAP / self.size, _MAP / self.size, 1.0])
        axes, low = _SUN_AXES * scale, np.array([*self.low, 0.0]) * scale
        x, y, z = (p.astype(np.float32) for p in places)
        (a, b, c), d = axes.astype(np.float32), low.astype(np.float32)
        return [x * a[k] + y * b[k] + z * c[k] - d[k] for k in range(3)]


# places in the map at which a point looks for what is above it [pixels]
_AROUND = ((0.0, 0.0), (-1.8, -0.6), (0.6, -1.8), (1.8, 0.6), (-0.6, 1.8))


def _blurred(image: np.ndarray, radius: int) -> np.ndarray:
    """Means over a square, three times in a row, which is almost a bell."""
    n = 2 * radius + 1
    for axis in (0, 1) * 3:
        lines = np.moveaxis(image, axis, 0)
        sums = np.cumsum(np.pad(lines, ((radius + 1, radius), (0, 0))), axis=0)
        image = np.moveaxis((sums[n:] - sums[:-n]) / n, 0, axis)
    return np.ascontiguousarray(image)
