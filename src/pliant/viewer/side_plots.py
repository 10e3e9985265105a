"""Plots beside the scene: a channel of a log with the present time, and the last moments of a simulation that runs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.plots.column_groups import Group, log_groups, matching
from pliant.recording.log import Log

__all__ = ["PLOT_COLORS", "rolling_plot", "time_plot"]

PLOT_COLORS = ("#265c96", "#d6601e", "#3c8c50", "#963c8c", "#787828", "#288c96", "#c83246", "#646464")
POINTS = 400  # of a curve: more than the panel has pixels


def time_plot(server: Any, log: Log, channel: str | None = None) -> Callable[[float], None]:
    """A plot of a channel or a part of one, to be chosen, with a line at the present time.

    Args:
        log: of one robot.
        channel: at first, as "q" or "q.knee".

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
    # not a contact that never touches
    first = next((g for g in wanted if any(flat[g.flat_name(c)].any() for c in g.columns)), wanted[0]).label
    state: dict[str, Any] = {"group": groups[first], "t": float(t[0])}
    gui = server.gui

    def curves() -> tuple[np.ndarray, ...]:
        now, group = state["t"], state["group"]
        at = int(np.searchsorted(t, now, side="right"))
        ys = [flat[group.flat_name(c)][steps] for c in group.columns]
        # a spike at the present, on a scale of its own from 0 to 1, of which the rest lies outside
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
    """A plot of the last moments of a channel or a part of one, to be chosen.

    Args:
        groups: of columns.
        now: time [s] and values of a channel at this moment.

    Returns:
        A function that adds this moment.
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
