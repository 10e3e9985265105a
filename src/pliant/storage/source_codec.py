"""The source of a log in its file, for replays without other files: robot with meshes, ground and settings.

A robot becomes plain data and triangles, all of it, and comes back from them.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import msgspec
import numpy as np

from pliant.checks import check_known
from pliant.contact.ground import Ground, flat, height_map
from pliant.errors import ContactError, PliantError, RobotError, unknown_name
from pliant.meshes.mesh_file import FAR
from pliant.meshes.stored_mesh import StoredMesh
from pliant.meshes.surfaces import Surface, distinct_rows
from pliant.recording.log import Log
from pliant.recording.source import Source, ground_of, ground_parts, kept_law, plain, versions
from pliant.robot import Body, Finding, Frame, Geometry, Joint, JointKind, Motor, MotorLaw, Named, Report, Robot
from pliant.robot.contacts import check_pair, check_shape
from pliant.robot.model import WORLD
from pliant.robot.part_checks import check_joint, check_motor, check_spring, checked_closure, full_limits
from pliant.robot.sensor_options import check_sensor
from pliant.robot.sensors import Sensor
from pliant.scalar import is_constant
from pliant.scalar.formulas import MAX_NODES, MOTOR_LAW, SPRING_LAW, Formula, LawFormulas
from pliant.scalar.ops import MOST_ENTRIES
from pliant.spatial import AxisRotation, Inertia, Symmetric3, Transform, Vector
from pliant.storage.forms import LEFT_OUT, AboutGround, AboutSource, LostLaw, checked, made, robot_form
from pliant.storage.hdf5 import attribute, damaged, dataset, group, has, put_text, read_all, read_text

MAX_PARTS = 10_000
_TIGHT = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
# heights of a ground along each axis, and how far it goes beyond the robots [m]
_POINTS = 129
_MARGIN = 2.0
# stands for a law that is lost, where all else is checked
_SPRING = Formula(SPRING_LAW, (("input", 0),), 0)


# ---- meshes


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


# ---- the robot to plain data


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
    """Turns parts of a robot into plain data, with the surfaces of its meshes, and findings about what is lost."""

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
        if isinstance(x, MotorLaw):
            return self._law_with_memory(x, where)
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

    def _law_with_memory(self, law: MotorLaw, where: str) -> dict[str, Any]:
        """The formulas of its torque and of its memory."""
        try:
            kept = law.function if isinstance(law.function, LawFormulas) else kept_law(law).function
        except Exception as error:  # whatever a user's function does
            name = getattr(law.function, "__name__", type(law.function).__name__)
            self.lost.append(Finding("dropped", where, f"its law {name!r} is not in the log: {error}"))
            return {"lost": name, "why": str(error)}
        return {"formulas": [self._law(f, where) for f in kept.formulas], "memory": [float(x) for x in law.memory]}

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


# ---- the robot from plain data


def robot_from_plain(plain: Any, mesh: Callable[[int], StoredMesh]) -> Robot:
    """The robot of plain data, as of `robot_to_plain`, from an untrusted file, with ``mesh(index)`` for its meshes.

    One that cannot exist is an error.
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
             "springs": "spring", "contacts": "contact", "flexibilities": "flexibility",
             "sensors": "sensor"}  # fmt: skip
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
        law, inputs = motor.law, MOTOR_LAW
        if isinstance(law, MotorLaw):
            inputs = (*MOTOR_LAW, *(f"memory{k}" for k in range(len(law.memory))))
            if len(law.function.formulas) != len(law.memory) + 1:  # type: ignore[attr-defined]
                raise _wrong(motor, "law", "has a law whose formulas are not one more than its memory")
        for formula in law.function.formulas if isinstance(law, MotorLaw) else [law]:  # type: ignore[attr-defined]
            _check_law(motor, formula, inputs)
    for closure in robot.closures.values():
        checked_closure(closure, robot)
    for spring in robot.springs.values():
        check_spring(spring, robot)
    for shape in robot.contacts.values():
        check_shape(shape)
        check_known("body", shape.body, robot.bodies, f"contact {shape.name!r}", error=RobotError)
    for sensor in robot.sensors.values():
        laws = [e.law for e in sensor.errors]
        check_sensor(replace(sensor, errors=tuple(replace(e, law=None) for e in sensor.errors)), robot)
        for law in laws:
            _check_law(sensor, law, SPRING_LAW)
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


def _check_law(part: Joint | Motor | Sensor, law: Any, inputs: tuple[str, ...]) -> None:
    if isinstance(law, Formula) and law.inputs != inputs:
        raise _wrong(part, "law", f"has a law that is not a function of {', '.join(inputs)}")


def _wrong(part: Joint | Motor | Sensor, field: str, problem: str) -> RobotError:
    subject = f"{type(part).__name__.lower()} {part.name!r}"
    return RobotError(f"{subject} in the log {problem}", subject=subject, field=field)


# ---- the source to a file


def put_source(file: Any, log: Log) -> None:
    """Put the source of a log into the group "source" of its file; nothing for a log without."""
    source = log.source
    if source is None:
        return
    folder = file.create_group("source")
    about = {
        "contacts": list(source.contacts), "settings": plain(dict(source.settings)),
        "versions": plain(dict(source.versions)), "created": source.created,
    }  # fmt: skip
    robot, meshes = robot_to_plain(source.robot)
    put_text(folder, "about", about)
    put_text(folder, "robot", robot)
    for k, surfaces in enumerate(meshes):
        for j, surface in enumerate(surfaces):
            part = folder.create_group(f"meshes/{k}/{j}")
            for what in ("points", "faces"):
                part.create_dataset(what, data=getattr(surface, what), fletcher32=True, **_TIGHT)
            part.attrs["color"] = np.array(surface.color or [], dtype=float)
    if source.ground is not None:
        _put_ground(folder, source.ground)
        _put_heights(folder, source.ground, log)


