"""A robot that several tests of the conventions use."""

from collections.abc import Callable
from pathlib import Path

import pytest

from urdf_text import joint, link


@pytest.fixture
def star(write: Callable[..., Path]) -> Path:
    """Three slides on a hub: b, a without effort, and B, which follows a."""
    follows = '<mimic joint="a" multiplier="-2" offset="0.5"/>'
    joints = (
        joint(name, "hub", child, "prismatic", f'<limit lower="-1" upper="1" effort="{effort}" velocity="9"/>{more}')
        for name, child, effort, more in (("b", "one", 9, ""), ("a", "two", 0, ""), ("B", "three", 9, follows))
    )
    links = (link(name, "") for name in ("hub", "one", "two", "three"))
    return write(*links, *joints, name="star.urdf", head='<robot name="star">\n')
