"""Mesh files, from untrusted sources: opened on demand, read by the reader for their kind, and checked.

A reader gives triangles with their colours; the points of a mesh, which contact needs, follow from these. Every count
that a file states is held against its size before anything is allocated, every index against the count of what it
names, and files that a mesh refers to (an OBJ's materials, a texture) are opened only where the robot file's own
references may lead.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from pliant.errors import Place, RobotError
from pliant.files.packages import Packages
from pliant.signatures import explained

if TYPE_CHECKING:
    from pliant.meshes.surfaces import Surface

MAX_BYTES = 64_000_000  # the largest mesh of example-robot-data has 29 MB
FAR = 1e9  # no robot is that large, in whatever unit


@explained
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
        """Its faces by colour, as the file has them; files that it refers to must lie in the allowed folders, too.

        They are kept as long as this object, unless the file changes: a log and several pictures need them.
        """
        packages = tuple(packages)
        allowed = self._packages(packages)
        path = allowed.resolve(self.reference)
        key = path, *_state(path), tuple(map(str, packages))
        kept = _surfaces.get(self)
        if kept is None or kept[0] != key:
            kept = _surfaces[self] = key, read_surfaces(path, lambda reference: allowed.resolve(reference, path))
        return kept[1]

    def _packages(self, more: Iterable[str | Path]) -> Packages:
        return Packages(self.folder, [*self.packages, *more])


_surfaces: "WeakKeyDictionary[MeshFile, tuple[tuple, tuple[Surface, ...]]]" = WeakKeyDictionary()


@explained
def read_mesh(path: str | Path) -> np.ndarray:
    """The points of a mesh file (n, 3), n > 0, in the file's unit: those that faces use, or all without faces.

    Args:
        path: ends in .stl (text or binary), .obj, or .dae, whose scene is applied.
    """
    path = Path(path)
    by_array: dict[int, list[Surface]] = {}
    for surface in _read(path, _refuse):
        by_array.setdefault(id(surface.points), []).append(surface)
    parts = [np.zeros((0, 3))]
    for surfaces in by_array.values():
        points = surfaces[0].points
        is_used = np.zeros(len(points), dtype=bool)
        for surface in surfaces:
            is_used[surface.faces] = True
        parts.append(points[is_used] if is_used.any() else points)
    found = np.concatenate(parts)
    if len(found) == 0:
        raise _error(path, "it has no points", "export it again")
    return _checked(found, path)


@explained
def read_surfaces(path: str | Path, resolve: Callable[[str], Path]) -> "tuple[Surface, ...]":
    """The surfaces of a mesh file; none if it has points only.

    Args:
        path: ends in .stl (text or binary), .obj or .dae, whose scene is applied.
        resolve: the file that a reference in the mesh leads to, relative to the mesh; raises if it may not.
    """
    path = Path(path)
    found = [s for s in _read(path, lambda reference: _content(resolve(reference))) if len(s.faces)]
    for surface in found:
        _checked(surface.points, path)
        # later callers get the same arrays
        surface.points.flags.writeable = surface.faces.flags.writeable = False
    return tuple(found)


def _read(path: Path, content_of: Callable[[str], bytes]) -> "list[Surface]":
    """The surfaces of a file, unchecked. Readers are imported here: most robots are simulated without meshes."""
    data, source = _content(path), str(path)
    match path.suffix.lower():
        case ".stl":
            from pliant.meshes.stl_obj import stl_surfaces

            return list(stl_surfaces(data, source))
        case ".obj":
            from pliant.meshes.stl_obj import obj_surfaces

            return list(obj_surfaces(data, source, content_of))
        case ".dae":
            from pliant.meshes.collada import collada_surfaces

            return list(collada_surfaces(data, source, content_of, MAX_BYTES))
    raise _error(path, "no reader for meshes of this kind", "there are .stl, .obj, .dae; convert it")


def _refuse(reference: str) -> bytes:
    """Points need no other files."""
    raise RobotError(f"{reference!r} is not read", subject=reference)


def _checked(points: np.ndarray, path: Path) -> np.ndarray:
    """The points of a file, if all of them can exist."""
    # NaN is not within either
    if not (np.abs(points) < FAR).all():
        problem = f"has a point that is infinite, not a number, or farther off than {FAR:g}"
        raise _error(path, problem, "export it again")
    return points


def _content(path: Path) -> bytes:
    """The bytes of a mesh file, or of one that it refers to."""
    try:
        if not path.is_file():
            raise _error(path, "it is not a file", "give the path of a mesh")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _error(path, f"it cannot be read: {error}", "check its name and permissions") from None
    if len(data) > MAX_BYTES:
        raise _error(path, f"it is larger than {MAX_BYTES // 1_000_000} MB", "simplify the mesh")
    return data


def _state(path: Path) -> tuple[int, int]:
    """When a file was written to, and its size."""
    try:
        found = path.stat()
    except OSError as error:
        raise _error(path, f"it cannot be read: {error}", "check its name and permissions") from None
    return found.st_mtime_ns, found.st_size


def _error(path: Path, problem: str, cure: str) -> RobotError:
    return RobotError(problem, subject=f"mesh {path.name!r}", cure=cure, place=Place(str(path)))
