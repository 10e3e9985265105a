"""Curricula: how hard the task of each robot is, by how it did in its last episode."""

from typing import Any

from pliant.chance import Chance
from pliant.environment.now import Now
from pliant.scalar import Scalar


class Curriculum:
    """A level for each robot, which commands, events and terms see as ``now.level``.

    One of your own derives from this and has `next`.
    """

    def next(self, now: Now, chance: Chance) -> Scalar:
        """The level of the next episode; ``now`` is the end of the last one, at level ``now.level``."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        return {"curriculum": repr(self)}
