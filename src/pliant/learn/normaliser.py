"""Running mean and variance of observations.

Batches are merged exactly [Chan, Golub and LeVeque 1983]: with counts n and m, means differing by d,

    mean = mean_n + d m / (n + m),   var = (n var_n + m var_m + d^2 n m / (n + m)) / (n + m)

The count stops growing at a number of samples: from there on old ones are forgotten.
"""

import numpy as np

from pliant.learn.tape import Tape, padded, zeros

_LEAST = 1e-5


class Normaliser:
    """Observations to mean 0 and variance 1, cut off beyond ``clip``.

    Sums of a batch are taken of numbers that the present mean and variance have normalised already, so that float32
    loses nothing.

    Attributes:
        mean, var, count: of all observations that were merged.
        shift, scale: what observations are normalised with until the next `merge`.
    """

    def __init__(self, size: int, clip: float, memory: float, blocks: int = 1):
        """Set it up; sums of several blocks of robots are kept apart, so that they may come from several places."""
        self.clip, self.memory, self.size = clip, memory, size
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 0.0
        self._shift, self._scale, self._clip = zeros(padded(size)), zeros(padded(size)), zeros(1)
        self.shift, self.scale = self._shift[:size], self._scale[:size]
        self._clip[0] = clip
        self._step, self._sums = zeros(2, padded(size)), np.zeros((blocks, 2, size))
        self._seen = 0
        self._begin()

    def _begin(self) -> None:
        """Fix mean and scale until the next `merge`."""
        self._seen = 0
        self._sums[:] = 0
        self.shift[:] = self.mean
        self.scale[:] = 1 / np.sqrt(self.var + _LEAST)

    def tape(self, x: np.ndarray, y: np.ndarray) -> Tape:
        """A tape that normalises the rows of x into y; call `note` after each run."""
        made = Tape()
        made.normalise(x, y, self._shift, self._scale, self._clip, self._step)
        return made

    def note(self, rows: int, block: int = 0) -> bool:
        """Take the sums of so many rows that a tape has normalised; returns whether all was finite."""
        self._seen += rows
        self._sums[block] += self._step[:, : self.size]
        self._step[:] = 0
        return bool(np.isfinite(self._sums[block]).all())

    @property
    def noted(self) -> tuple[int, np.ndarray]:
        """Rows so far, and their sums by block; set it to take those of other places."""
        return self._seen, self._sums.copy()

    @noted.setter
    def noted(self, given: tuple[int, np.ndarray]) -> None:
        self._seen = int(given[0])
        self._sums[...] = given[1]

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """Normalised observations, which are not noted."""
        x = np.subtract(observations, self.shift)
        x *= self.scale
        return np.clip(x, -self.clip, self.clip, out=x)

    def merge(self, mirror: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Take what was noted into mean and variance; with a mirror, also its mirror image."""
        if not self._seen:
            return
        scale = self.scale.astype(np.float64)
        total_sums = self._sums[0].copy()
        for sums in self._sums[1:]:
            total_sums += sums
        mean, square = total_sums / self._seen
        var = (square - mean * mean) / scale**2
        mean = mean / scale + self.shift
        if mirror is not None:
            permutation, signs = mirror
            other = signs * mean[permutation]
            var = (var + var[permutation]) / 2 + ((mean - other) / 2) ** 2
            mean = (mean + other) / 2
        n, total = self._seen, self.count + self._seen
        d = mean - self.mean
        self.var = (self.var * self.count + np.maximum(var, 0) * n + d * d * self.count * n / total) / total
        self.mean = self.mean + d * n / total
        self.count = min(total, self.memory)
        self._begin()

    @property
    def state(self) -> dict[str, np.ndarray]:
        """All of it, between two batches."""
        return {"mean": self.mean, "var": self.var, "count": np.array(self.count)}

    @state.setter
    def state(self, given: dict[str, np.ndarray]) -> None:
        self.mean, self.var = given["mean"].copy(), given["var"].copy()
        self.count = float(given["count"])
        self._begin()
