"""Small charts over time as SVG, with a line that a script moves to the present time."""

import html
import math
from collections.abc import Mapping

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.simulation import Log
from pliant.view.panels import PLOT_COLORS
from pliant.view.stage import nice

__all__ = ["chart", "chosen_curves"]

POINTS = 500
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 20, 18


def chosen_curves(log: Log, channel: str, what: str) -> dict[str, np.ndarray]:
    """The columns of a channel of a log of one robot, or one of them: "q", "q.knee", "energy.kinetic", "forces.foot".

    Args:
        what: that asks, for messages.
    """
    flat = {name: np.asarray(a, dtype=float) for name, a in log.to_dict().items() if name != "t"}
    found = {name: a for name, a in flat.items() if name == channel or name.startswith(f"{channel}.")}
    if not found:
        raise PliantError(f"{what}: " + unknown_name("channel", channel, [*log.channels, *flat], "the log"))
    return found


def chart(t: np.ndarray, curves: Mapping[str, np.ndarray], title: str, *, width: int = 360, height: int = 150) -> str:
    """An SVG of curves over time, with a line of class "now" that stands at the first time.

    Args:
        t: times (n,) [s].
        curves: values (n,) by label; those beyond eight are left out, and the title says so.
        title: above it.
    """
    shown = dict(list(curves.items())[: len(PLOT_COLORS)])
    if len(shown) < len(curves):
        title += f" ({len(shown)} of {len(curves)})"
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
    return f'<div class="chart">{"".join(parts)}<div class="legend">{legend}</div></div>'


def _ticks(low: float, high: float, count: int) -> list[float]:
    step = nice((high - low) / count * 1.4)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
