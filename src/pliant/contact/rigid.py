"""Settings of the rigid contact solver."""

from dataclasses import dataclass
from typing import Any

from pliant.contact.checks import check_at_least, check_friction, check_restitution
from pliant.errors import ContactError

__all__ = ["RigidContact"]

Scalar = Any

_TOLERANCES = {"float64": 1e-9, "float32": 2e-6}


@dataclass(frozen=True)
class RigidContact:
    """Rigid contact by impulses, solved in each step by sweeps over the contacts.

    Attributes:
        friction: coefficient of friction, where neither the ground nor the contact has its own.
        restitution: share of the approach speed with which a contact separates, 0 to 1, likewise.
        tolerance: sweeps end when none changes a contact's velocity by more than this [m/s] times one plus a
            tenth of the robot's largest velocity; None is 1e-9 in float64 and 2e-6 in float32.
        sweeps: at most so many in a step; `Simulation.diagnostics` tells if they did not suffice.
        correction: share of a penetration that is taken back in one step, without changing velocities.
    """

    friction: Scalar = 0.7
    restitution: Scalar = 0
    tolerance: float | None = None
    sweeps: int = 200
    correction: float = 0.2

    def __post_init__(self) -> None:
        owner = "RigidContact"
        check_friction(owner, self.friction)
        check_restitution(owner, self.restitution)
        if self.friction is None or self.restitution is None:
            raise ContactError(f"{owner}: friction and restitution are numbers here; None is for grounds and contacts")
        if self.tolerance is not None:
            check_at_least(owner, "tolerance", self.tolerance, 0, strict=True)
        if not isinstance(self.sweeps, int) or self.sweeps < 1:
            raise ContactError(f"{owner}: sweeps is {self.sweeps!r}; it takes 1 or more")
        check_at_least(owner, "correction", self.correction, 0)
        if self.correction > 1:
            raise ContactError(f"{owner}: correction is {self.correction}; it must be at most 1")

    def tolerance_in(self, precision: str) -> float:
        """The tolerance, by default that of the precision."""
        return _TOLERANCES[precision] if self.tolerance is None else self.tolerance
