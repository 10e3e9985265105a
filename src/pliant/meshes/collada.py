"""Collada scenes (.dae): the points of their geometries, placed by their nodes.

Read as ROS tools and Pinocchio do: in metres by the file's unit, and with the scene's axes taken as they
are, whatever <up_axis> says, since robot files place meshes by those axes.
"""

import math
from collections.abc import Iterator

import numpy as np

from pliant.errors import RobotError
from pliant.files.xml import Element, parse_xml
from pliant.meshes.text_numbers import indices, numbers

__all__ = ["FACES", "MAX_POINTS", "Scene", "collada_points", "collada_scene"]

MAX_NODES = 20_000  # nodes may stand for others: a small file can describe a scene without end
MAX_POINTS = 5_000_000
MAX_NESTING = 100
FACES = ("triangles", "polylist", "polygons", "trifans", "tristrips")


def collada_points(data: bytes, source: str, max_bytes: int) -> np.ndarray:
    """The points (n, 3) of all geometries in the scene of a Collada document [m].

    Args:
        data: the document.
        source: its file name, for messages.
        max_bytes: largest size to accept.
    """
    return collada_scene(data, source, max_bytes).points()


def collada_scene(data: bytes, source: str, max_bytes: int) -> "Scene":
    """The scene of a Collada document; arguments as `collada_points`."""
    root = parse_xml(data, source, texts=True, max_bytes=max_bytes)
    if root.tag != "COLLADA":
        raise RobotError(f"{source}:{root.line}: the root element is <{root.tag}>, not <COLLADA>; export it again")
    return Scene(root, source)


