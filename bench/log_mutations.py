"""Mutations of logs: bytes anywhere, or those of the metadata of HDF5 with checksums that are right again.

Of a file with wrong checksums the library reads little. One that somebody made to do harm has right ones, and the
library follows the addresses and sizes in it.
"""

import functools
import struct
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant
from bench.mutations import mutated_bytes, mutated_in_place
from pliant.storage import readable_file

__all__ = ["mutated_log"]


class _Block(NamedTuple):
    """Metadata with a checksum in its last four bytes."""

    start: int
    end: int


def mutated_log(rng: np.random.Generator, data: bytes) -> bytes:
    """With other bytes anywhere, or in some blocks of metadata, whose checksums are right again."""
    if rng.random() < 0.5:
        return mutated_bytes(rng, data)
    blocks, heaps = _blocks(data)
    changed = bytearray(data)
    for _ in range(1 + int(rng.geometric(0.5))):
        if heaps and rng.random() < 0.05:
            start, end = heaps[rng.integers(len(heaps))]
            changed[start:end] = mutated_in_place(rng, bytes(changed[start:end]))
            continue
        start, end = blocks[rng.integers(len(blocks))]
        content = mutated_in_place(rng, bytes(changed[start : end - 4]))
        changed[start:end] = content + struct.pack("<I", readable_file.checksum(content))
    return bytes(changed)


@functools.cache
def _blocks(data: bytes) -> tuple[list[_Block], list[_Block]]:
    """Blocks of metadata with checksums, and heaps, which have none: where the library reads them."""
    seen: set[_Block] = set()

    class Watched(readable_file.ReadableFile):
        def bytes_at(self, at: int, size: int) -> bytes:
            seen.add(_Block(at, at + size))
            return super().bytes_at(at, size)

    with tempfile.TemporaryDirectory(prefix="pliant-fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "log.h5"
        path.write_bytes(data)
        own = pliant.storage.hdf5.ReadableFile
        try:
            pliant.storage.hdf5.ReadableFile = Watched
            pliant.load_log(path)
        finally:
            pliant.storage.hdf5.ReadableFile = own
    found = {_whole(data, block) for block in seen}
    sound = [b for b in found if b.end - b.start > 4 and _is_sound(data, b)]
    return sorted(sound), sorted(b for b in seen if data[b.start : b.start + 4] == b"GCOL")


def _whole(data: bytes, block: _Block) -> _Block:
    """A block to its end: of the head of an object the library reads 512 bytes and looks how long it is."""
    if data[block.start : block.start + 4] != b"OHDR":
        return block
    flags, at = data[block.start + 5], block.start + 6
    at += (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    return _Block(block.start, at + width + int.from_bytes(data[at : at + width], "little") + 4)


def _is_sound(data: bytes, block: _Block) -> bool:
    return readable_file.checksum(data[block.start : block.end - 4]) == int.from_bytes(
        data[block.end - 4 : block.end], "little"
    )
