"""The state of a simulation: all that the next step depends on, a row of numbers for each robot.

A robot whose numbers are not finite, or as large as in an explosion, is frozen and reported by name as a `Divergence`.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from pliant.checks import check, check_known, finite_rows, is_whole
from pliant.contact.touching import Touch
from pliant.errors import Fault, SimulationError
from pliant.robot import Planar, Robot
from pliant.scalar import Scalar, Scalars, abs, both, select
from pliant.signatures import explained
from pliant.simulation.model import StepModel

# lengths of quaternions that are off by more than this are mistakes, not rounding
_UNIT = 1e-3

# lengths that are off by less stay as they are, so that a configuration read from a simulation can be put back
_ROUNDING = {"float64": 1e-12, "float32": 1e-6}


@explained
@dataclass(frozen=True)
class StateLayout:
    """What the numbers of a row are, in order: names and sizes.

    Attributes:
        sizes: of the parts, by name.
        dt: length of a step [s]; times are counted in steps.
    """

    sizes: Mapping[str, int]
    dt: float

    @cached_property
    def size(self) -> int:
        """Numbers in a row."""
        return sum(self.sizes.values())

    @cached_property
    def _spans(self) -> dict[str, slice]:
        return spans(self.sizes)

    def span(self, name: str) -> slice:
        """Where a part is in the row."""
        if name not in self._spans:
            check_known("part", name, self.sizes, "the state", error=SimulationError)
        return self._spans[name]


def spans(sizes: Mapping[str, int]) -> dict[str, slice]:
    """Where each part is in a row, from their sizes."""
    ends = accumulate(sizes.values())
    return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}


@explained
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
        self.data, self.layout = data, layout

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "sizes": dict(self.layout.sizes), "dt": self.layout.dt}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.data = state["data"]
        self.layout = StateLayout(state["sizes"], state["dt"])

    @property
    def batch(self) -> int | None:
        """How many robots, or None for one without a batch axis."""
        return None if self.data.ndim == 1 else len(self.data)

    @explained
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

    @explained
    def robot(self, k: int) -> "State":
        """That of robot k of the batch, alone."""
        if self.batch is None:
            problem = "the state is of one robot, not of a batch"
            raise SimulationError(problem, subject="the state", field="robot", cure="take the state itself")
        is_inside = is_whole(k) and -self.batch <= k < self.batch
        check("robot", k, f"0 to {self.batch - 1}", is_inside, subject="the state")
        return State(self.data[k].copy(), self.layout)

    @explained
    def repeated(self, batch: int) -> "State":
        """Branches: so many copies of the state of one robot."""
        if self.batch is not None:
            problem = "only the state of one robot can be repeated"
            raise SimulationError(problem, subject="state.repeated", cure="take one with state.robot(k)")
        check("batch", batch, "1 or more", is_whole(batch) and batch > 0)
        return State(np.repeat(self.data[None], batch, axis=0), self.layout)

    @explained
    def check_layout(self, layout: StateLayout) -> None:
        """Raise if it is not of a simulation with this layout."""
        has, wanted = dict(self.layout.sizes), dict(layout.sizes)
        if has != wanted:
            problem = f"the state is of another simulation: it has {has}, this one {wanted}"
            raise SimulationError(problem, field="state", cure="reset(q=state.q, v=state.v, t=...) instead")
        if self.layout.dt != layout.dt:
            problem = f"the state is of a simulation with dt = {self.layout.dt:g} s, this one has {layout.dt:g} s"
            cure = "times are counted in steps, so reset(q=state.q, v=state.v, t=...) instead"
            raise SimulationError(problem, field="state", cure=cure)

    @explained
    def identical(self, other: "State") -> bool:
        """Whether every number is the same, bit for bit, and means the same."""
        return self.layout == other.layout and np.array_equal(self.data, other.data, equal_nan=True)

    def __repr__(self) -> str:
        robots = "one robot" if self.batch is None else f"{self.batch} robots"
        parts = ", ".join(f"{name} {size}" for name, size in self.layout.sizes.items() if size)
        return f"State of {robots}: {parts}"


# ---- what users give


def configurations(robot: Robot, q: Any, shape: tuple[int, ...], precision: str) -> np.ndarray:
    """Configurations of the shape (..., nq): finite, with quaternions and pairs of cosine and sine of unit length."""
    q, rounding = finite_rows("q", q, shape, robot.coordinate_names), _ROUNDING[precision]
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
            problem = f"q: the {what} of joint {link.name!r}{of_robot} has the length {length[tuple(where)]:.6g}"
            raise SimulationError(problem, subject=f"joint {link.name!r}", field="q", cure="it takes unit length")
        if (abs(length - 1) > rounding).any():
            scale = np.where(abs(length - 1) > rounding, length, 1)
            q = q.copy()
            q[..., at] /= scale[..., None]
    return q


def velocities(robot: Robot, v: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Velocities of the shape (..., nv), finite."""
    return finite_rows("v", v, shape, robot.velocity_names)


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


