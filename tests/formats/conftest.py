"""Fixtures that write and load small URDF files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pliant.formats import load_urdf
from pliant.robot import Robot
from urdf_text import write_urdf


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
