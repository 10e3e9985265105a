"""Simulations that pickle: what they were made of, and the numbers that they have at this moment.

Kernels are machine code of one process; a simulation that comes out of a pickle takes them from the cache. Its results
are those of the one that went in, to the bit.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pliant.scalar import Scalar, Scalars
from pliant.scalar.formulas import FormulaRow
from pliant.scalar.pickling import kept, pickles
from pliant.simulation.controllers import Controller

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation


def parts_of(sim: "Simulation") -> dict[str, Any]:
    """Arguments of the constructor, and numbers."""
    model, plan = sim.model, sim.plan
    return {
        "robot": sim.robot,
        "options": {
            "dt": model.dt, "ground": model.ground, "contact": model.contact, "integrator": plan.integrator,
            "batch": sim.batch, "precision": sim.precision, "threads": sim.threads, "substeps": plan.substeps,
            "controller": _kept_controller(sim), "forces": (*model.forces, *model.disturbances),
            "varying": tuple(sim.parameters), "limits": model.has_limits, "coriolis": model.coriolis,
            "held": model.held, "seed": sim.seed, "rtol": plan.control.rtol, "atol": plan.control.atol,
            "progress": sim.progress,
        },
        "data": sim.data, "parameters": sim.parameters.data, "first": sim.first,
    }  # fmt: skip


def remade(kind: Any, parts: Mapping[str, Any]) -> Any:
    """A simulation of parts, without the warnings that the first one raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = kind(parts["robot"], **parts["options"])
    sim.first = parts["first"]
    sim.parameters.data[...] = parts["parameters"]
    sim.data[...] = parts["data"]
    sim.note_divergences(quiet=True)
    return sim


def share_of(parts: Mapping[str, Any], first: int, last: int) -> dict[str, Any]:
    """The parts of a simulation of some robots of a batch, from number ``first`` up to, not including, ``last``."""
    own = {"data": parts["data"][first:last], "parameters": parts["parameters"][first:last]}
    options = parts["options"] | {"batch": last - first}
    return {**parts, **own, "options": options, "first": parts["first"] + first}


# ---- controllers


class StateFormula:
    """A compiled controller of the state as formulas: u and memory from t, q, v, command and memory."""

    def __init__(self, row: FormulaRow, controls: int, has_memory: bool):
        self.row, self.controls, self.has_memory = row, controls, has_memory

    def __call__(self, t: Scalar, q: Scalars, v: Scalars, *extra: Scalars) -> Any:
        """The controls, and the memory if there is one."""
        return self._split(self.row(t, *q, *v, *(x for part in extra for x in part)))

    def _split(self, found: list[Scalar]) -> Any:
        return (found[: self.controls], found[self.controls :]) if self.has_memory else found


class SensorFormula(StateFormula):
    """The same of the readings of sensors, in the order of their channels."""

    def __call__(self, t: Scalar, sensors: Mapping[str, Scalars], *extra: Scalars) -> Any:  # type: ignore[override]
        """The controls, and the memory if there is one."""
        parts = (*sensors.values(), *extra)
        return self._split(self.row(t, *(x for part in parts for x in part)))


def _kept_controller(sim: "Simulation") -> Controller | None:
    """The controller, as formulas if its function does not pickle."""
    own = sim.plan.controller
    if own is None or pickles(own.function):
        return own
    robot, readers = sim.robot, sim.model.readers
    sizes = [("t", 1)]
    if own.takes_sensors:
        channels = [(f"{r.name}.{c}", s.stop - s.start) for r in readers for c, s in r.spans.items()]
        sizes += channels
    else:
        channels = []
        sizes += [("q", robot.nq), ("v", robot.nv)]
    sizes += [("command", own.commands), ("memory", len(own.memory))]
    names = [f"{name} {k}" for name, size in sizes for k in range(size)]

    def asked(*given: Scalar) -> list[Scalar]:
        left = iter(given)
        parts = {name: [next(left) for _ in range(size)] for name, size in sizes}
        sensors = {name: parts[name] for name, _ in channels}
        q, v = parts.get("q", []), parts.get("v", [])
        u, memory = own(robot, parts["t"][0], q, v, parts["command"], parts["memory"], sensors)
        return [*u, *memory]

    asked.__name__ = own.name
    kind = SensorFormula if own.takes_sensors else StateFormula

    def formula() -> StateFormula:
        return kind(FormulaRow.of(asked, names), robot.nu, bool(len(own.memory)))

    return replace(own, function=kept(own.function, formula, f"controller {own.name!r}", "function"))
