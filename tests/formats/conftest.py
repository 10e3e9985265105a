"""Fixtures that write and load small URDF files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pliant.formats import load_urdf
from pliant.robot import Robot


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a URDF with these elements, the first on line 2."""

    def written(*elements: str, name: str = "robot.urdf", head: str = '<robot name="r">\n') -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + "".join(elements) + "</robot>\n", encoding="utf-8")
        return path

    return written


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., Robot]:
    """Writes such a file and loads it."""

    def loaded(*elements: str, **options: object) -> Robot:
        return load_urdf(write(*elements), **options)  # type: ignore[arg-type]

    return loaded
