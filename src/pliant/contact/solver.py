"""Iterations over rigid contacts: each contact in turn gets the impulse that Coulomb's law asks for.

Velocities live in the coordinates w = L v (see `pliant.contact.constraint_rows`). An iteration visits the contacts one
by one [projected Gauss-Seidel with 3 x 3 blocks; Jourdan, Alart and Jean 1998], and what it leaves unchanged is the
exact solution: nothing is softened.

A contact that is apart may close its gap within the step, u_n >= -gap / dt, and no more: it neither stops early nor
bounces early. One that touches must not approach, u_n >= 0, or leave with the speed of its restitution. One that lands
within the step does so at its end (`pliant.contact.landing`). A penetration is taken back by a displacement that
changes no velocity.

A single contact has three constraints, along its axes. Several contacts of the same links share six: the velocity V of
the touching link (relative to the touched one) at a point of it, linear and angular. A contact at r from that point
moves with V_lin + V_ang x r, and an impulse there changes V by K (p, r x p), with K = Y D^-1 Y^T of the six. So each
contact costs the same, however many dofs lie between it and the world.

Contacts with torsional or rolling friction (`pliant.contact.moments`) have six constraints even if alone. Their
moments are visited after the contacts, and come after their impulses in the lists of a group.

Several contacts of one group are better solved together (`pliant.contact.together`), groups one after another.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pliant.contact.constraint_rows import (
    Columns, Response, dot, eliminated, moved, point_columns, relative, row_matrix, scaled, tangents_of,
    turn_columns,
)  # fmt: skip
from pliant.contact.coulomb import impulse_at, inverse_of, sliding, unless_sliding
from pliant.contact.landing import Arrival, arrival, common_depth
from pliant.contact.moments import moment_at
from pliant.contact.touching import Group, Touch
from pliant.robot import Free, Mechanism
from pliant.scalar import Scalar, Scalars, abs, maximum, minimum, select
from pliant.spatial import Symmetric3, Transform, Vector

Record = dict[str, Any]
Answer = Callable[[Record, Vector, Vector, Symmetric3], Vector]
Visited = tuple[list[Scalar], list[Scalar], Scalar]
"""w, the impulses, and the largest change of a velocity so far [m/s]."""

# a penetration is taken back with this speed at most [m/s]
_CORRECTION_SPEED = 1

# what a contact moves along its normal by rounding, relative to what it moves across, and squared
_UNMOVED = {"float64": 1e-24, "float32": 1e-12}

# the same of joints alone: a few ulp of places 1 m from the base, over a lever of some cm
_STILL = {"float64": 1e-24, "float32": 1e-9}

# the matrix of one that does not: any impulse would do nothing [1/kg]
_HEAVY = 1e9

ANY_SPEED = -1e15
"""What a contact keeps that is open: any velocity [m/s]."""

# angular velocities count as velocities with this lever [m]
_LEVER = 0.1

# penetrations up to this are left alone [m]
SLOP = 1e-6


def group_rows(
    mechanism: Mechanism, group: Group, poses: Sequence[Transform], touches: Sequence[Touch], factor: Record,
    dt: Scalar, precision: str, response: Response | None = None,
) -> Record:  # fmt: skip
    """All that iterations need: the constraints, and for each contact its axes, matrix G and the velocity it keeps.

    Args:
        response: how w answers to an impulse along a row, if loops have a part in it.
    """
    axes, p0 = [(*tangents_of(t.normal), t.normal) for t in touches], touches[0].p
    wanted = _constraints(mechanism, group, poses, touches)
    has_six = len(wanted) > 3
    Y = [eliminated(factor, group.support, columns, axis) for columns, axis in wanted]
    DY = [response(row) if response else scaled(row, group.support, factor["D_inverse"]) for row in Y]
    rows: Record = {"Y": Y, "DY": DY, "contacts": []}
    still = _still(mechanism, group, poses, touches, axes, precision)
    if has_six:
        rows["K"] = [
            [sum((a * b for a, b in zip(Y[r], DY[c], strict=True)), 0) if c <= r else 0 for c in range(6)]
            for r in range(6)
        ]
    for touch, (tx, ty, n), mu in zip(touches, axes, group.friction, strict=True):
        contact: Record = {"r": list(touch.p - p0), "axes": [list(tx), list(ty), list(n)]}
        rows["contacts"].append(contact)
        G = _matrix(rows, len(rows["contacts"]) - 1) if has_six else row_matrix(Y, DY)
        G = _movable(G, precision)
        contact |= {
            "G": list(G),
            "inverse": list(inverse_of(G, precision)),
            "gap": touch.gap,
            "bend": touch.bend,
            # the velocity across the normal that a contact is to have at the start of the step: none in its middle
            "slip": [-(axis.dot(touch.roll) * dt) / 2 for axis in (tx, ty)],
            "depth": maximum(-touch.gap - SLOP, 0) / dt,
            "mu": mu,
        }
        if still:
            contact["still"] = still[len(rows["contacts"]) - 1]
    rows["moments"] = [_moment_rows(rows, k, group.torsion[k], group.rolling[k]) for k in group.turning]
    return rows


def _constraints(
    mechanism: Mechanism, group: Group, poses: Sequence[Transform], touches: Sequence[Touch]
) -> list[tuple[Columns, Vector]]:
    """What the rows of a group are: columns of the velocity of a point or of turning, and the axis that is taken."""
    p0 = touches[0].p
    points = relative(point_columns(mechanism, poses, group.a, p0), point_columns(mechanism, poses, group.b, p0))
    if len(touches) == 1 and not group.turning:
        return [(points, axis) for axis in (*tangents_of(touches[0].normal), touches[0].normal)]
    turns = relative(turn_columns(mechanism, poses, group.a), turn_columns(mechanism, poses, group.b))
    return [(columns, Vector.unit(k)) for columns in (points, turns) for k in range(3)]


def _still(
    mechanism: Mechanism, group: Group, poses: Sequence[Transform], touches: Sequence[Touch],
    axes: Sequence[tuple[Vector, Vector, Vector]], precision: str,
) -> list[Scalar]:  # fmt: skip
    """Whether no joint moves a contact along its normal, such as a ball about the only hinge; empty if any can.

    That is a matter of kinematics: what friction in joints holds may still be moved.
    """
    above = [{i, *mechanism.ancestors(i)} if i >= 0 else set() for i in (group.a, group.b)]
    if any(isinstance(mechanism.links[i].kind, Free) for i in above[0] ^ above[1]):
        return []
    found: list[Scalar] = []
    for touch, (tx, ty, n) in zip(touches, axes, strict=True):
        ends = (point_columns(mechanism, poses, i, touch.p) for i in (group.a, group.b))
        columns = list(relative(*ends).values())
        along, *across = (sum((c.dot(axis) * c.dot(axis) for c in columns), 0) for axis in (n, tx, ty))
        found.append(along <= (across[0] + across[1]) * _STILL[precision])
    return found


def constraint_rows(
    mechanism: Mechanism, group: Group, poses: Sequence[Transform], touches: Sequence[Touch]
) -> list[dict[int, Scalar]]:
    """The rows J of a group, entries by dof."""
    given = _constraints(mechanism, group, poses, touches)
    return [{d: axis.dot(column) for d, column in columns.items()} for columns, axis in given]


def _moment_rows(rows: Record, k: int, torsion: Scalar, rolling: Scalar) -> Record:
    """What iterations need for the moments of contact k."""
    axes = rows["contacts"][k]["axes"]
    answers = [_answer(rows["K"], Vector.zero(), Vector(*axis)) for axis in axes]
    K = [Vector(*axes[a]).dot(Vector(*answers[b][3:])) for a in range(3) for b in range(a, 3)]
    return {"axes": axes, "K": K, "torsion": torsion, "rolling": rolling}


def _movable(G: Symmetric3, precision: str) -> Symmetric3:
    """G of a contact that no joint moves along its normal, such as a ball about the only hinge, as if it were heavy."""
    moves = G.zz > (G.xx + G.yy) * _UNMOVED[precision]
    return Symmetric3(G.xx, G.xy, G.xz, G.yy, G.yz, select(moves, G.zz, _HEAVY))


def _matrix(rows: Record, k: int) -> Symmetric3:
    """G of one contact of several."""
    G = Visit.along(rows, k, Visit.answers(rows, k))
    return Symmetric3(*(G[a][b] for a in range(3) for b in range(a, 3)))


def _answer(K: Sequence[Scalars], force: Vector, moment: Vector) -> list[Scalar]:
    """K (force, moment), from the lower triangle of K."""
    F = [*force, *moment]
    return [sum((K[max(r, c)][min(r, c)] * F[c] for c in range(6)), 0) for r in range(6)]


class Visit:
    """A walk over the contacts of a group: velocities as they are now, and impulses that change them.

    Attributes:
        w: L v before; `done` gives it after.
    """

    def __init__(self, group: Group, rows: Record, w: Scalars):
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
        wrench = self.gather(k, change)
        if "K" in self.rows:
            self.V = [a + b for a, b in zip(self.V, _answer(self.rows["K"], *wrench), strict=True)]

    def gather(self, k: int, change: Vector) -> tuple[Vector, Vector]:
        """Add an impulse at contact k to the total; gives it as force and moment."""
        if "K" not in self.rows:
            self.total = [a + b for a, b in zip(self.total, change, strict=True)]
            return change, Vector.zero()
        contact = self.rows["contacts"][k]
        parts = (Vector(*axis) * part for axis, part in zip(contact["axes"], change, strict=True))
        p = sum(parts, Vector.zero())
        moment = Vector(*contact["r"]).cross(p)
        self.total = [a + b for a, b in zip(self.total, (*p, *moment), strict=True)]
        return p, moment

    def spin(self, moments: Record) -> Vector:
        """Angular velocity along the axes of a contact that has moments, normal last."""
        return Vector(*(Vector(*axis).dot(Vector(*self.V[3:])) for axis in moments["axes"]))

    def twist(self, moments: Record, change: Vector) -> None:
        """Let a moment act, along the axes of a contact."""
        moment = self.gather_moment(moments, change)
        self.V = [a + b for a, b in zip(self.V, _answer(self.rows["K"], Vector.zero(), moment), strict=True)]

    def gather_moment(self, moments: Record, change: Vector) -> Vector:
        """Add a moment to the total."""
        parts = (Vector(*axis) * part for axis, part in zip(moments["axes"], change, strict=True))
        moment = sum(parts, Vector.zero())
        self.total = [a + b for a, b in zip(self.total, (0, 0, 0, *moment), strict=True)]
        return moment

    @staticmethod
    def answers(rows: Record, k: int) -> list[list[Scalar]]:
        """How V changes with a unit impulse at contact k, along each of its axes."""
        r = Vector(*rows["contacts"][k]["r"])
        axes = [Vector(*axis) for axis in rows["contacts"][k]["axes"]]
        return [_answer(rows["K"], axis, r.cross(axis)) for axis in axes]

    @staticmethod
    def along(rows: Record, k: int, answers: Sequence[Scalars]) -> list[list[Scalar]]:
        """What changes of V mean for contact k, along each of its axes: a row for each axis."""
        r = Vector(*rows["contacts"][k]["r"])
        moves = [Vector(*V[:3]) + Vector(*V[3:]).cross(r) for V in answers]
        return [[Vector(*axis).dot(u) for u in moves] for axis in rows["contacts"][k]["axes"]]

    def done(self) -> list[Scalar]:
        """w with all impulses."""
        return moved(self.w, self.group.support, self.rows["DY"], self.total)


def arrivals(
    group: Group, rows: Record, start: Scalars, free: Scalars, gained: Scalars, dt: Scalar, shallow: float
) -> list[Arrival]:
    """What each contact of a group asks for in the step.

    Args:
        start: L v before it; free: with which contacts come; gained: what forces add to it.
        shallow: see `pliant.contact.landing.common_depth`.
    """
    depth = common_depth([c["gap"] for c in rows["contacts"]], shallow)
    before, after, more = (Visit(group, rows, w) for w in (start, free, gained))
    return [
        arrival(c["gap"], before.velocity(k).z, after.velocity(k).z, e, dt, c["bend"], more.velocity(k).z, depth)
        for k, (c, e) in enumerate(zip(rows["contacts"], group.restitution, strict=True))
    ]


def with_targets(rows: Record, targets: Scalars) -> Record:
    """The rows of a group whose contacts keep these velocities along their normals at least."""
    given = zip(rows["contacts"], targets, strict=True)
    return {**rows, "contacts": [{**c, "target": least_speed(c, target)} for c, target in given]}


def least_speed(contact: Record, target: Scalar) -> Scalar:
    """The velocity along its normal that a contact keeps at least: any, if no joint moves it along that.

    Its impulse would do nothing, and so could be any, as would be that of its friction.
    """
    return select(contact["still"], ANY_SPEED, target) if "still" in contact else target


def without(group: Group, rows: Record, w: Scalars, impulse: Scalars, stays: Sequence[Scalar]) -> list[list[Scalar]]:
    """w and the impulses with only those of the contacts that stay."""
    visit, left = Visit(group, rows, w), []
    for k, (p, on) in enumerate(zip(forces_of(rows, impulse), stays, strict=True)):
        kept = Vector(*(select(on, x, 0) for x in p))
        visit.push(k, kept - p)
        left += list(kept)
    for k, own, m in zip(group.turning, rows["moments"], moments_of(rows, impulse), strict=True):
        kept = Vector(*(select(stays[k], x, 0) for x in m))
        visit.twist(own, kept - m)
        left += list(kept)
    return [visit.done(), left]


def impulses_on_rows(rows: Record, world: Scalars) -> list[Scalar]:
    """Impulses in the world's axes (three a contact, then three moments) as those along the axes of the contacts."""
    given = zip([*rows["contacts"], *rows["moments"]], triples(world), strict=True)
    return [Vector(*axis).dot(p) for contact, p in given for axis in contact["axes"]]


