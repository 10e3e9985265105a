"""The entries of the log of an event-driven run: at regular times, and before and after events."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.actuation.joint_forces import dry_friction, motor_torques
from pliant.compiler import Kernel, kernel_from_function
from pliant.events.controls import Controls
from pliant.integrators.dense import DenseSolution, Segment
from pliant.recording.log import Event, Log
from pliant.recording.source import Source
from pliant.recording.troubles import plain_troubles
from pliant.scalar import abs as scalar_abs
from pliant.simulation.programs import ENERGY_TERMS, POWER_TERMS, energies, powers
from pliant.simulation.running import columns_of, source_with

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation

CHANNELS = ("q", "v", "tau", "u", "forces", "energy", "power")
"""Channels that an event-driven run can keep; "mode" it always has."""


class LogEntries:
    """Gathers entries, every so many seconds, steps and the events of the whole run, and makes blocks of the log."""

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

    def step(self, segment: Segment, stop: float) -> None:
        """Entries within a step that ends at ``stop``, maybe before its own end."""
        self._segments.append(segment)
        self._end = stop
        while (t := self._first + self._count * self.every) < stop - 1e-12:
            q, v = segment(t)
            if self.sim.terms.has_loops:
                q, v = self.sim.motion.projected(t, q, v, self.controls(t, q, v))
            self.sample(t, q, v)
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

    def __len__(self) -> int:
        return len(self._rows)

    def block(self) -> Log:
        """The log of what came after the block before."""
        sim, robot = self.sim, self.sim.robot
        t, q, v, u, forces, mode = (np.array(column) for column in zip(*self._rows, strict=True))
        # arrays without columns, of robots without motors or contacts, have lost their shape
        found = {"q": q, "v": v, "u": u.reshape(len(t), robot.nu), "forces": forces.reshape(len(t), -1)}
        shown = found
        if "forces" in self.channels:
            shown = found | {"forces": sim.model.by_contact(found["forces"]).reshape(len(t), -1)}
        channels: dict[str, np.ndarray] = {}
        for name in self.channels:
            channels |= {name: shown[name]} if name in shown else self._computed(name, t, **found)
        about = {"robot": robot.name, "steps": sim.stepper.taken, "rejected": sim.stepper.rejected}
        about |= {"troubles": plain_troubles(sim.troubles)} if sim.troubles else {}
        log = Log(
            t, {**channels, "mode": mode}, columns_of(sim, channels),
            metadata=about, source=self._source, events=tuple(self.events[self._given :]), modes=tuple(self._modes),
            dense=self._dense(),
        )  # fmt: skip
        self._rows, self._segments, self._given = [], [], len(self.events)
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
        kernel = channel_kernel(self.sim, name)
        arrays = {"t": t, **found}
        entries = kernel(*(np.ascontiguousarray(arrays[given], dtype=float) for given in kernel.inputs))
        if name == "tau":
            return {"tau": entries}
        terms = ENERGY_TERMS if name == "energy" else POWER_TERMS
        return {f"{name}.{term}": entries[:, k] for k, term in enumerate(terms)}

    @cached_property
    def _source(self) -> Source:
        sim, steps = self.sim, self.sim.step_control
        settings = {"rtol": steps.rtol, "atol": steps.atol, "max_step": steps.largest, "rest_speed": sim.rest_speed,
                    "every": self.every, "period": self.controls.period, "when": sim.when}  # fmt: skip
        return source_with(sim, sim.model, settings | self.settings)


def channel_kernel(sim: "EventSimulation", name: str) -> Kernel:
    """The kernel of channel "tau", "energy" (of q and v) or "power", compiled once."""
    if name in sim.kernels:
        return sim.kernels[name]
    model, robot = sim.model, sim.robot
    size = 3 * len(model.touch_names)
    shapes = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "u": (robot.nu,), "forces": (size,)}

    def power(t: Any, q: Any, v: Any, u: Any, forces: Any) -> list[Any]:
        found = powers(model, t, q, v, v, motor_torques(robot, q, v, u, t), forces, None)
        # dry friction, where a joint moves
        for row in model.joint_rows:
            if row.kind == "friction":
                bound = dry_friction(robot, row.joint, row.dof - robot.v_slice(row.joint).start, v[row.dof])
                at = POWER_TERMS.index("friction")
                found[at] = found[at] - bound * scalar_abs(v[row.dof])
        return found

    functions: dict[str, tuple[Any, str]] = {
        "tau": (lambda t, q, v, u: motor_torques(robot, q, v, u, t), "t q v u"),
        "energy": (lambda q, v: list(energies(model, q, v)), "q v"),
        "power": (power, "t q v u forces"),
    }
    function, takes = functions[name]
    sim.kernels[name] = kernel_from_function(function, {given: shapes[given] for given in takes.split()}, name=name)
    return sim.kernels[name]