def _put_ground(file: Any, ground: Ground) -> None:
    """The formula of the ground; one that has none, or one too large, is known by its heights."""
    about = ground_parts(ground)
    formula: Formula | None = about.pop("formula")
    kept = None
    if formula is not None and len(formula.nodes) <= MAX_NODES and sum(map(len, formula.tables)) <= MOST_ENTRIES:
        kept = formula.to_plain() | {"tables": len(formula.tables)}
        for k, table in enumerate(formula.tables):
            packing = _TIGHT if len(table) > 500 else {}
            numbers = table.numbers.astype(np.float32) if table.is_single else table.numbers
            file.require_group("tables").create_dataset(str(k), data=numbers, fletcher32=True, **packing)
    put_text(file, "ground", about | {"formula": kept, "faces": about["faces"] if kept else None})


def _put_heights(file: Any, ground: Ground, log: Log) -> None:
    """Heights of the ground, over the region that the robots travelled and two metres around it.

    Robots that are fixed to the world are at the origin.
    """
    robot = log.needs_source("log.save()").robot
    low = high = np.zeros(2)
    first = next(iter(robot.joints.values()), None)
    if first is not None and first.kind.name == "free" and "q" in log and len(log.t):
        places = log["q"][..., robot.q_slice(first.name)][..., :2].reshape(-1, 2)
        places = places[np.isfinite(places).all(axis=-1)]
        if len(places):
            low, high = places.min(axis=0), places.max(axis=0)
    low, high = low - _MARGIN, high + _MARGIN
    x, y = (np.linspace(a, b, _POINTS) for a, b in zip(low, high, strict=True))
    heights = np.asarray(ground.height(*np.meshgrid(x, y, indexing="ij")), dtype=float)
    if np.isfinite(heights).all():
        stored = file.create_dataset("heights", data=heights, fletcher32=True, **_TIGHT)
        stored.attrs["origin"], stored.attrs["spacing"] = low, (high - low) / (_POINTS - 1)


# ---- the source from a file


def source_of(file: Any) -> Source | None:
    """The source of a log; None for a log made by hand."""
    if not has(file, "source"):
        return None
    folder = group(file, "source")
    about = checked(read_text(folder, "about"), AboutSource, "the source")
    stored = read_text(folder, "robot")
    meshes: dict[int, StoredMesh] = {}

    def mesh(k: int) -> StoredMesh:
        if k not in meshes:
            meshes[k] = _mesh(folder, k)
        return meshes[k]

    robot = robot_from_plain(stored, mesh)
    # other versions may hash in other ways
    is_same_version = about.versions.get("pliant") == versions()["pliant"]
    if stored["digest"] is not None and is_same_version and stored["digest"] != robot.digest:
        raise damaged(f"the robot {robot.name!r} in it is not the one that was saved", "robot")
    return Source(robot, _ground(folder), about.contacts, about.settings, about.versions, about.created)


def _mesh(file: Any, k: int) -> StoredMesh:
    folder = group(group(file, "meshes"), str(k))
    if not 0 < len(folder) <= MAX_PARTS:
        raise damaged(f"mesh {k} has {len(folder)} parts", "meshes")
    parts = []
    for j in range(len(folder)):
        part = group(folder, str(j))
        color = _numbers(part, "color").reshape(-1)
        points, faces = (read_all(dataset(part, what)) for what in ("points", "faces"))
        rgba = color.tolist() if color.shape == (4,) and np.isfinite(color).all() else None
        parts.append(checked_surface(points, faces, rgba, f"mesh {k} in it"))
    return StoredMesh(parts)


def _ground(file: Any) -> Ground | None:
    if not has(file, "ground"):
        return None
    about = checked(read_text(file, "ground"), AboutGround, "the ground")
    numbers = {"friction": about.friction, "restitution": about.restitution}
    if about.formula is not None:
        tables = [read_all(dataset(group(file, "tables"), str(k))) for k in range(about.formula.tables)]
        formula = Formula.from_plain(msgspec.structs.asdict(about.formula), tables)
        faces = about.faces and msgspec.structs.asdict(about.faces)
        return ground_of({"formula": formula, "name": about.name, "faces": faces, **numbers})
    if not has(file, "heights"):
        return None
    heights = read_all(dataset(file, "heights"))
    if heights.size and (heights == heights.flat[0]).all():
        return replace(flat(float(heights.flat[0]), **numbers), name=about.name)
    try:
        origin, spacing = (tuple(_numbers(file["heights"], what)) for what in ("origin", "spacing"))
        return replace(height_map(heights, spacing=spacing, origin=origin, **numbers), name=about.name)
    except ContactError as error:
        raise damaged(f"the heights of the ground cannot be read: {error.fault.problem}", "heights") from None


def _numbers(parent: Any, name: str) -> np.ndarray:
    """Numbers of an attribute; none if there is no such attribute."""
    found = attribute(parent, name)
    return np.asarray(() if found is None else found, dtype=float)
