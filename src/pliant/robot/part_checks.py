"""Checks of the parts of a robot: limits, motors, joints, closures, springs and inertias. Symbols pass."""

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import check, check_at_least, check_finite, check_one_of, is_sequence, per_entry
from pliant.errors import Call, Fault, RobotError, bad_value, unknown_name
from pliant.robot.joints import JointKind, Scalars
from pliant.robot.model import CONTROLS, Closure, FrameSpring, Joint, Limits, Motor, Named
from pliant.robot.placement import snapped, vector
from pliant.robot.springs import check_law, has_backlash, has_spring
from pliant.scalar import is_constant
from pliant.spatial import Inertia, Symmetric3

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = [
    "check_closure", "check_joint", "check_limits", "check_motor", "check_motor_values", "check_rotor", "check_spring",
    "crossed_limits", "full_limits", "impossible_inertia", "normalised_axis", "repaired_inertia",
]  # fmt: skip

Scalar = Any

# files print six digits or so: thin plates and rods miss the triangle inequality by that much
TOLERANCE = 1e-6

# moments of inertia this small next to those about the joint are none
NOTHING = 1e-9


# ---- limits


def full_limits(subject: str, limits: Any, kind: JointKind) -> Limits:
    """`Limits` with a number for each entry, from `Limits`, a pair (lower, upper) or None."""
    if limits is None:
        limits = Limits()
    elif not isinstance(limits, Limits):
        if not is_sequence(limits) or len(limits) != 2:
            raise RobotError(bad_value("limits", limits, "a pair (lower, upper), or Limits(...)", subject))
        limits = Limits(*limits)
    return Limits(
        per_entry("lower limit", limits.lower, kind.nq, subject=subject),
        per_entry("upper limit", limits.upper, kind.nq, subject=subject),
        per_entry("velocity limit", limits.velocity, kind.nv, subject=subject),
        per_entry("effort limit", limits.effort, kind.nv, subject=subject),
    )


def crossed_limits(subject: str, limits: Limits) -> Fault | None:
    """The fault of a lower limit that is above its upper one."""
    for low, high in zip(limits.lower, limits.upper, strict=True):
        if is_constant(low) and is_constant(high) and low > high:
            return Fault(f"the lower limit {low} is above the upper one {high}", subject, "limits", "swap them")
    return None


def check_limits(subject: str, limits: Limits) -> None:
    """Raise if a lower limit is above its upper one."""
    fault = crossed_limits(subject, limits)
    if fault:
        raise RobotError(fault).within(subject)


# ---- motors


def check_motor(motor: Motor, joints: Named[Joint]) -> None:
    """Raise if the motor cannot drive its joint, or has an impossible value."""
    kind = joints[motor.joint].kind
    subject = f"motor {motor.name!r}"

    def fault(problem: str, field: str, cure: str, **example: Any) -> RobotError:
        call = Call("with_motor", motor.joint, example) if example else None
        return RobotError(problem, subject=subject, field=field, cure=cure, call=call)

    if kind.nv != 1:
        cure = "motors drive joints with one degree of freedom"
        raise fault(f"{subject} cannot drive the {kind.name} joint {motor.joint!r}, of {kind.nv} dofs", "joint", cure)
    for what in ("gear", "rotor_inertia", "kp", "kd", "viscous_friction", "dry_friction"):
        check_finite(what, getattr(motor, what), subject=subject)
    for what in (
        "rotor_inertia", "effort_limit", "velocity_limit", "kp", "kd", "viscous_friction", "dry_friction",
    ):  # fmt: skip
        per_entry(what, getattr(motor, what), 1, subject=subject, least=0)
    if _is_zero(motor.gear):
        problem = f"gear of {subject} is 0, so its rotor turns without the joint"
        raise fault(problem, "gear", "give its ratio, as in {call}", gear=9)
    per_entry("no_load_speed", motor.no_load_speed, 1, subject=subject)
    is_possible = not is_constant(motor.no_load_speed) or motor.no_load_speed > 0
    check("no_load_speed", motor.no_load_speed, "a number above 0", is_possible, subject=subject, error=RobotError)
    if motor.rotor_axis is not None:
        _check_unit("rotor_axis", motor.rotor_axis, subject)
    if motor.gyroscopic and motor.rotor_axis is None and kind.name == "prismatic":
        cure = "give the axis about which the rotor spins, {call}"
        raise fault(f"{subject} is gyroscopic on a prismatic joint", "rotor_axis", cure, rotor_axis="...")
    check_one_of("control", motor.control, CONTROLS, subject=subject, error=RobotError)
    if motor.control == "position" and _is_zero(motor.kp):
        raise fault(f"{subject} has position control but kp = 0", "kp", "give it gains, as in {call}", kp=80, kd=2)
    if motor.control == "velocity" and _is_zero(motor.kd):
        raise fault(f"{subject} has velocity control but kd = 0", "kd", "give it a gain, as in {call}", kd=2)
    is_law = motor.law is None or callable(motor.law)
    check("law", motor.law, "a function (u, q, v, t) -> torque", is_law, subject=subject, error=RobotError)


