"""Fixtures for side files: one that writes them, and a robot that they change."""

from collections.abc import Callable
from pathlib import Path

import pytest

import pliant
from pliant.robot import Robot


@pytest.fixture
def toml(tmp_path: Path) -> Callable[..., Path]:
    """Writes a side file."""

    def written(text: str | bytes, name: str = "robot.toml") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


@pytest.fixture
def arm() -> Robot:
    """Shoulder and elbow with motors, wrist fixed."""
    return pliant.load("two_link_arm")