def impulses_in_world(rows: Record, impulse: Scalars) -> list[Scalar]:
    """The other way round."""
    found: list[Scalar] = []
    for contact, along in zip([*rows["contacts"], *rows["moments"]], triples(impulse), strict=True):
        parts = [Vector(*axis) * p for axis, p in zip(contact["axes"], along, strict=True)]
        found += list(parts[0] + parts[1] + parts[2])
    return found


def warm_start(group: Group, rows: Record, w: Scalars, impulse: Scalars) -> list[Scalar]:
    """w with the impulses of the last step."""
    visit = Visit(group, rows, w)
    for k, p in enumerate(forces_of(rows, impulse)):
        visit.push(k, p)
    for own, m in zip(rows["moments"], moments_of(rows, impulse), strict=True):
        visit.twist(own, m)
    return visit.done()


def pushed_open(group: Group, rows: Record, w: Scalars, impulse: Scalars, D_inverse: Scalars) -> list[Scalar]:
    """w with the impulses of contacts as if loops did not answer to them."""
    DY = [scaled(row, group.support, D_inverse) for row in rows["Y"]]
    return warm_start(group, {**rows, "DY": DY}, w, impulse)


def sweep(
    group: Group, rows: Record, w: Scalars, impulse: Scalars, error: Scalar, answer: Answer | None = None,
    relaxation: Scalar = 1,
) -> Visited:  # fmt: skip
    """One visit to each contact of a group: w, the impulses, and the largest change of a velocity so far [m/s].

    Args:
        answer: (rows of the contact, u, p, G) -> impulse, if it is not Coulomb's law on rigid ground.
        relaxation: see `pliant.contact.coulomb.impulse_at`.
    """

    def coulomb(contact: Record, u: Vector, p: Vector, G: Symmetric3) -> Vector:
        return impulse_at(_off_target(contact, u), p, G, Symmetric3(*contact["inverse"]), contact["mu"], relaxation)

    return _visited(group, rows, w, impulse, error, answer or coulomb)


