"""A robot as text: table, tree and digest."""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pliant.robot.contacts import ContactShape
from pliant.robot.model import WORLD, Joint
from pliant.robot.part_checks import law_text
from pliant.robot.sensors import Sensor
from pliant.scalar import Scalar, is_constant
from pliant.spatial import Transform

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


def entry_name(joint: str, label: str) -> str:
    """Name of an entry of q or v."""
    return f"{joint}.{label}" if label else joint


def table(robot: "Robot") -> str:
    """Joints and bodies, one a line."""
    head = (
        f"Robot {robot.name!r}: nq = {robot.nq}, nv = {robot.nv}, nu = {robot.nu}, "
        f"{len(robot.bodies)} bodies, {_number(robot.mass)} kg"
    )
    rows = joint_rows(robot)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-" * max(len(line) for line in lines))
    lines += [f"{what}: {', '.join(shown)}" for what, shown in parts_by_kind(robot).items() if shown]
    if len(robot.report):
        lines.append(f"report: {len(robot.report)} remarks, see robot.report")
    return "\n".join([head, *lines])


def joint_rows(robot: "Robot") -> list[tuple[str, ...]]:
    """Head and rows of a table of joints with the bodies that they carry."""
    head = ("joint", "kind", "parent", "body", "q", "v", "limits", "mass [kg]")
    return [head, *(_row(robot, joint) for joint in robot.joints.values())]


def parts_by_kind(robot: "Robot") -> dict[str, list[str]]:
    """What it has beside joints and bodies, in words, by kind."""
    return {
        "motors": list(robot.motors),
        "frames": [name for name in robot.frames if name not in robot.bodies],
        "flexibilities": [_flexibility(robot.joints[f.name]) for f in robot.flexibilities.values()],
        "contacts": [_contact(shape) for shape in robot.contacts.values()],
        "contact pairs": [f"{a} with {b}" for a, b in robot.contact_pairs],
        "sensors": [_sensor(sensor) for sensor in robot.sensors.values()],
    }


def _row(robot: "Robot", joint: Joint) -> tuple[str, ...]:
    q, v = robot.q_slice(joint.name), robot.v_slice(joint.name)
    mass = _number(robot.bodies[joint.child].inertia.mass)
    return (joint.name, _kind(joint), joint.parent, joint.child, _span(q), _span(v), _limits(joint), mass)


def _kind(joint: Joint) -> str:
    axis = getattr(joint.kind, "axis", None)
    words = [joint.kind.name]
    if axis is not None:
        words.append("(" + " ".join(_number(a) for a in axis) + ")")
    if joint.mimic is not None:
        words.append(f"= {_number(joint.mimic.multiplier)} {joint.mimic.joint} + {_number(joint.mimic.offset)}")
    return " ".join(words)


def _span(s: slice) -> str:
    size = s.stop - s.start
    return "" if size == 0 else str(s.start) if size == 1 else f"{s.start}:{s.stop}"


def _limits(joint: Joint) -> str:
    pairs = list(zip(joint.limits.lower, joint.limits.upper, strict=True))
    if all(is_constant(x) and math.isinf(x) for pair in pairs for x in pair):
        return ""
    return " ".join(f"[{_number(low)}, {_number(high)}]" for low, high in pairs)


def _flexibility(joint: Joint) -> str:
    """A flexible joint, and how stiff it is, in the units of its motion."""
    if not joint.has_spring:
        return f"{joint.name} (backlash {_limits(joint)})"
    units = {"prismatic": "N/m", "free": "N/m, N m/rad"}.get(joint.kind.name, "N m/rad")
    dead_zone = f", backlash {_number(joint.backlash)}" if joint.has_backlash else ""
    return f"{joint.name} ({' '.join(_number(k) for k in joint.stiffness)} {units}{dead_zone})"


def _contact(shape: ContactShape) -> str:
    count = len(shape.centers)
    what = shape.kind if shape.kind != "points" else "point" if count == 1 else f"{count} points"
    return f"{shape.name} ({what})"


def _sensor(sensor: Sensor) -> str:
    """A sensor, where it is, and its rate if it has one."""
    where = sensor.at[0] if len(sensor.at) == 1 else f"{len(sensor.at)} places"
    rate = "" if sensor.rate is None else f", {_number(sensor.rate)} Hz"
    return f"{sensor.name} ({sensor.kind} at {where}{rate})"


def _number(x: Scalar) -> str:
    return f"{x:.4g}" if is_constant(x) else str(x)


