"""Charts beside the scene: of a log with the present time, of the latest past of a live simulation, and as SVG."""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.plots.curves import Group, column_groups, log_groups, matching
from pliant.plots.figures import round_number
from pliant.recording.log import Log

__all__ = ["chart", "chosen_curves", "rolling_plot", "time_plot"]

PLOT_COLORS = ("#265c96", "#d6601e", "#3c8c50", "#963c8c", "#787828", "#288c96", "#c83246", "#646464")
POINTS = 400  # of a curve: more than the panel has pixels
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 20, 18  # margins of a chart in SVG [pixels]


def time_plot(server: Any, log: Log, channel: str | None = None) -> Callable[[float], None]:
    """Add a plot of a channel or a part of it, to be chosen from a list, with a line at the present time.

    Args:
        log: of one robot.
        channel: chosen at first, such as "q" or "q.knee".

    Returns:
        A function that moves the line to a time [s].
    """
    flat = {name: np.asarray(a, dtype=float) for name, a in log.to_dict().items() if name != "t"}
    every = log_groups(log)
    if channel is not None and not matching(every, channel):
        valid = [*dict.fromkeys(g.channel for g in every), *(g.label for g in every), *flat]
        raise PliantError(unknown_name("channel", channel, valid, "the log"))
    groups = {g.label: g for g in every if np.isfinite([flat[g.flat_name(c)] for c in g.columns]).any()}
    if not groups or len(log.t) < 2:
        return lambda t: None
    steps = np.unique(np.linspace(0, len(log.t) - 1, min(POINTS, len(log.t))).round().astype(int))
    t = np.asarray(log.t, dtype=float)[steps]
    wanted = matching(groups.values(), channel or "") or list(groups.values())
    # a contact that never touches is not shown first
    first = next((g for g in wanted if any(flat[g.flat_name(c)].any() for c in g.columns)), wanted[0]).label
    state: dict[str, Any] = {"group": groups[first], "t": float(t[0])}
    gui = server.gui

    def curves() -> tuple[np.ndarray, ...]:
        now, group = state["t"], state["group"]
        at = int(np.searchsorted(t, now, side="right"))
        ys = [flat[group.flat_name(c)][steps] for c in group.columns]
        # the line is a spike at the present, on a scale of its own from 0 to 1; its ends are outside
        x = np.insert(t, at, [now] * 3)
        line = np.full(len(x), -1.0)
        line[at + 1] = 1.0
        return x, *(np.insert(y, at, [np.interp(now, t, y)] * 3) for y in ys), line

    def series() -> tuple[dict[str, Any], ...]:
        now = {"label": "now", "scale": "now", "stroke": "#202020", "width": 1, "points": {"show": False}}
        return *_series(state["group"]), now

    with gui.add_folder("Plot"):
        choice = gui.add_dropdown("channel", tuple(groups), initial_value=first)
        plot = _plot(gui, curves(), series(), state["group"])

        @choice.on_update
        def _(event: Any) -> None:
            state["group"] = groups[event.target.value]
            plot.axes, plot.series, plot.data = _axes(state["group"]), series(), curves()

    def move(now: float) -> None:
        state["t"] = float(now)
        plot.data = curves()

    return move


def rolling_plot(
    server: Any, groups: Sequence[Group], now: Callable[[str], tuple[float, np.ndarray]]
) -> Callable[[], None]:
    """Add a plot of the latest values of a channel or a part of it, to be chosen from a list.

    Args:
        groups: of columns.
        now: returns the present time [s] and the present values of a channel.

    Returns:
        A function that adds the present values.
    """
    if not groups:
        return lambda: None
    named = {group.label: group for group in groups}
    kept: list[tuple[float, np.ndarray]] = []
    state = {"group": groups[0]}

    def curves() -> tuple[np.ndarray, ...]:
        columns = len(state["group"].columns)
        rows = kept or [(0.0, np.zeros(columns))]
        values = np.array([row for _, row in rows], dtype=float)
        return np.array([t for t, _ in rows]), *(values[:, k] for k in range(columns))

    def add() -> None:
        group = state["group"]
        t, values = now(group.channel)
        if kept and t <= kept[-1][0]:
            kept.clear()
        kept.append((t, values[list(group.entries)]))
        del kept[:-POINTS]
        plot.data = curves()

    with server.gui.add_folder("Plot"):
        choice = server.gui.add_dropdown("channel", tuple(named), initial_value=groups[0].label)
        plot = _plot(server.gui, curves(), _series(groups[0]), groups[0])

        @choice.on_update
        def _(event: Any) -> None:
            kept.clear()
            state["group"] = group = named[event.target.value]
            plot.axes, plot.series, plot.data = _axes(group), _series(group), curves()

    return add


