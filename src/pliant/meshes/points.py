"""The points of mesh files: STL, OBJ and Collada, from files that nobody vouches for.

Only the points that faces use are read here, no colours and no references to other files: contact needs no more.
Faces and colours, for drawing, are in `pliant.meshes.surfaces`.
Every count that a file states is held against its size before anything is allocated.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.errors import RobotError
from pliant.files.packages import Packages
from pliant.meshes.collada import collada_points
from pliant.meshes.obj import read_obj
from pliant.meshes.text_numbers import MAX_LINE, points_of_rows, rows_of

if TYPE_CHECKING:
    from pliant.meshes.surfaces import Surface

__all__ = [
    "FAR", "MAX_BYTES", "MeshFile", "checked_points", "content", "lines_of", "read_mesh", "reader_for", "stl_points",
]  # fmt: skip

MAX_BYTES = 64_000_000  # the largest mesh of example-robot-data has 29 MB
FAR = 1e9  # no robot is that large, in whatever unit

# normal, three corners and an attribute, in 50 bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True)
class MeshFile:
    """A mesh that a robot refers to, opened only when its points are asked for.

    The reference is resolved at that moment, by the same rules as on loading: a file that left the allowed
    folders in between, by way of a link, is refused.

    Attributes:
        reference: a path, or one with package:// or file://.
        folder: of the robot file, which a relative path starts from.
        packages: folders in which packages lie.
    """

    reference: str
    folder: Path = Path()
    packages: tuple[Path, ...] = ()

    def points(self, packages: Iterable[str | Path] = ()) -> np.ndarray:
        """Its points (n, 3), as the file has them; ``packages`` are more folders to look in."""
        return read_mesh(self._packages(packages).resolve(self.reference))

    def surfaces(self, packages: Iterable[str | Path] = ()) -> "tuple[Surface, ...]":
        """Its faces by colour, as the file has them; what it refers to must lie in the allowed folders, too.

        They are kept as long as this object, unless the file changes: a log and several pictures need them.
        """
        from pliant.meshes.surfaces import read_surfaces

        packages = tuple(packages)
        allowed = self._packages(packages)
        path = allowed.resolve(self.reference)
        key = path, *_state(path), tuple(map(str, packages))
        kept = _surfaces.get(self)
        if kept is None or kept[0] != key:
            kept = _surfaces[self] = key, read_surfaces(path, lambda reference: allowed.beside(path, reference))
        return kept[1]

    def _packages(self, more: Iterable[str | Path]) -> Packages:
        return Packages(self.folder, [*self.packages, *more])


_surfaces: "WeakKeyDictionary[MeshFile, tuple[tuple, tuple[Surface, ...]]]" = WeakKeyDictionary()


def read_mesh(path: str | Path) -> np.ndarray:
    """The points of a mesh file (n, 3), n > 0, in the file's unit; repeated as often as its faces repeat them.

    Args:
        path: ends in .stl (text or binary), .obj, or .dae, whose scene is applied.
    """
    path = Path(path)
    read = reader_for(path, _READERS)
    return checked_points(read(content(path), str(path)), path)


def reader_for(path: Path, readers: Mapping[str, Any]) -> Any:
    """The reader for the ending of a file's name."""
    if path.suffix.lower() not in readers:
        raise RobotError(f"{path}: no reader for meshes of this kind; there are {', '.join(readers)}, convert it")
    return readers[path.suffix.lower()]


def checked_points(points: np.ndarray, path: Path) -> np.ndarray:
    """The points of a file, if there are any and all of them can exist."""
    if len(points) == 0:
        raise RobotError(f"{path} has no points; export it again")
    # NaN is not within either
    if not (np.abs(points) < FAR).all():
        raise RobotError(f"{path} has a point that is infinite, not a number, or farther off than {FAR:g}")
    return points


def content(path: Path) -> bytes:
    """The bytes of a mesh file, or of one that goes with it."""
    try:
        if not path.is_file():
            raise RobotError(f"{path} is no file; give the path of a mesh")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise RobotError(f"{path} cannot be read: {error}; check its name and permissions") from None
    if len(data) > MAX_BYTES:
        raise RobotError(f"{path} is larger than {MAX_BYTES // 1_000_000} MB; simplify the mesh")
    return data


def _state(path: Path) -> tuple[int, int]:
    """When a file was written to, and its size."""
    try:
        found = path.stat()
    except OSError as error:
        raise RobotError(f"{path} cannot be read: {error}; check its name and permissions") from None
    return found.st_mtime_ns, found.st_size


def stl_points(data: bytes, source: str) -> np.ndarray:
    """Corners of the triangles. Some binary files start with "solid" as text ones do: the size decides."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
    is_text = data[:512].lstrip().lower().startswith(b"solid")
    if is_text and (len(data) < 84 or len(data) != 84 + count * _TRIANGLE.itemsize):
        return _stl_text_points(data, source)
    if len(data) < 84:
        raise RobotError(f"{source} is cut off: {len(data)} bytes, a binary STL has 84 at least; export it again")
    held = (len(data) - 84) // _TRIANGLE.itemsize
    if count > held:
        raise RobotError(f"{source} is cut off: it promises {count} triangles and holds {held}; export it again")
    return np.frombuffer(data, _TRIANGLE, count, 84)["corners"].reshape(-1, 3).astype(float)


def _stl_text_points(data: bytes, source: str) -> np.ndarray:
    points = points_of_rows(rows_of(data, source, {b"vertex": 3}, any_case=True)[b"vertex"], data, source)
    if len(points) % 3 or b"endsolid" not in data[-1000:].lower():
        raise RobotError(f"{source} is cut off: it ends before 'endsolid'; export it again")
    return points


def _obj_points(data: bytes, source: str) -> np.ndarray:
    """The points that faces use; all of them if there are no faces."""
    file = read_obj(data, source)
    return file.points[np.unique(file.corners)] if len(file.corners) else file.points


def lines_of(data: bytes, source: str) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; one at a time, and none too long, so that they cost no memory."""
    for k, line in enumerate(io.BytesIO(data), start=1):
        if len(line) > MAX_LINE:
            raise RobotError(f"{source}:{k}: a line of {len(line)} bytes; is it text at all? export it again")
        yield k, line


def _dae_points(data: bytes, source: str) -> np.ndarray:
    # what overflows is found as an infinite point
    with np.errstate(over="ignore", invalid="ignore"):
        return collada_points(data, source, MAX_BYTES)


_READERS: dict[str, Callable[[bytes, str], np.ndarray]] = {
    ".stl": stl_points, ".obj": _obj_points, ".dae": _dae_points,
}  # fmt: skip
