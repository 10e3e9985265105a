"""Loop closures in the contact solver: frames held together at their origins, altogether, or at a distance.

Every direction that is held is a row with an impulse of any sign. Rows that the robot cannot move
along, as those across a planar loop, are left out of the sweep by themselves: their impulse stays zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.contact.rows import dot, eliminated, moved, point_columns, relative, scaled, support_of, turn_columns
from pliant.robot import Closure, Mechanism, Robot
from pliant.scalar import abs, maximum, minimum, select, sqrt
from pliant.spatial import Transform, Vector

__all__ = ["ClosureRows", "closure_group", "closure_rows", "correct_closure", "start_closure", "sweep_closure"]

Scalar = Any
Record = dict[str, Any]

_SIZES = {"point": 3, "weld": 6, "distance": 1}

# an open loop closes with this speed at most [m/s, rad/s]
_CORRECTION_SPEED = 1


@dataclass(frozen=True)
class ClosureRows:
    """A closure between two links.

    Attributes:
        a, b: links, -1 for the world; X_a, X_b: the frames in them.
        support: the dofs that matter.
    """

    closure: Closure
    a: int
    b: int
    X_a: Transform
    X_b: Transform
    support: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many directions it holds."""
        return _SIZES[self.closure.kind]


def closure_group(robot: Robot, closure: Closure) -> ClosureRows:
    """A closure as the solver sees it."""
    mechanism = robot.mechanism
    (a, X_a), (b, X_b) = mechanism.frame(closure.a), mechanism.frame(closure.b)
    return ClosureRows(closure, a, b, X_a, X_b, support_of(mechanism, [a, b]))


def closure_rows(
    mechanism: Mechanism, group: ClosureRows, poses: Sequence[Transform], origin: Vector, factor: Record, dt: Scalar
) -> list[Record]:
    """The rows, with how far the loop is open along each, as a velocity that would close it in one step."""
    world = Transform(Transform.identity().R, -origin)
    X_A, X_B = ((poses[i] if i >= 0 else world) @ X for i, X in ((group.a, group.X_a), (group.b, group.X_b)))
    apart = X_A.p - X_B.p
    points = relative(point_columns(mechanism, poses, group.a, X_A.p), point_columns(mechanism, poses, group.b, X_B.p))
    kind = group.closure.kind
    if kind == "distance":
        length = sqrt(apart.dot(apart) + 1e-24)
        wanted = [(points, apart * (1 / length), length - group.closure.length)]
    else:
        wanted = [(points, Vector.unit(k), apart[k]) for k in range(3)]
    if kind == "weld":
        turns = relative(turn_columns(mechanism, poses, group.a), turn_columns(mechanism, poses, group.b))
        # half the sum of the axes' cross products: the turn between the frames, to second order
        R_A, R_B = X_A.R.matrix(), X_B.R.matrix()
        turned = Vector.zero()
        for k in range(3):
            turned = turned + R_B.column(k).cross(R_A.column(k)) * 0.5
        wanted += [(turns, Vector.unit(k), turned[k]) for k in range(3)]
    rows = []
    for columns, direction, gap in wanted:
        Y = eliminated(factor["L"], group.support, columns, direction)
        DY = scaled(Y, group.support, factor["D_inverse"])
        G = sum((a * b for a, b in zip(Y, DY, strict=True)), 0)
        held = G > 1e-14
        rows.append({"Y": Y, "DY": DY, "G": G, "rate": select(held, 1 / select(held, G, 1), 0), "open": gap / dt})
    return rows


def start_closure(
    group: ClosureRows, rows: Sequence[Record], w: Sequence[Scalar], impulse: Sequence[Scalar]
) -> list[Scalar]:
    """w with the impulses of the last step."""
    return moved(w, group.support, [r["DY"] for r in rows], impulse)


def sweep_closure(
    group: ClosureRows, rows: Sequence[Record], w: Sequence[Scalar], impulse: Sequence[Scalar], error: Scalar
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """One visit to each row: w, the impulses, and the largest change of a velocity so far."""
    out, impulses = list(w), []
    for row, p in zip(rows, impulse, strict=True):
        change = -dot(row["Y"], group.support, out) * row["rate"]
        out = moved(out, group.support, [row["DY"]], [change])
        impulses.append(p + change)
        error = maximum(error, abs(change) * row["G"])
    return out, impulses, error


def correct_closure(group: ClosureRows, rows: Sequence[Record], shift: Sequence[Scalar]) -> list[Scalar]:
    """One visit to each row to close what is open, as a displacement that changes no velocity."""
    out = list(shift)
    for row in rows:
        wanted = minimum(maximum(-row["open"], -_CORRECTION_SPEED), _CORRECTION_SPEED)
        change = (wanted - dot(row["Y"], group.support, out)) * row["rate"]
        out = moved(out, group.support, [row["DY"]], [change])
    return out
