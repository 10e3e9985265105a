"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

Public names of all layers are gathered here. Big libraries are imported where they are used, so that
``import pliant`` stays cheap.
"""

from pliant.errors import KernelError, PliantError, RobotError, TraceError
from pliant.formats import from_pinocchio, load, load_urdf, robots
from pliant.robot import Robot, RobotBuilder

__version__ = "0.1.0"

__all__ = [
    "KernelError", "PliantError", "Robot", "RobotBuilder", "RobotError", "TraceError", "__version__",
    "from_pinocchio", "load", "load_urdf", "robots",
]  # fmt: skip
