"""Controllers by what the user types: none, hold, raibert, or a function of a Python file."""

import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.errors import PliantError, unknown_name

if TYPE_CHECKING:
    from pliant.robot import Robot
    from pliant.simulation import Controller

__all__ = ["NAMES", "Control", "chosen_controller", "default_controller", "in_file"]

NAMES = ("none", "hold", "raibert")
"""Controllers that come with the program."""

# the hold gives way by this much under the torque of all the weight at the length of the robot [rad]
_GIVE = 0.2
# time constant of its damping [s]
_SETTLE = 0.1
_COMMAND = (0.3, 0.0, 0.2)


class Control(NamedTuple):
    """What drives the robot.

    Attributes:
        name: for the summary.
        robot: with motors as the controller wants them.
        compiled: with the step, or None.
        called: in Python, (t, q, v) -> u, or None.
        u: constant controls of the motors, or commands of a compiled controller.
    """

    name: str
    robot: "Robot"
    compiled: "Controller | None" = None
    called: Callable[..., Any] | None = None
    u: Any = None


def default_controller(robot: "Robot") -> str:
    """What shows something sensible: hopping robots hop, those that stand hold their pose, others swing freely."""
    if not (robot.is_free and robot.motors):
        return "none"
    return "raibert" if _hops(robot) else "hold"


def _hops(robot: "Robot") -> bool:
    from pliant.control import raibert

    try:
        raibert(robot)
    except PliantError:
        return False
    return True


def chosen_controller(name: str, robot: "Robot", q: Any, size: float, gains: Any, command: Any) -> Control:
    """The controller of a name.

    Args:
        name: of `NAMES`, or FILE.py:FUNCTION.
        q: the pose at the start.
        size: of the robot [m], for gains.
        gains: kp and kd of "hold", or None.
        command: vx, vy and the height of hops for "raibert", or None.
    """
    if gains is not None and name != "hold":
        raise PliantError(f"--gains are those of --controller hold, not {name!r}")
    if command is not None and name in ("none", "hold"):
        raise PliantError(f"--command is for --controller raibert or one of your own, not {name!r}")
    if name == "none":
        return Control("none", robot)
    if name == "hold":
        return _hold(robot, q, size, gains)
    if name == "raibert":
        return _raibert(robot, command)
    if ".py" not in name:
        raise PliantError(f"--controller: {unknown_name('controller', name, NAMES)}; or give FILE.py:FUNCTION")
    return _own(name, robot, command)


def _hold(robot: "Robot", q: Any, size: float, gains: Any) -> Control:
    """Motors as springs and dampers towards the pose at the start; those take part in the implicit step.

    Without gains, kp = weight size / 0.2 rad: of the order that carries the robot, whatever its size.
    """
    if not robot.motors:
        raise PliantError(f"--controller hold: robot {robot.name!r} has no motors")
    if gains is not None and (len(gains) != 2 or min(gains) < 0):
        raise PliantError("--gains takes two numbers from 0 on, kp,kd, as --gains 150,4")
    g = sum(float(x) ** 2 for x in robot.gravity) ** 0.5 or 9.81
    kp, kd = gains or (float(robot.mass) * g * size / _GIVE, float(robot.mass) * g * size / _GIVE * _SETTLE)
    own = {m.name: m for m in robot.motors.values() if m.control == "position" and gains is None}
    robot = robot.with_motors(
        control="position",
        kp=[own[name].kp if name in own else kp for name in robot.motors],
        kd=[own[name].kd if name in own else kd for name in robot.motors],
    )
    target = [float(q[robot.q_slice(motor.joint)][0]) for motor in robot.motors.values()]
    about = "own gains" if len(own) == len(robot.motors) else f"kp {kp:.3g}, kd {kd:.3g}"
    return Control(f"hold ({about})", robot, u=target)


def _raibert(robot: "Robot", command: Any) -> Control:
    from pliant.control import raibert

    if command is not None and len(command) != 3:
        raise PliantError("--command of raibert takes vx, vy and the height of hops, as --command 0.5,0,0.2")
    told = list(command or _COMMAND)
    vx, vy, height = told
    about = f"raibert ({vx:g} m/s along x, {vy:g} along y, hops of {height:g} m)"
    return Control(about, robot, compiled=raibert(robot), u=told)


# ---- the user's own


def _own(name: str, robot: "Robot", command: Any) -> Control:
    from pliant.simulation import Controller

    found = in_file(name)
    if not isinstance(found, Controller) and _takes_robot(found):
        with _Blame(name):
            found = found(robot)
    if isinstance(found, Controller):
        if command is not None and len(command) != found.commands:
            raise PliantError(f"--command has {len(command)} numbers; the controller {name} takes {found.commands}")
        u = list(command) if command is not None else None
        return Control(name, robot, compiled=found, u=u)
    if command is not None:
        raise PliantError(f"--command is for a pliant.Controller, which {name} is not")
    if not callable(found):
        raise PliantError(f"--controller {name} is {found!r}; it takes a function (t, q, v) -> u")

    def called(t: float, q: Any, v: Any) -> Any:
        with _Blame(name):
            return found(t, q, v)

    return Control(name, robot, called=called)


def in_file(name: str) -> Any:
    """What FILE.py:NAME names. The file is run: it is code that the user chose, unlike a robot's file."""
    file, colon, attribute = name.rpartition(":")
    path = Path(file)
    if not colon or path.suffix != ".py" or not attribute:
        raise PliantError(f"--controller {name}: write FILE.py:FUNCTION, as control.py:policy")
    if not path.is_file():
        raise PliantError(f"--controller {name}: there is no file {file}")
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    # what lies beside it can be imported, as when the file itself is run
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with _Blame(name):
            spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    if not hasattr(module, attribute):
        public = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        raise PliantError(unknown_name("function", attribute, public, str(path))).within(f"--controller {name}")
    return getattr(module, attribute)


def _takes_robot(function: Any) -> bool:
    """Whether it makes a controller for a robot: a function of one argument."""
    try:
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    except (TypeError, ValueError):
        return False
    return len(needed) == 1 and needed[0].kind in (needed[0].POSITIONAL_ONLY, needed[0].POSITIONAL_OR_KEYWORD)


class _Blame:
    """Errors of the user's own code in one line, with the place in the file."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or not isinstance(error, Exception) or isinstance(error, PliantError):
            return
        if isinstance(error, SyntaxError):
            raise PliantError(f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}") from error
        own = Path(self.name.rpartition(":")[0]).name
        frames = [f for f in traceback.extract_tb(trace) if Path(f.filename).name == own]
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else f"controller {self.name}"
        raise PliantError(f"{place}: {type(error).__name__}: {error}") from error