def look(group: Group, rows: Record, w: Scalars, impulse: Scalars) -> tuple[Vector, Vector, Scalar]:
    """The velocity of the only contact of a group, its impulse unless it slides, and whether it does."""
    (contact,), visit = rows["contacts"], Visit(group, rows, w)
    u = _off_target(contact, visit.velocity(0))
    G, inverse = Symmetric3(*contact["G"]), Symmetric3(*contact["inverse"])
    return u, *unless_sliding(u, Vector(*impulse), G, inverse, contact["mu"])


def slide(rows: Record, u: Vector, impulse: Scalars, relaxation: Scalar) -> Vector:
    """Its impulse if it slides, of the velocity that `look` found."""
    (contact,), p = rows["contacts"], Vector(*impulse)
    G = Symmetric3(*contact["G"])
    return sliding(u - G @ p, p, G, contact["mu"], relaxation)


def push(group: Group, rows: Record, w: Scalars, impulse: Scalars, new: Vector, error: Scalar) -> tuple[Any, Scalar]:
    """w with its new impulse, and the largest change of a velocity so far."""
    visit, change, G = Visit(group, rows, w), new - Vector(*impulse), Symmetric3(*rows["contacts"][0]["G"])
    visit.push(0, change)
    return visit.done(), _worst(error, change, G)


