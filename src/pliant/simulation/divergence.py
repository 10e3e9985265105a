"""Trouble: a robot whose numbers are not finite, or as large as in an explosion, is frozen and told about by name."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.robot import Robot
from pliant.scalar import abs, both, select
from pliant.simulation.model import StepModel

__all__ = ["STEPS_TROUBLE", "Trouble", "level_of_caller", "trouble_of", "trouble_text"]

Scalar = Any

_PACKAGE = __name__.partition(".")[0] + "."

_MOTION = 1000
_CONTROL = 2000
STEPS_TROUBLE = 3000

# numbers beyond this are taken for an explosion
_HUGE = {"float64": 1e12, "float32": 1e8}


@dataclass(frozen=True)
class Trouble:
    """What happened to a robot that does not move any more.

    Attributes:
        robot: its index in the batch.
        time: when [s].
        what: in words.
    """

    robot: int
    time: float
    what: str

    def __str__(self) -> str:
        return f"robot {self.robot} at t = {self.time:.6g} s: {self.what}"


def trouble_of(model: StepModel, u: Sequence[Scalar], v: Sequence[Scalar], before: Scalar) -> Scalar:
    """Code of the trouble after a step: that before it, or the first control or velocity that is out of bounds."""
    huge = _HUGE[model.precision]
    code: Scalar = 0
    for k in reversed(range(len(v))):
        code = select(abs(v[k]) <= huge, code, _MOTION + k)
    for k in reversed(range(len(u))):
        code = select(abs(u[k]) <= huge, code, _CONTROL + k)
    return select(both(before <= 0, before >= 0), code, before)


def trouble_text(robot: Robot, code: int) -> str:
    """A code in words."""
    if code >= STEPS_TROUBLE:
        return "the adaptive integrator cannot reach its tolerance; the forces are too stiff or not smooth"
    if code >= _CONTROL:
        return f"control of motor {list(robot.motors)[code - _CONTROL]!r} is not finite or too large"
    name = robot.velocity_names[code - _MOTION]
    return f"the velocity of {name!r} is not finite or too large; use a shorter dt, softer gains, or lower forces"


def level_of_caller() -> int:
    """The ``stacklevel`` with which a warning points to the user's line, the first outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
