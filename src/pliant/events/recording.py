"""Puts the log of an event-driven simulation together."""

import time
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.compiler import Kernel, kernel_from_function
from pliant.errors import PliantError
from pliant.integrators.adaptive import Stepper
from pliant.integrators.dense import DenseSolution, Segment
from pliant.progress import Progress
from pliant.recording import Event, Log
from pliant.recording.source import Source, plain
from pliant.simulation.energy_and_power import POWER_TERMS, energies, motor_torques, powers
from pliant.simulation.running import read_back

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation

__all__ = ["Recorder"]

# a run that is saved puts entries on file so often [s]
_PART = 0.25


class Recorder:
    """Gathers entries at regular times, and before and after events."""

    def __init__(
        self,
        sim: "EventSimulation",
        every: float,
        control: Any,
        *,
        has_power: bool = False,
        stepper: Stepper,
        until: float,
        save: Any = None,
        progress: bool | None = None,
    ):
        """Begin.

        Args:
            has_power: whether to keep it.
            until: when the run ends [s].
            save: path of a log file that is written as the run goes on, or None.
            progress: whether to show how far it is; None: on a terminal.
        """
        self.sim, self.every, self.control, self.has_power = sim, every, control, has_power
        self.stepper, self.until, self.save = stepper, until, save
        self.progress = Progress(sim.t, until, progress)
        self._writer: Any = None
        self._begin: Log | None = None
        self._told = 0
        self._kept = time.perf_counter()
        if save is not None:
            import_module("pliant.files.writing").checked_folder(save)
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
        self.progress.update(stop)
        if self.save is not None and len(self._rows) > 1 and time.perf_counter() - self._kept > _PART:
            self._keep(self._rows[:-1])

    def sample(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """One entry."""
        sim = self.sim
        while self._first + self._count * self.every <= t + 1e-12:
            self._count += 1
        u = self.control(t, q, v)
        terms = sim.terms(t, q, v, u)
        forces = sim.instant.forces(terms, v)
        contacts = [i for i, c in enumerate(sim.constraints) if c.is_contact]
        world = [forces[i, 0] * terms.axes[i, 0] + forces[i, 1:] @ terms.axes[i, 1:] for i in contacts]
        name = sim.mode_name
        if name not in self.modes:
            self.modes.append(name)
        row = t, q.copy(), v.copy(), u.copy(), np.array(world).ravel(), self.modes.index(name)
        if self._rows and self._rows[-1][0] == t and self._rows[-1][5] == row[5] and (self._rows[-1][2] == v).all():
            return
        self._rows.append(row)

    def log(self) -> Log:
        """All of it."""
        self.progress.close()
        if self.save is None:
            return self._log(self._rows, self.events)
        self._keep(self._rows)
        self._writer.finish()
        assert self._begin is not None
        found = read_back(self.save, self._writer.rows, self._begin, stacklevel=5)
        return replace(found, source=self._begin.source, metadata=self._about(), events=self.events)

    def _keep(self, rows: list[tuple]) -> None:
        """Put entries on file, with the events and steps so far, and forget them."""
        part = self._log(rows, self.events[self._told :])
        if self._writer is None:
            self._begin = part
            self._writer = import_module("pliant.storage.writing").LogWriter(self.save, part, until=self.until)
        else:
            self._writer.append(part)
        self._told = len(self.events)
        self._rows = self._rows[len(rows) :]
        self.segments.clear()
        self._kept = time.perf_counter()

    def stop(self, error: BaseException) -> None:
        """End it: what there was until then is on file, if there is one, or in the attribute ``log`` of the error."""
        self.progress.close()
        if self.save is None and self._rows and isinstance(error, Exception):
            with suppress(Exception):
                error.log = self._log(self._rows, self.events)  # type: ignore[attr-defined]
        if self.save is not None and self._rows:
            with suppress(PliantError):  # there is another error on its way
                self._keep(self._rows)
        if self._writer is not None:
            self._writer.close()

    @cached_property
    def _energy(self) -> Kernel:
        model, robot = self.sim.model, self.sim.robot
        shapes = {"q": (robot.nq,), "v": (robot.nv,)}
        return kernel_from_function(lambda q, v: energies(model, q, v), shapes, name="energy")

    def _log(self, rows: list[tuple], events: list[Event]) -> Log:
        sim, robot = self.sim, self.sim.robot
        t, q, v, u, forces, mode = (np.array(column) for column in zip(*rows, strict=True))
        terms = self._energy(np.ascontiguousarray(q), np.ascontiguousarray(v))
        names = [c.name for c in sim.constraints if c.is_contact]
        channels = {"q": q, "v": v, "u": u, "forces": forces.reshape(len(t), 3 * len(names)), "mode": mode}
        channels |= {f"energy.{what}": terms[:, k] for k, what in enumerate(("kinetic", "potential", "elastic"))}
        if self.has_power:
            channels |= self._powers(t, q, v, u, channels["forces"], names)
        columns = {
            "q": robot.coordinate_names,
            "v": robot.velocity_names,
            "u": tuple(robot.motors),
            "forces": tuple(f"{name}.{axis}" for name in names for axis in "xyz"),
        }
        return Log(
            t, channels, columns, None, self._about(), self._source(names),
            events=tuple(events), modes=tuple(self.modes), dense=self._dense(),
        )  # fmt: skip

    def _dense(self) -> DenseSolution | None:
        if not self.segments:
            return None
        steps = {name: [getattr(s, name) for s in self.segments] for name in ("t", "h", "q", "v", "stages")}
        return DenseSolution.from_steps(self.sim.robot, steps, self.end)

    def _powers(self, t, q, v, u, forces: np.ndarray, names: list[str]) -> dict[str, np.ndarray]:
        """Power by term; impacts have none, since they take no time: `Event.energy_lost`."""
        model, robot = self.sim.model, self.sim.robot
        order = [3 * names.index(name) + axis for name in model.contact_names for axis in range(3)]

        def entries(t: Any, q: Any, v: Any, u: Any, f: Any) -> list[Any]:
            return powers(model, t, q, v, v, motor_torques(robot, q, v, u, t), f, None)

        shapes = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "u": (robot.nu,), "f": (len(order),)}
        kernel = kernel_from_function(entries, shapes, name="power")
        given = (np.ascontiguousarray(a, dtype=float) for a in (t, q, v, u, forces[:, order]))
        return {f"power.{term}": column for term, column in zip(POWER_TERMS, kernel(*given).T, strict=True)}

    def _about(self) -> dict[str, Any]:
        return {"robot": self.sim.robot.name, "steps": self.stepper.taken, "rejected": self.stepper.rejected}

    def _source(self, contacts: list[str]) -> Source:
        sim, steps = self.sim, self.stepper.control
        model = sim.model
        settings = {
            "simulation": type(sim).__name__, "contact": model.contact, "forces": model.forces,
            "limits": model.has_limits, "rtol": steps.rtol, "atol": steps.atol, "max_step": steps.largest,
            "rest_speed": sim.rest_speed, "every": self.every, "period": self.control.period, "when": sim.when,
        }  # fmt: skip
        return Source(sim.robot, model.ground, tuple(contacts), plain(settings))
