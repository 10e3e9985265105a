"""Checks of the numbers of a robot, and their cures. Only plain numbers are checked."""

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import Call, RobotError, unknown_name
from pliant.robot.joints import JointKind, Scalars
from pliant.robot.model import CONTROLS, Closure, FrameSpring, Joint, Limits, Motor
from pliant.robot.named import Named
from pliant.robot.springs import check_law, has_play, has_spring
from pliant.robot.structure import snapped
from pliant.robot.values import (
    as_scalar,
    check_finite,
    check_name,
    entries,
    is_scalar,
    is_sequence,
    one_for_each,
    per_entry,
    placement,
    vector,
)  # fmt: skip
from pliant.scalar import is_constant
from pliant.spatial import Inertia, Symmetric3

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = [
    "as_scalar", "check_closure", "check_finite", "check_joint", "check_limits", "check_motor", "check_motor_values",
    "check_name", "check_rotor", "check_spring", "crossed_limits", "entries", "full_limits", "impossible_inertia",
    "is_scalar", "is_sequence", "mended_inertia", "normalised_axis", "one_for_each", "per_entry", "placement", "vector",
]  # fmt: skip

Scalar = Any

# files print six digits or so: thin plates and rods miss the triangle inequality by that much
TOLERANCE = 1e-6

# moments of inertia this small next to those about the joint are none
NOTHING = 1e-9


def full_limits(subject: str, limits: Any, kind: JointKind) -> Limits:
    """`Limits` with a number for each entry, from `Limits`, a pair (lower, upper) or None."""
    if limits is None:
        limits = Limits()
    elif not isinstance(limits, Limits):
        if not is_sequence(limits) or len(limits) != 2:
            raise RobotError(f"limits of {subject} are {limits!r}; give a pair (lower, upper), or Limits(...)")
        limits = Limits(*limits)
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
        raise RobotError(f"{subject}: {fault}", subject=subject, field="limits", cure="swap them")


def check_motor(motor: Motor, joints: Named[Joint]) -> None:
    """Raise if the motor cannot drive its joint, or has an impossible value."""
    kind = joints[motor.joint].kind
    if kind.nv != 1:
        raise RobotError(f"motor {motor.name!r} cannot drive the {kind.name} joint {motor.joint!r}, of {kind.nv} dofs")
    subject = f"motor {motor.name!r}"
    for what in ("gear", "rotor_inertia", "kp", "kd", "viscous_friction", "dry_friction"):
        check_finite(f"{what} of {subject}", getattr(motor, what))
    for what in (
        "rotor_inertia", "effort_limit", "velocity_limit", "kp", "kd", "viscous_friction", "dry_friction",
    ):  # fmt: skip
        per_entry(subject, what, getattr(motor, what), 1, least=0)
    if _is_zero(motor.gear):
        problem, call = f"gear of {subject} is 0, so its rotor turns without the joint", {"gear": 9}
        raise RobotError(
            problem, subject=subject, field="gear", cure="give its ratio, as in gear=9",
            call=Call("with_motor", motor.joint, call),
        )  # fmt: skip
    per_entry(subject, "no_load_speed", motor.no_load_speed, 1)
    if is_constant(motor.no_load_speed) and not motor.no_load_speed > 0:
        raise RobotError(f"no_load_speed of {subject} is {motor.no_load_speed}; it must be above zero")
    if motor.rotor_axis is not None:
        _check_rotor_axis(subject, motor.rotor_axis)
    if motor.gyroscopic and motor.rotor_axis is None and kind.name == "prismatic":
        raise RobotError(f"{subject} is gyroscopic on a prismatic joint; give the rotor_axis about which it spins")
    if motor.control not in CONTROLS:
        raise RobotError(unknown_name("control", motor.control, CONTROLS, subject))
    if motor.control == "position" and is_constant(motor.kp) and motor.kp == 0:
        raise RobotError(
            f"{subject} has position control but kp = 0", subject=subject, field="kp",
            cure="give it a gain, as in kp=80, kd=2", call=Call("with_motor", motor.joint, {"kp": 80, "kd": 2}),
        )  # fmt: skip
    if motor.control == "velocity" and is_constant(motor.kd) and motor.kd == 0:
        raise RobotError(f"{subject} has velocity control but kd = 0; give it a gain")
    if motor.law is not None and not callable(motor.law):
        raise RobotError(f"law of {subject} is {motor.law!r}; give a function (u, q, v, t) -> torque")


def _check_rotor_axis(subject: str, axis: Scalars) -> None:
    vector(subject, "rotor_axis", axis)
    if all(is_constant(a) for a in axis) and abs(math.hypot(*axis) - 1) > TOLERANCE:
        problem = f"rotor_axis of {subject} has length {math.hypot(*axis):.6g}"
        raise RobotError(problem, subject=subject, field="rotor_axis", cure="give a unit vector")


