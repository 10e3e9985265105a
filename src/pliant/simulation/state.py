"""The state of a simulation: all that the next step depends on, a row of numbers for each robot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import SimulationError, unknown_name
from pliant.simulation.checks import check, is_whole
from pliant.simulation.clock import steps_of

__all__ = ["State", "StateLayout"]


@dataclass(frozen=True)
class StateLayout:
    """What the numbers of a row are, in order: names and sizes.

    Attributes:
        sizes: of the parts, by name.
        dt: length of a step [s]; times are counted in steps.
    """

    sizes: Mapping[str, int]
    dt: float

    @property
    def size(self) -> int:
        """Numbers in a row."""
        return sum(self.sizes.values())

    def is_like(self, other: "StateLayout") -> bool:
        """Whether a row of the other means the same."""
        return dict(self.sizes) == dict(other.sizes) and self.dt == other.dt

    def span(self, name: str) -> slice:
        """Where a part is in the row."""
        if name not in self.sizes:
            raise SimulationError(unknown_name("part", name, self.sizes, "the state"))
        start = 0
        for other, size in self.sizes.items():
            if other == name:
                return slice(start, start + size)
            start += size
        raise AssertionError


class State:
    """A snapshot: positions, velocities, time, and what the solver remembers. Pickles.

        before = sim.state
        ...
        sim.state = before            # and everything goes on from there, bit for bit

    Attributes:
        data: (size,) for one robot, or (batch, size).
        layout: what the numbers are.
    """

    __slots__ = ("data", "layout")

    def __init__(self, data: np.ndarray, layout: StateLayout):
        self.data = data
        self.layout = layout

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "sizes": dict(self.layout.sizes), "dt": self.layout.dt}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.data = state["data"]
        self.layout = StateLayout(state["sizes"], state["dt"])

    @property
    def batch(self) -> int | None:
        """How many robots, or None for one without a batch axis."""
        return None if self.data.ndim == 1 else len(self.data)

    def part(self, name: str) -> np.ndarray:
        """One part of it, a view: (n,) or (batch, n)."""
        return self.data[..., self.layout.span(name)]

    @property
    def q(self) -> np.ndarray:
        """Configurations, a view."""
        return self.part("q")

    @property
    def v(self) -> np.ndarray:
        """Velocities, a view."""
        return self.part("v")

    @property
    def t(self) -> Any:
        """Time of each robot [s]."""
        t = steps_of(self.part("clock")) * self.layout.dt
        return float(t) if t.ndim == 0 else t

    def copy(self) -> "State":
        """A state that shares nothing with this one."""
        return State(self.data.copy(), self.layout)

    def robot(self, k: int) -> "State":
        """That of robot k of the batch, alone."""
        if self.batch is None:
            raise SimulationError("this state is of one robot only; it has no batch to take one from")
        if not is_whole(k) or not -self.batch <= k < self.batch:
            raise SimulationError(f"state.robot({k!r}): the batch has {self.batch} robots, 0 to {self.batch - 1}")
        return State(self.data[k].copy(), self.layout)

    def repeated(self, batch: int) -> "State":
        """Branches: so many copies of the state of one robot."""
        if self.batch is not None:
            raise SimulationError("only the state of one robot can be repeated; take one with state.robot(k)")
        check("batch", batch, "1 or more", is_whole(batch) and batch > 0)
        return State(np.repeat(self.data[None], batch, axis=0), self.layout)

    def identical(self, other: "State") -> bool:
        """Whether every number is the same, bit for bit, and means the same."""
        return self.layout.is_like(other.layout) and np.array_equal(self.data, other.data, equal_nan=True)

    def __repr__(self) -> str:
        robots = "one robot" if self.batch is None else f"{self.batch} robots"
        parts = ", ".join(f"{name} {size}" for name, size in self.layout.sizes.items() if size)
        return f"State of {robots}: {parts}"
