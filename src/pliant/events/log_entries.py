"""The entries of the log of an event-driven run: at regular times, and before and after events."""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.compiler import Kernel, kernel_from_function
from pliant.events.controls import Controls
from pliant.integrators.dense import DenseSolution, Segment
from pliant.recording.log import Event
from pliant.recording.log import Log
from pliant.recording.source import Source, plain
from pliant.simulation.energy_and_power import POWER_TERMS, energies, motor_torques, powers
from pliant.simulation.running import BLOCK

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation

__all__ = ["CHANNELS", "LogEntries"]

CHANNELS = ("q", "v", "tau", "u", "forces", "energy", "power")
"""Channels that an event-driven run can keep; "mode" it always has."""

_ENERGIES = ("kinetic", "potential", "elastic")


class LogEntries:
    """Gathers entries, events and steps, and makes blocks of the log of them.

    Args:
        sim: that moves.
        channels: names of the channels to keep.
        every: time between entries [s].
        settings: of the run.

    Attributes:
        events: of the whole run.
    """

    def __init__(
        self,
        sim: "EventSimulation",
        channels: Sequence[str],
        every: float,
        controls: Controls,
        settings: Mapping[str, Any] | None,
    ):
        self.sim, self.channels, self.every, self.controls = sim, channels, every, controls
        self.settings = dict(settings or {})
        self.events: list[Event] = []
        self._modes: list[str] = []
        self._rows: list[tuple] = []
        self._segments: list[Segment] = []
        self._given = 0
        self._last: tuple | None = None
        self._first = self._end = sim.t
        self._count = 1
        self._begun = time.perf_counter()

    def step(self, segment: Segment, stop: float) -> None:
        """Entries within a step that ends at ``stop``, maybe before its own end."""
        self._segments.append(segment)
        self._end = stop
        while (t := self._first + self._count * self.every) < stop - 1e-12:
            self.sample(t, *segment(t))
        # those at the end itself are taken after projection, by the run or the next step

    def sample(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Take one entry; returns the controls."""
        sim = self.sim
        while self._first + self._count * self.every <= t + 1e-12:
            self._count += 1
        u = self.controls(t, q, v)
        forces = sim.forces_at(t, q, v, u) if {"forces", "power"} & set(self.channels) else np.zeros((0, 3))
        name = sim.mode_name
        if name not in self._modes:
            self._modes.append(name)
        row = t, q.copy(), v.copy(), u.copy(), forces.ravel(), self._modes.index(name)
        last = self._last
        if last is None or last[0] != t or last[5] != row[5] or (last[2] != v).any():
            self._rows.append(row)
            self._last = row
        return u

    @property
    def is_due(self) -> bool:
        """Whether there is enough for a block."""
        return bool(self._rows) and time.perf_counter() - self._begun > BLOCK

    @property
    def is_empty(self) -> bool:
        return not self._rows

    def block(self) -> Log:
        """The log of what came after the block before."""
        sim, robot = self.sim, self.sim.robot
        t, q, v, u, forces, mode = (np.array(column) for column in zip(*self._rows, strict=True))
        # arrays without columns, of robots without motors or contacts, have lost their shape
        found = {"q": q, "v": v, "u": u.reshape(len(t), robot.nu), "forces": forces.reshape(len(t), -1)}
        channels: dict[str, np.ndarray] = {}
        for name in self.channels:
            channels |= {name: found[name]} if name in found else self._computed(name, t, **found)
        names, motors = sim.contact_names, tuple(robot.motors)
        forces_names = tuple(f"{name}.{axis}" for name in names for axis in "xyz")
        columns = {"q": robot.coordinate_names, "v": robot.velocity_names, "u": motors, "tau": motors}
        columns |= {"forces": forces_names}
        log = Log(
            t, {**channels, "mode": mode}, {name: columns[name] for name in columns if name in channels},
            metadata={"robot": robot.name, "steps": sim.stepper.taken, "rejected": sim.stepper.rejected},
            source=self._source, events=tuple(self.events[self._given :]), modes=tuple(self._modes),
            dense=self._dense(),
        )  # fmt: skip
        self._rows, self._segments, self._given = [], [], len(self.events)
        self._begun = time.perf_counter()
        return log

    def _dense(self) -> DenseSolution | None:
        if not self._segments:
            return None
        steps = {name: [getattr(s, name) for s in self._segments] for name in ("t", "h", "q", "v", "stages")}
        return DenseSolution.from_steps(self.sim.robot, steps, self._end)

    def _computed(self, name: str, t: np.ndarray, **found: np.ndarray) -> dict[str, np.ndarray]:
        """Channels that follow from the state and the controls.

        Impacts have no power, since they take no time: `Event.energy_lost`.
        """
        if name == "tau" and not self.sim.robot.nu:
            return {"tau": found["u"]}
        kernel = self.sim.kernels.get(name) or self.sim.kernels.setdefault(name, _kernel(self.sim, name))
        arrays = {"t": t, **found}
        entries = kernel(*(np.ascontiguousarray(arrays[given], dtype=float) for given in kernel.inputs))
        if name == "tau":
            return {"tau": entries}
        terms = _ENERGIES if name == "energy" else POWER_TERMS
        return {f"{name}.{term}": entries[:, k] for k, term in enumerate(terms)}

    @cached_property
    def _source(self) -> Source:
        sim, model, steps = self.sim, self.sim.model, self.sim.step_control
        settings = {
            "simulation": type(sim).__name__, "contact": model.contact, "forces": model.forces,
            "limits": model.has_limits, "rtol": steps.rtol, "atol": steps.atol, "max_step": steps.largest,
            "rest_speed": sim.rest_speed, "every": self.every, "period": self.controls.period, "when": sim.when,
        }  # fmt: skip
        return Source(sim.robot, model.ground, tuple(sim.contact_names), plain(settings | self.settings))


def _kernel(sim: "EventSimulation", name: str) -> Kernel:
    """The kernel of channel "tau", "energy" or "power"."""
    model, robot, names = sim.model, sim.robot, sim.contact_names
    order = [3 * names.index(contact) + axis for contact in model.contact_names for axis in range(3)]
    shapes: dict[str, tuple[int, ...]] = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "u": (robot.nu,)}

    def tau(t: Any, q: Any, v: Any, u: Any) -> list[Any]:
        return motor_torques(robot, q, v, u, t)

    def energy(q: Any, v: Any) -> list[Any]:
        return list(energies(model, q, v))

    def power(t: Any, q: Any, v: Any, u: Any, forces: Any) -> list[Any]:
        return powers(model, t, q, v, v, motor_torques(robot, q, v, u, t), [forces[k] for k in order], None)

    functions = {
        "tau": (tau, shapes),
        "energy": (energy, {"q": shapes["q"], "v": shapes["v"]}),
        "power": (power, shapes | {"forces": (3 * len(names),)}),
    }
    function, own = functions[name]
    return kernel_from_function(function, own, name=name)
