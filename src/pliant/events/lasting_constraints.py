"""Loops and locked joints of an event-driven simulation: constraints that hold all the time.

With the rows B of their rates, B v = 0 and B vd + b = 0. Their forces B^T z are eliminated once per state, after which
a robot with loops is one with a smaller inverse inertia and another free acceleration:

    S = B M^-1 B^T        M_c^-1 = M^-1 - M^-1 B^T S^+ B M^-1        a_c = a - M^-1 B^T S^+ (B a + b),    a = M^-1 r

Contacts, joint limits, dry friction and impacts see M_c^-1 and a_c alone: an impact hands its impulse on through the
loops, and nothing that they do opens one [Featherstone 2008, 8.5]. S^+ is the pseudo-inverse: rows that repeat others,
as of a planar loop in space or an overconstrained one, have no say of their own.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.contact.constraint_rows import closure_rows
from pliant.dynamics.kinematics import link_poses, root_origin
from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.redundant_forces import taken_back
from pliant.scalar import Scalar
from pliant.simulation.model import StepModel

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation


def loop_sizes(model: StepModel) -> dict[str, int]:
    """How many rows each loop and each locked joint has, loops first; by name, for errors."""
    found = {group.closure.name: group.size for group in model.closures}
    for row in model.joint_rows:
        if row.kind == "lock":
            found[f"lock of {row.joint}"] = found.get(f"lock of {row.joint}", 0) + 1
    return found


def lasting_rows(
    model: StepModel, q: list[Any], v: list[Any], rate: Callable[[Scalar], Scalar]
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """How far each row is open, the rows B one after the other, and their bias b, on any scalar.

    Args:
        rate: of a scalar, as q moves with v.
    """
    robot = model.robot
    n, mechanism = robot.nv, robot.mechanism
    apart: list[Scalar] = []
    B: list[Scalar] = []
    bias: list[Scalar] = []
    if model.closures:
        poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
        # elimination against a unit matrix leaves the rows as they are, and what is open closes in a step of 1 s
        unit = {"L": [{} for _ in range(n)], "D_inverse": [1] * n}
        for group in model.closures:
            for row in closure_rows(mechanism, group, poses, origin, unit, 1):
                entries: list[Scalar] = [0] * n
                for d, y in zip(group.support, row["Y"], strict=True):
                    entries[d] = y
                apart.append(row["open"])
                B += entries
                bias.append(rate(sum((y * x for y, x in zip(entries, v, strict=True)), 0)))
    for row in model.joint_rows:
        if row.kind == "lock":
            apart.append(0)
            B += [1 if d == row.dof else 0 for d in range(n)]
            bias.append(0)
    return apart, B, bias


def held_together(
    M_inverse: np.ndarray, free: np.ndarray, B: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Inverse inertia and free acceleration with the rows B held."""
    if not len(B):
        return M_inverse, free
    if not (np.isfinite(B).all() and np.isfinite(free).all()):
        return M_inverse, np.full(len(free), np.nan)
    response = M_inverse @ B.T
    S = B @ response
    own = S.diagonal()
    size = np.sqrt(np.where(own > tol.IMMOBILE * own.max(), own, np.inf))
    values, vectors = np.linalg.eigh(S / (size[:, None] * size))
    strong = values > tol.RANK_OF_LOOPS * values[-1]
    # S^+ = P P^T
    P = vectors[:, strong] / (size[:, None] * np.sqrt(values[strong]))
    across = response @ P
    held = M_inverse - across @ across.T
    return held, free - across @ (P.T @ (B @ free + bias))


def closed_loops(sim: "EventSimulation", t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The state nearest to another, as M measures it, in which loops are closed and stay so, and locks hold."""
    sizes = loop_sizes(sim.model)
    if not sizes:
        return q, v
    u, none = np.zeros(sim.robot.nu), np.zeros(sim.robot.nv)
    terms = sim.terms(t, q, v, u)
    loops = sum(group.size for group in sim.model.closures)
    for _ in range(_ROUNDS):
        if abs(terms.open).max() <= tol.PROJECTED:
            break
        # locked joints stay where they are
        B = terms.B
        inverse, _ = held_together(terms.tree_inverse, none, B[loops:], np.zeros(len(B) - loops))
        q = sim.chart.integrate(q, taken_back(inverse, B[:loops], terms.open[:loops], tol.RANK_OF_PLACES))
        terms = sim.terms(t, q, v, u)
    if not abs(terms.open).max() <= tol.CLOSED:
        worst = int(np.argmax(np.where(np.isfinite(terms.open), abs(terms.open), np.inf)))
        names = [name for name, size in sizes.items() for _ in range(size)]
        apart = abs(terms.open[worst])
        problem = f"loop {names[worst]!r} is open by {apart:.3g}, and no q near the given one closes it"
        raise SimulationError(problem, subject=names[worst], field="q", cure="give a q with closed loops")
    return q, v + taken_back(terms.tree_inverse, terms.B, terms.B @ v)


# iterations of Newton's method
_ROUNDS = 50
