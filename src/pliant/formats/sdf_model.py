"""An SDF model as flat lists of links, joints and frames: nested and included models taken in, poses resolved.

Names in a nested model get that of the model in front, "arm::wrist", as SDF has them. A pose is relative to what its
``relative_to`` names, or by default: of links and nested models to the model around them, of joints to their child, of
frames to what they are attached to.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pliant.errors import PliantError, unknown_name
from pliant.files.packages import EscapingPathError, MissingFileError, Packages
from pliant.files.xml import Element, parse_xml, read_file
from pliant.formats.journal import Journal, required
from pliant.formats.sdf_text import pose, words
from pliant.spatial import Transform

WORLD, MODEL = "world", "__model__"
MODEL_KNOWN = (
    "pose", "link", "joint", "frame", "model", "include", "static", "self_collide", "enable_wind",
    "allow_auto_disable",
)  # fmt: skip
# no robot has more; files that include each other in circles would
_MOST_INCLUDES = 200
_MOST_NESTED = 20


@dataclass(frozen=True)
class Scope:
    """A model as its elements see it.

    Attributes:
        prefix: of the names in it.
        frame: name of its own frame.
        version: of SDF, as (1, 7).
        packages: where its meshes and includes may be.
    """

    prefix: str
    frame: str
    version: tuple[int, int]
    packages: Packages
    journal: Journal


@dataclass(frozen=True)
class Item:
    """A link or joint in the file, with its full name."""

    name: str
    element: Element
    scope: Scope


@dataclass
class _Node:
    """A frame of the graph of poses: X, relative to another one; and the link that it is fixed to."""

    relative: str
    X: Transform
    attached: str
    line: int
    journal: Journal


@dataclass
class SdfModel:
    """A model, flat.

    Attributes:
        name: of the model.
        links, joints, frames: with their full names, in the order of the file.
        canonical: the link that leads the model.
        is_static: whether the whole model is fixed to the world.
        journals: of the files that it was read from, the first its own.
    """

    name: str
    links: list[Item] = field(default_factory=list)
    joints: list[Item] = field(default_factory=list)
    frames: list[Item] = field(default_factory=list)
    canonical: str = ""
    is_static: bool = False
    journals: list[Journal] = field(default_factory=list)
    _nodes: dict[str, _Node] = field(default_factory=dict)
    _poses: dict[str, Transform] = field(default_factory=lambda: {WORLD: Transform.identity()})

    # ---- reading

    def add(
        self, element: Element, scope: Scope, X: Transform, relative: str, placement: str = "", depth: int = 0
    ) -> None:
        """Take in a model and those within it.

        Args:
            X, relative: the pose of its frame, or of the frame in it that ``placement`` names.
        """
        journal = scope.journal
        if depth > _MOST_NESTED:
            raise journal.error(f"models are nested deeper than {_MOST_NESTED}", element.line, subject="<model>")
        journal.unread(element, MODEL_KNOWN, ("name", "canonical_link", "placement_frame"))
        own = {kind: self._items(element, kind, scope) for kind in ("link", "joint", "frame")}
        self.links += own["link"]
        self.joints += own["joint"]
        self.frames += own["frame"]
        self._node(scope.frame, _Node(relative, X, "", element.line, journal))
        for item in own["link"]:
            self._add_node(item, scope.frame, item.name)
        for item in own["joint"]:
            child = self.joint_end(item, "child")
            self._add_node(item, child, child)
        for item in own["frame"]:
            to = item.element.attributes.get("attached_to", "").strip()
            attached = self.full_name(to, scope) if to else scope.frame
            self._add_node(item, attached, attached)
        for nested in element.children:
            if nested.tag == "model":
                name = f"{scope.prefix}{required(nested, 'name', journal)}"
                inner = replace(scope, prefix=f"{name}::", frame=name)
                self.add(nested, inner, *self._placed(nested, nested, scope), depth + 1)
            elif nested.tag == "include":
                self._include(nested, scope, depth)
        self._lead(element, scope, own["link"])
        if placement:
            node = self._nodes[scope.frame]
            node.X = node.X @ self._within(self.full_name(placement, scope), scope, element).inverse()

    def _within(self, name: str, scope: Scope, element: Element) -> Transform:
        """The pose of a frame of a model in the model's own frame."""
        X, seen = Transform.identity(), set[str]()
        while name != scope.frame:
            if name in seen or name not in self._nodes:
                raise self._unknown(name, element.line, scope.journal)
            seen.add(name)
            X = self._nodes[name].X @ X
            name = self._nodes[name].relative
        return X

    def _lead(self, element: Element, scope: Scope, links: list[Item]) -> None:
        """Attach the model's frame to its canonical link: the one that it names, or its first."""
        given = element.attributes.get("canonical_link", "").strip()
        inside = (item.name for item in self.links if item.name.startswith(scope.prefix))
        first = self.full_name(given, scope) if given else next(iter([i.name for i in links]), next(inside, ""))
        self._nodes[scope.frame].attached = first
        self.canonical = first

    def _items(self, element: Element, kind: str, scope: Scope) -> list[Item]:
        found = element.all(kind)
        return [Item(f"{scope.prefix}{required(e, 'name', scope.journal)}", e, scope) for e in found]

    def _add_node(self, item: Item, relative: str, attached: str) -> None:
        place = item.element.first("pose")
        to = _relative_to(place, item.scope)
        relative = self.full_name(to, item.scope) if to else relative
        X = pose(place, item.scope.journal)
        self._node(item.name, _Node(relative, X, attached, item.element.line, item.scope.journal))

    def _node(self, name: str, node: _Node) -> None:
        if name in self._nodes or name == WORLD:
            problem = f"the name {name!r} is taken"
            raise node.journal.error(problem, node.line, subject=f"<{name}>", field="name", cure="names must be unique")
        self._nodes[name] = node

    def _placed(self, element: Element, given: Element, outer: Scope) -> tuple[Transform, str, str]:
        """The pose of a nested model, what it is relative to, and the frame in the model that is placed there.

        Args:
            element: with the <pose>, or else given has it: the model itself, where that is in another file.
        """
        place = element.first("pose") or given.first("pose")
        to = _relative_to(place, outer)
        relative = self.full_name(to, outer) if to else outer.frame
        placement = words(element, "placement_frame") or given.attributes.get("placement_frame", "").strip()
        return pose(place, outer.journal), relative, placement

    def _include(self, element: Element, scope: Scope, depth: int) -> None:
        """Take in the model of another file."""
        found = included(element, scope, len(self.journals))
        if found is None:
            return
        model, inner = found
        self.journals.append(inner.journal)
        name = words(element, "name") or required(model, "name", inner.journal)
        is_merged = element.attributes.get("merge", "").lower() in ("1", "true")
        prefix = scope.prefix if is_merged else f"{scope.prefix}{name}::"
        frame = f"{scope.prefix}{name}" + ("__merged__" if is_merged else "")
        inner = replace(inner, prefix=prefix, frame=frame)
        canonical = self.canonical
        self.add(model, inner, *self._placed(element, model, scope), depth + 1)
        self.canonical = canonical or self.canonical

    # ---- names and poses

    @cached_property
    def _link_names(self) -> set[str]:
        return {link.name for link in self.links}

    def full_name(self, name: str, scope: Scope) -> str:
        """The full name of what a name means in a model."""
        if name in (MODEL, ""):
            return scope.frame
        if name == WORLD:
            return WORLD
        return scope.prefix + name.removesuffix(f"::{MODEL}")

    def joint_end(self, item: Item, role: str) -> str:
        """The full name of a joint's parent or child."""
        given = words(item.element, role)
        if not given:
            # from version 1.10 on in an attribute, too
            end = item.element.first(role)
            given = end.attributes.get("link", "").strip() if end is not None else ""
        if not given:
            subject = f"joint {item.name!r}"
            problem = f"{subject} has no <{role}>"
            raise item.scope.journal.error(problem, item.element.line, subject=subject, field=role, cure="add it")
        return self.full_name(given, item.scope)

    def attached_link(self, name: str, item: Item) -> str:
        """The link, or the world, that a name leads to in the end."""
        seen = set[str]()
        while name not in self._link_names and name != WORLD:
            if name in seen or name not in self._nodes:
                raise self._unknown(name, item.element.line, item.scope.journal)
            seen.add(name)
            name = self._nodes[name].attached
        return name

    def pose_of(self, name: str) -> Transform:
        """The pose of a link, joint, frame or model in the world, with the robot as the file has it."""
        chain: dict[str, _Node] = {}
        here = name
        while here not in self._poses:
            if here in chain:
                node, loop = self._nodes[here], " -> ".join([*list(chain)[-4:], here])
                problem = f"the pose of {here!r} is relative to itself: {loop}"
                raise node.journal.error(problem, node.line, subject=f"<{here}>", field="relative_to")
            if here not in self._nodes:
                last = list(chain.values())[-1]
                raise self._unknown(here, last.line, last.journal)
            chain[here] = self._nodes[here]
            here = self._nodes[here].relative
        for here in reversed(chain):
            node = self._nodes[here]
            self._poses[here] = self._poses[node.relative] @ node.X
        return self._poses[name]

    def pose_in(self, name: str, element: Element, scope: Scope) -> Transform:
        """The pose of an element of a link, such as a shape, in the link."""
        place = element.first("pose")
        X, to = pose(place, scope.journal), _relative_to(place, scope)
        if not to or self.full_name(to, scope) == name:
            return X
        other = self.full_name(to, scope)
        if other not in self._nodes and other != WORLD:
            raise self._unknown(other, element.line, scope.journal)
        return self.pose_of(name).inverse() @ self.pose_of(other) @ X

    def _unknown(self, name: str, line: int, journal: Journal) -> PliantError:
        fault = unknown_name("link, joint or frame", name, [*self._nodes, WORLD], f"model {self.name!r}")
        return journal.error(replace(fault, subject=f"model {self.name!r}"), line)


