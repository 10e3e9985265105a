"""Plots of a log over time: `Log.plot`."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.plots.bands import contact_spans, draw_bands, draw_events, draw_strip, mode_spans
from pliant.plots.lines import Panel, Spec, default_channels, panels_of
from pliant.plots.moments import chosen_robots
from pliant.plots.style import GREY, LINES, figure, finished, legend, look, quiet, styled
from pliant.recording.log import Log

__all__ = ["cut", "plot"]

# entries of a line beyond which only the least and the greatest of some are drawn
_DENSE = 6000
# lines that are named at their ends, not in a legend
_FEW = 4


def plot(
    log: Log,
    *channels: Spec,
    path: str | os.PathLike[str] | None = None,
    start: float | None = None,
    end: float | None = None,
    robots: int | slice | Sequence[int] | None = None,
    most: int = 12,
    bands: bool = True,
    events: bool = True,
    title: str = "",
    size: tuple[float, float] | None = None,
    show: bool = False,
) -> Any:
    """Draw channels of a log over time: `Log.plot`."""
    log = cut(log, start, end)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise PliantError(f"plot: most is {most!r}; it takes 1 or more lines")
    panels = panels_of(log, channels or default_channels(log), most)
    chosen = None if robots is None else chosen_robots(log, robots, 0)
    if log.batch is None:
        chosen = None
    with styled("log.plot()"):
        modes = mode_spans(log) if bands else {}
        touching = contact_spans(log, chosen[0] if chosen else None) if bands and not modes else {}
        if log.batch is not None and (chosen is None or len(chosen) > 1):
            touching = {}  # of so many robots, each touches when it likes
        strip = touching if len(touching) > 1 else {}
        heights = [0.16 * len(strip) + 0.12] * bool(strip) + [1.35] * len(panels)
        made = figure(*(size or (7.0, sum(heights) + 0.75)))
        axes = list(made.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
        if strip:
            draw_strip(axes[0], strip)
            axes[0].tick_params(labelbottom=False)
        drawn = axes[bool(strip) :]
        for k, (axis, panel) in enumerate(zip(drawn, panels, strict=True)):
            _draw(axis, log, panel, chosen)
            quiet(axis, panel.label, is_last=k == len(panels) - 1)
        handles = draw_bands(drawn, modes or ({} if strip else _named(touching)))
        note = ""
        if events:
            more, note = draw_events(drawn, log)
            handles += more
        drawn[-1].set_xlim(*_span(log.t))
        _headline(made, axes[0], title, handles, note)
        made.align_ylabels(drawn)
        return finished(made, path, show)


def _named(touching: dict[str, Any]) -> dict[str, Any]:
    return {f"{name} touches": spans for name, spans in touching.items()}


def _headline(made: Any, top: Any, title: str, handles: list[Any], note: str) -> None:
    if title:
        made.suptitle(title, fontsize=10)
    if handles:
        ncols = min(len(handles), 5)
        if top.get_legend() is None:
            top.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=ncols, columnspacing=1.4)
        else:
            made.legend(handles=handles, loc="outside upper left", ncols=ncols, columnspacing=1.4)
    if note:
        made.supxlabel(note, fontsize=7, color=GREY, x=1.0, ha="right")


def _draw(axis: Any, log: Log, panel: Panel, chosen: list[int] | None) -> None:
    """The curves of a panel, and their names."""
    count = len(panel.lines)
    ends: list[tuple[str, Any, float]] = []
    for k, line in enumerate(panel.lines):
        values = np.asarray(line.values, dtype=float)
        if log.batch is None:
            axis.plot(*_thinned(log.t, values), label=line.name, **look(k, count))
        elif chosen is None:
            t, few = _sparse(log.t, values)
            low, high = np.quantile(few, [0.05, 0.95], axis=0)
            own = look(k, count)
            axis.fill_between(t, low, high, color=own["color"], alpha=0.18, linewidth=0)
            axis.plot(t, few.mean(axis=0), label=line.name, **own)
            values = values.mean(axis=0)
        else:
            for place, robot in enumerate(chosen):
                own = look(place, len(chosen)) if count == 1 else {**look(k, count), "linestyle": LINES[place % 4]}
                name = f"robot {robot}" if count == 1 else f"{line.name}, robot {robot}"
                axis.plot(*_thinned(log.t, values[robot]), label=name, **own)
            continue
        finite = values[np.isfinite(values)]
        ends.append((line.name, look(k, count)["color"], float(finite[-1]) if len(finite) else np.nan))
    names = axis.get_legend_handles_labels()[1]
    if len(names) > 1 or (names and log.batch is not None and chosen is not None):
        if len(ends) == len(names) <= _FEW and _label_ends(axis, ends):
            pass
        else:
            legend(axis, names)
    if panel.left_out:
        text = f"{panel.left_out} more, zero or small, not drawn"
        axis.text(1.0, 1.01, text, transform=axis.transAxes, ha="right", va="bottom", fontsize=7, color=GREY)


def _label_ends(axis: Any, ends: list[tuple[str, Any, float]]) -> bool:
    """Names at the ends of the lines; not if they would have to be moved far."""
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
    """Of a long line, the least and the greatest entry of each part: it looks the same and is a small file."""
    if len(t) <= _DENSE:
        return t, y
    size = -(-len(t) // (_DENSE // 2))
    whole = len(t) // size * size
    parts = np.where(np.isnan(y[:whole]), 0, y[:whole]).reshape(-1, size)
    base = np.arange(len(parts)) * size
    kept = np.unique(np.concatenate([[0], base + parts.argmin(axis=1), base + parts.argmax(axis=1), [len(t) - 1]]))
    return t[kept], y[kept]


def _sparse(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of many entries (batch, steps), every so many."""
    every = max(1, len(t) // (_DENSE // 4))
    return t[::every], values[:, ::every]


def cut(log: Log, start: float | None, end: float | None) -> Log:
    """The part of a log that is to be drawn; there must be some."""
    if not len(log):
        raise PliantError("plot: the log has no steps")
    if start is None and end is None:
        return log
    part = log.between(-np.inf if start is None else start, np.inf if end is None else end)
    if not len(part):
        raise PliantError(
            f"plot: nothing between {start} and {end} s; the log goes from {log.t[0]:g} to {log.t[-1]:g} s"
        )
    return part


def _span(t: np.ndarray) -> tuple[float, float]:
    return (float(t[0]), float(t[-1])) if t[-1] > t[0] else (float(t[0]) - 0.5, float(t[0]) + 0.5)
