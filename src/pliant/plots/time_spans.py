"""Spans of time in which a mode or a contact holds, drawn as bands behind the curves; events as thin lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.plots.figures import COLORS, GREY
from pliant.recording.log import Log

__all__ = ["contact_columns", "contact_spans", "draw_bands", "draw_events", "draw_strip", "mode_spans", "spans_of"]

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


def spans_of(t: np.ndarray, holds: np.ndarray) -> Spans:
    """Start and end of the times in which ``holds`` (steps,) is true; it changes in the middle of a step."""
    edges = np.flatnonzero(np.diff(holds.astype(int)))
    middles = (t[edges] + t[edges + 1]) / 2
    starts = [*([t[0]] if len(t) and holds[0] else []), *middles[holds[edges + 1]]]
    ends = [*middles[holds[edges]], *([t[-1]] if len(t) and holds[-1] else [])]
    return [(float(a), float(b)) for a, b in zip(starts, ends, strict=True)]


def mode_spans(log: Log) -> dict[str, Spans]:
    """The spans of each mode of an event-driven log, without flight."""
    modes = log.modes
    if not modes or "mode" not in log or not len(log):
        return {}
    return {name: spans_of(log.t, log["mode"] == k) for k, name in enumerate(modes) if name != "flight"}


def contact_spans(log: Log, robot: int | None = None) -> dict[str, Spans]:
    """The spans in which each contact has a force; points of one shape, "foot.0" and "foot.1", count as one contact."""
    if "forces" not in log or not len(log):
        return {}
    forces = log["forces"] if log.batch is None else log["forces"][robot or 0]
    touching: dict[str, np.ndarray] = {}
    for first, name in contact_columns(log):
        head, _, tail = name.rpartition(".")
        shape = head if head and tail.isdigit() else name
        holds = (forces[:, first : first + 3] != 0).any(axis=1)
        touching[shape] = touching[shape] | holds if shape in touching else holds
    return {name: spans_of(log.t, holds) for name, holds in touching.items() if holds.any()}


def draw_bands(axes: Sequence[Any], spans: dict[str, Spans]) -> list[Any]:
    """Draw bands behind all axes, unless there are too many to tell apart; returns handles for a legend."""
    from matplotlib.patches import Patch

    if len(spans) > _MOST_MODES:
        return []
    found = []
    for k, (name, own) in enumerate(spans.items()):
        color = _pale(COLORS[k % len(COLORS)])
        for axis in axes:
            for start, end in own:
                axis.axvspan(start, end, color=color, linewidth=0, zorder=0)
        found.append(Patch(facecolor=color, label=name))
    return found


def draw_strip(axis: Any, spans: dict[str, Spans]) -> None:
    """Draw a row for each contact, with a bar while it touches."""
    for row, own in enumerate(spans.values()):
        bars = [(start, end - start) for start, end in own]
        axis.broken_barh(bars, (row - 0.32, 0.64), facecolor=COLORS[row % len(COLORS)], linewidth=0)
    axis.set_yticks(range(len(spans)), list(spans))
    axis.set_ylim(len(spans) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.spines["left"].set_visible(False)


def draw_events(axes: Sequence[Any], log: Log) -> tuple[list[Any], str]:
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


def _pale(color: str) -> Any:
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return tuple(1 - 0.16 * (1 - c) for c in parts)


def contact_columns(log: Log) -> list[tuple[int, str]]:
    """The first column of each contact in channel "forces", and the name of the contact."""
    names = log.columns.get("forces", ())
    return [(k, name.removesuffix(".x")) for k, name in enumerate(names) if name.endswith(".x")]
