"""What a user does on the page of a viewer: drag, click, cameras and videos; in a real browser where it matters."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, sync_playwright

import pliant
from pliant.viewer.browser_scene import ground_normals
from pliant.viewer.live import Runner
from pliant.viewer.stepping import Pull, Push, pushed

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
PATIENCE = 60.0  # seconds until something must have happened, on a slow machine without a graphics card


@pytest.fixture(scope="module")
def page(browser_path: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 700})
        yield page
        browser.close()


def until(condition: Any, page: Page) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        page.wait_for_timeout(50)


def on_screen(page: Page, viewer: Any, point: np.ndarray) -> tuple[float, float]:
    """Where a point of the world is on the page, in the picture, which the panel does not cover."""
    canvas = page.locator("canvas").first.bounding_box()
    panel = page.get_by_text("Camera", exact=True).first.bounding_box()
    assert canvas is not None
    assert panel is not None
    assert canvas["x"] + canvas["width"] <= panel["x"]
    (client,) = viewer.server.get_clients().values()
    eye = np.asarray(client.camera.position)
    forward = np.asarray(client.camera.look_at) - eye
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    away = point - eye
    scale = canvas["height"] / 2 / np.tan(client.camera.fov / 2) / (away @ forward)
    x = canvas["x"] + canvas["width"] / 2 + scale * (away @ right)
    y = canvas["y"] + canvas["height"] / 2 - scale * (away @ np.cross(right, forward))
    return float(x), float(y)


def opened(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_text("Camera", exact=True).first.wait_for(timeout=1000 * PATIENCE)
    # the robot has been drawn once the picture has more than one colour
    until(lambda: len(set(page.locator("canvas").first.screenshot())) > 100, page)
    page.wait_for_timeout(1500)


def test_dragging_pulls_a_body_and_a_click_names_it(page: Page) -> None:
    robot = pliant.load("quadruped")
    sim = pliant.Simulation(robot, dt=2e-3, progress=False)
    with pliant.live(sim, port=0, block=False, play=False, follow=True) as viewer:
        opened(page, viewer.url)
        runner = viewer.player
        x, y = on_screen(page, viewer, np.asarray(pliant.frame_pose(robot, sim.q, "trunk"))[:3, 3])
        page.mouse.move(x, y)
        page.mouse.down()
        for k in range(1, 8):
            page.mouse.move(x + 12 * k, y)
            page.wait_for_timeout(150)
        until(lambda: bool(runner.pulls), page)
        (pull,) = runner.pulls.values()
        runner.advance(5)
        # the pull is to the right of the picture, where the camera looks from front and right: along +x and +y
        assert pull.force is not None
        assert pull.force @ np.array([1.15, 1.0, 0.0]) > 0
        assert sim.v[:3] @ np.array([1.15, 1.0, 0.0]) > 1e-3
        page.mouse.up()
        until(lambda: not runner.pulls, page)
        # a click without a move selects
        page.mouse.click(x, y)
        page.locator("strong", has_text=pull.body).first.wait_for(timeout=1000 * PATIENCE)


def test_cameras_and_follow(page: Page, hop: pliant.Log) -> None:
    q = np.tile(hop.q[0], (11, 1))
    q[:, 0] = np.linspace(0, 1, 11)
    log = pliant.Log(np.linspace(0, 1, 11), {"q": q}, source=hop.source)
    with log.view(port=0, block=False, play=False, follow=False) as viewer:
        opened(page, viewer.url)
        (client,) = viewer.server.get_clients().values()
        for name, axis, sign in (("front", 0, 1), ("left", 1, 1), ("right", 1, -1), ("top", 2, 1)):
            page.get_by_role("button", name=name, exact=True).click()

            def there(axis: int = axis, sign: int = sign) -> bool:
                towards = np.asarray(client.camera.position) - np.asarray(client.camera.look_at)
                return sign * towards[axis] > 0.95 * float(np.linalg.norm(towards))

            until(there, page)
        # with follow, the world moves against the robot, which stays in the picture
        world = viewer.server.scene.get_handle_by_name("/world")
        viewer.player.go(0.5)
        assert np.allclose(world.position, 0)
        page.get_by_text("follow", exact=True).click()
        until(lambda: np.allclose(world.position, [-0.5, 0, 0], atol=1e-6), page)


def test_a_log_is_recorded_from_the_page(page: Page, hop: pliant.Log) -> None:
    import imageio_ffmpeg

    with hop[:41].view(port=0, block=False, play=False) as viewer:
        opened(page, viewer.url)
        with page.expect_download(timeout=1000 * PATIENCE) as download:
            page.get_by_role("button", name="Record").click()
        path = download.value.path()
        # 40 steps of 2 ms at 25 frames a second
        count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
        assert count == 3
        assert seconds == pytest.approx(3 / 25, abs=0.021)


def test_arrows_of_forces_begin_at_the_feet(hop: pliant.Log) -> None:
    robot = hop.source.robot
    with hop.view(port=0, block=False, play=False) as viewer:
        arrows = viewer.server.scene.get_handle_by_name("/world/robot 0/forces")
        on = np.flatnonzero(np.abs(hop.forces).sum(axis=-1) > 1)
        assert len(on) > 20
        k = [p.name for p in robot.contact_points].index("foot")
        point = robot.contact_points[k]
        for step in on[:: len(on) // 10]:
            viewer.player.go(float(hop.t[step]))
            X = np.asarray(pliant.frame_pose(robot, hop.q[viewer.player.step], point.body))
            center = X[:3, :3] @ np.array([float(c) for c in point.center]) + X[:3, 3]
            foot = center - float(point.radius) * ground_normals(hop.source.ground, center[None])[0]
            # single precision of what the page is sent
            np.testing.assert_allclose(arrows.batched_positions[k], foot, atol=1e-6)


# ---- pulls and pushes


def test_a_pull_on_a_free_body_is_an_oscillator() -> None:
    """Its impulse is that of the implicit step: u' = u + p / m with p = dt (k (d - dt u') - c u')."""
    robot = pliant.load("hopper")
    sim = pliant.Simulation(robot, dt=1e-3, progress=False)
    k, c, dt = 500.0, 20.0, 1e-3
    pull = Pull("body", np.zeros(3), np.array([0.3, -0.1, 0.2]), k, c)
    v = pushed(sim, pull, dt)
    J = np.asarray(pliant.frame_jacobian(robot, sim.q, "body", reference="local_world_aligned"))[:3]
    u, d = J @ v, pull.target - np.asarray(pliant.frame_pose(robot, sim.q, "body"))[:3, 3]
    assert pull.force is not None
    # the force at the end of the step is that of spring and damper there
    np.testing.assert_allclose(pull.force, k * (d - dt * u) - c * u, rtol=1e-9)
    np.testing.assert_allclose(np.asarray(pliant.mass_matrix(robot, sim.q)) @ v, J.T @ pull.force * dt, atol=1e-12)


