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
from typing import Any, NamedTuple

import numpy as np

from pliant.compiler import Kernel
from pliant.render.camera import Eye
from pliant.render.shading import SUN, behind_bytes_kernel, behind_kernel, screen, surface_kernel

_FINER = 2
_MAP = 1024
# pictures up to this height have a depth buffer of half that size on a side [pixels]
_SMALL = 800
_IN_FRONT = 1e3
# triangles of one colour look alike within a pixel if they are equally near, and turned alike: ratio, and cosine
_LEVEL, _STRAIGHT = 1.01, 0.97

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
    window = _window(flat, eye)
    flat[..., 0] -= _FINER * window.left
    flat[..., 1] -= _FINER * window.top
    found, nearness = rasterised(flat, _FINER * window.width, _FINER * window.height)
    if floor.is_drawn:
        rows = slice(_FINER * window.top, _FINER * (window.top + window.height))
        found[nearness < _floor_nearness(fine, floor)[rows]] = -1
    shadow = _Shadow(surface, eye.height)

    # light of triangles: once where one covers the whole pixel, else for each part of it
    parts = [(i, j, found[i::_FINER, j::_FINER].reshape(-1)) for i in range(_FINER) for j in range(_FINER)]
    near = [nearness[i::_FINER, j::_FINER].reshape(-1) for i, j, _ in parts]
    k = parts[0][2]
    is_whole = _is_smooth(surface, [k for *_, k in parts], near)
    total = np.zeros((len(k), 3), dtype=np.float32)
    cover = is_whole.astype(np.float32)

    # in single precision, which is a thousandth of a pixel
    tables = [a.astype(np.float32).reshape(len(flat), -1) for a in (flat, surface.normals, surface.colors)]

    numbers, about = fine.numbers().astype(np.float32), np.array([floor.tile, floor.reach], dtype=np.float32)

    def light(pixels: np.ndarray, k: np.ndarray, nearness: np.ndarray, right: float, down: float) -> np.ndarray:
        """Light (n, 3) of pixels at which there are triangles k, off their middles by (right, down)."""
        k, nearness = k[pixels], nearness[pixels]
        inside = _points(window.width, pixels) * np.float32(_FINER) + np.array([right, down], dtype=np.float32)
        points = inside + np.array([_FINER * window.left, _FINER * window.top], dtype=np.float32)
        is_ground = surface.is_ground[k]
        corners, normals, colors = (table.take(k, axis=0) for table in tables)
        corners.reshape(-1, 3, 3)[..., :2] -= inside[:, None]
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
    if window.is_whole(eye) and (cover == 1).all():
        return screen(total).reshape(eye.height, eye.width, 3)
    lit = _sun_on_floor(eye, floor, shadow)
    picture = _behind(eye, floor, lit, behind_bytes_kernel()).astype(np.uint8)
    bare = np.flatnonzero(cover < 1)
    points = _grid(eye.width, eye.height).reshape(eye.height, eye.width, 2)
    points, own = (window.of(x).reshape(-1, x[0, 0].size)[bare] for x in (points, lit))
    total[bare] += (1 - cover[bare])[:, None] * _floor_light(eye, floor, points, own, behind_kernel())
    window.of(picture)[...] = screen(total).reshape(window.height, window.width, 3)
    return picture


def _is_smooth(surface: Surface, parts: Sequence[np.ndarray], near: Sequence[np.ndarray]) -> np.ndarray:
    """Pixels whose four parts look alike: on one triangle, or on triangles of one colour side by side."""
    k = parts[0]
    is_whole = np.logical_and.reduce([other == k for other in parts[1:]]) & (k >= 0)
    others = np.flatnonzero(np.logical_and.reduce([p >= 0 for p in parts]) & ~is_whole)
    if len(others):
        apart = [n[others] for n in near]
        is_alike = np.maximum.reduce(apart) < _LEVEL * np.minimum.reduce(apart)
        others = others[is_alike]
        first = k[others]
        is_alike = np.ones(len(others), dtype=bool)
        for part in parts[1:]:
            second = part[others]
            is_alike &= (surface.colors[first] == surface.colors[second]).all(axis=1)
            bend = np.einsum("ij,ij->i", surface.normals[first, 0], surface.normals[second, 0])
            is_alike &= bend > _STRAIGHT
        is_whole[others[is_alike]] = True
    return is_whole


class _Window(NamedTuple):
    """A part of a picture [pixels]."""

    left: int
    top: int
    width: int
    height: int

    def is_whole(self, eye: Eye) -> bool:
        return self == (0, 0, eye.width, eye.height)

    def of(self, picture: np.ndarray) -> np.ndarray:
        """This part of a picture (height, width, ...), a view."""
        return picture[self.top : self.top + self.height, self.left : self.left + self.width]

    @classmethod
    def around(cls, points: np.ndarray, eye: Eye) -> "_Window":
        """The part around points (..., 2) of a picture, or all of it if one of them is NaN, as behind the camera."""
        whole = cls(0, 0, eye.width, eye.height)
        flat = points.reshape(-1, 2)
        if not len(flat):
            return cls(0, 0, 1, 1)
        low, high = flat.min(axis=0), flat.max(axis=0)
        if not np.isfinite([low, high]).all():
            return whole
        size = np.array([eye.width, eye.height])
        first = np.clip(np.floor(low), 0, size - 1).astype(int)
        last = np.clip(np.ceil(high), first + 1, size).astype(int)
        return cls(*first.tolist(), *(last - first).tolist())


