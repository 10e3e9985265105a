"""A notebook that is executed by Jupyter's kernel, and looked at in a browser that is cut off from every network."""

import html
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Route, sync_playwright

CELLS = (
    "import pliant, numpy as np\nrobot = pliant.load('hopper')\nrobot",
    "sim = pliant.Simulation(robot, dt=2e-3, ground=pliant.flat(friction=0.6), progress=False)\n"
    "sim.reset(q=[0, 0, 1.0, 0, 0, 0, 1, 0, 0, 0, 0])\nlog = sim.run(0.6)\nlog",
    "log.replay(height=300)",
    "sim",
    "pliant.EventSimulation(robot, ground=pliant.flat())",
    "log.plot('q.leg')",
    "arm = pliant.load('pendulum')\nresponse = pliant.analysis.bode(arm)\nresponse",
    "response.plot()",
    "print(response)",
    "from pliant.learn import Policy\nlayers = ((np.eye(3, 2), np.zeros(3)), (np.ones((1, 3)), np.zeros(1)))\n"
    "Policy(layers, 'elu', np.zeros(2), np.ones(2), 10.0, np.ones(1), ('angle', '<rate>'), ('push',))",
    "page = log.to_html('run.html')\nviewer = log.view(port=0, block=False)",
    "viewer",
    "viewer.close()",
)
ROBOT, LOG, REPLAY, SIM, EVENTS, PLOT, BODE, BODE_PLOT, PRINTED, POLICY, VIEW, LINK, CLOSED = range(len(CELLS))
PATIENCE = 40_000  # milliseconds until something must have happened


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """The outputs of each cell."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    folder = str(tmp_path_factory.mktemp("notebook"))
    nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return [cell.outputs for cell in book.cells]


def _value(outputs: list[list[Any]], cell: int) -> Any:
    """The data of the only output of a cell, which is its value."""
    assert [output.output_type for output in outputs[cell]] == ["execute_result"]
    return outputs[cell][0].data


def test_values_have_displays(outputs: list[list[Any]]) -> None:
    for cell, words in (
        (ROBOT, ("Robot &#x27;hopper&#x27;", "data:image/jpeg", "hip_pitch")),
        (LOG, ("301 steps, t = 0 to 0.6 s", "pliant-replay", "<td>forces</td>")),
        (REPLAY, ("pliant-replay", "height:300px")),
        (SIM, ("Simulation of", "0.6 s", "data:image/jpeg", "RigidContact")),
        (EVENTS, ("EventSimulation of", "data:image/jpeg")),
        (POLICY, ("2 - 3 - 1, elu", "<td>&lt;rate&gt;</td>", "push")),
    ):
        shown = _value(outputs, cell)["text/html"]
        assert [word for word in words if word not in shown] == []
        # nothing is loaded from elsewhere, and there is no frame that Colab would leave out
        assert not re.search(r"<iframe|src=\"http|<link|import\(", shown)


def test_plots_are_pictures(outputs: list[list[Any]]) -> None:
    for cell in (PLOT, BODE, BODE_PLOT):
        data = _value(outputs, cell)
        assert data["image/png"].startswith("iVBORw0KGgo")


def test_printing_a_response_is_one_line(outputs: list[list[Any]]) -> None:
    assert len(outputs[PRINTED]) == 1
    text = outputs[PRINTED][0].text
    assert text.count("\n") == 1
    assert "200 frequencies (0.1 to 1000 rad/s)" in text


def test_servers_write_no_banner_into_cells(outputs: list[list[Any]]) -> None:
    # one line with the address of the page is all that is printed
    (printed,) = outputs[VIEW]
    assert re.fullmatch(r"viewer at http://localhost:\d+\n", printed.text)
    assert 'href="http://localhost:' in _value(outputs, LINK)["text/html"]
    assert outputs[CLOSED] == []


# ---- in the browser


@pytest.fixture
def page(browser_path: str) -> Iterator[Page]:
    """A page that reports its errors and every request to elsewhere."""
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=browser_path, args=flags)
        page, problems = browser.new_page(viewport={"width": 800, "height": 500}), []

        def guard(route: Route) -> None:
            if route.request.url.startswith(("file://", "data:", "blob:")):
                route.continue_()
            else:
                problems.append(route.request.url)
                route.abort()

        page.route("**/*", guard)
        page.on("pageerror", lambda error: problems.append(str(error)))
        yield page
        assert problems == []
        browser.close()


def test_replays_play_in_the_page(outputs: list[list[Any]], page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    replay = _value(outputs, REPLAY)["text/html"]
    path.write_text(f'<meta charset="utf-8"><body style="margin:0">{replay}', encoding="utf-8")
    page.goto(path.as_uri())
    root = page.locator(".pliant-replay")
    page.wait_for_function("document.querySelector('.pliant-replay').dataset.time > 0.05", timeout=PATIENCE)
    page.get_by_role("button", name="play or pause").click()

    def picture(time: float) -> np.ndarray:
        page.get_by_role("slider").evaluate("(e, f) => { e.value = f; e.oninput(); }", 30 * time)
        page.wait_for_function(f"Math.abs(document.querySelector('.pliant-replay').dataset.time - {time}) < 1e-3")
        shot = page.screenshot(clip={"x": 0, "y": 0, "width": 800, "height": 300})
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int)

    def different(a: np.ndarray, b: np.ndarray) -> int:
        return int((np.abs(a - b).max(axis=-1) > 16).sum())

    # the robot is at its time, wherever the slider was before
    start, later = picture(0.0), picture(0.4)
    assert different(start, later) > 300
    assert different(start, picture(0.0)) < 20
    # dragging turns the picture
    page.mouse.move(300, 150)
    page.mouse.down()
    page.mouse.move(420, 170, steps=4)
    page.mouse.up()
    assert different(start, picture(0.0)) > 1000
    assert root.locator("img").count() == 0


def test_without_scripts_there_is_a_picture(outputs: list[list[Any]], browser_path: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<body>{_value(outputs, REPLAY)['text/html']}", encoding="utf-8")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=browser_path, args=flags)
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(path.as_uri())
        box = page.locator("img.pliant-poster").bounding_box()
        assert box is not None
        assert box["height"] == pytest.approx(300, abs=1)
        browser.close()


def test_scripts_survive_how_notebooks_insert_them(outputs: list[list[Any]], page: Page) -> None:
    # Jupyter and VS Code set innerHTML, where scripts do not run, and then put a fresh copy of each script in its place
    replay = _value(outputs, LOG)["text/html"]
    page.set_content("<body></body>")
    page.evaluate(
        """(text) => { const box = document.body.appendChild(document.createElement("div")); box.innerHTML = text;
        for (const old of box.querySelectorAll("script")) { const fresh = document.createElement("script");
        fresh.textContent = old.textContent; old.replaceWith(fresh); } }""",
        replay,
    )
    page.wait_for_selector(".pliant-replay canvas", timeout=PATIENCE)
    page.wait_for_function("document.querySelector('.pliant-replay').dataset.time !== undefined", timeout=PATIENCE)
    assert html.unescape(page.locator(".pliant strong").inner_text()) == "Log of 'hopper'"
