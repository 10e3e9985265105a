"""Constraints of the solver: rows of contacts eliminated against the matrix of the step, and what limits of joints ask.

With A = L^T D L the matrix of the step, a row of the Jacobian J becomes Y = L^-T J^T. In the coordinates w = L v, the
velocity along the constraint is Y . w, and an impulse p along it changes w by D^-1 Y p. Both need only the dofs between
the world and the bodies that touch: neither M^-1 nor the matrix J A^-1 J^T is ever formed. Constraints along dofs of
joints are part of A itself (`pliant.contact.joint_laws`).
"""

import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.actuation.joint_forces import dry_friction
from pliant.actuation.joint_springs import backlash_sides
from pliant.contact.landing import Arrival, arrival
from pliant.robot import Joint, Mechanism, Robot
from pliant.scalar import Scalar, Scalars, abs, either, is_constant, maximum, minimum, select
from pliant.spatial import Motion, Symmetric3, Transform, Vector

Columns = dict[int, Vector]
Record = dict[str, Any]
Response = Callable[[Scalars], list[Scalar]]
"""How w answers to an impulse along a row Y: D^-1 Y, or what loops leave of it (`pliant.contact.loops`)."""

_SUMS = 4


def support_of(mechanism: Mechanism, links: Iterable[int]) -> tuple[int, ...]:
    """The dofs that move one of the links, or whose elimination is felt there, the last one first."""
    dofs = {
        e
        for i in links
        if i >= 0
        for j in (i, *mechanism.ancestors(i))
        for d in mechanism.links[j].dofs
        for e in mechanism.support[d]
    }
    return tuple(sorted(dofs, reverse=True))


def point_columns(
    mechanism: Mechanism, poses: Sequence[Transform], i: int, p: Vector, without: Container[int] = ()
) -> Columns:
    """Velocity of the point of link i that is at p, for each dof at unit rate; in the axes of the poses.

    Args:
        without: links whose joints are left out.
    """
    return {d: motion.linear for d, motion in _columns(mechanism, poses, i, p, without).items()}


def turn_columns(mechanism: Mechanism, poses: Sequence[Transform], i: int, without: Container[int] = ()) -> Columns:
    """Angular velocity of link i, for each dof at unit rate."""
    return {d: motion.angular for d, motion in _columns(mechanism, poses, i, Vector.zero(), without).items()}


def _columns(
    mechanism: Mechanism, poses: Sequence[Transform], i: int, p: Vector, without: Container[int]
) -> dict[int, Motion]:
    found: dict[int, Motion] = {}
    for j in (i, *mechanism.ancestors(i)) if i >= 0 else ():
        if j in without:
            continue
        link = mechanism.links[j]
        X = Transform(poses[j].R, poses[j].p - p)
        for d, S in zip(link.dofs, link.kind.columns, strict=True):
            column = X.act(S) * link.ratio
            found[d] = found[d] + column if d in found else column
    return found


def relative(a: Columns, b: Columns) -> Columns:
    """The columns of a point of one body as seen from a point of another."""
    found = dict(a)
    for d, column in b.items():
        found[d] = found[d] - column if d in found else -column
    return found


def eliminated(factor: Record, support: Sequence[int], columns: Columns, direction: Vector) -> list[Scalar]:
    """Y = L^-T J^T of the row J = direction . columns, one entry for each dof of ``support``.

    Args:
        factor: record of a `pliant.dynamics.pinned_factor.PinnedFactor`.
    """
    Y = {d: direction.dot(columns[d]) if d in columns else 0 for d in support}
    for d in support:  # from the leaves to the root
        share = factor["D_inverse"][d] * Y[d]
        for e, entry in factor["U"][d].items():
            Y[e] = Y[e] - entry * share
    return [Y[d] for d in support]


def scaled(Y: Scalars, support: Sequence[int], D_inverse: Scalars) -> list[Scalar]:
    """D^-1 Y."""
    return [D_inverse[d] * y for d, y in zip(support, Y, strict=True)]


def dot(Y: Scalars, support: Sequence[int], w: Scalars) -> Scalar:
    """Y . w, the velocity along the constraint; as a few sums side by side, since visits wait for one another."""
    sums: list[Scalar] = [0] * _SUMS
    for k, (d, y) in enumerate(zip(support, Y, strict=True)):
        sums[k % _SUMS] = sums[k % _SUMS] + y * w[d]
    while len(sums) > 1:
        sums = [sum(sums[k : k + 2], 0) for k in range(0, len(sums), 2)]
    return sums[0]


def moved(w: Scalars, support: Sequence[int], DY: Sequence[Scalars], impulse: Scalars) -> list[Scalar]:
    """w after impulses along constraints: w + D^-1 Y p."""
    out = list(w)
    for k, d in enumerate(support):
        for row, p in zip(DY, impulse, strict=True):
            out[d] = out[d] + row[k] * p
    return out


def row_matrix(Y: Sequence[Scalars], DY: Sequence[Scalars]) -> Symmetric3:
    """G = Y D^-1 Y^T of three constraints: how their velocities answer to their impulses."""
    entries = [sum((a * b for a, b in zip(Y[r], DY[c], strict=True)), 0) for r in range(3) for c in range(r, 3)]
    return Symmetric3(*entries)


