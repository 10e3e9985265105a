"""Values of the parts of a robot, as users give them: checked, and in the form that the code wants. Symbols pass."""

import math
from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.checks import (
    as_scalar, check, check_at_least, check_callable, check_finite, check_known, check_one_of, check_share, entries,
    is_sequence, is_zero, numbers, one_for_each, per_entry,
)  # fmt: skip
from pliant.errors import Call, Fault, PliantError, RobotError, bad_value
from pliant.robot.joints import JointKind, Scalars, snapped
from pliant.robot.model import CONTROLS, PER_DOF, Closure, FrameSpring, Joint, Law, Limits, Motor, MotorLaw, Named
from pliant.scalar import Expr, Graph, Scalar, is_constant
from pliant.scalar.evaluation import interpret, nodes_of, tangents
from pliant.spatial import MatrixRotation, Symmetric3, Transform, Vector, rotation_from_rpy

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


# files print six digits or so: thin plates and rods miss the triangle inequality by that much
TOLERANCE = 1e-6


def wrong(subject: str, field: str, problem: str, cure: str, call: Call | None = None) -> RobotError:
    """The error of a part of a robot; see `Fault`."""
    return RobotError(problem, subject=subject, field=field, cure=cure, call=call)


# ---- places and axes


def vector(name: str, values: Scalars, *, subject: str) -> Vector:
    """Three finite numbers as a vector, exact zeros and ones as integers."""
    found = entries(name, values, "three numbers", subject=subject)
    if len(found) != 3:
        raise wrong(subject, name, f"{name} of {subject} has {len(found)} entries", "it takes three")
    check_finite(name, *found, subject=subject)
    return Vector(*(snapped(x, 0) for x in found))


def placement(position: Scalars, rpy: Scalars, *, subject: str) -> Transform:
    """The pose at a position [m] with roll, pitch and yaw [rad]."""
    p, angles = vector("position", position, subject=subject), vector("rpy", rpy, subject=subject)
    if is_zero(*angles):
        return Transform(MatrixRotation.identity(), p)
    return Transform(rotation_from_rpy(*angles), p)


def normalised_axis(subject: str, kind: JointKind) -> tuple[JointKind, str | None]:
    """The kind with an axis of unit length, and a remark if it was not."""
    axis: Scalars | None = getattr(kind, "axis", None)
    if axis is None:
        return kind, None
    vector("axis", axis, subject=subject)
    if not all(map(is_constant, axis)):
        return kind, None
    length = math.hypot(*axis)
    if length == 0:
        raise RobotError(bad_value("axis", (0, 0, 0), "a direction", subject))
    unit = replace(kind, axis=tuple(snapped(a / length) for a in axis))  # type: ignore[type-var]
    return unit, f"axis of length {length:.6g} normalised" if abs(length - 1) > TOLERANCE else None


# ---- limits


def full_limits(subject: str, limits: Any, kind: JointKind) -> Limits:
    """`Limits` with a number for each entry, from `Limits` or a pair (lower, upper)."""
    if not isinstance(limits, Limits):
        is_pair = is_sequence(limits) and len(limits) == 2
        check("limits", limits, "a pair (lower, upper), or Limits(...)", is_pair, subject=subject, error=RobotError)
        limits = Limits(*limits)
    sizes = {"lower": kind.nq, "upper": kind.nq, "velocity": kind.nv, "effort": kind.nv}
    full = {key: per_entry(f"{key} limit", getattr(limits, key), n, subject=subject) for key, n in sizes.items()}
    return Limits(**full)


def crossed_limits(joint: Joint) -> Fault | None:
    """The fault of a lower limit that is above its upper one."""
    for low, high in zip(joint.limits.lower, joint.limits.upper, strict=True):
        if is_constant(low) and is_constant(high) and low > high:
            problem = f"the lower limit {low} is above the upper one {high}"
            return Fault(problem, f"joint {joint.name!r}", "limits", "swap them")
    return None


# ---- motors


