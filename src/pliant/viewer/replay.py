"""A log as one HTML page that opens from disk: the robot with a time slider, and charts whose line follows it."""

import html
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check, is_real
from pliant.errors import PliantError
from pliant.files.writing import whole_file
from pliant.recording.log import Log
from pliant.viewer.browser_scene import BrowserScene, check_marks
from pliant.viewer.charts import chart, chosen_curves
from pliant.viewer.playback import LogMotion
from pliant.viewer.server import served

__all__ = ["replay_page", "to_html"]

DETAIL = 40_000
"""Most triangles in a file: half a megabyte of them."""

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
    log: Log,
    *,
    plots: str | Sequence[str] = ("q",),
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
    is_rate = is_real(fps) and 0 < fps <= 1000
    check("fps", fps, "frames a second, above 0 and up to 1000", is_rate, subject="to_html", error=PliantError)
    check("deflection", deflection, "a finite number", is_real(deflection), subject="to_html", error=PliantError)
    motion = LogMotion(log, "to_html", robots)
    marks = check_marks(show)
    frames = [None if t == "mass" else motion.robot.frame(t).name for t in traces]
    one = log if log.batch is None else log.robot(int(motion.indices[0]))
    wanted = [plots] if isinstance(plots, str) else list(plots)
    charts = [
        chart(motion.t, curves, heading)
        for name in wanted
        for heading, curves in chosen_curves(one, name, "to_html").items()
    ]
    title = title or f"{motion.robot.name}: {motion.duration:.4g} s"
    with served("to_html", port=0) as viewer:
        server = viewer.server
        scene = BrowserScene(
            server, motion.source, motion.q, layout=layout, show=marks, follow=follow, detail=detail, packages=packages
        )
        scene.factor = float(deflection)
        for name, frame in zip(traces, frames, strict=True):
            scene.trace(name, [motion.path(frame, k) for k in range(len(motion.indices))])
        steps = [motion.step_at(t) for t in _times(motion, fps)]
        _draw(scene, motion, steps[0])
        serializer = server.get_scene_serializer()
        for step in steps[1:]:
            serializer.insert_sleep(1 / fps)
            _draw(scene, motion, step)
        if len(steps) > 1:
            serializer.insert_sleep(max(motion.duration - (len(steps) - 1) / fps, 1e-3))
        page = serializer.as_html()
    return _with_panel(page, title, "".join(charts))


def _times(motion: LogMotion, fps: float) -> np.ndarray:
    count = int(motion.duration * fps * (1 + 1e-9)) + 1
    return motion.t[0] + np.arange(count) / fps


def _draw(scene: BrowserScene, motion: LogMotion, step: int) -> None:
    scene.draw(motion.q[:, step], None if motion.forces is None else motion.forces[:, step])


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
