"""Robots by name or path: those that come with Pliant, those of example-robot-data, and files by their suffix."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pliant.catalogue import hoppers
from pliant.checks import check
from pliant.errors import Fault, RobotError, unknown_name
from pliant.files.xml import ROBOT_SUFFIXES, read_file, root_tag
from pliant.robot import Named, Robot
from pliant.signatures import explained

OURS, ELSEWHERE = "pliant", "example-robot-data"
"""Packages whose robots have names."""

_URDF = Path(__file__).parent / "urdf"
_SENSORS = Path(__file__).parent / "sensors"
# shipped robots that a function makes
_MADE: dict[str, Callable[..., Robot]] = {"hopper": hoppers.hopper, "hopper_flight": hoppers.hopper_flight}
_SUFFIXES = (*ROBOT_SUFFIXES, ".toml")
# robots that stand, walk or fly, by name or folder; the others are bolted to the world
_FREE = {
    OURS: ("biped", "hopper", "quadruped"),
    ELSEWHERE: (
        "a1", "alex", "alexander", "anymal_b_simple", "anymal_c_simple", "b1", "bolt", "borinot", "cassie",
        "cassie_v2", "centauro", "g1",
        "go1", "go2", "hector", "hextilt", "human", "hyq", "icub", "iris", "laikago", "quadruped", "romeo",
        "simple_humanoid", "solo", "talos",
    ),
}  # fmt: skip

# files beside those of robots that walk, of a part that is bolted down
_PARTS = ("talos_left_arm",)


class KnownRobot(NamedTuple):
    """A robot that can be loaded.

    Attributes:
        name: that `load` takes.
        origin: the package that it comes from, or "" for a file.
        base: "free" or "fixed", by default; "" for a file, which says it itself, or whose reader guesses it.
        path: of its file; None if a function makes it.
    """

    name: str
    origin: str
    base: str
    path: Path | None


@cache
def robots() -> Named[KnownRobot]:
    """All robots that have a name: the shipped ones, then those of example-robot-data if it is installed.

        for name, robot in pliant.robots().items():
            print(name, robot.origin, robot.base)

    The files of example-robot-data are found without importing it. A name that is taken gets that of the folder in
    front: "anymal_c_simple/anymal".
    """
    from importlib.metadata import PackageNotFoundError, files  # slow, and shipped robots do without

    known = dict(_shipped())
    try:
        listed = files(ELSEWHERE) or []
    except PackageNotFoundError:
        listed = []
    for file in sorted(listed):
        if file.suffix in (".urdf", ".sdf"):
            path = Path(str(file.locate()))
            name = path.stem if path.stem not in known else f"{_folder(path)}/{path.stem}"
            # of the files of Cassie, some are on a rail
            by_file = file.suffix == ".sdf" or path.stem in _PARTS
            base = _base(ELSEWHERE, path.stem if by_file else _folder(path))
            known[name] = KnownRobot(name, ELSEWHERE, base, path)
    return Named("robot", known.values())


@cache
def _shipped() -> dict[str, KnownRobot]:
    paths = {path.stem: path for path in _URDF.glob("*.urdf")}
    return {name: KnownRobot(name, OURS, _base(OURS, name), paths.get(name)) for name in sorted([*_MADE, *paths])}


@explained
def load(source: str | Path, *, side: str | Path | None = None, sensors: bool = False, **options: Any) -> Robot:
    """A robot, by its name (see `robots`) or by the path of a file.

    Args:
        source: a name such as "quadruped" or "anymal", or a path that ends in .urdf, .xacro, .sdf, .world or
            .xml (URDF, MJCF or SDF by its root element); or in .toml, for a side file that names its robot.
        side: a side file, with what URDF cannot say; see `read_side_file`.
        sensors: whether a shipped robot has the sensors that come with it: quadruped, biped and hopper, see
            docs/sensors.md. Their errors are those of hardware of the middle class.
        options: those of the reader, `load_urdf`, `load_mjcf` or `load_sdf`. A robot with a name has a ``base`` of its
            own, which the option replaces. A robot that a function makes, such as `hopper_flight`, takes those of the
            function instead.
    """
    given: dict[str, Any] = {"subject": "pliant.load", "error": RobotError}
    check("source", source, "the name of a robot or the path of a file", isinstance(source, str | Path), **given)
    check("side", side, "the path of a .toml file", side is None or isinstance(side, str | Path), **given)
    check("sensors", sensors, "True or False", isinstance(sensors, bool), **given)
    if sensors:
        return _with_own_sensors(load(source, side=side, **options), source)
    if side is not None or Path(source).suffix.lower() == ".toml":
        from pliant.catalogue.side_file import SideFile  # few robots have one

        file = SideFile(source if side is None else side)
        return file.loaded(load, None if side is None else source, options)
    found = find(source)
    _check_options(found, options)
    if found.path is None:
        return _MADE[found.name](**options)
    own = {"base": found.base} if found.base else {}
    return _reader(found.path)(found.path, **{**own, **options})


def _reader(path: Path) -> Callable[..., Robot]:
    """The reader for a file, by its suffix or, of .xml, its root element."""
    suffix = path.suffix.lower()
    tag = root_tag(read_file(path)) if suffix == ".xml" else "sdf" if suffix in (".sdf", ".world") else "robot"
    if tag == "sdf":
        from pliant.formats.sdf import load_sdf  # robots that a function makes need no reader

        return load_sdf
    if tag == "mujoco":
        from pliant.formats.mjcf import load_mjcf

        return load_mjcf
    if tag == "robot" or not tag:  # what is not XML raises the same error with any reader
        from pliant.formats.urdf import load_urdf

        return load_urdf
    problem = f"the root element of {path} is <{tag}>"
    cure = "robots are <robot> (URDF), <mujoco> (MJCF) or <sdf>"
    raise RobotError(problem, subject=str(path), field="robot", cure=cure)


def _with_own_sensors(robot: Robot, source: str | Path) -> Robot:
    """The robot with the sensors that are shipped with it."""
    known = sorted(path.stem for path in _SENSORS.glob("*.toml"))
    if source not in known:
        problem = f"no sensors come with robot {str(source)!r}"
        cure = f"they do with {', '.join(map(repr, known))}; for others see robot.with_sensor and side files"
        raise RobotError(problem, subject="pliant.load", field="sensors", cure=cure)
    return read_side_file(robot, _SENSORS / f"{source}.toml")


@explained
def read_side_file(robot: Robot, path: str | Path) -> Robot:
    """A copy of a robot with the changes of a side file: motors, joints, frames, flexibilities, contacts, sensors.

    Tables and keys are those of ``with_frame``, ``with_joint``, ``with_motor``, ``with_flexibility``,
    ``with_backlash``, ``with_contact`` and ``with_sensor``, except for functions (``law``). They are applied in that
    order, after gravity. A key may be a pattern, as in ``[motors."*_knee"]``; of two tables for one thing, the later
    one wins, key by key. The key ``robot`` of the file, a ``.toml``, is for `load`.
    """
    given: dict[str, Any] = {"subject": "read_side_file", "error": RobotError}
    check("robot", robot, "a Robot, see pliant.load", isinstance(robot, Robot), **given)
    check("path", path, "the path of a .toml file", isinstance(path, str | Path), **given)
    from pliant.catalogue.side_file import SideFile  # few robots have one

    file = SideFile(path)
    base, own = file.options.get("base"), "free" if robot.is_free else "fixed"
    if base not in (None, own):
        problem = f"base is {base!r}, but that of robot {robot.name!r} is {own!r}"
        raise file.error(("base",), Fault(problem, f"robot {robot.name!r}", "base", f"load it with base={base!r}"))
    return file.put_on(robot)


@explained
def find(source: str | Path) -> KnownRobot:
    """The robot that a name or path means, not loaded yet."""
    is_path = len(str(source)) < 4096 and "\0" not in str(source)
    takes = "a name, or a path that a file can have"
    check("source", source, takes, is_path, subject="pliant.load", error=RobotError)
    path = Path(source)
    if source in _shipped():
        return _shipped()[str(source)]
    if path.suffix.lower() in _SUFFIXES:
        return KnownRobot(str(source), "", "", path)
    known = robots()
    if isinstance(source, str):
        if source in known:
            return known[source]
        # the name of a folder stands for the plainest of its files
        inside = [r for r in known.values() if r.path and r.origin == ELSEWHERE and _folder(r.path) == source]
        if inside:
            return min(inside, key=lambda robot: len(robot.name.rpartition("/")[2]))
    if path.is_dir():
        cure = f"give the file of a robot in it, {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"
        raise RobotError(f"{source} is a folder", subject=str(source), field="robot", cure=cure)
    if isinstance(source, Path) or path.suffix or path.is_file():
        cure = f"there are readers for {', '.join(_SUFFIXES)}"
        what = path.suffix or "files without a suffix"
        raise RobotError(f"{source}: no reader for {what}", subject=str(source), field="robot", cure=cure)
    fault = unknown_name("robot", source, known)
    cure = fault.cure if fault.cure.startswith("did") else "`pliant robots` lists all"
    if not any(robot.origin == ELSEWHERE for robot in known.values()):
        cure += f"; more robots with pip install {ELSEWHERE}"
    raise RobotError(fault).with_cure(f"{cure} (for a file, give its path with the suffix: {source}.urdf)")


def _check_options(found: KnownRobot, options: dict[str, Any]) -> None:
    if not options:
        return
    made = found.path is None
    takes = _MADE[found.name] if made else _reader(found.path)  # type: ignore[arg-type]
    valid = [name for name in inspect.signature(takes).parameters if made or name != "path"]
    for name in options:
        if name in valid:
            continue
        if made and name in _reader_options():
            subject = f"robot {found.name!r}"
            cure = f"leave it out; a function makes this robot, with the options {', '.join(valid)}"
            raise RobotError(f"{subject} takes no {name}", subject=subject, field=name, cure=cure)
        fault = unknown_name("option", name, [*valid, "side"], "pliant.load")
        raise RobotError(fault.problem, subject="pliant.load", field=name, cure=fault.cure)


def _reader_options() -> list[str]:
    from pliant.formats.urdf import load_urdf

    return [name for name in inspect.signature(load_urdf).parameters if name != "path"]


def _base(origin: str, name: str) -> str:
    return "free" if name in _FREE[origin] else "fixed"


def _folder(path: Path) -> str:
    """Of the robot's own, without what all of them end with."""
    return path.parts[-3].removesuffix("_description").removesuffix("_data")
