"""A log as one page that opens from disk: the robot with a slider, and plots whose line follows it."""

import html
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.files.whole import whole_file
from pliant.recording.log import Log
from pliant.viewer.curves import chart, chosen_curves
from pliant.viewer.page import served
from pliant.viewer.recording import Recording, checked_number
from pliant.viewer.scene import Scene, check_marks

__all__ = ["replay_page", "to_html"]

DETAIL = 40_000
"""Triangles in a file, at most: half a megabyte of them."""

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

# the page's slider tells its time in an attribute: the lines of the plots follow it
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
    log: Log,
    *,
    plots: Sequence[str] = ("q",),
    fps: float = 30,
    robots: int | slice | Sequence[int] | None = None,
    layout: str = "grid",
    traces: Sequence[str] = (),
    show: str | Iterable[str] = (),
    follow: bool | None = None,
    deflection: float = 1.0,
    detail: int = DETAIL,
    title: str | None = None,
    packages: str | Path | Iterable[str | Path] = (),
) -> str:
    """The page that `Log.to_html` writes, which has the arguments."""
    if not (isinstance(fps, int | float) and 0 < fps <= 1000):
        raise PliantError(f"to_html: fps is {fps!r}; it takes pictures a second, above 0 and up to 1000")
    deflection = checked_number("to_html", "deflection", deflection)
    recording = Recording(log, "to_html", robots)
    marks = check_marks(show)
    frames = [None if t == "mass" else recording.robot.frame(t).name for t in traces]
    one = log if log.batch is None else log.robot(recording.indices[0])
    wanted = [plots] if isinstance(plots, str) else list(plots)
    charts = [
        chart(recording.t, curves, heading)
        for name in wanted
        for heading, curves in chosen_curves(one, name, "to_html").items()
    ]
    title = title or f"{recording.robot.name}: {recording.duration:.4g} s"
    with served("to_html", port=0) as viewer:
        server = viewer.server
        scene = Scene(server, recording.source, recording.q, layout=layout, show=marks, follow=follow,
                      detail=detail, packages=packages)  # fmt: skip
        scene.factor = deflection
        for name, frame in zip(traces, frames, strict=True):
            scene.trace(name, [recording.path(frame, k) for k in range(len(recording.indices))])
        steps = [recording.step_at(t) for t in _times(recording, fps)]
        _draw(scene, recording, steps[0])
        serializer = server.get_scene_serializer()
        for step in steps[1:]:
            serializer.insert_sleep(1 / fps)
            _draw(scene, recording, step)
        if len(steps) > 1:
            serializer.insert_sleep(max(recording.duration - (len(steps) - 1) / fps, 1e-3))
        page = serializer.as_html()
    return _with_panel(page, title, "".join(charts))


def _times(recording: Recording, fps: float) -> np.ndarray:
    count = int(recording.duration * fps * (1 + 1e-9)) + 1
    return recording.t[0] + np.arange(count) / fps


def _draw(scene: Scene, recording: Recording, step: int) -> None:
    scene.draw(recording.q[:, step], None if recording.forces is None else recording.forces[:, step])


def _with_panel(page: str, title: str, charts: str) -> str:
    """The page with a panel of its own beside viser's scene."""
    summary = html.escape(title)
    panel = f'<details id="pliant" open><summary>{summary}</summary>{charts}</details>'
    head = f'<template id="pliant-panel">{panel}</template><style>{_STYLE}</style><script>{_SCRIPT}</script>'
    start, end = page.find("<title>"), page.find("</title>")
    if 0 <= start < end:
        page = f"{page[:start]}<title>{summary}{page[end:]}"
    # viser's data may hold any text, but its head ends once, before the body begins
    place = page.rindex("</head>")
    return page[:place] + head + page[place:]
