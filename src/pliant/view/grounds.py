"""The ground as triangles, around where robots are."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.view.triangles import Mesh

__all__ = ["ground_mesh"]


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
