"""A robot as plain data and triangles, all of it, and back: what a log keeps so that it can be replayed alone."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check_known
from pliant.errors import PliantError, RobotError, unknown_name
from pliant.meshes.mesh_file import FAR
from pliant.meshes.surfaces import Surface, distinct_rows
from pliant.recording.formulas import Formula
from pliant.recording.source import MOTOR_LAW, SPRING_LAW
from pliant.robot import Body, Finding, Frame, Geometry, Joint, JointKind, Motor, Named, Report, Robot
from pliant.robot.contacts import check_pair, check_shape
from pliant.robot.model import WORLD
from pliant.robot.part_checks import check_closure, check_joint, check_motor, check_spring, full_limits
from pliant.scalar import is_constant
from pliant.spatial import AxisRotation, Inertia, Symmetric3, Transform, Vector
from pliant.storage.forms import LEFT_OUT, LostLaw, checked, made, robot_form

# stands for a law that is lost, where all else is checked
_SPRING = Formula(SPRING_LAW, (("input", 0),), 0)


# ---- meshes


class StoredMesh:
    """A mesh that came with a log; a `MeshSource` as `pliant.meshes.MeshFile` is one.

    Attributes:
        parts: triangles by colour.
    """

    def __init__(self, parts: Iterable[Surface]):
        self.parts = tuple(parts)

    def points(self, packages: Iterable[str | Path] = ()) -> np.ndarray:
        """Its points (n, 3), before scaling [m]."""
        return np.concatenate([part.points for part in self.parts])

    def surfaces(self, packages: Iterable[str | Path] = ()) -> tuple[Surface, ...]:
        """Its faces by colour."""
        return self.parts

    def __repr__(self) -> str:
        return f"StoredMesh of {sum(len(part.faces) for part in self.parts)} triangles"


def stored_surfaces(mesh: Any) -> tuple[Surface, ...]:
    """The triangles of a mesh with each point once, in single precision where that is exact."""
    if not hasattr(mesh, "surfaces"):
        raise RobotError(f"{mesh!r} has points only", subject="mesh", cure="it takes one with faces")
    found = mesh.surfaces()
    if not found:
        raise RobotError(f"{mesh!r} has no faces", subject="mesh")
    return tuple(_compact(surface) for surface in found)


def _compact(surface: Surface) -> Surface:
    used, faces = np.unique(np.asarray(surface.faces), return_inverse=True)
    points = np.asarray(surface.points, dtype=float)[used]
    first, inverse = distinct_rows(points)
    points = points[first]
    single = points.astype(np.float32)
    kept = single if (single == points).all() else points
    return Surface(kept, inverse[faces.reshape(surface.faces.shape)].astype(np.uint32), surface.color)


def checked_surface(points: np.ndarray, faces: np.ndarray, color: Any, where: str) -> Surface:
    """A surface of arrays from an untrusted file."""
    for name, array, kinds in (("points", points, "f"), ("faces", faces, "ui")):
        if array.ndim != 2 or array.shape[1:] != (3,) or array.dtype.kind not in kinds or not len(points):
            raise PliantError(f"{where}: {name} of shape {array.shape} are not (n, 3)", subject=where, field=name)
    # NaN is not within either
    if not (np.abs(points) < FAR).all() or (len(faces) and not 0 <= faces.min() <= faces.max() < len(points)):
        problem = f"{where}: a point is not finite or too far away, or a face has a corner that does not exist"
        raise PliantError(problem, subject=where, field="points")
    rgba = None
    if color is not None:
        r, g, b, a = (min(1.0, max(0.0, float(x))) for x in color)
        rgba = (r, g, b, a)
    return Surface(points.astype(float), faces.astype(np.int64), rgba)


# ---- writing


def robot_to_plain(robot: Robot) -> tuple[dict[str, Any], list[tuple[Surface, ...]]]:
    """All of a robot in the types of JSON, and the surfaces of its meshes, which the plain data name by index.

    A mesh that cannot be read and a function that cannot be traced are left out, with a finding in the report.
    """
    writer = _Writer()
    plain = {f.name: writer.plain(getattr(robot, f.name), f.name) for f in fields(robot) if f.name not in LEFT_OUT}
    plain["report"] += writer.plain(tuple(writer.lost), "report")
    plain["digest"] = None if any(m.law is not None for m in robot.motors.values()) else robot.digest
    return plain, writer.meshes


class _Writer:
    """Turns the parts of a robot into plain data.

    Attributes:
        meshes: surfaces of the meshes so far.
        lost: findings about parts that cannot be stored.
    """

    def __init__(self) -> None:
        self.meshes: list[tuple[Surface, ...]] = []
        self.lost: list[Finding] = []
        self._places: dict[Any, int | None] = {}

    def plain(self, x: Any, where: str) -> Any:
        """A value in the types of JSON."""
        if x is None or isinstance(x, bool | str):
            return x
        if isinstance(x, Mapping):
            return [self.plain(part, f"{where}[{name!r}]") for name, part in x.items()]
        if isinstance(x, tuple | list | Vector | Symmetric3 | Report):
            return [self.plain(entry, f"{where}[{k}]") for k, entry in enumerate(x)]
        if isinstance(x, Transform):
            R = x.R if isinstance(x.R, AxisRotation) else tuple(x.R.matrix())
            return {"R": self.plain(R, where), "p": self.plain(x.p, where)}
        if isinstance(x, Inertia | AxisRotation):
            return {name: self.plain(getattr(x, name), f"{where}.{name}") for name in x.__slots__}
        if callable(x):
            return self._law(x, where)
        if is_dataclass(x):
            kind = {"kind": x.name} if isinstance(x, JointKind) else {}
            mesh = {"mesh": self._mesh(x.mesh, where)} if isinstance(x, Geometry) else {}
            own = {f.name: getattr(x, f.name) for f in fields(x) if f.name not in mesh}
            return kind | {name: self.plain(value, f"{where}.{name}") for name, value in own.items()} | mesh
        x = x.item() if isinstance(x, np.generic) else x
        if not is_constant(x):
            problem, cure = f"{where} is {x!r}, which is not a number", "give symbols their values before saving"
            raise RobotError(problem, subject="robot", field=where, cure=cure)
        return x if isinstance(x, int) else float(x)

    def _mesh(self, mesh: Any, where: str) -> int | None:
        """The index of the surfaces of a mesh."""
        if mesh is not None and mesh not in self._places:
            try:
                self.meshes.append(stored_surfaces(mesh))
                self._places[mesh] = len(self.meshes) - 1
            except PliantError as error:
                self._places[mesh] = None
                self.lost.append(Finding("dropped", where, f"its mesh is not in the log: {error}"))
        return self._places.get(mesh)

    def _law(self, law: Any, where: str) -> dict[str, Any]:
        """The formula that a generic function computes; one that cannot be traced is lost, by name."""
        inputs = MOTOR_LAW if where.startswith("motors") else SPRING_LAW
        try:
            formula = law if isinstance(law, Formula) else Formula.of(law, inputs)
        except Exception as error:  # whatever a user's function does
            name = getattr(law, "name", None) or getattr(law, "__name__", type(law).__name__)
            self.lost.append(Finding("dropped", where, f"its law {name!r} is not in the log: {error}"))
            return {"lost": name, "why": str(error)}
        return formula.to_plain() | {"tables": [[float(x) for x in table.numbers] for table in formula.tables]}


# ---- reading


def robot_from_plain(plain: Any, mesh: Callable[[int], StoredMesh]) -> Robot:
    """The robot of plain data from an untrusted file; one that cannot exist is an error.

    Args:
        plain: as `robot_to_plain` makes it.
        mesh: returns the mesh of an index.
    """
    stored = checked(plain, robot_form(), "the robot")
    try:
        return _robot({name: made(getattr(stored, name)) for name in stored.__struct_fields__}, mesh)
    except PliantError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        problem = f"the robot in the log is not one that can exist: {type(error).__name__}: {error}"
        raise PliantError(problem, subject="robot") from None


def _robot(parts: dict[str, Any], mesh: Callable[[int], StoredMesh]) -> Robot:
    del parts["digest"]
    pairs = parts.pop("contact_pairs")
    parts["bodies"] = [_with_meshes(body, mesh) for body in parts["bodies"]]
    kinds = {"bodies": "body", "joints": "joint", "frames": "frame", "motors": "motor", "closures": "closure",
             "springs": "spring", "contacts": "contact", "flexibilities": "flexibility"}  # fmt: skip
    named = {part: Named(kind, parts[part], f"robot {parts['name']!r}") for part, kind in kinds.items()}
    _check_tree(named["bodies"], named["joints"], named["frames"])
    robot = Robot(**parts | named | {"report": Report(parts["report"])})  # type: ignore[arg-type]
    _check_parts(robot)
    for a, b in pairs:
        check_pair(robot, a, b)
        robot = replace(robot, contact_pairs=(*robot.contact_pairs, (a, b)))
    _ = robot.mechanism
    return robot


def _with_meshes(body: Body, mesh: Callable[[int], StoredMesh]) -> Body:
    def drawn(shapes: Iterable[Geometry]) -> tuple[Geometry, ...]:
        places: list[Any] = [(shape, shape.mesh) for shape in shapes]
        return tuple(shape if k is None else replace(shape, mesh=mesh(k)) for shape, k in places)

    return replace(body, visuals=drawn(body.visuals), collisions=drawn(body.collisions))


def _check_parts(robot: Robot) -> None:
    """Raise unless motors, closures, springs, contacts and flexibilities fit the tree."""
    for motor in robot.motors.values():
        check_motor(replace(motor, law=None), robot.joints)
        _check_law(motor, motor.law, MOTOR_LAW)
    for closure in robot.closures.values():
        check_closure(closure, robot)
    for spring in robot.springs.values():
        check_spring(spring, robot)
    for shape in robot.contacts.values():
        check_shape(shape)
        check_known("body", shape.body, robot.bodies, f"contact {shape.name!r}", error=RobotError)
    for flexibility in robot.flexibilities.values():
        for name in (flexibility.name, flexibility.joint):
            if name is not None and name not in robot.joints:
                raise RobotError(unknown_name("joint", name, robot.joints, f"flexibility {flexibility.name!r}"))


def _check_tree(bodies: Named[Body], joints: Named[Joint], frames: Named[Frame]) -> None:
    """Raise unless each joint carries its body, after the one that it stands on."""
    if [j.child for j in joints.values()] != list(bodies):
        raise RobotError("the joints of the robot in the log do not carry its bodies one by one", subject="robot")
    seen = {WORLD}
    for joint in joints.values():
        if joint.parent not in seen:
            raise _wrong(joint, "parent", f"stands on {joint.parent!r}, which is not before it")
        seen.add(joint.child)
        full_limits(f"joint {joint.name!r} in the log", joint.limits, joint.kind)
        if len(joint.law) != joint.kind.nv:
            raise _wrong(joint, "law", f"has {len(joint.law)} laws, and {joint.kind.nv} degrees of freedom")
        if hasattr(joint.kind, "axis") and abs(math.hypot(*joint.kind.axis) - 1) > 1e-6:  # type: ignore[attr-defined]
            raise _wrong(joint, "axis", "has an axis that is not a unit vector")
        _check_mimic(joint, joints)
        for law in joint.law:
            _check_law(joint, law, SPRING_LAW)
        # all but the laws that are lost
        check_joint(replace(joint, law=tuple(_SPRING if isinstance(law, LostLaw) else law for law in joint.law)))
    for name in bodies:
        if name not in frames or frames[name].body != name:
            raise RobotError(f"body {name!r} of the robot in the log has no frame", subject=f"body {name!r}")
    for frame in frames.values():
        if frame.body not in seen:
            raise RobotError(unknown_name("body", frame.body, bodies, f"frame {frame.name!r} in the log"))


def _check_mimic(joint: Joint, joints: Named[Joint]) -> None:
    seen = {joint.name}
    leader = joint
    while leader.mimic is not None:
        leader = joints[leader.mimic.joint]
        if leader.name in seen or leader.kind.nq != 1 or joint.kind.nq != 1:
            raise _wrong(joint, "mimic", "mimics itself, or a joint of another kind")
        seen.add(leader.name)


def _check_law(part: Joint | Motor, law: Any, inputs: tuple[str, ...]) -> None:
    if isinstance(law, Formula) and law.inputs != inputs:
        raise _wrong(part, "law", f"has a law that is not a function of {', '.join(inputs)}")


def _wrong(part: Joint | Motor, field: str, problem: str) -> RobotError:
    subject = f"{type(part).__name__.lower()} {part.name!r}"
    return RobotError(f"{subject} in the log {problem}", subject=subject, field=field)
