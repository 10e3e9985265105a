"""The curves of a plot: columns of a log by name, with units, and in groups that fit into one small plot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import check
from pliant.errors import PliantError, bad_value, unknown_name
from pliant.recording.log import Log
from pliant.robot import Robot
from pliant.robot.joints import Prismatic

MOST = 8
"""Most columns of a group: as many as there are colors."""

_FIXED_UNITS = {"forces": "N", "impulses": "N s", "energy": "J", "power": "W", "mode": "", "divergence": "", "t": "s"}
# units along a joint: (rotation, translation)
_POSITION, _RATE, _EFFORT = ("rad", "m"), ("rad/s", "m/s"), ("N m", "N")
_JOINT_UNITS = {
    **dict.fromkeys(("q", "motor_position", "link_position", "deflection"), _POSITION),
    **dict.fromkeys(("v", "motor_velocity", "link_velocity", "deflection_rate"), _RATE),
    **dict.fromkeys(("tau", "spring_force", "motors.friction"), _EFFORT),
}
_MOTOR_UNITS = {"motors.current": "A", "motors.temperature": "°C"}
_PLOTTED = ("q", "tau", "u", "forces", "energy")


@dataclass(frozen=True)
class Curve:
    """One column over time: its name in the legend, its values (steps,) or (batch, steps), and its unit, or ""."""

    name: str
    values: np.ndarray
    unit: str


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis, its label with the unit, and how many curves are left out."""

    label: str
    curves: tuple[Curve, ...]
    left_out: int = 0


def default_channels(log: Log) -> list[str]:
    """The channels that `Log.plot` draws by default."""
    filled = {name.partition(".")[0] for name in log if log[name].shape[-1:] != (0,)}
    return [name for name in _PLOTTED if name in filled] or list(log)[:4]


def panels_of(log: Log, specs: Iterable[Any], most: int) -> list[Panel]:
    """Panels for channels and columns by name, one for each unit.

    Args:
        specs: "q" (all columns), "q.knee" or ("q", "knee") (one), ("q", ["hip", "knee"]), "forces.foot" (all columns
            that begin with "foot."), "energy" (all channels that begin with "energy.").
        most: curves in a panel.
    """
    panels = []
    for spec in specs:
        label, curves = _curves(log, spec)
        by_unit: dict[str, list[Curve]] = {}
        for curve in curves:
            by_unit.setdefault(curve.unit, []).append(curve)
        for unit, group in by_unit.items():
            name = label
            if len(group) == 1:
                name = group[0].name if len(curves) == 1 else f"{label} {group[0].name}"
            shown = f"{name} [{unit}]" if unit else name
            kept = _busiest(group, most)
            panels.append(Panel(shown, tuple(kept), len(group) - len(kept)))
    return panels


def _busiest(curves: list[Curve], most: int) -> list[Curve]:
    """At most ``most``, those that differ most from zero; of more than four, none that is always zero."""
    reach = [float(np.nanmax(abs(curve.values), initial=0)) for curve in curves]
    kept = [k for k, r in enumerate(reach) if r > 0 or len(curves) <= 4] or [0]
    kept = sorted(sorted(kept, key=lambda k: -reach[k])[:most])
    return [curves[k] for k in kept]


def _curves(log: Log, spec: Any) -> tuple[str, list[Curve]]:
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], str):
        channel, columns = spec
        names = [columns] if isinstance(columns, str) else list(columns)
        check("columns", columns, "one name or several", bool(names), subject=f"channel {channel!r}", error=PliantError)
        if len(names) == 1:
            return _curves(log, f"{channel}.{names[0]}")
        return channel, [curve for name in names for curve in _curves(log, f"{channel}.{name}")[1]]
    if not isinstance(spec, str):
        takes = "names, 'q' for a channel, 'q.knee' or ('q', 'knee') for a column"
        raise PliantError(bad_value("channels", spec, takes))
    robot, lead = None if log.source is None else log.source.robot, 1 if log.batch is None else 2
    found: dict[str, tuple[str, Curve]] = {}
    for channel in [spec] if spec in log else log:
        array = log[channel].reshape(*log[channel].shape[:lead], -1)
        numbers = tuple(map(str, range(array.shape[-1])))
        for k, column in enumerate(log.columns.get(channel) or (("",) if log[channel].ndim == lead else numbers)):
            name = f"{channel}.{column}" if column else channel
            if name == spec or name.startswith(f"{spec}."):
                shown = column or name.removeprefix(f"{spec}.")
                found[name] = channel, Curve(shown, array[..., k], unit_of(channel, column, robot))
    if spec in found:
        channel, curve = found[spec]
        return channel, [curve]
    if found:
        (channel, _), *others = found.values()
        return spec if others else channel, [curve for _, curve in found.values()]
    if spec in log:
        raise PliantError(f"plot: channel {spec!r} of the log has no columns", subject=f"channel {spec!r}")
    for channel, names in log.columns.items():
        if spec.startswith(f"{channel}."):
            starts = dict.fromkeys(n.rpartition(".")[0] for n in names if "." in n)
            wanted = spec.removeprefix(f"{channel}.")
            raise PliantError(unknown_name("column", wanted, [*names, *starts], f"channel {channel!r} of the log"))
    groups = dict.fromkeys(name.partition(".")[0] for name in log if "." in name)
    columns = (f"{c}.{n}" for c, names in log.columns.items() for n in names)
    raise PliantError(unknown_name("channel", spec, [*log, *groups, *columns], "the log"))


