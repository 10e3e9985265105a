"""Robots by name: shipped ones, those of example-robot-data, and files; with the poses in which they stand."""

from pliant.catalogue.hoppers import hopper, hopper_flight
from pliant.catalogue.library import KnownRobot, find, load, read_side_file, robots

__all__ = ["KnownRobot", "find", "hopper", "hopper_flight", "load", "read_side_file", "robots"]
