"""Random numbers by place: each is a function of the seed and of whole numbers that say what it is for.

There is no stream to draw from, so a tile has the same height whatever the size of the map around it. All of it is
arithmetic on integers of 64 bits, the same on every machine: the finaliser of SplitMix64 [Steele, Lea, Flood 2014],
chained over the numbers.
"""

import hashlib
from typing import Any

import numpy as np

from pliant.checks import check, is_whole
from pliant.errors import ContactError

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniform(seed: int, *numbers: Any) -> np.ndarray:
    """Uniform in [0, 1), an entry for each place of the arrays of whole numbers, which broadcast."""
    return (_mixed(seed, numbers) >> np.uint64(11)).astype(float) * 2.0**-53


def derived(seed: int, name: str, *numbers: int) -> int:
    """The seed of a part that has a name and numbers."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int(_mixed(seed, (int.from_bytes(digest, "little"), *numbers)))


def check_seed(seed: Any, subject: str) -> None:
    """Raise unless a seed is one."""
    is_right = is_whole(seed) and 0 <= seed < 2**64
    check("seed", seed, "a whole number, 0 or more and below 2^64", is_right, subject=subject, error=ContactError)


def _mixed(seed: int, numbers: tuple[Any, ...]) -> np.ndarray:
    with np.errstate(over="ignore"):
        state = _stirred(np.asarray(seed, dtype=np.uint64) + _GOLDEN)
        for number in numbers:
            state = _stirred((state ^ _bits(number)) + _GOLDEN)
    return state


def _bits(number: Any) -> np.ndarray:
    """Whole numbers of either sign, as 64 bits."""
    return np.asarray(number, dtype=np.uint64) if isinstance(number, int) and number >= 0 else _unsigned(number)


def _unsigned(number: Any) -> np.ndarray:
    return np.asarray(number, dtype=np.int64).astype(np.uint64)


def _stirred(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
