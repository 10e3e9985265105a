"""What is going on inside of a simulation: the solver, contacts and energy, at the end of the last step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Diagnostics"]


@dataclass(frozen=True)
class Diagnostics:
    """Arrays are for one robot, or have the batch in front.

    Attributes:
        residual: largest change of a contact's velocity in the last sweep [m/s].
        sweeps: over all contacts in the last step.
        is_converged: whether the residual is within the tolerance.
        penetration: deepest, at the start of the last step [m].
        contacts: names of the contacts.
        forces: on the robot at each contact, in the world's axes, over the last step [N]; (contacts, 3).
        is_active: whether each contact pushes; (contacts,).
        energy: kinetic, potential (of gravity) and elastic (of springs at joints and between frames) [J], by name.
    """

    residual: Any
    sweeps: Any
    is_converged: Any
    penetration: Any
    contacts: Sequence[str]
    forces: np.ndarray
    is_active: np.ndarray
    energy: dict[str, Any]

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
