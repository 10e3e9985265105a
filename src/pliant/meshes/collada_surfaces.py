"""The faces of Collada scenes (.dae) with the colours of their materials; a texture becomes a few colours."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pliant.errors import RobotError
from pliant.files.xml import Element
from pliant.meshes.collada import FACES, MAX_POINTS, Scene, collada_scene
from pliant.meshes.polygons import fans
from pliant.meshes.text_numbers import indices, numbers
from pliant.meshes.textures import Texture, read_texture

__all__ = ["collada_surfaces"]

Color = tuple[float, float, float, float]
Found = tuple[np.ndarray, np.ndarray, Color | None]

MAX_FACES = 5_000_000
SHADERS = ("phong", "lambert", "blinn", "constant")


def collada_surfaces(
    data: bytes, source: str, max_bytes: int, resolve: Callable[[str], Path]
) -> Iterator[tuple[np.ndarray, np.ndarray, Color | None]]:
    """Points (n, 3) [m], faces (m, 3) and colour of each part of the scene that has one material.

    Args:
        data: the document.
        source: its file name, for messages.
        max_bytes: largest size to accept.
        resolve: the file that an image's name leads to; raises if it may not.
    """
    scene = collada_scene(data, source, max_bytes)
    unit, total = scene.unit(), 0
    materials = _Materials(scene, resolve)
    geometries: dict[int, list[tuple[str, np.ndarray, np.ndarray, np.ndarray | None]]] = {}
    for geometry, X, instance in scene.placed():
        if id(geometry) not in geometries:
            geometries[id(geometry)] = list(_groups(scene, geometry))
        for symbol, points, faces, spots in geometries[id(geometry)]:
            total += len(points) + len(faces)
            if total > MAX_POINTS + MAX_FACES:
                raise scene.error(geometry, f"the scene has more than {MAX_POINTS} points; simplify it")
            placed = (points @ X[:3, :3].T + X[:3, 3]) * unit
            turned = faces[:, ::-1] if np.linalg.det(X[:3, :3]) < 0 else faces
            look = materials.of(symbol, instance)
            if isinstance(look, Texture) and spots is not None:
                yield from ((placed, turned[chosen], color) for chosen, color in look.at(spots))
            else:
                yield placed, turned, None if isinstance(look, Texture) else look


def _groups(scene: Scene, geometry: Element) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray | None]]:
    """Material, points, faces and texture coordinates at the middle of each face (m, 2), of a geometry's parts."""
    mesh = geometry.first("mesh")
    vertices = mesh.first("vertices") if mesh else None
    if mesh is None or vertices is None:
        return
    found = [i for i in vertices.all("input") if i.attributes.get("semantic") == "POSITION"]
    points = scene.triples(found[0]) if found else np.zeros((0, 3))
    for group in mesh.children:
        if group.tag not in FACES:
            continue
        inputs = {i.attributes.get("semantic", ""): i for i in reversed(group.all("input"))}
        offsets = [i.attributes.get("offset", "") for i in group.all("input")]
        if not all(o.isdecimal() and len(o) < 4 for o in offsets) or "VERTEX" not in inputs:
            raise scene.error(group, "its inputs have no offsets; export it again")
        stride = 1 + max(map(int, offsets))
        table = _corners(scene, group, stride)
        faces = table[..., int(inputs["VERTEX"].attributes["offset"])]
        if not ((faces >= 0) & (faces < len(points))).all():
            raise scene.error(group, "it names a point that is not in the file; export it again")
        spots = None
        if "TEXCOORD" in inputs:
            spots = _spots(scene, inputs["TEXCOORD"], table)
        yield group.attributes.get("material", ""), points, faces, spots


def _corners(scene: Scene, group: Element, stride: int) -> np.ndarray:
    """Indices of the triangles' corners, (triangles, 3, stride)."""
    pieces = [np.zeros((0, 3, stride), dtype=int)]
    for p in group.all("p"):
        table = indices(p.text)
        if len(table) % stride or not ((table > -1e9) & (table < 1e9)).all():
            raise scene.error(p, "its indices are cut off or no numbers; export it again")
        corners = table.astype(int, copy=False).reshape(-1, stride)
        pieces.append(corners[_turns(scene, group, len(corners))])
    return np.concatenate(pieces)


def _turns(scene: Scene, group: Element, count: int) -> np.ndarray:
    """Which of ``count`` corners in a row make triangles, (triangles, 3)."""
    match group.tag:
        case "triangles":
            return np.arange(count // 3 * 3).reshape(-1, 3)
        case "polylist":
            counts = group.first("vcount")
            sides = indices(counts.text) if counts is not None else np.zeros(0)
            if not ((sides >= 0) & (sides <= count)).all() or sides.sum() > count:
                raise scene.error(group, "<vcount> promises more corners than there are; export it again")
            return fans(sides.astype(int))
        case "tristrips":
            k = np.arange(max(count - 2, 0))
            # every second triangle of a strip turns the other way
            return np.stack([k, k + 1 + k % 2, k + 2 - k % 2], axis=-1)
        case _:
            return fans(np.array([count]))


def _spots(scene: Scene, entry: Element, table: np.ndarray) -> np.ndarray | None:
    """Texture coordinates at the middle of each triangle (m, 2); None if the file has them wrong."""
    source = scene.by_id.get(entry.attributes.get("source", "").removeprefix("#"))
    values = source.first("float_array") if source else None
    technique = source.first("technique_common") if source else None
    accessor = technique.first("accessor") if technique else None
    stride = accessor.attributes.get("stride", "2") if accessor else "2"
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


class _Materials:
    """Colours and textures by the symbol that faces name."""

    def __init__(self, scene: Scene, resolve: Callable[[str], Path]):
        self.scene, self.resolve = scene, resolve
        self.looks: dict[str, Color | Texture | None] = {}

    def of(self, symbol: str, instance: Element | None) -> Color | Texture | None:
        bound = _inside(instance, "bind_material", "technique_common")
        targets = {m.attributes.get("symbol"): m.attributes.get("target", "") for m in bound.all("instance_material")} \
            if bound else {}  # fmt: skip
        name = targets.get(symbol, symbol).removeprefix("#")
        if name not in self.looks:
            self.looks[name] = self._look(name)
        return self.looks[name]

    def _look(self, name: str) -> Color | Texture | None:
        material = self.scene.by_id.get(name)
        effect_of = material.first("instance_effect") if material else None
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

    def _texture(self, profile: Element, sampler: str) -> Texture | None:
        parameters = {p.attributes.get("sid", ""): p for p in profile.all("newparam")}
        surface = _inside(parameters.get(sampler), "sampler2D", "source")
        image = _inside(parameters.get(surface.text.strip()) if surface else None, "surface", "init_from")
        # old files name the image at once
        named = self.scene.by_id.get(image.text.strip() if image else sampler)
        file = _inside(named, "init_from")
        if file is None:
            return None
        try:
            return read_texture(self.resolve(file.text.strip()))
        except RobotError:
            return None


def _inside(element: Element | None, *tags: str) -> Element | None:
    """The element down a path of first children, if all of them are there."""
    for tag in tags:
        element = element.first(tag) if element else None
    return element