def _window(flat: np.ndarray, eye: Eye) -> _Window:
    """The part of a picture that triangles may cover, with corners (m, 3, 3) on the finer grid."""
    return _Window.around(flat[..., :2] / _FINER, eye)


def _points(width: int, pixels: np.ndarray) -> np.ndarray:
    """Centers of pixels, (k, 2), by their indices."""
    rows, columns = np.divmod(pixels, width)
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


def _behind(eye: Eye, floor: Floor, lit: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Floor and sky, (height, width, 3)."""
    found = _floor_light(eye, floor, _grid(eye.width, eye.height), lit.reshape(-1, 1), kernel)
    return found.reshape(eye.height, eye.width, 3)


def _floor_light(eye: Eye, floor: Floor, points: np.ndarray, lit: np.ndarray, kernel: Kernel) -> np.ndarray:
    """What a kernel of `pliant.render.shading` says of floor and sky at points of the picture, (n, 3)."""
    about = np.array([floor.tile, floor.reach, floor.z, floor.is_drawn], dtype=np.float32)
    return kernel(eye.numbers().astype(np.float32), about, points, lit)


def _sun_on_floor(eye: Eye, floor: Floor, shadow: "_Shadow") -> np.ndarray:
    """The share of the sun that the floor gets at each pixel, (height, width)."""
    lit = np.ones((eye.height, eye.width), dtype=np.float32)
    if floor.is_drawn and floor.z < eye.place[2] and shadow.size:
        # beyond the shadow's window there is sun
        window = _Window.around(eye.seen(shadow.corners(floor.z))[:, :2], eye)
        own = np.ones(window.width * window.height, dtype=np.float32)
        grid = _grid(eye.width, eye.height).reshape(eye.height, eye.width, 2)
        rays = eye.rays(window.of(grid).reshape(-1, 2))
        meets = np.flatnonzero(rays[2] < -1e-6)
        far = (floor.z - eye.place[2]) / rays[2][meets]
        own[meets] = shadow.on_ground([e + far * ray[meets] for e, ray in zip(eye.place.tolist(), rays, strict=True)])
        window.of(lit)[...] = own.reshape(window.height, window.width)
    return lit


@functools.lru_cache(4)
def _grid(width: int, height: int) -> np.ndarray:
    """Centers of all pixels of a picture, (width * height, 2), row by row."""
    return _points(width, np.arange(width * height))


class _Shadow:
    """A depth buffer seen from the sun, as fine as the picture is high [pixels]."""

    def __init__(self, surface: Surface, height: int):
        casts = ~surface.is_ground & ~surface.is_mark
        places = (surface.corners if casts.all() else surface.corners[casts]) @ _SUN_AXES
        self.size, self.map = 0.0, _MAP if height > _SMALL else _MAP // 2
        if not len(places):
            return
        low, high = places[..., :2].min(axis=(0, 1)), places[..., :2].max(axis=(0, 1))
        self.size = float(max(high - low)) * 1.3 + 1e-9
        self.low = (low + high - self.size) / 2
        places[..., :2] = (places[..., :2] - self.low) * (self.map / self.size)
        found, nearness = rasterised(places, self.map, self.map)
        self.nearness = nearness.astype(np.float32)
        # means of blocks of pixels
        blocks = (found >= 0).astype(np.float32).reshape(self.map // _FINER, _FINER, -1, _FINER)
        self.cover = _blurred(blocks.mean(axis=(1, 3)), self.map // 180)

    def corners(self, z: float) -> np.ndarray:
        """The corners (4, 3) of what it sees, on a plane at height z [m]."""
        u, v = (self.low[k] + self.size * np.array(share) for k, share in enumerate(((0, 1, 1, 0), (0, 0, 1, 1))))
        a, b, sun = _SUN_AXES.T
        w = (z - a[2] * u - b[2] * v) / sun[2]
        return u[:, None] * a + v[:, None] * b + w[:, None] * sun

    def on_ground(self, places: Sequence[np.ndarray]) -> np.ndarray:
        """The share of the sun that the ground gets, with soft edges; whatever casts shadows is above it."""
        lit = np.ones(len(places[0]), dtype=np.float32)
        if self.size:
            i, j, _ = self._seen(places)
            near = np.flatnonzero((i >= 0) & (i < self.map) & (j >= 0) & (j < self.map))
            rows, columns = (x[near].astype(np.int32) // _FINER for x in (j, i))
            lit[near] -= self.cover.take(self.map // _FINER * rows + columns)
        return lit

    def on_bodies(self, places: Sequence[np.ndarray]) -> np.ndarray:
        """The share of the sun that bodies get, which cast shadows on each other."""
        i, j, nearness = self._seen(places)
        # a surface does not shadow itself
        nearness += np.float32(self.size * 0.008)
        lit = np.zeros(len(places[0]), dtype=np.float32)
        for di, dj in _AROUND:
            columns, rows = ((x + d).clip(0, self.map - 1).astype(np.int32) for x, d in ((i, di), (j, dj)))
            lit += self.nearness.take(self.map * rows + columns) < nearness
        return lit / len(_AROUND)

    def _seen(self, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Column, row and nearness of points x, y, z in the depth buffer of the sun."""
        scale = np.array([self.map / self.size, self.map / self.size, 1.0])
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
