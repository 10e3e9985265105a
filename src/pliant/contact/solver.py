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

from pliant.contact.coulomb import impulse_at, inverse_of
from pliant.contact.rows import dot, eliminated, moved, point_columns, relative, row_matrix, scaled, tangents_of
from pliant.contact.touching import Group, Touch
from pliant.robot import Mechanism
from pliant.scalar import abs, is_constant, maximum, minimum, select
from pliant.spatial import Symmetric3, Transform, Vector

__all__ = [
    "bounce_speed", "correct", "factor_record", "group_rows", "impulses_in_world", "impulses_on_rows",
    "is_elastic", "sweep", "warm_start",
]  # fmt: skip

Scalar = Any
Record = dict[str, Any]
Answer = Callable[[Record, Vector, Vector, Symmetric3], Vector]

# penetrations up to this are left alone [m]
_SLOP = 1e-6

# a penetration is taken back with this speed at most [m/s]
_CORRECTION_SPEED = 1


def is_elastic(group: Group) -> bool:
    """Whether a contact of the group may have restitution."""
    return any(not (is_constant(e) and e == 0) for e in group.restitution)


def group_rows(
    mechanism: Mechanism,
    group: Group,
    poses: Sequence[Transform],
    touches: Sequence[Touch],
    factor: Record,
    dt: Scalar,
    precision: str,
) -> list[Record]:
    """All that a sweep needs of each contact: its rows, their matrix, and the velocity it must not fall below."""
    found = []
    for touch, mu in zip(touches, group.friction, strict=True):
        n = touch.normal
        axes = (*tangents_of(n), n)
        columns = relative(
            point_columns(mechanism, poses, group.a, touch.p), point_columns(mechanism, poses, group.b, touch.p)
        )
        Y = [eliminated(factor["L"], group.support, columns, axis) for axis in axes]
        DY = [scaled(row, group.support, factor["D_inverse"]) for row in Y]
        G = row_matrix(Y, DY)
        found.append(
            {
                "Y": Y,
                "DY": DY,
                "G": list(G),
                "inverse": list(inverse_of(G, precision)),
                "gap": touch.gap,
                "target": -maximum(touch.gap, 0) / dt,
                "depth": maximum(-touch.gap - _SLOP, 0) / dt,
                "mu": mu,
                "axes": [list(axis) for axis in axes],
            }
        )
    return found


def bounce_speed(
    group: Group, k: int, rows: Record, w_start: Sequence[Scalar], gap: Scalar, memory: Scalar, dt: Scalar
) -> tuple[Scalar, Scalar]:
    """The speed with which contact k must leave now, and the approach that a landing within this step remembers.

    A contact that lands within the step ends it on the ground, slower than it came. The speed it had on
    impact is kept, and gives the restitution of the next step.

    Args:
        w_start: L v at the start of the step.
        memory: the speed on impact of a landing in the last step, or 0.
    """
    approach = maximum(0, -dot(rows["Y"][2], group.support, w_start))
    touches = gap <= _SLOP
    speed = group.restitution[k] * maximum(approach, memory)
    landing = select(touches, 0, select(approach * dt > gap, approach, 0))
    return select(touches, speed, 0), landing


def impulses_on_rows(rows: Sequence[Record], world: Sequence[Scalar]) -> list[Scalar]:
    """Impulses in the world's axes (three a contact) as impulses along the rows."""
    found: list[Scalar] = []
    for k, contact in enumerate(rows):
        p = Vector(*world[3 * k : 3 * k + 3])
        found += [Vector(*axis).dot(p) for axis in contact["axes"]]
    return found


def impulses_in_world(rows: Sequence[Record], impulse: Sequence[Scalar]) -> list[Scalar]:
    """The other way round."""
    found: list[Scalar] = []
    for k, contact in enumerate(rows):
        parts = [Vector(*axis) * p for axis, p in zip(contact["axes"], impulse[3 * k : 3 * k + 3], strict=True)]
        found += list(parts[0] + parts[1] + parts[2])
    return found


def warm_start(group: Group, rows: Sequence[Record], w: Sequence[Scalar], impulse: Sequence[Scalar]) -> list[Scalar]:
    """w with the impulses of the last step."""
    for k, contact in enumerate(rows):
        w = moved(w, group.support, contact["DY"], impulse[3 * k : 3 * k + 3])
    return list(w)


def sweep(
    group: Group,
    rows: Sequence[Record],
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
    out = list(w)
    impulses: list[Scalar] = []
    for k, contact in enumerate(rows):
        p = Vector(*impulse[3 * k : 3 * k + 3])
        u = Vector(*(dot(Y, group.support, out) for Y in contact["Y"]))
        G = Symmetric3(*contact["G"])
        if answer is not None:
            new = answer(contact, u, p, G)
        else:
            wanted = Vector(u.x, u.y, u.z - contact["target"])
            new = impulse_at(wanted, p, G, Symmetric3(*contact["inverse"]), contact["mu"], relaxation)
        change = new - p
        out = moved(out, group.support, contact["DY"], list(change))
        impulses += list(new)
        for part, g in zip(change, (G.xx, G.yy, G.zz), strict=True):
            error = maximum(error, abs(part) * g)
    return out, impulses, error


def correct(
    group: Group,
    rows: Sequence[Record],
    shift: Sequence[Scalar],
    push: Sequence[Scalar],
    share: Scalar,
) -> tuple[list[Scalar], list[Scalar]]:
    """One visit to each penetrating contact of a group, along its normal only.

    Args:
        shift: the displacement so far, as a velocity in the coordinates w.
        push: what each contact has pushed so far.
        share: of the penetration that is to go.
    """
    out, pushes = list(shift), []
    for contact, so_far in zip(rows, push, strict=True):
        wanted = minimum(contact["depth"] * share, _CORRECTION_SPEED)
        short = wanted - dot(contact["Y"][2], group.support, out)
        new = maximum(0, so_far + select(contact["depth"] > 0, short / contact["G"][5], 0))
        out = moved(out, group.support, [contact["DY"][2]], [new - so_far])
        pushes.append(new)
    return out, pushes


def factor_record(factor: Any) -> Mapping[str, Any]:
    """A `Factor` as a record of a program: rows of L by dof, and 1/D."""
    L = {d: {e: factor.L[d][e] for e in above} for d, above in enumerate(factor.above)}
    return {"L": L, "D_inverse": list(factor.D_inverse)}
