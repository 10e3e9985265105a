"""Robots by name: shipped ones, those of example-robot-data, and files; with the poses in which they stand."""

from pliant.catalogue.hopper import hopper
from pliant.catalogue.hopper_flight import hopper_flight
from pliant.catalogue.library import load, robots
from pliant.catalogue.side_file import read_side_file

__all__ = ["hopper", "hopper_flight", "load", "read_side_file", "robots"]
