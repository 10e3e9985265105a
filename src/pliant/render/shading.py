"""Light: the color of each point of a picture.

Colors are linear in light while they are mixed, and become those of a screen at the end. A surface with albedo a and
normal n is lit by a sun, cut off by shadows, by a sky that is brighter above than below, and by a weak light beside the
camera, so that nothing is black:

    c = a (S s max(0, n.l) + A (1 + n_z) / 2 + B (1 - n_z) / 2 + F max(0, n.e)) + glint

Like physics, these are functions of scalars that run compiled, with a pixel in place of a robot. A camera is
15 numbers: its place, right, up, forward, focal length and half its width and height [pixels].
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from pliant.compiler import Kernel, kernel_from_function
from pliant.scalar import Scalar, Scalars, abs, exp, floor, maximum, minimum, select, sqrt
from pliant.spatial import Vector

_SUN = Vector(0.35, 0.45, 1.0)
SUN = _SUN * (1 / float(np.linalg.norm(list(_SUN))))

_SUNLIGHT = Vector(0.78, 0.75, 0.70)
_SKY = Vector(0.42, 0.45, 0.50)
_BOUNCE = Vector(0.20, 0.19, 0.18)
_FILL = 0.16
_GLINT = 0.10

# how much light is left in a shadow on the ground
_SHADE = 0.50


def linear(color: Any) -> np.ndarray:
    """Light of colors of a screen, 0 to 1."""
    return np.asarray(color, dtype=float) ** 2.2


def screen(light: np.ndarray) -> np.ndarray:
    """Bytes of a screen for light, 0 to 1."""
    return _TABLE[np.clip(light * 4095, 0, 4095).astype(np.uint16)]


_TABLE = np.round(255 * (np.arange(4096) / 4095) ** (1 / 2.2)).astype(np.uint8)

_LIGHT, _DARK = Vector(*linear([0.905, 0.915, 0.925]).tolist()), Vector(*linear([0.835, 0.850, 0.865]).tolist())
_HORIZON, _ZENITH = Vector(*linear([0.965, 0.970, 0.975]).tolist()), Vector(*linear([0.80, 0.865, 0.93]).tolist())


# ---- the camera


def _ray(eye: Scalars, x: Scalar, y: Scalar) -> Vector:
    """The direction through a point of the picture, with 1 along the camera's forward."""
    right, up, forward = (Vector(*eye[k : k + 3]) for k in (3, 6, 9))
    focal, half_width, half_height = eye[12:15]
    return forward + right * ((x - half_width) / focal) + up * ((half_height - y) / focal)


def _unit(a: Vector) -> Vector:
    return a * (1 / sqrt(a.dot(a) + 1e-20))


# ---- surfaces


def surface_light(
    eye: Scalars, floor_: Scalars, point: Scalars, corners: Scalars, normals: Scalars, albedo: Scalars, lit: Scalars
) -> list[Scalar]:
    """The light that comes from a point of a triangle.

    Args:
        eye: the camera.
        floor_: side of the tiles, and how far they are clear to see [m].
        point: x, y and nearness 1/z in the picture, and 1 if it is of the ground, else 0.
        corners: of the triangle, three times (x, y, 1/z) in the picture.
        normals: there, in the world, nine numbers.
        albedo: linear.
        lit: the share of the sun that is not in shadow.
    """
    x, y, nearness, is_ground = point
    ray = _ray(eye, x, y)
    to_eye = _unit(ray * -1)
    n = _unit(_interpolated([c - (x, y, 0)[k % 3] for k, c in enumerate(corners)], normals))
    toward = n.dot(to_eye)
    # the visible side; a smooth normal that turns away a little at the rim is not flipped
    n = n * select(toward < -0.2, -1, 1)
    p = Vector(*eye[:3]) + ray * (1 / nearness)
    # of the ground, a pixel; the picture is twice as fine
    covered = 2 / (nearness * eye[12] * maximum(abs(toward), 0.1))
    tiles = _tiles(p, covered, covered, floor_[0])
    a = Vector(*albedo)

    sun = maximum(n.dot(SUN), 0)
    light = _from_outside(n, sun * lit[0])
    fill = _FILL * maximum(n.dot(to_eye), 0)
    shine = maximum(n.dot(_unit(to_eye + SUN)), 0)
    for _ in range(3):
        shine = shine * shine
    glint = _GLINT * shine * shine * shine * lit[0]
    c = Vector(*(albedo_ * (light_ + fill) + glint for albedo_, light_ in zip(a, light, strict=True)))
    # ground is as bright as the floor where it is level, and fades like it
    level = _from_outside(Vector(0, 0, 1), SUN.z)
    ground = Vector(*(t * x / y for t, x, y in zip(tiles, _from_outside(n, sun), level, strict=True)))
    away = sqrt(ray.dot(ray)) / nearness
    ground = _faded(ground * _shade(lit[0]), away, floor_[1])
    return [select(is_ground > 0, g, b) for g, b in zip(ground, c, strict=True)]


def place_in_sun(eye: Scalars, sun: Scalars, point: Scalars) -> list[Scalar]:
    """Column, row and nearness, in the depth buffer of the sun, of a point of the picture.

    Args:
        eye: the camera.
        sun: three axes of that buffer, as long as a meter is in it, and its coordinates of the world's origin.
        point: x, y and nearness 1/z in the picture.
    """
    p = Vector(*eye[:3]) + _ray(eye, point[0], point[1]) * (1 / point[2])
    return [p.dot(Vector(*sun[3 * k : 3 * k + 3])) + sun[9 + k] for k in range(3)]


