"""The viewer and the replay in a real browser, cut off from every network but this machine's own."""

import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, Route, sync_playwright

import pliant

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
SIZE = {"width": 900, "height": 420}
PATIENCE = 40.0  # seconds until something must have happened, on a slow machine without a graphics card


@pytest.fixture(scope="module")
def browser(browser_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page, and the requests that it made to elsewhere."""

    def __init__(self, browser: Browser, url: str):
        self.page: Page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.page.route("**/*", self._guard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(url)

    def _guard(self, route: Route) -> None:
        url = route.request.url
        if url.startswith(("http://localhost:", "ws://localhost:", "file://", "data:", "blob:")):
            route.continue_()
        else:
            self.outside.append(url)
            route.abort()

    def close(self) -> None:
        assert self.outside == []
        assert self.errors == []
        self.page.close()

    def pixels(self) -> np.ndarray:
        """The part of the page that no panel covers."""
        shot = self.page.screenshot(clip={"x": 100, "y": 140, "width": 420, "height": 220})
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int)

    def still(self) -> np.ndarray:
        """The picture when it does not change any more: it fades in, and follows with a delay."""
        before = self.pixels()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.page.wait_for_timeout(250)
            after = self.pixels()
            # there is something to see, and it stays
            if different(before, after) == 0 and after.std() > 3:
                return after
            before = after
        raise AssertionError("the picture never came to rest")


def different(a: np.ndarray, b: np.ndarray) -> int:
    """How many pixels are clearly different."""
    return int((np.abs(a - b).max(axis=-1) > 16).sum())


def until(condition: Callable[[], bool], page: Page) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        page.wait_for_timeout(50)


def _number(element: Locator, attribute: str) -> float:
    return float(element.get_attribute(attribute) or "nan")


def test_viewer_shows_moves_and_plays(browser: Browser, hop: pliant.Log) -> None:
    with hop.view(port=0, block=False, play=False) as viewer:
        visit = Visit(browser, viewer.url)
        page, player = visit.page, viewer.player
        page.get_by_text("Pliant: hopper").wait_for()

        # the robot is there, and its picture moves with it and comes back with it
        start = visit.still()
        player.go(0.35)
        until(lambda: different(start, visit.pixels()) > 200, page)
        player.go(0.0)
        until(lambda: different(start, visit.pixels()) < 20, page)

        # the slider of time: first of the page; its keys move it, and the simulation's time with it
        slider = page.get_by_role("slider").first
        slider.focus()
        slider.press("End")
        until(lambda: player.t == pytest.approx(hop.t[-1], abs=1e-3), page)
        until(lambda: different(start, visit.pixels()) > 200, page)

        # from the end, play starts again
        page.get_by_role("button", name="Play").click()
        until(lambda: player.is_playing and 0.02 < player.t < hop.t[-1], page)
        page.get_by_role("button", name="Pause").click()
        until(lambda: not player.is_playing, page)
        visit.close()


def test_joint_slider_poses_the_robot(browser: Browser) -> None:
    robot = pliant.load("two_link_arm")
    with robot.view(port=0, block=False) as viewer:
        visit = Visit(browser, viewer.url)
        start = visit.still()
        slider = visit.page.get_by_role("slider").first
        slider.focus()
        slider.press("Home")
        until(lambda: different(start, visit.pixels()) > 100, visit.page)
        visit.close()


def test_replay_opens_from_disk_and_plays(browser: Browser, hop: pliant.Log, tmp_path: Path) -> None:
    path = hop.to_html(tmp_path / "run.html", plots=("q", "energy"))
    visit = Visit(browser, Path(path).as_uri())
    page = visit.page
    now = page.locator("#pliant .now").first
    now.wait_for(state="attached")

    # it plays by itself, and the line of the plot goes with it
    place = _number(now, "x1")
    until(lambda: _number(now, "x1") != place, page)

    # space pauses; a click on the slider then goes there: another picture, and the line at that time
    page.keyboard.press("Space")
    bar = page.locator(".mantine-Slider-track").bounding_box()
    assert bar is not None
    left, width = _number(now, "data-left"), _number(now, "data-width")
    slider = page.get_by_role("slider", include_hidden=True)
    pictures = []
    for share in (0.05, 0.45):
        page.mouse.click(bar["x"] + share * bar["width"], bar["y"] + bar["height"] / 2)
        # the bar is a little narrower than its frame
        until(lambda share=share: abs(_number(slider, "aria-valuenow") / hop.t[-1] - share) < 0.05, page)
        pictures.append(visit.still())
        expected = left + width * _number(slider, "aria-valuenow") / hop.t[-1]
        # the slider tells its time to 1e-4 s
        assert _number(now, "x1") == pytest.approx(expected, abs=1e-3 * width)
    assert different(*pictures) > 200
    visit.close()


def test_live_page_shows_errors_resets_and_pushes(browser: Browser) -> None:
    robot = pliant.load("hopper")
    sim = pliant.Simulation(robot, dt=2e-3, progress=False)
    is_broken = [True]

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if is_broken[0]:
            raise RuntimeError("the gain is upside down")
        return np.zeros(3)

    with pliant.live(sim, controller, port=0, block=False) as viewer:
        visit = Visit(browser, viewer.url)
        visit.page.get_by_text("RuntimeError: the gain is upside down").first.wait_for()
        is_broken[0] = False
        visit.page.get_by_role("button", name="Reset").click()
        until(lambda: viewer.error is None and sim.t > 0.02, visit.page)
        visit.page.get_by_role("button", name="Push").click()
        # nothing else moves it along y
        until(lambda: sim.v[1] > 0.01, visit.page)
        visit.close()
