"""STL files (.stl), text and binary: triangles without colours."""

from collections.abc import Callable, Iterator

import numpy as np

from pliant.errors import Place, RobotError
from pliant.meshes.surfaces import Surface
from pliant.meshes.text_numbers import points_of_rows, rows_of

__all__ = ["stl_surfaces"]

# normal, three corners and an attribute, in 50 bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def stl_surfaces(data: bytes, source: str, content_of: Callable[[str], bytes]) -> Iterator[Surface]:
    """The triangles of an STL file; their corners are not shared.

    Args:
        data: the file.
        source: its name, for messages.
        content_of: not used: the file refers to no other.
    """
    points = _points(data, source)
    yield Surface(points, np.arange(len(points)).reshape(-1, 3))


def _points(data: bytes, source: str) -> np.ndarray:
    """Corners of the triangles. Some binary files start with "solid" as text ones do: the size decides."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
    is_text = data[:512].lstrip().lower().startswith(b"solid")
    if is_text and (len(data) < 84 or len(data) != 84 + count * _TRIANGLE.itemsize):
        return _text_points(data, source)
    if len(data) < 84:
        raise _cut_off(source, f"{len(data)} bytes, a binary STL has 84 at least")
    held = (len(data) - 84) // _TRIANGLE.itemsize
    if count > held:
        raise _cut_off(source, f"it promises {count} triangles and holds {held}")
    return np.frombuffer(data, _TRIANGLE, count, 84)["corners"].reshape(-1, 3).astype(float)


def _text_points(data: bytes, source: str) -> np.ndarray:
    points = points_of_rows(rows_of(data, source, {b"vertex": 3}, any_case=True)[b"vertex"], data, source)
    if len(points) % 3 or b"endsolid" not in data[-1000:].lower():
        raise _cut_off(source, "it ends before 'endsolid'")
    return points


def _cut_off(source: str, why: str) -> RobotError:
    return RobotError(f"the file is cut off: {why}", cure="export it again", place=Place(source))