def _check_unit(name: str, axis: Scalars, subject: str) -> None:
    vector(name, axis, subject=subject)
    if all(is_constant(a) for a in axis) and abs(math.hypot(*axis) - 1) > TOLERANCE:
        problem = f"{name} of {subject} has length {math.hypot(*axis):.6g}"
        raise RobotError(problem, subject=subject, field=name, cure="give a unit vector")


def check_rotor(motor: Motor, body: str, inertia: Inertia, axis: Scalars) -> None:
    """Raise if a rotor has more inertia than the link that it is part of: the rest would be negative.

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
            f"is part of, body {body!r} and bodies fixed to it: that has {1 / inverse:.4g} kg m^2 about the rotor's "
            "axis, less other rotors",
            subject=f"motor {motor.name!r}",
            field="rotor_inertia",
            cure="give the rotor_inertia before the gear, or the body more inertia",
        )


def check_motor_values(name: str, values: dict[str, Any]) -> None:
    """Raise unless all these names are attributes of a motor."""
    known = [f.name for f in fields(Motor) if f.name not in ("name", "joint")]
    for key in values:
        if key not in known:
            raise RobotError(unknown_name("attribute", key, known, f"motor {name!r}"))


# ---- joints, closures, springs


def check_joint(joint: Joint) -> None:
    """Raise if a value that needs one degree of freedom is on a joint with more, or a value is impossible."""
    subject, nv = f"joint {joint.name!r}", joint.kind.nv

    def fault(problem: str, field: str, cure: str) -> RobotError:
        return RobotError(f"{subject} {problem}", subject=subject, field=field, cure=cure)

    for what in ("stiffness", "hardening", "damping", "friction", "armature"):
        per_entry(what, getattr(joint, what), nv, subject=subject, least=0)
        check_finite(what, *getattr(joint, what), subject=subject)
    for what in ("rest", "restitution", "backlash"):
        check_finite(what, getattr(joint, what), subject=subject)
        per_entry(what, getattr(joint, what), 1, subject=subject, least=-math.inf if what == "rest" else 0)
    for law in joint.law:
        if law is not None:
            takes = "a function of the deflection"
            check("law", law, takes, callable(law), subject=f"the spring of {subject}", error=RobotError)
            check_law(subject, law)
    is_possible = not is_constant(joint.restitution) or joint.restitution <= 1
    check("restitution", joint.restitution, "0 to 1", is_possible, subject=subject, error=RobotError)
    if has_spring(joint) and nv != 1 and joint.kind.name not in ("spherical", "free"):
        cure = "springs are at joints with one degree of freedom, spherical and free ones"
        raise fault(f"is {joint.kind.name}", "stiffness", cure)
    used = [what for what in ("restitution", "is_locked", "backlash", "rest") if not _is_zero(getattr(joint, what))]
    if used and nv != 1:
        field = used[0].removeprefix("is_")
        raise fault(f"is {joint.kind.name}", field, f"{field} takes a joint with one degree of freedom")
    if has_backlash(joint) and not has_spring(joint):
        raise fault("has backlash but no spring", "stiffness", "give it stiffness, or limits for free travel")


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
        check_finite("length", closure.length, subject=subject)
        is_possible = not is_constant(closure.length) or closure.length > 0
        takes = "a number above 0 [m]; for 0 use kind 'point'"
        check("length", closure.length, takes, is_possible, subject=subject, error=RobotError)


def check_spring(spring: FrameSpring, robot: "Robot") -> None:
    """Raise if the spring's frames are unknown or its values impossible."""
    subject = f"spring {spring.name!r}"
    _check_ends(subject, spring.a, spring.b, robot)
    for what in ("stiffness", "damping", "length"):
        check_at_least(what, getattr(spring, what), 0, subject=subject, error=RobotError)


def _check_ends(subject: str, a: str, b: str, robot: "Robot") -> None:
    if robot.frame(a).body == robot.frame(b).body:
        problem = f"both ends of {subject}, {a!r} and {b!r}, are on body {robot.frame(a).body!r}"
        raise RobotError(problem, subject=subject, field="frames", cure="take frames on two bodies")


# ---- axes and inertias


def normalised_axis(subject: str, kind: JointKind) -> tuple[JointKind, str | None]:
    """The kind with an axis of unit length, and a remark if it was not."""
    axis: Scalars | None = getattr(kind, "axis", None)
    if axis is None:
        return kind, None
    vector("axis", axis, subject=subject)
    if not all(is_constant(a) for a in axis):
        return kind, None
    length = math.hypot(*axis)
    if length == 0:
        raise RobotError(bad_value("axis", (0, 0, 0), "a direction", subject))
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


def repaired_inertia(tensor: Symmetric3) -> Symmetric3:
    """The tensor of the nearest distribution of mass: negative second moments become zero."""
    second, axes = np.linalg.eigh(_second_moment(tensor))
    clipped = (axes * second.clip(0)) @ axes.T
    repaired = np.trace(clipped) * np.eye(3) - clipped
    return Symmetric3(*(float(repaired[r, c]) for r in range(3) for c in range(r, 3)))


def _second_moment(tensor: Symmetric3) -> np.ndarray:
    full = np.array(tuple(tensor.full()), dtype=float).reshape(3, 3)
    return np.trace(full) / 2 * np.eye(3) - full
