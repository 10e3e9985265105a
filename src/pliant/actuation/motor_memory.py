"""What motors remember from step to step, and the controls that reach them.

One row of numbers for all motors of a robot, first by name, then by motor:

| name | of motors with | number |
|---|---|---|
| "held", "wait" | a command_period | the control that is held, and steps until the next is taken |
| "line" | a command_delay | controls on their way, the newest first, one a step |
| "command" | either of them | the control that acted in the last step |
| "law" | a law that remembers | its memory |
| "current" | a torque_constant | [A] |
| "temperature" | a thermal_capacity | of the winding [degrees Celsius] |
| "bristle", "friction" | a bristle_stiffness | how far friction is bent [rad or m], and its torque [N m or N] |

A step begins with `arrived`: controls are held, delayed, and go through laws that remember. It ends with `remembered`.

Controls need not come at whole steps. One that comes within a step acts for its share of it: the delay is exact in the
mean. One that is held is taken at the step nearest to its time, so that a period of 2.5 steps has 2 and 3 in turn.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.actuation.joint_forces import States, ripple_at
from pliant.actuation.motor_friction import bristle_after, has_bristles
from pliant.actuation.shafts import shaft_of, shafts_of
from pliant.actuation.windings import has_temperature, has_winding, temperature_after, torque_per_current
from pliant.checks import is_zero, users_function
from pliant.errors import PliantError, SimulationError
from pliant.robot import Motor, MotorLaw, Robot
from pliant.scalar import Scalar, Scalars, abs, equal, is_constant, maximum, negation, select

PARTS = ("held", "wait", "line", "command", "law", "current", "temperature", "bristle", "friction")

SHOWN = ("command", "current", "temperature", "friction")
"""Those that logs have."""

# controls that reach a motor, now or later
_HELD = ("held", "line", "command")

# delays and periods this close to whole steps are whole
_WHOLE = 1e-6

# a motor with a longer line than this is a mistake of units
_LONGEST = 10_000


def memory_fields(motor: Motor) -> list[str]:
    """The attributes of a motor for which its torque depends on what was before."""
    numbers = ("command_period", "command_delay", "inductance", "thermal_capacity", "bristle_stiffness")
    law = ["law"] if isinstance(motor.law, MotorLaw) else []
    return [*law, *(name for name in numbers if not is_zero(getattr(motor, name)))]


@dataclass(frozen=True)
class MotorMemory:
    """Where the numbers are that the motors of a robot remember.

    Attributes:
        robot: whose numbers may be unknown, where they vary.
        delays: the longest delay of each motor [s].
        dt: length of a step [s].
    """

    robot: Robot
    delays: tuple[float, ...]
    dt: float

    @classmethod
    def of(cls, robot: Robot, base: Robot, dt: float) -> "MotorMemory":
        """The memory of a robot; ``base`` is the robot before any number varies, whose delays are the longest."""
        return cls(robot, tuple(float(motor.command_delay) for motor in base.motors.values()), dt)

    @cached_property
    def sizes(self) -> list[dict[str, int]]:
        """How many numbers each motor has of each name."""
        found = []
        for motor, delay in zip(self.robot.motors.values(), self.delays, strict=True):
            found.append({name: size for name, size in self._sizes(motor, delay).items() if size})
        return found

    def _sizes(self, motor: Motor, delay: float) -> dict[str, int]:
        is_held, is_late = not is_zero(motor.command_period), not is_zero(motor.command_delay)
        line = math.ceil(_steps(delay, self.dt)) if is_late else 0
        subject = f"motor {motor.name!r}"
        if is_late and not line:
            problem = f"command_delay of {subject} varies, and is 0 by default"
            cure = "give the robot the longest one: the delays of a simulation are at most that of its robot"
            raise SimulationError(problem, subject=subject, field="command_delay", cure=cure)
        if line > _LONGEST:
            problem = f"command_delay of {subject} is {delay:g} s, {line} steps of {self.dt:g} s"
            cure = f"delays are in seconds, and at most {_LONGEST} steps"
            raise SimulationError(problem, subject=subject, field="command_delay", cure=cure)
        law, bends = motor.law, int(has_bristles(motor))
        return {
            "held": int(is_held), "wait": int(is_held), "line": line, "command": int(is_held or is_late),
            "law": len(law.memory) if isinstance(law, MotorLaw) else 0, "current": int(has_winding(motor)),
            "temperature": int(has_temperature(motor)), "bristle": bends, "friction": bends,
        }  # fmt: skip

    @cached_property
    def _places(self) -> list[dict[str, slice]]:
        at, found = 0, [{} for _ in self.sizes]
        for name in PARTS:
            for own, sizes in zip(found, self.sizes, strict=True):
                if name in sizes:
                    own[name] = slice(at, at + sizes[name])
                    at += sizes[name]
        return found

    @cached_property
    def size(self) -> int:
        """Numbers in all."""
        return sum(sum(sizes.values()) for sizes in self.sizes)

    def __bool__(self) -> bool:
        return self.size > 0

    def has(self, *names: str) -> bool:
        """Whether a motor remembers one of these."""
        return any(name in sizes for sizes in self.sizes for name in names)

    def motors(self, name: str) -> tuple[str, ...]:
        """The motors that remember this."""
        return tuple(m for m, sizes in zip(self.robot.motors, self.sizes, strict=True) if name in sizes)

    def columns(self, name: str) -> slice:
        """Where the numbers of a name are, those of all motors side by side."""
        places = [own[name] for own in self._places if name in own]
        return slice(places[0].start, places[-1].stop) if places else slice(0, 0)

    def shown(self, data: np.ndarray) -> dict[str, np.ndarray]:
        """What logs have of rows (..., size), by name, (..., motors that have it), views."""
        return {name: data[..., self.columns(name)] for name in SHOWN if self.has(name)}

    def states(self, values: Scalars) -> States:
        """What each motor remembers, by name, of the numbers of a row."""
        return [{name: values[at] for name, at in own.items()} for own in self._places]

    def row(self, states: States) -> list[Scalar]:
        """The numbers of a row; the other way round."""
        return [x for name in PARTS for state in states if name in state for x in state[name]]

    def initial(self, robot: Robot, q: np.ndarray) -> np.ndarray:
        """Rows of motors, see `begun`, at configurations (..., nq)."""
        found = np.zeros((*q.shape[:-1], self.size))
        for k, x in enumerate(self.begun(robot, np.moveaxis(q, -1, 0))):
            found[..., k] = x
        return found

    def begun(self, robot: Robot, q: Scalars) -> list[Scalar]:
        """The numbers of motors that begin at a configuration: cold, unbent, and with controls that hold them there.

        Args:
            robot: with numbers alone.
        """
        found: list[Scalar] = [0] * self.size
        for motor, places in zip(robot.motors.values(), self._places, strict=True):
            values: dict[str, Sequence[Scalar]] = {}
            if motor.law is None and motor.control == "position":
                held = shaft_of(robot, motor).position(q)
                values = {name: [held] * (places[name].stop - places[name].start) for name in _HELD if name in places}
            if isinstance(motor.law, MotorLaw):
                values["law"] = motor.law.memory
            if "temperature" in places:
                values["temperature"] = [float(motor.ambient_temperature)]
            for name, numbers in values.items():
                found[places[name]] = list(numbers)
        return found


def _steps(time: Scalar, dt: float) -> Scalar:
    """A time in steps, whole if it is nearly so."""
    steps = time / dt
    if is_constant(steps) and math.isfinite(steps) and abs(steps - round(steps)) < _WHOLE:
        return round(steps)
    return steps


# ---- controls that reach the motors


def arrived(
    layout: MotorMemory, robot: Robot, u: Scalars, q: Scalars, v: Scalars, t: Scalar, states: States
) -> tuple[list[Scalar], States]:
    """The controls that act in a step, and what the motors remember of them.

    Args:
        u: the controls that are given.
        q, v, t: at the start of the step.
    """
    controls, after = [], []
    for motor, control, state in zip(robot.motors.values(), u, states, strict=True):
        new = dict(state)
        if "held" in state:
            control, new["wait"] = _held(control, state, maximum(_steps(motor.command_period, layout.dt), 1))
            new["held"] = [control]
        if "line" in state:
            control, new["line"] = _delayed(control, state["line"], _steps(motor.command_delay, layout.dt))
        if "command" in state:
            new["command"] = [control]
        if "law" in state:
            shaft = shaft_of(robot, motor)
            control, new["law"] = asked(motor, control, shaft.position(q), shaft.rate(v), t, state["law"])
        controls.append(control)
        after.append(new)
    return controls, after


def _held(u: Scalar, state: Mapping[str, Scalars], period: Scalar) -> tuple[Scalar, list[Scalar]]:
    """The control that is held, and steps until the next one is taken, after this one."""
    wait = state["wait"][0]
    is_time = wait < 0.5
    return select(is_time, u, state["held"][0]), [select(is_time, wait + period, wait) - 1]


def _delayed(u: Scalar, line: Scalars, steps: Scalar) -> tuple[Scalar, list[Scalar]]:
    """The mean of the controls that come out of a line within a step, and the line after it."""
    whole = [u, *line]
    if is_constant(steps):
        n = math.floor(steps)
        share = steps - n
        came = whole[n] if share == 0 else (1 - share) * whole[n] + share * whole[n + 1]
    else:
        came = sum((maximum(1 - abs(steps - k), 0) * x for k, x in enumerate(whole)), 0)
    return came, whole[:-1]


def asked(
    motor: Motor, u: Scalar, q: Scalar, v: Scalar, t: Scalar, memory: Scalars
) -> tuple[Scalar, list[Scalar]]:  # fmt: skip
    """Torque and new memory of a motor's law that remembers; raises with the motor's name if it gives none."""
    subject, law = f"law of motor {motor.name!r}", motor.law
    assert isinstance(law, MotorLaw)
    with users_function(subject, "law", "write pliant.math.select(condition, a, b) in place of a branch"):
        result = law.function(u, q, v, t, list(memory))
    is_pair = isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Sequence | np.ndarray)
    if not is_pair or len(result[1]) != len(law.memory):
        cure = f"it returns (torque, memory), with {len(law.memory)} numbers of memory"
        raise PliantError(f"{subject} returned {result!r}", subject=subject, field="law", cure=cure)
    return result[0], list(result[1])


# ---- after a step


def remembered(
    layout: MotorMemory, robot: Robot, q: Scalars, v: Scalars, torques: Scalars, states: States,
    frictions: Sequence[tuple[Scalar, Scalar]] = (), steps: int = 1,
) -> States:  # fmt: skip
    """What the motors remember after a step.

    Args:
        q, v: at its end.
        torques: of the motors in it.
        frictions: of those that bend, the torque, and the piece that it is on: 0 if it does not slide.
        steps: of the clock.
    """
    left, dt, after = iter(frictions), steps * layout.dt, []
    for motor, shaft, torque, state in zip(robot.motors.values(), shafts_of(robot), torques, states, strict=True):
        rate, new = shaft.rate(v), dict(state)
        if "current" in state:
            factor, offset = ripple_at(motor, shaft.position(q) - dt * rate)
            current = (torque - offset) / (factor * torque_per_current(motor))
            new["current"] = [current]
            if "temperature" in state:
                new["temperature"] = [temperature_after(motor, state["temperature"][0], current, dt)]
        if "bristle" in state:
            friction, piece = next(left)
            slides = negation(equal(piece, 0))
            new["bristle"] = [bristle_after(motor, state["bristle"][0], rate, dt, friction, slides)]
            new["friction"] = [friction]
        after.append(new)
    return after


def kept_if(moves: Scalar, after: Scalars, before: Scalars) -> list[Any]:
    """The row of a robot that moves; that of one that does not stays."""
    return [select(moves, a, b) for a, b in zip(after, before, strict=True)]
