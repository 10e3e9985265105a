"""URDF files, also as xacro: elements to builder calls, with the meaning that Pinocchio gives them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pliant.checks import check_at_least, check_one_of
from pliant.errors import Place, RobotError, needs, unknown_name
from pliant.files.packages import EscapingPathError, MissingFileError, Packages
from pliant.files.xml import Element, parse_xml, read_file
from pliant.formats.journal import Journal, number, numbers, origin, required
from pliant.formats.legs import base_finding, guessed_base
from pliant.formats.missing_inertia import DENSITY, with_estimates
from pliant.meshes import MeshFile
from pliant.robot import (
    Continuous, Fixed, Free, Geometry, JointKind, Limits, Mimic, Planar, Prismatic, Report, Revolute, Robot,
    RobotBuilder,
)  # fmt: skip
from pliant.signatures import explained
from pliant.spatial import Transform, Vector, rotation_from_rpy

Color = tuple[float, ...]

WORLD, ROOT_JOINT = "world", "root_joint"
TYPES = {
    "revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic, "fixed": Fixed, "floating": Free,
    "planar": Planar,
}  # fmt: skip
ONE_DOF = ("revolute", "continuous", "prismatic")
# the attributes of each shape that make its size
SIZES = {"sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
NOT_URDF = {"mujoco": "this is MJCF", "sdf": "this is SDF", "COLLADA": "this is a mesh"}


@explained
def load_urdf(
    path: str | Path,
    *,
    base: Literal["fixed", "free"] | None = None,
    packages: str | Path | Iterable[str | Path] = (),
    mimic: bool = False,
    strict: bool = False,
    repair: bool = False,
    density: float = DENSITY,
    name: str | None = None,
    xacro: bool = False,
    xacro_arguments: Mapping[str, Any] | None = None,
) -> Robot:
    """The robot that a URDF file describes.

    The meaning is that of Pinocchio's ``buildModelFromUrdf``: siblings in the order of their joints'
    names, a link without <inertial> weighs nothing. Three differences: a continuous joint is one
    angle, a planar joint moves across its <axis> as URDF says (Pinocchio takes the x-y plane), and a
    missing <limit> does not raise an error.

    Every joint with one degree of freedom that is not coupled to another gets a motor of its name
    with the effort and velocity limits of the joint, unless that effort is 0: such a joint is passive.

    Real files are dirty. Odd values are kept and reported, as is all that was dropped or guessed, in
    ``robot.report`` and the log "pliant.findings". Meshes are references: none is read, and only files in
    the robot file's folder, its package, or ``packages`` can be referred to.

    Args:
        path: of a ``.urdf`` file, or a ``.xacro`` one, see ``xacro``.
        base: how the root link is attached to the world; by default "free" if the names of links say that the robot
            has legs, which is reported, else "fixed".
        packages: folders, or one, in which the packages of ``package://`` lie. Searched after these: the robot file's
            folder, those around it, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
        mimic: whether joints with <mimic> follow their leader; else they are joints of their own.
        strict: whether odd and missing values raise an error.
        repair: correct impossible inertias and reversed limits, estimate those of moving links that have collision
            shapes and no <inertial>, and report how.
        density: for these estimates [kg/m^3].
        name: of the robot, if not the file's.
        xacro: allow a ``.xacro`` file. Expanding one evaluates its Python expressions and reads the
            files it includes: only for files that you trust.
        xacro_arguments: values for the ``<xacro:arg>`` of such a file, by name.
    """
    if base is not None:
        check_one_of("base", base, ("fixed", "free"), error=RobotError)
    check_at_least("density", density, 0, strict=True, subject="load_urdf", error=RobotError)
    path, packages = Path(path), [packages] if isinstance(packages, (str, Path)) else list(packages)
    is_xacro = path.suffix == ".xacro"
    if xacro_arguments and not is_xacro:
        problem = f"{path} is not xacro and takes no arguments"
        raise RobotError(problem, subject=str(path), field="xacro_arguments", cure="leave them out")
    data = _expanded_xacro(path, packages, xacro_arguments or {}, trusted=xacro) if is_xacro else read_file(path)
    journal = Journal(f"{path} (expanded)" if is_xacro else str(path), strict)
    root = _robot_element(parse_xml(data, journal.source), journal)
    shapes = _Shapes(root, Packages(path.parent, packages), journal)
    reader = _Reader(root, shapes, journal, name or _robot_name(root, path, journal))
    return replace(reader.robot(base, mimic, repair, density), file=path.absolute())


def _robot_element(root: Element, journal: Journal) -> Element:
    if root.tag != "robot":
        what = NOT_URDF.get(root.tag, "this is not URDF")
        problem = f"the root element is <{root.tag}>, not <robot>: {what}"
        raise journal.error(problem, root.line, subject=f"<{root.tag}>")
    macro = next((child for child in root.children if child.tag.startswith("xacro:")), None)
    if macro is not None:
        cure = "expand it first, or name it .xacro and load it with xacro=True"
        subject = f"<{macro.tag}>"
        raise journal.error(f"{subject} is a xacro macro, not URDF", macro.line, subject=subject, cure=cure)
    if not root.all("link"):
        cure = "is the file a stub, or was it exported from an empty macro?"
        raise journal.error("the robot has no links", subject="<robot>", field="link", cure=cure)
    journal.unread(root, ("link", "joint", "material"), ("name", "version"))
    return root


def _robot_name(root: Element, path: Path, journal: Journal) -> str:
    given = root.attributes.get("name", "").strip()
    if not given:
        journal.note("guessed", "<robot>", f"it has no name: {path.stem!r}, from the file's", root.line)
    return given or path.stem


class _Reader:
    """Hands links and joints of one file to a builder."""

    def __init__(self, root: Element, shapes: "_Shapes", journal: Journal, name: str):
        self.links = root.all("link")
        self.joints = root.all("joint")
        self.shapes = shapes
        self.journal = journal
        self.builder = RobotBuilder(name)
        # where each thing is, as findings call it
        self.lines: dict[str, int] = {}
        # links that go by another name, since "world" is the builder's own
        self.renamed: dict[str, str] = {}

    def robot(self, base: Literal["fixed", "free"] | None, mimic: bool, repair: bool, density: float) -> Robot:
        feet: list[str] = []
        if base is None:
            edges = [(*ends, j.attributes.get("type") != "fixed") for j in self.joints if (ends := _joint_ends(j))]
            is_held = any(link.attributes.get("name") == WORLD for link in self.links)
            guess, feet = guessed_base(edges, is_held)
            base = "free" if guess == "free" else "fixed"
        self._settle_world(base)
        for link in self.links:
            self._read_link(link, repair)
        leaders = self._leaders(mimic)
        # Pinocchio's order of siblings: by name, byte for byte
        for joint in sorted(self.joints, key=lambda j: j.attributes.get("name", "").encode()):
            self._read_joint(joint, leaders)
        if base == "fixed":
            self._settle_root_joint()
        with self._place():
            robot = self.builder.build(base=base, strict=self.journal.strict, repair=repair)
        for joint in robot.joints.values():
            if joint.kind.nv == 1 and joint.mimic is None and joint.limits.effort[0] > 0:
                effort, velocity = joint.limits.effort[0], joint.limits.velocity[0]
                robot = robot.with_motor(joint.name, effort_limit=effort, velocity_limit=velocity)
        robot, estimates = with_estimates(robot, repair=repair, density=density)
        for finding in estimates if self.journal.strict else ():
            self.journal.note(finding.kind, finding.subject, finding.message, self.lines.get(finding.subject))
        # not in the file at all, and so no reason for a strict reader to refuse it
        remarks = [base_finding(robot.name, feet)] if feet else []
        more = Report([*remarks, *robot.report, *estimates])
        return replace(robot, report=self.journal.report(lines=self.lines, more=more))

    # ---- links

    def _settle_world(self, base: str) -> None:
        """A root link named "world" is the world if the base is fixed; any other link of that name is renamed."""
        world = next((link for link in self.links if link.attributes.get("name") == WORLD), None)
        if world is None:
            return
        if base == "fixed" and WORLD not in self._ends("child"):
            self.links.remove(world)
            for child in world.children:
                self.journal.note("dropped", f"link {WORLD!r}", f"<{child.tag}>: the world has none", child.line)
            return
        taken = {link.attributes.get("name") for link in self.links}
        other = next(n for n in ("world_link", *(f"world_link_{k}" for k in range(len(taken)))) if n not in taken)
        self.renamed[WORLD] = other
        self.journal.note(
            "repaired", f"link {WORLD!r}", f"called {other!r}, since Pliant's world never moves", world.line
        )

    def _settle_root_joint(self) -> None:
        """If the file has a joint of the name that the builder gives its own, attach the root by another."""
        roots = [name for name in map(self._name, self.links) if name not in self._ends("child")]
        if f"joint {ROOT_JOINT!r}" in self.lines and len(roots) == 1:
            self.builder.joint("world_joint", Fixed(), WORLD, roots[0])

    def _name(self, link: Element) -> str:
        given = required(link, "name", self.journal)
        return self.renamed.get(given, given)

    def _ends(self, role: str) -> list[str]:
        """The links that joints name as parent or child."""
        ends = [joint.first(role) for joint in self.joints]
        return [end.attributes.get("link", "") for end in ends if end is not None]

    def _read_link(self, link: Element, repair: bool) -> None:
        journal = self.journal
        name = self._name(link)
        journal.unread(link, ("inertial", "visual", "collision"), ("name",))
        mass, com, tensor, rpy = 0.0, (0.0, 0.0, 0.0), (0.0,) * 6, (0.0, 0.0, 0.0)
        inertial = link.first("inertial")
        if inertial is not None:
            journal.unread(inertial, ("origin", "mass", "inertia"))
            com, rpy = origin(inertial, journal)
            mass = number(self._part(inertial, "mass"), "value", journal)
            entries = self._part(inertial, "inertia")
            tensor = tuple(number(entries, key, journal) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        if mass == 0 and any(tensor):
            message = "it has a moment of inertia but no mass" + ("; the moment is set to 0" if repair else "")
            self.journal.note("repaired" if repair else "odd", f"body {name!r}", message, link.line)
            tensor = (0.0,) * 6 if repair else tensor
        with self._place(link.line):
            self.builder.body(
                name, mass, com, tensor, rpy, self.shapes.of(link, "visual"), self.shapes.of(link, "collision")
            )
        self.lines[f"body {name!r}"] = link.line

    def _part(self, element: Element, tag: str) -> Element:
        part = element.first(tag)
        if part is None:
            subject = f"<{element.tag}>"
            problem = f"{subject} has no <{tag}>"
            raise self.journal.error(problem, element.line, subject=subject, field=tag, cure="add it")
        return part

    # ---- joints

    def _leaders(self, couple: bool) -> dict[str, Mimic]:
        """For each joint that follows another, its leader; empty if joints are not to be coupled."""
        moving = {j.attributes.get("name", ""): j for j in self.joints if j.attributes.get("type") in ONE_DOF}
        wishes = {name: j.first("mimic") for name, j in moving.items()}
        leaders: dict[str, Mimic] = {}
        for name, wish in wishes.items():
            if wish is None:
                continue
            self.journal.unread(wish, (), ("joint", "multiplier", "offset"))
            leader, subject = required(wish, "joint", self.journal), f"joint {name!r}"
            if leader not in moving:
                missing = unknown_name("moving joint", leader, moving)
                self.journal.note("odd", subject, f"it mimics nothing ({missing}); it is a joint of its own", wish.line)
            elif not couple:
                self.journal.ignored("<mimic>", "not followed, a joint of its own (mimic=True couples it)", wish.line)
            elif name in _chain(leaders, leader):
                self.journal.note("odd", subject, "it mimics itself in the end; it is a joint of its own", wish.line)
            else:
                multiplier = number(wish, "multiplier", self.journal, 1)
                leaders[name] = Mimic(leader, multiplier, number(wish, "offset", self.journal, 0))
        return leaders

    def _read_joint(self, joint: Element, leaders: dict[str, Mimic]) -> None:
        journal = self.journal
        name, type_ = required(joint, "name", journal), required(joint, "type", journal)
        known = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
        journal.unread(joint, known, ("name", "type"))
        if type_ not in TYPES:
            fault = unknown_name("type of joint", type_, TYPES, f"joint {name!r}")
            raise journal.error(replace(fault, subject=f"joint {name!r}", field="type"), joint.line)
        ends = [required(self._part(joint, role), "link", journal) for role in ("parent", "child")]
        parent, child = (self.renamed.get(end, end) for end in ends)
        position, rpy = origin(joint, journal)
        limits, damping, friction = Limits(), 0.0, 0.0
        if type_ in ONE_DOF:
            limits = self._limits(joint, f"joint {name!r}", type_)
            damping, friction = self._losses(joint, f"joint {name!r}")
        with self._place(joint.line):
            self.builder.joint(
                name, self._kind(joint, name, type_), parent, child, position, rpy,
                limits=limits, damping=damping, friction=friction, mimic=leaders.get(name),
            )  # fmt: skip
        self.lines[f"joint {name!r}"] = joint.line

    def _kind(self, joint: Element, name: str, type_: str) -> JointKind:
        if type_ in ("fixed", "floating"):
            return TYPES[type_]()
        x, y, z = numbers(joint.first("axis"), "xyz", 3, self.journal, (1, 0, 0))
        if x == y == z == 0:
            self.journal.note(
                "guessed", f"joint {name!r}", "axis 0 0 0 has no direction: 1 0 0, URDF's default", joint.line
            )
            x = 1
        return TYPES[type_]((x, y, z))

    def _limits(self, joint: Element, subject: str, type_: str) -> Limits:
        limit = joint.first("limit")
        if limit is None:
            if type_ != "continuous":
                self.journal.note("guessed", subject, "it has no <limit>: none", joint.line)
            return Limits()
        self.journal.unread(limit, (), ("lower", "upper", "effort", "velocity"))
        effort, velocity = (self._bound(limit, key, subject) for key in ("effort", "velocity"))
        if type_ == "continuous":
            return Limits(velocity=velocity, effort=effort)
        lower, upper = (number(limit, key, self.journal, 0, infinite=True) for key in ("lower", "upper"))
        if lower == upper:
            self.journal.note("odd", subject, f"lower and upper limit are both {lower:g}: it cannot move", limit.line)
        return Limits(lower, upper, velocity, effort)

    def _bound(self, limit: Element, key: str, subject: str) -> float:
        if key not in limit.attributes:
            self.journal.note("guessed", subject, f"<limit> has no {key}: none", limit.line)
            return math.inf
        value = number(limit, key, self.journal, infinite=True)
        if value < 0:
            self.journal.note("guessed", subject, f"{key} limit {value:g} is negative: {-value:g}", limit.line)
        return abs(value)

    def _losses(self, joint: Element, subject: str) -> tuple[float, float]:
        dynamics = joint.first("dynamics")
        if dynamics is not None:
            self.journal.unread(dynamics, (), ("damping", "friction"))
        values = {key: number(dynamics, key, self.journal, 0) for key in ("damping", "friction")}
        for key, value in values.items():
            if value < 0:
                self.journal.note(
                    "guessed", subject, f"{key} {value:g} is negative and would drive the joint: 0", joint.line
                )
        return max(values["damping"], 0), max(values["friction"], 0)

    @contextmanager
    def _place(self, line: int | None = None) -> Iterator[None]:
        """Give the builder's errors a line of the file: this one, or that of their subject."""
        try:
            yield
        except RobotError as error:
            raise error.at(self.journal.source, line or self.lines.get(error.subject)) from None


