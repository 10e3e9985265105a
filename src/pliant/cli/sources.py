"""Robots, logs and controllers by the words of the command line: names and files."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pliant.cli.own_code import in_file, located
from pliant.errors import PliantError, RobotError, bad_value, unknown_name

if TYPE_CHECKING:
    from pliant.recording.log import Log
    from pliant.robot import Robot
    from pliant.simulation import Controller

RobotName = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT|FILE", help="name of a robot (see `pliant robots`), or a .urdf, .xacro, .sdf, .xml or .toml"
    ),
]
Base = Annotated[
    str | None,
    typer.Option(help="'fixed' or 'free' (default: the robot's own; of a .urdf, free if it has legs, else fixed)"),
]
Xacro = Annotated[
    bool, typer.Option("--xacro", help="expand a .xacro file, which runs it as a program: only if you trust it")
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--packages", metavar="FOLDER", help="folder with the packages of its meshes and includes; may be repeated"
    ),
]
XacroArguments = Annotated[
    list[str] | None, typer.Option("--xacro-arg", metavar="NAME=VALUE", help="of a .xacro file; may be repeated")
]
_LOG_SUFFIXES = (".h5", ".hdf5")
_LOG_SIGNATURE = b"\x89HDF\r\n\x1a\n"
CONTROLLERS = ("none", "hold", "raibert")
"""Controllers that come with the program."""
_COMMAND = (0.3, 0.0, 0.2)


# ---- robots


def load_robot(
    source: str,
    base: str | None = None,
    xacro: bool = False,
    packages: Sequence[str] | None = None,
    xacro_arguments: Sequence[str] | None = None,
    **options: Any,
) -> "Robot":
    """The robot of a name or file; options as on the command line, also in errors; more are those of the reader."""
    from pliant.catalogue.library import load
    from pliant.checks import check_one_of

    if base is not None:
        check_one_of("--base", base, ("free", "fixed"))
    suffix = Path(source).suffix.lower()
    if suffix == ".xacro" and not xacro:
        problem = f"{source} is xacro, a program that runs as it is read"
        raise PliantError(problem, subject=source, field="xacro", cure="add --xacro if you trust it")
    if xacro_arguments and suffix != ".xacro":
        problem = f"{source} is not xacro and takes no --xacro-arg"
        raise PliantError(problem, subject=source, field="xacro-arg", cure="leave it out")
    if suffix not in (".urdf", ".toml", ".xacro") and Path(source).is_file() and is_log(source):
        cure = f"`pliant view {source}` shows it"
        raise PliantError(f"{source} is a log, not a robot", subject=source, field="robot", cure=cure)
    options |= {} if base is None else {"base": base}
    options |= {"xacro": True} if xacro and suffix else {}
    options |= {"packages": list(packages)} if packages else {}
    options |= {"xacro_arguments": xacro_values(xacro_arguments)} if xacro_arguments else {}
    try:
        return load(source, **options)
    except RobotError as error:
        if error.field == "packages" and packages and error.place is None:
            raise error.within("--packages") from None
        if error.field == "base" and base is not None and error.place is None:
            raise error.with_cure("leave out --base").within(f"--base {base}") from None
        raise


def xacro_values(words: Sequence[str]) -> dict[str, str]:
    """Values of xacro arguments by name: "name=value", or "name:=value" as ROS writes it."""
    found = {}
    for word in words:
        name, sign, value = word.partition("=")
        name = name.removesuffix(":").strip()
        if not sign or not name:
            raise PliantError(bad_value("--xacro-arg", word, "NAME=VALUE, as in --xacro-arg gripper=true"))
        found[name] = value
    return found


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


# ---- controllers


class Control(NamedTuple):
    """A robot and the controller that drives it.

    Attributes:
        name: for the summary.
        robot: with motors as the controller needs them.
        compiled: with the step, or None.
        called: in Python, (t, q, v) -> u, or None.
        u: constant controls of the motors, or commands of a compiled controller.
        is_hopping: whether the robot hops, and so begins above the ground.
    """

    name: str
    robot: "Robot"
    compiled: "Controller | None" = None
    called: Callable[..., Any] | None = None
    u: Any = None
    is_hopping: bool = False


def default_controller(robot: "Robot") -> str:
    """The controller that shows something: hopping robots hop, those that stand hold their pose, others swing."""
    if not (robot.is_free and robot.motors):
        return "none"
    from pliant.control import raibert

    try:
        raibert(robot)
    except PliantError:
        return "hold"
    return "raibert"


def chosen_controller(name: str, robot: "Robot", q: Any, gains: Any = None, command: Any = None) -> Control:
    """The controller of a name.

    Args:
        name: of `CONTROLLERS`, or FILE.py:FUNCTION.
        q: the pose at the start.
        gains: kp and kd of "hold", or None.
        command: vx, vy and the height of hops for "raibert", numbers of the user's own controller, or None.
    """
    if gains is not None and name != "hold":
        raise PliantError(f"--gains belong to --controller hold, not {name!r}", field="gains", cure="leave them out")
    if command is not None and name in ("none", "hold"):
        problem = f"--command is for --controller raibert or one of your own, not {name!r}"
        raise PliantError(problem, field="command", cure="leave it out")
    if name == "none":
        return Control("none", robot)
    if name == "hold":
        return _hold(robot, q, gains)
    if name == "raibert":
        return _raibert(robot, command)
    if ".py" not in name:
        fault = unknown_name("controller", name, CONTROLLERS)
        raise PliantError(fault).with_cure(f"{fault.cure}; or give FILE.py:FUNCTION")
    return _own(name, robot, command)


def _hold(robot: "Robot", q: Any, gains: Any) -> Control:
    from pliant.control import hold

    if gains is not None and len(gains) != 2:
        raise PliantError(bad_value("--gains", gains, "two numbers, as 150,4 for kp and kd"))
    held, u = hold(robot, q, gains=gains)
    new = [m for m in held.motors.values() if gains is not None or robot.motors[m.name].control != "position"]
    about = f"kp {float(new[0].kp):.3g}, kd {float(new[0].kd):.3g}" if new else "own gains"
    return Control(f"hold ({about})", held, u=u)


def _raibert(robot: "Robot", command: Any) -> Control:
    from pliant.control import raibert

    if command is not None and len(command) != 3:
        takes = "three numbers for raibert, as 0.5,0,0.2: vx, vy and the height of hops"
        raise PliantError(bad_value("--command", command, takes))
    vx, vy, height = u = list(command or _COMMAND)
    about = f"raibert ({vx:g} m/s along x, {vy:g} along y, hops of {height:g} m)"
    return Control(about, robot, compiled=raibert(robot), u=u, is_hopping=True)


# ---- controllers of the user's own


def _own(name: str, robot: "Robot", command: Any) -> Control:
    from pliant.simulation import Controller

    found = in_file(name, "--controller", "control.py:policy")
    if not isinstance(found, Controller) and _takes_robot(found):
        with located(name, "controller"):
            found = found(robot)
    if isinstance(found, Controller):
        if command is not None and len(command) != found.commands:
            raise PliantError(bad_value("--command", command, f"{found.commands} numbers for the controller {name}"))
        return Control(name, robot, compiled=found, u=list(command) if command is not None else None)
    if command is not None:
        problem = f"--command is for a pliant.Controller, and {name} is another function"
        raise PliantError(problem, field="command", cure="leave it out")
    if not callable(found):
        raise PliantError(bad_value(f"--controller {name}", found, "a function (t, q, v) -> u"))

    def called(t: float, q: Any, v: Any) -> Any:
        with located(name, "controller"):
            return found(t, q, v)

    return Control(name, robot, called=called)


def _takes_robot(function: Any) -> bool:
    """Whether it makes a controller for a robot: a function of one argument."""
    try:
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    except (TypeError, ValueError):
        return False
    return len(needed) == 1 and needed[0].kind in (needed[0].POSITIONAL_ONLY, needed[0].POSITIONAL_OR_KEYWORD)