_PACKAGE = __name__.partition(".")[0] + "."

LARGEST = {"float64": 1e12, "float32": 1e8}
"""Numbers beyond this are taken for an explosion."""


@explained
@dataclass(frozen=True)
class Divergence:
    """Why a robot does not move any more.

    Attributes:
        robot: its index in the batch.
        time: when [s].
        what: the cause, in words.
    """

    robot: int
    time: float
    what: str

    def __str__(self) -> str:
        return f"robot {self.robot} at t = {self.time:.6g} s: {self.what}"


# ---- codes: 0, then one for each velocity, one for each control, one for the steps of the adaptive integrator, one for
# the ground at each contact, and one for constraints that cannot be closed


def divergence_code(model: StepModel, u: Scalars, v: Scalars, before: Scalar, touches: Sequence[Touch] = ()) -> Scalar:
    """The code after a step: that before it, or that of the first control, contact or velocity that is out of bounds.

    Contacts come before velocities: where the ground has no height, the velocity is a consequence.
    """
    huge = LARGEST[model.precision]
    code: Scalar = 0
    for k in reversed(range(len(v))):
        code = select(abs(v[k]) <= huge, code, 1 + k)
    for k in reversed(range(len(touches))):
        gap, normal = touches[k].gap, touches[k].normal
        # a ground may have a height, and a slope without bounds
        code = select(abs(gap + (normal.x + normal.y + normal.z)) <= huge, code, steps_code(model.robot) + 1 + k)
    for k in reversed(range(len(u))):
        code = select(abs(u[k]) <= huge, code, 1 + len(v) + k)
    return select(both(before <= 0, before >= 0), code, before)


def ground_fault(contact: str) -> Fault:
    """What is wrong with a ground that has no height at a contact."""
    problem = f"the ground has no finite height or slope at contact {contact!r}"
    return Fault(problem, "ground", "function", "its function must give finite numbers there")


def steps_code(robot: Robot) -> int:
    """The code where the adaptive integrator finds no step."""
    return 1 + robot.nv + robot.nu


def unclosed_code(model: StepModel) -> int:
    """The code where what holds a robot in smooth motion cannot be closed."""
    return steps_code(model.robot) + 1 + len(model.touch_names)


def divergence_text(model: StepModel, code: int) -> str:
    """A code in words."""
    robot = model.robot
    if code == unclosed_code(model):
        what = ", ".join(dict.fromkeys(model.holds.names))
        return f"its constraints cannot be closed from here ({what}); start from a configuration in which they are"
    if code > steps_code(robot):
        return str(ground_fault(model.touch_names[code - steps_code(robot) - 1]))
    if code == steps_code(robot):
        return "the adaptive integrator cannot reach its tolerance; the forces are too stiff or not smooth"
    if code > robot.nv:
        return f"control of motor {list(robot.motors)[code - 1 - robot.nv]!r} is not finite or too large"
    name = robot.velocity_names[code - 1]
    return f"the velocity of {name!r} is not finite or too large; use a shorter dt, softer gains, or lower forces"


def level_of_caller() -> int:
    """The ``stacklevel`` with which a warning points to the user's line, the first outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