def _worst(error: Scalar, change: Vector, G: Symmetric3) -> Scalar:
    """The largest change of a velocity, with those of a contact whose impulse changes."""
    for part, g in zip(change, (G.xx, G.yy, G.zz), strict=True):
        error = maximum(error, abs(part) * g)
    return error


def sweep_frictionless(group: Group, rows: Record, w: Scalars, impulse: Scalars, error: Scalar) -> Visited:
    """The same without friction: this always converges, and takes energy only."""

    def normal(contact: Record, u: Vector, p: Vector, G: Symmetric3) -> Vector:
        return impulse_at(_off_target(contact, u), p, G, Symmetric3(*contact["inverse"]), 0)

    return _visited(group, rows, w, impulse, error, normal, 0)


def _off_target(contact: Record, u: Vector) -> Vector:
    slip_x, slip_y = contact["slip"]
    return Vector(u.x - slip_x, u.y - slip_y, u.z - contact["target"])


def _visited(
    group: Group, rows: Record, w: Scalars, impulse: Scalars, error: Scalar, answer: Answer, rubs: int = 1
) -> Visited:
    """A visit to each contact, and then to moments, which are within ``rubs`` times their bounds, 1 or 0."""
    visit = Visit(group, rows, w)
    impulses: list[Scalar] = []
    for k, (contact, p) in enumerate(zip(rows["contacts"], forces_of(rows, impulse), strict=True)):
        G = Symmetric3(*contact["G"])
        new = answer(contact, visit.velocity(k), p, G)
        change = new - p
        visit.push(k, change)
        impulses += list(new)
        error = _worst(error, change, G)
    turned = [impulses[3 * k + 2] for k in group.turning]
    for own, m, push in zip(rows["moments"], moments_of(rows, impulse), turned, strict=True):
        K = Symmetric3(*own["K"])
        new = moment_at(visit.spin(own), m, K, own["torsion"], own["rolling"], push * rubs)
        change = new - m
        visit.twist(own, change)
        impulses += list(new)
        for part, g in zip(change, (K.xx, K.yy, K.zz), strict=True):
            error = maximum(error, abs(part) * g * _LEVER)
    return visit.done(), impulses, error


