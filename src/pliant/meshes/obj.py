"""Wavefront OBJ files (.obj): points, polygons and the materials that these name."""

import re
from array import array
from dataclasses import dataclass

import numpy as np

from pliant.errors import RobotError
from pliant.meshes.text_numbers import IS_SPACE, MAX_LINE, Rows, indices, points_of_rows, rows_of

__all__ = ["ObjFile", "read_obj"]

_INTEGER = re.compile(rb"[+-]?[0-9]{1,15}")
_INTEGERS = b"0123456789+- \t\n\r\v\f"


@dataclass(frozen=True)
class ObjFile:
    """What an OBJ file holds.

    Attributes:
        points: (n, 3), in the file's unit.
        corners: of all polygons in a row, as indices of points.
        sides: corners of each polygon (m,).
        materials: of each polygon (m,), as indices of ``names``.
        names: of materials; the first, empty, is that of polygons before any is named.
        libraries: files of materials, in the order of the file.
    """

    points: np.ndarray
    corners: np.ndarray
    sides: np.ndarray
    materials: np.ndarray
    names: tuple[bytes, ...]
    libraries: tuple[bytes, ...]


def read_obj(data: bytes, source: str) -> ObjFile:
    """The content of an OBJ file; every index is one of a point.

    Args:
        data: the file.
        source: its name, for messages.
    """
    rows = rows_of(data, source, {b"v": 3, b"f": MAX_LINE, b"usemtl": MAX_LINE, b"mtllib": MAX_LINE})
    points, faces = points_of_rows(rows[b"v"], data, source), rows[b"f"]
    names = {b"": 0}
    used = [0, *(names.setdefault(b" ".join(words), len(names)) for _, words in rows[b"usemtl"].words())]
    materials = np.array(used)[np.searchsorted(rows[b"usemtl"].lines, faces.lines)]
    libraries = tuple(b" ".join(words) for _, words in rows[b"mtllib"].words())
    return ObjFile(points, _corners(faces, rows[b"v"], source), faces.counts, materials, tuple(names), libraries)


def _corners(faces: Rows, points: Rows, source: str) -> np.ndarray:
    """Indices of points, counted from 0; the file counts from 1, or from the last point before if negative."""
    text = _first_of_each(faces.text)
    numbers = indices(text.decode("latin-1"))
    if len(numbers) != faces.counts.sum() or text.translate(None, _INTEGERS):
        numbers = _one_by_one(faces)
    seen = np.repeat(np.searchsorted(points.lines, faces.lines), faces.counts)
    corners = np.where(numbers > 0, numbers - 1, seen + numbers)
    is_bad = (numbers == 0) | ~((corners >= 0) & (corners < len(points.lines)))
    if is_bad.any():
        where = f"{source}:{faces.line_of(int(np.argmax(is_bad)))}"
        raise RobotError(f"{where}: the face names a point that is not in the file; export it again")
    return corners.astype(np.int64)


def _first_of_each(text: bytes) -> bytes:
    """Of corners as point/texture/normal, the points alone."""
    codes = np.frombuffer(text, dtype=np.uint8)
    place = np.arange(1, len(codes) + 1)
    slash = np.maximum.accumulate(np.where(codes == ord("/"), place, 0))
    space = np.maximum.accumulate(np.where(IS_SPACE[codes], place, 0))
    return np.where(slash > space, np.uint8(32), codes).tobytes()


def _one_by_one(faces: Rows) -> np.ndarray:
    """The points of corners of which some is no number: 0, which no point has, in its place."""
    found = array("q")
    for _, words in faces.words():
        for word in words:
            number = word.partition(b"/")[0]
            found.append(int(number) if _INTEGER.fullmatch(number) else 0)
    return np.array(found, dtype=np.int64)
