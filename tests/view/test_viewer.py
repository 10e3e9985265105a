"""The viewer as a server: its handle, its port, what it holds and what it refuses."""

import socket
import sys

import numpy as np
import pytest

import pliant
from pliant.viewer.page import nice, served
from pliant.viewer.scene import Scene


def test_a_port_in_use_leads_to_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    robot = pliant.load("pendulum")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with robot.view(port=port, block=False) as viewer:
            assert viewer.port != port
            assert viewer.url == f"http://localhost:{viewer.port}"
            assert capsys.readouterr().out == f"viewer at {viewer.url} (port {port} is in use)\n"
            assert viewer.is_open
            with socket.create_connection(("127.0.0.1", viewer.port), timeout=5):
                pass
    assert not viewer.is_open
    viewer.close()
    assert repr(viewer) == "Viewer, closed"


def test_what_cannot_be_is_told() -> None:
    robot = pliant.load("pendulum")
    for options, message in (
        ({"port": 70000}, "port is 70000; it takes a whole number from 0"),
        ({"show": "frame"}, "no mark named 'frame' in the viewer; did you mean 'frames'"),
        ({"q": np.zeros(3)}, r"q has shape \(3,\); 'pendulum' takes \(1,\)"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            robot.view(block=False, **options)


def test_without_viser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(pliant.PliantError, match=r"the viewer needs viser: pip install 'pliant\[view\]'"):
        pliant.load("pendulum").view(block=False)


def test_scene_holds_the_robots_where_they_are(batch: pliant.Log) -> None:
    with batch.view(port=0, block=False, play=False, show=("frames", "inertias", "mass", "names")) as viewer:
        robot = batch.source.robot
        viewer.player.go(0.05)
        step = viewer.player.step
        assert step == 10
        for k in range(4):
            node = viewer.server.scene.get_handle_by_name(f"/world/robot {k}/forearm")
            X = np.asarray(pliant.frame_pose(robot, batch.q[k, step], "forearm"))
            np.testing.assert_allclose(node.position, X[:3, 3], atol=1e-12)
        # side by side: no two robots' worlds are in one place
        places = [viewer.server.scene.get_handle_by_name(f"/world/robot {k}").position for k in range(4)]
        assert len({tuple(np.round(p, 6)) for p in places}) == 4


def test_a_robot_that_goes_up_stays_in_the_picture(hop: pliant.Log) -> None:
    robot = hop.source.robot
    distances = []
    for climb in (0.0, 4.0):
        q = np.tile(robot.neutral(), (11, 1))
        q[:, 2] = 0.7 + np.linspace(0, climb, 11)
        log = pliant.Log(np.linspace(0, 1, 11), {"q": q}, source=hop.source)
        with log.view(port=0, block=False, play=False) as viewer:
            camera = viewer.server.initial_camera
            distances.append(np.linalg.norm(np.subtract(camera.position, camera.look_at)))
            # all of it is in the picture, so that the world stays
            viewer.player.go(1.0)
            assert viewer.server.scene.get_handle_by_name("/world").position[2] == 0
    assert distances[1] > 2 * distances[0]
    # what was not foreseen is followed, hops are not
    with served("a test", port=0) as viewer:
        scene = Scene(viewer.server, hop.source, q[:1][None], follow=True)
        for up, expected in ((0.02, 0.0), (3.0, -3.0)):
            moved = q[:1].copy()
            moved[0, 2] += up
            scene.draw(moved)
            assert scene.world.position[2] == pytest.approx(expected, abs=scene.size)
        assert scene.world.position[2] < -1


def test_the_picture_follows_a_robot_that_goes_far(hop: pliant.Log) -> None:
    q = np.tile(hop.source.robot.neutral(), (11, 1))
    q[:, 0], q[:, 1], q[:, 2] = np.linspace(0, 5, 11), np.linspace(0, 1, 11), 0.7
    log = pliant.Log(np.linspace(0, 1, 11), {"q": q}, source=hop.source)
    with log.view(port=0, block=False, play=False) as viewer:
        world = viewer.server.scene.get_handle_by_name("/world")
        viewer.player.go(1.0)
        # the world goes back by as much as the robot went on
        np.testing.assert_allclose(world.position, (-5, -1, 0), atol=1e-12)
    with log.view(port=0, block=False, play=False, follow=False) as viewer:
        viewer.player.go(1.0)
        np.testing.assert_array_equal(viewer.server.scene.get_handle_by_name("/world").position, 0)


def test_layouts_and_traces_are_checked(batch: pliant.Log) -> None:
    with pytest.raises(pliant.PliantError, match="no layout named 'row'"):
        batch.view(port=0, block=False, layout="row")
    with pytest.raises(pliant.PliantError, match="no frame named 'toe'"):
        batch.view(port=0, block=False, traces=["toe"])


@pytest.mark.parametrize(("x", "expected"), [(0.34, 0.2), (0.5, 0.5), (7, 5), (1, 1), (1e-4, 1e-4)])
def test_nice_numbers(x: float, expected: float) -> None:
    assert nice(x) == pytest.approx(expected)
