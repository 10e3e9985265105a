"""Sweeps over rigid contacts: each contact in turn gets the impulse that Coulomb's law asks for.

Velocities live in the coordinates w = L v (see `pliant.contact.rows`). A sweep visits the contacts one by
one [projected Gauss-Seidel with 3 x 3 blocks; Jourdan, Alart and Jean 1998], and what it leaves
unchanged is the exact solution: nothing is softened.

A contact that is apart may close its gap within the step, u_n >= -gap / dt, and no more: it neither
stops early nor bounces early. One that touches must not approach, u_n >= 0, or leave with the speed of
its restitution. A penetration is taken back by a displacement that changes no velocity.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pliant.contact.coulomb import impulse_at, unless_sliding
from pliant.contact.group_rows import SLOP, Visit
from pliant.contact.sticking import stick_together
from pliant.contact.touching import Group
from pliant.scalar import abs, both, either, is_constant, maximum, minimum, select
from pliant.spatial import Symmetric3, Vector

__all__ = [
    "bounce_speed", "correct", "factor_record", "impulses_in_world", "impulses_on_rows", "is_elastic",
    "is_sliding", "sweep", "sweep_frictionless", "sweep_sticking", "warm_start",
]  # fmt: skip

Scalar = Any
Record = dict[str, Any]
Answer = Callable[[Record, Vector, Vector, Symmetric3], Vector]

# friction beyond this share of its bound is at the bound, but for rounding
_ON_THE_CONE = 1 - 1e-6

# a penetration is taken back with this speed at most [m/s]
_CORRECTION_SPEED = 1


def is_elastic(group: Group) -> bool:
    """Whether a contact of the group may have restitution."""
    return any(not (is_constant(e) and e == 0) for e in group.restitution)


def bounce_speed(start: Visit, k: int, memory: Scalar, dt: Scalar) -> tuple[Scalar, Scalar]:
    """The speed with which contact k must leave now, and the approach that a landing within this step remembers.

    A contact that lands within the step ends it on the ground, slower than it came. The speed it had on
    impact is kept, and gives the restitution of the next step.

    Args:
        start: a visit to the group with the velocities at the start of the step.
        memory: the speed on impact of a landing in the last step, or 0.
    """
    gap = start.rows["contacts"][k]["gap"]
    approach = maximum(0, -start.velocity(k).z)
    # one that has just landed may be some micrometres off, where bodies turn or the ground is curved
    touches = either(gap <= SLOP, memory > 0)
    speed = start.group.restitution[k] * maximum(approach, memory)
    landing = select(touches, 0, select(approach * dt > gap, approach, 0))
    return select(touches, speed, 0), landing


def impulses_on_rows(rows: Record, world: Sequence[Scalar]) -> list[Scalar]:
    """Impulses in the world's axes (three a contact) as impulses along the axes of the contacts."""
    found: list[Scalar] = []
    for k, contact in enumerate(rows["contacts"]):
        p = Vector(*world[3 * k : 3 * k + 3])
        found += [Vector(*axis).dot(p) for axis in contact["axes"]]
    return found


def impulses_in_world(rows: Record, impulse: Sequence[Scalar]) -> list[Scalar]:
    """The other way round."""
    found: list[Scalar] = []
    for k, contact in enumerate(rows["contacts"]):
        parts = [Vector(*axis) * p for axis, p in zip(contact["axes"], impulse[3 * k : 3 * k + 3], strict=True)]
        found += list(parts[0] + parts[1] + parts[2])
    return found


def warm_start(group: Group, rows: Record, w: Sequence[Scalar], impulse: Sequence[Scalar]) -> list[Scalar]:
    """w with the impulses of the last step."""
    visit = Visit(group, rows, w)
    for k in range(len(group.names)):
        visit.push(k, Vector(*impulse[3 * k : 3 * k + 3]))
    return visit.done()


