"""Controllers that are compiled with the step."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import check, check_callable, function_name, is_whole, numbers, users_function
from pliant.errors import Place, SimulationError
from pliant.robot import Robot
from pliant.scalar import Expr, Scalar, is_constant
from pliant.scalar.pickling import kept
from pliant.signatures import explained


@explained
@dataclass(frozen=True)
class Controller:
    """A generic function that gives the controls, compiled with the step: no call of Python while it runs.

        Controller(lambda t, q, v: [-20 * q[0] - 2 * v[0]])
        Controller(tracking, commands=2)               # tracking(t, q, v, command) -> u
        Controller(hopping, memory=(0, 0))             # hopping(t, q, v, memory) -> (u, memory)
        Controller(both, commands=2, memory=(0,))      # both(t, q, v, command, memory) -> (u, memory)

        Controller(lambda t, sensors: [-2 * w for w in sensors["imu.gyro"]])       # sensors in place of q and v

    It is asked once a control period, as a controller in Python is.

    Attributes:
        function: of the time [s], q and v, generic over the scalar (`pliant.math.select` in place of branches); or of
            the time and the readings of the sensors by channel.
        commands: how many numbers it takes from outside, in place of the controls.
        memory: what it remembers from period to period, at the start.
    """

    function: Callable[..., Any]
    commands: int = 0
    memory: Sequence[float] = ()

    def __getstate__(self) -> dict[str, Any]:
        # a simulation, which knows the robot, keeps formulas of its own controller
        return self.__dict__ | {"function": kept(self.function, None, f"controller {self.name!r}", "function")}

    def __call__(
        self, robot: Robot, t: Scalar, q: Any, v: Any, command: Any, memory: Any, sensors: Any = None
    ) -> tuple[list, list]:
        """Controls and the new memory."""
        extra = ([command] if self.commands else []) + ([memory] if len(self.memory) else [])
        cure = "a compiled controller runs for many robots at once, so write pliant.math.select(condition, a, b) in "
        cure += "place of `if`"
        with users_function(f"controller {self.name!r}", "controller", cure):
            result = self.function(t, sensors, *extra) if self.takes_sensors else self.function(t, q, v, *extra)
        if len(self.memory):
            if not isinstance(result, tuple) or len(result) != 2:
                raise self._error("has a memory, but does not return one", "return (u, memory)")
            u, kept = self._scalars(result[0], "controls"), self._scalars(result[1], "memories")
            if len(kept) != len(self.memory):
                problem = f"returned {len(kept)} memories of {len(self.memory)}"
                raise self._error(problem, "return as many as it has")
        else:
            u, kept = self._scalars(result, "controls"), []
        if len(u) != robot.nu:
            problem = f"returned {len(u)} controls for {robot.nu} motors: {', '.join(robot.motors)}"
            raise self._error(problem, "return one for each")
        return u, kept

    @property
    def takes_sensors(self) -> bool:
        """Whether its function takes the readings of sensors in place of q and v."""
        return takes_sensors(self.function, *self.extra)

    @property
    def extra(self) -> list[str]:
        """What its function takes beside the time and the state."""
        return (["command"] if self.commands else []) + (["memory"] if len(self.memory) else [])

    @property
    def name(self) -> str:
        """Of its function."""
        return function_name(self.function)

    def _error(self, problem: str, cure: str) -> SimulationError:
        subject = f"controller {self.name!r}"
        return SimulationError(f"{subject} {problem}", subject=subject, field="controller", cure=cure)

    def _scalars(self, value: Any, what: str) -> list[Scalar]:
        is_row = isinstance(value, list | tuple | np.ndarray) and np.ndim(np.asarray(value, object)) == 1
        if not is_row or any(x is None or isinstance(x, str) for x in value):
            shown = "a single number" if is_constant(value) or isinstance(value, Expr) else repr(value)
            if value is None:
                raise self._error(f"returned nothing for its {what}", "end it with `return` and a list of numbers")
            raise self._error(f"returned {shown} for its {what}", "give a list of numbers")
        return list(value)


def as_controller(value: Any) -> Controller | None:
    """A controller from one, or from a function of t, q and v; checked."""
    if value is None:
        return None
    if not isinstance(value, Controller):
        check("controller", value, "a function (t, q, v) -> u or a pliant.Controller", callable(value))
        value = Controller(value)
    commands = value.commands
    check("commands of the controller", commands, "0 or more", is_whole(commands) and commands >= 0)
    memory = numbers("memory of the controller", value.memory)
    is_row = memory.ndim == 1 and bool(np.isfinite(memory).all())
    check("memory of the controller", value.memory, "finite numbers", is_row)
    extra = (["command"] if commands else []) + (["memory"] if len(memory) else [])
    if not takes_sensors(value.function, *extra):
        check_callable("controller", value.function, "t", "q", "v", *extra)
    return value


def no_sensors(function: Callable[..., Any], *extra: str) -> SimulationError:
    """The error of a controller that could take sensors, of a robot that has none."""
    try:
        check_callable("controller", function, "t", "q", "v", *extra)
    except SimulationError as error:
        own = ", ".join(("t", "sensors", *extra))
        return error.with_cure(f"or take ({own}), of a robot with sensors: see robot.with_sensor")
    raise AssertionError("a controller that takes q and v takes no sensors")


def given_controls(u: Any, function: Callable[..., Any], nu: int) -> Any:
    """What a controller in Python has returned; raises if that is nothing though there are motors.

    A function without ``return`` returns None, which would otherwise stand for zeros.
    """
    if u is None and nu:
        subject = f"controller {function_name(function)!r}"
        cure = "end it with `return` and the controls; zeros are [0.0] * robot.nu"
        raise SimulationError(
            f"{subject} returned nothing", subject=subject, field="controller", cure=cure, place=place_of(function)
        )
    return u


def place_of(function: Callable[..., Any]) -> Place | None:
    """Where a function is defined, if it is one of Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return None if code is None else Place(code.co_filename, code.co_firstlineno)


def takes_sensors(function: Callable[..., Any], *extra: str) -> bool:
    """Whether a controller is called with (t, sensors) in place of (t, q, v): if only that fits its arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions of C do not tell their arguments
        return False

    def fits(*arguments: str) -> bool:
        try:
            signature.bind(*arguments, *extra)
        except TypeError:
            return False
        return True

    return fits("t", "sensors") and not fits("t", "q", "v")