def _joint_ends(joint: Element) -> tuple[str, str] | None:
    """The links that a joint names, or None if it lacks one."""
    parent, child = joint.first("parent"), joint.first("child")
    return (
        None
        if parent is None or child is None
        else (parent.attributes.get("link", ""), child.attributes.get("link", ""))
    )


def _chain(leaders: dict[str, Mimic], name: str) -> list[str]:
    """A joint, its leader, the leader's leader, and so on."""
    chain = [name]
    while chain[-1] in leaders:
        chain.append(leaders[chain[-1]].joint)
    return chain


# ---- shapes


class _Shapes:
    """Reads visual and collision shapes of one robot's links: references to meshes, which are never opened here."""

    def __init__(self, root: Element, packages: Packages, journal: Journal):
        self.packages = packages
        self.journal = journal
        self.colors: dict[str, Color] = {}
        visuals = [visual for link in root.all("link") for visual in link.all("visual")]
        for material in [*root.all("material"), *(m for visual in visuals for m in visual.all("material"))]:
            self._define(material)

    def of(self, link: Element, tag: str) -> tuple[Geometry, ...]:
        """The shapes of a link under <visual> or <collision>, without those that cannot be used."""
        found = [self._shape(element) for element in link.all(tag)]
        return tuple(shape for shape in found if shape is not None)

    def _shape(self, element: Element) -> Geometry | None:
        self.journal.unread(element, ("origin", "geometry", "material"), ("name",))
        holder = element.first("geometry")
        shape = next((c for c in holder.children if c.tag in (*SIZES, "box", "mesh")), None) if holder else None
        if shape is None:
            valid = ", ".join(("box", *SIZES, "mesh"))
            self.journal.note("refused", f"<{element.tag}>", f"it has no shape; known are {valid}", element.line)
            return None
        position, rpy = origin(element, self.journal)
        X_BG = Transform(rotation_from_rpy(*rpy), Vector(*position))
        name = element.attributes.get("name", "")
        color = self._color(element.first("material")) if element.tag == "visual" else None
        if shape.tag == "mesh":
            return self._mesh(shape, X_BG, name, color)
        size = (
            numbers(shape, "size", 3, self.journal)
            if shape.tag == "box"
            else tuple(number(shape, attribute, self.journal) for attribute in SIZES[shape.tag])
        )
        if min(size) <= 0:
            self.journal.note("odd", f"<{shape.tag}>", f"size {size} is not positive", shape.line)
        return Geometry(shape.tag, size, X_BG, name=name, color=color)  # type: ignore[arg-type]

    def _mesh(self, mesh: Element, X_BG: Transform, name: str, color: Color | None) -> Geometry | None:
        reference = required(mesh, "filename", self.journal)
        file = None
        try:
            file = str(self.packages.resolve(reference))
        except EscapingPathError as problem:
            self.journal.note("refused", "<mesh>", str(problem), mesh.line)
            return None
        except MissingFileError as problem:
            self.journal.ignored("<mesh>", f"{problem}: shape without a file", mesh.line)
        scale = numbers(mesh, "scale", 3, self.journal, (1, 1, 1))
        # a file that was not found may be found later, in folders given then
        source = MeshFile(reference, self.packages.folder, tuple(self.packages.given))
        return Geometry("mesh", (), X_BG, file=file, scale=scale, name=name, color=color, mesh=source)

    def _define(self, material: Element) -> None:
        """Remember a named colour; the first definition holds."""
        name, color = material.attributes.get("name", ""), self._own_color(material)
        if not name or color is None:
            return
        if self.colors.setdefault(name, color) != color:
            self.journal.note("odd", f"material {name!r}", "defined twice with different colours", material.line)

    def _own_color(self, material: Element) -> Color | None:
        color = material.first("color")
        try:
            return numbers(color, "rgba", 4, self.journal) if color is not None else None
        except RobotError:
            assert color is not None
            self.journal.note("odd", "<color>", "rgba is not four numbers: no colour", color.line)
            return None

    def _color(self, material: Element | None) -> Color | None:
        if material is None:
            return None
        self.journal.unread(material, ("color",), ("name",))
        name = material.attributes.get("name", "")
        color = self._own_color(material) or self.colors.get(name)
        if color is None and name:
            self.journal.ignored(f"material {name!r}", "has no colour anywhere in the file", material.line)
        return color


