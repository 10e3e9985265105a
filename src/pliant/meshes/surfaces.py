"""Surfaces of meshes: triangles of one colour, polygons cut into triangles, and rows that are the same."""

import math
from typing import NamedTuple

import numpy as np

Color = tuple[float, float, float, float]


class Surface(NamedTuple):
    """Triangles of one colour.

    Attributes:
        points: (n, 3), in the file's unit.
        faces: (m, 3) indices of points, counter-clockwise from outside.
        color: red, green, blue, opacity in [0, 1], or None if the file has none.
    """

    points: np.ndarray
    faces: np.ndarray
    color: Color | None = None


def fans(sides: np.ndarray) -> np.ndarray:
    """Triangles of polygons whose corners stand in a row, all from the polygon's first corner.

    Args:
        sides: how many corners each polygon has (n,); those with less than three have no triangles.

    Returns:
        (triangles, 3) places in the row.
    """
    starts = np.cumsum(sides) - sides
    triangles = np.maximum(sides - 2, 0)
    first = np.repeat(starts, triangles)
    k = np.arange(len(first)) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    return np.stack([first, first + k + 1, first + k + 2], axis=-1)


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct row is first, and which of them, in ascending order, each row is.

    For points of a mesh in one place and faces that are there twice. Rows are compared as single numbers, which is ten
    times as fast as column by column.
    """
    if rows.dtype.kind != "f":
        key = _packed(rows)
        return _compared(rows) if key is None else _grouped(key)
    # a hash finds the few rows that differ; only these are put in order
    first, inverse = _grouped(_hashed(rows))
    if not (rows[first][inverse] == rows).all():
        return _compared(rows)
    order = np.lexsort(rows[first].T[::-1])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]


def _grouped(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct key is first, and which of them, in ascending order, each key is."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(keys)]
    inverse = np.empty(len(keys), dtype=np.int64)
    inverse[order] = np.cumsum(is_new) - 1
    starts = np.flatnonzero(is_new)
    return np.minimum.reduceat(order, starts) if len(starts) else starts, inverse


def _packed(rows: np.ndarray) -> np.ndarray | None:
    """Rows of integers as digits of one number each, in the same order; None if it does not fit 63 bits."""
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    columns = np.ascontiguousarray(rows.T)
    lows, highs = columns.min(axis=1).tolist(), columns.max(axis=1).tolist()
    spans = [high - low + 1 for low, high in zip(lows, highs, strict=True)]
    if math.prod(spans) >= 2**63:
        return None
    key = np.zeros(len(rows), dtype=np.int64)
    for column, low, span in zip(columns, lows, spans, strict=True):
        key = key * span + (column - low)
    return key


def _hashed(rows: np.ndarray) -> np.ndarray:
    """A number for each row of floats: the same for rows that are equal, hardly ever for others."""
    # adding zero makes one of the two zeros
    bits = (rows + 0.0).astype(np.float64, copy=False).view(np.uint64)
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in bits.T:
        # odd multipliers keep all of it; shifts bring high bits, in which coordinates differ, down
        key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


def _compared(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `distinct_rows`, for any numbers: column by column."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)
