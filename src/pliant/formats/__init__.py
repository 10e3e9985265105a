"""Robots from files, tables and other libraries: everything goes through `RobotBuilder`, and nothing else parses."""

from pliant.formats.dh import DHRow, DHTable, from_dh
from pliant.formats.dh_export import to_dh
from pliant.formats.exported import Exported
from pliant.formats.mjcf import MjcfRobot, load_mjcf, read_mjcf
from pliant.formats.mjcf_compiler import CompilerProcess
from pliant.formats.pinocchio import from_pinocchio
from pliant.formats.pinocchio_export import PinocchioExport
from pliant.formats.pinocchio_layout import PinocchioLayout
from pliant.formats.sdf import load_sdf
from pliant.formats.urdf import load_urdf

__all__ = [
    "CompilerProcess", "DHRow", "DHTable", "Exported", "MjcfRobot", "PinocchioExport", "PinocchioLayout", "from_dh",
    "from_pinocchio", "load_mjcf", "load_sdf", "load_urdf", "read_mjcf", "to_dh",
]  # fmt: skip
