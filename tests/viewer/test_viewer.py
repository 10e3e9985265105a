"""The viewer as a server: its handle and port, what it holds and refuses, and live mode."""

import re
import socket
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.plots.figures import round_number
from pliant.viewer.browser_scene import BrowserScene
from pliant.viewer.live import Runner
from pliant.viewer.replay import replay_page
from pliant.viewer.server import served
from pliant.viewer.stepping import Push, pushed
from simulated_robots import started


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


def test_bad_calls_are_refused(batch: pliant.Log, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = pliant.load("pendulum")
    for shown, options, message in (
        (robot, {"port": 70000}, "port of the viewer is 70000; it takes a whole number from 0"),
        (robot, {"show": "frame"}, "no mark named 'frame' in the viewer; did you mean 'frames'"),
        (robot, {"q": np.zeros(3)}, r"q has shape \(3,\); 'pendulum' takes \(1,\)"),
        (batch, {"port": 0, "layout": "row"}, "no layout named 'row'"),
        (batch, {"port": 0, "traces": ["toe"]}, "no frame named 'toe'"),
        (batch, {"port": 0, "plot": "enrgy"}, "no channel named 'enrgy' in the log; did you mean 'energy'"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            shown.view(block=False, **options)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(pliant.PliantError, match=r"the viewer needs viser: pip install 'pliant\[view\]'"):
        robot.view(block=False)


def test_no_marks_are_none_and_a_wrong_one_lists_all(batch: pliant.Log) -> None:
    with batch.view(port=0, block=False, play=False, show=None) as viewer:
        assert viewer.is_open
    with pytest.raises(pliant.PliantError) as caught:
        batch.view(port=0, block=False, show="everything")
    assert caught.value.cure.endswith("show= takes frames, inertias, mass, contacts, names, forces, cones")


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
        scene = BrowserScene(viewer.server, hop.source, q[:1][None], follow=True)
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


def test_a_number_is_the_number_of_a_robot(batch: pliant.Log, tmp_path: Path) -> None:
    """In every function that takes robots=."""
    with batch.view(port=0, block=False, play=False, robots=3) as viewer:
        node = viewer.server.scene.get_handle_by_name("/world/robot 0/forearm")
        X = np.asarray(pliant.frame_pose(batch.source.robot, batch.q[3, 0], "forearm"))
        np.testing.assert_allclose(node.position, X[:3, 3], atol=1e-12)
        assert viewer.server.scene.get_handle_by_name("/world/robot 1") is None
    sim = started(pliant.Simulation(batch.source.robot, batch=4, progress=False), q=batch.q[:, 0])
    with sim.view(port=0, block=False, play=False, robots=3) as viewer:
        node = viewer.server.scene.get_handle_by_name("/world/robot 0/forearm")
        np.testing.assert_allclose(node.position, X[:3, 3], atol=1e-12)
    curves = [re.findall("<polyline points=.*?>", page) for page in (
        replay_page(batch, robots=3), replay_page(batch.robot(3)), replay_page(batch),
    )]  # fmt: skip
    assert curves[0] == curves[1] != curves[2]
    for draw in (
        batch.view, sim.view, lambda **options: batch.to_html(tmp_path / "x.html", **options), batch.plot,
        lambda **options: batch.to_image(tmp_path / "x.png", **options), batch.plot_phase,
        lambda **options: batch.to_video(tmp_path / "x.mp4", **options),
    ):  # fmt: skip
        with pytest.raises(pliant.PliantError) as error:
            draw(robots=4)
        assert error.value.field == "robots"
        assert "0 to 3" in error.value.cure


@pytest.mark.parametrize("speed", [0.25, 0.3])
def test_the_page_shows_the_speed_and_the_plot(hop: pliant.Log, speed: float) -> None:
    def control(viewer, label: str):
        (found,) = (h for h in viewer.server.gui._gui_input_handle_from_uuid.values() if h.label == label)
        return found

    sim = pliant.Simulation(hop.source.robot, progress=False)
    for view in (hop.view, sim.view):
        with view(port=0, block=False, play=False, speed=speed) as viewer:
            assert viewer.player.speed == speed
            shown = control(viewer, "speed")
            assert shown.value == f"{speed:g}x"
            assert list(shown.options) == sorted(shown.options, key=lambda text: float(text[:-1]))
    with hop.view(port=0, block=False, play=False, plot="energy") as viewer:
        assert control(viewer, "channel").value == "energy"


@pytest.mark.parametrize(("x", "expected"), [(0.34, 0.2), (0.5, 0.5), (7, 5), (1, 1), (1e-4, 1e-4)])
def test_round_numbers(x: float, expected: float) -> None:
    assert round_number(x) == pytest.approx(expected)


# ---- live mode


def simulation(**options: object) -> pliant.Simulation:
    return pliant.Simulation(pliant.load("hopper"), dt=1e-3, progress=False, **options)  # type: ignore[arg-type]


def test_a_push_is_an_impulse_on_the_whole_robot() -> None:
    sim = simulation()
    robot = sim.robot
    sim.reset(q=robot.random(0), v=np.random.default_rng(0).normal(size=robot.nv))
    force, dt = np.array([3.0, -2.0, 5.0]), 0.01
    after = pushed(sim, Push("tube", force, 1.0, np.zeros(3)), dt)
    h0, h1 = (np.asarray(pliant.centroidal_momentum(robot, sim.q, v)) for v in (sim.v, after))
    # M^-1 J^T f dt changes the momentum by the impulse and its moment about the centre of mass
    np.testing.assert_allclose((h1 - h0)[:3], force * dt, atol=1e-10)
    arm = np.asarray(pliant.frame_pose(robot, sim.q, "tube"))[:3, 3] - np.asarray(pliant.center_of_mass(robot, sim.q))
    np.testing.assert_allclose((h1 - h0)[3:], np.cross(arm, force * dt), atol=1e-10)


def test_a_push_lasts_as_long_as_it_says() -> None:
    sim = started(simulation())
    runner = Runner(sim, None, {}, lambda sim: None)
    runner.push("body", (10.0, 0, 0), 0.05)
    runner.advance(100)
    assert runner.error is None
    assert runner.pushes == []
    p = np.asarray(pliant.centroidal_momentum(sim.robot, sim.q, sim.v))[:3]
    # 10 N for 0.05 s along x, and gravity for 0.1 s; explicit pushes are exact in momentum but for the step's order
    assert p[0] == pytest.approx(0.5, rel=1e-3)
    assert p[2] == pytest.approx(-9.81 * float(sim.robot.mass) * 0.1, rel=1e-3)
    with pytest.raises(pliant.PliantError, match="no frame named 'knee'"):
        runner.push("knee", (1, 0, 0))
    with pytest.raises(pliant.PliantError, match="three numbers"):
        runner.push("body", (1, 0))


def broken(t: float, q: np.ndarray, v: np.ndarray, kp: float) -> np.ndarray:
    """A controller that fails."""
    if t > 0.0105:
        raise ValueError(f"broken at kp = {kp}")
    return np.zeros(3)


def test_errors_of_the_controller_are_kept_and_reset_goes_on() -> None:
    sim = started(simulation())
    runner = Runner(sim, broken, {"kp": 7.0}, lambda sim: None)
    runner.advance(50)
    assert isinstance(runner.error, ValueError)
    assert "broken at kp = 7.0" in runner.text
    assert "in broken" in runner.text
    assert "runner.py" not in runner.text
    assert not runner.is_playing
    assert sim.t == pytest.approx(0.011)
    runner.reset()
    assert runner.error is None
    assert sim.t == 0
    runner.advance(5)
    assert sim.t == pytest.approx(0.005)
    # gains reach the controller
    seen = []
    runner = Runner(sim, lambda t, q, v, kp: seen.append(kp), {"kp": 1.0}, lambda sim: None)
    runner.advance()
    runner.gains["kp"] = 2.0
    runner.advance()
    assert seen == [1.0, 2.0]


def test_live_runs_until_its_controller_fails() -> None:
    sim = simulation(ground=pliant.flat(), varying=["gravity", "friction"])
    q = sim.robot.neutral()
    q[2] = 1.0
    sim.reset(q=q)
    with pliant.live(sim, broken, gains={"kp": (0, 10, 5)}, port=0, block=False) as viewer:
        end = time.monotonic() + 30
        while viewer.error is None and time.monotonic() < end:
            time.sleep(0.02)
        assert isinstance(viewer.error, ValueError)
        assert 0.01 < sim.t < 0.02
        assert not viewer.player.is_playing


@pytest.mark.parametrize(("arguments", "message"), [
    ({"controller": 3}, "takes a function"),
    ({"gains": {"kp": 1.0}}, "gains need a controller"),
    ({"controller": lambda t, q, v, kp: None, "gains": {"kp": (2, 1, 3)}}, "gain 'kp' of live is"),
    ({"show": "x"}, "no mark named 'x'"),
    ({"made": lambda: pliant.load("hopper")}, "live takes a simulation first, not Robot"),
])  # fmt: skip
def test_bad_live_calls_are_refused(arguments: dict, message: str) -> None:
    options = {"made": simulation, "block": False} | arguments
    with pytest.raises(pliant.PliantError, match=message):
        pliant.live(options.pop("made")(), **options)


def test_a_simulation_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    module = import_module("pliant.viewer.live")
    monkeypatch.setattr(module, "view_simulation", lambda *args, **options: seen.extend([args, options]))
    sim = simulation()
    sim.view(abs, speed=2.0)
    arguments, options = seen
    assert arguments == (sim, abs) and options["speed"] == 2.0
