"""Where a motion may begin: outside the ground, or lifted out of it."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SimulationError
from pliant.events import tolerances as tol

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation

__all__ = ["check_outside", "lifted_out", "passing_at"]


def passing_at(sim: "EventSimulation", t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Which constraints overlap and are allowed to, (n,)."""
    gap = sim.terms(t, q, v, np.zeros(sim.robot.nu)).gap
    return np.array([g < 0 and not sim.may_close(c.name, t, q, v) for g, c in zip(gap, sim.constraints, strict=True)],
                    dtype=bool)  # fmt: skip


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
    contacts = sum(c.is_contact for c in sim.constraints)
    for part in (slice(0, contacts), slice(contacts, None)):
        if depth[part].size and depth[part].max() > tol.LOWEST_BOUNCE:
            return int(np.argmax(depth[part])) + (part.start or 0), float(depth[part].max())
    return 0, -np.inf
