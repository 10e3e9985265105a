"""HDF5 files that were cut off, or whose writer was killed: read as if they had been closed.

The superblock at the head of a file says whether a program writes to it and how long the file is. The library refuses
files in which either is wrong, although all that was flushed is in order. So it reads a corrected superblock; the file
itself is not changed. docs/decisions/0016 has the alternatives.
"""

import contextlib
import os
import struct
from pathlib import Path
from typing import NamedTuple

from pliant.files.writing import PlacedFile

__all__ = ["Head", "RepairedFile", "head_of", "trim"]

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
# signature, version, sizes of addresses and lengths, flags, base, extension, end, root [HDF5 file format, II.A]
_FORM = struct.Struct("<8sBBBB4Q")
_MASK = 0xFFFFFFFF


class Head(NamedTuple):
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


def head_of(path: Path) -> Head | None:
    """The head of a file as Pliant writes them, version 2 or 3; None for others, and for damaged ones."""
    with path.open("rb") as file:
        data = file.read(_FORM.size + 4)
        size = os.fstat(file.fileno()).st_size
    if len(data) < _FORM.size + 4:
        return None
    signature, version, offsets, lengths, flags, base, _, end, _ = _FORM.unpack_from(data)
    (checksum,) = struct.unpack_from("<I", data, _FORM.size)
    if signature != _SIGNATURE or version not in (2, 3) or (offsets, lengths, base) != (8, 8, 0):
        return None
    return Head(flags != 0, end, size) if checksum == _lookup3(data[: _FORM.size]) else None


def trim(path: Path) -> None:
    """Give back room that was reserved and not used: all beyond the end that the superblock of a closed file states."""
    with contextlib.suppress(OSError):
        head = head_of(path)
        if head is not None and not head.is_open and head.end < head.size:
            os.truncate(path, head.end)


class RepairedFile(PlacedFile):
    """A file to read, with a superblock that says that it was closed, and as long as it should be."""

    def __init__(self, path: Path, head: Head):
        super().__init__(max(head.size, head.end))
        self._file = path.open("rb")
        data = bytearray(self._file.read(_FORM.size))
        data[11] = 0  # the flags
        self._head = bytes(data) + struct.pack("<I", _lookup3(bytes(data)))

    def bytes_at(self, at: int, size: int) -> bytes:
        """So many bytes from a place on; raises where the file is cut off, since zeros would pass for numbers."""
        self._file.seek(at)
        found = bytearray(self._file.read(size))
        if len(found) < size:
            raise OSError(f"the file ends before byte {at + size}")
        part = self._head[at : at + size]
        found[: len(part)] = part
        return bytes(found)

    def truncate(self, size: int | None = None) -> int:
        """Do nothing: it is for reading."""
        return self._size

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _lookup3(data: bytes) -> int:
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
