"""Collada scenes (.dae): the triangles of their geometries, placed by their nodes, with the colours of their materials.

Read as ROS tools and Pinocchio do: in metres by the file's unit, and with the scene's axes taken as they
are, whatever <up_axis> says, since robot files place meshes by those axes. A texture becomes a few colours.
"""

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.errors import Place, RobotError
from pliant.files.xml import Element, parse_xml
from pliant.meshes.surfaces import Color, Surface, fans
from pliant.meshes.text_numbers import indices, numbers

MAX_NODES = 20_000  # nodes may stand for others: a small file can describe a scene without end
MAX_NUMBERS = 10_000_000  # points and triangles of the scene
MAX_NESTING = 100
FACES = ("triangles", "polylist", "polygons", "trifans", "tristrips")
MAX_PIXELS = 40_000_000
COLORS = 8  # of a texture: enough to know a robot by, at a colour for each face
SIDE = 256  # pixels of the image that is kept: faces are larger
SHADERS = ("phong", "lambert", "blinn", "constant")


def collada_surfaces(data: bytes, source: str, content_of: Callable[[str], bytes], max_bytes: int) -> Iterator[Surface]:
    """The triangles of all geometries in the scene of a Collada document [m], by material.

    Those of one geometry in one place share their points; one without faces has its points only.

    Args:
        data, source: the document, and its file name for messages.
        content_of: the content of an image that it names; raises if it is not there or not allowed.
        max_bytes: largest size to accept.
    """
    root = parse_xml(data, source, texts=True, max_bytes=max_bytes)
    if root.tag != "COLLADA":
        problem, place = f"the root element is <{root.tag}>, not <COLLADA>", Place(source, root.line)
        raise RobotError(problem, subject=f"<{root.tag}>", cure="export it again", place=place)
    scene = _Document(root, source)
    materials = _Materials(scene, content_of)
    geometries: dict[int, tuple[np.ndarray, list[_Group]]] = {}
    unit, total = scene.unit(), 0
    # numbers that overflow are found as infinite points
    with np.errstate(over="ignore", invalid="ignore"):
        for geometry, X, instance in scene.placed():
            if id(geometry) not in geometries:
                geometries[id(geometry)] = _geometry(scene, geometry)
            points, groups = geometries[id(geometry)]
            total += len(points) + sum(len(group.faces) for group in groups)
            if total > MAX_NUMBERS:
                raise scene.error(geometry, f"the scene has more than {MAX_NUMBERS} points and faces", "simplify it")
            placed = (points @ X[:3, :3].T + X[:3, 3]) * unit
            if not groups:
                yield Surface(placed, np.zeros((0, 3), dtype=int))
            is_mirrored = np.linalg.det(X[:3, :3]) < 0
            for group in groups:
                faces = group.faces[:, ::-1] if is_mirrored else group.faces
                look = materials.of(group.material, instance)
                if isinstance(look, _Texture) and group.spots is not None:
                    yield from (Surface(placed, faces[chosen], color) for chosen, color in look.at(group.spots))
                else:
                    yield Surface(placed, faces, None if isinstance(look, _Texture) else look)


# ---- nodes


class _Document:
    """The elements of one document by their ids, and its nodes."""

    def __init__(self, root: Element, source: str):
        self.source = source
        self.root = root
        self.by_id = {e.attributes["id"]: e for e in _everything(root) if "id" in e.attributes}

    def unit(self) -> float:
        """Metres in the file's unit of length."""
        unit = _inside(self.root, "asset", "unit")
        if unit is None or "meter" not in unit.attributes:
            return 1
        meter = self.numbers(unit, unit.attributes["meter"], 1)[0]
        if not 0 < meter < math.inf:
            raise self.error(unit, f"a unit of {meter} m")
        return meter

    def placed(self) -> Iterator[tuple[Element, np.ndarray, Element | None]]:
        """Each geometry of the scene with its pose and stretch (4, 4) there, and the element that puts it there.

        If there is no scene, all geometries are placed, by none.
        """
        instance = _inside(self.root, "scene", "instance_visual_scene")
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
                raise self.error(node, f"more than {MAX_NODES} nodes, or nested deeper than {MAX_NESTING}", "")
            X = X @ self._transform(node)
            stack += [(child, X, depth + 1) for child in node.all("node")]
            stack += [(self.target(child), X, depth + 1) for child in node.all("instance_node")]
            for child in node.all("instance_geometry"):
                yield self.target(child), X, child

    def target(self, instance: Element) -> Element:
        """The element that another stands for."""
        url = instance.attributes.get("url", "")
        found = self.by_id.get(url.removeprefix("#"))
        if found is None or not url.startswith("#"):
            raise self.error(instance, f"it refers to {url!r}, which is not in the file", "")
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
                    raise self.error(child, "not read", "apply the transforms and export it again")
                case _:
                    continue
            X = X @ step
        return X

    def array(self, entry: Element, width: int) -> tuple[Element | None, str]:
        """The numbers that an <input> refers to, and how many belong together; ``width`` if it does not say."""
        source = self.by_id.get(entry.attributes.get("source", "").removeprefix("#"))
        accessor = _inside(source, "technique_common", "accessor")
        stride = accessor.attributes.get("stride") if accessor else None
        return _inside(source, "float_array"), stride or str(width)

    def triples(self, entry: Element) -> np.ndarray:
        """The points (n, 3) that an <input> refers to."""
        values, stride = self.array(entry, 3)
        if values is None:
            raise self.error(entry, f"it refers to {entry.attributes.get('source', '')!r}, which has no numbers", "")
        if stride != "3":
            raise self.error(values, f"points of {stride} numbers instead of 3", "")
        return self.numbers(values, values.text).reshape(-1, 3)

    def numbers(self, element: Element, text: str, count: int | None = None) -> np.ndarray:
        """As many numbers as expected, or as the element states."""
        values = numbers(text)
        stated = element.attributes.get("count", "")
        expected = count if count is not None else int(stated) if stated.isdecimal() and len(stated) < 12 else None
        if (expected is not None and len(values) != expected) or (count is None and len(values) % 3):
            what = f"{expected} numbers" if expected is not None else "numbers in threes"
            raise self.error(element, f"it should hold {what}, and does not")
        return values

    def error(self, element: Element, problem: str, cure: str = "export it again") -> RobotError:
        subject = f"<{element.tag}>"
        return RobotError(f"{subject}: {problem}", subject=subject, cure=cure, place=Place(self.source, element.line))


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


