"""Robots by what the user types: a shipped name, a name of example-robot-data, or a file."""

import difflib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.robot import Robot

__all__ = ["ELSEWHERE", "Found", "Loaded", "found_robots", "list_robots", "load_robot", "loose"]

ELSEWHERE = "example-robot-data"
"""The package of robots that names are looked up in beside those of Pliant."""

_SUFFIXES = (".urdf", ".xacro", ".toml")
# folders of robots that stand, walk or fly; the others are bolted to the world
_FREE = (
    "a1", "alex", "alexander", "anymal_b_simple", "anymal_c_simple", "b1", "bolt", "borinot", "centauro", "g1", "go1",
    "go2", "hector", "hextilt", "human", "hyq", "icub", "iris", "laikago", "quadruped", "romeo", "simple_humanoid",
    "solo", "talos",
)  # fmt: skip


class Loaded(NamedTuple):
    """A robot that was loaded.

    Attributes:
        robot: itself.
        origin: where it comes from, in words.
        path: of its file, None for one that is shipped.
    """

    robot: "Robot"
    origin: str
    path: Path | None


class Found(NamedTuple):
    """A robot of example-robot-data.

    Attributes:
        path: of its file.
        base: "free" or "fixed".
    """

    path: Path
    base: str


def load_robot(source: str, base: str | None = None, xacro: bool = False) -> Loaded:
    """The robot that the user means.

    Args:
        source: what the user typed.
        base: "free" or "fixed", in place of what the robot has by itself.
        xacro: whether a file of xacro may be expanded, which runs it as a program.
    """
    from pliant.catalogue.library import load, robots

    if base not in (None, "free", "fixed"):
        raise PliantError(f"--base is {base!r}; it takes 'free' or 'fixed'")
    options: dict[str, Any] = {} if base is None else {"base": base}
    if source in robots():
        try:
            return Loaded(load(source, **options), "shipped with Pliant", None)
        except PliantError as error:
            if "no option named 'base'" in str(error):
                raise PliantError(f"--base {base}: the base of {source!r} cannot be chosen; leave --base out") from None
            raise
    if Path(source).suffix.lower() in _SUFFIXES:
        if Path(source).suffix.lower() == ".xacro" and not xacro:
            raise PliantError(f"{source} is xacro, a program that is run as it is read; if you trust it, add --xacro")
        options |= {"xacro": True} if xacro else {}
        return Loaded(load(source, **options), source, Path(source))
    found = _found_robot(source)
    if found is not None:
        robot = load(found.path, **{"base": found.base, **options})
        return Loaded(robot, f"{ELSEWHERE}: {found.path.name}", found.path)
    if Path(source).is_dir():
        raise PliantError(f"{source} is a folder; give the file of a robot in it, .urdf, .xacro or .toml")
    if Path(source).is_file():
        from pliant.cli.viewing import is_log

        if is_log(source):
            raise PliantError(f"{source} is a log, not a robot; `pliant view {source}` shows it")
        return Loaded(load(source, **options), source, Path(source))  # an error, which says what can be read
    raise PliantError(_unknown(source, [*robots(), *found_robots()]))


def _unknown(source: str, names: list[str]) -> str:
    near = difflib.get_close_matches(source, names, n=8, cutoff=0.5)
    hint = f"did you mean {', '.join(map(repr, near))}? " if near else ""
    return (
        f"no robot named {source!r}; {hint}`pliant robots` lists all; for a file, give its path with the suffix, .urdf"
    )


def loose(robot: "Robot") -> str | None:
    """Why a robot cannot move with a free base, in words: a base without inertia; None if it can."""
    from pliant.dynamics.factor import check_regular
    from pliant.errors import RobotError

    if not robot.is_free or robot.flexibilities:
        return None
    try:
        check_regular(robot)
    except RobotError as error:
        return str(error)
    return None


def _found_robot(name: str) -> Found | None:
    found = found_robots()
    if name in found:
        return found[name]
    # the name of a folder stands for the plainest of its files
    inside = [robot for robot in found.values() if _folder(robot.path) == name]
    return min(inside, key=lambda robot: len(robot.path.stem), default=None)


@cache
def found_robots() -> dict[str, Found]:
    """Robots of example-robot-data by name, if it is installed; its files, which need no other library.

    A name that is taken, by Pliant or a file before it, has that of the folder in front: "anymal_c_simple/anymal".
    """
    from importlib.metadata import PackageNotFoundError, files

    from pliant.catalogue.library import robots

    try:
        listed = files(ELSEWHERE) or []
    except PackageNotFoundError:
        return {}
    found: dict[str, Found] = {}
    for file in sorted(listed):
        if file.suffix != ".urdf":
            continue
        path = Path(str(file.locate()))
        folder = _folder(path)
        name = path.stem if path.stem not in found and path.stem not in robots() else f"{folder}/{path.stem}"
        found[name] = Found(path, "free" if folder in _FREE else "fixed")
    return found


def _folder(path: Path) -> str:
    """Of the robot's own, without what all of them end with."""
    return path.parts[-3].removesuffix("_description").removesuffix("_data")


def list_robots(as_json: bool) -> None:
    """Print the robots that have a name."""
    from pliant.catalogue.library import robots
    from pliant.cli.terminal import print_json, print_pairs, say

    elsewhere = found_robots()
    if as_json:
        found = {name: {"path": str(robot.path), "base": robot.base} for name, robot in elsewhere.items()}
        print_json({"shipped": robots(), ELSEWHERE: found})
        return
    pairs = [("shipped", ", ".join(robots()))]
    if elsewhere:
        pairs += [(kind, ", ".join(n for n, r in elsewhere.items() if r.base == kind)) for kind in ("free", "fixed")]
        pairs[1:] = [(f"{ELSEWHERE}, {kind} base", names) for kind, names in pairs[1:]]
    for title, names in pairs:
        print_pairs(title, [("  ", names)])
    if not elsewhere:
        say(f"\nmore with: pip install {ELSEWHERE}")
    say("\nEach is a ROBOT for the other commands, as is the path of a .urdf, .xacro or .toml file.")
