"""SDF files, versions 1.4 to 1.11: the model, as a tree of bodies with closures and couplings.

Bodies are the links, in the frames of the file; q = 0 is the pose in which the file has them. A joint's frame need not
be that of its child: then the joint carries a body without mass, to which the link is fixed.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pliant.checks import check_at_least, check_one_of
from pliant.errors import RobotError, unknown_name
from pliant.files.packages import Packages
from pliant.files.xml import Element, parse_xml, read_file
from pliant.formats.journal import Journal, required
from pliant.formats.missing_inertia import DENSITY, shapes_inertia, with_estimates
from pliant.formats.sdf_joints import KINDS, JointPlan, coupled, joint_plan
from pliant.formats.sdf_model import WORLD, Item, Scope, SdfModel, all_models, included, version_of
from pliant.formats.sdf_shapes import shapes_of
from pliant.formats.sdf_text import flag, number, pose, words
from pliant.formats.sdf_tree import Carried, Tree, largest_tree
from pliant.robot import Finding, Fixed, Flexibility, Geometry, Report, Robot, RobotBuilder
from pliant.robot.mechanism import snapped_transform
from pliant.signatures import explained
from pliant.spatial import Inertia, Transform, rpy_from_matrix

_LINK_KNOWN = (
    "pose", "inertial", "visual", "collision", "gravity", "self_collide", "kinematic", "must_be_base_link",
    "enable_wind",
)  # fmt: skip


@explained
def load_sdf(
    path: str | Path,
    *,
    base: Literal["fixed", "free"] | None = None,
    packages: str | Path | Iterable[str | Path] = (),
    model: str | None = None,
    motors: str | Iterable[str] | None = None,
    strict: bool = False,
    repair: bool = False,
    density: float = DENSITY,
    name: str | None = None,
) -> Robot:
    """The robot that an SDF file describes.

    Links are bodies, joints are joints, and q = 0 is the pose in which the
    file has them. A link with two parents closes a loop: one of its joints becomes a closure. A gearbox couples two
    joints: the faster one follows. A joint with a spring is a flexible joint. Nested and included models are taken in,
    with their names in front. The format does not say which joints have motors, see ``motors``.

    What is odd, guessed or dropped is in ``robot.report``, as `load_urdf` has it, and files are as untrusted.

    Args:
        path: of a ``.sdf`` or ``.world`` file.
        base: "fixed" fixes the first link where the file has it; by default the robot is free, unless a joint holds it
            to the world, or it is static.
        packages: folders, or one, in which the models and packages of ``model://`` and ``package://`` lie. Searched
            after these: the file's folder, those around it, and GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, SDF_PATH,
            ROS_PACKAGE_PATH.
        model: the name of a model, if the file has several; by default the one with the most links.
        motors: joints that have motors, by name or pattern ("*_knee"); by default those that gearboxes drive, or, if
            there are none, all of one degree of freedom without a spring, unless their effort limit is 0.
        strict: whether odd and missing values raise an error.
        repair: correct impossible inertias and reversed limits, and report how.
        density: of links with ``<inertial auto="true">``, if they do not say [kg/m^3].
        name: of the robot, if not the model's.
    """
    if base is not None:
        check_one_of("base", base, ("fixed", "free"), error=RobotError)
    check_at_least("density", density, 0, strict=True, subject="load_sdf", error=RobotError)
    path, folders = Path(path), [packages] if isinstance(packages, (str, Path)) else list(packages)
    journal = Journal(str(path), strict)
    root = parse_xml(read_file(path), journal.source, texts=True)
    if root.tag != "sdf":
        what = {"robot": "this is URDF", "mujoco": "this is MJCF"}.get(root.tag, "this is not SDF")
        problem = f"the root element is <{root.tag}>, not <sdf>: {what}"
        raise journal.error(problem, root.line, subject=f"<{root.tag}>")
    scope = Scope("", "", version_of(root, journal), Packages(path.parent, folders), journal)
    element, scope = _chosen_model(root, scope, model)
    reader = _Reader(element, scope, journal, name)
    made = reader.robot(base, [motors] if isinstance(motors, str) else motors, repair, density)
    return replace(made, file=path.absolute())


def _chosen_model(root: Element, scope: Scope, name: str | None) -> tuple[Element, Scope]:
    """The model of that name, or the one with the most links; the others are reported."""
    journal = scope.journal
    found = [(model, scope) for model in all_models(root)]
    for world in [root, *root.all("world")]:
        for element in world.all("include"):
            one = included(element, scope, len(found))
            if one is not None:
                found.append(one)
    names = [model.attributes.get("name", "") for model, _ in found]
    if not found:
        cure = "is it a world without models, or are these in other folders? give these as packages="
        raise journal.error("the file has no model", root.line, subject="<sdf>", field="model", cure=cure)
    if name is not None and name not in names:
        raise journal.error(replace(unknown_name("model", name, names, journal.source), field="model"))
    sizes = [sum(1 for _ in _links(model)) for model, _ in found]
    k = names.index(name) if name is not None else sizes.index(max(sizes))
    if len(found) > 1:
        others = ", ".join(repr(other) for j, other in enumerate(names) if j != k)
        message = f"the robot is model {names[k]!r} (model= takes another); not read: {others}"
        journal.note("dropped", "<sdf>", message, found[k][0].line)
    return found[k]


def _links(model: Element) -> Iterator[Element]:
    """The links of a model and of those within it."""
    stack = [model]
    while stack:
        here = stack.pop()
        yield from here.all("link")
        stack += here.all("model")


@dataclass
class _Inertial:
    """Of a link, in its own frame."""

    mass: float
    com: Sequence[Any]
    tensor: Sequence[Any]
    rpy: Sequence[Any]


class _Reader:
    """Hands links and joints of one model to a builder."""

    def __init__(self, element: Element, scope: Scope, journal: Journal, name: str | None):
        own = required(element, "name", scope.journal)
        self.journal = journal
        self.model = SdfModel(own, journals=[journal] if scope.journal is journal else [journal, scope.journal])
        self.model.is_static = flag(element, "static")
        first = replace(scope, frame="__model__")
        self.model.add(element, first, pose(element.first("pose"), scope.journal), WORLD)
        if not self.model.links:
            cure = "is it a stub, or are its includes in other folders? give these as packages="
            raise journal.error("the model has no links", element.line, subject="<model>", field="link", cure=cure)
        self.builder = RobotBuilder(name or own)
        self.lines: dict[str, tuple[Journal, int]] = {}

    def robot(
        self, base: Literal["fixed", "free"] | None, motors: Iterable[str] | None, repair: bool, density: float
    ) -> Robot:
        model = self.model
        plans = [joint_plan(item, model) for item in model.joints if self._is_known(item)]
        edges = [plan.edge for plan in plans if plan.edge is not None]
        tree = largest_tree([link.name for link in model.links], edges, WORLD, model.canonical)
        by_name = {plan.item.name: plan for plan in plans}
        if tree.left_out:
            shown = ", ".join(map(repr, tree.left_out[:8])) + (", ..." if len(tree.left_out) > 8 else "")
            message = f"no joint joins them to the largest part of the model: not part of the robot: {shown}"
            self.journal.note("dropped", f"{len(tree.left_out)} links", message)
        inside = {tree.root, *(carried.child for carried in tree.carried)} - {WORLD}
        for item in [item for item in model.links if item.name in inside]:
            self._add_link(item, density)
        is_held = self._add_root(tree, base)
        couplings = coupled(plans, tree, model, self.journal)
        for carried in tree.carried:
            self._add_joint(by_name[carried.edge.name], carried, couplings.followers)
        for item in model.frames:
            self._add_frame(item, inside)
        with self._place():
            strict = self.journal.strict
            robot = self.builder.build(
                base="fixed" if is_held or base == "fixed" else "free", strict=strict, repair=repair
            )
        robot = self._with_closures(robot, tree, by_name)
        robot = _with_flexibilities(robot)
        robot = self._with_motors(robot, motors, couplings.driven)
        robot, estimates = with_estimates(robot, repair=repair, density=density)
        return replace(robot, report=self._report(Report([*robot.report, *estimates])))

    def _is_known(self, item: Item) -> bool:
        type_ = required(item.element, "type", item.scope.journal)
        if type_ in KINDS:
            return True
        subject = f"joint {item.name!r}"
        fault = unknown_name("type of joint", type_, KINDS, subject)
        raise item.scope.journal.error(replace(fault, subject=subject, field="type"), item.element.line)

    # ---- links

    def _add_link(self, item: Item, density: float) -> None:
        journal, element = item.scope.journal, item.element
        journal.unread(element, _LINK_KNOWN, ("name",))
        if words(element, "gravity").lower() in ("0", "false"):
            message = "it does not feel gravity in the file; here all bodies do"
            journal.note("dropped", f"body {item.name!r}", message, element.line)
        visuals, collisions = (shapes_of(item, tag, self.model) for tag in ("visual", "collision"))
        inertial = self._inertial(item, collisions, density)
        with self._place(item):
            self.builder.body(
                item.name, inertial.mass, inertial.com, inertial.tensor, inertial.rpy, visuals, collisions
            )
        self.lines[f"body {item.name!r}"] = journal, element.line

    def _inertial(self, item: Item, collisions: tuple[Geometry, ...], density: float) -> _Inertial:
        journal, subject = item.scope.journal, f"body {item.name!r}"
        element = item.element.first("inertial")
        if element is None:
            message = "it has no <inertial>: 1 kg and 1 kg m^2 about each axis, SDF's default"
            journal.note("guessed", subject, message, item.element.line)
            return _Inertial(1.0, (0, 0, 0), (1, 0, 0, 1, 0, 1), (0, 0, 0))
        journal.unread(element, ("pose", "mass", "inertia", "density"), ("auto",))
        if element.attributes.get("auto", "").lower() in ("1", "true"):
            rho = number(element, "density", journal, density)
            found, unread = shapes_inertia(collisions, rho)
            if found is None:
                message = f"its inertia is to be that of its collision shapes, of which none can be read: 0 ({unread})"
                journal.note("odd", subject, message, element.line)
                found = Inertia.zero()
            return _of_com(found)
        X = pose(element.first("pose"), journal)
        entries = element.first("inertia")
        defaults = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}
        if entries is None:
            journal.note("guessed", subject, "it has no <inertia>: 1 kg m^2 about each axis", element.line)
        tensor = [number(entries, key, journal, value) for key, value in defaults.items()]
        mass = number(element, "mass", journal, 1.0)
        if mass == 0 and any(tensor):
            journal.note("odd", subject, "it has a moment of inertia but no mass", element.line)
        return _Inertial(mass, list(X.p), tensor, rpy_from_matrix(X.R.matrix()))

    # ---- joints

    def _add_root(self, tree: Tree, base: str | None) -> bool:
        """The joint of the root, if the world holds it; whether it does."""
        held = any(carried.parent == WORLD for carried in tree.carried)
        if held and base == "free":
            problem = f"the base cannot be free: joint {tree.carried[0].edge.name!r} attaches it to the world"
            raise self.journal.error(problem, subject="load_sdf", field="base", cure="leave base= out")
        if tree.root != WORLD and (base == "fixed" or (self.model.is_static and base is None)):
            X = snapped_transform(self.model.pose_of(tree.root))
            self.builder.joint("root_joint", Fixed(), WORLD, tree.root, list(X.p), rpy_from_matrix(X.R.matrix()))
            held = True
        return held

    def _add_joint(self, plan: JointPlan, carried: Carried, followers: dict[str, Any]) -> None:
        """The joints and bodies that stand for a joint of the file, from its parent to the link that it carries."""
        model, name = self.model, plan.item.name
        X_WP, X_WJ, X_WC = (model.pose_of(n) for n in (carried.parent, name, carried.child))
        parts = plan.parts(X_WC.inverse() @ X_WJ, carried.is_turned)
        X_PJ = snapped_transform(X_WP.inverse() @ (X_WC if parts.is_at_child else X_WJ))
        parent, place = carried.parent, X_PJ
        with self._place(plan.item):
            for k, part in enumerate(parts.joints):
                own, child = name + part.suffix, carried.child
                if isinstance(part.kind, Fixed) and k > 0:
                    place = snapped_transform(X_WJ.inverse() @ X_WC)
                if k < len(parts.joints) - 1:
                    child = f"{name}::body{k + 1}"
                    self.builder.body(child)
                self.builder.joint(
                    own, part.kind, parent, child, list(place.p), rpy_from_matrix(place.R.matrix()), limits=part.limits,
                    damping=part.damping, friction=part.friction, stiffness=part.stiffness, rest=part.rest,
                    mimic=followers.get(own),
                )  # fmt: skip
                self.lines[f"joint {own!r}"] = plan.item.scope.journal, plan.item.element.line
                parent, place = child, Transform.identity()
        if plan.type == "ball" and carried.is_turned:
            message = f"it carries its parent {carried.child!r} here, and its coordinates are the inverse turn"
            plan.item.scope.journal.note("repaired", f"joint {name!r}", message, plan.item.element.line)

    def _add_frame(self, item: Item, inside: set[str]) -> None:
        link = self.model.attached_link(item.name, item)
        if link not in inside:
            return
        X = snapped_transform(self.model.pose_of(link).inverse() @ self.model.pose_of(item.name))
        with self._place(item):
            self.builder.frame(item.name, link, list(X.p), rpy_from_matrix(X.R.matrix()))

    # ---- after the tree

    def _with_closures(self, robot: Robot, tree: Tree, plans: dict[str, JointPlan]) -> Robot:
        """The robot with the joints that close loops."""
        for edge in tree.closing:
            plan, subject = plans[edge.name], f"joint {edge.name!r}"
            journal, line = plan.item.scope.journal, plan.item.element.line
            if plan.closure is None:
                message = (
                    f"it closes a loop, and no closure can stand for a {plan.type} joint: the loop stays open here"
                )
                journal.note("dropped", subject, message, line)
                continue
            X_WJ = self.model.pose_of(edge.name)
            with self._place(plan.item):
                for role, link in (("parent", edge.parent), ("child", edge.child)):
                    X = snapped_transform(self.model.pose_of(link).inverse() @ X_WJ)
                    robot = robot.with_frame(f"{edge.name}::{role}", link, list(X.p), rpy_from_matrix(X.R.matrix()))
                axis = plan.axes[0].direction if plan.closure == "hinge" else (0, 0, 1)
                ends = f"{edge.name}::parent", f"{edge.name}::child"
                robot = robot.with_closure(plan.closure, *ends, axis=axis, name=edge.name)
            lost = plan.lost_in_closure()
            if lost:
                message = f"it closes a loop, as a {plan.closure} closure, which has no {' and no '.join(lost)}"
                journal.note("dropped", subject, message, line)
        return robot

    def _with_motors(self, robot: Robot, chosen: Iterable[str] | None, led: set[str]) -> Robot:
        """The robot with motors on the joints that are chosen, or that gearboxes drive, or else on all."""
        able = [j for j in robot.joints.values() if j.kind.nv == 1 and j.mimic is None]
        if chosen is not None:
            names = []
            for pattern in chosen:
                found = fnmatch.filter([j.name for j in able], pattern)
                if not found:
                    raise RobotError(unknown_name("joint with one degree of freedom", pattern, [j.name for j in able]))
                names += [name for name in found if name not in names]
        else:
            names = [j.name for j in able if not j.has_spring and j.limits.effort[0] > 0 and (not led or j.name in led)]
            if led:
                passive = len(able) - len(names)
                message = (
                    f"motors on the {len(names)} joints that gearboxes drive; {passive} others are passive (motors=)"
                )
                finding = Finding("guessed", f"robot {robot.name!r}", message)
                robot = replace(robot, report=Report([*robot.report, finding]))
        for name in names:
            limits = robot.joints[name].limits
            robot = robot.with_motor(name, effort_limit=limits.effort[0], velocity_limit=limits.velocity[0])
        return robot

    # ---- findings

    def _report(self, more: Report) -> Report:
        """The findings of all files: those of included ones name their file."""
        own = {subject: line for subject, (journal, line) in self.lines.items() if journal is self.journal}
        found = list(self.journal.report(lines=own, more=more))
        for journal in self.model.journals[1:]:
            source = Path(journal.source).name
            for f in journal.report(lines={}, more=Report()):
                found.append(Finding(f.kind, f.subject, f"{f.message} ({source}:{f.line})"))
        return Report(found)

    @contextmanager
    def _place(self, item: Item | None = None) -> Iterator[None]:
        """Give the builder's errors a line of the file: that of an element, or of their subject."""
        try:
            yield
        except RobotError as error:
            journal, line = self.journal, None
            if item is not None:
                journal, line = item.scope.journal, item.element.line
            elif error.subject in self.lines:
                journal, line = self.lines[error.subject]
            raise error.at(journal.source, line) from None


def _with_flexibilities(robot: Robot) -> Robot:
    """The robot with its joints that have springs as flexible ones."""
    springs = [joint.name for joint in robot.joints.values() if joint.has_spring]
    return replace(robot, flexibilities=robot.flexibilities.extended(*map(Flexibility, springs)))


def _of_com(found: Inertia) -> _Inertial:
    """An inertia about the frame's origin as mass, centre of mass, and tensor about that."""
    if found.mass == 0:
        return _Inertial(0.0, (0, 0, 0), (0,) * 6, (0, 0, 0))
    com = [h / found.mass for h in found.h]
    return _Inertial(found.mass, com, list(found.about_com()), (0, 0, 0))
