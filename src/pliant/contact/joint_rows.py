"""Constraints of joints in the contact solver: limits, locks, dry friction, and springs with backlash.

Several of them may act along a joint's row e_d, each with an impulse of its own:

- a limit or a lock keeps the velocity u within [low, high]: the impulse is what brings it there;
- dry friction wants u = 0, with |p| <= f dt;
- a spring with backlash pushes only beyond it: p = -max(0, c+ + r u) where u takes the joint beyond its upper end,
  -min(0, c- + r u) beyond the lower one, with c the impulse of the spring on either side if the joint stayed, and r
  what motion adds to it. Where u just reaches an end, p is anything between that and none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.actuation.joint_forces import dry_friction
from pliant.actuation.joint_springs import backlash_sides
from pliant.contact.rows import dot, eliminated, moved, scaled, support_of
from pliant.robot import Joint, Mechanism, Robot
from pliant.scalar import abs, either, is_constant, maximum, minimum, select
from pliant.spatial import Vector

__all__ = [
    "JointRow", "beyond_limits", "bounds_of", "has_limits", "held_bounds", "is_limit", "joint_row_vectors",
    "limit_corrections", "needs_row", "row_support", "sweep_joint", "violated_limit",
]  # fmt: skip

Scalar = Any
Record = dict[str, Any]

# some files write 1e16 where a joint has no limit [rad or m]; and a velocity that no joint has [rad/s or m/s]
_UNLIMITED = 1e9

# a joint this near its limit is on it [rad or m]
_TOUCHING = 1e-9


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
    bounds: Sequence[Scalar] = (*joint.limits.lower, *joint.limits.upper)
    return any(map(is_limit, bounds)) and not any(is_constant(b) and math.isnan(b) for b in bounds)


# ---- bounds


def bounds_of(
    robot: Robot, row: JointRow, q: Sequence[Scalar], v: Sequence[Scalar], landing: Scalar, dt: Scalar
) -> Record:
    """The bounds of a joint's constraint in a step, as `sweep_joint` takes them.

    Args:
        landing: speed with which the joint came onto a limit in the last step, positive at the lower one.
    """
    joint = robot.joints[row.joint]
    if row.kind == "lock":
        return {"low": 0, "high": 0}
    if row.kind == "stop":
        return _at_limits(joint, q[robot.q_slice(row.joint).start], v[row.dof], landing, dt)
    if row.kind == "backlash":
        return _with_backlash(joint, q[robot.q_slice(row.joint).start], dt)
    return {"friction": dt * dry_friction(robot, row.joint, row.dof - robot.v_slice(row.joint).start)}


def _at_limits(joint: Joint, x: Scalar, rate: Scalar, landing: Scalar, dt: Scalar) -> Record:
    """Velocities that keep the joint within its limits, or throw it back."""
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    low = -maximum(x - lower, 0) / dt if is_limit(lower) else -_UNLIMITED
    high = maximum(upper - x, 0) / dt if is_limit(upper) else _UNLIMITED
    arrival: Scalar = 0
    e = joint.restitution
    if not (is_constant(e) and e == 0):
        # as for contacts: a landing within the step is remembered, and thrown back in the next one
        if is_limit(lower):
            speed = e * maximum(maximum(-rate, landing), 0)
            on = x - lower <= _TOUCHING
            arrival = select(either(on, -rate * dt <= x - lower), arrival, -rate)
            low = select(on, maximum(low, speed), low)
            high = maximum(high, low)
        if is_limit(upper):
            speed = e * maximum(maximum(rate, -landing), 0)
            on = upper - x <= _TOUCHING
            arrival = select(either(on, rate * dt <= upper - x), arrival, -rate)
            high = select(on, minimum(high, -speed), high)
            low = minimum(low, high)
    return {"low": low, "high": high, "landing": arrival}


def _with_backlash(joint: Joint, q: Scalar, dt: Scalar) -> Record:
    """Impulses of a spring and damper beyond the backlash, taken at the end of the step."""
    sides = backlash_sides(joint, q)
    found = {"above": dt * sides.above, "below": dt * sides.below, "rate": dt * (sides.damping + dt * sides.stiffness)}
    return found | {"low": sides.to_lower / dt, "high": sides.to_upper / dt}


def needs_row(row: JointRow, bounds: Record, u: Scalar) -> Scalar:
    """Whether a joint that moves with u, without its constraint, goes through a limit."""
    return either(u < bounds["low"], u > bounds["high"]) if row.kind == "stop" else False


def violated_limit(bounds: Record, u: Scalar, tolerance: Scalar) -> Scalar:
    """The limit that a joint with velocity u goes through: 1 for the lower, -1 for the upper one, else 0."""
    return select(u < bounds["low"] - tolerance, 1, select(u > bounds["high"] + tolerance, -1, 0))


def held_bounds(bounds: Record, held: Scalar) -> Record:
    """The bounds of a joint that is held at its lower limit (1) or upper one (-1): its velocity is the limit's."""
    low = select(held < 0, bounds["high"], bounds["low"])
    high = select(held > 0, bounds["low"], bounds["high"])
    return {"low": low, "high": high}


def limit_corrections(robot: Robot, row: JointRow, q: Sequence[Scalar], v: Scalar, share: Scalar, dt: Scalar) -> Record:
    """Bounds of the displacement beside the velocity v of a joint, as a velocity.

    Together they must not take the joint through a limit, and bring it back from beyond one by a share.
    """
    joint = robot.joints[row.joint]
    x = q[robot.q_slice(row.joint).start]
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    low: Scalar = -_UNLIMITED
    high: Scalar = _UNLIMITED
    if is_limit(lower):
        low = _back(lower - x, share) / dt - v
    if is_limit(upper):
        high = -_back(x - upper, share) / dt - v
        low = minimum(low, high) if is_limit(lower) else low
    return {"low": low, "high": high}


def _back(beyond: Scalar, share: Scalar) -> Scalar:
    """How far a joint has to go: a share of what it is beyond its limit; up to the limit if it is not."""
    return select(beyond > 0, beyond * share, beyond)


def beyond_limits(robot: Robot, row: JointRow, q: Sequence[Scalar]) -> Scalar:
    """How far a joint is beyond its limits: what must be added to q to be back, or 0."""
    joint = robot.joints[row.joint]
    if row.kind != "stop":
        return 0
    x = q[robot.q_slice(row.joint).start]
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    below = maximum(lower - x, 0) if is_limit(lower) else 0
    above = maximum(x - upper, 0) if is_limit(upper) else 0
    return below - above


# ---- visits


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
        bounds: "low" and "high" of the velocity at limits, or "friction" f dt, or "above", "below" and "rate" of a
            backlash, the c+, c- and r of either side, with "low" and "high" the velocities that just reach its ends.
    """
    free = dot(vectors["Y"], support, w) - vectors["G"] * impulse
    if row.kind == "friction":
        new = minimum(maximum(-free * vectors["rate"], -bounds["friction"]), bounds["friction"])
    elif row.kind == "backlash":
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
