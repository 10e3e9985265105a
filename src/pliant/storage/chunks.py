"""Numbers of a dataset, chunk by chunk, from the bytes that are stored.

The HDF5 library says where a chunk is; it is unpacked here. The library takes sizes for granted when it unpacks (as of
HDF5 2.0): a chunk that is smaller than it should be, as in a file that was made to do harm, makes it read beyond its
memory, which ends the process.
"""

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

DEFLATE, SHUFFLE, CHECKSUM = 1, 2, 3
"""Numbers of the filters that Pliant uses."""

_BLOCK = 1 << 15
"""Words whose sums are exact in double precision."""

_WEIGHTS = np.stack([np.ones(_BLOCK), np.arange(_BLOCK, 0, -1.0)], axis=1)
_MODULUS = 65535


class DamagedChunkError(OSError):
    """A chunk that is not as it was written."""


class Chunks:
    """A dataset in chunks, to be indexed by a slice, or indices, for each of its first axes.

    Attributes:
        name: of the dataset.
        shape, dtype: of the whole; chunks: shape of a chunk.
        filters: numbers of the filters, in the order in which they were applied.
    """

    def __init__(self, dataset: Any):
        self._id, self.name = dataset.id, str(dataset.name)
        plan = dataset.id.get_create_plist()
        self.shape: tuple[int, ...] = dataset.shape
        self.dtype: np.dtype[Any] = dataset.dtype
        self.chunks: tuple[int, ...] = dataset.chunks
        self.filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
        self._size = math.prod(self.chunks) * self.dtype.itemsize

    def __getitem__(self, wanted: Any) -> np.ndarray:
        return self.read(wanted if isinstance(wanted, tuple) else (wanted,))

    def read(self, wanted: Sequence[slice | Sequence[int]], *, is_checked: bool = True) -> np.ndarray:
        """The numbers at slices, or at indices along one axis, from chunks whose checksums are right, or any."""
        whole = [*wanted, *[slice(None)] * (len(self.shape) - len(wanted))]
        sides = [_parts(part, n, c) for part, n, c in zip(whole, self.shape, self.chunks, strict=True)]
        found = np.empty([side.length for side in sides], self.dtype)
        for parts in itertools.product(*(side.parts for side in sides)):
            chunk = self._chunk(tuple(part.corner for part in parts), is_checked)
            found[tuple(part.to for part in parts)] = chunk[tuple(part.of for part in parts)]
        return found

    def _chunk(self, corner: tuple[int, ...], is_checked: bool) -> np.ndarray:
        try:
            data: Any = self._id.read_direct_chunk(corner)[1]
        except (MemoryError, OverflowError):
            raise DamagedChunkError("a chunk has a size that cannot be") from None
        for number in reversed(self.filters):
            data = self._unfiltered(number, data, is_checked)
        if len(data) != self._size:
            raise DamagedChunkError("a chunk has not as many numbers as it should")
        if self.dtype.kind == "b":
            return (np.frombuffer(data, np.uint8) != 0).reshape(self.chunks)
        return np.frombuffer(data, self.dtype).reshape(self.chunks)

    def _unfiltered(self, number: int, data: Any, is_checked: bool) -> Any:
        """The bytes before a filter was applied."""
        if number == CHECKSUM:
            if len(data) < 4:
                raise DamagedChunkError("a chunk has no checksum")
            if is_checked and fletcher32(data[:-4]) != int.from_bytes(data[-4:], "little"):
                raise DamagedChunkError("a checksum of numbers is wrong")
            return memoryview(data)[:-4]
        if number == DEFLATE:
            try:
                return zlib.decompressobj().decompress(data, self._size + 4)
            except zlib.error as error:
                raise DamagedChunkError(f"a chunk cannot be unpacked: {error}") from None
        # shuffled: the first bytes of all numbers, then the second ones
        width = self.dtype.itemsize
        if len(data) % width:
            raise DamagedChunkError("a chunk ends within a number")
        return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


class _Part(NamedTuple):
    """What one chunk has along one axis: where it begins, what is taken of it, and where that goes."""

    corner: int
    of: Any
    to: Any


class _Side(NamedTuple):
    length: int
    parts: list[_Part]


def _parts(wanted: slice | Sequence[int], n: int, size: int) -> _Side:
    """The parts of an axis of n entries in chunks of a size."""
    if not isinstance(wanted, slice):
        places = np.asarray(wanted, dtype=int)
        chunks = places // size
        parts = [
            _Part(int(k) * size, places[chunks == k] - int(k) * size, np.flatnonzero(chunks == k))
            for k in np.unique(chunks)
        ]
        return _Side(len(places), parts)
    taken = range(*wanted.indices(n))
    return _Side(len(taken), list(_slices(taken, size)))


def _slices(taken: range, size: int) -> Iterator[_Part]:
    done = 0
    while done < len(taken):
        corner = taken[done] // size * size
        # as many as lie before the next chunk
        count = min(-(-(corner + size - taken[done]) // taken.step), len(taken) - done)
        first, last = taken[done] - corner, taken[done + count - 1] - corner
        yield _Part(corner, slice(first, last + 1, taken.step), slice(done, done + count))
        done += count


def fletcher32(data: bytes) -> int:
    """The checksum of HDF5's filter: sums of words of 16 bits, first byte first, and of the sums after each word.

    Words are taken as this machine has them: bytes that change places are a factor of 256 modulo 65535.
    """
    words = np.frombuffer(data[: len(data) // 2 * 2], "<u2")
    n = -(-len(data) // 2)
    plain = weighted = 0
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK].astype(np.float64)
        a, b = (int(x) for x in block @ _WEIGHTS[_BLOCK - len(block) :])
        plain += a
        weighted += b + (n - start - len(block)) * a
    if len(data) % 2:
        plain += data[-1]
        weighted += data[-1]
    sums = (_folded(256 * x) for x in (plain, weighted))
    first, second = sums
    return second << 16 | first


def _folded(x: int) -> int:
    """A sum as ends that are carried around leave it: a multiple of 65535 is that, and not 0."""
    return x and (x % _MODULUS or _MODULUS)
