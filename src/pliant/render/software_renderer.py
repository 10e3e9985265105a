"""The software renderer: triangles above a floor to pixels, without a screen or a graphics card.

A depth buffer in machine code (``rasteriser.ll``) finds the triangle at each pixel, and compiled kernels its light
(`pliant.render.shading`). Triangles are found on a grid twice as fine, so that edges are smooth; floor and sky, which
have no edges, pixel by pixel. Shadows come from a second depth buffer, seen from the sun; on the ground they are soft.
"""

import ctypes
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.render.camera import Eye
from pliant.render.shading import SUN, behind_kernel, screen, surface_kernel

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
        is_ground: whether a face is part of the ground: it has the ground's pattern and casts no shadow, (m,).
        is_mark: whether a face belongs to an arrow or another mark, which casts none either, (m,).
    """

    corners: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    is_ground: np.ndarray
    is_mark: np.ndarray


@dataclass(frozen=True)
class Floor:
    """An infinite plane under everything.

    Attributes:
        z: its height [m].
        tile: side of the squares on it [m], and on ground of another shape.
        reach: distance at which it fades [m].
        is_drawn: False if there is ground of another shape.
    """

    z: float
    tile: float
    reach: float
    is_drawn: bool = True


def joined_surfaces(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    return Surface(*(np.concatenate([getattr(s, f.name) for s in surfaces]) for f in fields(Surface)))


def rendered(surface: Surface, eye: Eye, floor: Floor) -> np.ndarray:
    """A picture of a surface above a floor: colors of the pixels, (height, width, 3), bytes."""
    fine = eye.scaled(_FINER)
    flat = fine.seen(surface.corners)
    # marks are in front of everything
    flat[surface.is_mark, :, 2] *= _IN_FRONT
    found, nearness = rasterised(flat, fine.width, fine.height)
    if floor.is_drawn:
        found[nearness < _floor_nearness(fine, floor)] = -1
    shadow = _Shadow(surface)

    # light of triangles: once where one covers the whole pixel, else for each part of it
    parts = [(i, j, found[i::_FINER, j::_FINER].reshape(-1)) for i in range(_FINER) for j in range(_FINER)]
    near = [nearness[i::_FINER, j::_FINER].reshape(-1) for i, j, _ in parts]
    k = parts[0][2]
    is_whole = np.logical_and.reduce([k >= 0, *(other == k for *_, other in parts[1:])])
    total = np.zeros((eye.height * eye.width, 3), dtype=np.float32)
    cover = is_whole.astype(np.float32)

    # in single precision, which is a thousandth of a pixel
    tables = [a.astype(np.float32).reshape(len(flat), -1) for a in (flat, surface.normals, surface.colors)]

    numbers, about = fine.numbers().astype(np.float32), np.array([floor.tile, floor.reach], dtype=np.float32)

    def light(pixels: np.ndarray, k: np.ndarray, nearness: np.ndarray, right: float, down: float) -> np.ndarray:
        """Light (n, 3) of pixels at which there are triangles k, off their middles by (right, down)."""
        k, nearness = k[pixels], nearness[pixels]
        points = _points(eye, pixels) * np.float32(_FINER) + np.array([right, down], dtype=np.float32)
        is_ground = surface.is_ground[k]
        corners, normals, colors = (table.take(k, axis=0) for table in tables)
        corners.reshape(-1, 3, 3)[..., :2] -= points[:, None]
        given = np.column_stack([points, nearness, is_ground]).astype(np.float32)
        lit = np.ones((len(k), 1), dtype=np.float32)
        for is_some, share in ((~is_ground & ~surface.is_mark[k], shadow.on_bodies), (is_ground, shadow.on_ground)):
            some = np.flatnonzero(is_some)
            if len(some):
                z, rays = 1 / nearness[some], fine.rays(points[some])
                lit[some, 0] = share([e + z * ray for e, ray in zip(fine.place.tolist(), rays, strict=True)])
        return surface_kernel()(numbers, about, given, corners, normals, colors, lit)

    whole = np.flatnonzero(is_whole)
    if len(whole):
        total[whole] = light(whole, k, np.mean(near, axis=0), 0, 0)
    for (i, j, k), n in zip(parts, near, strict=True):
        some = np.flatnonzero(~is_whole & (k >= 0))
        if len(some):
            middle = (_FINER - 1) / 2
            total[some] += light(some, k, n, j - middle, i - middle) / len(parts)
            cover[some] += 1 / len(parts)

    # light of floor and sky behind them
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
    # robots on the floor are not cut off by rounding
    return np.where(nearness > 0, nearness * (1 - 1e-6), -np.inf)[:, None]


def _behind(eye: Eye, pixels: np.ndarray, floor: Floor, shadow: "_Shadow") -> np.ndarray:
    """Light (n, 3) of floor and sky."""
    numbers, points = eye.numbers().astype(np.float32), _points(eye, pixels)
    lit = np.ones((len(pixels), 1), dtype=np.float32)
    if floor.is_drawn and floor.z < eye.place[2]:
        rays = eye.rays(points)
        meets = np.flatnonzero(rays[2] < -1e-6)
        far = (floor.z - eye.place[2]) / rays[2][meets]
        lit[meets, 0] = shadow.on_ground(
            [e + far * ray[meets] for e, ray in zip(eye.place.tolist(), rays, strict=True)]
        )
    about = np.array([floor.tile, floor.reach, floor.z, floor.is_drawn], dtype=np.float32)
    return behind_kernel()(numbers, about, points, lit)


class _Shadow:
    """A depth buffer seen from the sun."""

    def __init__(self, surface: Surface):
        places = surface.corners[~surface.is_ground & ~surface.is_mark] @ _SUN_AXES
        self.size = 0.0
        if not len(places):
            return
        low, high = places[..., :2].min(axis=(0, 1)), places[..., :2].max(axis=(0, 1))
        self.size = float(max(high - low)) * 1.3 + 1e-9
        self.low = (low + high - self.size) / 2
        places[..., :2] = (places[..., :2] - self.low) * (_MAP / self.size)
        found, nearness = rasterised(places, _MAP, _MAP)
        self.nearness = nearness.astype(np.float32)
        # means of blocks of pixels
        blocks = (found >= 0).astype(np.float32).reshape(_MAP // _FINER, _FINER, -1, _FINER)
        self.cover = _blurred(blocks.mean(axis=(1, 3)), _MAP // 180)

    def on_ground(self, places: Sequence[np.ndarray]) -> np.ndarray:
        """The share of the sun that the ground gets, with soft edges; whatever casts shadows is above it."""
        lit = np.ones(len(places[0]), dtype=np.float32)
        if self.size:
            i, j, _ = self._seen(places)
            near = np.flatnonzero((i >= 0) & (i < _MAP) & (j >= 0) & (j < _MAP))
            rows, columns = (x[near].astype(np.int32) // _FINER for x in (j, i))
            lit[near] -= self.cover.take(_MAP // _FINER * rows + columns)
        return lit

    def on_bodies(self, places: Sequence[np.ndarray]) -> np.ndarray:
        """The share of the sun that bodies get, which cast shadows on each other."""
        i, j, nearness = self._seen(places)
        # a surface does not shadow itself
        nearness += np.float32(self.size * 0.008)
        lit = np.zeros(len(places[0]), dtype=np.float32)
        for di, dj in _AROUND:
            columns, rows = ((x + d).clip(0, _MAP - 1).astype(np.int32) for x, d in ((i, di), (j, dj)))
            lit += self.nearness.take(_MAP * rows + columns) < nearness
        return lit / len(_AROUND)

    def _seen(self, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Column, row and nearness of points x, y, z in the depth buffer of the sun."""
        scale = np.array([_MAP / self.size, _MAP / self.size, 1.0])
        axes, low = _SUN_AXES * scale, np.array([*self.low, 0.0]) * scale
        x, y, z = (p.astype(np.float32) for p in places)
        (a, b, c), d = axes.astype(np.float32), low.astype(np.float32)
        return [x * a[k] + y * b[k] + z * c[k] - d[k] for k in range(3)]