def sweep(
    group: Group,
    rows: Record,
    w: Sequence[Scalar],
    impulse: Sequence[Scalar],
    error: Scalar,
    answer: Answer | None = None,
    relaxation: Scalar = 1,
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """One visit to each contact of a group: w, the impulses, and the largest change of a velocity so far [m/s].

    Args:
        answer: (rows of the contact, u, p, G) -> impulse, if it is not Coulomb's law on rigid ground.
        relaxation: see `pliant.contact.coulomb.impulse_at`.
    """

    def coulomb(contact: Record, u: Vector, p: Vector, G: Symmetric3) -> Vector:
        return impulse_at(_off_target(contact, u), p, G, Symmetric3(*contact["inverse"]), contact["mu"], relaxation)

    return _visited(group, rows, w, impulse, error, answer or coulomb)


def sweep_sticking(
    group: Group, rows: Record, w: Sequence[Scalar], impulse: Sequence[Scalar], error: Scalar
) -> tuple[list[Scalar], list[Scalar], Scalar, Scalar]:
    """The same for contacts of which none slides; and whether one does, so that nothing of it counts."""
    slides: list[Scalar] = []

    def coulomb(contact: Record, u: Vector, p: Vector, G: Symmetric3) -> Vector:
        inverse = Symmetric3(*contact["inverse"])
        new, is_sliding = unless_sliding(_off_target(contact, u), p, G, inverse, contact["mu"])
        slides.append(is_sliding)
        return new

    new_w, impulses, worst = _visited(group, rows, w, impulse, error, coulomb)
    some = slides[0]
    for other in slides[1:]:
        some = either(some, other)
    return (
        [select(some, a, b) for a, b in zip(w, new_w, strict=True)],
        [select(some, a, b) for a, b in zip(impulse, impulses, strict=True)],
        select(some, error, worst),
        some,
    )


def sweep_frictionless(
    group: Group, rows: Record, w: Sequence[Scalar], impulse: Sequence[Scalar], error: Scalar
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """The same without friction: this always converges, and takes energy only."""

    def normal(contact: Record, u: Vector, p: Vector, G: Symmetric3) -> Vector:
        return impulse_at(_off_target(contact, u), p, G, Symmetric3(*contact["inverse"]), 0)

    return _visited(group, {key: part for key, part in rows.items() if key != "sticking"}, w, impulse, error, normal)


def is_sliding(rows: Record, impulse: Sequence[Scalar]) -> Scalar:
    """Whether a contact of the group has its friction at the bound."""
    some: Scalar = None
    for k, contact in enumerate(rows["contacts"]):
        p = Vector(*impulse[3 * k : 3 * k + 3])
        bound = contact["mu"] * p.z * _ON_THE_CONE
        slides = both(p.z > 0, p.x * p.x + p.y * p.y >= bound * bound)
        some = slides if some is None else either(some, slides)
    return some


def _off_target(contact: Record, u: Vector) -> Vector:
    return Vector(u.x, u.y, u.z - contact["target"])


def _visited(
    group: Group, rows: Record, w: Sequence[Scalar], impulse: Sequence[Scalar], error: Scalar, answer: Answer
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    visit = Visit(group, rows, w)
    impulses: list[Scalar] = []
    for k, contact in enumerate(rows["contacts"]):
        p = Vector(*impulse[3 * k : 3 * k + 3])
        G = Symmetric3(*contact["G"])
        new = answer(contact, visit.velocity(k), p, G)
        change = new - p
        visit.push(k, change)
        impulses += list(new)
        for part, g in zip(change, (G.xx, G.yy, G.zz), strict=True):
            error = maximum(error, abs(part) * g)
    if "sticking" in rows:
        impulses = stick_together(visit, rows["sticking"], impulses)
    return visit.done(), impulses, error


def correct(
    group: Group, rows: Record, shift: Sequence[Scalar], push: Sequence[Scalar], share: Scalar
) -> tuple[list[Scalar], list[Scalar]]:
    """One visit to each penetrating contact of a group, along its normal only.

    Args:
        shift: the displacement so far, as a velocity in the coordinates w.
        push: what each contact has pushed so far.
        share: of the penetration that is to go.
    """
    visit, pushes = Visit(group, rows, shift), []
    for k, (contact, so_far) in enumerate(zip(rows["contacts"], push, strict=True)):
        wanted = minimum(contact["depth"] * share, _CORRECTION_SPEED)
        short = wanted - visit.velocity(k).z
        new = maximum(0, so_far + select(contact["depth"] > 0, short / contact["G"][5], 0))
        visit.push(k, Vector(0, 0, new - so_far))
        pushes.append(new)
    return visit.done(), pushes


def factor_record(factor: Any) -> Mapping[str, Any]:
    """A `Factor` as a record of a program: rows of L by dof, D and 1/D."""
    L = {d: {e: factor.L[d][e] for e in above} for d, above in enumerate(factor.above)}
    return {"L": L, "D": [factor.L[d][d] for d in range(len(factor.L))], "D_inverse": list(factor.D_inverse)}
