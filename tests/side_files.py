"""Robots that should be the same, and the errors that side files should meet."""

from collections.abc import Callable
from pathlib import Path

import pytest

import pliant
from pliant.errors import RobotError
from pliant.robot import Robot

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "series_elastic.toml"
SHIPPED = Path(pliant.__file__).parent / "catalogue" / "urdf"
QUADRUPED = pliant.load("quadruped")

# writes a side file, with the text and the name that it is given
Write = Callable[..., Path]


def assert_same(a: Robot, b: Robot) -> None:
    """Equal in every name and number; what is printed comes first, since it tells more when they differ."""
    assert repr(a) == repr(b)
    assert a.motors == b.motors
    assert a.digest == b.digest


def refused(path: Path, robot: Robot | None, *words: str, line: int | None = None) -> str:
    """The message of the error that the file meets: it starts with the file and line, and has these words."""
    with pytest.raises(RobotError) as caught:
        pliant.load(path) if robot is None else pliant.catalogue.read_side_file(robot, path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: "), message
    for word in words:
        assert word in message, f"{word!r} not in: {message}"
    return message
