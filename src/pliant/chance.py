"""Random numbers: in kernels, uniform and normal numbers, choices, and the keys of robots; on arrays, by place.

Nothing is remembered from draw to draw. A number depends on the key of its robot, on the tick (steps done), on the
stream, which is for one purpose, and on its place in the stream, through Philox (`pliant.scalar.philox`). So a robot
has the same numbers in any batch, in any lane, on any number of threads, after its state has been restored, and in
another process; float64 and float32 draw the same ones, up to rounding.

    chance = Chance(key, tick, stream_of("imu"))
    dx, dy, dz = chance.normals(3)
"""

import math
import zlib
from typing import Any

import numpy as np

from pliant.checks import check, is_whole
from pliant.errors import PliantError, SimulationError
from pliant.scalar import Scalar, Scalars, cos, draws, floor, log, maximum, minimum, select, sin, sqrt
from pliant.scalar.philox import WORD_BITS, philox

KEY_SIZE = 3
"""Numbers in the key of a robot, each a whole number below 2^23."""

_WORDS = 2**WORD_BITS
# steps are counted as low + 2^20 high; beside the upper part there is room for the place in a stream
_TURN = 2**20
_HIGH = 2**12
MOST_DRAWS = 4 * _WORDS // _HIGH
"""Uniform numbers that a stream has for one tick."""

_SEEDING, _GOING_ON, _DERIVING = 0x5EED, 0x6E78, 0xDE51
_LOW = 0xFFFFFFFF


def stream_of(name: str) -> int:
    """The stream of a purpose, by its name: others that come or go leave its numbers as they are."""
    return zlib.crc32(name.encode()) % _WORDS


class Chance:
    """The random numbers of a robot at a tick, in one stream; each call goes on where the last one ended.

    Attributes:
        key: of the robot, `KEY_SIZE` numbers; see `keys_of`.
        tick: whole steps: one number, or two, the lower one below 2^20.
        stream: a number below 2^23, see `stream_of`.
    """

    def __init__(self, key: Scalars, tick: Scalars, stream: int):
        self._key, self._stream = list(key), stream
        self._tick = list(tick) if len(tick) == 2 else list(_split(tick[0]))
        self._left: list[Scalar] = []
        self._blocks = 0

    def uniforms(self, n: int) -> list[Scalar]:
        """So many numbers between 0 and 1, both excluded."""
        while len(self._left) < n:
            check("draws of a stream", 4 * (self._blocks + 1), f"at most {MOST_DRAWS}", 4 * self._blocks < MOST_DRAWS)
            low, high = self._tick
            counter = [low, high + _HIGH * self._blocks, self._stream, self._key[2]]
            self._left += draws(counter, self._key[:2])
            self._blocks += 1
        taken, self._left = self._left[:n], self._left[n:]
        return taken

    def uniform(self, low: Scalar = 0, high: Scalar = 1) -> Scalar:
        """A number between two others."""
        return low + (high - low) * self.uniforms(1)[0]

    def normals(self, n: int) -> list[Scalar]:
        """So many numbers of mean 0 and variance 1, normally distributed [Box and Muller 1958]."""
        found: list[Scalar] = []
        for _ in range(0, n, 2):
            u, w = self.uniforms(2)
            r, angle = sqrt(-2 * log(u)), 2 * math.pi * w
            found += [r * cos(angle), r * sin(angle)]
        return found[:n]

    def normal(self, mean: Scalar = 0, deviation: Scalar = 1) -> Scalar:
        """A number of that mean and standard deviation."""
        return mean + deviation * self.normals(1)[0]

    def choice(self, values: Scalars) -> Scalar:
        """One of several numbers, each as likely as the others."""
        found, u = values[0], len(values) * self.uniforms(1)[0]
        for k, value in enumerate(values[1:], start=1):
            found = select(u >= k, value, found)
        return found

    def whole(self, n: Scalar) -> Scalar:
        """A whole number from 0 to n - 1, each as likely as the others, up to 2^-23."""
        return maximum(0, minimum(floor(n * self.uniforms(1)[0]), n - 1))


def _split(tick: Scalar) -> tuple[Scalar, Scalar]:
    high = floor(tick / _TURN)
    return tick - _TURN * high, high


# ---- keys


def check_seed(seed: Any, *, subject: str = "", error: type[PliantError] = SimulationError) -> int:
    """A seed, or an error."""
    is_right = is_whole(seed) and 0 <= seed < 2**64
    check("seed", seed, "a whole number from 0 to 2^64 - 1", is_right, subject=subject, error=error)
    return int(seed)


def _words_of(seed: int) -> tuple[np.uint64, np.uint64]:
    """A seed as a key of Philox."""
    return np.uint64(seed & _LOW), np.uint64(seed >> 32)


def keys_of(seed: int, robots: np.ndarray) -> np.ndarray:
    """The keys of robots of these numbers, (n, KEY_SIZE), from a seed."""
    zero = np.zeros(len(robots), dtype=np.uint64)
    words = philox(
        (np.asarray(robots, dtype=np.uint64), zero, zero, zero + np.uint64(_SEEDING)),
        _words_of(seed),
    )
    return np.stack([word >> np.uint64(32 - WORD_BITS) for word in words[:KEY_SIZE]], axis=-1).astype(np.float64)


def next_key(key: Scalars) -> list[Scalar]:
    """The key that follows another one, as after a reset without a seed: new numbers, the same each time."""
    return [floor(_WORDS * u) for u in draws([key[2], 0, 0, _GOING_ON], [key[0], key[1]])[:KEY_SIZE]]


# ---- numbers of places, such as the tiles of a map


def uniforms_at(seed: int, *place: Any) -> list[np.ndarray]:
    """Four numbers between 0 and 1, both excluded, for each place: arrays of the shape of its coordinates.

    A place has the same numbers whatever there is around it, on every machine.

    Args:
        place: up to four whole numbers of either sign, below 2^31, or arrays of them, which broadcast; the first one
            says what the numbers are for.
    """
    check("coordinates of a place", len(place), "1 to 4", 1 <= len(place) <= 4)
    counter = [np.asarray(x, dtype=np.int64).astype(np.uint64) & np.uint64(_LOW) for x in place]
    counter += [np.zeros((), dtype=np.uint64)] * (4 - len(counter))
    return [(word.astype(np.float64) + 0.5) * 2.0**-32 for word in philox(counter, _words_of(seed))]


def derived_seed(seed: int, name: str, first: int = 0, second: int = 0) -> int:
    """The seed of a part that has a name and up to two numbers."""
    low, high, *_ = philox((stream_of(name), first, second, _DERIVING), (seed & _LOW, seed >> 32))
    return low | high << 32
