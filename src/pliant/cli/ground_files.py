"""Grounds from files, as the command line names them: "terrain.toml=LEVEL,COLUMN", "hills.png=SPACING,HEIGHT"."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.cli.settings import Settings, numbers
from pliant.errors import PliantError, bad_value
from pliant.terrain.files import IMAGES, TABLES, load_heights, load_terrain
from pliant.terrain.patches import Terrain


class GroundFile(NamedTuple):
    """A ground from a file, and where robots start on it: x and y of the first, the second and so on, (n, 2) [m]."""

    ground: Any
    starts: np.ndarray


def ground_file(given: str, settings: Settings) -> GroundFile | None:
    """The ground of a file; None for words that name none."""
    name, sign, rest = (part.strip() for part in given.partition("="))
    suffix = Path(name).suffix.lower()
    if suffix not in (*IMAGES, *TABLES, ".toml"):
        return None
    try:
        values = list(numbers(name, rest)) if sign else []
        if suffix == ".toml":
            terrain = load_terrain(name)
            return GroundFile(terrain.ground, _starts(terrain, name, values))
        if not 1 <= len(values) <= 2:
            cure = f"it takes {name}=SPACING[,HEIGHT]: metres between points, and metres for white or for 1"
            raise PliantError(f"{name} has {len(values)} numbers", subject=name, field="spacing", cure=cure)
        field = load_heights(name, spacing=values[0], **({"height": values[1]} if len(values) > 1 else {}))
        return GroundFile(field.ground(), np.zeros((1, 2)))
    except PliantError as error:
        raise settings.blamed(error, "ground") from None


def _starts(terrain: Terrain, name: str, values: list[float]) -> np.ndarray:
    """The middles of all patches, level by level, or of those of a level, or of one."""
    chosen = terrain.origins[..., :2]
    if len(values) > 2:
        cure = f"it takes {name}[=LEVEL[,COLUMN]]"
        raise PliantError(f"{name} has {len(values)} numbers", subject=name, field="level", cure=cure)
    for what, value, count in zip(("level", "column"), values, chosen.shape, strict=False):
        if value != int(value) or not 0 <= value < count:
            raise PliantError(bad_value(what, f"{value:g}", f"a whole number from 0 to {count - 1}", name))
    return chosen[tuple(int(value) for value in values)].reshape(-1, 2)
