"""Robots by name or path: those that come with Pliant, and files by their suffix."""

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pliant.errors import RobotError, unknown_name
from pliant.formats.urdf import load_urdf
from pliant.robot import Robot

__all__ = ["load", "robots"]

# shipped robots that stand on the world; the others are bolted to it
_FREE = ("biped", "quadruped")
# shipped robots that a function makes, by its module
_MADE = {"hopper": "pliant.catalogue.hopper", "hopper_flight": "pliant.catalogue.hopper_flight"}
_READERS = {".urdf": load_urdf, ".xacro": load_urdf}
_SIDE = ".toml"
_OPTIONS = list(inspect.signature(load_urdf).parameters)[1:]


def load(source: str | Path, *, side: str | Path | None = None, **options: Any) -> Robot:
    """A robot, by the name of a shipped one (see `robots`) or by the path of a file.

    Args:
        source: "quadruped", or a path that ends in .urdf or .xacro; or in .toml, for a side file that names its robot.
        side: a side file, with what URDF cannot say; see `read_side_file`.
        options: those of the reader, `load_urdf`; a shipped robot brings its own ``base``. For a robot that a
            function makes, such as `hopper_flight`, those of the function.
    """
    if not isinstance(source, str | Path):
        raise RobotError(f"load takes the name of a shipped robot or a path, not {source!r}")
    if side is not None and not isinstance(side, str | Path):
        raise RobotError(f"side of load is {side!r}; give the path of a .toml file")
    if side is not None or Path(source).suffix.lower() == _SIDE:
        from pliant.catalogue.side_file import SideFile  # few robots have one

        file = SideFile(source if side is None else side)
        return file.loaded(load, None if side is None else source, options)
    make = _maker(source) if source in _MADE else None
    valid = _OPTIONS if make is None else list(inspect.signature(make).parameters)
    unknown = [name for name in options if name not in valid]
    if unknown:
        raise RobotError(unknown_name("option", unknown[0], [*valid, "side"], "pliant.load"))
    if make is not None:
        return make(**options)
    if isinstance(source, str) and _is_name(source):
        if source not in robots():
            near = unknown_name("shipped robot", source, robots())
            raise RobotError(f"{near} (for a file, give its path with the suffix, e.g. '{source}.urdf')")
        base = "free" if source in _FREE else "fixed"
        return load_urdf(_folder() / f"{source}.urdf", **{"base": base, **options})
    suffix = Path(source).suffix.lower()
    if suffix not in _READERS:
        raise RobotError(
            f"{source}: no reader for {suffix or 'files without a suffix'}; there are {', '.join([*_READERS, _SIDE])}"
        )
    return _READERS[suffix](source, **options)


def robots() -> list[str]:
    """Names of the robots that come with Pliant."""
    return sorted([*_MADE, *(path.stem for path in _folder().glob("*.urdf"))])


def _maker(name: str | Path) -> Callable[..., Robot]:
    return getattr(import_module(_MADE[str(name)]), str(name))


def _is_name(source: str) -> bool:
    return Path(source).name == source and not Path(source).suffix


def _folder() -> Path:
    return Path(__file__).parent / "urdf"
