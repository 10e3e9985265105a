"""Constant tables that a scalar of any kind may look up: the data of height maps and measured curves."""

import hashlib
import math
from typing import Any

import numpy as np

from pliant.errors import TraceError

__all__ = ["MOST_ENTRIES", "Table"]

# every index is a whole number that float32 has exactly
MOST_ENTRIES = 2**24


class Table:
    """A row of numbers that never changes; two of them are equal if their numbers are, bit for bit.

    Attributes:
        numbers: the entries, a read-only array of float64.
        digest: a name made of the numbers, which stands for them where they would be too many.
    """

    __slots__ = ("digest", "numbers")

    numbers: np.ndarray
    digest: str

    def __init__(self, numbers: Any):
        try:
            copied = np.array(numbers, dtype=np.float64)
        except (TypeError, ValueError, TraceError) as error:
            raise TraceError(f"a table takes plain numbers, known while tracing: {error}") from error
        if copied.ndim != 1 or not 1 <= copied.size <= MOST_ENTRIES:
            raise TraceError(f"a table is a row of 1 to {MOST_ENTRIES} numbers, not an array of shape {copied.shape}")
        copied.setflags(write=False)
        object.__setattr__(self, "numbers", copied)
        object.__setattr__(self, "digest", hashlib.sha256(copied.tobytes()).hexdigest())

    def __setattr__(self, name: str, value: Any) -> None:
        raise TraceError("a table cannot be changed: graphs and compiled code stand on it")

    def __reduce__(self):
        return Table, (self.numbers,)

    def at(self, index: float) -> float:
        """The entry at the largest integer not above ``index``, clamped to the table; NaN for NaN."""
        if index != index:
            return math.nan
        return float(self.numbers[int(min(max(index, 0), len(self) - 1))])

    def column(self, indices: np.ndarray) -> np.ndarray:
        """The entries at an array of indices."""
        is_number = indices == indices
        clamped = np.clip(np.where(is_number, indices, 0), 0, len(self) - 1)
        return np.where(is_number, self.numbers[clamped.astype(np.int64)], np.nan)

    def __len__(self) -> int:
        return self.numbers.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"table of {len(self)}"
