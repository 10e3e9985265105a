"""The compiled programs of a simulation, each made when it is first needed."""

import itertools
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from pliant.actuation.flexibility import FlexibilityState, flexibility_names, flexibility_state
from pliant.compiler import Kernel, kernel_from_function
from pliant.progress import compiling
from pliant.simulation.energy_and_power import ENERGY_TERMS, POWER_TERMS, energies, powers
from pliant.simulation.model import StepModel
from pliant.simulation.plan import Plan
from pliant.simulation.state import steps_of

__all__ = ["Kernels"]


class Kernels:
    """Kernels of a plan.

    Attributes:
        plan: of the programs.
        precision: "float64" or "float32".
        threads: that share a batch.
        progress: whether to report compilations that take long (default: on a terminal).
    """

    def __init__(self, plan: Plan, *, precision: str, threads: int, progress: bool | None):
        self.plan = plan
        self.precision = precision
        self.threads = threads
        self.progress = progress
        self._rollouts: dict[tuple[str, ...], Kernel] = {}

    @cached_property
    def period(self) -> Kernel:
        """A control period: (state, inputs, parameters) -> next state."""
        plan, name = self.plan, self.plan.model.robot.name
        with compiling(f"the simulation of {name!r}", self.progress):
            return Kernel(
                plan.period(),
                {array: (size,) for array, size in plan.arrays.items()},
                {"next": (plan.layout.size,)},
                name=f"simulation of {name}",
                precision=self.precision,
                threads=self.threads,
            )

    def rollout(self, channels: tuple[str, ...]) -> Kernel:
        """Many periods, with a row of each channel for each, and the last state."""
        if channels not in self._rollouts:
            plan, name = self.plan, self.plan.model.robot.name
            outputs = {f"record {channel}": (plan.layout.sizes[channel],) for channel in channels}
            with compiling(f"rollouts of {name!r}", self.progress):
                self._rollouts[channels] = Kernel(
                    plan.rollout(channels),
                    {array: (size,) for array, size in plan.arrays.items()},
                    {**outputs, "next": (plan.layout.size,)},
                    name=f"rollouts of {name}",
                    precision=self.precision,
                )
        return self._rollouts[channels]

    def arguments(self, state: np.ndarray, inputs: np.ndarray, parameters: np.ndarray) -> list[np.ndarray]:
        """Those that the kernels take: none without numbers."""
        given = {"state": state, "input": inputs, "parameters": parameters}
        return [given[name] for name in self.plan.arrays]

    def energy(self, data: np.ndarray, parameters: np.ndarray) -> dict[str, Any]:
        """Kinetic, potential and elastic energy [J] of states (..., size), by name; arguments as `_of_states`."""
        terms = self._of_states(self._energy, data, parameters)
        return {name: float(terms[k]) if terms.ndim == 1 else terms[..., k] for k, name in enumerate(ENERGY_TERMS)}

    def power(self, data: np.ndarray, parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Power by term [W] of states (..., times, size), see `powers`; arguments as `_of_states`.

        Where one state follows another by a step, it is the mean of that step; else that of the moment.
        """
        plan, layout = self.plan, self.plan.layout
        v, clock = data[..., layout.span("v")], steps_of(data[..., layout.span("clock")])
        mean = np.array(v)
        if plan.integrator == "semi-implicit":
            is_next = (np.diff(clock, axis=-1) == 1)[..., None]
            mean[..., 1:, :] = np.where(is_next, (v[..., 1:, :] + v[..., :-1, :]) / 2, v[..., 1:, :])
        parts = ("q", "v", "torques", "impulses", "steady", "stops")
        t = (clock - (plan.integrator == "semi-implicit")) * layout.dt
        rows = np.concatenate([t[..., None], mean, *(data[..., layout.span(name)] for name in parts)], axis=-1)
        lead = rows.shape[:-1]
        p = parameters.astype(float)
        if p.ndim == 2:
            p = np.repeat(p, math.prod(lead) // len(p), axis=0)
        found = self._power(np.ascontiguousarray(rows, float).reshape(-1, rows.shape[-1]), p).reshape(*lead, -1)
        return {name: found[..., k] for k, name in enumerate(POWER_TERMS)}

    @cached_property
    def _power(self) -> Kernel:
        plan, layout, robot = self.plan, self.plan.layout, self.plan.model.robot
        sizes = [1, robot.nv, *(layout.sizes[n] for n in ("q", "v", "torques", "impulses", "steady", "stops"))]
        has_rows = plan.integrator == "semi-implicit"

        def entries(row: Any, p: Any) -> list[Any]:
            cuts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
            t, mean, q, v, torques, impulses, steady, stops = (row[a:b] for a, b in itertools.pairwise(cuts))
            model = plan.parameters.applied(p)
            forces, joints = ([x / model.dt for x in part] for part in (impulses, [*steady, *stops]))
            return powers(model, t[0], q, v, mean, torques, forces, joints if has_rows else None)

        return kernel_from_function(entries, {"row": (sum(sizes),), "p": (plan.parameters.size,)}, name="power")

    def flexibility(self, data: np.ndarray, parameters: np.ndarray) -> FlexibilityState:
        """Both sides of the flexible joints of states (..., size); arguments as `_of_states`."""
        robot = self.plan.model.robot
        whole = self._of_states(self._flexibility, data, parameters)
        sizes = [robot.nu] * 4 + [len(flexibility_names(robot))] * 3
        return FlexibilityState(*np.split(whole, np.cumsum(sizes)[:-1], axis=-1))

    def _of_states(self, kernel: Kernel, data: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """A kernel of q, v and the parameters, for states.

        Args:
            data: (..., size), with the batch first, if there is one; then maybe times.
            parameters: (size,) or (batch, size).
        """
        layout = self.plan.layout
        lead = data.shape[:-1]
        q, v = (
            np.ascontiguousarray(data[..., layout.span(name)], float).reshape(math.prod(lead), layout.sizes[name])
            for name in ("q", "v")
        )
        p = parameters.astype(float)
        if p.ndim == 2:
            p = np.repeat(p, len(q) // len(p), axis=0)
        return kernel(q, v, p).reshape(*lead, -1)

    @cached_property
    def _energy(self) -> Kernel:
        return self._kernel("energy", energies)

    @cached_property
    def _flexibility(self) -> Kernel:
        def entries(model: StepModel, q: Any, v: Any) -> list[Any]:
            return [x for part in flexibility_state.algorithm(model.robot, q, v) for x in part]

        return self._kernel("flexibility", entries)

    def _kernel(self, name: str, function: Callable[..., list[Any]]) -> Kernel:
        parameters, robot = self.plan.parameters, self.plan.model.robot
        shapes = {"q": (robot.nq,), "v": (robot.nv,), "p": (parameters.size,)}
        return kernel_from_function(lambda q, v, p: function(parameters.applied(p), q, v), shapes, name=name)
