"""Many patches in one height map: kinds side by side, each harder from level to level, with a start in every patch."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.chance import check_seed, derived_seed
from pliant.checks import check, check_at_least, check_known, function_name, is_real, is_whole, numbers
from pliant.contact.ground import Ground
from pliant.errors import ContactError, PliantError, bad_value
from pliant.robot import Robot
from pliant.signatures import explained
from pliant.terrain import features
from pliant.terrain.height_field import HeightField, check_count, half_side, rings
from pliant.terrain.roughness import perlin, rough

GENERATORS: Mapping[str, Callable[..., HeightField]] = MappingProxyType({
    f.__name__: f for f in (
        features.flat, features.slope, features.waves, features.pyramid, features.steps, features.gaps, features.tiles,
        features.stepping_stones, features.obstacles, rough, perlin,
    )
})  # fmt: skip
"""Generators by name."""

_OWN = ("size", "spacing", "seed")


@explained
class Kind:
    """A kind of terrain, from easy to hard: a generator and its numbers.

        Kind("steps", rise=(0.02, 0.2), run=0.3) + Kind("rough", rms=0.01)

    A pair of numbers is the value at difficulty 0 and at difficulty 1, with a straight line between them. Kinds add up.

    Args:
        generator: name of a function of `pliant.terrain`, or a function of your own that takes ``size`` and
            ``spacing``, and ``seed`` if it has chance, as keywords and returns a `HeightField`.
        columns: how many columns of a grid it gets.
        numbers: arguments of the generator.
    """

    def __init__(self, generator: str | Callable[..., HeightField], *, columns: int = 1, **numbers: Any):
        if isinstance(generator, str):
            check_known("generator", generator, GENERATORS, "terrain", error=ContactError)
            generator = GENERATORS[generator]
        self.name = function_name(generator)
        is_right = is_whole(columns) and columns > 0
        check("columns", columns, "1 or more", is_right, subject=f"kind {self.name!r}", error=ContactError)
        self.columns = int(columns)
        self._parts = ((generator, _checked_numbers(self.name, generator, numbers)),)

    def __add__(self, other: "Kind") -> "Kind":
        if not isinstance(other, Kind):
            return NotImplemented
        made = object.__new__(Kind)
        made.name, made.columns = f"{self.name} + {other.name}", max(self.columns, other.columns)
        made._parts = self._parts + other._parts
        return made

    def patch(
        self, difficulty: float, *, size: float, spacing: float, platform: float = 1, seed: int = 0
    ) -> HeightField:
        """The terrain at a difficulty, 0 to 1; generators with a platform have this one, unless they have their own."""
        check_at_least("difficulty", difficulty, 0, subject=f"kind {self.name!r}")
        parts = []
        for k, (generator, values) in enumerate(self._parts):
            chosen = {name: _at(value, difficulty) for name, value in values.items()}
            for name, value in (("seed", derived_seed(seed, "part", k)), ("platform", platform)):
                if name in _keywords(generator):
                    chosen.setdefault(name, value)
            made = generator(size=size, spacing=spacing, **chosen)
            if not isinstance(made, HeightField):
                raise ContactError(bad_value("what the generator returns", made, "a HeightField", self.name))
            parts.append(made)
        return reduce(add, parts)

    def __repr__(self) -> str:
        return f"Kind: {self.name}" + (f", {self.columns} columns" if self.columns > 1 else "")


def _at(value: Any, difficulty: float) -> Any:
    return value[0] + (value[1] - value[0]) * difficulty if isinstance(value, tuple) else value


def _keywords(generator: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(generator).parameters)


def _checked_numbers(name: str, generator: Callable[..., Any], numbers: Mapping[str, Any]) -> dict[str, Any]:
    subject = f"kind {name!r}"
    valid = [word for word in _keywords(generator) if word not in _OWN]
    found = {}
    for word, value in numbers.items():
        check_known("number", word, valid, subject, error=ContactError)
        if isinstance(value, tuple | list):
            is_right = len(value) == 2 and all(map(is_real, value))
            takes = "a number, or a pair of numbers, at difficulty 0 and 1"
            check(word, value, takes, is_right, subject=subject, error=ContactError)
            value = tuple(map(float, value))
        found[word] = value
    try:
        inspect.signature(generator).bind(**found, **{word: 0 for word in _OWN if word in _keywords(generator)})
    except TypeError as error:
        cure = f"it takes {', '.join(valid)}"
        raise ContactError(f"{subject}: {error}", subject=subject, field="numbers", cure=cure) from None
    return found


@explained
@dataclass(frozen=True, eq=False)
class Terrain:
    """Patches of terrain in one height map; see `grid`.

    Levels follow each other along x, from easy to hard; columns along y. The middle of the map is at the origin.

    Attributes:
        field: heights of the whole map.
        columns: name of the kind in each column.
        difficulties: of each level, 0 to 1.
        size: of a patch [m].
        origins: x, y and z of the middle of every patch, (levels, columns, 3) [m]: a level platform.
        friction, restitution: of the ground.
    """

    field: HeightField
    columns: tuple[str, ...]
    difficulties: tuple[float, ...]
    size: float
    origins: np.ndarray
    friction: float | None = None
    restitution: float | None = None

    @property
    def levels(self) -> int:
        """How many there are."""
        return len(self.difficulties)

    @cached_property
    def ground(self) -> Ground:
        """The ground, made once."""
        return self.field.ground(friction=self.friction, restitution=self.restitution)

    @explained
    def columns_of(self, kind: str) -> list[int]:
        """The columns of a kind."""
        check_known("kind", kind, dict.fromkeys(self.columns), "the terrain", error=ContactError)
        return [k for k, name in enumerate(self.columns) if name == kind]

    @explained
    def patch_at(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Level and column of the patch at places in the world [m]; -1 and -1 off all patches."""
        first = self.origins[0, 0] - self.size / 2
        places = [numbers(name, c, error=ContactError) for name, c in (("x", x), ("y", y))]
        try:
            places = np.broadcast_arrays(*places)
        except ValueError:
            shapes = " and ".join(str(c.shape) for c in places)
            raise ContactError(f"x and y of places have shapes {shapes}", subject="terrain", field="y") from None
        found = [np.floor((c - c0) / self.size) for c, c0 in zip(places, first, strict=False)]
        counts = self.levels, len(self.columns)
        # NaN is not within
        inside = np.logical_and.reduce([(k >= 0) & (k < n) for k, n in zip(found, counts, strict=True)])
        level, column = (np.where(inside, k, -1).astype(int) for k in found)
        return level, column

    @explained
    def placed(self, robot: Robot, q: Any, level: Any, column: Any) -> np.ndarray:
        """Configurations with the base on the platforms of patches, just touching.

        The place of the base in ``q`` counts from the middle of the patch. Robots are placed as by `Robot.on_ground`,
        also off the platform.

        Args:
            robot: with a free base.
            q: one configuration for all, or one for each robot.
            level, column: of each robot: numbers or arrays of them, which broadcast; a column may be the name of a
                kind, which is its first one.

        Returns:
            One configuration if everything is of one robot, else (batch, nq).
        """
        column = self.columns_of(column)[0] if isinstance(column, str) else column
        lead = np.shape(q)[:-1]
        try:
            level, column = (
                _numbers(name, value, n)
                for name, value, n in (("level", level, self.levels), ("column", column, len(self.columns)))
            )
            shape = np.broadcast_shapes(lead, level.shape, column.shape)
        except ValueError:
            given = f"q of shape {np.shape(q)}, level {np.shape(level)}, column {np.shape(column)}"
            raise ContactError(
                f"placed: {given} do not fit", subject="placed", field="level", cure="give one or one for each robot"
            ) from None
        own = np.asarray(q, dtype=float)
        free = next((j for j in robot.joints.values() if j.kind.name == "free" and j.parent == "world"), None)
        check("q", np.shape(own), f"{robot.nq} numbers, or rows of as many", own.shape[-1:] == (robot.nq,),
              subject="placed", error=ContactError)  # fmt: skip
        moved = np.array(np.broadcast_to(own, (*shape, robot.nq)))
        if free is not None:
            start = robot.q_slice(free.name).start
            moved[..., start : start + 2] += np.broadcast_to(self.origins[level, column, :2], (*shape, 2))
        return robot.on_ground(moved, self.ground)

    def __repr__(self) -> str:
        (n, m), kinds = self.field.heights.shape, list(dict.fromkeys(self.columns))
        shape = f"{self.levels} x {len(self.columns)} patches of {self.size:g} m"
        return f"Terrain: {shape}, {n} x {m} points, kinds {', '.join(kinds)}"