def correct(
    group: Group, rows: Record, shift: Scalars, push: Scalars, share: Scalar
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


def triples(values: Scalars) -> list[Vector]:
    """Three values for each contact, as vectors."""
    return [Vector(*values[k : k + 3]) for k in range(0, len(values), 3)]


def forces_of(rows: Record, impulse: Scalars) -> list[Vector]:
    """Those of the impulses of a group that are forces, one for each contact."""
    return triples(impulse[: 3 * len(rows["contacts"])])


def moments_of(rows: Record, impulse: Scalars) -> list[Vector]:
    """Those that are moments."""
    return triples(impulse[3 * len(rows["contacts"]) :])


def loads_on(group: Group, rows: Record, impulse: Scalars) -> dict[int, Scalar]:
    """Y^T p of the impulses of a group, by dof: what they push there, eliminated as the impulses of a step are."""
    visit = Visit(group, rows, [0] * (max(group.support) + 1))
    for k, p in enumerate(forces_of(rows, impulse)):
        visit.gather(k, p)
    for own, m in zip(rows["moments"], moments_of(rows, impulse), strict=True):
        visit.gather_moment(own, m)
    return {
        d: sum((Y[k] * p for Y, p in zip(rows["Y"], visit.total, strict=True)), 0) for k, d in enumerate(group.support)
    }
