"""Robots by name or path: those that come with Pliant, and files by their suffix."""

import inspect
from pathlib import Path
from typing import Any

from pliant.errors import RobotError, unknown_name
from pliant.formats.urdf import load_urdf
from pliant.robot import Robot

__all__ = ["load", "robots"]

# shipped robots that stand on the world; the others are bolted to it
_FREE = ("biped", "quadruped")
_READERS = {".urdf": load_urdf, ".xacro": load_urdf}
_OPTIONS = list(inspect.signature(load_urdf).parameters)[1:]


def load(source: str | Path, **options: Any) -> Robot:
    """A robot, by the name of a shipped one (see `robots`) or by the path of a file.

    Args:
        source: "quadruped", or a path that ends in .urdf or .xacro.
        options: those of the reader, `load_urdf`; a shipped robot brings its own ``base``.
    """
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise RobotError(unknown_name("option", unknown[0], _OPTIONS, "pliant.load"))
    if isinstance(source, str) and _is_name(source):
        if source not in robots():
            near = unknown_name("shipped robot", source, robots())
            raise RobotError(f"{near} (for a file, give its path with the suffix, e.g. '{source}.urdf')")
        base = "free" if source in _FREE else "fixed"
        return load_urdf(_folder() / f"{source}.urdf", **{"base": base, **options})
    suffix = Path(source).suffix.lower()
    if suffix not in _READERS:
        raise RobotError(
            f"{source}: no reader for {suffix or 'files without a suffix'}; there are {', '.join(_READERS)}"
        )
    return _READERS[suffix](source, **options)


def robots() -> list[str]:
    """Names of the robots that come with Pliant."""
    return sorted(path.stem for path in _folder().glob("*.urdf"))


def _is_name(source: str) -> bool:
    return Path(source).name == source and not Path(source).suffix


def _folder() -> Path:
    return Path(__file__).parents[1] / "robots"
