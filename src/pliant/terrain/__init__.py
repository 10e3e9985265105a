"""Terrain: height fields from generators and files, and many patches in one map, each with a robot's start."""

from pliant.terrain.features import (
    flat, gaps, obstacles, pyramid, slope, stepping_stones, steps, tiles, waves,
)  # fmt: skip
from pliant.terrain.files import load_heights, load_terrain
from pliant.terrain.height_field import HeightField, highest, lowest, merged
from pliant.terrain.patches import GENERATORS, Kind, Terrain, grid
from pliant.terrain.roughness import Spectrum, fourier, fourier_ground, perlin, rough

__all__ = [
    "GENERATORS", "HeightField", "Kind", "Spectrum", "Terrain", "flat", "fourier", "fourier_ground", "gaps", "grid",
    "highest", "load_heights", "load_terrain", "lowest", "merged", "obstacles", "perlin", "pyramid", "rough", "slope",
    "stepping_stones", "steps", "tiles", "waves",
]  # fmt: skip
