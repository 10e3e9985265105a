"""The state of a simulation: all that the next step depends on, a row of numbers for each robot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import check, finite_rows, is_whole
from pliant.errors import SimulationError, bad_value, unknown_name
from pliant.robot import Planar, Robot
from pliant.scalar import Scalar, Scalars, select

__all__ = [
    "State", "StateLayout", "clock_size", "configurations", "set_clock", "steps_of", "ticked", "time_of", "velocities",
]  # fmt: skip

# lengths of quaternions that are off by more than this are mistakes, not rounding
_UNIT = 1e-3

# lengths that are off by less stay as they are, so that a configuration read from a simulation can be put back
_ROUNDING = {"float64": 1e-12, "float32": 1e-6}


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
            problem = "the state is of one robot, not of a batch"
            raise SimulationError(problem, subject="the state", field="robot", cure="take the state itself")
        if not is_whole(k) or not -self.batch <= k < self.batch:
            raise SimulationError(bad_value("robot", k, f"0 to {self.batch - 1}", "the state"))
        return State(self.data[k].copy(), self.layout)

    def repeated(self, batch: int) -> "State":
        """Branches: so many copies of the state of one robot."""
        if self.batch is not None:
            problem = "only the state of one robot can be repeated"
            raise SimulationError(problem, subject="state.repeated", cure="take one with state.robot(k)")
        check("batch", batch, "1 or more", is_whole(batch) and batch > 0)
        return State(np.repeat(self.data[None], batch, axis=0), self.layout)

    def identical(self, other: "State") -> bool:
        """Whether every number is the same, bit for bit, and means the same."""
        return self.layout.is_like(other.layout) and np.array_equal(self.data, other.data, equal_nan=True)

    def __repr__(self) -> str:
        robots = "one robot" if self.batch is None else f"{self.batch} robots"
        parts = ", ".join(f"{name} {size}" for name, size in self.layout.sizes.items() if size)
        return f"State of {robots}: {parts}"


# ---- what users give


def configurations(robot: Robot, q: Any, shape: tuple[int, ...], precision: str) -> np.ndarray:
    """Configurations of the shape (..., nq): finite, with quaternions of unit length."""
    return _unit(robot, finite_rows("q", q, shape, robot.coordinate_names), _ROUNDING[precision])


def velocities(robot: Robot, v: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Velocities of the shape (..., nv), finite."""
    return finite_rows("v", v, shape, robot.velocity_names)


def _unit(robot: Robot, q: np.ndarray, rounding: float) -> np.ndarray:
    """Directions of joints brought to unit length: quaternions, and the cosine and sine of planar joints."""
    for link in robot.mechanism.links:
        kind = link.kind
        if kind.nq == kind.nv or link.is_mimic:
            continue
        at = slice(link.q.stop - (2 if isinstance(kind, Planar) else 4), link.q.stop)
        what = "cosine and sine" if isinstance(kind, Planar) else "quaternion"
        length = np.linalg.norm(q[..., at], axis=-1)
        wrong = abs(length - 1) > _UNIT
        if wrong.any():
            where = np.argwhere(wrong)[0] if wrong.ndim else np.array([], int)
            of_robot = f" of robot {where[0]}" if q.ndim > 1 else ""
            raise SimulationError(
                f"q: the {what} of joint {link.name!r}{of_robot} has the length {length[tuple(where)]:.6g}",
                subject=f"joint {link.name!r}",
                field="q",
                cure="it takes unit length",
            )
        if (abs(length - 1) > rounding).any():
            scale = np.where(abs(length - 1) > rounding, length, 1)
            q = q.copy()
            q[..., at] /= scale[..., None]
    return q


# ---- the clock: steps done, exact however long a simulation runs

# float64 counts steps in one number; float32 counts to 2^24 only, so there the steps are s0 + 2^20 s1, s0 below 2^20
_TURN = 2**20


def clock_size(precision: str) -> int:
    """How many numbers the clock has."""
    return 2 if precision == "float32" else 1


def time_of(clock: Scalars, dt: Scalar) -> Scalar:
    """The time [s]."""
    return (clock[0] if len(clock) == 1 else clock[0] + _TURN * clock[1]) * dt


def ticked(clock: Scalars, steps: int, moves: Scalar) -> list[Scalar]:
    """The clock so many steps later, for a robot that moves."""
    if len(clock) == 1:
        return [select(moves, clock[0] + steps, clock[0])]
    # a control period may have more steps than a turn
    turns, rest = divmod(steps, _TURN)
    count = clock[0] + rest
    is_round = count >= _TURN
    later = [select(is_round, count - _TURN, count), clock[1] + turns + select(is_round, 1, 0)]
    return [select(moves, a, b) for a, b in zip(later, clock, strict=True)]


def steps_of(clock: np.ndarray) -> np.ndarray:
    """Steps done, of clocks (..., size)."""
    clock = clock.astype(float)
    return clock[..., 0] if clock.shape[-1] == 1 else clock[..., 0] + _TURN * clock[..., 1]


def set_clock(clock: np.ndarray, steps: int) -> None:
    """Put clocks (..., size) to so many steps."""
    if clock.shape[-1] == 1:
        clock[...] = steps
    else:
        clock[..., 1], clock[..., 0] = divmod(steps, _TURN)
