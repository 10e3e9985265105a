"""Rows of joints in the contact solver: limits, locks, dry friction, and springs with play.

Several things may act along a joint's row e_d, each with an impulse of its own:

- a limit or a lock keeps the velocity u within [low, high]: the impulse is what brings it there;
- dry friction wants u = 0, with |p| <= f dt;
- a spring with play pushes only beyond the play: p = -max(0, c+ + r u) where u takes the joint beyond its upper end,
  -min(0, c- + r u) beyond the lower one, with c the impulse of the spring on either side if the joint stayed, and r
  what motion adds to it. Where u just reaches an end, p is anything between that and none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.contact.rows import dot, eliminated, moved, scaled, support_of
from pliant.robot import Mechanism
from pliant.scalar import abs, maximum, minimum
from pliant.spatial import Vector

__all__ = ["JointRow", "joint_row_vectors", "row_support", "sweep_joint"]

Scalar = Any
Record = dict[str, Any]


@dataclass(frozen=True)
class JointRow:
    """What acts along a dof.

    Attributes:
        dof: which one; joint: whose.
        kind: "stop", "lock", "friction" or "play".
    """

    dof: int
    joint: str
    kind: str

    @property
    def is_steady(self) -> bool:
        """Whether it acts all the time, not only at a limit."""
        return self.kind != "stop"


def joint_row_vectors(mechanism: Mechanism, row: JointRow, factor: Record) -> Record:
    """Y, D^-1 Y and G of a joint's row."""
    support = row_support(mechanism, row)
    Y = eliminated(factor["L"], support, {row.dof: Vector(1, 0, 0)}, Vector(1, 0, 0))
    DY = scaled(Y, support, factor["D_inverse"])
    G = sum((a * b for a, b in zip(Y, DY, strict=True)), 0)
    return {"Y": Y, "DY": DY, "G": G, "rate": 1 / G}


def row_support(mechanism: Mechanism, row: JointRow) -> tuple[int, ...]:
    """The dofs of a joint's row, the last one first."""
    link = next(k for k in mechanism.links if row.dof in k.dofs)
    return tuple(d for d in support_of(mechanism, [link.index]) if d <= row.dof)


def sweep_joint(
    row: JointRow,
    support: Sequence[int],
    vectors: Record,
    bounds: Record,
    w: Sequence[Scalar],
    impulse: Scalar,
    error: Scalar,
) -> tuple[list[Scalar], Scalar, Scalar]:
    """One visit to a joint: w, its impulse, and the largest change of a velocity so far.

    Args:
        vectors: from `joint_row_vectors`.
        bounds: "low" and "high" of the velocity at stops, or "friction" f dt, or "above", "below" and "rate" of play,
            the c+, c- and r of either side, with "low" and "high" the velocities that just reach its ends.
    """
    free = dot(vectors["Y"], support, w) - vectors["G"] * impulse
    if row.kind == "friction":
        new = minimum(maximum(-free * vectors["rate"], -bounds["friction"]), bounds["friction"])
    elif row.kind == "play":
        share = 1 / (1 + bounds["rate"] * vectors["G"])
        above = (bounds["above"] + bounds["rate"] * free) * share
        below = (bounds["below"] + bounds["rate"] * free) * share
        # a damper that pushes on arrival must not do so before: the impulse at most brings the joint to the end
        above = maximum(minimum(above, (free - bounds["high"]) * vectors["rate"]), 0)
        below = minimum(maximum(below, (free - bounds["low"]) * vectors["rate"]), 0)
        new = -(above + below)
    else:
        new = (minimum(maximum(free, bounds["low"]), bounds["high"]) - free) * vectors["rate"]
    change = new - impulse
    return moved(w, support, [vectors["DY"]], [change]), new, maximum(error, abs(change) * vectors["G"])