def tree(robot: "Robot") -> str:
    """The tree, a body a line, with the joint that carries it."""
    children: dict[str, list[Joint]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    lines = [WORLD]
    # a stack, not recursion: chains may be long
    stack = _branches(children, WORLD, "")
    while stack:
        joint, prefix, is_last = stack.pop()
        lines.append(f"{prefix}{'└─ ' if is_last else '├─ '}{joint.child}  ({joint.name}: {_kind(joint)})")
        stack += _branches(children, joint.child, prefix + ("   " if is_last else "│  "))
    return "\n".join(lines)


def _branches(children: dict[str, list[Joint]], body: str, prefix: str) -> list[tuple[Joint, str, bool]]:
    joints = children.get(body, [])
    return [(j, prefix, j is joints[-1]) for j in reversed(joints)]


_MOTOR_WORDS = ("name", "joint", "control", "law", "rotor_axis", "coupling")
# so many numbers of a motor are always part of the digest, the others where they are not as usual
_PLAIN = 10


def digest(robot: "Robot") -> str:
    """SHA-256 over the names and numbers that dynamics sees."""
    return hashlib.sha256("\n".join(_content(robot)).encode()).hexdigest()


def _content(robot: "Robot") -> Iterator[str]:
    yield f"gravity {_exact(robot.gravity)}"
    for body in robot.bodies.values():
        i = body.inertia
        yield f"body {body.name!r} {_exact((i.mass, *i.h, *i.J))}"
    for j in robot.joints.values():
        kind = f"{j.kind.name} {_exact(getattr(j.kind, 'axis', ()))} {_exact((getattr(j.kind, 'pitch', 0),))}"
        limits = (*j.limits.lower, *j.limits.upper, *j.limits.velocity, *j.limits.effort)
        own = (*j.damping, *j.friction, *j.armature, *j.stiffness, *j.hardening, j.backlash, j.rest, j.restitution,
               j.is_locked)  # fmt: skip
        mimic = f"{j.mimic.joint!r} {_exact((j.mimic.multiplier, j.mimic.offset))}" if j.mimic else ""
        yield f"joint {j.name!r} {j.parent!r} {j.child!r} {kind} {_pose(j.placement)} {_exact(limits)} {_exact(own)}"
        yield f"mimic {mimic} law {[law and law_text(law) for law in j.law]!r}"
    for frame in robot.frames.values():
        yield f"frame {frame.name!r} {frame.body!r} {_pose(frame.placement)}"
    for m in robot.motors.values():
        numbers = [f for f in fields(m) if f.name not in _MOTOR_WORDS]
        plain = [getattr(m, f.name) for f in numbers[:_PLAIN]]
        yield f"motor {m.name!r} {m.joint!r} {m.control} {_exact(plain)} {m.law!r} {_exact(m.rotor_axis or ())}"
        for f in numbers[_PLAIN:]:
            value = getattr(m, f.name)
            if not is_constant(value) or value != f.default:
                yield f"{f.name} {_exact((value,))}"
        for joint, ratio in m.coupling or ():
            yield f"coupling {joint!r} {_exact((ratio,))}"
    for c in robot.closures.values():
        axis = f" {_exact(c.axis)}" if c.kind == "hinge" else ""
        yield f"closure {c.name!r} {c.kind} {c.a!r} {c.b!r} {_exact((c.length,))}{axis}"
    for flexibility in robot.flexibilities.values():
        yield f"flexibility {flexibility.name!r} {flexibility.joint!r}"
    for s in robot.springs.values():
        yield f"spring {s.name!r} {s.a!r} {s.b!r} {_exact((s.stiffness, s.damping, s.length))}"
    for shape in robot.contacts.values():
        numbers = [*(x for center in shape.centers for x in center), shape.radius]
        own = " ".join("-" if x is None else _exact((x,)) for x in (shape.friction, shape.restitution))
        yield f"contact {shape.name!r} {shape.body!r} {shape.kind} {_exact(numbers)} {own}"
        if shape.torsion is not None or shape.rolling is not None:
            yield f"moments {' '.join('-' if x is None else _exact((x,)) for x in (shape.torsion, shape.rolling))}"
        if shape.sizes:
            yield f"sizes {_exact(shape.sizes)} axes {_exact(x for axis in shape.axes for x in axis)}"
    for a, b in robot.contact_pairs:
        yield f"contact pair {a!r} {b!r}"


def _pose(X: Transform) -> str:
    return _exact((*X.R.matrix(), *X.p))


def _exact(numbers: Any) -> str:
    # a symbol is itself only: its identity keeps two of one name apart
    return " ".join((float(x) + 0.0).hex() if is_constant(x) else f"{x!r}@{id(x)}" for x in numbers)
