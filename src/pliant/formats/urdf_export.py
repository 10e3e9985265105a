"""Robots as URDF: what `load_urdf` reads again has the same masses, joints and frames."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.sax.saxutils import quoteattr

from pliant.checks import is_zero
from pliant.formats.export_losses import losses, plain
from pliant.formats.exported import Exported
from pliant.meshes import MeshFile
from pliant.robot import (
    Continuous, Finding, Fixed, Free, Geometry, Helical, Joint, Mimic, Prismatic, Report, Revolute, Robot,
    Spherical,
)  # fmt: skip
from pliant.spatial import Inertia, Transform, rpy_from_matrix

WORLD, ROOT = "world", "root_joint"
ENDLESS = 1.7976931348623157e308
"""The largest float, which readers of URDF take where there is no limit; "inf" not all of them read."""

_TYPES = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic",
    "planar": "planar", "free": "floating",
}  # fmt: skip


def to_urdf(robot: Robot) -> Exported:
    """See `Robot.to_urdf`."""
    writer = _Writer(robot)
    text = "\n".join(['<?xml version="1.0"?>', *writer.lines(), ""])
    return Exported(text, Report([*writer.findings, *losses(robot, armature=False, gravity=False)]))


@dataclass
class _Writer:
    """Writes one robot."""

    robot: Robot
    findings: list[Finding] = field(default_factory=list)
    meshes: set[str] = field(default_factory=set)

    def note(self, kind: Any, subject: str, message: str) -> None:
        self.findings.append(Finding(kind, subject, message))

    def lines(self) -> Iterator[str]:
        robot = self.robot
        yield f"<robot name={quoteattr(robot.name)}>"
        joints = list(robot.joints.values())
        held = [joint for joint in joints if joint.parent == WORLD]
        if len(held) == 1 and held[0].name == ROOT and _is_plain_root(held[0]):
            joints.remove(held[0])
            base = "free" if held[0].kind.name == "free" else "fixed"
            self.note(
                "repaired", f"joint {ROOT!r}", f"URDF does not say how the base moves: load it with base={base!r}"
            )
        else:
            yield f"  <link name={quoteattr(WORLD)}/>"
        for body in robot.bodies.values():
            yield from self._link(body.name, body.inertia, body.visuals, body.collisions)
        motors = {m.joint: m.effort_limit for m in robot.motors.values() if m.coupling is None}
        for joint in joints:
            for part in self._plain_joints(joint):
                yield from self._joint(part, motors.get(joint.name))
        yield from self._frames()
        yield "</robot>"
        self._check_order(joints)
        if self.meshes:
            message = f"meshes are named as in the file that they are from: {', '.join(sorted(self.meshes)[:3])}"
            message += ", ..." if len(self.meshes) > 3 else ""
            self.note("repaired", "meshes", f"{message}; keep the new file beside it, or give packages=")

    def _check_order(self, joints: Sequence[Joint]) -> None:
        """A finding if readers of URDF, which order siblings by name, arrange q otherwise."""
        by_parent: dict[str, list[bytes]] = {}
        for joint in joints:
            by_parent.setdefault(joint.parent, []).append(joint.name.encode())
        is_kept = all(names == sorted(names) for names in by_parent.values())
        # depth first, each joint follows its parent's or a sibling's subtree
        seen: list[str] = []
        for joint in self.robot.joints.values():
            while seen and seen[-1] != joint.parent:
                seen.pop()
            is_kept = is_kept and (bool(seen) or joint.parent == WORLD)
            seen.append(joint.child)
        if not is_kept:
            message = "readers of URDF order siblings by name, depth first: q and v are arranged otherwise there"
            self.note("repaired", f"robot {self.robot.name!r}", f"{message}; robot.q_from takes them over")

    # ---- links

    def _link(
        self, name: str, inertia: Inertia, visuals: Iterable[Geometry], collisions: Iterable[Geometry]
    ) -> Iterator[str]:
        inside = [*self._inertial(name, inertia)]
        for tag, shapes in (("visual", visuals), ("collision", collisions)):
            for shape in shapes:
                inside += self._shape(tag, name, shape)
        if not inside:
            yield f"  <link name={quoteattr(name)}/>"
            return
        yield f"  <link name={quoteattr(name)}>"
        yield from (f"    {line}" for line in inside)
        yield "  </link>"

    def _inertial(self, name: str, inertia: Inertia) -> Iterator[str]:
        subject = f"body {name!r}"
        mass = plain(inertia.mass, subject)
        if mass == 0 and is_zero(*inertia.J):
            return
        com = [plain(h, subject) / mass if mass else 0.0 for h in inertia.h]
        about = inertia.about_com() if mass else inertia.J
        entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), about, strict=True)
        values = " ".join(f'{key}="{_number(plain(x, subject))}"' for key, x in entries)
        yield "<inertial>"
        yield f'  <origin xyz="{_numbers(com)}"/>'
        yield f'  <mass value="{_number(mass)}"/>'
        yield f"  <inertia {values}/>"
        yield "</inertial>"

    def _shape(self, tag: str, body: str, shape: Geometry) -> Iterator[str]:
        size = [plain(x, f"a shape of body {body!r}") for x in shape.size]
        if shape.kind == "mesh":
            inside = self._mesh(shape)
            if inside is None:
                self.note("dropped", f"body {body!r}", f"a mesh without a file under <{tag}>")
                return
        elif shape.kind == "box":
            inside = f'<box size="{_numbers(size)}"/>'
        elif shape.kind == "sphere":
            inside = f'<sphere radius="{_number(size[0])}"/>'
        else:
            inside = f'<{shape.kind} radius="{_number(size[0])}" length="{_number(size[1])}"/>'
        name = f" name={quoteattr(shape.name)}" if shape.name else ""
        yield f"<{tag}{name}>"
        yield f"  {_origin(shape.placement, body)}"
        yield f"  <geometry>{inside}</geometry>"
        if tag == "visual" and shape.color is not None:
            yield f'  <material name=""><color rgba="{_numbers(shape.color)}"/></material>'
        yield f"</{tag}>"

    def _mesh(self, shape: Geometry) -> str | None:
        reference = shape.mesh.reference if isinstance(shape.mesh, MeshFile) else shape.file
        if reference is None:
            return None
        if "://" not in reference:
            self.meshes.add(reference)
        # SDF's name for the same
        reference = reference.replace("model://", "package://", 1) if reference.startswith("model://") else reference
        scale = "" if tuple(shape.scale) == (1, 1, 1) else f' scale="{_numbers(shape.scale)}"'
        return f"<mesh filename={quoteattr(reference)}{scale}/>"

    # ---- joints

    def _plain_joints(self, joint: Joint) -> Iterator[Joint]:
        """The joints of URDF's types that stand for a joint: itself, as a rule."""
        kind, subject = joint.kind, f"joint {joint.name!r}"
        if isinstance(kind, Helical):
            # a slide that follows the turn
            middle = f"{joint.name}_turn"
            yield replace(joint, kind=Revolute(kind.axis), child=middle)
            slide = Mimic(joint.name, plain(kind.pitch, subject))
            yield Joint(
                f"{joint.name}_slide", Prismatic(kind.axis), middle, joint.child, Transform.identity(), mimic=slide
            )
            self.note("repaired", subject, "a screw: a turn, and a slide that follows it if loaded with mimic=True")
        elif isinstance(kind, Spherical):
            damping, friction, parent = joint.damping, joint.friction, joint.parent
            for k, axis in enumerate(((1, 0, 0), (0, 1, 0), (0, 0, 1))):
                child = joint.child if k == 2 else f"{joint.name}_{'xy'[k]}"
                place = joint.placement if k == 0 else Transform.identity()
                own = Joint(f"{joint.name}_{'xyz'[k]}", Continuous(axis), parent, child, place)
                yield replace(own, damping=(damping[k],), friction=(friction[k],))
                parent = child
            self.note("repaired", subject, "a ball: turns about x, y and z; other coordinates, singular at 90 degrees")
        else:
            yield joint

    def _joint(self, joint: Joint, effort: Any) -> Iterator[str]:
        subject, kind = f"joint {joint.name!r}", joint.kind
        if joint.child not in self.robot.bodies:
            yield f"  <link name={quoteattr(joint.child)}/>"
        limits = joint.limits
        is_open = all(math.isinf(float(x)) for x in (*limits.lower, *limits.upper))
        type_ = "continuous" if isinstance(kind, Revolute) and is_open else _TYPES[kind.name]
        yield f'  <joint name={quoteattr(joint.name)} type="{type_}">'
        yield f"    {_origin(joint.placement, joint.name)}"
        yield f"    <parent link={quoteattr(joint.parent)}/>"
        yield f"    <child link={quoteattr(joint.child)}/>"
        axis = getattr(kind, "axis", None)
        if axis is not None:
            yield f'    <axis xyz="{_numbers(plain(a, subject) for a in axis)}"/>'
        if kind.nv == 1:
            yield f"    {self._limit(joint, type_, effort)}"
            if joint.mimic is not None:
                yield (
                    f"    <mimic joint={quoteattr(joint.mimic.joint)} "
                    f'multiplier="{_number(plain(joint.mimic.multiplier, subject))}" '
                    f'offset="{_number(plain(joint.mimic.offset, subject))}"/>'
                )
            if not is_zero(*joint.damping, *joint.friction):
                damping, friction = plain(joint.damping[0], subject), plain(joint.friction[0], subject)
                yield f'    <dynamics damping="{_number(damping)}" friction="{_number(friction)}"/>'
        elif kind.nv and not is_zero(*joint.damping, *joint.friction):
            self.note("dropped", subject, f"its damping and friction: URDF has none for {type_} joints")
        yield "  </joint>"

    def _limit(self, joint: Joint, type_: str, effort: Any) -> str:
        """The <limit> of a joint; its effort is that of its motor, 0 without one, as `load_urdf` reads it."""
        subject, limits = f"joint {joint.name!r}", joint.limits
        own = plain(limits.effort[0], subject)
        if joint.mimic is None and effort is None and 0 < own < math.inf:
            self.note("dropped", subject, f"its effort limit {own:g}: 0 in the file says that it has no motor")
        shown = own if joint.mimic is not None else 0.0 if effort is None else plain(effort, subject)
        values = {"effort": shown, "velocity": plain(limits.velocity[0], subject)}
        if type_ != "continuous":
            values |= {"lower": plain(limits.lower[0], subject), "upper": plain(limits.upper[0], subject)}
        return "<limit " + " ".join(f'{key}="{_number(x)}"' for key, x in values.items()) + "/>"

    def _frames(self) -> Iterator[str]:
        """Frames that are no body's own, as links without mass."""
        names = {*self.robot.joints, *self.robot.bodies}
        for frame in self.robot.frames.values():
            if frame.name in self.robot.bodies:
                continue
            if frame.body == WORLD:
                self.note("dropped", f"frame {frame.name!r}", "it is fixed to the world")
                continue
            joint = f"{frame.name}_joint"
            while joint in names:
                joint += "_"
            names.add(joint)
            yield f"  <link name={quoteattr(frame.name)}/>"
            yield f'  <joint name={quoteattr(joint)} type="fixed">'
            yield f"    {_origin(frame.placement, frame.name)}"
            yield f"    <parent link={quoteattr(frame.body)}/>"
            yield f"    <child link={quoteattr(frame.name)}/>"
            yield "  </joint>"


def _is_plain_root(joint: Joint) -> bool:
    """Whether it is the joint that `load_urdf` makes itself."""
    is_still = is_zero(*joint.placement.p) and is_zero(*rpy_from_matrix(joint.placement.R.matrix()))
    no_more = is_zero(*joint.damping, *joint.friction, *joint.armature)
    return isinstance(joint.kind, Fixed | Free) and is_still and no_more


def _origin(X: Transform, subject: str) -> str:
    p = [plain(x, subject) for x in X.p]
    angles = [plain(a, subject) for a in rpy_from_matrix(X.R.matrix())]
    turn = f' rpy="{_numbers(angles)}"' if any(angles) else ""
    return f'<origin xyz="{_numbers(p)}"{turn}/>'


def _numbers(values: Iterable[Any]) -> str:
    return " ".join(_number(float(x)) for x in values)


def _number(x: float) -> str:
    """A number in the fewest digits that give it back to the bit."""
    if math.isinf(x):
        x = math.copysign(ENDLESS, x)
    return repr(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)