def _numbers(name: str, value: Any, n: int) -> np.ndarray:
    found = np.asarray(value)
    is_right = found.dtype.kind in "iu" and (found.size == 0 or (found.min() >= 0 and found.max() < n))
    check(name, value, f"whole numbers from 0 to {n - 1}", is_right, subject="placed", error=ContactError)
    return found


@explained
def grid(
    kinds: Mapping[str, Kind], *, levels: int = 10, size: float = features.SIZE, spacing: float = features.SPACING,
    platform: float = 1, border: float = 1, seed: int = 0, friction: float | None = None,
    restitution: float | None = None,
) -> Terrain:  # fmt: skip
    """Patches in a grid: a column or more for each kind, and a row for each level of difficulty.

        terrain.grid({"steps": Kind("steps", rise=(0.02, 0.2), run=0.3), "hills": Kind("rough", rms=(0, 0.1))})

    Level k of n has the difficulty k / (n - 1). Each patch has points of its own; from one to the next the heights pass
    over within a cell. What a patch is depends on the seed, on the name of its kind, on its level, and on its number
    among the columns of the kind: not on other kinds, nor on other levels if their difficulties stay.

    Args:
        kinds: by names of your choice, in the order of the columns.
        levels: how many; a single one has the difficulty 1.
        size: of a patch, and from one to the next [m].
        spacing: between points of the map [m]. Best at least twice the radius of the feet: then a foot meets 2 x 2
            cells, and steps are cheap.
        platform: side of the level square in the middle of every patch, on which robots start [m].
        border: width of level ground at height zero around all patches [m], which goes on without end.
        seed: of all patches.
        friction, restitution: of the ground.
    """
    is_right = isinstance(kinds, Mapping) and bool(kinds) and all(isinstance(k, Kind) for k in kinds.values())
    check("kinds", kinds, "a mapping of names to Kind(...), one or more", is_right, subject="grid", error=ContactError)
    check("levels", levels, "1 or more", is_whole(levels) and levels > 0, subject="grid", error=ContactError)
    check_at_least("spacing", spacing, 0, strict=True, subject="grid")
    check_at_least("size", size, 2 * spacing, subject="grid")
    check_at_least("platform", platform, spacing, subject="grid")
    check("platform", platform, f"less than the size of a patch, {float(size):g} m", platform < size, subject="grid",
          error=ContactError)  # fmt: skip
    check_at_least("border", border, 0, subject="grid")
    check_seed(seed, subject="grid", error=ContactError)
    columns = [(name, number) for name, kind in kinds.items() for number in range(kind.columns)]
    n = round(size / spacing)
    shape = levels * n, len(columns) * n
    rim = 2 * round(border / spacing)
    check_count([k + rim for k in shape], spacing, "grid")
    difficulties = tuple(k / (levels - 1) if levels > 1 else 1.0 for k in range(levels))
    heights = np.empty(shape)
    tops = np.empty((levels, len(columns)))
    inside = rings((n, n)) <= half_side(platform, (n, n), spacing)
    for level, difficulty in enumerate(difficulties):
        for column, (name, number) in enumerate(columns):
            try:
                own = derived_seed(seed, name, level, number)
                patch = kinds[name].patch(
                    difficulty, size=(n - 1) * spacing, spacing=spacing, platform=platform, seed=own
                )
            except PliantError as error:
                raise error.within(f"kind {name!r} at difficulty {difficulty:.2g}") from None
            if patch.heights.shape != (n, n):
                problem = f"kind {name!r} has patches of {patch.heights.shape} points"
                cure = f"its generator must return {n} x {n}, as size and spacing ask for"
                raise ContactError(problem, subject=f"kind {name!r}", field="size", cure=cure)
            patch = patch.with_platform(platform)
            heights[level * n : (level + 1) * n, column * n : (column + 1) * n] = patch.heights
            tops[level, column] = patch.heights[inside].max()
    made = HeightField(heights, spacing)
    places = [(np.arange(count) - (count - 1) / 2) * n * spacing for count in tops.shape]
    origins = np.stack([*np.meshgrid(*places, indexing="ij"), tops], axis=-1)
    origins.setflags(write=False)
    names = tuple(name for name, _ in columns)
    bordered = made.with_border(border) if rim else made
    return Terrain(bordered, names, difficulties, n * spacing, origins, friction, restitution)
