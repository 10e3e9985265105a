"""Robots and logs by the words of the command line: names and files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.errors import PliantError, RobotError

if TYPE_CHECKING:
    from pliant.recording.log import Log
    from pliant.robot import Robot

RobotName = Annotated[
    str, typer.Argument(metavar="ROBOT|FILE", help="name of a robot (see `pliant robots`), or a .urdf, .xacro or .toml")
]
Base = Annotated[str | None, typer.Option(help="'fixed' or 'free' (default: the robot's own; of a file, fixed)")]
Xacro = Annotated[
    bool, typer.Option("--xacro", help="expand a .xacro file, which runs it as a program: only if you trust it")
]
_LOG_SUFFIXES = (".h5", ".hdf5")
_LOG_SIGNATURE = b"\x89HDF\r\n\x1a\n"


# ---- robots


def load_robot(source: str, base: str | None = None, xacro: bool = False) -> "Robot":
    """The robot of a name or file; options that it does not take are named as on the command line.

    Args:
        source: the word of the user.
        base: "free" or "fixed", in place of the robot's own.
        xacro: whether a xacro file may be expanded, which runs it as a program.
    """
    from pliant.catalogue.library import load
    from pliant.checks import check_one_of

    if base is not None:
        check_one_of("--base", base, ("free", "fixed"))
    suffix = Path(source).suffix.lower()
    if suffix == ".xacro" and not xacro:
        problem = f"{source} is xacro, a program that runs as it is read"
        raise PliantError(problem, subject=source, field="xacro", cure="add --xacro if you trust it")
    if suffix not in (".urdf", ".toml", ".xacro") and Path(source).is_file() and is_log(source):
        cure = f"`pliant view {source}` shows it"
        raise PliantError(f"{source} is a log, not a robot", subject=source, field="robot", cure=cure)
    options: dict[str, Any] = {} if base is None else {"base": base}
    options |= {"xacro": True} if xacro and suffix else {}
    try:
        return load(source, **options)
    except RobotError as error:
        if error.field == "base" and base is not None and error.place is None:
            raise error.with_cure("leave out --base").within(f"--base {base}") from None
        raise


def origin(source: str) -> str:
    """Where a robot comes from, in words."""
    from pliant.catalogue.library import OURS, find

    found = find(source)
    if found.path is None or found.origin == OURS:
        return "shipped with Pliant"
    return f"{found.origin}: {found.path.name}" if found.origin else source


def loose_base(robot: "Robot") -> RobotError | None:
    """Why a robot cannot move with a free base, one without inertia; None if it can."""
    from pliant.dynamics.joint_space_inertia import check_regular

    if robot.is_free and not robot.flexibilities:
        try:
            check_regular(robot)
        except RobotError as error:
            return error
    return None


# ---- logs


def is_log(source: str) -> bool:
    """Whether it is meant as a log, by its name or by its first bytes."""
    path = Path(source)
    if path.suffix.lower() in _LOG_SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_LOG_SIGNATURE)) == _LOG_SIGNATURE
    except OSError:
        return False


def open_log(path: str) -> "Log":
    """A log from its file; of one that was cut off, the part that was saved, with a warning."""
    from pliant.storage import load_log

    log = load_log(path)
    if not len(log.t) or not log.channels:
        raise PliantError(f"{path} has no entries that can be read", subject=path)
    return log
