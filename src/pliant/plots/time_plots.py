"""Plots of a log over time: `Log.plot`.

Behind the curves there are bands for spans of time in which a mode or a contact holds, and thin lines for events.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.checks import check, chosen_robots, is_whole
from pliant.errors import PliantError
from pliant.plots.curves import Panel, default_channels, panels_of
from pliant.plots.figures import COLORS, GREY, LINES, figure, label_axis, legend, look, pale, size_of
from pliant.recording.log import Log

# entries of a curve beyond which only the least and the greatest of each part are drawn
_DENSE = 6000
# curves that are named at their ends, not in a legend
_FEW = 4
_EVENTS = {
    "touch-down": ("#444b54", "-"),
    "lift-off": ("#444b54", (0, (3, 2))),
    "slip": ("#d55e00", (0, (1, 1.5))),
    "stick": ("#0072b2", (0, (1, 1.5))),
    "reversal": ("#cc79a7", (0, (1, 1.5))),
}
# more would hide the curves
_MOST_EVENTS = 60
_MOST_MODES = 6

Spans = list[tuple[float, float]]


def plot(log: Log, *channels, path, start, end, robots, most, bands, events, title, size, show) -> Any:
    """Draw channels of a log over time: `Log.plot`, which has the arguments."""
    log = cut(log, start, end)
    check("most", most, "1 or more", is_whole(most) and most > 0, subject="the plot", error=PliantError)
    panels = panels_of(log, channels or default_channels(log), most)
    indices = chosen_robots(robots, log.batch, least=1, error=PliantError).tolist()
    chosen = None if robots is None or log.batch is None else indices
    modes = mode_spans(log) if bands else {}
    touching: dict[str, Spans] = {}
    # the robots of a batch touch at their own times
    if bands and not modes and (log.batch is None or (chosen is not None and len(chosen) == 1)):
        touching = contact_spans(log, chosen[0] if chosen else None)
    strip = touching if len(touching) > 1 else {}
    heights = [0.16 * len(strip) + 0.12] * bool(strip) + [1.35] * len(panels)
    with figure("log.plot()", size_of(size, (7.0, sum(heights) + 0.75)), path=path, title=title, show=show) as made:
        axes = list(made.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
        if strip:
            _draw_strip(axes[0], strip)
            axes[0].tick_params(labelbottom=False)
        drawn = axes[bool(strip) :]
        for k, (axis, panel) in enumerate(zip(drawn, panels, strict=True)):
            _draw(axis, log, panel, chosen)
            label_axis(axis, panel.label, is_last=k == len(panels) - 1)
        touches = {} if strip else {f"{name} touches": own for name, own in touching.items()}
        handles = _draw_bands(drawn, modes or touches)
        if events:
            more, note = _draw_events(drawn, log)
            handles += more
            if note:
                made.supxlabel(note, fontsize=7, color=GREY, x=1.0, ha="right")
        drawn[-1].set_xlim(*((log.t[0], log.t[-1]) if log.t[-1] > log.t[0] else log.t[0] + [-0.5, 0.5]))
        if handles:
            row = {"handles": handles, "ncols": min(len(handles), 5), "columnspacing": 1.4}
            if axes[0].get_legend() is None:
                axes[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), **row)
            else:
                made.legend(loc="outside upper left", **row)
        made.align_ylabels(drawn)
    return made


def _draw(axis: Any, log: Log, panel: Panel, chosen: list[int] | None) -> None:
    """Draw the curves of a panel, and their names."""
    count = len(panel.curves)
    ends: list[tuple[str, Any, float]] = []
    for k, curve in enumerate(panel.curves):
        values = np.asarray(curve.values, dtype=float)
        if log.batch is None:
            axis.plot(*_thinned(log.t, values), label=curve.name, **look(k, count))
        elif chosen is None:
            every = max(1, len(log) // (_DENSE // 4))
            t, few = log.t[::every], values[:, ::every]
            low, high = np.quantile(few, [0.05, 0.95], axis=0)
            own = look(k, count)
            axis.fill_between(t, low, high, color=own["color"], alpha=0.18, linewidth=0)
            axis.plot(t, few.mean(axis=0), label=curve.name, **own)
            values = values.mean(axis=0)
        else:
            for place, robot in enumerate(chosen):
                own = look(place, len(chosen)) if count == 1 else {**look(k, count), "linestyle": LINES[place % 4]}
                name = f"robot {robot}" if count == 1 else f"{curve.name}, robot {robot}"
                axis.plot(*_thinned(log.t, values[robot]), label=name, **own)
            continue
        finite = values[np.isfinite(values)]
        ends.append((curve.name, look(k, count)["color"], float(finite[-1]) if len(finite) else np.nan))
    names = axis.get_legend_handles_labels()[1]
    is_named = len(names) > 1 or (names and log.batch is not None and chosen is not None)
    if is_named and not (len(ends) == len(names) <= _FEW and _label_ends(axis, ends)):
        legend(axis, names)
    if panel.left_out:
        text = f"{panel.left_out} more, zero or small, not drawn"
        axis.text(1.0, 1.01, text, transform=axis.transAxes, ha="right", va="bottom", fontsize=7, color=GREY)


def _label_ends(axis: Any, ends: list[tuple[str, Any, float]]) -> bool:
    """Write names at the ends of the curves, if they need not be moved far; whether that was possible."""
    low, high = axis.get_ylim()
    if not all(np.isfinite(y) for *_, y in ends) or not high > low:
        return False
    # shares of the axis, pushed apart to the height of a line of text
    gap = 0.13
    order = sorted(range(len(ends)), key=lambda k: ends[k][2])
    wanted = [(ends[k][2] - low) / (high - low) for k in order]
    places = list(wanted)
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + gap)
    excess = max(0.0, places[-1] - 1.0)
    places = [p - excess / 2 for p in places]
    if max(abs(p - w) for p, w in zip(places, wanted, strict=True)) > 0.3:
        return False
    for k, place in zip(order, places, strict=True):
        name, color, _ = ends[k]
        axis.annotate(name, (1, place), (4, 0), xycoords="axes fraction", textcoords="offset points", va="center",
                      color=color, fontsize=8, annotation_clip=False)  # fmt: skip
    return True


def _thinned(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest entry of each part of a long curve: it looks the same and makes a small file."""
    if len(t) <= _DENSE:
        return t, y
    size = -(-len(t) // (_DENSE // 2))
    whole = len(t) // size * size
    parts = np.where(np.isnan(y[:whole]), 0, y[:whole]).reshape(-1, size)
    base = np.arange(len(parts)) * size
    kept = np.unique(np.concatenate([[0], base + parts.argmin(axis=1), base + parts.argmax(axis=1), [len(t) - 1]]))
    return t[kept], y[kept]


def cut(log: Log, start: float | None, end: float | None) -> Log:
    """The part of a log between two times [s]; raises if it is empty."""
    if not len(log):
        raise PliantError("plot: the log has no steps", subject="the log", field="t")
    if start is None and end is None:
        return log
    part = log.between(-np.inf if start is None else start, np.inf if end is None else end)
    if not len(part):
        problem = f"plot: the log has no entry between {start} and {end} s"
        raise PliantError(problem, subject="the log", field="t", cure=f"it goes from {log.t[0]:g} to {log.t[-1]:g} s")
    return part


# ---- spans and events


def spans_of(t: np.ndarray, holds: np.ndarray) -> Spans:
    """Start and end of the times in which ``holds`` (steps,) is true; it changes in the middle of a step."""
    edges = np.flatnonzero(np.diff(holds.astype(int)))
    middles = (t[edges] + t[edges + 1]) / 2
    starts = [*([t[0]] if len(t) and holds[0] else []), *middles[holds[edges + 1]]]
    ends = [*middles[holds[edges]], *([t[-1]] if len(t) and holds[-1] else [])]
    return [(float(a), float(b)) for a, b in zip(starts, ends, strict=True)]


def mode_spans(log: Log) -> dict[str, Spans]:
    """The spans of each mode of an event-driven log, without flight."""
    if not log.modes or "mode" not in log or not len(log):
        return {}
    return {name: spans_of(log.t, log["mode"] == k) for k, name in enumerate(log.modes) if name != "flight"}


def contact_spans(log: Log, robot: int | None = None) -> dict[str, Spans]:
    """The spans in which each contact has a force; points of one shape, "foot.0" and "foot.1", count as one contact."""
    if "forces" not in log or not len(log):
        return {}
    forces = log["forces"] if log.batch is None else log["forces"][robot or 0]
    touching: dict[str, np.ndarray] = {}
    for first, column in enumerate(log.columns.get("forces", ())):
        name, _, axis = column.rpartition(".")
        if axis != "x":
            continue
        head, _, tail = name.rpartition(".")
        shape = head if head and tail.isdigit() else name
        holds = (forces[:, first : first + 3] != 0).any(axis=1)
        touching[shape] = touching[shape] | holds if shape in touching else holds
    return {name: spans_of(log.t, holds) for name, holds in touching.items() if holds.any()}


def _draw_bands(axes: Sequence[Any], spans: dict[str, Spans]) -> list[Any]:
    """Draw bands behind all axes, unless there are too many to tell apart; returns handles for a legend."""
    from matplotlib.patches import Patch

    if len(spans) > _MOST_MODES:
        return []
    found = []
    for k, (name, own) in enumerate(spans.items()):
        color = pale(COLORS[k % len(COLORS)], 0.16)
        for axis in axes:
            for start, end in own:
                axis.axvspan(start, end, color=color, linewidth=0, zorder=0)
        found.append(Patch(facecolor=color, label=name))
    return found


def _draw_strip(axis: Any, spans: dict[str, Spans]) -> None:
    """Draw a row for each contact, with a bar while it touches."""
    for row, own in enumerate(spans.values()):
        bars = [(start, end - start) for start, end in own]
        axis.broken_barh(bars, (row - 0.32, 0.64), facecolor=COLORS[row % len(COLORS)], linewidth=0)
    axis.set_yticks(range(len(spans)), list(spans))
    axis.set_ylim(len(spans) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.spines["left"].set_visible(False)


def _draw_events(axes: Sequence[Any], log: Log) -> tuple[list[Any], str]:
    """Draw lines at events; returns handles for a legend, and a note about events that are not drawn."""
    from matplotlib.lines import Line2D

    events = list(log.events)
    note = ""
    if len(events) > _MOST_EVENTS:
        kept = [event for event in events if event.kind in ("touch-down", "lift-off")]
        kept = kept if len(kept) <= 2 * _MOST_EVENTS else []
        note = f"{len(events) - len(kept)} of {len(events)} events not drawn"
        events = kept
    found = {}
    for event in events:
        color, dashes = _EVENTS.get(event.kind, (GREY, ":"))
        for axis in axes:
            axis.axvline(event.t, color=color, linestyle=dashes, linewidth=0.6, alpha=0.8, zorder=1)
        found.setdefault(event.kind, Line2D([], [], color=color, linestyle=dashes, linewidth=0.9, label=event.kind))
    return list(found.values()), note
