"""The files that an MJCF file asks for: those that it may have are read, and no other is opened.

MuJoCo's compiler never sees a disk (docs/decisions/0034). It gets the contents of these files under the paths at which
it looks for them, so this module need not know what they mean: of every attribute ``file`` it tries the places where
MuJoCo would look, and takes those that lie in the folders that the file may use.
"""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pliant.errors import RobotError
from pliant.files.packages import EscapingPathError, MissingFileError, Packages
from pliant.files.xml import Element, parse_xml, read_file
from pliant.formats.journal import Journal

MAX_FILE, MAX_TOTAL = 128_000_000, 512_000_000
"""Bytes of one file that a model refers to, and of all together."""
MAX_FILES = 4_000
MAX_NESTING = 20
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_DOCUMENTS = ("include", "model")
# a black square that stands for a picture that is missing: pictures do not matter here
_SQUARE = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000c0000000c0802000000d917cbb00000000e4944415478da63601805431500"
    "0001bc0001255c50810000000049454e44ae426082"
)


@dataclass
class MjcfFiles:
    """An MJCF file with what it refers to.

    Attributes:
        main: the path of the file, as MuJoCo gets it.
        contents: what MuJoCo may read, by path.
        lines: where things of the main file start, by kind and name: ("joint", "knee").
        sources: the files on disk that stand behind paths of ``contents``.
    """

    main: str
    contents: dict[str, bytes] = field(default_factory=dict)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)
    sources: dict[str, Path] = field(default_factory=dict)


def gathered(path: Path, packages: Iterable[str | Path], journal: Journal) -> MjcfFiles:
    """An MJCF file and all files that it refers to and may have; raises for those that it may not have."""
    data = read_file(path)
    root = parse_xml(data, str(path))
    if root.tag != "mujoco":
        problem = f"the root element is <{root.tag}>, not <mujoco>: this is not MJCF"
        raise journal.error(problem, root.line, subject=f"<{root.tag}>")
    found = MjcfFiles(_virtual(path.absolute()), {_virtual(path.absolute()): data})
    _Gatherer(found, Packages(path.parent, packages), journal).document(path.absolute(), root, 0)
    for element in _walk(root):
        name = element.attributes.get("name")
        if name:
            found.lines.setdefault((element.tag, name), element.line)
    return found


