"""Curricula: how hard the task of each robot is, by how it did in its last episode."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from pliant.chance import Chance
from pliant.checks import check, is_real, is_whole
from pliant.environment.now import Now
from pliant.scalar import Scalar, both, maximum, negation, select, sqrt
from pliant.terrain import Terrain


class Curriculum(ABC):
    """A level for each robot, which commands, events and terms see as ``now.level``.

    One of your own derives from this and has `next`.
    """

    @abstractmethod
    def next(self, now: Now, chance: Chance) -> Scalar:
        """The level of the next episode; ``now`` is the end of the last one, at level ``now.level``."""

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        return {"curriculum": repr(self)}


@dataclass(frozen=True)
class TerrainLevels(Curriculum):
    """Levels of a terrain: on to the next one after walking far, back after less than half of what was asked for.

    The rule of Isaac Lab [Rudin et al. 2021, 3.2]: a robot that ends its episode further from its start than
    ``distance`` is promoted. One that is nearer than half of its speed command times the length of an episode is
    demoted; so are those that fall early. Who passes the last level goes on at any, so that easy ones are not
    forgotten.

    Attributes:
        levels: how many there are.
        distance: that promotes [m], such as half a patch.
        timeout: length of an episode [s].
        command: name of the command of velocity.
    """

    levels: int
    distance: float
    timeout: float
    command: str = "velocity"

    def __post_init__(self) -> None:
        check("levels", self.levels, "1 or more", is_whole(self.levels) and self.levels > 0, subject="TerrainLevels")
        for name in ("distance", "timeout"):
            value = getattr(self, name)
            check(name, value, "a number above zero", is_real(value) and value > 0, subject="TerrainLevels")

    def next(self, now: Now, chance: Chance) -> Scalar:
        """The level of the next episode."""
        dx, dy = now.place.x - now.start[0], now.place.y - now.start[1]
        walked = sqrt(dx * dx + dy * dy)
        x, y = now.command(self.command)[:2]
        is_promoted = walked > self.distance
        is_demoted = both(negation(is_promoted), walked < 0.5 * self.timeout * sqrt(x * x + y * y))
        level = now.level + select(is_promoted, 1, 0) - select(is_demoted, 1, 0)
        level = select(level < self.levels, level, chance.whole(self.levels))
        # before the first episode nothing has been walked
        return select(now.t > 0, maximum(level, 0), now.level)


@dataclass(frozen=True, repr=False)
class PatchPlace:
    """A place on the platform of a patch of terrain, for ``place`` of `events.start_state`; any column is as likely.

    Attributes:
        terrain: a grid of patches.
        any_level: whether the level is drawn, in place of that of the curriculum.
        spread: how far from the middle of the platform at most, along x and y [m].
    """

    terrain: Terrain
    any_level: bool = False
    spread: float = 0.2

    def __call__(self, now: Now, chance: Chance) -> tuple[Scalar, Scalar]:
        """Along x and y [m]."""
        levels, columns = self.terrain.origins.shape[:2]
        level = chance.whole(levels) if self.any_level else now.level
        column = chance.whole(columns)
        x, y = self.terrain.origins[0, 0, :2].tolist()
        size = self.terrain.size
        dx, dy = chance.uniform(-self.spread, self.spread), chance.uniform(-self.spread, self.spread)
        return x + size * level + dx, y + size * column + dy

    def __repr__(self) -> str:
        return f"PatchPlace({self.terrain!r}, any_level={self.any_level}, spread={self.spread:g})"
