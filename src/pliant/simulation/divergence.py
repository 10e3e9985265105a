"""Divergence: a robot whose numbers are not finite, or as large as in an explosion, is frozen and reported by name."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.robot import Robot
from pliant.scalar import abs, both, select
from pliant.simulation.model import StepModel

__all__ = ["Divergence", "divergence_code", "divergence_text", "level_of_caller", "steps_code"]

Scalar = Any

_PACKAGE = __name__.partition(".")[0] + "."

# numbers beyond this are taken for an explosion
_HUGE = {"float64": 1e12, "float32": 1e8}


@dataclass(frozen=True)
class Divergence:
    """Why a robot does not move any more.

    Attributes:
        robot: its index in the batch.
        time: when [s].
        what: the cause, in words.
    """

    robot: int
    time: float
    what: str

    def __str__(self) -> str:
        return f"robot {self.robot} at t = {self.time:.6g} s: {self.what}"


# ---- codes: 0, then one for each velocity, one for each control, and one for the steps of the adaptive integrator


def divergence_code(model: StepModel, u: Sequence[Scalar], v: Sequence[Scalar], before: Scalar) -> Scalar:
    """The code after a step: that before it, or that of the first control or velocity that is out of bounds."""
    huge = _HUGE[model.precision]
    code: Scalar = 0
    for k in reversed(range(len(v))):
        code = select(abs(v[k]) <= huge, code, 1 + k)
    for k in reversed(range(len(u))):
        code = select(abs(u[k]) <= huge, code, 1 + len(v) + k)
    return select(both(before <= 0, before >= 0), code, before)


def steps_code(robot: Robot) -> int:
    """The code where the adaptive integrator finds no step."""
    return 1 + robot.nv + robot.nu


def divergence_text(robot: Robot, code: int) -> str:
    """A code in words."""
    if code == steps_code(robot):
        return "the adaptive integrator cannot reach its tolerance; the forces are too stiff or not smooth"
    if code > robot.nv:
        return f"control of motor {list(robot.motors)[code - 1 - robot.nv]!r} is not finite or too large"
    name = robot.velocity_names[code - 1]
    return f"the velocity of {name!r} is not finite or too large; use a shorter dt, softer gains, or lower forces"


def level_of_caller() -> int:
    """The ``stacklevel`` with which a warning points to the user's line, the first outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