# offsets in the depth buffer at which a point looks for something above it [pixels]
_AROUND = ((0.0, 0.0), (-1.8, -0.6), (0.6, -1.8), (1.8, 0.6), (-0.6, 1.8))


def _blurred(image: np.ndarray, radius: int) -> np.ndarray:
    """Means over a square, three times in a row, which is almost Gaussian."""
    n = 2 * radius + 1
    for axis in (0, 1) * 3:
        lines = np.moveaxis(image, axis, 0)
        sums = np.cumsum(np.pad(lines, ((radius + 1, radius), (0, 0))), axis=0)
        image = np.moveaxis((sums[n:] - sums[:-n]) / n, 0, axis)
    return np.ascontiguousarray(image)


# ---- depth buffer


def rasterised(triangles: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest triangle at each pixel.

    A corner is (x, y, n): its place on the screen in pixels, and its nearness, which must be linear on the screen:
    1 / z for a camera with perspective, -z for one without. The greatest nearness wins. The center of pixel
    (column i, row k) is (i + 1/2, k + 1/2).

    Args:
        triangles: (m, 3, 3), their corners; both sides are drawn, triangles without area or with a corner that is not
            finite are not.
        width, height: of the screen [pixels].

    Returns:
        The index of the triangle at each pixel, -1 for none, (height, width), and its nearness, -inf for none.
    """
    corners = np.ascontiguousarray(triangles, dtype=np.float64).reshape(-1, 9)
    kept = np.flatnonzero(_is_drawn(corners, width, height))
    corners = np.ascontiguousarray(corners[kept])
    nearness = np.full((height, width), -np.inf)
    found = np.full((height, width), -1, dtype=np.int32)
    if len(kept):
        _machine_code()(corners.ctypes.data, nearness.ctypes.data, found.ctypes.data, len(kept), width, height)
        if len(kept) < len(triangles):
            found = np.where(found >= 0, kept.astype(np.int32)[found], -1)
    return found, nearness


def _is_drawn(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """Whether triangles are finite and may be on the screen."""
    drawn = np.isfinite(corners[:, 2] + corners[:, 5] + corners[:, 8])
    for axis, size in ((0, width), (1, height)):
        a, b, c = (corners[:, 3 * k + axis] for k in range(3))
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        # far beyond the screen, pixels would not fit in the integers of the loop; NaN is nowhere
        drawn &= (low < size) & (high > 0) & (low > -1e8) & (high < 1e8)
    return drawn


@functools.cache
def _machine_code() -> Callable[..., Any]:
    from pliant.compiler.native import loaded, machine, versions

    code = Path(__file__).with_name("rasteriser.ll").read_text(encoding="utf-8")
    text = f'target triple = "{machine().triple}"\n{code}'
    key = hashlib.sha256(f"{text} {versions()} {machine()}".encode()).hexdigest()
    code = loaded(key, lambda: [text], ("rasterize",))
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, integer, integer, integer)(code.address("rasterize"))

    def call(*arguments: Any, code: Any = code) -> None:  # the code lives as long as its caller
        function(*arguments)

    return call
