"""Puts the log of an event-driven simulation together."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.compiler import kernel_from_function
from pliant.hybrid.flow import Segment, Stepper
from pliant.hybrid.log import Event, HybridLog
from pliant.simulation.energies import energies
from pliant.simulation.log import Log

if TYPE_CHECKING:
    from pliant.hybrid.simulation import HybridSimulation

__all__ = ["Recorder"]


class Recorder:
    """Gathers entries at regular times, and before and after events."""

    def __init__(self, sim: "HybridSimulation", every: float, control: Any):
        self.sim, self.every, self.control = sim, every, control
        self.events: list[Event] = []
        self.segments: list[Segment] = []
        self.end = sim.t
        self.modes: list[str] = []
        self._rows: list[tuple] = []
        self._first = sim.t
        self._count = 1

    def step(self, segment: Segment, stop: float) -> None:
        """Entries within a step that ends at ``stop``, maybe before its own end."""
        self.segments.append(segment)
        self.end = stop
        while (t := self._first + self._count * self.every) < stop - 1e-12:
            self.sample(t, *segment(t))
        # those at the end itself are taken after projection, by the run or the next step

    def sample(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """One entry."""
        sim = self.sim
        while self._first + self._count * self.every <= t + 1e-12:
            self._count += 1
        u = self.control(t, q, v)
        terms = sim.terms(t, q, v, u)
        forces = sim.instant.motion(terms, v)[1]
        contacts = [i for i, c in enumerate(sim.constraints) if c.is_contact]
        world = [forces[i, 0] * terms.axes[i, 0] + forces[i, 1:] @ terms.axes[i, 1:] for i in contacts]
        name = sim.mode_name
        if name not in self.modes:
            self.modes.append(name)
        row = t, q.copy(), v.copy(), u.copy(), np.array(world).ravel(), self.modes.index(name)
        if self._rows and self._rows[-1][0] == t and self._rows[-1][5] == row[5] and (self._rows[-1][2] == v).all():
            return
        self._rows.append(row)

    def log(self, stepper: Stepper) -> HybridLog:
        """All of it."""
        sim, robot = self.sim, self.sim.robot
        t, q, v, u, forces, mode = (np.array(column) for column in zip(*self._rows, strict=True))
        kernel = kernel_from_function(
            lambda q, v: list(energies(sim.model, q, v)), {"q": (robot.nq,), "v": (robot.nv,)}, name="energy"
        )
        terms = kernel(np.ascontiguousarray(q), np.ascontiguousarray(v))
        names = [c.name for c in sim.constraints if c.is_contact]
        channels = {"q": q, "v": v, "u": u, "forces": forces.reshape(len(t), 3 * len(names)), "mode": mode}
        channels |= {f"energy.{what}": terms[:, k] for k, what in enumerate(("kinetic", "potential", "elastic"))}
        columns = {
            "q": robot.coordinate_names,
            "v": robot.velocity_names,
            "u": tuple(robot.motors),
            "forces": tuple(f"{name}.{axis}" for name in names for axis in "xyz"),
        }
        about = {"robot": robot.name, "steps": stepper.taken, "rejected": stepper.rejected}
        log = Log(t, channels, columns, None, about)
        return HybridLog.of(log, self.events, self.modes, self.segments, self.end)