def unit_of(channel: str, column: str, robot: Robot | None) -> str:
    """The unit of a column, "" where there is none or it is unknown."""
    group = channel.partition(".")[0]
    if group in _FIXED_UNITS:
        return _FIXED_UNITS[group]
    if channel in _MOTOR_UNITS:
        return _MOTOR_UNITS[channel]
    kinds = _JOINT_UNITS.get(channel)
    if kinds is None and channel in ("u", "motors.command") and robot is not None and column in robot.motors:
        motor = robot.motors[column]
        control: Mapping[str, tuple[str, str]] = {"torque": _EFFORT, "position": _POSITION, "velocity": _RATE,
                                                    "voltage": ("V", "V")}  # fmt: skip
        kinds = control.get(motor.control) if motor.law is None else None
    if kinds is None or robot is None:
        return ""
    joint = robot.motors[column].joint if column in robot.motors else column
    if joint in robot.joints:
        return kinds[isinstance(robot.joints[joint].kind, Prismatic)]
    # an entry of a joint with several
    part = _PARTS.get(column.rpartition(".")[2], "")
    return "" if channel == "q" and part == "orientation" else kinds[part in ("position", "velocity")]


# ---- groups

# names of the parts of joints with several coordinates, by the last label
_PARTS = {
    **dict.fromkeys(("x", "y", "z"), "position"),
    **dict.fromkeys(("qx", "qy", "qz", "qw", "cos", "sin"), "orientation"),
    **dict.fromkeys(("vx", "vy", "vz"), "velocity"),
    **dict.fromkeys(("wx", "wy", "wz"), "turning"),
}


@dataclass(frozen=True)
class Group:
    """Columns of a channel that one small plot shows: of one unit, of one thing, and at most `MOST`.

    Attributes:
        channel: of the log.
        label: "q" for the whole channel, or "q: joints 1-8".
        unit: of all its columns, "" for none.
        columns: their names, without the channel's.
        entries: their places among the channel's columns.
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
        """The name of a column in `Log.to_dict`."""
        return f"{self.channel}.{column}" if column else self.channel


def column_groups(channel: str, columns: Sequence[str], robot: Robot | None) -> list[Group]:
    """All columns of a channel in groups: base position, base orientation, joints 1-8, ...; forces by contact.

    Args:
        columns: names, without the channel's; "" for a channel with one.
        robot: with the joints, for units; None if unknown.
    """
    parts: dict[tuple[str, str], list[int]] = {}
    for k, column in enumerate(columns):
        parts.setdefault((_part(channel, column), unit_of(channel, column, robot)), []).append(k)
    names = [part for part, _ in parts]
    found = []
    for (part, unit), entries in parts.items():
        # revolute and prismatic joints have a plot each
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
    """All channels of a log of one robot, in groups; "energy.kinetic" and others are columns of "energy"."""
    robot = None if log.source is None else log.source.robot
    columns: dict[str, list[str]] = {}
    for name in log.to_dict():
        if name != "t":
            channel, _, column = name.partition(".")
            columns.setdefault(channel, []).append(column)
    return [group for channel, own in columns.items() for group in column_groups(channel, own, robot)]


def matching(groups: Iterable[Group], name: str) -> list[Group]:
    """The groups of a channel, such as "q", or with a column, such as "q.knee"."""
    return [g for g in groups if name in (g.channel, g.label, *map(g.flat_name, g.columns))]


def _part(channel: str, column: str) -> str:
    head, dot, tail = column.rpartition(".")
    if channel in ("forces", "impulses"):
        return head
    if dot and tail in _PARTS:
        return f"{head} {_PARTS[tail]}"
    return "joints" if channel in ("q", "v") else ""