def test_a_push_away_from_the_origin_turns() -> None:
    robot = pliant.load("hopper")
    sim = pliant.Simulation(robot, dt=1e-3, progress=False)
    r, f, dt = np.array([0.1, 0.2, -0.3]), np.array([3.0, -1.0, 2.0]), 1e-2
    v = pushed(sim, Push("body", f, 1.0, r), dt)
    # the generalised momentum of the free base is impulse and moment about its origin, in its own axes
    momentum = np.asarray(pliant.mass_matrix(robot, sim.q)) @ v
    np.testing.assert_allclose(momentum[:3], f * dt, atol=1e-12)
    np.testing.assert_allclose(momentum[3:6], np.cross(r, f) * dt, atol=1e-12)


def test_pushes_to_one_robot_of_a_batch() -> None:
    robot = pliant.load("hopper")
    sim = pliant.Simulation(robot, dt=2e-3, batch=3, progress=False)
    runner = Runner(sim, None, {}, lambda sim: None)
    runner.push("body", (0, 10, 0), 0.1, robot=1)
    runner.advance(3)
    assert (np.abs(sim.v[:, 1]) > 1e-4).tolist() == [False, True, False]
    with pytest.raises(pliant.PliantError, match="robot of push is 3; it takes None, or 0 to 2"):
        runner.push("body", (0, 10, 0), 0.1, robot=3)


def test_event_driven_simulations_run_live() -> None:
    robot = pliant.load("hopper")
    sim = pliant.EventSimulation(robot, ground=pliant.flat(), friction=0.8)
    sim.reset(q=robot.integrate(robot.neutral(), [0, 0, 0.85, 0, 0, 0, 0, 0, 0, 0]))
    with sim.view(lambda t, q, v, k: [-k * q[7], -k * q[8], 0.0], gains={"k": 100}, port=0, block=False,
                  play=False) as viewer:  # fmt: skip
        runner = viewer.player
        runner.push("body", (0, 20, 0), 0.1)
        runner.advance(60)
        assert viewer.error is None, runner.text
        assert sim.t == pytest.approx(0.3)
        assert sim.v[1] > 0.05
        runner.reset()
        assert sim.t == 0