def tangents_of(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame with a normal, without a branch.

    [Duff et al. 2017, "Building an orthonormal basis, revisited"]; for (0, 0, 1) they are x and y.
    """
    sign = select(normal.z >= 0, 1, -1)
    a = -1 / (sign + normal.z)
    b = normal.x * normal.y * a
    return (
        Vector(1 + sign * normal.x * normal.x * a, sign * b, -sign * normal.x),
        Vector(b, sign + normal.y * normal.y * a, -normal.y),
    )


# some files write 1e16 where a joint has no limit [rad or m]; and a velocity that no joint has [rad/s or m/s]
_UNLIMITED = 1e9


@dataclass(frozen=True)
class JointRow:
    """A constraint along a dof.

    Attributes:
        dof: which one; joint: whose.
        kind: "stop" (a limit), "lock", "friction" or "backlash".
    """

    dof: int
    joint: str
    kind: str

    @property
    def is_steady(self) -> bool:
        """Whether it acts all the time, not only at a limit."""
        return self.kind != "stop"


def is_limit(limit: Scalar) -> bool:
    """Whether a limit of a joint is one: finite, or a scalar that may be."""
    return not is_constant(limit) or abs(limit) < _UNLIMITED


def has_limits(joint: Joint) -> bool:
    """Whether a joint has a limit on some side."""
    bounds: Scalars = (*joint.limits.lower, *joint.limits.upper)
    return any(map(is_limit, bounds)) and not any(is_constant(b) and math.isnan(b) for b in bounds)


# ---- bounds


def bounds_of(robot: Robot, row: JointRow, q: Scalars, v: Scalars, dt: Scalar) -> Record:
    """The bounds of a joint's constraint in a step, as `pliant.contact.joint_laws` takes them."""
    joint = robot.joints[row.joint]
    if row.kind == "lock":
        return {"low": 0, "high": 0}
    if row.kind == "stop":
        lower, upper = limit_arrivals(robot, row, q, v, dt)
        low, high = lower.mean if lower else -_UNLIMITED, -upper.mean if upper else _UNLIMITED
        # without restitution the one is not above zero, and the other not below
        is_plastic = is_constant(joint.restitution) and joint.restitution == 0
        return {"low": low, "high": high} if is_plastic else _between(low, high)
    if row.kind == "backlash":
        return _with_backlash(joint, q[robot.q_slice(row.joint).start], dt)
    k = row.dof - robot.v_slice(row.joint).start
    return {"friction": dt * dry_friction(robot, row.joint, k, v[row.dof])}


def limit_arrivals(
    robot: Robot, row: JointRow, q: Scalars, v: Scalars, dt: Scalar
) -> tuple[Arrival | None, Arrival | None]:
    """What the lower and the upper limit of a joint ask for, away from it; None where there is no limit."""
    x, lower, upper = _place(robot, row, q)
    u, e = v[row.dof], robot.joints[row.joint].restitution
    return (
        arrival(x - lower, u, u, e, dt) if is_limit(lower) else None,
        arrival(upper - x, -u, -u, e, dt) if is_limit(upper) else None,
    )


def landed_bounds(arrivals: tuple[Arrival | None, Arrival | None], impulse: Scalar, held: Scalar) -> Record:
    """The bounds of a joint's velocity at the end of a step in which something lands.

    Args:
        impulse: of the mean velocity: a limit that it pushes away from is reached.
        held: 1 or -1 if the joint is held at its lower or upper limit.
    """
    ends = []
    for limit, sign in zip(arrivals, (1, -1), strict=True):
        if limit is None:
            ends.append(-_UNLIMITED)
        else:
            is_met = either(limit.touches, either(sign * impulse > 0, sign * held > 0))
            ends.append(select(is_met, limit.end, -_UNLIMITED))
    return _between(ends[0], -ends[1])


def _between(low: Scalar, high: Scalar) -> Record:
    """Bounds of which neither crosses the other, nor zero for its sake."""
    return {"low": minimum(low, maximum(high, 0)), "high": maximum(high, minimum(low, 0))}


def _with_backlash(joint: Joint, q: Scalar, dt: Scalar) -> Record:
    """Impulses of a spring and damper beyond the backlash, taken at the end of the step."""
    sides = backlash_sides(joint, q)
    found = {"above": dt * sides.above, "below": dt * sides.below, "rate": dt * (sides.damping + dt * sides.stiffness)}
    return found | {"low": sides.to_lower / dt, "high": sides.to_upper / dt}


def _place(robot: Robot, row: JointRow, q: Scalars) -> tuple[Scalar, Scalar, Scalar]:
    """Where a joint is, and its limits."""
    limits = robot.joints[row.joint].limits
    return q[robot.q_slice(row.joint).start], limits.lower[0], limits.upper[0]


def beyond_limits(robot: Robot, row: JointRow, q: Scalars) -> Scalar:
    """How far a joint is beyond its limits: what must be added to q to be back, or 0."""
    x, lower, upper = _place(robot, row, q)
    below = maximum(lower - x, 0) if is_limit(lower) else 0
    above = maximum(x - upper, 0) if is_limit(upper) else 0
    return below - above
