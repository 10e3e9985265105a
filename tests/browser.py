"""A browser for the tests of the viewer: the system's, or one that ``python tests/browser.py`` gets before they run.

In this order: a chromium or chrome of the system, the one of Debian (as root), the one of Playwright. Where none can
be had, these tests are left out and the summary says so; with ``CI=true`` that is a failure.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CURE = "python -m playwright install --with-deps chromium"
MISSING = f"no browser, so that the viewer is not tested in one; get one: {CURE}"
PATIENCE = 600.0  # seconds for a download


def found() -> str | None:
    """The path of a browser that starts, if there is one."""
    places = [*(lambda name=name: shutil.which(name) for name in NAMES), _of_playwright]
    candidates = (path for place in places if (path := place()) is not None)
    return next((path for path in candidates if _runs([path, "--version"], 60)), None)


def found_or_got() -> str | None:
    """The path of a browser, which is installed if there is none; None where that fails."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    path = found()
    if path is None and is_root and _is_debian() and shutil.which("apt-get"):
        _say("installing chromium, which the tests of the viewer run in")
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        if _runs(["apt-get", "update", "-qq"]) and _runs(install):
            path = found()
    if path is None:
        _say("installing the chromium of Playwright, which the tests of the viewer run in")
        # root may install the libraries that it needs, too
        needs = ["--with-deps"] if is_root and sys.platform == "linux" else []
        for options in [needs, []] if needs else [[]]:
            if path is None and _runs([sys.executable, "-m", "playwright", "install", *options, "chromium"]):
                path = found()
    return path


def is_required() -> bool:
    """Whether tests without a browser fail."""
    return os.environ.get("CI", "").strip().lower() in ("true", "1")


def _is_debian() -> bool:
    # Ubuntu's package is a snap, which does not run in containers
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _runs(command: Sequence[str], patience: float = PATIENCE) -> bool:
    """Whether a command ends well; what it says is shown if not."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except (OSError, subprocess.TimeoutExpired) as error:
        _say(f"{command[0]}: {error}")
        return False
    if ran.returncode:
        _say(f"{' '.join(command)} failed: {(ran.stderr or ran.stdout).strip()[-300:]}")
    return ran.returncode == 0


def _say(text: str) -> None:
    print(f"browser: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    path = found_or_got()
    print(f"browser: {path}" if path else f"browser: {MISSING}")
    sys.exit(1 if path is None and is_required() else 0)
