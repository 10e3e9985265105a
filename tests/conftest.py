"""Settings of all tests, and fixtures that write and load small URDF files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import browser
from pliant.formats import load_urdf
from pliant.robot import Robot
from urdf_text import write_urdf

# the same examples on every run and machine; slow machines are no failures
settings.register_profile("pliant", derandomize=True, deadline=None)
settings.load_profile("pliant")


@pytest.fixture(autouse=True)
def no_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps tests of what is compiled off the user's cache: what is tested is what the source says now."""
    if request.path.parent.name in ("compiler", "constrained", "contact", "scalar"):
        monkeypatch.setenv("PLIANT_CACHE_DIR", "off")


@pytest.fixture(scope="session")
def browser_path() -> str:
    """A browser to test pages in."""
    path = browser.found()
    if path is None:
        pytest.fail(browser.MISSING)
    return path


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a URDF with these elements, the first on line 2."""
    return lambda *elements, **options: write_urdf(tmp_path, *elements, **options)


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., Robot]:
    """Writes such a file and loads it."""

    def loaded(*elements: str, **options: object) -> Robot:
        return load_urdf(write(*elements), **options)  # type: ignore[arg-type]

    return loaded


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves tests out that need a browser where there is none; where CI=true they fail."""
    needing = [item for item in items if "browser_path" in getattr(item, "fixturenames", ())]
    if needing and not browser.is_required() and browser.found() is None:
        for item in needing:
            item.add_marker(pytest.mark.skip(reason=browser.MISSING))


def pytest_terminal_summary(terminalreporter) -> None:
    """Prints what tests say by ``record_property("note", text)``, also from parallel processes."""
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == "note" and report.when == "call":
                terminalreporter.write_line(text)