def check_rotor(motor: Motor, body: str, inertia: Inertia, axis: Scalars) -> None:
    """Raise if a rotor has more inertia than the link that it is part of: what is left would be negative.

    I - J a a^T has no negative eigenvalue if J a^T I^-1 a <= 1. Directions in which the link has no inertia, as rods
    and points have none, are left out: there it has been idealised.

    Args:
        motor: a gyroscopic one.
        body: of the link that carries it.
        inertia: of that link, less other rotors.
        axis: a, of the spin, in the link's frame.
    """
    numbers = (inertia.mass, *inertia.h, *inertia.J, motor.rotor_inertia, *axis)
    if not all(is_constant(x) for x in numbers) or inertia.mass == 0:
        return
    moments, axes = np.linalg.eigh(np.array([*inertia.about_com().full()], dtype=float).reshape(3, 3))
    along = axes.T @ np.array(axis, dtype=float)
    has_some = moments > NOTHING * float(inertia.J.xx + inertia.J.yy + inertia.J.zz)
    inverse = float((along[has_some] ** 2 / moments[has_some]).sum())
    if motor.rotor_inertia * inverse > 1 + NOTHING:
        raise RobotError(
            f"the rotor of gyroscopic motor {motor.name!r} has {motor.rotor_inertia:.4g} kg m^2, more than the link it "
            f"is part of, body {body!r} and what is fixed to it: that has {1 / inverse:.4g} kg m^2 about the rotor's "
            "axis, less other rotors; give the rotor_inertia before the gear, or the body more inertia"
        )


def check_motor_values(name: str, values: dict[str, Any]) -> None:
    """Raise if a motor has no attribute of one of these names."""
    known = [f.name for f in fields(Motor) if f.name not in ("name", "joint")]
    for key in values:
        if key not in known:
            raise RobotError(unknown_name("attribute", key, known, f"motor {name!r}"))


def check_joint(joint: Joint) -> None:
    """Raise if what takes one degree of freedom is on a joint with more, or a value is impossible."""
    subject, nv = f"joint {joint.name!r}", joint.kind.nv
    for what in ("stiffness", "hardening", "damping", "friction", "armature"):
        per_entry(subject, what, getattr(joint, what), nv, least=0)
        check_finite(f"{what} of {subject}", *getattr(joint, what))
    for what in ("rest", "restitution", "backlash"):
        check_finite(f"{what} of {subject}", getattr(joint, what))
        per_entry(subject, what, getattr(joint, what), 1, least=-math.inf if what == "rest" else 0)
    for law in joint.law:
        if law is not None and not callable(law):
            raise RobotError(f"law of the spring of {subject} is {law!r}; give a function of the deflection")
        if law is not None:
            check_law(subject, law)
    if is_constant(joint.restitution) and joint.restitution > 1:
        problem = f"restitution of {subject} is {joint.restitution}"
        raise RobotError(problem, subject=subject, field="restitution", cure="it must be at most 1")
    if has_spring(joint) and nv != 1 and joint.kind.name not in ("spherical", "free"):
        raise RobotError(f"{subject} is {joint.kind.name}; springs are at joints with one dof, spherical and free ones")
    used = [what for what in ("restitution", "is_locked", "backlash", "rest") if not _is_zero(getattr(joint, what))]
    if used and nv != 1:
        raise RobotError(f"{subject} is {joint.kind.name}; {used[0]} takes a joint with one degree of freedom")
    if has_play(joint) and not has_spring(joint):
        raise RobotError(f"{subject} has backlash but no spring; give it stiffness, or limits for play between stops")


def _is_zero(x: Scalar) -> bool:
    return is_constant(x) and x == 0


def check_closure(closure: Closure, robot: "Robot") -> None:
    """Raise if the closure's kind or frames are unknown, or its length is impossible."""
    subject = f"closure {closure.name!r}"
    kinds = ("point", "weld", "distance")
    if closure.kind not in kinds:
        raise RobotError(unknown_name("kind of closure", closure.kind, kinds, subject))
    _check_ends(subject, closure.a, closure.b, robot)
    if closure.kind == "distance":
        check_finite(f"length of {subject}", closure.length)
        if is_constant(closure.length) and not closure.length > 0:
            raise RobotError(f"length of {subject} is {closure.length} m; it must be above zero, or use kind 'point'")


def check_spring(spring: FrameSpring, robot: "Robot") -> None:
    """Raise if the spring's frames are unknown or its values impossible."""
    subject = f"spring {spring.name!r}"
    _check_ends(subject, spring.a, spring.b, robot)
    for what in ("stiffness", "damping", "length"):
        value = getattr(spring, what)
        check_finite(f"{what} of {subject}", value)
        per_entry(subject, what, value, 1, least=0)


def _check_ends(subject: str, a: str, b: str, robot: "Robot") -> None:
    if robot.frame(a).body == robot.frame(b).body:
        raise RobotError(f"both ends of {subject}, {a!r} and {b!r}, are on body {robot.frame(a).body!r}")


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
