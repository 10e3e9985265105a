"""Which lines a plot has: channels, columns and groups of a log, with their units."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.recording.log import Log
from pliant.robot import Robot
from pliant.robot.joints import Prismatic

__all__ = ["Line", "Panel", "default_channels", "panels_of", "unit_of"]

_FIXED_UNITS = {"forces": "N", "impulses": "N s", "energy": "J", "power": "W", "mode": "", "divergence": "", "t": "s"}
# of what is along a joint: (turning, sliding)
_POSITION, _RATE, _EFFORT = ("rad", "m"), ("rad/s", "m/s"), ("N m", "N")
_JOINT_UNITS = {
    "q": _POSITION,
    "v": _RATE,
    "tau": _EFFORT,
    "motor_position": _POSITION,
    "motor_velocity": _RATE,
    "link_position": _POSITION,
    "link_velocity": _RATE,
    "deflection": _POSITION,
    "deflection_rate": _RATE,
    "spring_force": _EFFORT,
}
_PLOTTED = ("q", "tau", "u", "forces", "energy")

Spec = str | tuple[str, str | Sequence[str]]


@dataclass(frozen=True)
class Line:
    """One curve.

    Attributes:
        name: in the legend.
        values: (steps,) or (batch, steps).
        unit: "" for none.
    """

    name: str
    values: np.ndarray
    unit: str


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis.

    Attributes:
        label: of the axis, with the unit.
        lines: those that are drawn; left_out: how many are not.
    """

    label: str
    lines: tuple[Line, ...]
    left_out: int = 0


def default_channels(log: Log) -> list[str]:
    """What is drawn unless it is told."""
    found = [name for name in _PLOTTED if _is_there(log, name)]
    return found or list(log)[:4]


def panels_of(log: Log, specs: Iterable[Any], most: int) -> list[Panel]:
    """Panels for what is asked for, one for each of its units.

    Args:
        specs: "q" (all columns), "q.knee" or ("q", "knee") (one), ("q", ["hip", "knee"]), "forces.foot" (all whose
            name goes on after the dot), "energy" (all channels whose name does).
        most: lines in a panel.
    """
    panels = []
    for spec in specs:
        label, lines = _lines(log, spec)
        by_unit: dict[str, list[Line]] = {}
        for line in lines:
            by_unit.setdefault(line.unit, []).append(line)
        for unit, group in by_unit.items():
            name = label
            if len(group) == 1:
                name = group[0].name if len(lines) == 1 else f"{label} {group[0].name}"
            shown = f"{name} [{unit}]" if unit else name
            kept = _busiest(group, most)
            panels.append(Panel(shown, tuple(kept), len(group) - len(kept)))
    return panels


def _busiest(lines: list[Line], most: int) -> list[Line]:
    """At most so many, those that differ most from zero; in a crowd, none that is zero all the time."""
    reach = [float(np.nanmax(abs(line.values), initial=0)) for line in lines]
    kept = [k for k, r in enumerate(reach) if r > 0 or len(lines) <= 4] or [0]
    kept = sorted(sorted(kept, key=lambda k: -reach[k])[:most])
    return [lines[k] for k in kept]


def _lines(log: Log, spec: Any) -> tuple[str, list[Line]]:
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], str):
        channel, columns = spec
        names = [columns] if isinstance(columns, str) else list(columns)
        if not names:
            raise PliantError(f"plot: ({channel!r}, ...) names no column; give one or several")
        if len(names) == 1:
            return _lines(log, f"{channel}.{names[0]}")
        return channel, [line for name in names for line in _lines(log, f"{channel}.{name}")[1]]
    if not isinstance(spec, str):
        raise PliantError(f"plot takes names of channels, 'q', or columns, 'q.knee' or ('q', 'knee'); not {spec!r}")
    robot = None if log.source is None else log.source.robot
    if spec in log:
        return spec, _channel_lines(log, spec, robot)
    # a group of channels
    members = [name for name in log if name.startswith(f"{spec}.")]
    if members:
        return spec, [
            Line(name.removeprefix(f"{spec}."), log[name], unit_of(name, "", robot))
            for name in members
            if log[name].ndim == _lead(log)
        ]
    # columns of a channel
    for channel in log:
        if spec.startswith(f"{channel}.") and channel in log.columns:
            wanted = spec.removeprefix(f"{channel}.")
            names = log.columns[channel]
            found = [n for n in names if n == wanted] or [n for n in names if n.startswith(f"{wanted}.")]
            if not found:
                starts = dict.fromkeys(n.rpartition(".")[0] for n in names if "." in n)
                raise PliantError(unknown_name("column", wanted, [*names, *starts], f"channel {channel!r} of the log"))
            lines = [Line(n, log.column(channel, n), unit_of(channel, n, robot)) for n in found]
            return spec if len(found) > 1 else channel, lines
    raise PliantError(unknown_name("channel", spec, _names(log), "the log"))


def _channel_lines(log: Log, channel: str, robot: Robot | None) -> list[Line]:
    array = log[channel]
    if array.ndim == _lead(log):
        return [Line(channel, array, unit_of(channel, "", robot))]
    flat = array.reshape(*array.shape[: _lead(log)], -1)
    names = log.columns.get(channel) or [str(k) for k in range(flat.shape[-1])]
    if not names:
        raise PliantError(f"plot: channel {channel!r} of the log has no columns, so there is nothing to draw")
    return [Line(name, flat[..., k], unit_of(channel, name, robot)) for k, name in enumerate(names)]


def unit_of(channel: str, column: str, robot: Robot | None) -> str:
    """The unit of a column, "" where there is none or nobody knows."""
    group = channel.partition(".")[0]
    if group in _FIXED_UNITS:
        return _FIXED_UNITS[group]
    kinds = _JOINT_UNITS.get(channel)
    if kinds is None and channel == "u" and robot is not None and column in robot.motors:
        motor = robot.motors[column]
        control: Mapping[str, tuple[str, str]] = {"torque": _EFFORT, "position": _POSITION, "velocity": _RATE}
        kinds = control.get(motor.control) if motor.law is None else None
    if kinds is None or robot is None:
        return ""
    return kinds[_is_sliding(channel, column, robot)] if not _is_orientation(channel, column, robot) else ""


def _is_sliding(channel: str, column: str, robot: Robot) -> bool:
    if column in robot.motors:
        column = robot.motors[column].joint
    if column in robot.joints:
        return isinstance(robot.joints[column].kind, Prismatic)
    # an entry of a joint with several: x, y, z and vx, vy, vz
    return column.rpartition(".")[2].lstrip("v") in ("x", "y", "z")


def _is_orientation(channel: str, column: str, robot: Robot) -> bool:
    """Whether it is an entry of a quaternion, or a cosine or sine."""
    end = column.rpartition(".")[2]
    return channel == "q" and column not in robot.joints and end in ("qx", "qy", "qz", "qw", "cos", "sin")


def _lead(log: Log) -> int:
    return 1 if log.batch is None else 2


def _is_there(log: Log, name: str) -> bool:
    if name in log:
        return log[name].shape[-1:] != (0,)
    return any(other.startswith(f"{name}.") for other in log)


def _names(log: Log) -> list[str]:
    groups = dict.fromkeys(name.partition(".")[0] for name in log if "." in name)
    return [*log, *groups, *(f"{c}.{n}" for c, names in log.columns.items() for n in names)]
