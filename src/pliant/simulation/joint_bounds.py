"""What the rows of joints allow in a step: velocities at stops, and dry friction."""

from collections.abc import Sequence
from typing import Any

from pliant.contact.joint_rows import JointRow
from pliant.robot.springs import pulls
from pliant.scalar import either, is_constant, maximum, minimum, select
from pliant.simulation.model import StepModel

__all__ = ["beyond_stops", "bounds_of", "held_bounds", "needs_row", "stop_corrections", "violated_stop"]

Scalar = Any
Record = dict[str, Any]

# a joint this near its limit is on it [rad or m]
_TOUCHING = 1e-9


def bounds_of(model: StepModel, row: JointRow, q: Sequence[Scalar], v: Sequence[Scalar], landing: Scalar) -> Record:
    """The bounds of a joint's row, as `pliant.contact.joint_rows.sweep_joint` takes them.

    Args:
        landing: speed with which the joint came onto a limit in the last step, positive at the lower one.
    """
    robot, dt, d = model.robot, model.dt, row.dof
    joint = robot.joints[row.joint]
    if row.kind == "lock":
        return {"low": 0, "high": 0}
    if row.kind == "stop":
        return _stops(joint, q[robot.q_slice(row.joint).start], v[d], landing, dt)
    if row.kind == "play":
        return _play(joint, q[robot.q_slice(row.joint).start], dt)
    k = d - robot.v_slice(row.joint).start
    motors = sum((m.dry_friction for m in robot.motors.values() if m.joint == row.joint), 0)
    return {"friction": dt * (joint.friction[k] + motors)}


def _stops(joint: Any, x: Scalar, rate: Scalar, landing: Scalar, dt: Scalar) -> Record:
    """Velocities that keep the joint within its limits, or throw it back."""
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    low = -maximum(x - lower, 0) / dt if _is_bound(lower) else -1e9
    high = maximum(upper - x, 0) / dt if _is_bound(upper) else 1e9
    arrival: Scalar = 0
    e = joint.restitution
    if not (is_constant(e) and e == 0):
        # as for contacts: a landing within the step is remembered, and thrown back in the next one
        if _is_bound(lower):
            speed = e * maximum(maximum(-rate, landing), 0)
            on = x - lower <= _TOUCHING
            arrival = select(either(on, -rate * dt <= x - lower), arrival, -rate)
            low = select(on, maximum(low, speed), low)
            high = maximum(high, low)
        if _is_bound(upper):
            speed = e * maximum(maximum(rate, -landing), 0)
            on = upper - x <= _TOUCHING
            arrival = select(either(on, rate * dt <= upper - x), arrival, -rate)
            high = select(on, minimum(high, -speed), high)
            low = minimum(low, high)
    return {"low": low, "high": high, "landing": arrival}


def _play(joint: Any, q: Scalar, dt: Scalar) -> Record:
    """Impulses of a spring and damper beyond the play, taken at the end of the step.

    On the upper side the spring is stretched by s = x - b/2; where it is not, the line through zero goes on.
    """
    x, half = q - joint.rest, joint.backlash / 2
    found: Record = {}
    rate: Scalar = 0
    for side, s in (("above", x - half), ("below", x + half)):
        pressed = maximum(s, 0) if side == "above" else minimum(s, 0)
        (pull,), (slope,) = pulls(joint, [pressed])
        found[side] = dt * (pull + slope * (s - pressed))
        rate = maximum(rate, slope)
    ends = {"low": (-half - x) / dt, "high": (half - x) / dt}
    return found | ends | {"rate": dt * (joint.damping[0] + dt * rate)}


def needs_row(row: JointRow, bounds: Record, u: Scalar) -> Scalar:
    """Whether a joint that moves with u, without its row, goes through a stop."""
    return either(u < bounds["low"], u > bounds["high"]) if row.kind == "stop" else False


def violated_stop(bounds: Record, u: Scalar, tolerance: Scalar) -> Scalar:
    """The stop that a joint with velocity u goes through: 1 for the lower, -1 for the upper one, else 0."""
    return select(u < bounds["low"] - tolerance, 1, select(u > bounds["high"] + tolerance, -1, 0))


def held_bounds(bounds: Record, held: Scalar) -> Record:
    """The bounds of a joint that is held at its lower stop (1) or upper one (-1): its velocity is that of the stop."""
    low = select(held < 0, bounds["high"], bounds["low"])
    high = select(held > 0, bounds["low"], bounds["high"])
    return {"low": low, "high": high}


def stop_corrections(model: StepModel, row: JointRow, q: Sequence[Scalar], v: Scalar) -> Record:
    """Bounds of the displacement beside the velocity v of a joint, as a velocity.

    Together they must not take the joint through a stop, and bring it back from beyond one by a share.
    """
    joint, dt = model.robot.joints[row.joint], model.dt
    x = q[model.robot.q_slice(row.joint).start]
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    low: Scalar = -1e9
    high: Scalar = 1e9
    if _is_bound(lower):
        low = _back(lower - x, model.correction) / dt - v
    if _is_bound(upper):
        high = -_back(x - upper, model.correction) / dt - v
        low = minimum(low, high) if _is_bound(lower) else low
    return {"low": low, "high": high}


def _back(beyond: Scalar, share: Scalar) -> Scalar:
    """How far a joint has to go: a share of what it is beyond its stop; up to the stop if it is not."""
    return select(beyond > 0, beyond * share, beyond)


def beyond_stops(model: StepModel, row: JointRow, q: Sequence[Scalar]) -> Scalar:
    """How far a joint is beyond its limits: what must be added to q to be back, or 0."""
    joint = model.robot.joints[row.joint]
    if row.kind != "stop":
        return 0
    x = q[model.robot.q_slice(row.joint).start]
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    below = maximum(lower - x, 0) if _is_bound(lower) else 0
    above = maximum(x - upper, 0) if _is_bound(upper) else 0
    return below - above


def _is_bound(limit: Scalar) -> bool:
    return not is_constant(limit) or abs(limit) < 1e9
