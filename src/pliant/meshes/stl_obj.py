"""STL files: triangles without colours. OBJ files: points, polygons and the materials that these name.

Readers take the content of a file, and its name for messages.
"""

import io
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pliant.errors import Place, RobotError
from pliant.meshes.surfaces import Color, Surface, fans
from pliant.meshes.text_numbers import IS_SPACE, MAX_LINE, Rows, indices, points_of_rows, rows_of

_INTEGER = re.compile(rb"[+-]?[0-9]{1,15}")
_INTEGERS = b"0123456789+- \t\n\r\v\f"
# normal, three corners and an attribute, in 50 bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


# ---- STL


def stl_surfaces(data: bytes, source: str) -> Iterator[Surface]:
    """The triangles of an STL file; their corners are not shared."""
    points = _points(data, source)
    yield Surface(points, np.arange(len(points)).reshape(-1, 3))


def _points(data: bytes, source: str) -> np.ndarray:
    """Corners of the triangles. Some binary files start with "solid" as text ones do: the size decides."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
    is_text = data[:512].lstrip().lower().startswith(b"solid")
    if is_text and (len(data) < 84 or len(data) != 84 + count * _TRIANGLE.itemsize):
        points = points_of_rows(rows_of(data, source, {b"vertex": 3}, any_case=True)[b"vertex"], data, source)
        if len(points) % 3 or b"endsolid" not in data[-1000:].lower():
            raise _cut_off(source, "it ends before 'endsolid'")
        return points
    if len(data) < 84:
        raise _cut_off(source, f"{len(data)} bytes, a binary STL has 84 at least")
    held = (len(data) - 84) // _TRIANGLE.itemsize
    if count > held:
        raise _cut_off(source, f"it promises {count} triangles and holds {held}")
    return np.frombuffer(data, _TRIANGLE, count, 84)["corners"].reshape(-1, 3).astype(float)


def _cut_off(source: str, why: str) -> RobotError:
    return RobotError(f"the file is cut off: {why}", cure="export it again", place=Place(source))


# ---- OBJ


@dataclass(frozen=True)
class ObjFile:
    """The content of an OBJ file.

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


def obj_surfaces(data: bytes, source: str, content_of: Callable[[str], bytes]) -> Iterator[Surface]:
    """Faces by material, all with the points of the file; polygons are cut into fans from their first corner.

    ``content_of`` gives the content of a file of materials; it raises if that is not there or not allowed.
    """
    file = read_obj(data, source)
    if not len(file.sides):
        yield Surface(file.points, np.zeros((0, 3), dtype=int))
    colors: dict[bytes, Color] = {}
    for library in file.libraries:
        colors |= _colors(library.decode(errors="replace"), content_of)
    faces = file.corners[fans(file.sides)]
    owners = np.repeat(file.materials, np.maximum(file.sides - 2, 0))
    for material in dict.fromkeys(file.materials.tolist()):
        yield Surface(file.points, faces[owners == material], colors.get(file.names[material]))


def _colors(library: str, content_of: Callable[[str], bytes]) -> dict[bytes, Color]:
    """Diffuse colours by name; none if the file is not there, or not allowed: a robot without colours is a robot."""
    found: dict[bytes, Color] = {}
    try:
        data = content_of(library)
    except RobotError:
        return {}
    name = b""
    for line in io.BytesIO(data):
        if len(line) > MAX_LINE:
            return {}
        words = line.split()
        try:
            match words[:1]:
                case [b"newmtl"]:
                    name = b" ".join(words[1:])
                case [b"Kd"]:
                    r, g, b = (min(1.0, max(0.0, float(w))) for w in words[1:4])
                    found[name] = (r, g, b, found.get(name, (0, 0, 0, 1))[3])
                case [b"d"]:
                    r, g, b, _ = found.get(name, (0.8, 0.8, 0.8, 1))
                    found[name] = (r, g, b, min(1.0, max(0.0, float(words[1]))))
        except (ValueError, IndexError):
            continue
    return found


def read_obj(data: bytes, source: str) -> ObjFile:
    """The content of an OBJ file; every index is one of a point."""
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
        place = Place(source, faces.line_of(int(np.argmax(is_bad))))
        raise RobotError("the face names a point that is not in the file", cure="export it again", place=place)
    return corners.astype(np.int64)


def _first_of_each(text: bytes) -> bytes:
    """Of corners as point/texture/normal, the points alone."""
    codes = np.frombuffer(text, dtype=np.uint8)
    place = np.arange(1, len(codes) + 1)
    slash = np.maximum.accumulate(np.where(codes == ord("/"), place, 0))
    space = np.maximum.accumulate(np.where(IS_SPACE[codes], place, 0))
    return np.where(slash > space, np.uint8(32), codes).tobytes()


def _one_by_one(faces: Rows) -> np.ndarray:
    """The points of corners of which some are not numbers: 0, which no point has, in their place."""
    found = array("q")
    for _, words in faces.words():
        for word in words:
            number = word.partition(b"/")[0]
            found.append(int(number) if _INTEGER.fullmatch(number) else 0)
    return np.array(found, dtype=np.int64)
