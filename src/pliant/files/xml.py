"""A small XML tree that keeps line numbers, from untrusted files.

Built on the standard library's expat. Nothing is expanded, fetched or executed: a DOCTYPE that declares
anything is refused, and so are files too big or too deep to describe a robot (docs/decisions/0002).
"""

import difflib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from pliant.errors import RobotError, in_message

MAX_BYTES = 16_000_000  # the largest of the 69 robots of example-robot-data has 0.3 MB
ROBOT_SUFFIXES = (".urdf", ".xacro", ".sdf", ".world", ".xml")
"""Endings of files that describe robots."""
MAX_ELEMENTS = 500_000
MAX_DEPTH = 100
# bytes in which a root element is looked for: licences may stand before it
_HEAD = 65_536


@dataclass(slots=True)
class Element:
    """An XML element: tag, attributes, children, the line it starts on, and its text if that was asked for."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list["Element"]:
        """The children with this tag, in file order."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> "Element | None":
        """The first child with this tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)


def read_file(path: Path) -> bytes:
    """The bytes of a robot file; raises with near names if it does not exist."""
    try:
        return _read_file(path)
    except (OSError, ValueError) as error:  # names that are too long, or with zero bytes
        why = getattr(error, "strerror", None) or str(error)
        raise _wrong(f"cannot be read: {why}", in_message(str(path)), "give the path of a file") from None


def _read_file(path: Path) -> bytes:
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix in ROBOT_SUFFIXES)
        hint = f"it holds {', '.join(inside[:10])}" if inside else "give the path of the file itself"
        raise _wrong("is a folder, not a robot file", path, hint)
    if not path.exists():
        raise RobotError("no such file", subject=str(path), field="path", cure=_near_files(path)).at(path)
    if not path.is_file():
        raise _wrong("is not a regular file", path, "save it as one first")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(path, MAX_BYTES)
        return path.read_bytes()
    except OSError as error:
        raise _wrong(f"cannot be read: {error.strerror}", path, "check its permissions") from error


def root_tag(data: bytes) -> str:
    """The tag of the root element of a document, "" if there is none to be found; nothing after it is looked at."""
    tags: list[str] = []
    parser: Any = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, _: tags.append(tag)
    with suppress(expat.ExpatError):
        parser.Parse(data[:_HEAD], False)
    return tags[0] if tags else ""


def _wrong(problem: str, path: object, cure: str) -> RobotError:
    return RobotError(f"{path} {problem}", subject=str(path), field="path", cure=cure)


def _too_large(path: object, most: int) -> RobotError:
    return _wrong(f"is larger than {most // 1_000_000} MB", path, "give a robot description")


def _near_files(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"its folder {folder} does not exist either (paths are relative to {Path.cwd()})"
    names = [p.name for p in folder.iterdir() if p.is_file()]
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    near = near or sorted(n for n in names if n.endswith(ROBOT_SUFFIXES))[:5]
    return f"in that folder: {', '.join(near)}" if near else f"no robot file is in {folder}"


def parse_xml(data: bytes, source: str, *, texts: bool = False, max_bytes: int = MAX_BYTES) -> Element:
    """The root element of an XML document.

    Args:
        data, source: the document, and its file name for messages.
        texts: whether elements keep the text between their tags; a URDF has none that matters.
        max_bytes: largest size to accept.
    """
    if len(data) > max_bytes:
        raise _too_large(source, max_bytes)
    parser: Any = expat.ParserCreate()
    parser.buffer_text = True
    document, count = Element("", {}, 0), 0
    opened = [document]
    # of each open element, the pieces of its text: joined once, at its end
    pieces: list[list[str]] = [[]]

    def refuse(what: str) -> None:
        problem, cure = f"refused, the file has {what}", "robot files need none of this, remove it"
        raise RobotError(problem, subject=source, cure=cure).at(source, parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS or len(opened) > MAX_DEPTH:
            refuse(f"more than {MAX_ELEMENTS} elements, or nested deeper than {MAX_DEPTH}")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        opened[-1].children.append(element)
        opened.append(element)
        pieces.append([])

    def end(_tag: str) -> None:
        opened.pop().text = "".join(pieces.pop())

    def doctype(_name: str, system_id: str | None, _public_id: str | None, has_subset: bool) -> None:
        if has_subset or system_id:
            refuse("a DOCTYPE with declarations (entities could expand without bound or read other files)")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = lambda *_: refuse("an entity declaration")
    if texts:
        parser.CharacterDataHandler = lambda text: pieces[-1].append(text)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        problem = f"not well-formed XML at column {error.offset + 1} ({reason})"
        wrong = RobotError(problem, subject=source, cure="correct the file there, or export it again")
        raise wrong.at(source, error.lineno) from None
    except (LookupError, ValueError, TypeError) as error:  # of the codec that the head of the file names
        wrong = RobotError(f"its encoding cannot be used ({error})", subject=source, cure="save the file as UTF-8")
        raise wrong.at(source, parser.CurrentLineNumber) from None
    return document.children[0]
