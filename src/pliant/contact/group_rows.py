"""Rows of a group of contacts, and how its contacts feel one another.

A single contact has three rows, along its axes. Several contacts of the same links share six: the
velocity V of the touching link (relative to the touched one) at a point of it, linear and angular. A
contact at r from that point moves with V_lin + V_ang x r, and an impulse there changes V by K (p, r x p),
with K = Y D^-1 Y^T of the six rows. So each contact costs the same, however many dofs lie between it
and the world.
"""

from collections.abc import Sequence
from typing import Any

from pliant.contact.coulomb import inverse_of
from pliant.contact.rows import (
    dot,
    eliminated,
    moved,
    point_columns,
    relative,
    row_matrix,
    scaled,
    tangents_of,
    turn_columns,
)  # fmt: skip
from pliant.contact.touching import Group, Touch
from pliant.robot import Mechanism
from pliant.scalar import maximum
from pliant.spatial import Symmetric3, Transform, Vector

__all__ = ["SLOP", "Visit", "group_rows"]

Scalar = Any
Record = dict[str, Any]

# penetrations up to this are left alone [m]
SLOP = 1e-6


def group_rows(
    mechanism: Mechanism,
    group: Group,
    poses: Sequence[Transform],
    touches: Sequence[Touch],
    factor: Record,
    dt: Scalar,
    precision: str,
) -> Record:
    """All that sweeps need: the rows, and of each contact its axes, its matrix G and the velocity it must keep."""
    axes = [(*tangents_of(t.normal), t.normal) for t in touches]
    p0 = touches[0].p
    points = relative(point_columns(mechanism, poses, group.a, p0), point_columns(mechanism, poses, group.b, p0))
    wanted = [(points, axis) for axis in axes[0]]
    if len(touches) > 1:
        turns = relative(turn_columns(mechanism, poses, group.a), turn_columns(mechanism, poses, group.b))
        wanted = [(columns, Vector.unit(k)) for columns in (points, turns) for k in range(3)]
    Y = [eliminated(factor["L"], group.support, columns, axis) for columns, axis in wanted]
    DY = [scaled(row, group.support, factor["D_inverse"]) for row in Y]
    rows: Record = {"Y": Y, "DY": DY, "contacts": []}
    if len(touches) > 1:
        rows["K"] = [
            [sum((a * b for a, b in zip(Y[r], DY[c], strict=True)), 0) if c <= r else 0 for c in range(6)]
            for r in range(6)
        ]
    for touch, (tx, ty, n), mu in zip(touches, axes, group.friction, strict=True):
        contact: Record = {"r": list(touch.p - p0), "axes": [list(tx), list(ty), list(n)]}
        rows["contacts"].append(contact)
        G = _matrix(rows, len(rows["contacts"]) - 1) if len(touches) > 1 else row_matrix(Y, DY)
        contact |= {
            "G": list(G),
            "inverse": list(inverse_of(G, precision)),
            "gap": touch.gap,
            "target": -maximum(touch.gap, 0) / dt,
            "depth": maximum(-touch.gap - SLOP, 0) / dt,
            "mu": mu,
        }
    return rows


def _matrix(rows: Record, k: int) -> Symmetric3:
    """G of one contact of several."""
    G = Visit.along(rows, k, Visit.answers(rows, k))
    return Symmetric3(*(G[a][b] for a in range(3) for b in range(a, 3)))


def _answer(K: Sequence[Sequence[Scalar]], force: Vector, moment: Vector) -> list[Scalar]:
    """K (force, moment), from the lower triangle of K."""
    F = [*force, *moment]
    return [sum((K[max(r, c)][min(r, c)] * F[c] for c in range(6)), 0) for r in range(6)]


class Visit:
    """A walk over the contacts of a group: velocities as they are now, and impulses that change them.

    Attributes:
        w: L v before; `done` gives it after.
    """

    def __init__(self, group: Group, rows: Record, w: Sequence[Scalar]):
        self.group = group
        self.rows = rows
        self.w = w
        self.V = [dot(Y, group.support, w) for Y in rows["Y"]]
        self.total: list[Scalar] = [0] * len(self.V)

    def velocity(self, k: int) -> Vector:
        """Of contact k, along its axes, normal last."""
        if "K" not in self.rows:
            return Vector(*self.V)
        contact = self.rows["contacts"][k]
        u = Vector(*self.V[:3]) + Vector(*self.V[3:]).cross(Vector(*contact["r"]))
        return Vector(*(Vector(*axis).dot(u) for axis in contact["axes"]))

    def push(self, k: int, change: Vector) -> None:
        """Let an impulse act at contact k, along its axes."""
        if "K" not in self.rows:
            self.total = [a + b for a, b in zip(self.total, change, strict=True)]
            return
        contact = self.rows["contacts"][k]
        p = Vector.zero()
        for axis, part in zip(contact["axes"], change, strict=True):
            p = p + Vector(*axis) * part
        moment = Vector(*contact["r"]).cross(p)
        self.total = [a + b for a, b in zip(self.total, (*p, *moment), strict=True)]
        self.V = [a + b for a, b in zip(self.V, _answer(self.rows["K"], p, moment), strict=True)]

    @staticmethod
    def answers(rows: Record, k: int) -> list[list[Scalar]]:
        """How V changes with a unit impulse at contact k, along each of its axes."""
        r = Vector(*rows["contacts"][k]["r"])
        axes = [Vector(*axis) for axis in rows["contacts"][k]["axes"]]
        return [_answer(rows["K"], axis, r.cross(axis)) for axis in axes]

    @staticmethod
    def along(rows: Record, k: int, answers: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """What changes of V mean for contact k, along each of its axes: a row for each axis."""
        r = Vector(*rows["contacts"][k]["r"])
        moves = [Vector(*V[:3]) + Vector(*V[3:]).cross(r) for V in answers]
        return [[Vector(*axis).dot(u) for u in moves] for axis in rows["contacts"][k]["axes"]]

    def done(self) -> list[Scalar]:
        """w with all impulses."""
        return moved(self.w, self.group.support, self.rows["DY"], self.total)
