"""What happens meanwhile: modes and contacts as bands behind the curves, events as thin lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.plots.moments import contact_columns
from pliant.plots.style import COLORS, GREY
from pliant.recording.log import Log

__all__ = ["contact_spans", "draw_bands", "draw_events", "draw_strip", "mode_spans", "spans_of"]

_EVENTS = {
    "touch-down": ("#444b54", "-"),
    "lift-off": ("#444b54", (0, (3, 2))),
    "slip": ("#d55e00", (0, (1, 1.5))),
    "stick": ("#0072b2", (0, (1, 1.5))),
    "reversal": ("#cc79a7", (0, (1, 1.5))),
}
# more than these would hide the curves
_MOST_EVENTS = 60
_MOST_MODES = 6

Spans = list[tuple[float, float]]


def spans_of(t: np.ndarray, holds: np.ndarray) -> Spans:
    """From when to when something holds, for entries (steps,); a jump lies in the middle of a step."""
    edges = np.flatnonzero(np.diff(holds.astype(int)))
    middles = (t[edges] + t[edges + 1]) / 2
    starts = [*([t[0]] if len(t) and holds[0] else []), *middles[holds[edges + 1]]]
    ends = [*middles[holds[edges]], *([t[-1]] if len(t) and holds[-1] else [])]
    return [(float(a), float(b)) for a, b in zip(starts, ends, strict=True)]


def mode_spans(log: Log) -> dict[str, Spans]:
    """When which mode of an event-driven log holds, without flight."""
    modes = log.modes
    if not modes or "mode" not in log or not len(log):
        return {}
    return {name: spans_of(log.t, log["mode"] == k) for k, name in enumerate(modes) if name != "flight"}


def contact_spans(log: Log, robot: int | None = None) -> dict[str, Spans]:
    """When which contact has a force; points of one shape, such as "foot.0" and "foot.1", together."""
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
    """Bands behind all axes; returns what a legend takes. None if there are too many to tell apart."""
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
    """A row for each contact, with a bar while it touches."""
    for row, own in enumerate(spans.values()):
        bars = [(start, end - start) for start, end in own]
        axis.broken_barh(bars, (row - 0.32, 0.64), facecolor=COLORS[row % len(COLORS)], linewidth=0)
    axis.set_yticks(range(len(spans)), list(spans))
    axis.set_ylim(len(spans) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.spines["left"].set_visible(False)


def draw_events(axes: Sequence[Any], log: Log) -> tuple[list[Any], str]:
    """Lines at events; returns what a legend takes, and a note on those that are not drawn."""
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
