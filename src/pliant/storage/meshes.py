"""Meshes in logs: triangles and colours, so that a robot can be drawn where its mesh files are missing."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, RobotError
from pliant.meshes.mesh_file import FAR
from pliant.meshes.surfaces import Surface, distinct_rows

__all__ = ["StoredMesh", "checked_surface", "stored_surfaces"]


class StoredMesh:
    """A mesh that came with a log; a `MeshSource` as `pliant.meshes.MeshFile` is one.

    Attributes:
        parts: triangles by colour.
    """

    def __init__(self, parts: Iterable[Surface]):
        self.parts = tuple(parts)

    def points(self, packages: Iterable[str | Path] = ()) -> np.ndarray:
        """Its points (n, 3), before scaling [m]."""
        return np.concatenate([part.points for part in self.parts])

    def surfaces(self, packages: Iterable[str | Path] = ()) -> tuple[Surface, ...]:
        """Its faces by colour."""
        return self.parts

    def __repr__(self) -> str:
        return f"StoredMesh of {sum(len(part.faces) for part in self.parts)} triangles"


def stored_surfaces(mesh: Any) -> tuple[Surface, ...]:
    """The triangles of a mesh with each point once, in single precision where that is exact."""
    if not hasattr(mesh, "surfaces"):
        raise RobotError(f"{mesh!r} has points only", subject="mesh", cure="it takes one with faces")
    found = mesh.surfaces()
    if not found:
        raise RobotError(f"{mesh!r} has no faces", subject="mesh")
    return tuple(_compact(surface) for surface in found)


def _compact(surface: Surface) -> Surface:
    faces = np.asarray(surface.faces)
    used, faces = np.unique(faces, return_inverse=True)
    points = np.asarray(surface.points, dtype=float)[used]
    first, inverse = distinct_rows(points)
    points = points[first]
    single = points.astype(np.float32)
    kept = single if (single == points).all() else points
    shape = np.asarray(surface.faces).shape
    return Surface(kept, inverse[faces.reshape(-1)].reshape(shape).astype(np.uint32), surface.color)


def checked_surface(points: np.ndarray, faces: np.ndarray, color: Any, where: str) -> Surface:
    """A surface of arrays from an untrusted file."""
    if points.ndim != 2 or points.shape[1:] != (3,) or points.dtype.kind != "f" or not len(points):
        raise PliantError(f"{where}: points of shape {points.shape} are not (n, 3)", subject=where, field="points")
    if faces.ndim != 2 or faces.shape[1:] != (3,) or faces.dtype.kind not in "ui":
        raise PliantError(f"{where}: faces of shape {faces.shape} are not (m, 3)", subject=where, field="faces")
    # NaN is not within either
    if not (np.abs(points) < FAR).all() or (len(faces) and not 0 <= faces.min() <= faces.max() < len(points)):
        problem = f"{where}: a point is not finite or too far away, or a face has a corner that does not exist"
        raise PliantError(problem, subject=where, field="points")
    rgba = None
    if color is not None:
        r, g, b, a = (min(1.0, max(0.0, float(x))) for x in color)
        rgba = (r, g, b, a)
    return Surface(points.astype(float), faces.astype(np.int64), rgba)
