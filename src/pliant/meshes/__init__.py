"""Mesh files: STL, OBJ and Collada, read as points and as coloured faces, from untrusted files."""

from pliant.meshes.points import MeshFile, read_mesh

__all__ = ["MeshFile", "read_mesh"]
