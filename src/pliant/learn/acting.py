"""Policies on tapes: layers of fixed weights, for any number of observations at once."""

import threading
from collections.abc import Sequence

import numpy as np

from pliant.learn.tape import Tape, padded, zeros

# observations that go through the layers at once
_ROWS = 64


class Acting:
    """A network with normalised inputs, on float32: the bits of a row do not depend on the others.

    Args:
        layers: weights (outputs, inputs) and offsets of each.
        activation: between them.
        mean, scale, clip: inputs are shifted, multiplied, and cut off.
    """

    def __init__(
        self,
        layers: Sequence[tuple[np.ndarray, np.ndarray]],
        activation: str,
        mean: np.ndarray,
        scale: np.ndarray,
        clip: float,
    ):
        n = len(mean)
        self._outputs = len(layers[-1][1])
        self._seen, x = zeros(_ROWS, n), zeros(_ROWS, n)
        shift, factor, limit = zeros(padded(n)), zeros(padded(n)), zeros(1)
        shift[:n], factor[:n], limit[0] = mean, scale, clip
        self._tape = Tape()
        # the sums that come with it are not used
        self._tape.normalise(self._seen, x, shift, factor, limit, zeros(2, padded(n)))
        for k, (weights, offsets) in enumerate(layers):
            m = padded(len(offsets))
            w, b, y = zeros(weights.shape[1], m), zeros(m), zeros(_ROWS, m)
            w[:, : len(offsets)], b[: len(offsets)] = weights.T, offsets
            self._tape.product(x[:, : len(w)], w, b, y)
            if k < len(layers) - 1:
                self._tape.activate(activation, y)
            x = y
        self._made = x
        # its arrays serve one caller at a time
        self._lock = threading.Lock()

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """Outputs, (rows, n), of observations (rows, m)."""
        found = np.empty((len(observations), self._outputs), dtype=np.float32)
        with self._lock:
            for first in range(0, len(observations), _ROWS):
                part = observations[first : first + _ROWS]
                self._seen[: len(part)] = part
                self._tape()
                found[first : first + len(part)] = self._made[: len(part), : self._outputs]
        return found
