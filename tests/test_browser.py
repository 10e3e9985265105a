"""Tests that need a browser get one, or are left out with a line that says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import browser


class Machine:
    """A machine on which commands only note that they ran; those of ``works`` end well and make a browser."""

    def __init__(
        self, patch: pytest.MonkeyPatch, *, works: tuple[str, ...] = (), debian: bool = True, root: bool = True
    ):
        self.ran: list[str] = []
        self.works = works
        self.has_browser = "system" in works
        patch.setattr(browser.os, "geteuid", lambda: 0 if root else 1000, raising=False)
        patch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}" if self.has(name) else None)
        patch.setattr(browser, "_of_playwright", lambda: None)
        patch.setattr(browser, "_is_debian", lambda: debian)
        patch.setattr(browser, "_runs", self.run)
        patch.setattr(browser.sys, "platform", "linux")

    def has(self, name: str) -> bool:
        return name == "apt-get" or (name == "chromium" and self.has_browser)

    def run(self, command: list[str], patience: float = 0) -> bool:
        line = " ".join(Path(part).name if "/" in part else part for part in command)
        self.ran.append(line)
        if "--version" in line or "update" in line:
            return "--version" in line or "apt-get" in self.works
        ends_well = any(word in line for word in self.works)
        self.has_browser |= ends_well
        return ends_well


def test_the_browser_of_the_system_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, works=("system",))
    assert browser.found_or_got() == "/usr/bin/chromium"
    assert machine.ran == ["chromium --version"]


def test_debian_installs_its_own_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, works=("apt-get",))
    assert browser.found_or_got() == "/usr/bin/chromium"
    assert machine.ran[:2] == ["apt-get update -qq", "apt-get install -y -qq --no-install-recommends chromium"]


@pytest.mark.parametrize("options, expected", [
    ({"debian": False}, "-m playwright install --with-deps chromium"),
    ({"root": False}, "-m playwright install chromium"),
    ({}, "-m playwright install --with-deps chromium"),  # apt-get has failed
])  # fmt: skip
def test_elsewhere_playwright_brings_one(monkeypatch: pytest.MonkeyPatch, options: dict, expected: str) -> None:
    machine = Machine(monkeypatch, works=("playwright",), **options)
    assert browser.found_or_got() == "/usr/bin/chromium"
    assert machine.ran[-2].endswith(expected)
    assert any("apt-get" in line for line in machine.ran) == (not options)


def test_a_browser_that_does_not_start_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, works=("system",))
    monkeypatch.setattr(browser, "_runs", lambda command, patience=0: False)
    assert browser.found_or_got() is None


TESTS = """
import browser
browser.found = lambda: None
def test_one(browser_path): pass
def test_two(browser_path): pass
"""


@pytest.mark.parametrize("ci, code, starts", [("false", 0, "SKIPPED [2]"), ("true", 1, "ERROR")])
def test_without_a_browser_the_summary_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: str, code: int, starts: str
) -> None:
    """One line, with the cure; under CI it fails."""
    (tmp_path / "test_it.py").write_text(TESTS)
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    options = ["-ra", "-p", "no:cacheprovider", "-p", "conftest", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert ran.returncode == code, ran.stdout
    said = [line for line in ran.stdout.splitlines() if line.startswith(starts)]
    assert said, ran.stdout
    assert all("no browser" in line for line in said)
    if ci == "false":
        assert len(said) == 1
        assert browser.CURE in said[0]
