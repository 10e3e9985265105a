"""The page that replays a log, and recordings for Foxglove, read by another reader of MCAP."""

import base64
import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
import zstandard
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

import pliant
from pliant.render.robot_drawing import body_poses
from pliant.viewer.replay import chart, replay_page
from simulated_robots import LEG, LEG_Q

# ---- the page


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


# ---- Foxglove


@pytest.fixture(scope="module")
def one() -> pliant.Log:
    return run(None)


@pytest.fixture(scope="module")
def batch() -> pliant.Log:
    return run(2)


def run(batch: int | None) -> pliant.Log:
    sim = pliant.Simulation(LEG, ground=pliant.flat(), batch=batch)
    sim.reset(q=LEG_Q, v=[0.3, 0, 0, 0.1, 0.2, 0.3, 0, 0])
    return sim.run(0.06, every=0.003)


def messages(path: Path) -> dict[str, list]:
    found: dict[str, list] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for schema, channel, message in reader.iter_messages():
            if channel.message_encoding == "json":
                decoded = json.loads(message.data)
            else:
                decoded = DecoderFactory().decoder_for(channel.message_encoding, schema)(message.data)
            found.setdefault(channel.topic, []).append((schema.name, message.log_time, decoded))
    return found


def test_recording(one: pliant.Log, tmp_path: Path) -> None:
    found = messages(one.to_mcap(tmp_path / "run.mcap"))
    assert set(found) == {"/tf", "/joint_states", "/contacts", "/forces", "/channels", "/robot"}
    assert all(len(found[topic]) == len(one) for topic in set(found) - {"/robot"}) and len(found["/robot"]) == 1
    for k in (0, 7, len(one) - 1):
        assert all(found[topic][k][1] == round(one.t[k] * 1e9) for topic in set(found) - {"/robot"})
        # transforms: those of the kinematics, which are not computed by the same kernel
        name, _, tf = found["/tf"][k]
        assert name == "foxglove.FrameTransforms" and [x.child_frame_id for x in tf.transforms] == list(LEG.bodies)
        for x in tf.transforms:
            pose = pliant.frame_pose(LEG, one["q"][k], x.child_frame_id)
            X = np.asarray(pose.homogeneous() if hasattr(pose, "homogeneous") else pose, dtype=float)
            assert np.allclose([x.translation.x, x.translation.y, x.translation.z], X[:3, 3], atol=1e-14)
            assert np.allclose(rotation(x.rotation), X[:3, :3], atol=1e-14)
        # joints and forces: the same numbers
        name, _, states = found["/joint_states"][k]
        assert name == "foxglove.JointStates" and [j.name for j in states.joints] == list(LEG.joints)[1:]
        assert [j.position for j in states.joints] == one["q"][k, 7:].tolist()
        assert [j.velocity for j in states.joints] == one["v"][k, 6:].tolist()
        assert list(found["/forces"][k][2]["toe"].values()) == one["forces"][k].tolist()
        assert list(found["/channels"][k][2]["q"].values()) == one["q"][k].tolist()
        assert found["/channels"][k][2]["energy.kinetic"] == one["energy.kinetic"][k]
        # an arrow along the force, from its start
        name, _, scene = found["/contacts"][k]
        arrows = scene.entities[0].arrows
        size = np.linalg.norm(one["forces"][k])
        assert name == "foxglove.SceneUpdate" and len(arrows) == (size > 0)
        for arrow in arrows:
            assert np.allclose(
                rotation(arrow.pose.orientation)[:, 0] * size, one["forces"][k], rtol=0, atol=1e-12 * size
            )
            assert arrow.shaft_length + arrow.head_length == pytest.approx(size / 200)
    assert any(len(m[2].entities[0].arrows) for m in found["/contacts"]), "it touches the ground"
    assert {e.frame_id for e in found["/robot"][0][2].entities} <= set(LEG.bodies)


def rotation(q) -> np.ndarray:
    """R = 1 + 2 w [u] + 2 [u]^2 of the quaternion (u, w)."""
    u = np.array([[0, -q.z, q.y], [q.z, 0, -q.x], [-q.y, q.x, 0]])
    return np.eye(3) + 2 * q.w * u + 2 * u @ u


def test_recording_of_many(batch: pliant.Log, tmp_path: Path) -> None:
    found = messages(batch.to_mcap(tmp_path / "run.mcap", look=False))
    assert {topic.split("/")[1] for topic in found} == {"robot_0", "robot_1"}
    last = found["/robot_1/joint_states"][-1][2]
    assert [j.position for j in last.joints] == batch["q"][1, -1, 7:].tolist()
    assert found["/robot_1/tf"][0][2].transforms[0].child_frame_id.startswith("robot_1/")


def test_times_before_zero(one: pliant.Log, tmp_path: Path) -> None:
    early = pliant.Log(one.t - 1, dict(one.channels), dict(one.columns), None, {}, one.source)
    with pytest.raises(pliant.PliantError, match="times before zero"):
        early.to_mcap(tmp_path / "run.mcap")
