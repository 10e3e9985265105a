"""What holds a robot in smooth motion: loops, locked joints and contacts that stick, as rows of one Jacobian.

Each row has a velocity u = J(q) v that is zero, and most have a gap g(q) with g' = u that is zero, too:

- a loop: the rows and gaps of its closure (`closure_rows`), of any kind;
- a locked joint: J = e_d, one row for each dof; it stays where it is, so it has no gap;
- a contact that sticks: the velocity of the body's point there. A point keeps its place, the anchor. A ball, an
  ellipsoid or a rim rolls: its gap is the distance from the ground (or from the other body); along the ground it has
  none.

Jdot v is the rate of u at constant v, by differentiation: exact for any kind of row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.contact.closures import ClosureRows, closure_rows
from pliant.contact.constraint_rows import JointRow, point_columns, relative, tangents_of
from pliant.contact.ground import Ground
from pliant.contact.touching import Group
from pliant.dynamics.derivatives import tangent_directions
from pliant.dynamics.kinematics import link_poses, root_origin
from pliant.robot import Robot
from pliant.scalar import Expr, Graph, Scalar, Scalars
from pliant.scalar.evaluation import interpret, tangents
from pliant.spatial import Vector

Row = dict[int, Scalar]
# configurations that are looked at for rows that depend on one another, and iterations to close them
_PROBES, _CLOSINGS = 16, 60

ANCHOR = 3
"""Numbers that the state has of each contact that is held: the place of a point, or how far off a ball is."""


@dataclass(frozen=True)
class HeldTouch:
    """A contact that is held: its group, its number in the group, and its number among all that may touch."""

    group: Group
    k: int
    touch: int

    @property
    def name(self) -> str:
        """Of the contact."""
        return self.group.names[self.k]

    @property
    def rolls(self) -> bool:
        """Whether it has no place of its own on the body."""
        return self.group.rolls[self.k]


class Holds:
    """The rows of a robot that is held, as formulas of q, v and the anchors, for scalars of any kind.

    Attributes:
        loops: the closures; locks: rows of locked joints; touches: contacts that are held. Rows are in this order.
    """

    def __init__(
        self, robot: Robot, ground: Ground | None, loops: Sequence[ClosureRows], locks: Sequence[JointRow],
        touches: Sequence[HeldTouch],
    ):  # fmt: skip
        self.robot, self.ground = robot, ground
        self.loops, self.locks, self.touches = tuple(loops), tuple(locks), tuple(touches)

    def __bool__(self) -> bool:
        return bool(self.loops or self.locks or self.touches)

    @property
    def anchors(self) -> int:
        """How many numbers the anchors are."""
        return ANCHOR * len(self.touches)

    @property
    def names(self) -> list[str]:
        """Of each row: the loop, joint or contact that it belongs to."""
        found = [f"loop {c.closure.name!r}" for c in self.loops for _ in range(c.size)]
        found += [f"joint {row.joint!r}" for row in self.locks]
        return found + [f"contact {touch.name!r}" for touch in self.touches for _ in range(3)]

    @property
    def has_gap(self) -> list[bool]:
        """Of each row."""
        found = [True] * sum(c.size for c in self.loops) + [False] * len(self.locks)
        return found + [x for touch in self.touches for x in ((False, False, True) if touch.rolls else (True,) * 3)]

    @cached_property
    def is_redundant(self) -> bool:
        """Whether rows depend on one another where the robot is closed, as found at some configurations.

        Rows that do so only at single configurations, such as dead centres, do not count. A robot of which no closed
        configuration is found may have such rows.
        """
        if not self:
            return False
        n, nv = _PROBES, self.robot.nv
        q = np.array(self.robot.random(0, batch=n), dtype=float)
        anchors = self.anchored(q)

        def matrices() -> np.ndarray:
            J = np.zeros((n, len(self._traced["J"]), nv))
            for r, row in enumerate(self.jacobian(q.T)):
                for d, x in row.items():
                    J[:, r, d] = x
            return J

        def gaps() -> np.ndarray:
            return _gathered(q, self.gaps(q.T, anchors.T))

        for _ in range(_CLOSINGS if self.loops else 0):
            shift = -np.einsum("nij,nj->ni", np.linalg.pinv(matrices(), rcond=1e-3), gaps())
            shift *= np.minimum(1, 0.5 / np.maximum(np.abs(shift).max(axis=1), 1e-9))[:, None]
            q = self.robot.integrate(q, shift)
        J = matrices()[np.abs(gaps()).max(axis=1) < 1e-9]
        J = J[:, [bool(row) for row in self._traced["J"]]]
        if not len(J):
            return True
        size = np.linalg.norm(J, axis=2, keepdims=True)
        values = np.linalg.svd(J / np.maximum(size, 1e-12), compute_uv=False)
        full = values.shape[1] == J.shape[1] and (values[:, -1] > 1e-6 * values[:, 0]).mean() > 0.5
        return not full

    # ---- at a state

    def jacobian(self, q: Scalars) -> list[Row]:
        """Rows of J by dof; entries that are zero by structure are left out."""
        entries = iter(self._evaluated([e for row in self._traced["J"] for e in row.values()], q=q))
        return [{d: next(entries) for d in row} for row in self._traced["J"]]

    def gaps(self, q: Scalars, anchors: Scalars) -> list[Scalar]:
        """g of each row [m or rad]; zero for rows that have none."""
        return self._evaluated(self._traced["gaps"], q=q, a=anchors)

    def biases(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """Jdot v of each row."""
        return self._evaluated(self._traced["biases"], q=q, v=v)

    def anchored(self, q: np.ndarray) -> np.ndarray:
        """The anchors of contacts that are held where they are at q: (..., nq) -> (..., 3 contacts)."""
        if not self.touches:
            return np.zeros((*q.shape[:-1], 0))
        numbers = self._evaluated(self._traced["anchors"], q=np.moveaxis(q.astype(float), -1, 0))
        return _gathered(q, numbers)

    def axes(self, q: Scalars) -> list[tuple[Vector, Vector, Vector, Vector]]:
        """For each contact the axes of its three rows, and the normal."""
        flat = iter(self._evaluated(self._traced["axes"], q=q))
        parts = [[Vector(*(next(flat) for _ in range(3))) for _ in range(4)] for _ in self.touches]
        return [(a, b, c, n) for a, b, c, n in parts]

    def _evaluated(self, outputs: Sequence[Expr], **values: Any) -> list[Any]:
        named = {f"{name}{k}": x for name, row in values.items() for k, x in enumerate(row)}
        return interpret(outputs, named)

    @cached_property
    def _traced(self) -> dict[str, Any]:
        """All of it in a graph of its own, in which q and v are inputs that can be differentiated by."""
        graph, robot = Graph(), self.robot
        q, v, a = (
            [graph.input(f"{name}{k}") for k in range(n)]
            for name, n in (("q", robot.nq), ("v", robot.nv), ("a", self.anchors))
        )
        J, gaps, anchors, axes = self._rows(q, a)
        u = [graph.lift(sum((entry * v[d] for d, entry in row.items()), 0)) for row in J]
        directions = tangent_directions(robot, q)
        rates = [sum((row[k] * x for row, x in zip(directions, v, strict=True)), 0) for k in range(robot.nq)]
        biases = tangents(u, dict(zip(q, rates, strict=True)))

        def lifted(values: Iterable[Any]) -> list[Expr]:
            return [graph.lift(x) for x in values]

        return {
            "J": [{d: graph.lift(x) for d, x in row.items() if not _is_nothing(graph.lift(x))} for row in J],
            "gaps": lifted(gaps), "biases": lifted(biases), "anchors": lifted(anchors), "axes": lifted(axes),
        }  # fmt: skip

    def _rows(self, q: Scalars, anchors: Scalars) -> tuple[list[Row], list[Scalar], list[Scalar], list[Scalar]]:
        mechanism = self.robot.mechanism
        poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
        J: list[Row] = []
        gaps: list[Scalar] = []
        for loop in self.loops:
            for row in closure_rows(mechanism, loop, poses, origin):
                J.append(row.entries)
                gaps.append(row.gap)
        for lock in self.locks:
            J.append({lock.dof: 1})
            gaps.append(0)
        anchored: list[Scalar] = []
        axes: list[Scalar] = []
        for number, held in enumerate(self.touches):
            group = held.group
            touch = group.touches(poses, origin, self.ground)[held.k]
            columns = relative(
                point_columns(mechanism, poses, group.a, touch.p), point_columns(mechanism, poses, group.b, touch.p)
            )
            own = anchors[ANCHOR * number : ANCHOR * (number + 1)]
            if held.rolls:
                along = (*tangents_of(touch.normal), touch.normal)
                anchored += [touch.gap, 0, 0]
                gaps += [0, 0, touch.gap - own[0]]
            else:
                along = (Vector.unit(0), Vector.unit(1), Vector.unit(2))
                place = touch.p + origin
                anchored += list(place)
                gaps += [x - y for x, y in zip(place, own, strict=True)]
            J += [{d: axis.dot(column) for d, column in columns.items()} for axis in along]
            axes += [x for vector in (*along, touch.normal) for x in vector]
        return J, gaps, anchored, axes


def _gathered(q: np.ndarray, numbers: Sequence[Any]) -> np.ndarray:
    """Numbers that belong to configurations (..., nq), some of them constant, as an array (..., n)."""
    return np.moveaxis(np.array([np.broadcast_to(x, q.shape[:-1]) for x in numbers]).reshape(-1, *q.shape[:-1]), 0, -1)


def _is_nothing(x: Expr) -> bool:
    return x.op == "const" and x.value == 0
