"""What a page shows, without a browser: motions of logs and their clock, arrows and cones, and the replay of a log."""

import base64
import re
import time
from pathlib import Path

import msgspec
import numpy as np
import pinocchio as pin
import pytest
import zstandard

import pliant
from pliant.recording.source import Source
from pliant.render.log_motion import LogMotion
from pliant.render.robot_drawing import body_poses
from pliant.render.shapes import directed, quaternions
from pliant.viewer.browser_scene import center_of_mass, exaggerated, friction_of, ground_normals
from pliant.viewer.replay import chart, replay_page
from pliant.viewer.viewer import Player

# ---- motions


def test_forces_and_steps_are_those_of_the_log(hop: pliant.Log) -> None:
    motion = LogMotion(hop, "test")
    assert motion.q.shape == (1, len(hop.t), 11)
    np.testing.assert_array_equal(motion.forces[0].reshape(len(hop.t), 6), hop["forces"])
    assert motion.duration == pytest.approx(0.8)
    # the last step before a time
    assert motion.step_at(-1) == 0
    assert motion.step_at(9) == len(hop.t) - 1
    for step in (1, 17, 200):
        assert motion.step_at(float(hop.t[step])) == step
        assert motion.step_at(float(hop.t[step]) + 1.9e-3) == step


def test_robots_of_a_batch_are_chosen(batch: pliant.Log) -> None:
    """A number is the number of a robot, never how many."""
    for robots, expected in (
        (None, [0, 1, 2, 3]), (2, [2]), (-1, [3]), ([-1, 1], [3, 1]), (range(2), [0, 1]), (slice(1, None), [1, 2, 3]),
    ):  # fmt: skip
        chosen = LogMotion(batch, "test", robots)
        assert list(chosen.indices) == expected
        np.testing.assert_array_equal(chosen.q, batch.q[expected])
    for wrong in (5, [4], [], ["a"]):
        with pytest.raises(pliant.PliantError) as error:
            LogMotion(batch, "test", wrong)
        assert error.value.field == "robots"


def test_logs_that_cannot_be_shown_say_why(hop: pliant.Log) -> None:
    for log, message in (
        (pliant.Log(hop.t, {"q": hop.q}), "source"),
        (pliant.Log(hop.t, {"v": hop.v}, source=hop.source), "test needs channel 'q' of the log, which has v"),
        (hop[0:0], "the log has no steps"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            LogMotion(log, "test")


def test_paths_are_those_of_frames_and_of_the_mass(hop: pliant.Log) -> None:
    motion = LogMotion(hop, "test")
    foot = motion.path("foot", 0)
    np.testing.assert_allclose(foot[-1], pliant.frame_pose(motion.robot, hop.q[-1], "foot")[:3, 3], atol=1e-12)
    mass = motion.path(None, 0, most=11)
    assert mass.shape == (11, 3)
    np.testing.assert_allclose(mass[0], pliant.center_of_mass(motion.robot, hop.q[0]), atol=1e-12)


def test_only_deflections_are_exaggerated() -> None:
    robot = pliant.load("two_link_arm").with_motor("elbow", rotor_inertia=1e-3)
    robot = robot.with_flexibility("elbow", stiffness=(100, 200, 300), damping=1)
    small = np.array([0.01, -0.02, 0.03])
    v = np.zeros(robot.nv)
    v[robot.v_slice("elbow_flexibility")] = small
    v[robot.v_slice("shoulder")] = 0.7
    q = np.asarray(robot.integrate(robot.neutral(), v))
    v[robot.v_slice("elbow_flexibility")] = 10 * small
    # ten times the rotation about the same axis
    np.testing.assert_allclose(exaggerated(robot, q, 10), robot.integrate(robot.neutral(), v), atol=1e-12)
    np.testing.assert_array_equal(exaggerated(robot, np.stack([q, q]), 1), [q, q])


# ---- the clock of a motion


@pytest.fixture
def drawn() -> list[int]:
    return []


@pytest.fixture
def player(hop: pliant.Log, drawn: list[int]) -> Player:
    return Player(LogMotion(hop, "test"), drawn.append)


def test_goes_steps_and_stays_within(player: Player, drawn: list[int]) -> None:
    player.go(0.1)
    assert (player.t, player.step) == (0.1, 50)
    player.go_by(1)
    assert player.step == 51
    player.go_by(-10_000)
    assert (player.t, player.step) == (0.0, 0)
    player.go(99.0)
    assert player.step == len(player.motion.t) - 1
    player.go(99.0)
    assert drawn == [50, 51, 0, len(player.motion.t) - 1]  # what is there already is not drawn again
    # at the end, play starts again
    told = []
    player.on_change(lambda: told.append(player.is_playing))
    player.toggle()
    assert player.is_playing
    assert player.t == 0
    player.toggle()
    assert not player.is_playing
    assert told[-1] is False


def test_the_thread_plays_to_the_end_and_stops(player: Player, drawn: list[int]) -> None:
    player.loops, player.speed = False, 20.0
    player.start()
    player.toggle()
    end = time.monotonic() + 20
    while player.is_playing and time.monotonic() < end:
        time.sleep(0.01)
    player.stop()
    assert drawn[0] == 0
    assert drawn[-1] == len(player.motion.t) - 1
    assert drawn == sorted(drawn)


# ---- arrows, cones and centres of mass


def test_quaternions_are_those_of_pinocchio() -> None:
    rng = np.random.default_rng(0)
    turns = [pin.exp3(w) for w in rng.normal(size=(20, 3)) * 3]
    # each of the four ways: no turn, and half a turn about each axis
    turns += [np.eye(3), np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])]
    for R, found in zip(turns, quaternions(np.array(turns)), strict=True):
        x, y, z, w = pin.Quaternion(R).coeffs()
        assert abs(np.dot(found, (x, y, z, w))) == pytest.approx(1, abs=1e-12)


