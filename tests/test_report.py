"""Reports: one page with everything on it, and well formed."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import pliant
from view_logs import batch_log, bounce_log, hopper_log

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """Headings and frames of a page; raises if a tag is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.frames: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs)["srcdoc"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)


def outline(path: Path) -> tuple[Outline, str]:
    """With the text of the page."""
    found, text = Outline(), path.read_text(encoding="utf-8")
    found.feed(text)
    assert not found.open
    return found, text


def test_it_has_everything_and_needs_no_network(tmp_path: Path) -> None:
    path = hopper_log().to_report(tmp_path / "run.html", "q.root_joint.z", facts={"speed": "12 times <real> time"})
    found, text = outline(path)
    assert found.headings == ["hopper", "Summary", "Replay", "Plots", "Energy", "Contacts", "Settings"]
    assert len(found.frames) == 1 and "<html" in found.frames[0].lower()
    assert "12 times &lt;real&gt; time" in text and "semi-implicit" in text and "prefers-color-scheme: dark" in text
    assert "largest torque of a motor</dt><dd>" in text and "N m or N" not in text
    # the replay has what the plots have
    assert "root_joint.z" in found.frames[0] and found.frames[0].count('class="now"') == 1
    without = re.sub(r'srcdoc="[^"]*"', "", text)
    assert len(re.findall(r"<svg", without)) == 2
    # no address but those that name formats
    outside = set(re.findall(r"(?:src|href)=\"(?!#)([^\"]*)\"", without))
    assert not outside


def test_events_of_a_bounce(tmp_path: Path) -> None:
    log = bounce_log()
    found, text = outline(log.to_report(tmp_path / "bounce.html", replay=False, title="a ball & its bounces"))
    assert found.headings[0] == "a ball & its bounces" and "Events" in found.headings and not found.frames
    assert text.count("<td>touch-down</td>") == len(log.events) and f"<td>{log.events[0].t:.6f}</td>" in text


def test_a_batch_and_bad_calls(tmp_path: Path) -> None:
    log = batch_log()
    _, text = outline(log.to_report(tmp_path / "batch.html", "energy", replay=False))
    assert "3; tables and energy ledger are of robot 0" in text
    with pytest.raises(pliant.PliantError, match=r"a report ends with \.html"):
        log.to_report(tmp_path / "x.txt")
    with pytest.raises(pliant.PliantError, match="source"):
        pliant.Log(log.t, {"q": log.q}, batch=3).to_report(tmp_path / "x.html")
    assert [p.name for p in tmp_path.iterdir()] == ["batch.html"]


def test_without_viser_there_is_a_report_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pliant.report.find_spec", lambda name: None)
    path = hopper_log()[:20].to_report(tmp_path / "run.html", ("q", ["hip_pitch", "root_joint.z"]))
    found, text = outline(path)
    assert not found.frames and "Replay" in found.headings
    assert "pip install 'pliant[view]'" in text


def test_settings_are_readable(tmp_path: Path) -> None:
    log = hopper_log()[:20]
    force = {"kind": "ExternalForce", "frame": "base", "point": [0.0, 0.25, 1.0], "law": "push"}
    settings = {**log.source.settings, "forces": [force, force]}
    log = pliant.Log(log.t, log.channels, log.columns, None, log.metadata, replace(log.source, settings=settings))
    text = log.to_report(tmp_path / "run.html", "q", replay=False).read_text(encoding="utf-8")
    assert "<dt>forces.2.point</dt><dd>(0, 0.25, 1)</dd>" in text
    assert "ExternalForce</dd>" in text and "{&#x27;" not in text
