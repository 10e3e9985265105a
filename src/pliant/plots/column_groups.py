"""Columns of a channel in groups that one small plot can show: of one unit, of one thing, and not too many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pliant.plots.lines import unit_of
from pliant.recording.log import Log
from pliant.robot import Robot

__all__ = ["MOST", "Group", "column_groups", "log_groups", "matching"]

MOST = 8
"""Columns of a group, at most: as many as there are colors."""

# what the entries of a joint with several are, by their last label
_PARTS = {
    **dict.fromkeys(("x", "y", "z"), "position"),
    **dict.fromkeys(("qx", "qy", "qz", "qw", "cos", "sin"), "orientation"),
    **dict.fromkeys(("vx", "vy", "vz"), "velocity"),
    **dict.fromkeys(("wx", "wy", "wz"), "turning"),
}


@dataclass(frozen=True)
class Group:
    """Some columns of a channel.

    Attributes:
        channel: of the log.
        label: "q", where it is all of it, or "q: joints 1-8".
        unit: of all its columns, "" for none.
        columns: their names, without the channel's.
        entries: where they are among the channel's columns.
    """

    channel: str
    label: str
    unit: str
    columns: tuple[str, ...]
    entries: tuple[int, ...]

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label

    def flat_name(self, column: str) -> str:
        """What `Log.to_dict` calls a column."""
        return f"{self.channel}.{column}" if column else self.channel


def column_groups(channel: str, columns: Sequence[str], robot: Robot | None) -> list[Group]:
    """All columns of a channel in groups: base position, base orientation, joints 1-8, ...; forces by contact.

    Args:
        columns: names, without the channel's; "" for a channel that has but one.
        robot: whose joints they are of, for units; None if nobody knows.
    """
    parts: dict[tuple[str, str], list[int]] = {}
    for k, column in enumerate(columns):
        parts.setdefault((_part(channel, column), unit_of(channel, column, robot)), []).append(k)
    names = [part for part, _ in parts]
    found = []
    for (part, unit), entries in parts.items():
        # joints that turn and joints that slide have a plot each
        name = f"{part} in {unit}" if names.count(part) > 1 and unit else part
        for first in range(0, len(entries), MOST):
            some = entries[first : first + MOST]
            count = f"{first + 1}-{first + len(some)}" if len(entries) > MOST else ""
            label = " ".join(word for word in (name, count) if word)
            whole = len(some) == len(columns) or not label
            own = tuple(columns[k] for k in some)
            found.append(Group(channel, channel if whole else f"{channel}: {label}", unit, own, tuple(some)))
    return found


def log_groups(log: Log) -> list[Group]:
    """All channels of a log of one robot, in groups; "energy.kinetic" and its like are columns of "energy"."""
    robot = None if log.source is None else log.source.robot
    columns: dict[str, list[str]] = {}
    for name in log.to_dict():
        if name != "t":
            channel, _, column = name.partition(".")
            columns.setdefault(channel, []).append(column)
    return [group for channel, own in columns.items() for group in column_groups(channel, own, robot)]


def matching(groups: Iterable[Group], name: str) -> list[Group]:
    """Those of a channel, or that have a column, as "q" or "q.knee"."""
    return [g for g in groups if name in (g.channel, g.label, *map(g.flat_name, g.columns))]


def _part(channel: str, column: str) -> str:
    head, dot, tail = column.rpartition(".")
    if channel in ("forces", "impulses"):
        return head
    if dot and tail in _PARTS:
        return f"{head} {_PARTS[tail]}"
    return "joints" if channel in ("q", "v") else ""
