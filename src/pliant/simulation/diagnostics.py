"""What a simulation reports of its last step: the solver, contacts, energy, and what has gone wrong since the reset."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.signatures import explained
from pliant.simulation.counts import Counts, counts_of
from pliant.simulation.noticing import Glance
from pliant.simulation.state import State

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation


@explained
class Diagnostics:
    """Numbers about the last step. Arrays are for one robot, or have the batch in front.

    It keeps the state of its moment and computes each number when it is first asked for.

    Attributes:
        contacts: names of the contacts.
    """

    def __init__(self, sim: "Simulation"):
        """Those of a simulation at this moment."""
        self.contacts: Sequence[str] = sim.contact_names
        self._state = State(sim.data.copy(), sim.layout)
        self._parameters = sim.parameters.data.copy()
        self._sim, self._glance = sim, Glance.of(sim)

    # ---- the solver

    @cached_property
    def residual(self) -> Any:
        """Largest change of a contact's velocity in the last iteration [m/s]."""
        return self._number("solver", 0, float)

    @cached_property
    def sweeps(self) -> Any:
        """Iterations over all contacts in the last step."""
        return self._number("solver", 1, int)

    @cached_property
    def is_converged(self) -> Any:
        """Whether the iterations of the last step sufficed: the residual is within the solver's tolerance."""
        found: Any = self._number("solver", 3, float) == 0
        return found

    @cached_property
    def penetration(self) -> Any:
        """Deepest [m], at the start of the last semi-implicit step or at the end of another."""
        return self._number("solver", 2, float)

    @cached_property
    def accepted(self) -> Any:
        """Steps that the adaptive integrator took in the last control period."""
        return self._number("trials", 0, int)

    @cached_property
    def rejected(self) -> Any:
        """Steps that the adaptive integrator tried in vain in the last control period."""
        return self._number("trials", 1, int)

    # ---- contacts and energy

    @cached_property
    def forces(self) -> np.ndarray:
        """On the robot at each contact, in the world's axes, over the last step [N]; (contacts, 3)."""
        return self._sim.forces_of(self._state.data.astype(float))

    @cached_property
    def is_active(self) -> np.ndarray:
        """Whether each contact pushes; (contacts,)."""
        return np.abs(self.forces).sum(axis=-1) > 0

    @cached_property
    def energy(self) -> dict[str, Any]:
        """Kinetic, potential (of gravity) and elastic (of springs at joints and between frames) [J], by name."""
        return self._sim.kernels.energy(self._state.data, self._parameters)

    # ---- since the reset

    @cached_property
    def unconverged(self) -> Any:
        """Steps since the reset whose iterations did not suffice, of a solver that has any."""
        return self._plain(self._failed.count, int)

    @cached_property
    def worst_residual(self) -> Any:
        """The largest residual of the steps that did not converge [m/s]."""
        return self._plain(self._failed.worst, float)

    @cached_property
    def plunges(self) -> Any:
        """Steps since the reset in which a contact was suddenly deeper in the ground than its speed explains."""
        return self._plain(counts_of(self._state, "plunges").count, int)

    @cached_property
    def below(self) -> Any:
        """Looks since the reset at which a body was below the ground that no contact shape stops, the last one now.

        They are some hundred steps apart; ``sim.troubles`` has the name of the body.
        """
        found = self._glance.below(self._sim, self._state.data, self._parameters)
        return int(found[0]) if self._state.batch is None else found

    @cached_property
    def _failed(self) -> Counts:
        return counts_of(self._state, "unconverged")

    # ---- helpers

    def _number(self, part: str, k: int, kind: type) -> Any:
        """A number of a part of the state; of a part that there is not, zero."""
        state = self._state
        if not state.layout.sizes[part]:
            return kind(0) if state.batch is None else np.zeros(state.batch)
        found = state.data[..., state.layout.span(part).start + k]
        return kind(found) if state.batch is None else found.astype(float)

    def _plain(self, found: Any, kind: type) -> Any:
        return kind(found) if self._state.batch is None else found

    def __getstate__(self) -> dict[str, Any]:
        """All numbers: a copy in another process has no simulation to ask."""
        return {name: getattr(self, name) for name in ("contacts", *_NUMBERS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        if np.ndim(self.residual):
            count, worst = len(self.residual), int(np.argmax(self.residual))
            return (
                f"Diagnostics of {count} robots: residual up to {self.residual[worst]:.2e} m/s (robot {worst}), "
                f"iterations up to {int(self.sweeps.max())}, {int((~self.is_converged).sum())} not converged, "
                f"penetration up to {self.penetration.max():.2e} m, {self.is_active.sum(axis=-1).mean():.2f} contacts "
                f"active on average{self._counted}"
            )
        lines = [
            f"residual {self.residual:.2e} m/s after {int(self.sweeps)} iterations"
            + ("" if self.is_converged else " (not converged)"),
            f"penetration {self.penetration:.2e} m",
            "energy: " + ", ".join(f"{name} {value:.6g} J" for name, value in self.energy.items()),
        ]
        lines += [self._counted.removeprefix("; ")] if self._counted else []
        for name, force, on in zip(self.contacts, self.forces, self.is_active, strict=True):
            if on:
                lines.append(f"contact {name}: ({force[0]:.4g}, {force[1]:.4g}, {force[2]:.4g}) N")
        return "\n".join(lines)

    @property
    def _counted(self) -> str:
        """What has gone wrong since the reset, of all robots, in words; "" if nothing has."""
        told = {
            "steps not converged": self.unconverged, "sudden penetrations": self.plunges,
            "looks with a body below the ground": self.below,
        }  # fmt: skip
        words = [f"{int(np.sum(count))} {what}" for what, count in told.items() if np.any(count)]
        return f"; since the reset {', '.join(words)}" if words else ""


_NUMBERS = [name for name, kind in vars(Diagnostics).items() if isinstance(kind, cached_property) and name[0] != "_"]