# ---- geometries


class _Group(NamedTuple):
    """Triangles of a geometry that have one material.

    Attributes:
        material: the symbol that the faces name.
        faces: (m, 3) indices of the geometry's points.
        spots: texture coordinates at the middle of each face (m, 2), or None.
    """

    material: str
    faces: np.ndarray
    spots: np.ndarray | None


def _geometry(scene: _Document, geometry: Element) -> tuple[np.ndarray, list[_Group]]:
    """The points (n, 3) of a geometry and its triangles by material; without <p>, it has points only."""
    mesh = geometry.first("mesh")
    vertices = _inside(mesh, "vertices")
    inputs = vertices.all("input") if vertices else []
    found = [i for i in inputs if i.attributes.get("semantic") == "POSITION"]
    points = scene.triples(found[0]) if found else np.zeros((0, 3))
    parts = [part for part in mesh.children if part.tag in FACES] if mesh else []
    if not any(part.first("p") for part in parts):
        return points, []
    return points, [_group(scene, part, len(points)) for part in parts]


def _group(scene: _Document, part: Element, count: int) -> _Group:
    """The triangles of an element such as <triangles>; they name some of ``count`` points."""
    inputs = {i.attributes.get("semantic", ""): i for i in reversed(part.all("input"))}
    offsets = [i.attributes.get("offset", "") for i in part.all("input")]
    if not all(o.isdecimal() and len(o) < 4 for o in offsets) or "VERTEX" not in inputs:
        raise scene.error(part, "its inputs have no offsets")
    # several sets of texture coordinates have one semantic: the largest offset of all counts
    table = _corners(scene, part, 1 + max(map(int, offsets)))
    faces = table[..., int(inputs["VERTEX"].attributes["offset"])]
    if not ((faces >= 0) & (faces < count)).all():
        raise scene.error(part, "it names a point that is not in the file")
    spots = _spots(scene, inputs["TEXCOORD"], table) if "TEXCOORD" in inputs else None
    return _Group(part.attributes.get("material", ""), faces, spots)


def _corners(scene: _Document, part: Element, stride: int) -> np.ndarray:
    """Indices of the triangles' corners, (triangles, 3, stride)."""
    pieces = [np.zeros((0, 3, stride), dtype=int)]
    for p in part.all("p"):
        table = indices(p.text)
        if len(table) % stride or not ((table > -1e9) & (table < 1e9)).all():
            raise scene.error(p, "its indices are cut off, or not numbers")
        corners = table.astype(int, copy=False).reshape(-1, stride)
        pieces.append(corners[_turns(scene, part, len(corners))])
    return np.concatenate(pieces)


