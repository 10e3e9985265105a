"""Fixture that writes small URDF files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from urdf_text import write_urdf


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a URDF with these elements, the first on line 2."""
    return lambda *elements, **options: write_urdf(tmp_path, *elements, **options)
