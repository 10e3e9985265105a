"""Meshes in memory: those that came with a log, or that a robot file holds itself or has compiled."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pliant.meshes.surfaces import Surface


class StoredMesh:
    """A mesh in memory, in parts by colour; a `MeshSource` as `pliant.meshes.MeshFile` is one."""

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
