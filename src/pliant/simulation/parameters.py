"""Numbers that differ from robot to robot: inputs of the kernels in place of constants.

A parameter is named by its path:

| path | what | numbers |
|---|---|---|
| "gravity" | [m/s^2] | 3 |
| "friction", "restitution" | of the contact model | 1 |
| "law.stiffness", ... | an attribute of the compliant law | 1 |
| "bodies.NAME.mass" | [kg]; the inertia scales with it | 1 |
| "bodies.NAME.com" | centre of mass [m]; the inertia about it stays | 3 |
| "bodies.NAME.inertia" | about the centre of mass, (xx, xy, xz, yy, yz, zz) [kg m^2] | 6 |
| "joints.NAME.damping", "armature", "friction", "stiffness", "hardening" | see `Joint` | 1 a dof |
| "joints.NAME.backlash", "rest", "restitution" | | 1 |
| "motors.NAME.kp", ... | any number of `Motor` | 1 |
| "springs.NAME.stiffness", ... | any number of `FrameSpring` | 1 |

A star stands for all names, one column each: "motors.*.kp"; bodies without mass are left out.
"""

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import PliantError, SimulationError, unknown_name
from pliant.scalar import Graph
from pliant.simulation.model import StepModel
from pliant.simulation.parameter_paths import Entry, entries_of
from pliant.simulation.parameter_ranges import fault_of

__all__ = ["ParameterArrays", "Parameters"]

Scalar = Any


class Parameters:
    """The varying numbers of a model, in order.

    Attributes:
        model: with the numbers that it has by default.
        groups: the numbers of each path.
    """

    def __init__(self, model: StepModel, paths: Sequence[str] = ()):
        self.model = model
        paths = _checked(paths)
        self.groups: dict[str, list[Entry]] = {path: entries_of(model, path) for path in paths}
        taken = [entry.path for group in self.groups.values() for entry in group]
        twice = [path for path in taken if taken.count(path) > 1]
        if twice:
            raise SimulationError(f"the parameter {twice[0]!r} is named twice in {list(paths)}")

    def fault_of(self, path: str, values: np.ndarray) -> str | None:
        """Why the values of a path, (..., n), cannot be, or None."""
        tree, _, what = path.rpartition(".")
        if tree != "law":
            return fault_of(path, values)
        try:
            for value in (values.min(), values.max()):
                replace(self.model.contact.law, **{what: float(value)})
        except PliantError as error:
            return f"does not fit: {error}"
        return None

    @property
    def size(self) -> int:
        """How many numbers a robot has."""
        return sum(len(entry.default) for group in self.groups.values() for entry in group)

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of each path."""
        return {path: sum(len(e.default) for e in group) for path, group in self.groups.items()}

    @property
    def defaults(self) -> np.ndarray:
        """The numbers of the model itself."""
        return np.array([x for group in self.groups.values() for e in group for x in e.default], dtype=float)

    @cached_property
    def structure(self) -> StepModel:
        """The model with unknowns in place of what varies: a number that is zero by default need not stay so."""
        graph = Graph()
        return self.applied([graph.input(f"parameter {k}") for k in range(self.size)])

    def applied(self, values: Sequence[Scalar]) -> StepModel:
        """The model with these numbers."""
        model, at = self.model, 0
        for group in self.groups.values():
            for entry in group:
                size = len(entry.default)
                model = entry.put(model, list(values[at : at + size]))
                at += size
        return model


class ParameterArrays(MutableMapping[str, np.ndarray]):
    """Values of the parameters by path: (n,) or (batch, n), with n dropped where it is 1.

    Setting takes one value for all robots or one for each, and refuses what cannot be. Nothing is compiled
    again. What is written into the array of a path, ``parameters["friction"][2] = 0.5``, is taken unseen.
    """

    def __init__(self, parameters: Parameters, batch: int | None, dtype: Any):
        self._parameters = parameters
        self._sizes = parameters.sizes
        lead = () if batch is None else (batch,)
        self.data = np.array(np.broadcast_to(parameters.defaults, (*lead, parameters.size)), dtype=dtype, order="C")

    def _span(self, path: str) -> slice:
        if path not in self._sizes:
            unknown = unknown_name("varying parameter", path, self._sizes, "the simulation")
            cure = f"{unknown.cure}; declare it with Simulation(..., varying=[...])"
            raise SimulationError(replace(unknown, cure=cure))
        start = 0
        for other, size in self._sizes.items():
            if other == path:
                return slice(start, start + size)
            start += size
        raise AssertionError

    def __getitem__(self, path: str) -> np.ndarray:
        part = self.data[..., self._span(path)]
        return part[..., 0] if self._sizes[path] == 1 else part

    def __setitem__(self, path: str, value: Any) -> None:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise SimulationError(f"parameter {path!r} takes numbers, not {value!r}") from None
        target = self[path]
        if not np.isfinite(array).all():
            raise SimulationError(f"parameter {path!r} has values that are not finite")
        try:
            array = np.broadcast_to(array, target.shape)
        except ValueError:
            raise SimulationError(
                f"parameter {path!r} takes an array of shape {target.shape}, or what broadcasts to it; "
                f"not {array.shape}"
            ) from None
        fault = self._parameters.fault_of(path, array) if array.size else None
        if fault:
            raise SimulationError(f"parameter {path!r} {fault}")
        target[...] = array

    def __delitem__(self, path: str) -> None:
        raise SimulationError(f"parameter {path!r} cannot be removed from a simulation")

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __repr__(self) -> str:
        return f"parameters: {', '.join(f'{path} {self[path].shape}' for path in self) or 'none varies'}"


def _checked(paths: Any) -> list[str]:
    """A list of paths, each of them once."""
    if isinstance(paths, str):
        raise SimulationError(f"varying is the text {paths!r}; give a list of paths, as in [{paths!r}]")
    found = list(paths) if isinstance(paths, Iterable) else [paths]
    wrong = [path for path in found if not isinstance(path, str)]
    if wrong:
        raise SimulationError(f"varying has {wrong[0]!r}; it takes a list of paths, as in ['gravity', 'motors.*.kp']")
    twice = [path for path in found if found.count(path) > 1]
    if twice:
        raise SimulationError(f"the parameter {twice[0]!r} is named twice in {found}")
    return found
