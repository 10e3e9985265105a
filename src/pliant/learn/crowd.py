"""A crowd of networks of one shape, each robot with weights of its own, on tapes."""

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pliant.learn.tape import Tape, padded, zeros


class Crowd:
    """Networks side by side: robot k acts by row k of the weights.

    Attributes:
        size: weights and offsets of a network, those of a layer one after the other.
        x: inputs to fill in, (robots, n).
        outputs: of the last call, (robots, m).
    """

    def __init__(self, sizes: Sequence[int], activation: str, robots: int, threads: int = 1):
        self.sizes = tuple(sizes)
        self.size = sum((n + 1) * m for n, m in itertools.pairwise(self.sizes))
        self.x = zeros(robots, sizes[0])
        shapes = [(n, padded(m)) for n, m in itertools.pairwise(self.sizes)]
        self._weights = zeros(robots, sum((n + 1) * m for n, m in shapes))
        self._places = self._where(shapes)
        values = [self.x, *(zeros(robots, m) for _, m in shapes)]
        self.outputs = values[-1][:, : sizes[-1]]
        bounds = [robots * k // threads for k in range(threads + 1)]
        self._tapes = []
        for begin, end in itertools.pairwise(bounds):
            tape, first = Tape(), 0
            for k, (n, m) in enumerate(shapes):
                middle, last = first + n * m, first + (n + 1) * m
                for robot in range(begin, end):
                    own = self._weights[robot]
                    w, b = own[first:middle].reshape(n, m), own[middle:last]
                    tape.product(values[k][robot : robot + 1, :n], w, b, values[k + 1][robot : robot + 1])
                if k < len(shapes) - 1:
                    tape.activate(activation, values[k + 1][begin:end])
                first = last
            self._tapes.append(tape)
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="pliant-learn") if threads > 1 else None

    def _where(self, shapes: Sequence[tuple[int, int]]) -> np.ndarray:
        """The place of each number of a network, which has weights (outputs, inputs), in a padded row by inputs."""
        found, first = [], 0
        for (n, m), wide in zip(itertools.pairwise(self.sizes), shapes, strict=True):
            columns = np.arange(m)[:, None] + wide[1] * np.arange(n)
            found += [first + columns.ravel(), first + n * wide[1] + np.arange(m)]
            first += (n + 1) * wide[1]
        return np.concatenate(found)

    def put(self, parameters: np.ndarray) -> None:
        """Give every robot its numbers, (robots, size)."""
        self._weights[:, self._places] = parameters

    def __call__(self) -> np.ndarray:
        """Outputs for ``x``."""
        waiting = [self._pool.submit(tape) for tape in self._tapes[1:]] if self._pool else []
        self._tapes[0]()
        for other in waiting:
            other.result()
        return self.outputs

    def layers(self, parameters: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights (outputs, inputs) and offsets of one network."""
        found, first = [], 0
        for n, m in itertools.pairwise(self.sizes):
            found.append((parameters[first : first + n * m].reshape(m, n), parameters[first + n * m :][:m]))
            first += (n + 1) * m
        return found