def test_center_of_mass_from_poses() -> None:
    robot = pliant.load("biped")
    q = robot.random(1, batch=5)
    found = center_of_mass(robot, body_poses(robot, q))
    np.testing.assert_allclose(found, pliant.center_of_mass(robot, q), atol=1e-12)


def test_directions_are_where_z_goes() -> None:
    rng = np.random.default_rng(1)
    d = np.concatenate([rng.normal(size=(8, 3)), np.eye(3), -np.eye(3), np.zeros((1, 3))])
    R = directed(d)
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=1e-12)
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.tile(np.eye(3), (len(d), 1, 1)), atol=1e-12)
    np.testing.assert_allclose(R[:-1, :, 2] * np.linalg.norm(d[:-1], axis=-1, keepdims=True), d[:-1], atol=1e-12)
    np.testing.assert_array_equal(R[-1, :, 2], (0, 0, 1))  # no force has no direction: upright


def test_normals_are_those_of_the_ground() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(10, 3))
    ground = pliant.waves(0.1, 2.0)
    expected = [list(ground.surface(x, y)[1]) for x, y, _ in points]
    np.testing.assert_allclose(ground_normals(ground, points), expected, atol=1e-14)
    for flat in (pliant.flat(0.2), None):
        np.testing.assert_array_equal(ground_normals(flat, points), np.tile([0, 0, 1], (10, 1)))


def test_friction_is_the_nearest_that_is_known() -> None:
    robot = pliant.load("hopper")
    body = next(iter(robot.bodies))
    robot = robot.with_contact(body, name="own", friction=0.3)
    model = {"contact": {"kind": "RigidContact", "friction": 0.7}}
    assert friction_of(Source(robot, pliant.flat(friction=0.5), settings=model)).tolist() == [0.5, 0.5, 0.3]
    assert friction_of(Source(robot, pliant.flat(), settings=model)).tolist() == [0.7, 0.7, 0.3]
    assert friction_of(Source(robot, pliant.flat())).tolist() == [0, 0, 0.3]


# ---- the page that replays a log


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
    for place, options, message in (
        (path, {"plots": ("energi",)}, "no channel named 'energi' in the log; did you mean"),
        (path, {"fps": 0}, "fps of to_html is 0"),
        (tmp_path / "none" / "run.html", {"plots": ()}, "does not exist"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            hop[:5].to_html(place, **options)
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