def _relative_to(place: Element | None, scope: Scope) -> str:
    """The frame that a pose names, "" for none; before 1.7 the attribute ``frame`` meant nothing."""
    if place is None:
        return ""
    if scope.version < (1, 7) and place.attributes.get("frame", "").strip():
        scope.journal.ignored("attribute 'frame'", "had no meaning in <pose> before SDF 1.7", place.line)
    return place.attributes.get("relative_to", "").strip()


# ---- files


def version_of(root: Element, journal: Journal) -> tuple[int, int]:
    """The version of SDF that a file says it is."""
    text = root.attributes.get("version", "")
    major, _, minor = text.partition(".")
    minor = minor.partition(".")[0]
    if major.isdecimal() and minor.isdecimal() and len(text) < 10:
        found = int(major), int(minor)
        if not (1, 4) <= found <= (1, 12):
            journal.note("odd", "<sdf>", f"version {text} is read as {'1.4' if found < (1, 4) else '1.11'}", root.line)
        return found
    journal.note("guessed", "<sdf>", f"version {text!r} is none: 1.11", root.line)
    return 1, 11


def included(element: Element, scope: Scope, count: int) -> tuple[Element, Scope] | None:
    """The model that an <include> names, and its scope; None, with a finding, if it may not or cannot be read."""
    journal, uri = scope.journal, words(element, "uri")
    journal.unread(element, ("uri", "name", "pose", "placement_frame", "static"), ("merge",))
    subject = f"<include> of {uri!r}"
    if count > _MOST_INCLUDES:
        cure = "does a file include itself?"
        raise journal.error(f"more than {_MOST_INCLUDES} files are included", element.line, subject=subject, cure=cure)
    try:
        path = model_file(uri, scope.packages)
    except EscapingPathError as problem:
        journal.note("refused", subject, str(problem), element.line)
        return None
    except MissingFileError as problem:
        journal.note("refused", subject, f"{problem}: left out", element.line)
        return None
    inner_journal = Journal(str(path), journal.strict)
    root = parse_xml(read_file(path), str(path), texts=True)
    models = list(all_models(root)) if root.tag == "sdf" else []
    if not models:
        journal.note("refused", subject, "the file has no SDF model", element.line)
        return None
    if len(models) > 1:
        journal.note("dropped", subject, f"of its {len(models)} models, the first is taken", element.line)
    packages = Packages(path.parent, dict.fromkeys([*scope.packages.given, *scope.packages.roots]))
    return models[0], Scope("", "", version_of(root, inner_journal), packages, inner_journal)


def all_models(root: Element) -> Iterator[Element]:
    """The models of a file, also those of its worlds."""
    for child in root.children:
        if child.tag == "model":
            yield child
        elif child.tag == "world":
            yield from child.all("model")


def model_file(uri: str, packages: Packages) -> Path:
    """The SDF file that a URI leads to: itself, or the newest that the model.config of its folder names."""
    if uri.endswith((".sdf", ".xml", ".urdf", ".config")):
        return packages.resolve(uri)
    config = packages.resolve(f"{uri.rstrip('/')}/model.config")
    root = parse_xml(read_file(config), str(config), texts=True)
    names = [(e.attributes.get("version", ""), e.text.strip()) for e in root.all("sdf") if e.text.strip()]
    if not names:
        raise MissingFileError(f"{config} names no <sdf>", subject=uri)
    newest = max(names, key=lambda pair: [int(n) if n.isdecimal() else 0 for n in pair[0].split(".")])
    return packages.resolve(newest[1], config)