def _series(group: Group) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = [{"label": "t [s]"}]
    for name, color in zip(group.columns, PLOT_COLORS, strict=False):
        label = name or group.channel
        found.append({"label": label, "stroke": color, "width": 1.5, "points": {"show": False}})
    return tuple(found)


def _axes(group: Group) -> tuple[dict[str, Any], ...]:
    small = {"labelSize": 16, "labelGap": 0, "labelFont": "11px sans-serif"}
    return {"label": "time [s]", **small}, {"label": group.title, **small}


def _plot(gui: Any, data: tuple[np.ndarray, ...], series: tuple[dict[str, Any], ...], group: Group) -> Any:
    return gui.add_uplot(
        data, series, scales={"x": {"time": False}, "now": {"auto": False, "range": (0.0, 1.0)}}, axes=_axes(group),
        height=250, legend={"show": True, "live": False},
        cursor={"show": True, "drag": {"x": False, "y": False, "setScale": False}},
    )  # fmt: skip


# ---- SVG


def chosen_curves(log: Log, name: str, what: str) -> dict[str, dict[str, np.ndarray]]:
    """Columns of a channel of a log of one robot, or some of them: "q", "q.knee", "energy", "forces.foot".

    Args:
        what: the caller, for messages.

    Returns:
        Values (n,) by name, by title with unit, such as "q: joints 1-8 [rad]".
    """
    flat = {n: np.asarray(a, dtype=float) for n, a in log.to_dict().items() if n != "t"}
    found = {n: a for n, a in flat.items() if n == name or n.startswith(f"{name}.")}
    if not found:
        raise PliantError(unknown_name("channel", name, [*log.channels, *flat], "the log")).within(what)
    channel = name.partition(".")[0]
    columns = [n.partition(".")[2] for n in found]
    robot = None if log.source is None else log.source.robot
    curves = {}
    for group in column_groups(channel, columns, robot):
        # a column that was asked for by name keeps that name
        label = group.title if group.label != group.channel else f"{name} [{group.unit}]" if group.unit else name
        curves[label] = {c.removeprefix(name.partition(".")[2] + ".") or name: found[group.flat_name(c)]
                         for c in group.columns}  # fmt: skip
    return curves


def chart(t: np.ndarray, curves: Mapping[str, np.ndarray], title: str, *, width: int = 360, height: int = 150) -> str:
    """An SVG of curves over time, with a line of class "now" that stands at the first time.

    Args:
        t: times (n,) [s].
        curves: values (n,) by label; the legend says how many beyond eight are left out.
        title: above it.
    """
    shown = dict(list(curves.items())[: len(PLOT_COLORS)])
    steps = np.unique(np.linspace(0, len(t) - 1, min(POINTS, len(t))).round().astype(int))
    values = np.array([y[steps] for y in shown.values()], dtype=float)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(low), 1.0)
    first, last = float(t[0]), float(t[-1]) if t[-1] > t[0] else float(t[0]) + 1
    inner_w, inner_h = width - LEFT - RIGHT, height - TOP - BOTTOM
    x = LEFT + (t[steps] - first) / (last - first) * inner_w
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f'<text x="{LEFT}" y="13" class="title">{html.escape(title)}</text>',
    ]
    for tick in _ticks(low, high, 4):
        y = TOP + (high - tick) / (high - low) * inner_h
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}h{inner_w}"/>')
        parts.append(f'<text x="{LEFT - 4}" y="{y + 3:.1f}" text-anchor="end">{tick:.4g}</text>')
    for tick in _ticks(first, last, 5):
        place = LEFT + (tick - first) / (last - first) * inner_w
        parts.append(f'<text x="{place:.1f}" y="{height - 4}" text-anchor="middle">{tick:.4g}</text>')
    for y, color, label in zip(values, PLOT_COLORS, shown, strict=False):
        line = TOP + (high - y) / (high - low) * inner_h
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, line, strict=True) if math.isfinite(b))
        parts.append(f'<polyline points="{points}" stroke="{color}"><title>{html.escape(label)}</title></polyline>')
    span = f'data-first="{first!r}" data-last="{last!r}" data-left="{LEFT}" data-width="{inner_w}"'
    parts.append(f'<line class="now" {span} x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{height - BOTTOM}"/></svg>')
    legend = "".join(
        f'<span style="color:{color}">{html.escape(label)}</span> '
        for label, color in zip(shown, PLOT_COLORS, strict=False)
    )
    if len(shown) < len(curves):
        legend += f"<span>and {len(curves) - len(shown)} more</span>"
    return f'<div class="chart">{"".join(parts)}<div class="legend">{legend}</div></div>'


def _ticks(low: float, high: float, count: int) -> list[float]:
    step = round_number((high - low) / count * 1.4)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
