"""Contacts solved together: Newton's method for those of a group, or of all groups that are near.

Visits to one contact after another (`pliant.contact.solver`) take long where contacts share a body. Here the impulses
of all of them change at once, by a step of `pliant.contact.newton` on the rows that visits use, too.
"""

from collections.abc import Sequence
from typing import Any

from pliant.contact.newton import Heading, basis_of, heading, newton_step, taken
from pliant.contact.solver import Record, Visit, forces_of
from pliant.contact.touching import Group
from pliant.scalar import Scalar, Scalars, is_constant, maximum, select
from pliant.spatial import Vector


def head_together(
    group: Group, rows: Record, w: Scalars, impulse: Scalars, rounding: Scalar, precision: str
) -> Heading:
    """Where Newton's step for all contacts of a group leads; rounding as in `pliant.contact.newton` [m/s]."""
    bases = [basis_of(c) for c in rows["contacts"]]
    V, impulses = Visit(group, rows, w).V, forces_of(rows, impulse)
    return heading(rows["contacts"], bases, rows["K"], V, impulses, rounding, precision)


def step_together(
    group: Group, rows: Record, w: Scalars, impulse: Scalars, ahead: Heading, length: Scalar, error: Scalar,
    rounding: Scalar, tolerance: Scalar,
) -> tuple[list[Scalar], list[Scalar], Scalar, Scalar]:  # fmt: skip
    """That step, or a part of it: w, impulses, the largest residual so far, the rounding.

    Args:
        tolerance: residual that is none [m/s].
    """
    visit, impulses = Visit(group, rows, w), forces_of(rows, impulse)
    step = taken(rows["contacts"], ahead, impulses, rounding, tolerance, length)
    new: list[Scalar] = []
    for k, (p, after) in enumerate(zip(impulses, step.impulses, strict=True)):
        visit.gather(k, after - p)
        new += list(after)
    return visit.done(), new, maximum(error, step.residual), step.rounding


def solve_groups(
    groups: Sequence[Group], near: Scalars, rows: Sequence[Record], w: Scalars, impulse: Sequence[Scalars],
    rounding: Scalar, tolerance: Scalar, precision: str,
) -> tuple[list[Scalar], list[list[Scalar]], Scalar, Scalar]:  # fmt: skip
    """A step of Newton's method for the contacts of all groups that are near: w, impulses, residual, the rounding."""
    rows = [_masked(is_near, own) for is_near, own in zip(near, rows, strict=True)]
    visits = [Visit(group, own, w) for group, own in zip(groups, rows, strict=True)]
    sizes = [len(visit.V) for visit in visits]
    K, first = _matrix_of(groups, rows), [sum(sizes[:k]) for k in range(len(sizes))]
    contacts: list[Record] = []
    bases: list[list[list[Scalar]]] = []
    impulses: list[Vector] = []
    for k, own in enumerate(rows):
        for contact, p in zip(own["contacts"], forces_of(own, impulse[k]), strict=True):
            B = basis_of(contact) if "K" in own else [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            left = sum(sizes) - first[k] - sizes[k]
            contacts.append(contact)
            bases.append([[*[0] * first[k], *row, *[0] * left] for row in B])
            impulses.append(p)
    V = [x for visit in visits for x in visit.V]
    step = newton_step(contacts, bases, K, V, impulses, rounding, tolerance, precision)
    after, new, out = iter(step.impulses), [], list(w)
    for k, (own, visit) in enumerate(zip(rows, visits, strict=True)):
        visit.w, found = out, []
        for i, p in enumerate(forces_of(own, impulse[k])):
            there = next(after)
            visit.gather(i, there - p)
            found += list(there)
        out = visit.done()
        new.append(found)
    return out, new, step.residual, step.rounding


def _masked(is_near: Scalar, rows: Record) -> Record:
    """The rows of a group, or zeros if it is not near."""

    def masked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: masked(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [masked(part) for part in value]
        return value if is_constant(value) else select(is_near, value, 0)

    kept = masked({key: part for key, part in rows.items() if key != "moments"})
    for contact in kept["contacts"]:
        # a contact that is not there has some matrix
        contact["G"] = [select(is_near, x, 1) if k in (0, 3, 5) else x for k, x in enumerate(contact["G"])]
    return {**kept, "moments": []}


def _matrix_of(groups: Sequence[Group], rows: Sequence[Record]) -> list[list[Scalar]]:
    """The lower triangle of K = Y D^-1 Y^T of all groups."""
    K: list[list[Scalar]] = []
    for i, (group, own) in enumerate(zip(groups, rows, strict=True)):
        for r, Y in enumerate(own["Y"]):
            along, row = dict(zip(group.support, Y, strict=True)), []
            for j in range(i + 1):
                for c, DY in enumerate(rows[j]["DY"]):
                    if j < i or c <= r:
                        answer = zip(groups[j].support, DY, strict=True)
                        row.append(sum((along[d] * x for d, x in answer if d in along), 0))
            K.append(row)
    return K
