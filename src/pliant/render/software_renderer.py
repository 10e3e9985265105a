"""The software renderer: triangles above a floor to pixels, without a screen or a graphics card.

A depth buffer in machine code (``rasteriser.ll``) finds the triangle at each pixel, and compiled kernels its light
(`pliant.render.shading`). Triangles are found on a grid twice as fine, so that edges are smooth; floor and sky, which
have no edges, pixel by pixel. Shadows come from a second depth buffer, seen from the sun; on the ground they are soft.
"""

import ctypes
import functools
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.compiler import Kernel
from pliant.render.camera import Eye
from pliant.render.shading import SUN, behind_bytes_kernel, behind_kernel, screen, sun_kernel, surface_kernel

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
    # in single precision, which is a thousandth of a pixel; in one table, since pixels look up all of a triangle
    table = np.hstack([a.reshape(len(flat), -1) for a in (flat, surface.normals, surface.colors)], dtype=np.float32)
    flat[..., 0] -= _FINER * window.left
    flat[..., 1] -= _FINER * window.top
    found, nearness = rasterised(flat, _FINER * window.width, _FINER * window.height, _buffers)
    pixels, parts, near = _covered(found, nearness)
    shadow = _Shadow(surface, eye.height)

    # light of triangles: once where one covers the whole pixel, else for each part of it
    rows, columns = np.divmod(pixels, np.int32(window.width))
    if floor.is_drawn:
        under = _floor_nearness(fine, floor)[_FINER * window.top :]
        for p, (k, n) in enumerate(zip(parts, near, strict=True)):
            k[n < under[_FINER * rows + p // _FINER]] = -1
    is_whole = _is_smooth(surface, parts, near)
    total = np.zeros((len(pixels), 3), dtype=np.float32)
    cover = is_whole.astype(np.float32)

    is_ground, is_mark = (_if_any(x) for x in (surface.is_ground, surface.is_mark))
    numbers, about = fine.numbers().astype(np.float32), np.array([floor.tile, floor.reach], dtype=np.float32)

    def light(some: np.ndarray, k: np.ndarray, nearness: np.ndarray, right: float, down: float) -> np.ndarray:
        """Light (n, 3) of covered pixels at which there are triangles k, off their middles by (right, down)."""
        k, given = k[some], np.empty((len(some), 4), dtype=np.float32)
        given[:, 0] = _FINER * (columns[some] + np.float32(window.left + 0.5)) + np.float32(right)
        given[:, 1] = _FINER * (rows[some] + np.float32(window.top + 0.5)) + np.float32(down)
        given[:, 2] = nearness[some]
        on_ground, marked = (np.zeros(len(k), dtype=bool) if of is None else of[k] for of in (is_ground, is_mark))
        given[:, 3] = on_ground
        lit = np.ones((len(k), 1), dtype=np.float32)
        for is_some, share in ((~(on_ground | marked), shadow.on_bodies), (on_ground, shadow.on_ground)):
            there = np.flatnonzero(is_some)
            if len(there):
                lit[there, 0] = share(numbers, given[:, :3] if len(there) == len(k) else given[there, :3])
        own = table.take(k, axis=0)
        return surface_kernel()(numbers, about, given, own[:, :9], own[:, 9:18], own[:, 18:], lit)

    whole = np.flatnonzero(is_whole)
    if len(whole):
        total[whole] = light(whole, parts[0], sum(near[1:], near[0]) / np.float32(len(near)), 0, 0)
    for p, (k, n) in enumerate(zip(parts, near, strict=True)):
        some = np.flatnonzero(~is_whole & (k >= 0))
        if len(some):
            (i, j), middle = divmod(p, _FINER), (_FINER - 1) / 2
            total[some] += light(some, k, n, j - middle, i - middle) / len(parts)
            cover[some] += 1 / len(parts)

    # light of floor and sky behind them
    if len(pixels) == eye.width * eye.height and (cover == 1).all():
        return screen(total).reshape(eye.height, eye.width, 3)
    lit = _sun_on_floor(eye, floor, shadow)
    picture = _behind(eye, floor, lit, behind_bytes_kernel()).astype(np.uint8)
    places = (rows + window.top) * eye.width + columns + window.left
    bare = np.flatnonzero(cover < 1)
    behind = _grid(eye.width, eye.height).take(places[bare], axis=0), lit.reshape(-1, 1).take(places[bare], axis=0)
    total[bare] += (1 - cover[bare])[:, None] * _floor_light(eye, floor, *behind, behind_kernel())
    picture.reshape(-1, 3)[places] = screen(total)
    return picture


def _covered(found: np.ndarray, nearness: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """The pixels of which some part has a triangle; row by row, the triangle of each part, and its nearness."""
    width = found.shape[1]
    some = found[::_FINER] & found[1::_FINER]  # -1 has every bit: it is left only where all have it
    some = some[:, ::_FINER] & some[:, 1::_FINER]
    pixels = np.flatnonzero(some.reshape(-1) != -1).astype(np.int32)
    rows, columns = np.divmod(pixels, np.int32(width // _FINER))
    first = _FINER * (rows * width + columns)
    at = [first + i * width + j for i in range(_FINER) for j in range(_FINER)]
    parts, near = ([array.reshape(-1).take(k) for k in at] for array in (found, nearness))
    return pixels, parts, [n.astype(np.float32) for n in near]


def _if_any(flags: np.ndarray) -> np.ndarray | None:
    return flags if flags.any() else None


def _is_smooth(surface: Surface, parts: Sequence[np.ndarray], near: Sequence[np.ndarray]) -> np.ndarray:
    """Pixels whose four parts look alike: on one triangle, or on triangles of one colour side by side."""
    k = parts[0]
    is_whole, is_full = k >= 0, k >= 0
    for other in parts[1:]:
        is_whole &= other == k
        is_full &= other >= 0
    others = np.flatnonzero(is_full & ~is_whole)
    if len(others):
        apart = [n[others] for n in near]
        is_alike = functools.reduce(np.maximum, apart) < _LEVEL * functools.reduce(np.minimum, apart)
        others = others[is_alike]
        # column by column, which is several times faster than row by row
        normals, colors = ([np.ascontiguousarray(x) for x in a.T] for a in (surface.normals[:, 0], surface.colors))
        first, is_alike = k[others], np.ones(len(others), dtype=bool)
        own = [x.take(first) for x in (*normals, *colors)]
        for part in parts[1:]:
            second = part[others]
            for x, y in zip(own[3:], colors, strict=True):
                is_alike &= x == y.take(second)
            is_alike &= sum(x * y.take(second) for x, y in zip(own[:3], normals, strict=True)) > _STRAIGHT
        is_whole[others[is_alike]] = True
    return is_whole


class _Window(NamedTuple):
    """A part of a picture [pixels]."""

    left: int
    top: int
    width: int
    height: int

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
        low, high = _bounds(flat)
        if not np.isfinite([low, high]).all():
            return whole
        size = np.array([eye.width, eye.height])
        first = np.clip(np.floor(low), 0, size - 1).astype(int)
        last = np.clip(np.ceil(high), first + 1, size).astype(int)
        return cls(*first.tolist(), *(last - first).tolist())


def _bounds(points: np.ndarray) -> np.ndarray:
    """Least and greatest coordinates of points (n, m): (2, m)."""
    columns = [np.ascontiguousarray(x) for x in points.T]
    return np.array([[x.min() for x in columns], [x.max() for x in columns]])


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
    """1/z of the floor, (height,): it is the same along a row, since cameras do not tilt to the side."""
    y = (eye.height / 2 - np.arange(eye.height) - 0.5) / eye.focal
    fall = eye.forward[2] + y * eye.up[2]
    drop = floor.z - eye.place[2]
    nearness = fall / drop if drop else np.zeros_like(fall)
    # robots on the floor are not cut off by rounding
    return np.where(nearness > 0, nearness * (1 - 1e-6), -np.inf).astype(np.float32)


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
        # beyond the shadow there is sun
        window = _Window.around(eye.seen(shadow.corners(floor.z))[:, :2], eye)
        nearness = _floor_nearness(eye, floor)[window.top : window.top + window.height]
        above = int(np.count_nonzero(nearness <= 0))  # rows of the sky
        window = _Window(window.left, window.top + above, window.width, window.height - above)
        given = np.empty((window.height, window.width, 3), dtype=np.float32)
        given[..., :2] = window.of(_grid(eye.width, eye.height).reshape(eye.height, eye.width, 2))
        given[..., 2] = nearness[above:, None]
        own = shadow.on_ground(eye.numbers().astype(np.float32), given.reshape(-1, 3))
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
        low, high = _bounds(places[..., :2].reshape(-1, 2))
        self.size = float(max(high - low)) * 1.3 + 1e-9
        self.low = (low + high - self.size) / 2
        scale = np.array([self.map / self.size, self.map / self.size, 1.0])
        self.axes = np.concatenate([*(_SUN_AXES * scale).T, -np.array([*self.low, 0.0]) * scale]).astype(np.float32)
        places[..., :2] = (places[..., :2] - self.low) * (self.map / self.size)
        found, nearness = rasterised(places, self.map, self.map, _buffers)
        self.nearness = nearness.astype(np.float32)
        # means of blocks of pixels
        is_covered = (found >= 0).astype(np.float32)
        blocks = np.zeros((self.map // _FINER, self.map // _FINER), dtype=np.float32)
        for i, j in np.ndindex(_FINER, _FINER):
            blocks += is_covered[i::_FINER, j::_FINER] / np.float32(_FINER**2)
        self.cover = _blurred(blocks, self.map // 180)

    def corners(self, z: float) -> np.ndarray:
        """The corners (4, 3) of what is in shadow, on a plane at height z [m]."""
        a, b, sun = _SUN_AXES.T
        u, v = (
            low + self.size / len(self.cover) * (np.flatnonzero(self.cover.any(axis=k))[[0, -1]] + (0, 1))
            for k, low in enumerate(self.low)
        )
        u, v = u[[0, 1, 1, 0]], v[[0, 0, 1, 1]]
        w = (z - a[2] * u - b[2] * v) / sun[2]
        return u[:, None] * a + v[:, None] * b + w[:, None] * sun

    def on_ground(self, eye: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The share of the sun that the ground gets, with soft edges; whatever casts shadows is above it.

        Args:
            eye, points: as for `pliant.render.shading.place_in_sun`, points (n, 3).
        """
        lit = np.ones(len(points), dtype=np.float32)
        if self.size:
            i, j = (x * np.float32(1 / _FINER) for x in sun_kernel()(eye, self.axes, points).T[:2])
            near = np.flatnonzero((i >= 0) & (i < len(self.cover)) & (j >= 0) & (j < len(self.cover)))
            lit[near] -= self.cover.take(len(self.cover) * j[near].astype(np.int32) + i[near].astype(np.int32))
        return lit

    def on_bodies(self, eye: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The share of the sun that bodies get, which cast shadows on each other; arguments as for `on_ground`."""
        i, j, nearness = np.ascontiguousarray(sun_kernel()(eye, self.axes, points).T)
        # a surface does not shadow itself
        nearness += np.float32(self.size * 0.008)
        lit = np.zeros(len(points), dtype=np.float32)
        for di, dj in _AROUND:
            columns, rows = ((x + np.float32(d)).astype(np.int32) for x, d in ((i, di), (j, dj)))
            lit += self.nearness.take(self.map * rows + columns, mode="clip") < nearness
        return lit / len(_AROUND)


# offsets in the depth buffer at which a point looks for something above it [pixels]
_AROUND = ((0.0, 0.0), (-1.8, -0.6), (0.6, -1.8), (1.8, 0.6), (-0.6, 1.8))


def _blurred(image: np.ndarray, radius: int) -> np.ndarray:
    """Means over a square, three times in a row, which is almost Gaussian."""
    box = np.full(2 * radius + 1, 1 / (2 * radius + 1))
    weights = np.convolve(np.convolve(box, box), box).tolist()
    for axis in (0, 1):
        reach, size = len(weights) // 2, image.shape[axis]
        wide = np.pad(image, [(reach, reach) if k == axis else (0, 0) for k in (0, 1)])
        image = np.zeros_like(image)
        for k, weight in enumerate(weights):
            image += np.float32(weight) * (wide[k : k + size] if axis == 0 else wide[:, k : k + size])
    return image


# ---- depth buffer


class _Buffers(threading.local):
    """Memory of a thread for the depth buffers of its pictures: to get it takes as long as to fill it."""

    def __init__(self) -> None:
        self.found, self.nearness = np.empty(0, dtype=np.int32), np.empty(0)

    def cleared(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """No triangle at any of ``size`` pixels."""
        room = size + 3  # pixels are done four at a time
        if len(self.found) < room:
            self.found, self.nearness = np.empty(room, dtype=np.int32), np.empty(room)
        self.found[:room], self.nearness[:room] = -1, -np.inf
        return self.found[:size], self.nearness[:size]


_buffers = _Buffers()


def rasterised(
    triangles: np.ndarray, width: int, height: int, buffers: _Buffers | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest triangle at each pixel.

    A corner is (x, y, n): its place on the screen in pixels, and its nearness, which must be linear on the screen:
    1 / z for a camera with perspective, -z for one without. The greatest nearness wins. The center of pixel
    (column i, row k) is (i + 1/2, k + 1/2).

    Args:
        triangles: (m, 3, 3), their corners; both sides are drawn, triangles without area or with a corner that is not
            finite are not.
        width, height: of the screen [pixels].
        buffers: whose memory the results are in, until the next call.

    Returns:
        The index of the triangle at each pixel, -1 for none, (height, width), and its nearness, -inf for none.
    """
    corners = np.ascontiguousarray(triangles, dtype=np.float64).reshape(-1, 9)
    kept = np.flatnonzero(_is_drawn(corners, width, height))
    corners = np.ascontiguousarray(corners[kept])
    found, nearness = (of.reshape(height, width) for of in (buffers or _Buffers()).cleared(height * width))
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