def motor_values(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Values of a motor by the names of its attributes; raises on other names."""
    known = [f.name for f in fields(Motor) if f.name not in ("name", "joint")]
    for key in values:
        check_known("attribute", key, known, f"motor {name!r}", error=RobotError)
    return {key: as_scalar(value) for key, value in values.items()}


MOTOR_NUMBERS = (
    "rotor_inertia", "kp", "kd", "viscous_friction", "dry_friction", "command_delay", "command_period",
    "static_friction", "stribeck_speed", "bristle_stiffness", "bristle_damping", "resistance", "inductance",
    "thermal_resistance", "thermal_capacity", "cogging", "ripple_periods",
)  # fmt: skip
"""Numbers of a motor that are finite and not negative."""


def check_inner_motor(motor: Motor, fault: Callable[..., RobotError]) -> None:
    """Raise if values of a motor's friction, winding, temperature or law do not go together.

    Args:
        fault: makes the error, of a problem, a field, a cure, and values that cure it.
    """
    subject = f"motor {motor.name!r}"
    for what in ("supply_voltage", "current_limit"):
        per_entry(what, getattr(motor, what), 1, subject=subject, least=0)
    for what in ("torque_constant", "ambient_temperature"):
        check_finite(what, getattr(motor, what), subject=subject)
    check_share("ripple", motor.ripple, "a share of the torque, 0 to 1", subject=subject, error=RobotError)

    def needs(what: str, other: str, example: Any) -> None:
        if not is_zero(getattr(motor, what)) and is_zero(getattr(motor, other)):
            problem = f"{subject} has {what} but {other} = 0"
            raise fault(problem, other, "give it, as in {call}", **{other: example})

    def limits(what: str, other: str, example: Any) -> None:
        value = getattr(motor, what)
        if not (is_constant(value) and value == math.inf) and is_zero(getattr(motor, other)):
            problem = f"{subject} has {what} but {other} = 0"
            raise fault(problem, other, "give it, as in {call}", **{other: example})

    def is_below(a: Scalar, b: Scalar) -> bool:
        return is_constant(a) and is_constant(b) and a < b

    # friction
    needs("static_friction", "stribeck_speed", 0.05)
    if not is_zero(motor.static_friction) and is_below(motor.static_friction, motor.dry_friction):
        problem = f"static_friction of {subject} is {motor.static_friction:g}, below its dry_friction"
        raise fault(problem, "static_friction", f"give {motor.dry_friction:g} or more, or leave it out")
    needs("bristle_damping", "bristle_stiffness", 1e4)
    if not is_zero(motor.bristle_stiffness) and is_zero(motor.dry_friction, motor.static_friction):
        problem = f"{subject} has bristle_stiffness but no dry friction that bends"
        raise fault(problem, "dry_friction", "give it, as in {call}", dry_friction=0.1)

    # winding
    needs("torque_constant", "resistance", 0.5)
    for what in ("resistance", "inductance"):
        needs(what, "torque_constant", 0.05)
    for what in ("supply_voltage", "current_limit"):
        limits(what, "torque_constant", 0.05)
    if motor.control == "voltage" and motor.law is None and is_zero(motor.torque_constant):
        cure = "give it a winding, as in {call}"
        raise fault(f"{subject} has voltage control but no torque_constant", "torque_constant", cure,
                    torque_constant=0.05, resistance=0.5)  # fmt: skip
    both = (motor.no_load_speed, motor.supply_voltage)
    if not any(is_constant(x) and x == math.inf for x in both):
        problem = f"{subject} has a no_load_speed and a supply_voltage, which sets that speed"
        raise fault(problem, "no_load_speed", "leave one of them out")

    # temperature
    needs("thermal_capacity", "torque_constant", 0.05)
    needs("thermal_capacity", "thermal_resistance", 2.0)
    needs("thermal_resistance", "thermal_capacity", 40.0)
    limits("temperature_limit", "thermal_capacity", 40.0)
    start, end = motor.derating_temperature, motor.temperature_limit
    if is_constant(start) and is_constant(end) and (start < math.inf or end < math.inf) and not start < end < math.inf:
        problem = f"{subject} is derated from {start:g} to {end:g} degrees Celsius"
        cure = "give both, the lower one first, as in {call}"
        raise fault(problem, "derating_temperature", cure, derating_temperature=80, temperature_limit=120)
    has_limit = not all(is_constant(x) and x == math.inf for x in (motor.effort_limit, motor.current_limit))
    if not (is_constant(end) and end == math.inf) and not has_limit:
        problem = f"{subject} is derated, but has no limit of torque or current that could fall"
        raise fault(problem, "current_limit", "give one, as in {call}", current_limit=20)

    # ripple
    for what in ("ripple", "cogging"):
        needs(what, "ripple_periods", 6)
    if isinstance(motor.law, MotorLaw):
        check_callable("law", motor.law.function, "u", "q", "v", "t", "memory", error=RobotError)
        memory = numbers(f"memory of the law of {subject}", motor.law.memory)
        is_row = memory.ndim == 1 and len(memory) > 0 and bool(np.isfinite(memory).all())
        check("memory of the law", motor.law.memory, "finite numbers", is_row, subject=subject, error=RobotError)


def transmission_couplings(
    robot: "Robot", motors: Any, joints: Any, matrix: Any
) -> tuple[list[str], list[tuple[tuple[str, Scalar], ...]]]:  # fmt: skip
    """The motors, and the joints with their ratios for each; arguments as in `Robot.with_transmission`."""
    subject = "the transmission"
    for what, given, known in (("motors", motors, robot.motors), ("joints", joints, robot.joints)):
        is_several = is_sequence(given) and len(given) > 0 and all(isinstance(name, str) for name in given)
        check(what, given, f"names of {what}, in a list", is_several, subject=subject, error=RobotError)
        for name in given:
            known[name]  # raises with the names that there are
    rows = [list(row) if is_sequence(row) or isinstance(row, np.ndarray) else [row] for row in matrix]
    if len(rows) != len(motors) or any(len(row) != len(joints) for row in rows):
        shape = f"{len(rows)} rows of {', '.join(str(len(row)) for row in rows)}"
        cure = f"give {len(motors)} rows, one for each motor, of {len(joints)} ratios, one for each joint"
        raise wrong(subject, "matrix", f"the matrix of {subject} has {shape}", cure)
    named = [[(j, as_scalar(r)) for j, r in zip(joints, row, strict=True)] for row in rows]
    return list(motors), [tuple((j, r) for j, r in row if not is_zero(r)) for row in named]


def check_coupling(motor: Motor, joints: Named[Joint], fault: Callable[..., RobotError]) -> None:
    """Raise if a motor cannot drive the joints of its coupling; ``fault`` as in `check_inner_motor`."""
    subject, coupling = f"motor {motor.name!r}", motor.coupling
    if coupling is None:
        return
    is_pairs = is_sequence(coupling) and all(is_sequence(pair) and len(pair) == 2 for pair in coupling)
    takes = "pairs of a joint and its ratio, as in (('hip', 1), ('knee', 1))"
    check("coupling", coupling, takes, is_pairs and len(coupling) > 0, subject=subject, error=RobotError)
    names = [joint for joint, _ in coupling]
    for name, ratio in coupling:
        kind = joints[name].kind
        if kind.nv != 1:
            cure = "motors drive joints with one degree of freedom"
            raise fault(f"{subject} cannot drive the {kind.name} joint {name!r}, of {kind.nv} dofs", "coupling", cure)
        if names.count(name) > 1:
            raise fault(f"the coupling of {subject} has joint {name!r} twice", "coupling", "name each joint once")
        check_finite("coupling", ratio, subject=subject)
    if is_zero(*(ratio for _, ratio in coupling)):
        raise fault(f"no joint turns {subject}", "coupling", "give a joint a ratio that is not 0")
    if motor.joint not in names:
        cure = f"name one of {', '.join(map(repr, names))} as its joint"
        raise fault(f"the coupling of {subject} leaves out its own joint {motor.joint!r}", "coupling", cure)
    if motor.gyroscopic:
        cure = "leave gyroscopic out, or the coupling"
        raise fault(f"the rotor of {subject} has no one joint to follow", "gyroscopic", cure)
    if is_zero(motor.bristle_stiffness) and not is_zero(motor.dry_friction, motor.static_friction):
        problem = f"{subject} drives several joints, and its dry friction sticks rigidly"
        cure = "let it bend a little before it slides, as in {call}"
        raise fault(problem, "bristle_stiffness", cure, bristle_stiffness=1e4)


def check_motor(motor: Motor, joints: Named[Joint]) -> None:
    """Raise if the motor cannot drive its joint, or has an impossible value."""
    kind = joints[motor.joint].kind
    subject = f"motor {motor.name!r}"

    def fault(problem: str, field: str, cure: str, **example: Any) -> RobotError:
        return wrong(subject, field, problem, cure, Call("with_motor", motor.joint, example) if example else None)

    if kind.nv != 1:
        cure = "motors drive joints with one degree of freedom"
        raise fault(f"{subject} cannot drive the {kind.name} joint {motor.joint!r}, of {kind.nv} dofs", "joint", cure)
    check_finite("gear", motor.gear, subject=subject)
    for what in MOTOR_NUMBERS:
        check_at_least(what, getattr(motor, what), 0, subject=subject, error=RobotError)
    for what in ("effort_limit", "velocity_limit"):
        per_entry(what, getattr(motor, what), 1, subject=subject, least=0)
    if is_zero(motor.gear):
        problem = f"gear of {subject} is 0, so its rotor turns without the joint"
        raise fault(problem, "gear", "give its ratio, as in {call}", gear=9)
    per_entry("no_load_speed", motor.no_load_speed, 1, subject=subject)
    is_possible = not is_constant(motor.no_load_speed) or motor.no_load_speed > 0
    check("no_load_speed", motor.no_load_speed, "a number above 0", is_possible, subject=subject, error=RobotError)
    if motor.rotor_axis is not None:
        axis = vector("rotor_axis", motor.rotor_axis, subject=subject)
        if all(map(is_constant, axis)) and abs(math.hypot(*axis) - 1) > TOLERANCE:
            problem = f"rotor_axis of {subject} has length {math.hypot(*axis):.6g}"
            raise fault(problem, "rotor_axis", "give a unit vector")
    elif motor.gyroscopic and kind.name == "prismatic":
        cure = "give the axis about which the rotor spins, {call}"
        raise fault(f"{subject} is gyroscopic on a prismatic joint", "rotor_axis", cure, rotor_axis="...")
    check_one_of("control", motor.control, CONTROLS, subject=subject, error=RobotError)
    if motor.control == "position" and is_zero(motor.kp):
        raise fault(f"{subject} has position control but kp = 0", "kp", "give it gains, as in {call}", kp=80, kd=2)
    if motor.control == "velocity" and is_zero(motor.kd):
        raise fault(f"{subject} has velocity control but kd = 0", "kd", "give it a gain, as in {call}", kd=2)
    is_law = motor.law is None or callable(motor.law) or isinstance(motor.law, MotorLaw)
    check("law", motor.law, "a function (u, q, v, t) -> torque", is_law, subject=subject, error=RobotError)
    if motor.law is not None and not isinstance(motor.law, MotorLaw):
        check_callable(f"law of {subject}", motor.law, "u", "q", "v", "t", error=RobotError)
    check_inner_motor(motor, fault)
    check_coupling(motor, joints, fault)


def with_motors(motors: Named[Motor], joints: Named[Joint], names: Any, values: dict[str, Any]) -> Named[Motor]:
    """The motors, of which some have other values; arguments as in `Robot.with_motors`."""
    chosen = motors.chosen(names)
    motor_values(chosen[0] if chosen else "", values)
    columns = {key: one_for_each(f"{key} of the motors", value, len(chosen)) for key, value in values.items()}
    for k, name in enumerate(chosen):
        motor = replace(motors[name], **{key: column[k] for key, column in columns.items()})
        check_motor(motor, joints)
        motors = motors.replaced(motor)
    return motors


# ---- joints, closures, springs


def with_values(joint: Joint, subject: str = "", *, limits: Any = None, law: Any = None, **values: Any) -> Joint:
    """A copy of a joint with other values, checked: one for all dofs or one for each; None leaves them."""
    subject, nv = subject or f"joint {joint.name!r}", joint.kind.nv
    changes: dict[str, Any] = {
        key: per_entry(key, value, nv, subject=subject, least=0) if key in PER_DOF else as_scalar(value)
        for key, value in values.items()
        if value is not None
    }
    if law is not None:
        changes["law"] = tuple(one_for_each(f"law of {subject}", law, nv))
    if limits is not None:
        changes["limits"] = full_limits(subject, limits, joint.kind)
    changed = replace(joint, **changes)
    check_joint(changed, subject)
    return changed


def edited_joint(joint: Joint, values: dict[str, Any]) -> Joint:
    """A copy of a joint with other values, which must do something; see `Robot.with_joint`."""
    subject = f"joint {joint.name!r}"
    given = [key.removeprefix("is_") for key, value in values.items() if value is not None]
    if given and joint.kind.nv == 0:
        call = Call("with_flexibility", joint.name, {"stiffness": (10000, 10000, 10000)})
        cure = "leave it out, or make the joint flexible: {call}"
        raise wrong(subject, given[0], f"{given[0]} of {subject} would do nothing: it is fixed", cure, call)
    changed = with_values(joint, **values)
    fault = crossed_limits(changed)
    if fault and "limits" in given:
        raise RobotError(fault).within(subject)
    return changed


def check_joint(joint: Joint, subject: str = "") -> None:
    """Raise if a value that needs one degree of freedom is on a joint with more, or a value is impossible."""
    subject, nv = subject or f"joint {joint.name!r}", joint.kind.nv
    for what in PER_DOF:
        per_entry(what, getattr(joint, what), nv, subject=subject, least=0)
        check_finite(what, *getattr(joint, what), subject=subject)
    check_finite("rest", joint.rest, subject=subject)
    for what in ("restitution", "backlash"):
        check_at_least(what, getattr(joint, what), 0, subject=subject, error=RobotError)
    is_possible = not is_constant(joint.restitution) or joint.restitution <= 1
    check("restitution", joint.restitution, "0 to 1", is_possible, subject=subject, error=RobotError)
    is_flag = isinstance(joint.is_locked, bool | np.bool_)
    check("locked", joint.is_locked, "True or False", is_flag, subject=subject, error=RobotError)
    for law in joint.law:
        if law is not None:
            takes = "a function of the deflection"
            check("law", law, takes, callable(law), subject=f"the spring of {subject}", error=RobotError)
            _check_law(subject, law)
    if joint.has_spring and nv != 1 and joint.kind.name not in ("spherical", "free"):
        cure = "springs are at joints with one degree of freedom, spherical and free ones"
        raise wrong(subject, "stiffness", f"{subject} is {joint.kind.name}", cure)
    used = [what for what in ("restitution", "is_locked", "backlash", "rest") if not is_zero(getattr(joint, what))]
    if used and nv != 1:
        field = used[0].removeprefix("is_")
        cure = f"{field} takes a joint with one degree of freedom"
        raise wrong(subject, field, f"{subject} is {joint.kind.name}", cure)
    if joint.has_backlash and not joint.has_spring:
        cure = "give it stiffness, or limits for free travel"
        raise wrong(subject, "stiffness", f"{subject} has backlash but no spring", cure)


CLOSURES = ("point", "hinge", "weld", "distance")
"""Kinds of closures."""


def checked_closure(closure: Closure, robot: "Robot") -> Closure:
    """The closure, its axis of unit length; raises if its kind or frames are unknown, its length or axis impossible."""
    subject = f"closure {closure.name!r}"
    check_known("kind of closure", closure.kind, CLOSURES, subject, error=RobotError)
    _check_ends(subject, closure.a, closure.b, robot)
    axis = tuple(vector("axis", closure.axis, subject=subject))
    if all(map(is_constant, axis)):
        length = math.hypot(*axis)
        check("axis", axis, "a direction", length > 0, subject=subject, error=RobotError)
        closure = replace(closure, axis=tuple(snapped(x / length) for x in axis))
    if closure.kind == "distance":
        check_finite("length", closure.length, subject=subject)
        is_possible = not is_constant(closure.length) or closure.length > 0
        takes = "a number above 0 [m]; for 0 use kind 'point'"
        check("length", closure.length, takes, is_possible, subject=subject, error=RobotError)
    return closure


def check_spring(spring: FrameSpring, robot: "Robot") -> None:
    """Raise if the spring's frames are unknown or its values impossible."""
    subject = f"spring {spring.name!r}"
    _check_ends(subject, spring.a, spring.b, robot)
    for what in ("stiffness", "damping", "length"):
        check_at_least(what, getattr(spring, what), 0, subject=subject, error=RobotError)


def _check_ends(subject: str, a: str, b: str, robot: "Robot") -> None:
    if robot.frame(a).body == robot.frame(b).body:
        problem = f"both ends of {subject}, {a!r} and {b!r}, are on body {robot.frame(a).body!r}"
        raise wrong(subject, "frames", problem, "take frames on two bodies")


# ---- laws of springs


def law_and_slope(law: Law, x: Scalar) -> tuple[Scalar, Scalar]:
    """A law at a deflection x, and its derivative there, in the scalars of x."""
    value, slope = _of(law)
    nodes = [e for e in (value, slope) if isinstance(e, Expr)]
    found = iter(interpret(nodes, {"x": x}))
    return tuple(next(found) if isinstance(e, Expr) else e for e in (value, slope))  # type: ignore[return-value]


def _check_law(subject: str, law: Law) -> None:
    """Raise unless a law can be traced and is finite, and so is its slope, where the spring is at rest."""
    try:
        _of(law)
        at_rest: tuple[Any, ...] = law_and_slope(law, 0.0)
        for what, x in zip(("it", "its slope"), at_rest, strict=True):
            if not (is_constant(x) and np.isfinite(x)):
                problem = f"law of a spring: {what} is {x} at rest, for a deflection of 0"
                raise RobotError(problem, subject=subject, field="law", cure="make it finite there")
    except PliantError as error:
        raise error.within(subject) from None


def law_text(law: Law) -> str:
    """What a law computes, as text: equal for laws that compute alike, whatever they are called."""
    value, _ = _of(law)
    if not isinstance(value, Expr):
        return repr(value)
    nodes = nodes_of([value])
    places = {node.index: k for k, node in enumerate(nodes)}
    own = [getattr(node.value, "digest", node.value) for node in nodes]
    return repr([(n.op, x, *(places[a.index] for a in n.args)) for n, x in zip(nodes, own, strict=True)])


def _of(law: Law) -> tuple[Scalar, Scalar]:
    return _traced(law) if isinstance(law, Hashable) else _traced.__wrapped__(law)


@cache
def _traced(law: Law) -> tuple[Scalar, Scalar]:
    x = Graph().input("x")
    takes = "it takes one deflection and returns one force"
    try:
        value = law(x)
    except PliantError as error:
        raise error.within("law of a spring") from None
    except Exception as error:  # whatever a user's function does
        cure = "make its force finite for every deflection" if isinstance(error, ArithmeticError) else takes
        raise RobotError(f"law of a spring: {type(error).__name__}: {error}", field="law", cure=cure) from error
    if isinstance(value, Expr):
        return value, tangents([value], {x: 1})[0]
    if not is_constant(value):
        raise RobotError(f"law of a spring returned {value!r}", field="law", cure=takes)
    return value, 0


# ---- inertias


def impossible_inertia(tensor: Symmetric3) -> str | None:
    """Why no body has this tensor about its centre of mass, or None if one has.

    Principal moments obey the triangle inequality: the second moments of mass, 1/2 tr(I) 1 - I, are
    not negative.
    """
    if not all(is_constant(e) for e in tensor):
        return None
    second, _ = np.linalg.eigh(second_moments(tensor))
    if second[0] >= -TOLERANCE * abs(second).max():
        return None
    moments = second.sum() - second[::-1]
    shown = ", ".join(f"{m if abs(m) > TOLERANCE * abs(moments).max() else 0:.4g}" for m in moments)
    law = "are not positive" if moments[0] < -TOLERANCE * moments[-1] else "break the triangle inequality"
    return f"principal moments of inertia ({shown}) kg m^2 {law}"


def repaired_inertia(tensor: Symmetric3) -> Symmetric3:
    """The tensor of the nearest distribution of mass: negative second moments become zero."""
    second, axes = np.linalg.eigh(second_moments(tensor))
    return tensor_of((axes * second.clip(0)) @ axes.T)


def tensor_of(second: np.ndarray) -> Symmetric3:
    """tr(S) 1 - S, of the second moments S of mass."""
    tensor = np.trace(second) * np.eye(3) - second
    return Symmetric3(*(float(tensor[r, c]) for r in range(3) for c in range(r, 3)))


def second_moments(tensor: Symmetric3) -> np.ndarray:
    """1/2 tr(I) 1 - I, the second moments of mass of a tensor I, (3, 3)."""
    full = np.array(tuple(tensor.full()), dtype=float).reshape(3, 3)
    return np.trace(full) / 2 * np.eye(3) - full