class _Gatherer:
    """Collects the files of one model."""

    def __init__(self, found: MjcfFiles, packages: Packages, journal: Journal):
        self.found = found
        self.packages = packages
        self.journal = journal
        self.total = 0

    def document(self, main: Path, root: Element, depth: int) -> None:
        """Collect what a document refers to: the model itself, or one that it attaches."""
        if depth > MAX_NESTING:
            raise self.journal.error(f"models or includes are nested deeper than {MAX_NESTING}", subject=str(main))
        # included files are parts of the document: their folders count for all of it
        parts: list[tuple[Path, Element]] = []
        self._include(main, main, root, parts, depth)
        elements = [(path, element) for path, part in parts for element in _walk(part)]
        folders = {""}
        for _, element in elements:
            if element.tag == "compiler":
                folders |= {element.attributes[name] for name in _FOLDERS if name in element.attributes}
        for path, element in elements:
            for name, reference in element.attributes.items():
                if not name.startswith("file") or element.tag == "include" or not reference.strip():
                    continue
                line = element.line if path == main and depth == 0 else None
                taken = self._take(reference, main, path, folders, element.tag, line)
                if element.tag == "model":
                    for file in taken:
                        nested = parse_xml(self.found.contents[_virtual(file)], str(file))
                        self.document(file, nested, depth + 1)

    def _include(self, main: Path, path: Path, root: Element, parts: list[tuple[Path, Element]], depth: int) -> None:
        parts.append((path, root))
        if len(parts) > MAX_FILES or depth > MAX_NESTING:
            raise self.journal.error("includes include one another", subject="<include>", cure="remove one of them")
        for element in _walk(root):
            reference = element.attributes.get("file", "")
            if element.tag == "include" and reference.strip():
                line = element.line if path == main else None
                for file in self._take(reference, main, path, {""}, "include", line):
                    nested = parse_xml(self.found.contents[_virtual(file)], str(file))
                    self._include(main, file, nested, parts, depth + 1)

    def _take(self, reference: str, main: Path, by: Path, folders: set[str], tag: str, line: int | None) -> list[Path]:
        """Read the file of a reference from each place where MuJoCo may look for it; returns these places.

        Args:
            main, by: the document, and the file with the reference.
            folders: those of meshes and textures that the document names.
        """
        if "://" in reference:
            cure = "only files in its folders are read, nothing is fetched"
            problem = f"{reference!r} is an address"
            raise self.journal.error(problem, line, subject=f"<{tag}>", field="file", cure=cure)
        names = {reference.strip(), reference.strip().replace("\\", "/")}
        if tag not in _DOCUMENTS:  # for strippath
            names |= {posixpath.basename(name) for name in names}
        starts = dict.fromkeys((main.parent, by.parent))
        places = dict.fromkeys(
            _normal(start / folder / name) for name in sorted(names, key=len, reverse=True) for start in starts
            for folder in sorted(folders)
        )  # fmt: skip
        taken: list[Path] = []
        refused: EscapingPathError | None = None
        for place in places:
            try:
                self._read(place, self.packages.resolve(str(place)))
                taken.append(place)
            except EscapingPathError as error:
                refused = error if place.is_file() or refused is None else refused
            except MissingFileError:
                continue
        if not taken:
            taken = self._elsewhere(sorted(names, key=len, reverse=True), next(iter(places)))
        if not taken and tag == "texture":
            self.journal.ignored(f"texture {reference!r}", "there is no such file that may be read: plain", line or 1)
            for place in places:
                self.found.contents[_virtual(place)] = _SQUARE
        elif not taken and refused is not None and not any(p.is_relative_to(self.packages.folder) for p in places):
            raise self.journal.error(refused.fault, line)
        elif not taken:
            shown = ", ".join(str(p) for p in list(places)[:4])
            problem, cure = f"no file {reference!r} for <{tag}>", f"looked for {shown}; or name its folder in packages="
            raise self.journal.error(problem, line, subject=f"<{tag}>", field="file", cure=cure)
        return taken

    def _elsewhere(self, names: list[str], place: Path) -> list[Path]:
        """The file from a folder that the user gave, put where MuJoCo looks for it first."""
        for folder in self.packages.given:
            for name in names:
                try:
                    file = self.packages.resolve(str(_normal(folder / name)))
                except RobotError:
                    continue
                self._read(place, file)
                return [place]
        return []

    def _read(self, place: Path, file: Path) -> None:
        """Put the content of a file where MuJoCo looks for it."""
        if _virtual(place) in self.found.contents:
            return
        try:
            size = file.stat().st_size
            self.total += size
            if size > MAX_FILE or self.total > MAX_TOTAL or len(self.found.contents) >= MAX_FILES:
                most = f"{MAX_FILE // 1_000_000} MB in a file, {MAX_TOTAL // 1_000_000} MB and {MAX_FILES} files in all"
                problem, cure = f"{file} is too much: a model refers to at most {most}", "simplify its meshes"
                raise self.journal.error(problem, subject=str(file), field="file", cure=cure)
            self.found.contents[_virtual(place)] = file.read_bytes()
            self.found.sources[_virtual(place)] = file
        except OSError as error:
            cure = "check its permissions"
            raise self.journal.error(f"{file} cannot be read: {error.strerror}", subject=str(file), cure=cure) from None


def _walk(root: Element) -> Iterator[Element]:
    stack = [root]
    while stack:
        element = stack.pop()
        yield element
        stack += reversed(element.children)


def _normal(path: Path) -> Path:
    """The path without ``..``, as MuJoCo reads it: links are followed afterwards."""
    return Path(posixpath.normpath(path.as_posix()))


def _virtual(path: Path) -> str:
    return _normal(path).as_posix()
