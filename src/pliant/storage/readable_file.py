"""The bytes of a log as the HDF5 library gets to see them.

The superblock at the head of a file says whether a program writes to it and how long the file is. The library refuses
files in which either is wrong, as after a program was killed, although all that was flushed is in order. So it reads a
corrected superblock; the file itself is not changed. docs/decisions/0016 has the alternatives.

Global heaps hold texts of any length, here the mark "format". They are the one part of the metadata without a checksum,
and the library goes around in circles in one whose sizes are wrong (as of HDF5 2.0). It reads a heap from its first
byte on, so each one is checked on its way to the library, and refused.
"""

import contextlib
import os
import struct
from pathlib import Path
from typing import NamedTuple

from pliant.files.writing import PlacedFile

SIGNATURE = b"\x89HDF\r\n\x1a\n"
# signature, version, sizes of addresses and lengths, flags, base, extension, end, root [HDF5 file format, II.A]
_FORM = struct.Struct("<8sBBBB4Q")
_MASK = 0xFFFFFFFF
_HEAP = b"GCOL"
# signature, version, size of all; index, references and size of an object [HDF5 file format, III.E]
_HEAP_HEAD, _OBJECT = struct.Struct("<4sB3xQ"), struct.Struct("<HH4xQ")
_LARGEST_HEAP = 1 << 24
_FURTHEST = (1 << 63) - 1


class ReadableFile(PlacedFile):
    """A file to read: with a superblock that says that it was closed, as long as it should be, and heaps that end."""

    def __init__(self, path: Path):
        head = _head_of(path)
        size = path.stat().st_size
        super().__init__(size if head is None else max(head.size, head.end))
        self._handle = os.open(path, os.O_RDONLY)
        self._head = b""
        if head is not None and not head.is_sound:
            data = bytearray(os.pread(self._handle, _FORM.size, 0))
            data[11] = 0  # the flags
            self._head = bytes(data) + struct.pack("<I", checksum(bytes(data)))

    def bytes_at(self, at: int, size: int) -> bytes:
        """So many bytes from a place on; raises where the file is cut off, since zeros would pass for numbers."""
        found = os.pread(self._handle, size, at) if 0 <= at <= _FURTHEST else b""
        if len(found) < size:
            raise OSError(f"the file ends before byte {at + size}")
        if found.startswith(_HEAP):
            self._check_heap(at, found)
        part = self._head[at : at + size]
        return part + found[len(part) :] if part else found

    def _check_heap(self, at: int, start: bytes) -> None:
        """Raise for a global heap whose objects do not follow each other to its end."""
        size = _HEAP_HEAD.unpack_from(start)[2] if len(start) >= _HEAP_HEAD.size else 0
        if not _HEAP_HEAD.size <= size <= _LARGEST_HEAP:
            raise OSError("a heap of texts has a size that cannot be")
        heap = start[:size] if len(start) >= size else os.pread(self._handle, size, at)
        place = _HEAP_HEAD.size
        while len(heap) - place >= _OBJECT.size:
            index, _, length = _OBJECT.unpack_from(heap, place)
            # the room that is left has number 0, and counts with its own head
            taken = length if index == 0 else _OBJECT.size + -(-length // 8) * 8
            if not _OBJECT.size <= taken <= size - place:
                raise OSError("a heap of texts is damaged")
            place += taken

    def truncate(self, size: int | None = None) -> int:
        """Do nothing: it is for reading."""
        return self._size

    def close(self) -> None:
        if not self.closed:
            os.close(self._handle)
        super().close()


class _Head(NamedTuple):
    """What the head of a file says.

    Attributes:
        is_open: whether a program writes to it, or was killed when it did.
        end: length that the file should have [bytes].
        size: that it has.
    """

    is_open: bool
    end: int
    size: int

    @property
    def is_sound(self) -> bool:
        """Whether the library opens it."""
        return not self.is_open and self.size >= self.end


def _head_of(path: Path) -> _Head | None:
    """The head of a file as Pliant writes them, version 2 or 3; None for others, and for damaged ones."""
    with path.open("rb") as file:
        data = file.read(_FORM.size + 4)
        size = os.fstat(file.fileno()).st_size
    if len(data) < _FORM.size + 4:
        return None
    signature, version, offsets, lengths, flags, base, _, end, _ = _FORM.unpack_from(data)
    (stated,) = struct.unpack_from("<I", data, _FORM.size)
    if signature != SIGNATURE or version not in (2, 3) or (offsets, lengths, base) != (8, 8, 0):
        return None
    return _Head(flags != 0, end, size) if stated == checksum(data[: _FORM.size]) else None


def trim(path: Path) -> None:
    """Give back room that was reserved and not used: all beyond the end that the superblock of a closed file states."""
    with contextlib.suppress(OSError):
        head = _head_of(path)
        if head is not None and not head.is_open and head.end < head.size:
            os.truncate(path, head.end)


def checksum(data: bytes) -> int:
    """The checksum of HDF5's metadata: Bob Jenkins' lookup3, with the start value zero."""
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    words = struct.unpack(f"<{-(-len(data) // 12) * 3}I", data.ljust(-(-len(data) // 12) * 12, b"\0"))
    for k in range(0, len(words), 3):
        a, b, c = (a + words[k]) & _MASK, (b + words[k + 1]) & _MASK, (c + words[k + 2]) & _MASK
        if k + 3 < len(words):
            for turn in (4, 6, 8, 16, 19, 4):
                # each round: subtract, mix in a turned neighbour, add the third; then the names move on
                a = ((a - c) & _MASK) ^ _turned(c, turn)
                c = (c + b) & _MASK
                a, b, c = b, c, a
    for turn in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _turned(b, turn)) & _MASK
        a, b, c = b, c, a
    return b


def _turned(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (32 - bits))) & _MASK
