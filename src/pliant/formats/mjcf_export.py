"""Robots as MJCF: what MuJoCo loads has the same mass matrix, bias forces and motors."""

import math
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.errors import RobotError
from pliant.formats.exported import Exported
from pliant.formats.mjcf_export_parts import closing_frames, digits, row, sensor_elements, write_closures
from pliant.formats.mjcf_tree import WORLD
from pliant.meshes import MeshFile
from pliant.robot import Finding, Frame, Geometry, Joint, Motor, Report, Robot
from pliant.robot.part_checks import impossible_inertia, repaired_inertia
from pliant.scalar import is_constant
from pliant.spatial import Transform, Vector, quaternion_from_matrix

_READS = (".obj", ".stl", ".msh")
_MOST_POINTS, _MOST_FACES = 20_000, 200_000
# what MuJoCo asks of bodies that move, with some room
_LEAST = 1e-13
# of its solver for principal axes
_ROUNDING = 1e-14
_STILL_KINDS = ("fixed",)
# of the site that stands for the world
_ORIGIN = "world_origin"
# Pliant's robots touch the ground and not each other: a floor with contype 1 meets this
_VISUAL, _COLLISION = 'contype="0" conaffinity="0" group="2"', 'contype="0" conaffinity="1" group="3"'


def to_mjcf(robot: Robot) -> Exported:
    """See `Robot.to_mjcf`."""
    writer = MjcfWriter(robot)
    text = writer.document()
    return Exported(text, Report(writer.findings))


