"""Checks of the numbers of a robot, and their cures. Only plain numbers are checked."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import RobotError
from pliant.robot.joints import JointKind, Scalars
from pliant.robot.model import Joint, Limits, Motor
from pliant.robot.named import Named
from pliant.robot.structure import snapped
from pliant.scalar import is_constant
from pliant.spatial import MatrixRotation, Symmetric3, Transform, Vector, rotation_from_rpy

__all__ = [
    "check_finite", "check_limits", "check_motor", "crossed_limits", "full_limits", "impossible_inertia",
    "mended_inertia", "normalised_axis", "per_entry", "placement", "vector",
]  # fmt: skip

Scalar = Any

# files print six digits or so: thin plates and rods miss the triangle inequality by that much
TOLERANCE = 1e-6


def check_finite(subject: str, *numbers: Scalar) -> None:
    """Raise if one of the numbers is NaN, infinite, or no number at all."""
    text = [x for x in numbers if x is None or isinstance(x, str | bytes | list | tuple | dict)]
    if text:
        raise RobotError(f"{subject} has the value {text[0]!r}, which is not a number")
    bad = [x for x in numbers if is_constant(x) and not math.isfinite(x)]
    if bad:
        raise RobotError(f"{subject} has the value {bad[0]}; give it a finite number")


def vector(subject: str, what: str, values: Scalars) -> Vector:
    """Three finite numbers as a vector, exact zeros and ones as integers."""
    if len(values) != 3:
        raise RobotError(f"{what} of {subject} has {len(values)} entries; it takes three")
    check_finite(f"{what} of {subject}", *values)
    return Vector(*(snapped(x, 0) for x in values))


def placement(subject: str, position: Scalars, rpy: Scalars) -> Transform:
    """The pose at a position [m] with roll, pitch and yaw [rad]."""
    p, angles = vector(subject, "position", position), vector(subject, "rpy", rpy)
    if all(is_constant(a) and a == 0 for a in angles):
        return Transform(MatrixRotation.identity(), p)
    return Transform(rotation_from_rpy(*angles), p)


def per_entry(subject: str, what: str, value: Any, n: int, least: float = -math.inf) -> tuple[Scalar, ...]:
    """``n`` numbers from one for all or one for each; NaN or below ``least`` is an error."""
    is_sequence = isinstance(value, (tuple, list, np.ndarray))
    values = tuple(value) if is_sequence else (value,) * n
    if len(values) != n:
        raise RobotError(f"{what} of {subject} has {len(values)} entries; give one number, or {n}")
    for x in values:
        if is_constant(x) and not x >= least:
            cure = f"it must be at least {least:g}" if x == x else "give it a number"
            raise RobotError(f"{what} of {subject} is {x}; {cure}")
    return values


def full_limits(subject: str, limits: Any, kind: JointKind) -> Limits:
    """`Limits` with a number for each entry, from `Limits`, a pair (lower, upper) or None."""
    if limits is None:
        limits = Limits()
    elif not isinstance(limits, Limits):
        lower, upper = limits
        limits = Limits(lower, upper)
    return Limits(
        per_entry(subject, "lower limit", limits.lower, kind.nq),
        per_entry(subject, "upper limit", limits.upper, kind.nq),
        per_entry(subject, "velocity limit", limits.velocity, kind.nv),
        per_entry(subject, "effort limit", limits.effort, kind.nv),
    )


def crossed_limits(limits: Limits) -> str | None:
    """What is wrong if a lower limit is above its upper one."""
    for low, high in zip(limits.lower, limits.upper, strict=True):
        if is_constant(low) and is_constant(high) and low > high:
            return f"the lower limit {low} is above the upper one {high}"
    return None


def check_limits(subject: str, limits: Limits) -> None:
    """Raise if a lower limit is above its upper one."""
    fault = crossed_limits(limits)
    if fault:
        raise RobotError(f"{subject}: {fault}; swap them")


def check_motor(motor: Motor, joints: Named[Joint]) -> None:
    """Raise if the motor cannot drive its joint."""
    kind = joints[motor.joint].kind
    if kind.nv != 1:
        raise RobotError(f"motor {motor.name!r} cannot drive the {kind.name} joint {motor.joint!r}, of {kind.nv} dofs")
    subject = f"motor {motor.name!r}"
    check_finite(f"gear of {subject}", motor.gear)
    for what in ("rotor_inertia", "effort_limit", "velocity_limit"):
        per_entry(subject, what, getattr(motor, what), 1, least=0)


def normalised_axis(subject: str, kind: JointKind) -> tuple[JointKind, str | None]:
    """The kind with an axis of unit length, and a remark if it was not."""
    axis: Scalars | None = getattr(kind, "axis", None)
    if axis is None:
        return kind, None
    vector(subject, "axis", axis)
    if not all(is_constant(a) for a in axis):
        return kind, None
    length = math.hypot(*axis)
    if length == 0:
        raise RobotError(f"{subject} has the axis (0, 0, 0); give it a direction")
    unit = replace(kind, axis=tuple(snapped(a / length) for a in axis))  # type: ignore[type-var]
    return unit, f"axis of length {length:.6g} normalised" if abs(length - 1) > TOLERANCE else None


def impossible_inertia(tensor: Symmetric3) -> str | None:
    """Why no body has this tensor about its centre of mass, or None if one has.

    Principal moments obey the triangle inequality: the second moments of mass, 1/2 tr(I) 1 - I, are
    not negative.
    """
    if not all(is_constant(e) for e in tensor):
        return None
    second, _ = np.linalg.eigh(_second_moment(tensor))
    if second[0] >= -TOLERANCE * abs(second).max():
        return None
    moments = second.sum() - second[::-1]
    shown = ", ".join(f"{m if abs(m) > TOLERANCE * abs(moments).max() else 0:.4g}" for m in moments)
    law = "are not positive" if moments[0] < -TOLERANCE * moments[-1] else "break the triangle inequality"
    return f"principal moments of inertia ({shown}) kg m^2 {law}"


def mended_inertia(tensor: Symmetric3) -> Symmetric3:
    """The tensor of the nearest distribution of mass: negative second moments become zero."""
    second, axes = np.linalg.eigh(_second_moment(tensor))
    clipped = (axes * second.clip(0)) @ axes.T
    mended = np.trace(clipped) * np.eye(3) - clipped
    return Symmetric3(*(float(mended[r, c]) for r in range(3) for c in range(r, 3)))


def _second_moment(tensor: Symmetric3) -> np.ndarray:
    full = np.array(tuple(tensor.full()), dtype=float).reshape(3, 3)
    return np.trace(full) / 2 * np.eye(3) - full
