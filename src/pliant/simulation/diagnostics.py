"""Diagnostics of a simulation: the solver, contacts and energy at the end of the last step, and robots that diverged.

A robot whose numbers are not finite, or as large as in an explosion, is frozen and reported by name.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, abs, both, select
from pliant.simulation.model import StepModel
from pliant.simulation.state import State

__all__ = [
    "Diagnostics", "Divergence", "divergence_code", "divergence_text", "level_of_caller", "steps_code",
]  # fmt: skip

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


def divergence_code(model: StepModel, u: Scalars, v: Scalars, before: Scalar) -> Scalar:
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


@dataclass(frozen=True)
class Diagnostics:
    """Arrays are for one robot, or have the batch in front.

    Attributes:
        residual: largest change of a contact's velocity in the last iteration [m/s].
        sweeps: iterations over all contacts in the last step.
        is_converged: whether the iterations of the last step sufficed: the residual is within the solver's tolerance.
        penetration: deepest [m], at the start of the last semi-implicit step or at the end of another.
        contacts: names of the contacts.
        forces: on the robot at each contact, in the world's axes, over the last step [N]; (contacts, 3).
        is_active: whether each contact pushes; (contacts,).
        energy: kinetic, potential (of gravity) and elastic (of springs at joints and between frames) [J], by name.
        accepted, rejected: steps that the adaptive integrator took and tried in vain in the last control period.
    """

    residual: Any
    sweeps: Any
    is_converged: Any
    penetration: Any
    contacts: Sequence[str]
    forces: np.ndarray
    is_active: np.ndarray
    energy: dict[str, Any]
    accepted: Any = 0
    rejected: Any = 0

    @classmethod
    def of(cls, state: State, contacts: Sequence[str], forces: np.ndarray, energy: dict[str, Any]) -> "Diagnostics":
        """Those of a state; forces are (..., contacts, 3) [N]."""
        solver, trials = state.part("solver"), state.part("trials")
        found: list[Any] = [solver[..., k] for k in range(4)]
        found += [trials[..., k] if trials.shape[-1] else np.zeros_like(found[0]) for k in range(2)]
        residual, sweeps, depth, is_unsolved, accepted, rejected = found
        is_converged: Any = is_unsolved == 0
        if state.batch is None:
            residual, depth, is_converged = float(residual), float(depth), bool(is_converged)
            sweeps, accepted, rejected = int(sweeps), int(accepted), int(rejected)
        is_active = np.abs(forces).sum(axis=-1) > 0
        return cls(residual, sweeps, is_converged, depth, contacts, forces, is_active, energy, accepted, rejected)

    def __repr__(self) -> str:
        if np.ndim(self.residual):
            count = len(self.residual)
            worst = int(np.argmax(self.residual))
            return (
                f"Diagnostics of {count} robots: residual up to {self.residual[worst]:.2e} m/s (robot {worst}), "
                f"sweeps up to {int(self.sweeps.max())}, {int((~self.is_converged).sum())} not converged, "
                f"penetration up to {self.penetration.max():.2e} m, {self.is_active.sum(axis=-1).mean():.2f} contacts "
                "active on average"
            )
        lines = [
            f"residual {self.residual:.2e} m/s after {int(self.sweeps)} sweeps"
            + ("" if self.is_converged else " (not converged)"),
            f"penetration {self.penetration:.2e} m",
            "energy: " + ", ".join(f"{name} {value:.6g} J" for name, value in self.energy.items()),
        ]
        for name, force, on in zip(self.contacts, self.forces, self.is_active, strict=True):
            if on:
                lines.append(f"contact {name}: ({force[0]:.4g}, {force[1]:.4g}, {force[2]:.4g}) N")
        return "\n".join(lines)
