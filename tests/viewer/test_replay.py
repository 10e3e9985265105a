"""The page that replays a log: what is in it, moment by moment, and how it is written."""

import base64
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
import zstandard

import pliant
from pliant.render.robot_drawing import body_poses
from pliant.viewer.replay import chart, replay_page


def recorded(page: str) -> dict:
    """What viser's page holds: messages with their times."""
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page)[1])
    inner = zstandard.ZstdDecompressor().decompress(data[8:], max_output_size=int.from_bytes(data[:8], "little"))
    length = int.from_bytes(inner[:8], "little")
    return msgspec.msgpack.decode(inner[8 : 8 + length])


@pytest.fixture(scope="module")
def page(hop: pliant.Log) -> str:
    return replay_page(hop, plots=("q.leg", "energy"), fps=20, traces=("mass",), title="a <b> title")


def test_bodies_move_as_in_the_log(page: str, hop: pliant.Log) -> None:
    found = recorded(page)
    assert found["durationSeconds"] == pytest.approx(0.8, abs=2e-3)  # a last moment of a millisecond
    robot = hop.source.robot
    body = list(robot.bodies).index("body")
    moved = [(t, m["position"]) for t, m in found["messages"]
             if m["type"] == "SetPositionMessage" and m["name"] == "/world/robot 0/body"]  # fmt: skip
    # one message a picture, but the first comes with the scene; poses are those of the step at that time
    assert len(moved) >= 16
    for t, position in moved:
        step = int(np.searchsorted(hop.t, t + 1e-9, side="right")) - 1
        np.testing.assert_allclose(position, body_poses(robot, hop.q[step])[body, :3, 3], atol=1e-9)


def test_the_panel_has_the_plots(page: str) -> None:
    assert "<title>a &lt;b&gt; title</title>" in page
    assert page.count('class="now"') == 2
    assert "<b> title" not in page
    # nothing in it is loaded from elsewhere
    ours = page[page.index('<template id="pliant-panel">') :]
    assert re.findall(r"(?:src|href)=", ours[: ours.index("</head>")]) == []


def test_pages_are_written_whole(hop: pliant.Log, tmp_path: Path) -> None:
    path = hop[:50].to_html(tmp_path / "run.html", plots=(), fps=10)
    assert path == tmp_path / "run.html"
    assert path.read_text(encoding="utf-8").startswith("<!")
    with pytest.raises(pliant.PliantError, match="no channel named 'energi' in the log; did you mean"):
        hop.to_html(tmp_path / "run.html", plots=("energi",))
    with pytest.raises(pliant.PliantError, match="fps of to_html is 0"):
        hop.to_html(tmp_path / "run.html", fps=0)
    with pytest.raises(pliant.PliantError, match="does not exist"):
        hop[:5].to_html(tmp_path / "none" / "run.html", plots=())
    # what was there is still there, and nothing is left beside it
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]


def test_charts_draw_what_there_is() -> None:
    t = np.linspace(1, 3, 201)
    svg = chart(t, {"a": np.sin(t), "b<": np.full(201, np.nan), **{f"c{k}": t for k in range(8)}}, "many & more")
    assert "many &amp; more" in svg and "and 2 more" in svg
    assert "b&lt;" in svg
    points = np.array([p.split(",") for p in re.search(r'points="([^"]+)"', svg)[1].split()], dtype=float)
    assert len(points) == 201
    # along x by time, from edge to edge; up by value
    np.testing.assert_allclose(np.diff(points[:, 0]), 306 / 200, atol=0.11)
    assert points[np.argmax(np.sin(t)), 1] == points[:, 1].min()
    assert "nan" not in svg.lower()
    assert "nan" not in chart(np.zeros(1), {"a": np.zeros(1)}, "one moment").lower()
