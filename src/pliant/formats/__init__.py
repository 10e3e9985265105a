"""Robots from files and other libraries: everything goes through `RobotBuilder`, and nothing else parses."""

from pliant.formats.library import load, robots
from pliant.formats.meshes import MeshFile, read_mesh
from pliant.formats.pinocchio import from_pinocchio
from pliant.formats.urdf import load_urdf

__all__ = ["MeshFile", "from_pinocchio", "load", "load_urdf", "read_mesh", "robots"]