def _from_outside(n: Vector, sun: Scalar) -> Vector:
    """Light of sun and sky on a surface with normal n."""
    above = (1 + n.z) / 2
    return _SUNLIGHT * sun + _SKY * above + _BOUNCE * (1 - above)


def _shade(lit: Scalar) -> Scalar:
    """The share of light that a shadow leaves on the ground."""
    return 1 - (1 - _SHADE) * (1 - lit)


def _interpolated(corners: Scalars, values: Scalars) -> Vector:
    """Vectors given at the corners, at the point from which the corners count; up to a factor.

    The share of a corner, divided by z, is the area opposite it.
    """
    (x0, y0, n0), (x1, y1, n1), (x2, y2, n2) = (corners[k : k + 3] for k in (0, 3, 6))
    areas = x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0
    sign = select(areas[0] + areas[1] + areas[2] < 0, -1, 1)
    found = Vector.zero()
    for k, (area, nearness) in enumerate(zip(areas, (n0, n1, n2), strict=True)):
        found = found + Vector(*values[3 * k : 3 * k + 3]) * (maximum(sign * area, 0) * nearness)
    return found


# ---- floor and sky


def behind_light(eye: Scalars, floor_: Scalars, point: Scalars, lit: Scalars) -> list[Scalar]:
    """The light of the floor, or of the sky above it.

    Args:
        eye: the camera.
        floor_: side of the tiles, how far they are clear to see, the floor's height [m], and 1 if there is one, else 0.
        point: x and y in the picture.
        lit: the share of the sun that is not in shadow.
    """
    tile, reach, z, is_there = floor_
    ray = _ray(eye, point[0], point[1])
    length = sqrt(ray.dot(ray))
    up = minimum(maximum(ray.z / length * 1.6, 0), 1)
    sky = _HORIZON * (1 - up) + _ZENITH * up
    meets = ray.z * is_there * select(z < eye[2], 1, 0) < -1e-6
    fall = select(meets, ray.z, -1)
    s = (z - eye[2]) / fall
    place = Vector(*eye[:3]) + ray * s
    # extent of a pixel on the floor, in x and y
    right, raised, scale = Vector(*eye[3:6]), Vector(*eye[6:9]), s / eye[12]
    covered = [scale * (abs(right[k]) + abs(raised[k] - ray[k] * raised.z / fall)) for k in range(2)]
    ground = _faded(_tiles(place, covered[0], covered[1], tile) * _shade(lit[0]), s * length, reach)
    return [select(meets, g, h) for g, h in zip(ground, sky, strict=True)]


def behind_bytes(eye: Scalars, floor_: Scalars, point: Scalars, lit: Scalars) -> list[Scalar]:
    """`behind_light` as a screen shows it, in bytes, ready to be cut off to whole numbers."""
    return [255 * _shown(x) + 0.5 for x in behind_light(eye, floor_, point, lit)]


# light of floor and sky is above a tenth: there the power of a screen is a polynomial, to a quarter of a byte
_BRIGHT = np.linspace(0.1, 1, 400)
_SHOWN = np.polynomial.Polynomial.fit(_BRIGHT, _BRIGHT ** (1 / 2.2), 5, w=1 / _BRIGHT).convert().coef.tolist()


def _shown(light: Scalar) -> Scalar:
    x = minimum(maximum(light, 0.1), 1)
    found: Scalar = 0
    for c in reversed(_SHOWN):
        found = found * x + c
    return found


def _faded(light: Vector, away: Scalar, reach: Scalar) -> Vector:
    """Light that fades into the horizon with the distance."""
    part = away / reach
    clear = exp(-minimum(part * part, 50))
    return _HORIZON * (1 - clear) + light * clear


def _tiles(p: Vector, width: Scalar, depth: Scalar, tile: Scalar) -> Vector:
    """Squares of two shades, averaged over each pixel: the integral of a square wave is a triangle wave."""
    share: Scalar = 1
    for x, w in ((p.x, width), (p.y, depth)):
        place, wide = x / tile, maximum(w / tile, 1e-3)
        share = share * (2 * (_triangle(place - wide / 2) - _triangle(place + wide / 2)) / wide)
    dark = (1 - share) / 2
    return _LIGHT * (1 - dark) + _DARK * dark


def _triangle(x: Scalar) -> Scalar:
    half = x / 2
    return abs(half - floor(half) - 0.5)


# ---- compiled


def _compiled(function: Callable[..., Any], name: str, **sizes: int) -> Callable[[], Kernel]:
    """A function of pixels, compiled when it is first asked for; arguments by their sizes, a pixel a row."""
    shapes = {argument: (size,) for argument, size in sizes.items()}
    return cache(lambda: kernel_from_function(function, shapes, name=name, precision="float32"))


surface_kernel = _compiled(
    surface_light, "light of surfaces", eye=15, floor_=2, point=4, corners=9, normals=9, albedo=3, lit=1
)
sun_kernel = _compiled(place_in_sun, "places in the sun", eye=15, sun=12, point=3)
behind_bytes_kernel = _compiled(behind_bytes, "floor and sky on a screen", eye=15, floor_=4, point=2, lit=1)
behind_kernel = _compiled(behind_light, "light of floor and sky", eye=15, floor_=4, point=2, lit=1)
