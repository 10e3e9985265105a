"""Visual and collision shapes of SDF: references to meshes, which are never opened here."""

import math

from pliant.files.packages import EscapingPathError, MissingFileError
from pliant.files.xml import Element
from pliant.formats.journal import Journal
from pliant.formats.sdf_model import Item, Scope, SdfModel
from pliant.formats.sdf_text import values, words
from pliant.meshes import MeshFile
from pliant.robot import Geometry
from pliant.spatial import Transform

Color = tuple[float, ...]

# the children of each shape that make its size
_SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
_KNOWN = {
    "visual": ("pose", "geometry", "material", "cast_shadows", "visibility_flags"),
    "collision": ("pose", "geometry", "density", "max_contacts"),
}


def shapes_of(item: Item, tag: str, model: SdfModel) -> tuple[Geometry, ...]:
    """The shapes of a link under <visual> or <collision>, without those that cannot be used."""
    found = [_shape(element, tag, item, model) for element in item.element.all(tag)]
    return tuple(shape for shape in found if shape is not None)


def _shape(element: Element, tag: str, item: Item, model: SdfModel) -> Geometry | None:
    scope, journal = item.scope, item.scope.journal
    journal.unread(element, _KNOWN[tag], ("name",))
    holder = element.first("geometry")
    shape = None if holder is None else next(iter(holder.children), None)
    if shape is None or shape.tag == "empty":
        return None
    X_BG = model.pose_in(item.name, element, scope)
    name = element.attributes.get("name", "")
    color = _color(element.first("material"), journal) if tag == "visual" else None
    if shape.tag == "mesh":
        return _mesh(shape, X_BG, name, color, scope)
    if shape.tag not in _SIZES:
        known = ", ".join((*_SIZES, "mesh"))
        journal.note("refused", f"<{tag}> {name!r}", f"no <{shape.tag}> here; known are {known}", element.line)
        return None
    size: tuple[float, ...] = ()
    for part in _SIZES[shape.tag]:
        child = shape.first(part)
        if child is None:
            problem = f"<{shape.tag}> has no <{part}>"
            raise journal.error(problem, shape.line, subject=f"<{shape.tag}>", field=part, cure="add it")
        size += values(child, journal, 3 if shape.tag == "box" else 1)
    if min(size) <= 0:
        journal.note("odd", f"<{shape.tag}>", f"size {size} is not positive", shape.line)
    return Geometry(shape.tag, size, X_BG, name=name, color=color)  # type: ignore[arg-type]


def _mesh(mesh: Element, X_BG: Transform, name: str, color: Color | None, scope: Scope) -> Geometry | None:
    journal, reference = scope.journal, words(mesh, "uri")
    journal.unread(mesh, ("uri", "scale"))
    if not reference:
        raise journal.error("<mesh> has no <uri>", mesh.line, subject="<mesh>", field="uri", cure="add it")
    file = None
    try:
        file = str(scope.packages.resolve(reference))
    except EscapingPathError as problem:
        journal.note("refused", "<mesh>", str(problem), mesh.line)
        return None
    except MissingFileError as problem:
        journal.ignored("<mesh>", f"{problem}: shape without a file", mesh.line)
    scale = mesh.first("scale")
    factors = (1.0, 1.0, 1.0) if scale is None else values(scale, journal, 3)
    source = MeshFile(reference, scope.packages.folder, tuple(scope.packages.given))
    return Geometry("mesh", (), X_BG, file=file, scale=factors, name=name, color=color, mesh=source)


def _color(material: Element | None, journal: Journal) -> Color | None:
    """The colour that a material is seen in: diffuse, or else ambient."""
    if material is None:
        return None
    found = material.first("diffuse") or material.first("ambient")
    if found is None:
        return None
    try:
        numbers = tuple(float(x) for x in found.text.split())
    except ValueError:
        numbers = ()
    if len(numbers) not in (3, 4) or not all(map(math.isfinite, numbers)):
        journal.note("odd", f"<{found.tag}>", "it is not three or four numbers: no colour", found.line)
        return None
    return tuple(min(max(x, 0.0), 1.0) for x in (*numbers, 1.0)[:4])
