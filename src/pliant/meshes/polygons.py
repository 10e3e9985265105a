"""Polygons cut into triangles."""

import numpy as np

__all__ = ["fans"]


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
