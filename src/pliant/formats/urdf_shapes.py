"""Visual and collision shapes of a URDF: kept as references, meshes are never opened here."""

from pliant.errors import RobotError
from pliant.files.packages import EscapingPathError, MissingFileError, Packages
from pliant.files.xml import Element
from pliant.formats.journal import Journal, number, numbers, origin, required
from pliant.meshes import MeshFile
from pliant.robot import Geometry
from pliant.spatial import Transform, Vector, rotation_from_rpy

__all__ = ["Shapes"]

Color = tuple[float, ...]
# the attributes of each shape that make its size
SIZES = {"sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}


class Shapes:
    """Reads the shapes of one robot's links.

    Args:
        root: the <robot> element, for the colours that it names.
        packages: where mesh files may be.
        journal: for findings.
    """

    def __init__(self, root: Element, packages: Packages, journal: Journal):
        self.packages = packages
        self.journal = journal
        self.colors: dict[str, Color] = {}
        for material in [*root.all("material"), *_materials_of_links(root)]:
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
            self.journal.refused(f"<{element.tag}>", f"it has no shape; known are {valid}", element.line)
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
            self.journal.odd(f"<{shape.tag}>", f"size {size} is not positive", shape.line)
        return Geometry(shape.tag, size, X_BG, name=name, color=color)  # type: ignore[arg-type]

    def _mesh(self, mesh: Element, X_BG: Transform, name: str, color: Color | None) -> Geometry | None:
        reference = required(mesh, "filename", self.journal)
        file = None
        try:
            file = str(self.packages.resolve(reference))
        except EscapingPathError as problem:
            self.journal.refused("<mesh>", str(problem), mesh.line)
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
            self.journal.odd(f"material {name!r}", "defined twice with different colours", material.line)

    def _own_color(self, material: Element) -> Color | None:
        color = material.first("color")
        try:
            return numbers(color, "rgba", 4, self.journal) if color is not None else None
        except RobotError:
            assert color is not None
            self.journal.odd("<color>", "rgba is not four numbers: no colour", color.line)
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


def _materials_of_links(root: Element) -> list[Element]:
    visuals = [visual for link in root.all("link") for visual in link.all("visual")]
    return [material for visual in visuals for material in visual.all("material")]
