"""A log as one HTML page that opens from disk: the robot with a time slider, and charts whose line follows it."""

import html
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check, is_real
from pliant.errors import PliantError, unknown_name
from pliant.files.writing import whole_file
from pliant.plots.curves import column_groups
from pliant.plots.figures import COLORS, round_number
from pliant.recording.log import Log
from pliant.render.log_motion import LogMotion, spread
from pliant.viewer.browser_scene import log_scene
from pliant.viewer.server import served

POINTS = 400  # of a curve: more than the panel has pixels
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 20, 18  # margins of a chart [pixels]

_STYLE = """
#pliant{position:fixed;top:8px;right:8px;z-index:20;width:376px;max-height:calc(100vh - 70px);overflow:auto;
background:rgba(255,255,255,.92);border-radius:4px;box-shadow:0 0 12px rgba(0,0,0,.15);
font:11px sans-serif;color:#333}
#pliant summary{padding:6px 8px;cursor:pointer;font-size:13px;font-weight:bold}
#pliant .chart{padding:0 8px 6px}#pliant svg{display:block;max-width:100%}
#pliant text{font-size:9px;fill:#555}#pliant .title{font-size:11px;font-weight:bold;fill:#222}
#pliant .grid{stroke:#ddd;fill:none}#pliant polyline{fill:none;stroke-width:1.3}
#pliant .now{stroke:#111}#pliant .legend{padding-left:46px}
"""

# the slider of the page has its time in an attribute, which the lines of the charts follow
_SCRIPT = """
addEventListener("DOMContentLoaded",()=>{const f=document.getElementById("pliant-panel");
document.body.append(f.content.cloneNode(true));
new MutationObserver(c=>{for(const m of c){const e=m.target;if(e.getAttribute("role")!="slider")continue;
const s=+e.getAttribute("aria-valuenow");for(const n of document.querySelectorAll("#pliant .now")){const d=n.dataset,
x=+d.left+d.width*Math.min(1,s/(d.last-d.first));n.setAttribute("x1",x);n.setAttribute("x2",x)}}})
.observe(document.body,{subtree:true,attributes:true,attributeFilter:["aria-valuenow"]})});
"""


def to_html(log: Log, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a page that replays a log: `Log.to_html`."""
    with whole_file(path) as beside:
        beside.write_text(replay_page(log, **options), encoding="utf-8")
    return Path(path)


def replay_page(
    log: Log, *, plots: str | Sequence[str] = ("q",), fps: float = 30, robots: Any = None, layout: str = "grid",
    traces: Sequence[str] = (), show: Any = (), follow: bool | None = None, deflection: float = 1.0,
    detail: int = 40_000, title: str | None = None, packages: Any = (),
) -> str:  # fmt: skip
    """The page that `Log.to_html` writes, which has the arguments."""
    is_rate = is_real(fps) and 0 < fps <= 1000
    check("fps", fps, "frames a second, above 0 and up to 1000", is_rate, subject="to_html", error=PliantError)
    motion = LogMotion(log, "to_html", robots)
    one = log if log.batch is None else log.robot(int(motion.indices[0]))
    charts = [
        chart(motion.t, curves, heading)
        for name in ([plots] if isinstance(plots, str) else plots)
        for heading, curves in _chosen_curves(one, name).items()
    ]
    title = title or f"{motion.robot.name}: {motion.duration:.4g} s"
    with served("to_html", port=0) as viewer:
        server = viewer.server
        options = {"layout": layout, "show": show, "follow": follow, "detail": detail, "packages": packages}
        _, draw = log_scene(server, motion, traces, deflection, **options)
        count = int(motion.duration * fps * (1 + 1e-9)) + 1
        steps = [motion.step_at(t) for t in motion.t[0] + np.arange(count) / fps]
        draw(steps[0])
        serializer = server.get_scene_serializer()
        for step in steps[1:]:
            serializer.insert_sleep(1 / fps)
            draw(step)
        if len(steps) > 1:
            serializer.insert_sleep(max(motion.duration - (len(steps) - 1) / fps, 1e-3))
        page = serializer.as_html()
    return _with_panel(page, title, "".join(charts))


def _with_panel(page: str, title: str, charts: str) -> str:
    """The page with a panel of charts beside viser's scene."""
    summary = html.escape(title)
    panel = f'<details id="pliant" open><summary>{summary}</summary>{charts}</details>'
    head = f'<template id="pliant-panel">{panel}</template><style>{_STYLE}</style><script>{_SCRIPT}</script>'
    start, end = page.find("<title>"), page.find("</title>")
    if 0 <= start < end:
        page = f"{page[:start]}<title>{summary}{page[end:]}"
    # the data of viser may contain any text, but the last end of a head is that of the page
    place = page.rindex("</head>")
    return page[:place] + head + page[place:]


# ---- charts


def _chosen_curves(log: Log, name: str) -> dict[str, dict[str, np.ndarray]]:
    """Columns of a channel of a log of one robot, or some of them: "q", "q.knee", "energy", "forces.foot".

    Returns:
        Values (n,) by name, by title with unit, such as "q: joints 1-8 [rad]".
    """
    flat = {n: np.asarray(a, dtype=float) for n, a in log.to_dict().items() if n != "t"}
    found = {n: a for n, a in flat.items() if n == name or n.startswith(f"{name}.")}
    if not found:
        raise PliantError(unknown_name("channel", name, [*log.channels, *flat], "the log")).within("to_html")
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
    """
    shown = dict(list(curves.items())[: len(COLORS)])
    steps = spread(len(t), POINTS)
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
    for y, color, label in zip(values, COLORS, shown, strict=False):
        line = TOP + (high - y) / (high - low) * inner_h
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, line, strict=True) if math.isfinite(b))
        parts.append(f'<polyline points="{points}" stroke="{color}"><title>{html.escape(label)}</title></polyline>')
    span = f'data-first="{first!r}" data-last="{last!r}" data-left="{LEFT}" data-width="{inner_w}"'
    parts.append(f'<line class="now" {span} x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{height - BOTTOM}"/></svg>')
    spans = (f'<span style="color:{c}">{html.escape(label)}</span> ' for label, c in zip(shown, COLORS, strict=False))
    legend = "".join(spans)
    if len(shown) < len(curves):
        legend += f"<span>and {len(curves) - len(shown)} more</span>"
    return f'<div class="chart">{"".join(parts)}<div class="legend">{legend}</div></div>'


def _ticks(low: float, high: float, count: int) -> list[float]:
    step = round_number((high - low) / count * 1.4)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
