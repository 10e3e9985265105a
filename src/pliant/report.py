"""The report of a run: one page with summary, replay, plots, energy, events and settings; `Log.to_report`."""

import html
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.energy_ledger import energy_ledger
from pliant.errors import PliantError
from pliant.files.writing import whole_file
from pliant.plots.curves import unit_of
from pliant.plots.figures import styled, target_file
from pliant.plots.time_plots import contact_spans
from pliant.recording.log import Log
from pliant.viewer.replay import replay_page

# rows of a table of events
_MOST = 200


def to_report(log: Log, path, *channels, title, facts, replay, packages) -> Path:
    """Write a page about a run: `Log.to_report`, which has the arguments."""
    source = log.needs_source("log.to_report()")
    if not len(log):
        raise PliantError("to_report: the log has no steps", subject="the log", field="t")
    target = target_file(path, (".html", ".htm"), "a report")
    name = title or source.robot.name
    sections = {"Summary": _pairs({**_summary(log), **(facts or {})}, "facts")}
    if replay and find_spec("viser") is None:
        sections["Replay"] = "<p class=\"note\">Left out: it needs viser, pip install 'pliant[view]'.</p>"
    elif replay:
        page = replay_page(log, plots=_replayed(channels), packages=packages, title=name)
        sections["Replay"] = f'<iframe title="replay" srcdoc="{html.escape(page)}"></iframe>'
    sections["Plots"] = _picture(log.plot(*channels))
    if "energy.kinetic" in log:
        sections["Energy"] = f"{_picture(log.plot_energy())}<pre>{html.escape(str(energy_ledger(log)))}</pre>"
    sections |= {"Events": _events(log), "Contacts": _contacts(log), "Settings": _settings(log)}
    body = "\n".join(f"<section><h2>{name}</h2>\n{text}\n</section>" for name, text in sections.items() if text)
    notes = "" if log.is_complete else '<p class="note">The run ended early; this is the part that was saved.</p>'
    made = f"{source.created[:19].replace('T', ' ')}, pliant {source.versions.get('pliant', '?')}"
    text = _PAGE.format(title=html.escape(name), made=html.escape(made), notes=notes, body=body, style=_STYLE)
    with whole_file(target) as beside:
        beside.write_text(text, encoding="utf-8")
    return target


def _replayed(channels: Sequence[Any]) -> list[str]:
    """The channels under the names of `Log.to_html`."""
    found: list[str] = []
    for spec in channels:
        channel, columns = (spec, None) if isinstance(spec, str) else spec
        several = [columns] if columns is None or isinstance(columns, str) else columns
        found += [channel if column is None else f"{channel}.{column}" for column in several]
    return found or ["q"]


# ---- content


def _summary(log: Log) -> dict[str, str]:
    source = log.needs_source("log.to_report()")
    robot = source.robot
    found = {
        "robot": f"{robot.name}: {float(robot.mass):.4g} kg, {robot.nv} degrees of freedom, {robot.nu} motors",
        "ground": "none" if source.ground is None else source.ground.name,
        "duration": f"{log.t[-1] - log.t[0]:.6g} s, {len(log)} entries",
    }
    if log.batch is not None:
        found["robots"] = f"{log.batch}; tables and energy ledger are of robot 0"
    if robot.is_free and "q" in log:
        q = log["q"] if log.batch is None else log["q"][0]
        way = float(np.linalg.norm(q[-1, :2] - q[0, :2]))
        seconds = float(log.t[-1] - log.t[0])
        found["distance"] = f"{way:.3g} m" + (f", {way / seconds:.3g} m/s" if seconds > 0 else "")
        found["height of the base"] = f"{q[:, 2].min():.3g} to {q[:, 2].max():.3g} m"
    events = Counter(event.kind for event in log.events)
    if events:
        found["events"] = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in events.items())
    touching = contact_spans(log)
    if touching:
        parts = [f"{name} {len(spans)}" for name, spans in touching.items()]
        found["number of contacts"] = ", ".join(parts[:12]) + (", ..." if len(parts) > 12 else "")
    if "forces" in log and log["forces"].size:
        sizes = np.linalg.norm(log["forces"].reshape(*log["forces"].shape[:-1], -1, 3), axis=-1)
        found["largest contact force"] = f"{np.nanmax(sizes):.4g} N"
    if "tau" in log and log["tau"].size:
        found |= _efforts(log)
    for trouble in log.troubles:
        name = f"trouble: {trouble.kind}"
        found[name] = trouble.what
    return found


