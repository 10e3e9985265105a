"""Robots by name: shipped ones, those of example-robot-data, and files; with the poses in which they stand."""

from pliant.catalogue.hoppers import hopper, hopper_flight
from pliant.catalogue.library import KnownRobot, find, load, robots
from pliant.catalogue.side_file import read_side_file

__all__ = ["KnownRobot", "find", "hopper", "hopper_flight", "load", "read_side_file", "robots"]
