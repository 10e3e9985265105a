"""Small charts over time as SVG, with a line that a script moves to the present time."""

import html
import math
from collections.abc import Mapping

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.plots.column_groups import column_groups
from pliant.recording.log import Log
from pliant.viewer.page import nice
from pliant.viewer.side_plots import PLOT_COLORS

__all__ = ["chart", "chosen_curves"]

POINTS = 500
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 20, 18


def chosen_curves(log: Log, name: str, what: str) -> dict[str, dict[str, np.ndarray]]:
    """Columns of a channel of a log of one robot, or some of them: "q", "q.knee", "energy", "forces.foot".

    Args:
        what: that asks, for messages.

    Returns:
        By title with unit, as "q: joints 1-8 [rad]", values (n,) by name.
    """
    flat = {n: np.asarray(a, dtype=float) for n, a in log.to_dict().items() if n != "t"}
    found = {n: a for n, a in flat.items() if n == name or n.startswith(f"{name}.")}
    if not found:
        raise PliantError(unknown_name("channel", name, [*log.channels, *flat], "the log")).within(f"{what}")
    channel = name.partition(".")[0]
    columns = [n.partition(".")[2] for n in found]
    robot = None if log.source is None else log.source.robot
    curves = {}
    for group in column_groups(channel, columns, robot):
        # where it was named, that is what it is called
        label = group.title if group.label != group.channel else f"{name} [{group.unit}]" if group.unit else name
        curves[label] = {c.removeprefix(name.partition(".")[2] + ".") or name: found[group.flat_name(c)]
                         for c in group.columns}  # fmt: skip
    return curves


def chart(t: np.ndarray, curves: Mapping[str, np.ndarray], title: str, *, width: int = 360, height: int = 150) -> str:
    """An SVG of curves over time, with a line of class "now" that stands at the first time.

    Args:
        t: times (n,) [s].
        curves: values (n,) by label; those beyond eight are left out, and the legend says how many.
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
    step = nice((high - low) / count * 1.4)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
