"""Mutations of files: bytes of any kind, trees of XML, texts of lines such as TOML.

A mutation takes a generator of random numbers and content, and returns other content; the same generator gives the
same. Values that files get are those on which readers stumble: numbers that are none, not finite, huge, negative, of
many digits; names that exist twice or not at all; paths that lead elsewhere; letters of other alphabets.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np

__all__ = ["mutated_archive", "mutated_bytes", "mutated_in_place", "mutated_lines", "mutated_xml"]

VALUES = (
    "", " ", "0", "-0", "-1", "1", "1e-300", "1e300", "1e400", "-1e400", "nan", "inf", "-inf", "0x10", "1_000", "1,5",
    "1 2", "1 2 3", "0 0 0", "1 2 3 4", "1 2 3 4 5 6 7", "1e5000", "9" * 400, "NaN NaN NaN", "inf inf inf", "true",
    "none", "base", "world", "nothing of this name", "a" * 5000,
    "\u0661\u0662", "\u00e9\u4e2d\U0001f916", "../../../etc/passwd",
    "/etc/passwd", "file:///etc/passwd", "package://nowhere/x.stl", "package://../../etc/passwd", "http://localhost/",
    "${1/0}", "$(find x)", "%s%n", "&#0;", "<", "]]>", "\t\n",
)  # fmt: skip
_ENCODINGS = (
    "nope",
    "utf-7",
    "utf-32",
    "big5",
    "utf-16",
    "latin-1",
    "ascii",
    "cp037",
    "rot13",
    "hex",
    "idna",
    "\u00e9",
    "",
)
_DOCTYPE = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
)

Bytes = Callable[[np.random.Generator, bytes], bytes]


def mutated_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """With some bytes changed, left out, repeated or added, or the end cut off."""
    for _ in range(_few(rng)):
        data = _BYTES[rng.integers(len(_BYTES))](rng, data)
    return data


def mutated_in_place(rng: np.random.Generator, data: bytes) -> bytes:
    """With some bytes or numbers changed, and as long as before."""
    return (_flipped, _numbered)[rng.integers(2)](rng, data)[: len(data)]


def mutated_lines(rng: np.random.Generator, data: bytes) -> bytes:
    """A text of lines with other values, lines that are gone, doubled or moved; sometimes with other bytes."""
    if rng.random() < 0.15:
        return mutated_bytes(rng, data)
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(_few(rng)):
        k = int(rng.integers(len(lines)))
        kind = rng.integers(6)
        if kind == 0:
            del lines[k]
        elif kind == 1:
            lines.insert(int(rng.integers(len(lines) + 1)), lines[k])
        elif kind == 2:
            other = int(rng.integers(len(lines)))
            lines[k], lines[other] = lines[other], lines[k]
        elif kind == 3:
            lines.insert(k, f"{_value(rng)} = {_literal(rng)}")
        else:
            lines[k] = _with_another_value(rng, lines[k])
        lines = lines or [""]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def mutated_xml(rng: np.random.Generator, data: bytes) -> bytes:
    """A tree with elements gone, doubled, moved or renamed, and other attributes; or with another head or bytes."""
    if rng.random() < 0.1:
        return mutated_bytes(rng, data)
    root = ElementTree.fromstring(data)
    for _ in range(_few(rng)):
        _TREES[rng.integers(len(_TREES))](rng, root)
    text = ElementTree.tostring(root, encoding="unicode")
    if rng.random() < 0.08:
        encoding = _ENCODINGS[rng.integers(len(_ENCODINGS))]
        return f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode("utf-8", "surrogatepass")
    if rng.random() < 0.03:
        text = _DOCTYPE + text.replace(">", ">&c;&b;", 1)
    if rng.random() < 0.03:
        name = ("utf-16", "utf-8-sig", "latin-1", "utf-32")[rng.integers(4)]
        return text.encode(name, "replace")
    return text.encode("utf-8", "surrogatepass")


def mutated_archive(rng: np.random.Generator, data: bytes) -> bytes:
    """A zip archive of arrays and JSON with members changed, lost, doubled or renamed; checksums are right again."""
    if rng.random() < 0.3:
        return mutated_bytes(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(_few(rng)):
        k, kind = int(rng.integers(len(members))), rng.integers(8)
        name, content = members[k]
        if kind == 0:
            del members[k]
        elif kind == 1:
            members.append((name, members[rng.integers(len(members))][1]))
        elif kind == 2:
            members[k] = _value(rng)[:200] or "x", content
        elif kind == 3 and name.endswith(".npy"):
            members[k] = name, _other_array(rng, content)
        elif name.endswith(".json"):
            members[k] = name, mutated_lines(rng, content.replace(b",", b",\n"))
        else:
            members[k] = name, mutated_bytes(rng, content)
        members = members or [("about.json", b"{}")]
    found = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(found, "w") as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members:
            # with the time at which zip begins, since that of the clock would make other bytes
            archive.writestr(zipfile.ZipInfo(name.encode("utf-8", "replace").decode()), content)
    return found.getvalue()


def _other_array(rng: np.random.Generator, content: bytes) -> bytes:
    """An array of other numbers, type or shape."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content))
    except Exception:  # damaged by a mutation before, for which NumPy has errors of many kinds
        return mutated_bytes(rng, content)
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: array.astype(("i1", "c16", "U3", "?", "f2", "M8[s]")[rng.integers(6)]),
        lambda: array.reshape(-1),
        lambda: array[..., :-1] if array.ndim and array.shape[-1] else array,
        lambda: np.full(array.shape, (np.nan, np.inf, 1e300, -1.0, 0.0)[rng.integers(5)]).astype(array.dtype),
        lambda: array[None],
        lambda: np.zeros((0,)),
    )
    changed = io.BytesIO()
    try:
        with np.errstate(all="ignore"):
            np.lib.format.write_array(changed, kinds[rng.integers(len(kinds))](), allow_pickle=False)
    except (ValueError, OverflowError):  # such as texts that are no times
        return mutated_bytes(rng, content)
    return changed.getvalue()


