"""Phase portraits: velocity over position, `Log.plot_phase`."""

from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.errors import PliantError, unknown_name
from pliant.plots.curves import unit_of
from pliant.plots.figures import COLORS, GREY, figure, legend, look, size_of
from pliant.plots.time_plots import cut
from pliant.recording.log import Log

_ARROWS = 6
_MARKS = {"touch-down": "v", "lift-off": "^", "slip": "s", "stick": "o", "reversal": "d"}


def plot_phase(log: Log, *names, path, start, end, robots, events, title, size, show) -> Any:
    """Draw the velocity of joints over their positions: `Log.plot_phase`, which has the arguments."""
    log = cut(log, start, end)
    for channel in ("q", "v"):
        if channel not in log:
            problem = f"plot_phase needs channels 'q' and 'v' of the log, which has {', '.join(log) or 'none'}"
            raise PliantError(problem, subject="the log", field=channel)
    pairs = [(name, _velocity(log, name)) for name in names or [_first(log)]]
    rates = {name: _rate(log, name, v_name) for name, v_name in pairs}
    chosen = chosen_robots(robots, log.batch, first=len(COLORS), least=1, error=PliantError).tolist()
    robot = None if log.source is None else log.source.robot
    wide = min(len(pairs), 3)
    high = -(-len(pairs) // wide)
    size = size_of(size, (3.4 * wide + 0.4, 3.0 * high + 0.2))
    with figure("log.plot_phase()", size, path=path, title=title, show=show) as made:
        from matplotlib.lines import Line2D

        axes = made.subplots(high, wide, squeeze=False).reshape(-1)
        for axis in axes[len(pairs) :]:
            axis.remove()
        for axis, (q_name, v_name) in zip(axes, pairs, strict=False):
            for k, r in enumerate(chosen):
                own = log if log.batch is None else log.robot(r)
                rate = rates[q_name] if log.batch is None else rates[q_name][r]
                _draw(axis, own, q_name, rate, look(k, len(chosen))["color"], f"robot {r}", events)
            q_unit, v_unit = unit_of("q", q_name, robot), unit_of("v", v_name, robot)
            axis.set_xlabel(f"{q_name} [{q_unit}]" if q_unit else q_name)
            axis.set_ylabel(f"velocity [{v_unit}]" if v_unit else "velocity")
            axis.margins(0.06)
        if events and log.events:
            kinds = dict.fromkeys(event.kind for event in log.events)
            mark = {"color": "white", "markeredgecolor": GREY, "markersize": 4}
            handles = [Line2D([], [], marker=_MARKS.get(kind, "x"), label=kind, **mark) for kind in kinds]
            axes[0].legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles))
        if len(chosen) > 1:
            legend(axes[len(pairs) - 1], [str(r) for r in chosen])
    return made


def _draw(axis: Any, log: Log, q_name: str, y: np.ndarray, color: str, label: str, events: bool) -> None:
    x = log.column("q", q_name)
    jumps = np.flatnonzero(np.diff(log.t) <= 0)
    pieces = np.split(np.arange(len(x)), jumps + 1)
    for piece in pieces:
        axis.plot(x[piece], y[piece], color=color, linewidth=1.1, label=label)
        label = "_"
    for k in jumps:
        axis.plot(x[k : k + 2], y[k : k + 2], color=color, linewidth=0.8, linestyle=":")
    axis.plot(x[0], y[0], "o", color=color, markersize=4)
    _arrows(axis, x, y, color)
    if events:
        for event in log.events:
            k = min(int(np.searchsorted(log.t, event.t, "left")), len(x) - 1)
            mark = _MARKS.get(event.kind, "x")
            axis.plot(x[k], y[k], mark, color="white", markeredgecolor=GREY, markersize=4, markeredgewidth=0.8)


def _arrows(axis: Any, x: np.ndarray, y: np.ndarray, color: str) -> None:
    """Heads along the curve, at equal distances in the figure."""
    width, height = (float(np.ptp(a)) or 1.0 for a in (x, y))
    steps = np.hypot(np.diff(x) / width, np.diff(y) / height)
    way = np.concatenate([[0], np.cumsum(steps)])
    if way[-1] < 0.05:
        return
    for share in (np.arange(_ARROWS) + 0.5) / _ARROWS:
        k = int(np.clip(np.searchsorted(way, share * way[-1]), 1, len(x) - 1))
        after = int(np.clip(np.searchsorted(way, way[k] + 0.004), k + 1, len(x))) - 1
        if after <= k - 1 or (x[after] == x[k - 1] and y[after] == y[k - 1]):
            continue
        head = {"arrowstyle": "-|>", "color": color, "linewidth": 0, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", (x[after], y[after]), (x[k - 1], y[k - 1]), arrowprops=head)


def _velocity(log: Log, name: Any) -> str:
    """The name of the velocity of a coordinate."""
    names, rates = log.columns.get("q", ()), log.columns.get("v", ())
    if name not in names:
        fitting = [n for n in names if _rate_name(n) in rates]
        raise PliantError(unknown_name("column", name, fitting, "channel 'q' of the log"))
    rate = _rate_name(name)
    if rate not in rates:
        problem = f"plot_phase: {name!r} is a coordinate of an orientation, which has no velocity of its own"
        raise PliantError(problem, subject=f"column {name!r}", field="q", cure="draw it over time with log.plot('q')")
    return rate


def _rate(log: Log, name: str, v_name: str) -> np.ndarray:
    """The rate of a coordinate over time, (steps,) or (batch, steps).

    Of a free joint with quaternion (u, w) and linear velocity v in the body's frame, p' = R v = v + 2 u x (w v + u x v)
    with (u, w) scaled to one; of a planar one, x' = c vx - s vy and y' = s vx + c vy.
    """
    head, _, tail = name.rpartition(".")
    if v_name == name:
        return log.column("v", v_name)
    names, rates = log.columns.get("q", ()), log.columns.get("v", ())
    k = ("x", "y", "z").index(tail)
    if f"{head}.qw" in names and f"{head}.vz" in rates:
        u, v = (np.stack([log.column(c, f"{head}.{c}{axis}") for axis in "xyz"], axis=-1) for c in "qv")
        w = log.column("q", f"{head}.qw")[..., None]
        n = (u * u).sum(axis=-1, keepdims=True) + w * w
        return (v + 2 * np.cross(u, w * v + np.cross(u, v)) / n)[..., k]
    if f"{head}.cos" in names:
        c, s = (log.column("q", f"{head}.{end}") for end in ("cos", "sin"))
        vx, vy = (log.column("v", f"{head}.{end}") for end in ("vx", "vy"))
        return (c * vx - s * vy, s * vx + c * vy)[k]
    problem = f"plot_phase: the rate of {name!r} needs the orientation of {head!r}, which is not in the log"
    raise PliantError(problem, subject=f"column {name!r}", field="q")


def _rate_name(name: str) -> str:
    head, dot, tail = name.rpartition(".")
    return f"{head}.v{tail}" if dot and tail in ("x", "y", "z") else name


def _first(log: Log) -> str:
    both = [name for name in log.columns.get("q", ()) if name in log.columns.get("v", ())]
    if both:
        return both[0]
    problem, cure = "plot_phase: no joint has one coordinate", "name a column of 'q', such as 'root_joint.z'"
    raise PliantError(problem, subject="the log", field="q", cure=cure)