class MjcfWriter:
    """Writes one robot."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self.findings: list[Finding] = []
        self.lines: list[str] = []
        self.meshes: dict[object, str] = {}
        self.assets: list[str] = []
        self.equalities: list[str] = []
        self.tendons: list[str] = []
        self.actuators: list[str] = []
        # names of the entries of qpos, in MuJoCo's order: a function of the robot's q each
        self.places: list[Callable[[np.ndarray], list[float]]] = []
        self.sites: set[str] = set()
        self.children: dict[str, list[Joint]] = {}
        for joint in robot.joints.values():
            self.children.setdefault(joint.parent, []).append(joint)
        self.frames: dict[str, list[Frame]] = {}
        ends = [end for closure in robot.closures.values() for end in (closure.a, closure.b)]
        ends += [end for spring in robot.springs.values() for end in (spring.a, spring.b)]
        ends += [sensor.at[0] for sensor in robot.sensors.values() if sensor.kind in ("imu", "wrench", "pose")]
        needed = {robot.frame(end).name for end in ends if end != WORLD}
        self.has_origin = WORLD in ends
        for frame in (*robot.frames.values(), *closing_frames(robot)):
            if frame.name not in robot.bodies or frame.name in needed:
                self.frames.setdefault(frame.body, []).append(frame)

    def note(self, kind: str, subject: str, message: str) -> None:
        """A finding."""
        self.findings.append(Finding(kind, subject, message))  # type: ignore[arg-type]

    # ---- the document

    def document(self) -> str:
        """All of the file."""
        robot = self.robot
        body: list[str] = []
        if self.has_origin:
            self.sites.add(_ORIGIN)
            body.append(f"    <site name={quoteattr(_ORIGIN)}/>")
        for frame in self.frames.get(WORLD, ()):
            body.append(self._site(frame, "    "))
        for joint in self.children.get(WORLD, ()):
            self._body([joint], Transform.identity(), body, "    ")
        write_closures(self)
        self._springs()
        for motor in robot.motors.values():
            self._motor(motor)
        sensors = sensor_elements(self)
        keys = self._keyframes()
        if robot.contacts:
            message = f"{len(robot.contacts)} contact shapes: the collision shapes are written, which touch otherwise"
            self.note("dropped", "contacts", message)
        lines = [
            f"<mujoco model={quoteattr(robot.name)}>",
            # so that no mass changes, and no body without a joint is merged
            '  <compiler angle="radian" inertiafromgeom="false" autolimits="true" fusestatic="false"/>',
            f'  <option gravity="{row(robot.gravity)}"/>',
            '  <default>\n    <geom density="0"/>\n  </default>',
        ]
        for tag, parts in (("asset", self.assets), ("worldbody", body), ("equality", self.equalities),
                           ("tendon", self.tendons), ("actuator", self.actuators), ("sensor", sensors),
                           ("keyframe", keys)):  # fmt: skip
            if parts:
                lines += [f"  <{tag}>", *parts, f"  </{tag}>"]
        return "\n".join([*lines, "</mujoco>", ""])

    # ---- bodies and joints

    def _body(self, joints: list[Joint], X: Transform, out: list[str], pad: str) -> None:
        """Write a body with the joints that carry it: several if those between carry nothing else.

        Args:
            joints: from the parent outward; the last one's child is not written yet.
            X: pose of the first joint's parent in the body that encloses this one.
        """
        last = joints[-1]
        child = self.robot.bodies[last.child]
        following = self.children.get(child.name, [])
        is_empty = not (child.has_inertia or child.visuals or child.collisions or self.frames.get(child.name))
        moves = last.kind.nv > 0 and last.kind.name != "free"
        if is_empty and moves and len(following) == 1 and following[0].kind.nv > 0 and following[0].kind.name != "free":
            self.note(
                "dropped", f"body {child.name!r}", "it carries nothing but the next joint, and is part of its body"
            )
            self._body([*joints, following[0]], X, out, pad)
            return
        # the body's frame where all of its joints are at their zero
        X_PB = X
        poses = []
        for joint in joints:
            X_PB = X_PB @ joint.placement
            poses.append(X_PB)
        out.append(f"{pad}<body name={quoteattr(child.name)}{_pose(X_PB)}>")
        inner = pad + "  "
        if not (last.kind.name == "free" and len(joints) == 1):
            back = X_PB.inverse()
            for joint, pose in zip(joints, poses, strict=True):
                self._joint(joint, back @ pose, out, inner)
        elif last.parent == WORLD and _is_identity(last.placement):
            out.append(f"{inner}<freejoint name={quoteattr(last.name)}/>")
            at = self.robot.q_slice(last.name)
            self.places.append(lambda q, at=at: _free_place(q[at]))
            if any(map(bool, (*last.damping, *last.friction, *last.armature))) or last.has_spring:
                message = "its damping, friction, armature and spring: a free joint of MuJoCo has none here"
                self.note("dropped", f"joint {last.name!r}", message)
        else:
            self._joint(last, Transform.identity(), out, inner)
        self._inertial(child.name, any(j.kind.nv for j in joints), out, inner)
        for shapes, attributes in ((child.visuals, _VISUAL), (child.collisions, _COLLISION)):
            for shape in shapes:
                self._geom(shape, child.name, attributes, out, inner)
        out += [self._site(frame, inner) for frame in self.frames.get(child.name, ())]
        for joint in following:
            self._body([joint], Transform.identity(), out, inner)
        out.append(f"{pad}</body>")

    def _inertial(self, name: str, moves: bool, out: list[str], pad: str) -> None:
        inertia = self.robot.bodies[name].inertia
        numbers = (inertia.mass, *inertia.h, *inertia.J)
        if not all(map(is_constant, numbers)):
            cure = "give symbols their values first"
            raise RobotError(f"the inertia of body {name!r} has symbols", subject=f"body {name!r}", cure=cure)
        mass = float(inertia.mass)
        com, J = (Vector(0, 0, 0), inertia.J) if mass == 0 else (inertia.com(), inertia.about_com())
        carries = moves and not self._holds_mass(name)
        if mass == 0 and not any(J) and not carries:
            return
        subject = f"body {name!r}"
        if impossible_inertia(J) is not None:
            J = repaired_inertia(J)
            self.note("repaired", subject, "an inertia that no body can have: the nearest possible one")
        tensor = np.array([[J.xx, J.xy, J.xz], [J.xy, J.yy, J.yz], [J.xz, J.yz, J.zz]], dtype=float)
        a, b, c = (float(x) for x in np.linalg.eigvalsh(tensor))
        # MuJoCo wants mass, positive moments, and the triangle inequality to the last digit
        more = max(_LEAST - a, c - a - b + _ROUNDING * c, 0.0)
        if mass < _LEAST or more > _ROUNDING * c:
            message = f"MuJoCo asks for more: {max(_LEAST - mass, 0.0):.2g} kg and {more:.2g} kg m^2 were added"
            self.note("repaired", subject, message)
        mass, tensor = max(mass, _LEAST), tensor + np.eye(3) * more
        entries = (tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2])
        out.append(f'{pad}<inertial pos="{row(com)}" mass="{digits(mass)}" fullinertia="{row(entries)}"/>')

    def _holds_mass(self, name: str) -> bool:
        """Whether a body or those fixed to it have mass and inertia."""
        if self.robot.bodies[name].has_inertia:
            return True
        return any(self._holds_mass(j.child) for j in self.children.get(name, ()) if j.kind.name in _STILL_KINDS)

    def _joint(self, joint: Joint, X: Transform, out: list[str], pad: str) -> None:
        """Write a joint at a pose in the frame of its body."""
        kind, subject = joint.kind.name, f"joint {joint.name!r}"
        if kind == "fixed":
            return
        p, at = X.p, slice(0, 0)
        if joint.mimic is None:
            at = self.robot.q_slice(joint.name)

        def write(name: str, type_: str, axis: Vector | None, more: str = "") -> None:
            axes = "" if axis is None else f' axis="{row(X.R.rotate(axis))}"'
            out.append(f'{pad}<joint name={quoteattr(name)} type="{type_}" pos="{row(p)}"{axes}{more}/>')

        axis = Vector(*joint.kind.axis) if hasattr(joint.kind, "axis") else Vector(0, 0, 1)  # type: ignore[attr-defined]
        match kind:
            case "revolute" | "continuous" | "prismatic":
                write(joint.name, "slide" if kind == "prismatic" else "hinge", axis, self._values(joint, 0))
                self.places.append(self._follower(joint) if joint.mimic else lambda q: [float(q[at][0])])
            case "spherical":
                if len({*joint.damping}) > 1 or len({*joint.friction}) > 1 or len({*joint.armature}) > 1:
                    message = "damping, friction and armature of its first axis hold for all: MuJoCo has one for all"
                    self.note("repaired", subject, message)
                write(joint.name, "ball", None, self._values(joint, 0))
                self.places.append(lambda q: _turned(q[at]))
            case "helical":
                pitch = float(joint.kind.pitch)  # type: ignore[attr-defined]
                write(joint.name, "hinge", axis, self._values(joint, 0))
                write(f"{joint.name}_slide", "slide", axis)
                names = f"joint1={quoteattr(joint.name + '_slide')} joint2={quoteattr(joint.name)}"
                self.equalities.append(f'    <joint {names} polycoef="0 {digits(pitch)} 0 0 0"/>')
                self.note("repaired", subject, "a hinge and a slide, which a soft constraint of MuJoCo holds together")
                self.places.append(lambda q: [float(q[at][0]), pitch * float(q[at][0])])
            case "planar":
                x, y, z = joint.kind._directions  # type: ignore[attr-defined]
                for k, (suffix, type_, along) in enumerate(
                    (("x", "slide", x), ("y", "slide", y), ("turn", "hinge", z))
                ):
                    write(f"{joint.name}_{suffix}", type_, along, self._values(joint, k))
                self.note("repaired", subject, "two slides and a hinge, whose velocities are in the axes of the parent")
                self.places.append(lambda q: [*map(float, q[at][:2]), math.atan2(float(q[at][3]), float(q[at][2]))])
            case "free":
                for k, along in enumerate("xyz"):
                    write(f"{joint.name}_{along}", "slide", Vector.unit(k), self._values(joint, k))
                write(joint.name, "ball", None, self._values(joint, 3))
                self.note(
                    "repaired", subject, "three slides and a ball, whose velocities are in the axes of the parent"
                )
                self.places.append(lambda q: [*map(float, q[at][:3]), *_turned(q[at][3:])])
            case _:
                raise RobotError(f"{subject} is {kind}, which MJCF does not have", subject=subject, field="kind")

    def _follower(self, joint: Joint) -> Callable[[np.ndarray], list[float]]:
        """Write that a joint follows its leader; returns its coordinate."""
        mimic = joint.mimic
        assert mimic is not None
        a, b = float(mimic.offset), float(mimic.multiplier)
        names = f"joint1={quoteattr(joint.name)} joint2={quoteattr(mimic.joint)}"
        self.equalities.append(f'    <joint {names} polycoef="{digits(a)} {digits(b)} 0 0 0"/>')
        message = f"it follows {mimic.joint!r} by a soft constraint of MuJoCo, with a coordinate of its own"
        self.note("repaired", f"joint {joint.name!r}", message)
        leader = self.robot.joints[mimic.joint]
        above = self._place(leader)
        return lambda q: [a + b * above(q)[0]]

    def _place(self, joint: Joint) -> Callable[[np.ndarray], list[float]]:
        if joint.mimic is None:
            at = self.robot.q_slice(joint.name)
            return lambda q: [float(q[at][0])]
        a, b, above = float(joint.mimic.offset), float(joint.mimic.multiplier), self.robot.joints[joint.mimic.joint]
        leader = self._place(above)
        return lambda q: [a + b * leader(q)[0]]

    def _values(self, joint: Joint, k: int) -> str:
        """Attributes of a dof: limits, losses, inertia and spring."""
        subject, own = f"joint {joint.name!r}", [m for m in self.robot.motors.values() if m.joint == joint.name]
        own = [m for m in own if m.coupling is None]
        damping = float(joint.damping[k]) + sum(float(m.viscous_friction) for m in own)
        friction = float(joint.friction[k]) + sum(float(m.dry_friction) for m in own)
        armature = float(joint.armature[k]) + sum(float(m.armature) for m in own)
        found = [("damping", damping), ("frictionloss", friction), ("armature", armature)]
        stiffness, hardening = float(joint.stiffness[k]), float(joint.hardening[k])
        text = "".join(f' {name}="{digits(x)}"' for name, x in found if x)
        if stiffness or hardening:
            text += f' stiffness="{digits(stiffness)}{f" 0 {digits(hardening)}" if hardening else ""}"'
            if joint.kind.nv == 1 and joint.rest:
                text += f' springref="{digits(joint.rest)}"'
        if joint.law[k] is not None:
            self.note("dropped", subject, "the law of its spring, a function: MJCF holds polynomials only")
        if joint.has_backlash:
            self.note("dropped", subject, "its backlash: its spring and damping act at once")
        if joint.is_locked:
            self.note("dropped", subject, "that it is locked: it moves")
        if joint.restitution:
            self.note("dropped", subject, "restitution of its limits")
        if any(m.gyroscopic for m in own):
            self.note("dropped", subject, "the gyroscopic forces of its rotor; its inertia is there")
        low, high = (float(x[k if joint.kind.nq == joint.kind.nv else 0]) for x in (
            joint.limits.lower, joint.limits.upper
        ))  # fmt: skip
        if joint.kind.nq == 1 and (low > -math.inf or high < math.inf) and joint.kind.name != "continuous":
            text += f' range="{digits(max(low, -1e10))} {digits(min(high, 1e10))}"' if low < high else ""
            if low >= high:
                self.note("dropped", subject, "its limits, between which there is no room")
        return text

    # ---- shapes and frames

    def _geom(self, shape: Geometry, body: str, attributes: str, out: list[str], pad: str) -> None:
        color = ""
        if shape.color is not None:
            color = f' rgba="{row((*shape.color, 1.0)[:4])}"'
        place, subject = _pose(shape.placement), f"shapes of body {body!r}"
        if shape.kind == "mesh":
            name = self._mesh(shape, subject)
            if name is not None:
                out.append(f'{pad}<geom type="mesh" mesh={quoteattr(name)}{place} {attributes}{color}/>')
            return
        size = [float(x) for x in shape.size]
        if any(x <= 0 for x in size):
            self.note("dropped", subject, f"a {shape.kind} of size {tuple(size)}")
            return
        halves = [x / 2 for x in size] if shape.kind == "box" else [size[0], *(x / 2 for x in size[1:])]
        out.append(f'{pad}<geom type="{shape.kind}" size="{row(halves)}"{place} {attributes}{color}/>')

    def _mesh(self, shape: Geometry, subject: str) -> str | None:
        """The name of a mesh among the assets; None, with a finding, for one that MuJoCo does not read."""
        key = shape.mesh, shape.file, tuple(shape.scale)
        if key in self.meshes:
            return self.meshes[key]
        name, scale = f"mesh{len(self.meshes)}", row(shape.scale)
        if isinstance(shape.mesh, MeshFile) or shape.mesh is None:
            file = shape.file
            if file is None or not _is_readable(Path(file)):
                what = ", ".join(_READS)
                self.note("dropped", subject, f"mesh {file or 'without a file'}: MuJoCo reads {what}, binary ones")
                return None
            self.assets.append(
                f'    <mesh name="{name}" file={quoteattr(file)} scale="{scale}" inertia="shell"/>'
            )  # fmt: skip
        else:
            surfaces = getattr(shape.mesh, "surfaces", tuple)()
            points = np.concatenate([np.zeros((0, 3)), *(s.points for s in surfaces)])
            if not 4 <= len(points) <= _MOST_POINTS:
                self.note("dropped", subject, f"a mesh of {len(points)} points, which is in no file")
                return None
            starts = np.cumsum([0, *(len(s.points) for s in surfaces)])
            faces = np.concatenate([s.faces + start for s, start in zip(surfaces, starts, strict=False)])
            self.assets.append(
                f'    <mesh name="{name}" vertex="{row(points.ravel())}" '
                f'face="{" ".join(map(str, faces.ravel().tolist()))}" scale="{scale}" inertia="shell"/>'
            )
        self.meshes[key] = name
        return name

    def _site(self, frame: Frame, pad: str) -> str:
        self.sites.add(frame.name)
        return f"{pad}<site name={quoteattr(frame.name)}{_pose(frame.placement)}/>"

    def site_of(self, name: str) -> str:
        """The name of the site for a frame, a joint or the world; those that are written are in ``sites``."""
        return _ORIGIN if name == WORLD else self.robot.frame(name).name

    # ---- what connects and moves bodies

    def _springs(self) -> None:
        for spring in self.robot.springs.values():
            a, b = self.site_of(spring.a), self.site_of(spring.b)
            if a not in self.sites or b not in self.sites:
                self.note("dropped", f"spring {spring.name!r}", "it is between frames that are no sites: missing")
                continue
            values = f'stiffness="{digits(spring.stiffness)}" damping="{digits(spring.damping)}"'
            length = digits(spring.length)
            self.tendons.append(
                f'    <spatial name={quoteattr(spring.name)} {values} springlength="{length}">'
                f"<site site={quoteattr(a)}/><site site={quoteattr(b)}/></spatial>"
            )

    def _motor(self, motor: Motor) -> None:
        subject = f"motor {motor.name!r}"
        target = f"joint={quoteattr(motor.joint)}"
        if motor.coupling is not None:
            joints = "".join(
                f"<joint joint={quoteattr(joint)} coef={quoteattr(digits(ratio))}/>" for joint, ratio in motor.coupling
            )
            armature, damping = digits(motor.armature), digits(motor.viscous_friction)
            values = f'armature="{armature}" damping="{damping}"'
            name = f"{motor.name}_shaft"
            self.tendons.append(f"    <fixed name={quoteattr(name)} {values}>{joints}</fixed>")
            target = f"tendon={quoteattr(name)}"
        most = float(motor.effort_limit)
        limit = f' forcerange="{digits(-most)} {digits(most)}"' if 0 < most < math.inf else ""
        control, gains = motor.control, ""
        if motor.law is not None:
            self.note("dropped", subject, "its law, a function: its control is a torque")
            control = "torque"
        elif control == "voltage":
            self.note("dropped", subject, "its winding: its control is a torque")
            control = "torque"
        if control == "position":
            gains = f' kp="{digits(motor.kp)}" kv="{digits(motor.kd)}"'
        elif control == "velocity":
            gains = f' kv="{digits(motor.kd)}"'
        tag = {"torque": "motor", "position": "position", "velocity": "velocity"}[control]
        self.actuators.append(f"    <{tag} name={quoteattr(motor.name)} {target}{gains}{limit}/>")
        usual = Motor(motor.name, motor.joint)
        lost = [
            word for word, what in (
                ("no-load speed", "no_load_speed"), ("delay", "command_delay"), ("period", "command_period"),
                ("static friction", "static_friction"), ("bristles", "bristle_stiffness"),
                ("temperature", "thermal_capacity"), ("ripple", "ripple"), ("cogging", "cogging"),
            ) if getattr(motor, what) != getattr(usual, what)
        ]  # fmt: skip
        if lost:
            self.note("dropped", subject, f"its {', '.join(lost)}")

    # ---- poses

    def _keyframes(self) -> list[str]:
        found = []
        for name, angles in self.robot.stances.items():
            q = self.robot.neutral()
            for coordinate, value in angles.items():
                if coordinate in self.robot.coordinate_names:
                    q[self.robot.coordinate_names.index(coordinate)] = value
            qpos = [x for place in self.places for x in place(q)]
            found.append(f'    <key name={quoteattr(name)} qpos="{row(qpos)}"/>')
        return found


def _is_readable(file: Path) -> bool:
    """Whether MuJoCo can read a mesh file: of STL binary ones only, of some size."""
    if file.suffix.lower() != ".stl":
        return file.suffix.lower() in _READS
    try:
        with file.open("rb") as opened:
            head = opened.read(84)
        count = int.from_bytes(head[80:84], "little")
        return 1 <= count <= _MOST_FACES and file.stat().st_size >= 84 + 50 * count
    except OSError:
        return False


def _free_place(q: np.ndarray) -> list[float]:
    return [*map(float, q[:3]), *_turned(q[3:])]


def _turned(quaternion: np.ndarray) -> list[float]:
    """w, x, y, z of x, y, z, w."""
    x, y, z, w = map(float, quaternion)
    return [w, x, y, z]


def _is_identity(X: Transform) -> bool:
    return not any(map(bool, X.p)) and [float(e) for e in X.R.matrix()] == [1, 0, 0, 0, 1, 0, 0, 0, 1]


def _pose(X: Transform) -> str:
    """Attributes pos and quat, where they are not MuJoCo's defaults."""
    text = f' pos="{row(X.p)}"' if any(map(bool, X.p)) else ""
    R = X.R.matrix()
    if [float(e) for e in R] != [1, 0, 0, 0, 1, 0, 0, 0, 1]:
        x, y, z, w = (float(e) for e in quaternion_from_matrix(R))
        text += f' quat="{row((w, x, y, z))}"'
    return text
