"""The ground as triangles, around where robots are."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pliant.render.triangles import Mesh

__all__ = ["downhill_view", "ground_mesh"]

# a slope that makes it matter from where one looks: three degrees
_STEEP = 0.05


def ground_mesh(ground: Any, span: Sequence[float], *, cells: int = 160) -> Mesh:
    """The ground over a rectangle; two triangles where it is flat.

    Args:
        ground: answers ``height(x, y)`` on arrays and ``is_flat``.
        span: x and y of the lower corner, then of the upper one [m].
        cells: along the longer side.
    """
    x0, y0, x1, y1 = (float(s) for s in span)
    sides = x1 - x0, y1 - y0
    step = max(sides) / cells
    nx, ny = (1, 1) if ground.is_flat else (max(1, math.ceil(s / step)) for s in sides)
    x, y = np.meshgrid(np.linspace(x0, x1, nx + 1), np.linspace(y0, y1, ny + 1), indexing="ij")
    z = np.broadcast_to(np.asarray(ground.height(x, y), dtype=float), x.shape)
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    k = (np.arange(nx)[:, None] * (ny + 1) + np.arange(ny)).reshape(-1)
    lower = np.stack([k, k + ny + 1, k + ny + 2], axis=-1)
    upper = np.stack([k, k + ny + 2, k + 1], axis=-1)
    return Mesh(vertices, np.concatenate([lower, upper]))


def downhill_view(ground: Any, low: Iterable[float], high: Iterable[float], azimuth: float) -> float:
    """From where to look at ground over a rectangle: as told, or from below where it rises, since steps hide others.

    The ground's slope is that of the plane nearest to it, z = a + b x + c y, by least squares.

    Args:
        ground: or None.
        low, high: corners, x and y [m].
        azimuth: from where one looks at level ground, about z and from the x axis on [rad].

    Returns:
        An azimuth as far from downhill as the one told is from x, on the side that is nearer to it.
    """
    if ground is None or ground.is_flat:
        return azimuth
    x, y = (a.reshape(-1) for a in np.meshgrid(*(np.linspace(a, b, 24) for a, b in zip(low, high, strict=True))))
    z = np.broadcast_to(np.asarray(ground.height(x, y), dtype=float), x.shape)
    if not np.isfinite(z).all():
        return azimuth
    slope = np.linalg.lstsq(np.stack([x - x.mean(), y - y.mean(), np.ones_like(x)], axis=1), z, rcond=None)[0][:2]
    if np.hypot(*slope) < _STEEP:
        return azimuth
    downhill = math.atan2(-slope[1], -slope[0])
    away = abs(math.remainder(azimuth, math.tau))
    return min((downhill + away, downhill - away), key=lambda a: abs(math.remainder(a - azimuth, math.tau)))
