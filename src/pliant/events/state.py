"""The state of an event-driven simulation: time, configuration, velocity, and what every constraint does.

A motion begins outside the ground, or lifted out of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.constraint_terms import LIMIT, Constraint, Terms
from pliant.signatures import explained
from pliant.simulation.state import ground_fault

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation

OPEN, STICK, SLIDE = 0, 1, 2

_WORDS = {STICK: "sticks", SLIDE: "slides"}


@dataclass
class Mode:
    """What every constraint does.

    Attributes:
        states: OPEN, STICK or SLIDE; a joint limit and a contact without friction slide if they are closed, and dry
            friction at a joint is never open.
        directions: of the slides when they began, (n, 2).
        anchors: where contacts stick, (n, 3) [m].
        armed: which of the margins (see `SmoothMotion.margins`) have been positive since the mode began, (2 n,).
        passing: which are open although they overlap, as they may not close until they were apart again, (n,).
        creeping: which slides are so slow that their direction has settled, (n,).
    """

    states: tuple[int, ...]
    directions: np.ndarray
    anchors: np.ndarray
    armed: np.ndarray
    passing: np.ndarray
    creeping: np.ndarray

    @classmethod
    def free(cls, n: int, passing: np.ndarray | None = None) -> "Mode":
        """Nothing touches."""
        no = np.zeros(n, dtype=bool)
        passing = no.copy() if passing is None else passing
        return cls((OPEN,) * n, np.zeros((n, 2)), np.zeros((n, 3)), np.zeros(2 * n, dtype=bool), passing, no)

    def begun(self, states: tuple[int, ...] | None = None) -> "Mode":
        """The same mode, or one with other states, as it begins: no margin has been positive yet."""
        new = self.states if states is None else states
        return replace(self, states=new, armed=np.zeros_like(self.armed), creeping=np.zeros_like(self.creeping))

    def name(self, constraints: Sequence[Constraint]) -> str:
        """The mode in words; joints with dry friction are named where they stick."""
        closed = [(c, s) for c, s in zip(constraints, self.states, strict=True) if s != OPEN]
        told = [(c, s) for c, s in closed if not c.is_joint or s == STICK]
        words = [f"{c.name} {'limit' if c.kind == LIMIT else _WORDS[s]}" for c, s in told]
        return ", ".join(words) or "flight"

    def copy(self) -> "Mode":
        """A mode that shares nothing with this one."""
        return _copied(self)


@explained
@dataclass(frozen=True, eq=False)
class EventState:
    """A snapshot of an `EventSimulation`: all that the motion from here on depends on. Pickles.

        before = sim.state
        ...
        sim.state = before            # and everything goes on from there, bit for bit

    Attributes:
        t: time [s].
        q, v: configuration and velocity.
        mode: what every constraint does.
        u: the controls of the moment.
        memory: of the controller, empty without one.
        steps: what the integrator remembers: the step to try next [s], the error before, and the largest factor.
        quiet: until when contacts that chatter are held [s]; patience: how long they are, the next time [s].
        is_new: whether contacts that touch may still have to go through an impact, as after a reset.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    mode: Mode
    u: np.ndarray
    memory: np.ndarray
    steps: tuple[float, float, float]
    quiet: float
    patience: float
    is_new: bool

    def copy(self) -> "EventState":
        """A state that shares nothing with this one."""
        return _copied(self)

    def identical(self, other: "EventState") -> bool:
        """Whether every number is the same, bit for bit."""
        return _numbers(self) == _numbers(other)


def _copied(part: Any) -> Any:
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    return replace(part, **{name: x.copy() for name, x in values.items() if hasattr(x, "copy")})


def _numbers(part: Any) -> list[object]:
    values = [getattr(part, f.name) for f in fields(part)]
    return [_numbers(x) if isinstance(x, Mode) else x.tobytes() if hasattr(x, "tobytes") else x for x in values]


# ---- where a motion may begin


def passing_at(sim: "EventSimulation", t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Which constraints overlap and are allowed to, (n,)."""
    terms = sim.terms(t, q, v, np.zeros(sim.robot.nu))
    check_ground(sim, terms, t)
    gap = terms.gap
    return np.array([g < 0 and not sim.may_close(c.name, t, q, v) for g, c in zip(gap, sim.constraints, strict=True)],
                    dtype=bool)  # fmt: skip


def check_ground(sim: "EventSimulation", terms: Terms, t: float) -> None:
    """Raise if the ground has no height or no slope at a contact."""
    if not sim.model.has_relief:
        return
    wrong = ~np.isfinite(terms.gap + terms.axes[:, 0].sum(axis=-1))
    if wrong.any():
        name = sim.constraints[int(np.argmax(wrong))].name
        fault = ground_fault(name)
        raise SimulationError(replace(fault, problem=f"t = {t:.9g} s: {fault.problem}"))


def check_outside(sim: "EventSimulation", q: np.ndarray, passing: np.ndarray, who: str, cure: str = "") -> None:
    """Raise if a constraint is violated; the error says by how much."""
    deepest, depth = _deepest(sim, q, passing)
    if depth > tol.INSIDE:
        worst = sim.constraints[deepest]
        how = f"{depth:.3g} m inside the ground" if worst.is_contact else f"{depth:.3g} beyond its limit"
        can = cure if worst.is_contact else ""
        problem = f"{who} with {worst.name!r} {how}"
        raise SimulationError(problem, subject=worst.name, field="q", cure=f"{can}give another q")


def lifted_out(sim: "EventSimulation", q: np.ndarray, passing: np.ndarray) -> np.ndarray:
    """q with the free base so high that no contact is inside the ground."""
    free = next((j for j in sim.robot.joints.values() if j.kind.name == "free"), None)
    if free is None:
        problem = f"lift=True: robot {sim.robot.name!r} has no free base to lift"
        raise SimulationError(problem, subject=f"robot {sim.robot.name!r}", field="lift", cure="give another q")
    at, deepest = sim.robot.q_slice(free.name).start + 2, 0
    q = q.copy()
    # on slopes the height is more than the depth
    for _ in range(200):
        deepest, depth = _deepest(sim, q, passing)
        if depth <= tol.LOWEST_BOUNCE or not sim.constraints[deepest].is_contact:
            return q
        q[at] += depth
    name = sim.constraints[deepest].name
    problem = f"the robot begins with {name!r} inside the ground and cannot be lifted out"
    raise SimulationError(problem, subject=name, field="q", cure="give another q")


def _deepest(sim: "EventSimulation", q: np.ndarray, passing: np.ndarray) -> tuple[int, float]:
    """The constraint that is violated most, contacts first, and by how much."""
    gap = sim.terms(0.0, q, np.zeros(sim.robot.nv), np.zeros(sim.robot.nu)).gap
    depth = np.where(passing, -np.inf, -gap)
    contacts = sum(c.is_contact for c in sim.constraints)  # they come first
    for part in (slice(0, contacts), slice(contacts, None)):
        if depth[part].size and depth[part].max() > tol.LOWEST_BOUNCE:
            return int(np.argmax(depth[part])) + (part.start or 0), float(depth[part].max())
    return 0, -np.inf
