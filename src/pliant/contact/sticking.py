"""Contacts of one body that stick together: solved at once.

Corners of a foot that is flat on the ground, or tips over an edge, feel one another so strongly that visits
one by one converge slowly. Those that stuck in the last step are expected to stick again. Their velocities
are set to what is wanted by one linear solution,

    (G + e 1) change = wanted - u

with G over all of them and e so small that it matters only where G is singular (redundant contacts): there
it keeps the impulses as they are. The change is taken only if it leaves every one of them in its cone, so
that it never decides what sticks; the visits do that, before and after.
"""

from collections.abc import Sequence
from typing import Any

from pliant.contact.group_rows import Visit
from pliant.scalar import both, maximum, select, sqrt
from pliant.spatial import Vector

__all__ = ["MOST_STICKING", "stick_together", "sticking_factor"]

Scalar = Any
Record = dict[str, Any]

MOST_STICKING = 8
"""Groups with more contacts are left to the visits: the matrix grows with the square of their number."""

# relative to the mean of G's diagonal
_REDUNDANT = {"float64": 1e-9, "float32": 1e-4}

# contacts nearer than this share to the edge of their cone are expected to slide
_INSIDE = 0.98


def sticking_factor(rows: Record, impulse: Sequence[Scalar], precision: str) -> Record:
    """Which contacts are expected to stick, from their impulses so far, and the factor of their matrix."""
    contacts = rows["contacts"]
    masks = []
    for k, contact in enumerate(contacts):
        p = Vector(*impulse[3 * k : 3 * k + 3])
        bound = _INSIDE * contact["mu"] * p.z
        masks.append(select(both(p.z > 0, p.x * p.x + p.y * p.y < bound * bound), 1, 0))
    # how the link answers to a unit impulse along each axis of each contact
    answers = [Visit.answers(rows, k) for k in range(len(contacts))]
    n = 3 * len(contacts)
    extra = sum((c["G"][0] + c["G"][3] + c["G"][5] for c in contacts), 0) * (_REDUNDANT[precision] / n)
    L: list[list[Scalar]] = [[0] * (r + 1) for r in range(n)]
    for i in range(len(contacts)):
        for j in range(i + 1):
            both_stick = masks[i] * masks[j]
            for a, row in enumerate(Visit.along(rows, i, answers[j])):
                for b, entry in enumerate(row):
                    r, c = 3 * i + a, 3 * j + b
                    if c <= r:
                        L[r][c] = entry * both_stick + ((1 - masks[i] + extra) if r == c else 0)
    # Cholesky, with the inverse of the diagonal in its place
    for c in range(n):
        for k in range(c):
            for r in range(c, n):
                L[r][c] = L[r][c] - L[r][k] * L[c][k]
        # rounding may take more from a redundant direction than was added
        L[c][c] = 1 / sqrt(maximum(L[c][c], extra / 2))
        for r in range(c + 1, n):
            L[r][c] = L[r][c] * L[c][c]
    return {"masks": masks, "L": L}


def stick_together(visit: Visit, factor: Record, impulses: Sequence[Scalar]) -> list[Scalar]:
    """The impulses after the solution, which the visit has taken in; or as they were."""
    contacts, masks, L = visit.rows["contacts"], factor["masks"], factor["L"]
    x: list[Scalar] = []
    for k, contact in enumerate(contacts):
        u = visit.velocity(k)
        x += [-u.x * masks[k], -u.y * masks[k], (contact["target"] - u.z) * masks[k]]
    for r in range(len(x)):
        for c in range(r):
            x[r] = x[r] - L[r][c] * x[c]
        x[r] = x[r] * L[r][r]
    for r in reversed(range(len(x))):
        for k in range(r + 1, len(x)):
            x[r] = x[r] - L[k][r] * x[k]
        x[r] = x[r] * L[r][r]
    is_right: Scalar = None
    for k, contact in enumerate(contacts):
        p = Vector(*(impulses[3 * k + a] + x[3 * k + a] for a in range(3)))
        bound = contact["mu"] * p.z
        # one that does not stick has not changed
        inside = select(masks[k] > 0, both(p.z >= 0, p.x * p.x + p.y * p.y <= bound * bound), True)
        is_right = inside if is_right is None else both(is_right, inside)
    change = [select(is_right, a, 0) for a in x]
    for k in range(len(contacts)):
        visit.push(k, Vector(*change[3 * k : 3 * k + 3]))
    return [a + b for a, b in zip(impulses, change, strict=True)]
