"""What a notebook shows of a robot, a log, a simulation or a policy: a heading, a picture or a replay, and tables.

A display raises no error: where a picture cannot be drawn, as of a robot with symbols, a line says why.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.notebook.pictures import as_picture
from pliant.notebook.replay import Replay
from pliant.recording.log import Log
from pliant.recording.source import Source
from pliant.render.log_motion import LogMotion
from pliant.render.studio import LogFrames
from pliant.render.video import robot_pixels
from pliant.robot import Robot
from pliant.robot.describe import joint_rows, parts_by_kind

LONGEST = 60.0
"""A log of more simulated seconds is shown as a picture, since its replay takes megabytes; `Log.replay` takes it."""

_SIZE = (720, 405)
_DETAIL = 40_000
_MOST = 24  # rows of a table

_STYLE = """
.pliant{font:13px system-ui,sans-serif;max-width:960px}.pliant table{border-collapse:collapse;margin:4px 0}
.pliant th,.pliant td{padding:2px 10px 2px 0;text-align:left!important;font-weight:normal;vertical-align:top}
.pliant th{opacity:.65}.pliant thead th{border-bottom:1px solid #8886}.pliant summary{cursor:pointer;margin:4px 0}
.pliant img{max-width:100%;border-radius:6px}.pliant .note{opacity:.65}
"""


def robot_html(robot: Robot) -> str:
    """A robot: its picture in the neutral configuration, its joints, and what else it has."""
    mass = robot.mass
    try:
        weight = f"{float(mass):.4g} kg"
    except TypeError:
        weight = f"{mass} kg"  # of a robot with symbols
    about = f"{len(robot.bodies)} bodies, {weight}, nq = {robot.nq}, nv = {robot.nv}, nu = {robot.nu}"
    head, *rows = joint_rows(robot)
    kinds = {what: ", ".join(shown) for what, shown in parts_by_kind(robot).items() if shown}
    joints = _folded(f"{len(robot.joints)} joints", _table(head, rows), is_open=len(rows) <= 12)
    picture = _drawn(lambda: robot_pixels(robot, None, size=_SIZE, detail=_DETAIL))
    return _page(f"Robot {robot.name!r}", about, picture, joints, _pairs(kinds))


def log_html(log: Log) -> str:
    """A log: its replay, and a table of its channels."""
    robots = "" if log.batch is None else f", {log.batch} robots"
    span = f", t = {log.t[0]:g} to {log.t[-1]:g} s" if len(log) else ""
    about = f"{len(log)} steps{span}{robots}"
    if not log.is_complete:
        about += "; the run ended early"
    rows = []
    for name, array in log.channels.items():
        columns = log.columns.get(name, ())
        more = f", ... ({len(columns)})" if len(columns) > 6 else ""
        rows.append((name, str(array.shape), ", ".join(columns[:6]) + more))
    picture = ""
    if log.source is not None and "q" in log and len(log):
        picture = _drawn(lambda: _replay_or_picture(log))
    channels = _folded(f"{len(rows)} channels", _table(("channel", "shape", "columns"), rows), is_open=not picture)
    facts = {f"trouble: {trouble.kind}": trouble.what for trouble in log.troubles}
    if log.events:
        kinds = [event.kind for event in log.events]
        facts["events"] = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    name = "" if log.source is None else f" of {log.source.robot.name!r}"
    return _page(f"Log{name}", about, picture, channels, _pairs(facts))


def simulation_html(sim: Any, source: Source) -> str:
    """A simulation of either kind: the robots as they are now, and its settings.

    Args:
        sim: a `Simulation` or an `EventSimulation`.
        source: its robot, ground and settings, as a log has them.
    """
    batch = getattr(sim, "batch", None)
    q = np.asarray(sim.q, dtype=float)
    now = Log(np.array([float(sim.t)]), {"q": q[None] if batch is None else q[:, None]}, batch=batch, source=source)
    ground = "none" if source.ground is None else source.ground.name
    facts = {"time": f"{float(sim.t):g} s", "robots": "1" if batch is None else str(batch), "ground": ground}
    for name in ("dt", "integrator", "precision", "contact", "step_control"):
        value = source.settings.get(name)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {_shown(x)}" for key, x in value.items() if x is not None)
        if value is not None:
            facts[name.replace("_", " ")] = _shown(value)
    if sim.contact_names:
        facts["contacts"] = ", ".join(sim.contact_names[:12]) + (", ..." if len(sim.contact_names) > 12 else "")
    for problem in sim.troubles[:5]:
        facts[f"trouble: {problem.kind}"] = problem.what
    return _page(f"{type(sim).__name__} of {sim.robot.name!r}", "", _drawn(lambda: _moment(now)), _pairs(facts))


def policy_html(policy: Any) -> str:
    """A `pliant.learn.Policy`: its network, its observations with their normalisation, and its actions.

    The influence of an observation is the norm of the first layer's weights that it goes through, as a share of the
    largest: what the network listens to, not what its actions depend on most.
    """
    weights = policy.layers[0][0]
    influence = np.linalg.norm(weights, axis=0)
    influence = influence / max(float(influence.max(initial=0)), 1e-12)
    sizes = " - ".join(str(len(offsets)) for _, offsets in policy.layers)
    about = f"{policy.observation_size} - {sizes}, {policy.activation}"
    names = zip(policy.observation_names, policy.mean, 1 / np.maximum(policy.scale, 1e-12), influence, strict=True)
    rows = [(name, f"{mean:.4g}", f"{std:.4g}", _bar(share)) for name, mean, std, share in names]
    inputs = _table(("observation", "mean", "standard deviation", "influence"), rows, is_html=3)
    noise = [(name, f"{std:.4g}") for name, std in zip(policy.action_names, policy.std, strict=True)]
    facts = {
        "trained on": policy.digest[:12] or "nothing",
        "numbers": f"{sum(w.size + b.size for w, b in policy.layers):,}",
    }
    return _page(
        "Policy", about, _pairs(facts), _folded(f"{len(rows)} observations", inputs, is_open=False),
        _folded(f"{len(noise)} actions", _table(("action", "noise in training"), noise), is_open=len(noise) <= 12),
    )  # fmt: skip


# ---- pictures


def _drawn(draw: Callable[[], np.ndarray | str]) -> str:
    """A picture, or HTML; if there is an error, a line about it."""
    try:
        made = draw()
    except PliantError as error:
        return f'<p class="note">No picture: {html.escape(str(error))}</p>'
    if isinstance(made, str):
        return made
    address = as_picture(made)
    cure = "<p class=\"note\">No picture: it needs Pillow, pip install 'pliant[video]'.</p>"
    return f'<img alt="" width="{_SIZE[0]}" src="{address}">' if address else cure


def _moment(log: Log) -> np.ndarray:
    """A picture of the end of a log."""
    motion = LogMotion(log, "the display", None)
    end = motion.t[-1:]
    frames = LogFrames(motion, end, camera=None, forces=True, packages=(), fps=1, detail=_DETAIL)
    return frames.picture(0, *_SIZE)


def _replay_or_picture(log: Log) -> np.ndarray | str:
    if len(log) < 2 or log.t[-1] - log.t[0] > LONGEST:
        return _moment(log)
    replay = Replay(
        log,
        robots=None,
        fps=30,
        speed=1.0,
        play=False,
        forces=True,
        follow=None,
        height=400,
        detail=12_000,
        packages=(),
    )
    return replay.html


# ---- HTML


def _page(title: str, about: str, *parts: str) -> str:
    heading = f"<strong>{html.escape(title)}</strong>" + (f": {html.escape(about)}" if about else "")
    return f'<div class="pliant"><style>{_STYLE}</style><div>{heading}</div>{"".join(parts)}</div>'


def _pairs(pairs: Mapping[str, str]) -> str:
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in pairs.items())
    return f"<table><tbody>{rows}</tbody></table>" if pairs else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, is_html: int | None = None) -> str:
    """A table; column ``is_html`` is HTML already."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    cells = ((cell if k == is_html else html.escape(cell) for k, cell in enumerate(row)) for row in rows[:_MOST])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    more = f'<p class="note">and {len(rows) - _MOST} more</p>' if len(rows) > _MOST else ""
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{more}"


def _folded(summary: str, content: str, *, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{html.escape(summary)}</summary>{content}</details>"


def _bar(share: float) -> str:
    return f'<div style="width:{80 * share:.0f}px;height:9px;background:#265c96"></div>'


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