def _few(rng: np.random.Generator) -> int:
    return 1 + int(rng.geometric(0.5)) if rng.random() < 0.5 else 1


def _value(rng: np.random.Generator) -> str:
    return VALUES[rng.integers(len(VALUES))]


def _literal(rng: np.random.Generator) -> str:
    shapes = ("{}", '"{}"', "[{}]", '["{}"]', "{{ x = {} }}", "[[{}], [{}]]", "'''{}'''")
    value = _value(rng)
    return shapes[rng.integers(len(shapes))].format(value, value)


def _with_another_value(rng: np.random.Generator, line: str) -> str:
    """One number, name or string of a line replaced."""
    found = list(re.finditer(r"-?[0-9][0-9.e+-]*|\"[^\"]*\"|[A-Za-z_][\w-]*", line))
    if not found:
        return line + _value(rng)
    place = found[rng.integers(len(found))]
    new = _literal(rng) if rng.random() < 0.5 else _value(rng)
    return line[: place.start()] + new + line[place.end() :]


# ---- bytes


def _flipped(rng: np.random.Generator, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(_few(rng) if data else 0):
        changed[rng.integers(len(data))] = rng.integers(256)
    return bytes(changed)


def _cut(rng: np.random.Generator, data: bytes) -> bytes:
    return data[: rng.integers(len(data) + 1)]


def _without(rng: np.random.Generator, data: bytes) -> bytes:
    start = int(rng.integers(len(data) + 1))
    return data[:start] + data[start + int(rng.integers(1, 60)) :]


def _repeated(rng: np.random.Generator, data: bytes) -> bytes:
    start = int(rng.integers(len(data) + 1))
    return data[:start] + data[start : start + int(rng.integers(1, 200))] * int(rng.integers(1, 4)) + data[start:]


def _grown(rng: np.random.Generator, data: bytes) -> bytes:
    start = int(rng.integers(len(data) + 1))
    return data[:start] + rng.bytes(int(rng.integers(1, 30))) + data[start:]


def _numbered(rng: np.random.Generator, data: bytes) -> bytes:
    """With another number of 1, 2, 4 or 8 bytes: lengths, counts and offsets of binary files."""
    size = 1 << int(rng.integers(4))
    start = int(rng.integers(max(len(data) - size, 0) + 1))
    ends = (0, 1, (1 << (8 * size)) - 1, (1 << (8 * size - 1)) - 1, 1 << (8 * size - 1))
    number = ends[rng.integers(len(ends))]
    return data[:start] + number.to_bytes(size, "little") + data[start + size :]


_BYTES: tuple[Bytes, ...] = (_flipped, _flipped, _cut, _without, _repeated, _grown, _numbered)


# ---- trees of XML

Tree = ElementTree.Element


def _some(rng: np.random.Generator, root: Tree) -> Tree:
    found = list(root.iter())
    return found[rng.integers(len(found))]


def _parent_and_child(rng: np.random.Generator, root: Tree) -> tuple[Tree, Tree] | None:
    pairs = [(parent, child) for parent in root.iter() for child in parent]
    return pairs[rng.integers(len(pairs))] if pairs else None


def _element_gone(rng: np.random.Generator, root: Tree) -> None:
    if pair := _parent_and_child(rng, root):
        pair[0].remove(pair[1])


def _element_moved(rng: np.random.Generator, root: Tree) -> None:
    """Into another one, which may not be below it; or a second time."""
    pair, other = _parent_and_child(rng, root), _some(rng, root)
    if pair and other not in list(pair[1].iter()):
        if rng.random() < 0.5:
            pair[0].remove(pair[1])
        other.insert(int(rng.integers(len(other) + 1)), pair[1])


def _element_renamed(rng: np.random.Generator, root: Tree) -> None:
    _some(rng, root).tag = _some(rng, root).tag


def _attribute_changed(rng: np.random.Generator, root: Tree) -> None:
    """To a value of `VALUES`, to that of another element, or with another number in it."""
    element = _some(rng, root)
    if not element.attrib:
        _change_text(rng, root, element)
        return
    name = list(element.attrib)[rng.integers(len(element.attrib))]
    kind = rng.integers(3)
    others = [value for e in root.iter() for value in e.attrib.values()]
    if kind == 0:
        element.set(name, others[rng.integers(len(others))])
    elif kind == 1:
        element.set(name, _printable(_value(rng)))
    else:
        element.set(name, _printable(_with_another_value(rng, element.get(name, ""))))


def _change_text(rng: np.random.Generator, root: Tree, element: Tree) -> None:
    """The same for text, in which SDF has its numbers and names."""
    kind = rng.integers(3)
    others = [e.text for e in root.iter() if e.text and e.text.strip()]
    if kind == 0 and others:
        element.text = others[rng.integers(len(others))]
    elif kind == 1:
        element.text = _printable(_value(rng))
    else:
        element.text = _printable(_with_another_value(rng, element.text or ""))


def _attribute_gone(rng: np.random.Generator, root: Tree) -> None:
    element = _some(rng, root)
    if element.attrib:
        del element.attrib[list(element.attrib)[rng.integers(len(element.attrib))]]


def _attribute_added(rng: np.random.Generator, root: Tree) -> None:
    names = [name for e in root.iter() for name in e.attrib]
    if names:
        _some(rng, root).set(names[rng.integers(len(names))], _printable(_value(rng)))


def _printable(text: str) -> str:
    return text.replace("\x00", "")


_TREES = (
    _element_gone, _element_moved, _element_renamed, _attribute_changed, _attribute_changed, _attribute_changed,
    _attribute_gone, _attribute_added,
)  # fmt: skip