class Scene:
    """Follows the nodes of one document."""

    def __init__(self, root: Element, source: str):
        self.source = source
        self.root = root
        self.by_id = {e.attributes["id"]: e for e in _everything(root) if "id" in e.attributes}
        self.positions: dict[int, np.ndarray] = {}

    def points(self) -> np.ndarray:
        parts: list[np.ndarray] = []
        total = 0
        for geometry, X, _ in self.placed():
            part = self._positions(geometry) @ X[:3, :3].T + X[:3, 3]
            total += len(part)
            if total > MAX_POINTS:
                raise self.error(geometry, f"the scene has more than {MAX_POINTS} points; simplify it")
            parts.append(part)
        return np.concatenate(parts) * self.unit() if parts else np.zeros((0, 3))

    def unit(self) -> float:
        """Metres in the file's unit of length."""
        asset = self.root.first("asset")
        unit = asset.first("unit") if asset else None
        if unit is None or "meter" not in unit.attributes:
            return 1
        meter = self.numbers(unit, unit.attributes["meter"], 1)[0]
        if not 0 < meter < math.inf:
            raise self.error(unit, f"a unit of {meter} m; export it again")
        return meter

    def placed(self) -> Iterator[tuple[Element, np.ndarray, Element | None]]:
        """Each geometry of the scene with its pose and stretch (4, 4) there, and the element that puts it there.

        If there is no scene, all geometries are placed, by none.
        """
        scene = self.root.first("scene")
        instance = scene.first("instance_visual_scene") if scene else None
        if instance is None:
            library = self.root.first("library_geometries")
            yield from ((geometry, np.eye(4), None) for geometry in (library.all("geometry") if library else []))
            return
        stack = [(node, np.eye(4), 0) for node in self.target(instance).all("node")]
        count = 0
        while stack:
            node, X, depth = stack.pop()
            count += 1
            if count > MAX_NODES or depth > MAX_NESTING:
                raise self.error(node, f"more than {MAX_NODES} nodes, or nested deeper than {MAX_NESTING}")
            X = X @ self._transform(node)
            stack += [(child, X, depth + 1) for child in node.all("node")]
            stack += [(self.target(child), X, depth + 1) for child in node.all("instance_node")]
            for child in node.all("instance_geometry"):
                yield self.target(child), X, child

    def target(self, instance: Element) -> Element:
        url = instance.attributes.get("url", "")
        found = self.by_id.get(url.removeprefix("#"))
        if found is None or not url.startswith("#"):
            raise self.error(instance, f"it refers to {url!r}, which is not in the file")
        return found

    def _transform(self, node: Element) -> np.ndarray:
        """The product of the node's transforms, in the order of the file."""
        X = np.eye(4)
        for child in node.children:
            step = np.eye(4)
            match child.tag:
                case "matrix":
                    step = self.numbers(child, child.text, 16).reshape(4, 4)
                case "translate":
                    step[:3, 3] = self.numbers(child, child.text, 3)
                case "scale":
                    step[:3, :3] = np.diag(self.numbers(child, child.text, 3))
                case "rotate":
                    step[:3, :3] = _turn(*self.numbers(child, child.text, 4))
                case "lookat" | "skew":
                    raise self.error(child, "not read; apply the transforms and export it again")
                case _:
                    continue
            X = X @ step
        return X

    def _positions(self, geometry: Element) -> np.ndarray:
        """The points (n, 3) that a geometry's faces use; all of them if it has no faces."""
        key = id(geometry)
        if key not in self.positions:
            mesh = geometry.first("mesh")
            vertices = mesh.first("vertices") if mesh else None
            inputs = vertices.all("input") if vertices else []
            found = [i for i in inputs if i.attributes.get("semantic") == "POSITION"]
            points = self.triples(found[0]) if found else np.zeros((0, 3))
            if mesh is not None and any(faces.first("p") for faces in mesh.children if faces.tag in FACES):
                points = points[self._used(mesh, len(points))]
            self.positions[key] = points
        return self.positions[key]

    def _used(self, mesh: Element, count: int) -> np.ndarray:
        """Indices of the points that faces name: one number of every ``stride``, among those for normals and such."""
        used = [np.zeros(0, dtype=int)]
        for faces in mesh.children:
            if faces.tag not in FACES:
                continue
            offsets = {i.attributes.get("semantic"): i.attributes.get("offset", "") for i in faces.all("input")}
            if not all(o.isdecimal() and len(o) < 4 for o in offsets.values()) or "VERTEX" not in offsets:
                raise self.error(faces, "its inputs have no offsets; export it again")
            # several sets of texture coordinates have one semantic: the largest offset of all counts
            stride = 1 + max(int(i.attributes["offset"]) for i in faces.all("input"))
            for p in faces.all("p"):
                corners = indices(p.text)[int(offsets["VERTEX"]) :: stride]
                if not ((corners >= 0) & (corners < count)).all():
                    raise self.error(p, "it names a point that is not in the file; export it again")
                used.append(np.unique(corners.astype(int)))
        return np.unique(np.concatenate(used))

    def triples(self, entry: Element) -> np.ndarray:
        reference = entry.attributes.get("source", "")
        source = self.by_id.get(reference.removeprefix("#"))
        values = source.first("float_array") if source else None
        if values is None:
            raise self.error(entry, f"it refers to {reference!r}, which has no numbers")
        assert source is not None
        technique = source.first("technique_common")
        accessor = technique.first("accessor") if technique else None
        stride = accessor.attributes.get("stride", "3") if accessor else "3"
        if stride != "3":
            raise self.error(values, f"points of {stride} numbers instead of 3")
        return self.numbers(values, values.text).reshape(-1, 3)

    def numbers(self, element: Element, text: str, count: int | None = None) -> np.ndarray:
        values = numbers(text)
        stated = element.attributes.get("count", "")
        expected = count if count is not None else int(stated) if stated.isdecimal() and len(stated) < 12 else None
        if (expected is not None and len(values) != expected) or (count is None and len(values) % 3):
            what = f"{expected} numbers" if expected is not None else "numbers in threes"
            raise self.error(element, f"it should hold {what}, and does not; export it again")
        return values

    def error(self, element: Element, message: str) -> RobotError:
        return RobotError(f"{self.source}:{element.line}: <{element.tag}>: {message}")


def _everything(root: Element) -> Iterator[Element]:
    stack = [root]
    while stack:
        element = stack.pop()
        yield element
        stack += element.children


def _turn(x: float, y: float, z: float, degrees: float) -> np.ndarray:
    """The rotation about an axis of any length."""
    length = math.hypot(x, y, z)
    if not 0 < length < math.inf or not math.isfinite(degrees):
        return np.eye(3)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) / length
    angle = math.radians(degrees)
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k