# ---- xacro


def _expanded_xacro(
    path: Path, packages: Iterable[str | Path], arguments: Mapping[str, Any], *, trusted: bool
) -> bytes:
    """The URDF that a xacro file expands to, with ``$(find package)`` in the folders, if the user said to trust it."""
    given = parse_xml(read_file(path), str(path)).attributes.get("name", "")
    name = given if given and "$" not in given else path.name.partition(".")[0]
    if not trusted:
        problem = "is xacro, a program: expanding it evaluates its Python expressions and reads the files it includes"
        cure = "if you trust it, load it with xacro=True; or expand it elsewhere and load the URDF"
        raise RobotError(f"{path} {problem}", subject=str(path), field="xacro", cure=cure)
    from xml.sax.saxutils import escape  # slow to import

    xacrodoc = needs("xacrodoc", "xacro", f"{path}: a xacro file")
    xacrodoc.packages.reset()
    xacrodoc.packages.walk_up_from(path)
    if folders := [str(Path(p).resolve()) for p in packages]:
        xacrodoc.packages.look_in(folders)
    taken = {str(name): _xacro_text(value) for name, value in arguments.items()}
    try:
        # by way of an include, so that the file's own includes are relative to it; meshes stay
        # package://, for our own rules of what may be referred to
        include = escape(str(path.resolve()))
        document = xacrodoc.XacroDoc.from_includes([include], name=name, resolve_packages=False, subargs=taken)
    except Exception as error:  # xacro raises whatever the expressions in the file raise
        problem = f"xacro could not expand it: {type(error).__name__}: {error}"
        raise RobotError(problem, subject=str(path), place=Place(str(path))) from error
    return document.dom.toxml(encoding="utf-8")


def _xacro_text(value: Any) -> str:
    """A value as xacro reads it: its true is written small."""
    return str(value).lower() if isinstance(value, bool) else str(value)