def _efforts(log: Log) -> dict[str, str]:
    """The largest torque and the largest force, with their motors."""
    names, tau = log.columns.get("tau", ()), abs(log["tau"]).reshape(-1, log["tau"].shape[-1])
    largest = np.nanmax(np.where(np.isfinite(tau), tau, 0), axis=0)
    units = [unit_of("tau", name, log.needs_source("log.to_report()").robot) for name in names]
    found = {}
    for unit, what in (("N m", "torque"), ("N", "force")):
        own = [k for k, u in enumerate(units) if u == unit]
        if own:
            k = max(own, key=lambda k: largest[k])
            found[f"largest {what} of a motor"] = f"{largest[k]:.4g} {unit}, {names[k]}"
    return found


def _events(log: Log) -> str:
    rows = [
        (f"{e.t:.6f}", e.kind, ", ".join(e.names), f"{e.energy_lost:.4g}" if e.energy_lost else "", e.before, e.after)
        for e in log.events
    ]
    return _table(("t [s]", "event", "of", "energy lost [J]", "before", "after"), rows)


def _contacts(log: Log) -> str:
    if log.events:
        return ""
    spans = sorted((start, end, name) for name, own in contact_spans(log).items() for start, end in own)
    rows = [(f"{start:.4f}", f"{end:.4f}", f"{end - start:.4f}", name) for start, end, name in spans]
    return _table(("from [s]", "to [s]", "for [s]", "contact"), rows)


def _settings(log: Log) -> str:
    source = log.needs_source("log.to_report()")
    flat: dict[str, str] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                add(f"{name}.{key}" if name else str(key), inner)
        elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
            for k, inner in enumerate(value):
                add(f"{name}.{k + 1}", inner)
        elif value is not None and value not in ([], ""):
            flat[name] = _shown(value)

    add("", source.settings)
    return _pairs({**flat, **{f"version of {k}": v for k, v in source.versions.items()}}, "settings")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(map(_shown, value)) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)


# ---- HTML


def _picture(made: Any) -> str:
    """A figure as SVG, for a page of any color."""
    buffer = io.StringIO()
    with styled("log.to_report()"):
        made.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return f'<div class="plot">{text[text.index("<svg") :]}</div>'


def _pairs(pairs: Mapping[str, str], kind: str) -> str:
    rows = "".join(f"<dt>{html.escape(str(k))}</dt><dd>{html.escape(str(v))}</dd>" for k, v in pairs.items())
    return f'<dl class="{kind}">{rows}</dl>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    top = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    shown = "".join("<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in rows[:_MOST])
    more = f'<p class="note">{len(rows) - _MOST} more rows are not shown.</p>' if len(rows) > _MOST else ""
    return f'<div class="table"><table><thead><tr>{top}</tr></thead><tbody>{shown}</tbody></table></div>{more}'


_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --quiet: #656d76; --line: #d8dee4; --page: #ffffff; --card: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --quiet: #8d96a0; --line: #30363d; --page: #0d1117; --card: #161b22; }
  .plot svg { filter: invert(0.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 0.6rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--line); }
.made, .note { color: var(--quiet); margin: 0.2rem 0; font-size: 0.9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.2rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
dl.settings { font-size: 0.85rem; gap: 0.1rem 1.2rem; }
iframe { width: 100%; height: min(75vh, 44rem); border: 1px solid var(--line); border-radius: 8px; }
.plot svg { width: 100%; height: auto; }
pre { background: var(--card); padding: 0.8rem 1rem; border-radius: 8px; overflow-x: auto; font-size: 0.82rem; }
.table { max-height: 24rem; overflow: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: var(--card); text-align: left; font-weight: 600; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="made">{made}</p>
{notes}
{body}
</body>
</html>
"""