def _turns(scene: _Document, part: Element, count: int) -> np.ndarray:
    """Which of ``count`` corners in a row make triangles, (triangles, 3)."""
    match part.tag:
        case "triangles":
            return np.arange(count // 3 * 3).reshape(-1, 3)
        case "polylist":
            counts = part.first("vcount")
            sides = indices(counts.text) if counts is not None else np.zeros(0)
            if not ((sides >= 0) & (sides <= count)).all() or sides.sum() > count:
                raise scene.error(part, "<vcount> promises more corners than there are")
            return fans(sides.astype(int))
        case "tristrips":
            k = np.arange(max(count - 2, 0))
            # every second triangle of a strip turns the other way
            return np.stack([k, k + 1 + k % 2, k + 2 - k % 2], axis=-1)
        case _:
            return fans(np.array([count]))


def _spots(scene: _Document, entry: Element, table: np.ndarray) -> np.ndarray | None:
    """Texture coordinates at the middle of each triangle (m, 2); None if the file has them wrong."""
    values, stride = scene.array(entry, 2)
    if values is None or stride not in ("2", "3"):
        return None
    coordinates_of = numbers(values.text)
    corners = table[..., int(entry.attributes["offset"])]
    if len(coordinates_of) % int(stride) or not np.isfinite(coordinates_of).all():
        return None
    coordinates = coordinates_of.reshape(-1, int(stride))[:, :2]
    if not ((corners >= 0) & (corners < len(coordinates))).all():
        return None
    return coordinates[corners].mean(axis=1)


# ---- textures


@dataclass(frozen=True)
class _Texture:
    """An image of few colours.

    Attributes:
        indices: (height, width) of the colour of each pixel, the top row first.
        palette: (colours, 3) in [0, 1].
    """

    indices: np.ndarray
    palette: np.ndarray

    def at(self, spots: np.ndarray) -> Iterator[tuple[np.ndarray, Color]]:
        """For each colour, which of the spots (m, 2) have it; (0, 0) is the lower left corner, and it repeats."""
        height, width = self.indices.shape
        columns = np.floor(spots[:, 0] % 1 * width).astype(int).clip(0, width - 1)
        rows = np.floor((1 - spots[:, 1] % 1) * height).astype(int).clip(0, height - 1)
        found = self.indices[rows, columns]
        # numpy.unique would import masked arrays, which takes longer than all of this
        for k in np.flatnonzero(np.bincount(found)):
            r, g, b = map(float, self.palette[k])
            yield found == k, (r, g, b, 1.0)


def _read_texture(data: bytes, source: str) -> _Texture | None:
    """The image in a PNG or JPEG file; None if no library is installed that reads them."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            if image.width * image.height > MAX_PIXELS:
                problem, cure = f"an image of more than {MAX_PIXELS} pixels", "make it smaller"
                raise RobotError(problem, cure=cure, place=Place(source))
            # a JPEG is not even decoded in full
            image.draft("RGB", (SIDE, SIDE))
            few = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX).quantize(COLORS)
            palette = np.array(few.getpalette(), dtype=float).reshape(-1, 3) / 255
            return _Texture(np.asarray(few), palette)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RobotError(f"not a readable image: {error}", place=Place(source)) from None


# ---- materials


class _Materials:
    """Colours and textures by the symbol that faces name."""

    def __init__(self, scene: _Document, content_of: Callable[[str], bytes]):
        self.scene, self.content_of = scene, content_of
        self.looks: dict[str, Color | _Texture | None] = {}

    def of(self, symbol: str, instance: Element | None) -> Color | _Texture | None:
        bound = _inside(instance, "bind_material", "technique_common")
        targets = {m.attributes.get("symbol"): m.attributes.get("target", "") for m in bound.all("instance_material")} \
            if bound else {}  # fmt: skip
        name = targets.get(symbol, symbol).removeprefix("#")
        if name not in self.looks:
            self.looks[name] = self._look(name)
        return self.looks[name]

    def _look(self, name: str) -> Color | _Texture | None:
        material = self.scene.by_id.get(name)
        effect_of = _inside(material, "instance_effect")
        effect = self.scene.by_id.get(effect_of.attributes.get("url", "").removeprefix("#")) if effect_of else None
        profile = _inside(effect, "profile_COMMON")
        technique = _inside(profile, "technique")
        shader = next((c for c in technique.children if c.tag in SHADERS), None) if technique else None
        paint = (shader.first("diffuse") or shader.first("emission")) if shader else None
        if paint is None or profile is None:
            return None
        color, texture = paint.first("color"), paint.first("texture")
        if texture is not None:
            return self._texture(profile, texture.attributes.get("texture", ""))
        rgba = numbers(color.text) if color is not None else np.zeros(0)
        if len(rgba) not in (3, 4) or not np.isfinite(rgba).all():
            return None
        r, g, b, a = (min(1.0, max(0.0, float(x))) for x in (*rgba, 1)[:4])
        # an opacity of zero is how some exporters say opaque
        return r, g, b, a or 1.0

    def _texture(self, profile: Element, sampler: str) -> _Texture | None:
        parameters = {p.attributes.get("sid", ""): p for p in profile.all("newparam")}
        surface = _inside(parameters.get(sampler), "sampler2D", "source")
        image = _inside(parameters.get(surface.text.strip()) if surface else None, "surface", "init_from")
        # old files name the image at once
        named = self.scene.by_id.get(image.text.strip() if image else sampler)
        file = _inside(named, "init_from")
        if file is None:
            return None
        try:
            name = file.text.strip()
            return _read_texture(self.content_of(name), name)
        except RobotError:
            return None


def _inside(element: Element | None, *tags: str) -> Element | None:
    """The element down a path of first children, if all of them are there."""
    for tag in tags:
        element = element.first(tag) if element else None
    return element
