"""The faces of mesh files, with their colours, for drawing: as safe with untrusted files as the points are.

Every index is held against the count of what it names, and files that a mesh refers to (an OBJ's materials, a
texture) are opened only where the robot file's own references may lead.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.errors import RobotError
from pliant.meshes.obj import read_obj
from pliant.meshes.points import MAX_BYTES, checked_points, content, lines_of, reader_for, stl_points
from pliant.meshes.polygons import fans

__all__ = ["Color", "Surface", "read_surfaces"]

Color = tuple[float, float, float, float]
Resolve = Callable[[str], Path]


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


def read_surfaces(path: str | Path, resolve: Resolve) -> tuple[Surface, ...]:
    """The surfaces of a mesh file; none if it has points only.

    Args:
        path: ends in .stl (text or binary), .obj or .dae, whose scene is applied.
        resolve: the file that a reference in the mesh leads to, relative to the mesh; raises if it may not.
    """
    path = Path(path)
    read = reader_for(path, _READERS)
    found = [s for s in read(content(path), str(path), resolve) if len(s.faces)]
    for surface in found:
        checked_points(surface.points, path)
        # whoever asks next gets the same ones
        surface.points.flags.writeable = surface.faces.flags.writeable = False
    return tuple(found)


def _stl(data: bytes, source: str, resolve: Resolve) -> Iterator[Surface]:
    points = stl_points(data, source)
    yield Surface(points, np.arange(len(points)).reshape(-1, 3))


def _obj(data: bytes, source: str, resolve: Resolve) -> Iterator[Surface]:
    """Faces by material; polygons are cut into fans from their first corner."""
    file = read_obj(data, source)
    colors: dict[bytes, Color] = {}
    for library in file.libraries:
        colors |= _materials(library.decode(errors="replace"), resolve)
    faces = file.corners[fans(file.sides)]
    owners = np.repeat(file.materials, np.maximum(file.sides - 2, 0))
    for material in dict.fromkeys(file.materials.tolist()):
        yield Surface(file.points, faces[owners == material], colors.get(file.names[material]))


def _materials(reference: str, resolve: Resolve) -> dict[bytes, Color]:
    """Diffuse colours by name; none if the file is not there, or not allowed: a robot without colours is a robot."""
    found: dict[bytes, Color] = {}
    try:
        path = resolve(reference)
        name = b""
        for _, line in lines_of(content(path), str(path)):
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
    except RobotError:
        return {}
    return found


def _dae(data: bytes, source: str, resolve: Resolve) -> Iterator[Surface]:
    from pliant.meshes.collada_surfaces import collada_surfaces

    # what overflows is found as an infinite point
    with np.errstate(over="ignore", invalid="ignore"):
        for points, faces, color in collada_surfaces(data, source, MAX_BYTES, resolve):
            yield Surface(points, faces, color)


_READERS: dict[str, Callable[[bytes, str, Resolve], Iterator[Surface]]] = {".stl": _stl, ".obj": _obj, ".dae": _dae}
