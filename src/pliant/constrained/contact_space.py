"""The space in which contacts feel the robot: rows eliminated against M, and G = J M^-1 J^T.

With M = L^T D L, a row of J becomes Y = L^-T J^T, and in the coordinates w = L v velocities along rows are Y . w,
and forces f change w by D^-1 Y f. So G = Y D^-1 Y^T, and neither M^-1 nor M^-1 J^T is formed unless it is asked for.
"""

from collections.abc import Sequence
from typing import Any

from pliant.constrained.constraint_rows import Held, held_constraints, jacobian_rows
from pliant.constrained.constraints import Contacts
from pliant.constrained.semidefinite import SemidefiniteFactor
from pliant.contact.rows import eliminated, scaled
from pliant.contact.solver import factor_record
from pliant.dynamics.composite_inertia import composite_inertia
from pliant.dynamics.factor import factorized
from pliant.robot import Robot

__all__ = ["NOTHING", "ContactSpace", "Row", "combined", "product"]

Scalar = Any
Row = dict[int, Scalar]

NOTHING = 1e-13
"""Squares of rows count as no less than this, next to rows with entries of one.

With the usual tolerance a row whose entries are below 1e-10 m is then one along which the robot cannot move, though
rounding has left something of it.
"""


class ContactSpace:
    """Contacts of a robot at a configuration, with all that follows from q alone.

    Attributes:
        held: the constraints at q.
        factor: of M.
        J: rows of the Jacobian by dof; Y: eliminated; DY: D^-1 Y.
        response: factor of G = J M^-1 J^T, how velocities at the contacts answer to impulses there.
    """

    def __init__(self, robot: Robot, q: Sequence[Scalar], contacts: Contacts, axes: str, tolerance: float | None):
        self.robot = robot
        self.held: list[Held] = held_constraints(robot, q, contacts, axes)
        self.factor = factorized(robot.mechanism, composite_inertia(robot, q))
        record = factor_record(self.factor)
        self.J = jacobian_rows(self.held)
        self.Y: list[Row] = []
        self.DY: list[Row] = []
        for held in self.held:
            for columns, axis in held.rows():
                Y = eliminated(record["L"], held.support, columns, axis)
                self.Y.append(dict(zip(held.support, Y, strict=True)))
                DY = scaled(Y, held.support, record["D_inverse"])
                self.DY.append(dict(zip(held.support, DY, strict=True)))
        G = [[product(y, self.DY[c]) for c in range(r + 1)] for r, y in enumerate(self.Y)]
        # of a row with entries of one
        ones = [sum((record["D_inverse"][d] for d in h.support), 0) for h in self.held for _ in h.constraint.directions]
        moving = set().union(*self.Y)
        self.response = SemidefiniteFactor(G, tolerance, least=[NOTHING * x for x in ones], most=len(moving))

    @property
    def rank(self) -> Scalar:
        """How many rows of J do not depend on the others."""
        return self.response.rank

    def along(self, w: Sequence[Scalar]) -> list[Scalar]:
        """J v of w = L v."""
        return [sum((y * w[d] for d, y in Y.items()), 0) for Y in self.Y]

    def pushed(self, w: Sequence[Scalar], f: Sequence[Scalar]) -> list[Scalar]:
        """L v after impulses f at the contacts, from w = L v before."""
        out = list(w)
        for DY, push in zip(self.DY, f, strict=True):
            for d, entry in DY.items():
                out[d] = out[d] + entry * push
        return out

    def joint_forces(self, f: Sequence[Scalar]) -> list[Scalar]:
        """J^T f."""
        return combined(self.J, f, self.robot.nv)

    def consistent(self, force: Sequence[Scalar]) -> list[Scalar]:
        """J^T# force: the contact forces that take up joint forces, for a robot without other forces."""
        return self.response.solve(self.along(self.factor.half_solve(force)))

    def motion_part(self, force: Sequence[Scalar]) -> list[Scalar]:
        """N force, of joint forces."""
        taken = self.joint_forces(self.consistent(force))
        return [a - b for a, b in zip(force, taken, strict=True)]

    def inverse_rows(self) -> list[list[Scalar]]:
        """J M^-1, m x nv."""
        return [self.factor.velocity([DY.get(d, 0) for d in range(self.robot.nv)]) for DY in self.DY]

    def projector(self) -> list[list[Scalar]]:
        """N = 1 - J^T Lambda J M^-1, from rows made independent of one another."""
        n = range(self.robot.nv)
        J, Z = self.response.independent([[row.get(d, 0) for d in n] for row in self.J], self.inverse_rows())
        N: list[list[Scalar]] = [[1 if r == c else 0 for c in n] for r in n]
        for j, z, inverse in zip(J, Z, self.response.D_inverse, strict=True):
            for r in n:
                share = j[r] * inverse
                for c in n:
                    N[r][c] = N[r][c] - share * z[c]
        return N


def product(a: Row, b: Row) -> Scalar:
    """a . b of sparse rows."""
    return sum((entry * b[d] for d, entry in a.items() if d in b), 0)


def combined(rows: Sequence[Row], weights: Sequence[Scalar], nv: int) -> list[Scalar]:
    """The sum of sparse rows with weights, nv."""
    out: list[Scalar] = [0] * nv
    for row, weight in zip(rows, weights, strict=True):
        for d, entry in row.items():
            out[d] = out[d] + entry * weight
    return out
