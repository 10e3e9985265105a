"""A robot as plain data, all of it, and back: what a log keeps so that it can be replayed alone."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.meshes.surfaces import Surface
from pliant.recording.formulas import Formula
from pliant.recording.portable import MOTOR_LAW, SPRING_LAW
from pliant.robot import (
    Body,
    Closure,
    ContactShape,
    Finding,
    Flexibility,
    Frame,
    FrameSpring,
    Geometry,
    Joint,
    JointKind,
    Limits,
    Mimic,
    Motor,
    Named,
    Report,
    Robot,
)  # fmt: skip
from pliant.robot.contacts import check_pair, check_shape
from pliant.robot.joints import KINDS
from pliant.robot.model import WORLD
from pliant.robot.part_checks import check_closure, check_joint, check_motor, check_spring
from pliant.spatial import AxisRotation, Inertia, Matrix3, MatrixRotation, Symmetric3, Transform, Vector
from pliant.storage.coding import (
    Coder,
    choice,
    flag,
    many,
    number,
    number_or_numbers,
    optional,
    record,
    text,
    triple,
    whole,
)  # fmt: skip
from pliant.storage.meshes import StoredMesh, stored_surfaces

__all__ = ["LostLaw", "robot_from_plain", "robot_to_plain"]

MAX_BODIES = 20_000


class LostLaw:
    """Stands for a function that could not be stored: the robot can be looked at, and says so if it is to move."""

    def __init__(self, whose: str, name: str):
        self.whose, self.name = whose, name

    def __call__(self, *arguments: Any) -> Any:
        raise PliantError(
            f"{self.whose}: its law {self.name!r} is a function of Python that no log can hold; give the robot its law "
            "again to simulate it"
        )

    def __repr__(self) -> str:
        return f"<lost law {self.name!r} of {self.whose}>"


# ---- numbers in space

_vector = Coder(
    lambda v, where: triple.write(tuple(v), where),
    lambda x, where: Vector(*triple.read(x, where)),
)
_nine, _six = many(number, count=9), many(number, count=6)
_axis_rotation = record(AxisRotation, axis=whole, c=number, s=number)


def _write_rotation(R: Any, where: str) -> Any:
    return _axis_rotation.write(R, where) if isinstance(R, AxisRotation) else _nine.write(tuple(R.matrix()), where)


def _read_rotation(x: Any, where: str) -> Any:
    if not isinstance(x, Mapping):
        return MatrixRotation(Matrix3(_nine.read(x, where)))
    found = _axis_rotation.read(x, where)
    if found.axis not in (0, 1, 2):
        raise PliantError(f"{where}: axis {found.axis} is none of 0, 1 and 2")
    return found


_pose = record(Transform, R=Coder(_write_rotation, _read_rotation), p=_vector)
_symmetric = Coder(lambda J, where: _six.write(tuple(J), where), lambda x, where: Symmetric3(*_six.read(x, where)))
_inertia = record(Inertia, mass=number, h=_vector, J=_symmetric)


# ---- joints and motors


def _write_kind(kind: JointKind, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": kind.name}
    for what, coder in (("axis", triple), ("pitch", number)):
        if hasattr(kind, what):
            found[what] = coder.write(getattr(kind, what), f"{where}.{what}")
    return found


def _read_kind(x: Any, where: str) -> JointKind:
    name = x.get("kind") if isinstance(x, Mapping) else None
    if name not in KINDS:
        raise PliantError(f"{where}: there is no kind of joint {name!r}; there are {', '.join(KINDS)}")
    own = {what: coder.read(x[what], f"{where}.{what}") for what, coder in (("axis", triple), ("pitch", number))
           if what in x and hasattr(KINDS[name], what)}  # fmt: skip
    return KINDS[name](**own)


def _law(inputs: Sequence[str]) -> Coder:
    """A generic function, as the formula that it computes; one that cannot be traced is lost, by name."""

    def write(law: Any, where: str) -> dict[str, Any]:
        try:
            formula = law if isinstance(law, Formula) else Formula.of(law, inputs)
        except Exception as error:  # whatever a user's function does
            return {
                "lost": getattr(law, "name", None) or getattr(law, "__name__", type(law).__name__),
                "why": str(error),
            }
        return formula.to_plain() | {"tables": [[float(x) for x in table.numbers] for table in formula.tables]}

    def read(x: Any, where: str) -> Any:
        if isinstance(x, Mapping) and "lost" in x:
            return LostLaw(where, text.read(x["lost"], where))
        if not isinstance(x, Mapping) or list(x.get("inputs", ())) != list(inputs):
            raise PliantError(f"{where} is no function of {', '.join(inputs)}")
        return Formula.from_plain(x, [np.array(t) for t in many(many(number)).read(x.get("tables", []), where)])

    return optional(Coder(write, read))


_joint = record(
    Joint, name=text, kind=Coder(_write_kind, _read_kind), parent=text, child=text, placement=_pose,
    limits=record(Limits, lower=number_or_numbers, upper=number_or_numbers, velocity=number_or_numbers,
                  effort=number_or_numbers),
    damping=many(number), friction=many(number), armature=many(number),
    mimic=optional(record(Mimic, joint=text, multiplier=number, offset=number)),
    stiffness=many(number), hardening=many(number), law=many(_law(SPRING_LAW)),
    backlash=number, rest=number, restitution=number, is_locked=flag,
)  # fmt: skip
_motor = record(
    Motor, name=text, joint=text, gear=number, rotor_inertia=number, effort_limit=number, velocity_limit=number,
    control=text, kp=number, kd=number, viscous_friction=number, dry_friction=number, no_load_speed=number,
    law=_law(MOTOR_LAW), gyroscopic=flag, rotor_axis=optional(triple),
)  # fmt: skip

# ---- the rest

_contact = record(
    ContactShape, name=text, body=text, centers=many(_vector), radius=number,
    kind=choice("points", "sphere", "capsule", "box"), friction=optional(number), restitution=optional(number),
)  # fmt: skip
_parts: dict[str, tuple[str, Coder]] = {
    "joints": ("joint", _joint),
    "frames": ("frame", record(Frame, name=text, body=text, placement=_pose)),
    "motors": ("motor", _motor),
    "closures": ("closure", record(Closure, name=text, kind=choice("point", "weld", "distance"), a=text, b=text,
                                   length=number)),
    "springs": ("spring", record(FrameSpring, name=text, a=text, b=text, stiffness=number, damping=number,
                                 length=number)),
    "contacts": ("contact", _contact),
    "flexibilities": ("flexibility", record(Flexibility, name=text, joint=optional(text))),
}  # fmt: skip
_pairs = many(many(text, count=2))
_report = many(record(Finding, kind=choice("odd", "dropped", "guessed", "repaired"), subject=text, message=text,
                      line=optional(whole)))  # fmt: skip


def _bodies(mesh: Coder) -> Coder:
    geometry = record(
        Geometry, kind=choice("box", "sphere", "cylinder", "capsule", "mesh"), size=many(number), placement=_pose,
        file=optional(text), scale=triple, name=text, color=optional(many(number)), mesh=mesh,
    )  # fmt: skip
    return many(record(Body, name=text, inertia=_inertia, visuals=many(geometry), collisions=many(geometry)))


def robot_to_plain(robot: Robot) -> tuple[dict[str, Any], list[tuple[Surface, ...]]]:
    """All of a robot in what JSON has, and the surfaces of its meshes, which the plain data name by their places.

    What cannot be stored, a mesh that cannot be read or a function that cannot be traced, is a finding of its report.
    """
    lost: list[Finding] = []
    places: dict[Any, int | None] = {}
    meshes: list[tuple[Surface, ...]] = []

    def write_mesh(mesh: Any, where: str) -> int | None:
        if mesh not in places:
            try:
                meshes.append(stored_surfaces(mesh))
                places[mesh] = len(meshes) - 1
            except PliantError as error:
                places[mesh] = None
                lost.append(Finding("dropped", where, f"its mesh is not in the log: {error}"))
        return places[mesh]

    bodies = _bodies(optional(Coder(write_mesh, lambda x, where: None)))
    plain: dict[str, Any] = {"name": robot.name, "gravity": _vector.write(robot.gravity, "gravity")}
    plain["bodies"] = bodies.write(robot.bodies.values(), "bodies")
    for part, (_, coder) in _parts.items():
        plain[part] = many(coder).write(getattr(robot, part).values(), part)
    plain["contact_pairs"] = _pairs.write(robot.contact_pairs, "contact_pairs")
    lost += [
        Finding("dropped", f"{kind} {name!r}", f"its law {law['lost']!r} is not in the log: {law['why']}")
        for kind, name, law in _laws(plain) if "lost" in law
    ]  # fmt: skip
    plain["report"] = _report.write([*robot.report, *lost], "report")
    plain["digest"] = None if any(m.law is not None for m in robot.motors.values()) else robot.digest
    return plain, meshes


def _laws(plain: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    found = [("joint", j["name"], law) for j in plain["joints"] for law in j["law"] if law]
    return found + [("motor", m["name"], m["law"]) for m in plain["motors"] if m["law"]]


def robot_from_plain(plain: Any, mesh: Callable[[int], StoredMesh]) -> Robot:
    """The robot of plain data that nobody vouches for; what cannot exist is an error.

    Args:
        plain: as `robot_to_plain` makes it.
        mesh: that of a place.
    """
    try:
        return _robot(plain, mesh)
    except PliantError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        raise PliantError(f"the robot in the log is not one that can exist: {type(error).__name__}: {error}") from None


def _robot(plain: Any, mesh: Callable[[int], StoredMesh]) -> Robot:
    if not isinstance(plain, Mapping) or len(plain.get("bodies", ())) > MAX_BODIES:
        raise PliantError("the robot in the log has no bodies, or too many")
    name = text.read(plain.get("name"), "name")
    owner = f"robot {name!r}"
    meshes = optional(Coder(lambda x, where: None, lambda k, where: mesh(whole.read(k, where))))
    bodies = Named("body", _bodies(meshes).read(plain.get("bodies"), "bodies"), owner)
    found = {
        part: Named(kind, many(coder).read(plain.get(part), part), owner) for part, (kind, coder) in _parts.items()
    }
    _check_tree(bodies, found["joints"], found["frames"])
    robot = Robot(
        name,
        bodies,
        gravity=_vector.read(plain.get("gravity"), "gravity"),
        report=Report(_report.read(plain.get("report"), "report")),
        contact_pairs=(),
        **found,
    )
    for motor in robot.motors.values():
        check_motor(replace(motor, law=None), robot.joints)
    for closure in robot.closures.values():
        check_closure(closure, robot)
    for spring in robot.springs.values():
        check_spring(spring, robot)
    for shape in robot.contacts.values():
        check_shape(shape)
        if shape.body not in robot.bodies:
            raise PliantError(unknown_name("body", shape.body, robot.bodies, f"contact {shape.name!r}"))
    for flexibility in robot.flexibilities.values():
        for name in (flexibility.name, flexibility.joint):
            if name is not None and name not in robot.joints:
                raise PliantError(unknown_name("joint", name, robot.joints, f"flexibility {flexibility.name!r}"))
    for a, b in _pairs.read(plain.get("contact_pairs"), "contact_pairs"):
        check_pair(robot, a, b)
        robot = replace(robot, contact_pairs=(*robot.contact_pairs, (a, b)))
    _ = robot.mechanism
    return robot


def _check_tree(bodies: Named[Body], joints: Named[Joint], frames: Named[Frame]) -> None:
    """Raise unless each joint carries its body, after the one that it stands on."""
    if [j.child for j in joints.values()] != list(bodies):
        raise PliantError("the joints of the robot in the log do not carry its bodies one by one")
    seen = {WORLD}
    for joint in joints.values():
        if joint.parent not in seen:
            raise PliantError(f"joint {joint.name!r} in the log stands on {joint.parent!r}, which is not before it")
        seen.add(joint.child)
        nq, nv = joint.kind.nq, joint.kind.nv
        for what, count in (("damping", nv), ("friction", nv), ("armature", nv), ("stiffness", nv),
                            ("hardening", nv), ("law", nv)):  # fmt: skip
            if len(getattr(joint, what)) != count:
                raise PliantError(f"{what} of joint {joint.name!r} in the log has not one entry for each of {nv} dofs")
        for what, count in (("lower", nq), ("upper", nq), ("velocity", nv), ("effort", nv)):
            values = getattr(joint.limits, what)
            if isinstance(values, tuple) and len(values) != count:
                raise PliantError(f"limit {what} of joint {joint.name!r} in the log has not {count} entries")
        if hasattr(joint.kind, "axis") and abs(math.hypot(*joint.kind.axis) - 1) > 1e-6:  # type: ignore[attr-defined]
            raise PliantError(f"the axis of joint {joint.name!r} in the log is no unit vector")
        _check_mimic(joint, joints)
        if not any(isinstance(law, LostLaw) for law in joint.law):
            check_joint(joint)
    for name in bodies:
        if name not in frames or frames[name].body != name:
            raise PliantError(f"body {name!r} of the robot in the log has no frame")
    for frame in frames.values():
        if frame.body not in seen:
            raise PliantError(f"frame {frame.name!r} in the log is on {frame.body!r}, which is no body")


def _check_mimic(joint: Joint, joints: Named[Joint]) -> None:
    seen = {joint.name}
    leader = joint
    while leader.mimic is not None:
        leader = joints[leader.mimic.joint]
        if leader.name in seen or leader.kind.nq != 1 or joint.kind.nq != 1:
            raise PliantError(f"joint {joint.name!r} in the log follows itself, or one of another kind")
        seen.add(leader.name)
