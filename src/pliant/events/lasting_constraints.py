"""Loops and locked joints of an event-driven simulation: constraints that hold all the time.

With the rows B of their rates, B v = 0 and B vd + b = 0. Their forces B^T z are eliminated once per state, after which
a robot with loops is one with a smaller inverse inertia and another free acceleration:

    S = B M^-1 B^T        M_c^-1 = M^-1 - M^-1 B^T S^+ B M^-1        a_c = a - M^-1 B^T S^+ (B a + b),    a = M^-1 r

Contacts, joint limits, dry friction and impacts see M_c^-1 and a_c alone: an impact hands its impulse on through the
loops, and nothing that they do opens one [Featherstone 2008, 8.5]. S^+ is the pseudo-inverse: rows that repeat others,
as of a planar loop in space or an overconstrained one, have no say of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.redundant_forces import taken_back
from pliant.scalar import Scalar
from pliant.simulation.model import StepModel

if TYPE_CHECKING:
    from pliant.events.constraint_terms import Terms
    from pliant.events.simulation import EventSimulation


def loop_sizes(model: StepModel) -> dict[str, int]:
    """How many rows each loop and each locked joint has, loops first; by name, for errors."""
    found = {group.closure.name: group.size for group in model.closures}
    for row in model.joint_rows:
        if row.kind == "lock":
            found[f"lock of {row.joint}"] = found.get(f"lock of {row.joint}", 0) + 1
    return found


def lasting_rows(
    model: StepModel, q: Sequence[Scalar], v: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """How far each row is open, the rows B one after the other, and their bias b, on any scalar."""
    holds = model.holds
    B = [row.get(d, 0) for row in holds.jacobian(q) for d in range(model.robot.nv)]
    return holds.gaps(q, ()), B, holds.biases(q, v)


@dataclass(frozen=True)
class HeldRows:
    """Rows of loops and locks that count, and the robot with them held.

    Attributes:
        M_inverse, free: inverse inertia and free acceleration.
        rows: (r, nv), made of B such that rows M^-1 rows^T = 1, the weakest first; open: how far they are open, (r,).
        strength: how independent they are of one another, the strongest 1, (r,).
    """

    M_inverse: np.ndarray
    free: np.ndarray
    rows: np.ndarray
    open: np.ndarray
    strength: np.ndarray


def held_together(
    M_inverse: np.ndarray, free: np.ndarray, B: np.ndarray, bias: np.ndarray, apart: np.ndarray, most: int | None = None
) -> HeldRows:
    """The robot with the rows B held.

    Args:
        bias: of the rows; apart: how far they are open.
        most: how many can be independent; others only seem so, off the configurations in which loops are closed.
    """
    if not len(B):
        return HeldRows(M_inverse, free, B, apart, apart)
    if not (np.isfinite(B).all() and np.isfinite(free).all()):
        return HeldRows(M_inverse, np.full(len(free), np.nan), B, apart, np.ones(len(B)))
    response = M_inverse @ B.T
    S = B @ response
    own = S.diagonal()
    size = np.sqrt(np.where(own > tol.IMMOBILE * own.max(), own, np.inf))
    values, vectors = np.linalg.eigh(S / (size[:, None] * size))
    strong = values > tol.RANK_OF_LOOPS * max(values[-1], 1e-300)
    if most is not None:
        strong[: max(len(strong) - most, 0)] = False
    # S^+ = P P^T
    P = vectors[:, strong] / (size[:, None] * np.sqrt(values[strong]))
    across, rows = response @ P, P.T @ B
    acceleration = free - across @ (rows @ free + P.T @ bias)
    return HeldRows(M_inverse - across @ across.T, acceleration, rows, P.T @ apart, values[strong] / values[-1])


def rank_of_loops(sim: "EventSimulation", q: np.ndarray) -> int | None:
    """How many of the rows are independent, near a configuration with closed loops; None without loops.

    Where a mechanism is singular, as a parallelogram that is folded flat, fewer are: so it is also looked at in
    configurations nearby. Off them, where drift opens loops a little, rows that repeat others seem independent.
    """
    if not sim.terms.has_loops:
        return None
    rng, v, u = np.random.default_rng(0), np.zeros(sim.robot.nv), np.zeros(sim.robot.nu)
    sim.terms.rank, found = None, 0
    for k in range(_PLACES):
        place = q
        if k:
            terms = sim.terms(0.0, q, v, u)
            # along the loops: random, less what would open them
            way = terms.M_inverse @ terms.M @ rng.normal(size=sim.robot.nv)
            place, terms = _closed(sim, sim.chart.integrate(q, _NEARBY / max(np.linalg.norm(way), 1e-3) * way), v)
            if not abs(terms.open).max() <= tol.CLOSED:
                continue
        found = max(found, int((sim.terms(0.0, place, v, u).strength > _CLEAR).sum()))
    return found


def closed_loops(sim: "EventSimulation", t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The state nearest to another, as M measures it, in which loops are closed and stay so, and locks hold."""
    sizes = loop_sizes(sim.model)
    if not sizes:
        return q, v
    sim.terms.rank = None
    q, terms = _closed(sim, q, v)
    if not abs(terms.open).max() <= tol.CLOSED:
        worst = int(np.argmax(np.where(np.isfinite(terms.open), abs(terms.open), np.inf)))
        names = [name for name, size in sizes.items() for _ in range(size)]
        apart = abs(terms.open[worst])
        problem = f"loop {names[worst]!r} is open by {apart:.3g}, and no q near the given one closes it"
        raise SimulationError(problem, subject=names[worst], field="q", cure="give a q with closed loops")
    sim.terms.rank = rank_of_loops(sim, q)
    terms = sim.terms(t, q, v, np.zeros(sim.robot.nu))
    return q, v + taken_back(terms.tree_inverse, terms.held, terms.held @ v)


def _closed(sim: "EventSimulation", q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, "Terms"]:
    """A configuration with closed loops, if Newton's method finds one, and its terms."""
    u, none = np.zeros(sim.robot.nu), np.zeros(sim.robot.nv)
    terms = sim.terms(0.0, q, v, u)
    loops = sum(group.size for group in sim.model.closures)
    for _ in range(_ROUNDS):
        if abs(terms.open).max() <= tol.PROJECTED:
            break
        # locked joints stay where they are
        locks = terms.B[loops:]
        inverse = held_together(terms.tree_inverse, none, locks, np.zeros(len(locks)), np.zeros(len(locks))).M_inverse
        back = taken_back(inverse, terms.B[:loops], terms.open[:loops], tol.RANK_OF_PLACES)
        q = sim.chart.integrate(q, back)
        terms = sim.terms(0.0, q, v, u)
    return q, terms


# iterations of Newton's method
_ROUNDS = 50
# how many configurations the rank is looked at, how far apart [rad or m], and a strength that is clear
_PLACES, _NEARBY, _CLEAR = 4, 0.1, 1e-8
