"""What the numbers of an action mean: how the controls of a period follow from them."""

from collections.abc import Callable, Mapping, Sequence
from math import cos, pi
from typing import Any

import numpy as np

from pliant.checks import check, check_callable, check_known, function_name, is_real, is_whole, numbers
from pliant.environment.now import Now
from pliant.environment.observations import is_moving, swing
from pliant.errors import SimulationError, TraceError
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, maximum, minimum, select
from pliant.scalar.pickling import kept
from pliant.signatures import explained


@explained
class Action:
    """Controls as a function of an action.

        Action(lambda action, now: [20 * action[0]], size=1)

    Attributes:
        function: ``function(action, now)`` -> the controls of the motors (or the commands of the simulation's
            controller), generic over the scalar.
        size: how many numbers an action has; None for one a control.
        clip: the largest size of a number of the action; None for no bound.
    """

    def __init__(self, function: Callable[..., Any], size: int | None = None, *, clip: float | None = None):
        check_callable("action", function, "action", "now")
        check("size", size, "1 or more", size is None or (is_whole(size) and size > 0), subject="action")
        check(
            "clip", clip, "None, or a number above zero", clip is None or (is_real(clip) and clip > 0), subject="action"
        )
        self.function, self.size, self.clip = function, size, None if clip is None else float(clip)

    def __getstate__(self) -> dict[str, Any]:
        if getattr(self.function, "__self__", None) is self:  # a method of its own
            return self.__dict__
        return self.__dict__ | {"function": kept(self.function, None, "an action", "function")}

    def names(self, robot: Robot, size: int) -> list[str]:
        """Of the numbers of an action."""
        return list(robot.motors) if size == robot.nu else [f"action[{k}]" for k in range(size)]

    def bounded(self, action: Scalars) -> list[Scalar]:
        """The action within its bounds."""
        if self.clip is None:
            return list(action)
        return [maximum(-self.clip, minimum(a, self.clip)) for a in action]

    def controls(self, action: Scalars, now: Now, n: int) -> list[Scalar]:
        """The n controls of a period."""
        subject = f"action {function_name(self.function)!r}"
        try:
            found = self.function(action, now)
        except TraceError as error:
            cure = "write pliant.math.select(condition, a, b) in place of `if`"
            raise TraceError(f"{subject}: {error}", subject=subject, cure=cure) from None
        is_row = isinstance(found, list | tuple | np.ndarray)
        if not is_row or len(found) != n:
            shown = f"{len(found)} controls" if is_row else repr(found)
            raise SimulationError(f"{subject} returned {shown}", subject=subject, field="action", cure=f"return {n}")
        return list(found)

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        return {"function": function_name(self.function), "clip": self.clip}


@explained
class JointTargets(Action):
    """Targets of motors with position control: those of the stance, and a factor times the action.

    Attributes:
        scale: factor [rad or m], one for all motors or one for each.
    """

    def __init__(self, scale: float | Sequence[float] = 0.5, *, clip: float | None = None):
        self.scale = _scales(scale)
        super().__init__(self._targets, clip=clip)

    def _targets(self, action: Scalars, now: Now) -> list[Scalar]:
        robot = now.robot
        held = [now.stance[robot.q_slice(motor.joint).start] for motor in robot.motors.values()]
        return [q + s * a for q, s, a in zip(held, _each(self.scale, len(held)), action, strict=True)]

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        return {"function": "JointTargets", "scale": list(self.scale), "clip": self.clip}


@explained
@explained
class StepTargets(JointTargets):
    """Targets of motors with position control around a stance that steps: a clock lifts one foot after the other.

    The policy need not find out that feet must be lifted; it learns when and where to put them, and may undo any of it,
    since its action is added.

    Attributes:
        lifts: of each foot its phase in the gait, from 0 to 1, and how far joints are off the stance in the middle of
            its swing, by name [rad or m].
        down: share of the time that a foot is to be down.
        clock: name of the `Clock`; stops_with: of the command of velocity that stops it, None for never.
    """

    def __init__(
        self,
        scale: float | Sequence[float] = 0.5,
        *,
        lifts: Sequence[tuple[float, Mapping[str, float]]],
        down: float = 0.5,
        clock: str = "gait",
        stops_with: str | None = "velocity",
        clip: float | None = None,
    ):
        check("down", down, "a number between 0 and 1", is_real(down) and 0 < down < 1, subject="StepTargets")
        for _, offsets in lifts:
            is_right = all(is_real(x) for x in offsets.values())
            check("lifts", dict(offsets), "finite numbers by joint", is_right, subject="StepTargets")
        self.lifts = tuple((float(phase), dict(offsets)) for phase, offsets in lifts)
        self.down, self.clock, self.stops_with = float(down), clock, stops_with
        super().__init__(scale, clip=clip)

    def _targets(self, action: Scalars, now: Now) -> list[Scalar]:
        targets = dict(zip(now.robot.motors, super()._targets(action, now), strict=True))
        motors = {motor.joint: name for name, motor in now.robot.motors.items()}
        for phase, offsets in self.lifts:
            # from 0 to 1 and back while the foot is in the air
            share = maximum(swing(now, phase, self.down, self.clock), 0) / (1 + cos(pi * self.down))
            if self.stops_with is not None:
                share = select(is_moving(now, self.stops_with), share, 0)
            for joint, offset in offsets.items():
                check_known("joint with a motor", joint, motors, "StepTargets", error=SimulationError)
                targets[motors[joint]] = targets[motors[joint]] + offset * share
        return list(targets.values())

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        own = {"function": "StepTargets", "lifts": [[phase, offsets] for phase, offsets in self.lifts]}
        return super().describe() | own | {"down": self.down, "clock": self.clock, "stops with": self.stops_with}


@explained
class Controls(Action):
    """The controls themselves, torques or whatever the motors take: a factor times the action."""

    def __init__(self, scale: float | Sequence[float] = 1.0, *, clip: float | None = None):
        self.scale = _scales(scale)
        super().__init__(self._scaled, clip=clip)

    def _scaled(self, action: Scalars, now: Now) -> list[Scalar]:
        return [s * a for s, a in zip(_each(self.scale, len(action)), action, strict=True)]

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        return {"function": "Controls", "scale": list(self.scale), "clip": self.clip}


def _scales(scale: Any) -> tuple[float, ...]:
    found = np.atleast_1d(numbers("scale of the action", scale))
    check("scale of the action", scale, "finite numbers", found.ndim == 1 and bool(np.isfinite(found).all()))
    return tuple(found.tolist())


def _each(scale: tuple[float, ...], n: int) -> tuple[float, ...]:
    check("scale of the action", list(scale), f"one number, or {n}", len(scale) in (1, n))
    return scale * n if len(scale) == 1 else scale
