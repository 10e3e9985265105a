"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

Public names of all layers are gathered here. Big libraries are imported where they are used, so that
``import pliant`` stays cheap.
"""

from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
from pliant.dynamics import *  # noqa: F403
from pliant.dynamics import __all__ as _dynamics
from pliant.errors import KernelError, PliantError, RobotError, TraceError
from pliant.formats import from_pinocchio, load, load_urdf, robots
from pliant.robot import Robot, RobotBuilder
from pliant.scalar import (
    abs, acos, asin, atan2, both, cos, either, equal, exp, floor, log, maximum, minimum, negation, select, sin,
    sqrt, tan,
)  # fmt: skip

__version__ = "0.1.0"

__all__ = [
    "Block", "Kernel", "KernelError", "Loop", "PliantError", "Program", "Robot", "RobotBuilder", "RobotError",
    "TraceError", "__version__", "abs", "acos", "asin", "atan2", "both", "cos", "either", "equal", "exp", "floor",
    "from_pinocchio", "kernel_from_function", "load", "load_urdf", "log", "maximum", "minimum", "negation",
    "robots", "select", "sin", "sqrt", "tan", *_dynamics,
]  # fmt: skip
