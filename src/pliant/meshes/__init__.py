"""Mesh files: STL, OBJ and Collada, read as coloured triangles, and the few points that keep the outline of a mesh."""

from pliant.meshes.mesh_file import MeshFile, read_mesh, read_surfaces
from pliant.meshes.surfaces import Surface

__all__ = ["MeshFile", "Surface", "read_mesh", "read_surfaces"]
