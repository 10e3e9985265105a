"""Philox, a counter-based generator of random numbers: a keyed bijection of counters, without a state.

Philox4x32 with ten rounds [Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011]. The
same key and counter give the same four words wherever and whenever they are asked for, so numbers depend on nothing but
what they are for.

Words that come from scalars are whole numbers below 2^23, which every precision has exactly. Words that go out become
numbers strictly between 0 and 1: float64 takes all 32 bits, float32 the upper 23, so both agree to 2^-23.
"""

from typing import Any

import numpy as np

ROUNDS = 10
FACTORS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
"""What the two words of the key grow by from round to round."""

WORD_BITS = 23
"""Of the words that scalars give."""

_LOW = 0xFFFFFFFF


def philox(counter: Any, key: Any, rounds: int = ROUNDS) -> tuple[Any, Any, Any, Any]:
    """Four words of 32 bits from a counter of four and a key of two: Python's integers, or arrays of uint64."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(rounds):
        first, second = FACTORS[0] * c0, FACTORS[1] * c2
        c0, c1 = (second >> 32) ^ c1 ^ k0, second & _LOW
        c2, c3 = (first >> 32) ^ c3 ^ k1, first & _LOW
        k0, k1 = (k0 + WEYL[0]) & _LOW, (k1 + WEYL[1]) & _LOW
    return c0, c1, c2, c3


def uniform_draw(k: int, *words: Any) -> Any:
    """Number k of four, in (0, 1): from four words of the counter and two of the key, floats or arrays of them."""
    if any(isinstance(word, np.ndarray) for word in words):
        given = [np.asarray(word, dtype=np.float64).astype(np.uint64) for word in words]
        return (philox(given[:4], given[4:])[k].astype(np.float64) + 0.5) * 2.0**-32
    whole = [int(word) for word in words]
    return (philox(whole[:4], whole[4:])[k] + 0.5) * 2.0**-32
