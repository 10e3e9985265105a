"""Tapes: lists of operations on arrays that run in one native call.

What an update does is known before it begins: which products, in which order, on which arrays. A tape is written once,
and run for each minibatch without Python in between; several tapes run in several threads at once. No library of
matrix products is called, so none brings threads of its own.
"""

import ctypes
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.compiler import native
from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Vectors, declarations, piece_function
from pliant.compiler.lower import cut, lower
from pliant.learn.operations import module, tile_shape
from pliant.learn.writer import WIDTH
from pliant.networks import ACTIVATIONS
from pliant.scalar import Graph, Scalar

_COLUMNS = 18
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def padded(n: int) -> int:
    """The next whole number of vectors."""
    return -(-n // WIDTH) * WIDTH


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """An array of zeros that begins on a cache line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size].view(dtype).reshape(shape)


class _Code:
    """Machine code of a precision: addresses by name."""

    def __init__(self, text: str, names: Sequence[str]):
        key = hashlib.sha256(f"{text} {native.versions()} {native.machine()}".encode()).hexdigest()
        self._loaded = native.loaded(key, lambda: [text], names)
        self.addresses = {name: self._loaded.address(name) for name in names}


@functools.cache
def _operations(precision: str) -> _Code:
    return _Code(*module(precision, native.machine()))


@functools.cache
def piece(function: Callable[..., Scalar | tuple[Scalar, ...]], precision: str, slots: tuple[int, ...]) -> _Code:
    """A function on scalars as code for a vector of them.

    Args:
        slots: where its arguments are, then where its results go, in vectors from the first.
    """
    inputs = function.__code__.co_argcount  # type: ignore[attr-defined]
    graph = Graph()
    nodes = [graph.input(f"x[{k}]") for k in range(inputs)]
    made = function(*nodes)
    results = [graph.lift(x) for x in (made if isinstance(made, tuple) else (made,))]
    machine, v = native.machine(), Vectors(WIDTH, precision_of(precision))
    code = lower(nodes, results, v.precision, machine.has_fma)
    for instruction in code.instructions:
        if instruction.op == "input":
            instruction.value = slots[int(instruction.value or 0)]
    (own,), _ = cut(code, slots[inputs:], 1 + max(slots))
    text = "\n".join([f'target triple = "{machine.triple}"', declarations(v), piece_function("piece", code, own, v)])
    return _Code(text, ["piece"])


class Tape:
    """Operations in order; arrays that they name are kept alive, and must stay where they are.

    Matrices have contiguous rows, padded to whole vectors where they are written or multiplied row by row.
    """

    def __init__(self, dtype: Any = np.float32):
        self.precision = np.dtype(dtype).name
        self._rows: list[list[int]] = []
        self._kept: list[Any] = []
        self._code = _operations(self.precision)
        self._run = _RUN(self._code.addresses["run"])
        self._made: np.ndarray | None = None
        self._address = 0

    def __call__(self) -> None:
        """Run it; other Python threads run meanwhile."""
        if self._made is None:
            self._made = np.zeros((len(self._rows), _COLUMNS), dtype=np.int64)
            for k, row in enumerate(self._rows):
                self._made[k, : len(row)] = row
            self._address = self._made.ctypes.data
        self._run(self._address, _COLUMNS, len(self._made))

    def _add(self, name: str, *arguments: np.ndarray | int) -> None:
        row = [self._code.addresses[name]]
        for x in arguments:
            if isinstance(x, np.ndarray):
                self._kept.append(x)
            row.append(x.ctypes.data if isinstance(x, np.ndarray) else int(x))
        self._rows.append(row)

    # ---- operations

    def product(self, x: np.ndarray, w: np.ndarray, start: np.ndarray, y: np.ndarray) -> None:
        """y = start + x w: x (rows, n), w (n, padded m), start (padded m,), y (rows, padded m)."""
        self._matrix(x, x.strides, len(x), w, start, 0, y, len(w))

    def outer(self, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> None:
        """y += x^T g: x (rows, n or more), g (rows, padded m), y (n, padded m)."""
        self._matrix(x, x.strides[::-1], len(y), g, y, y.shape[1], y, len(x))

    def _matrix(
        self, x: np.ndarray, strides: Sequence[int], rows: int, w: np.ndarray, start: np.ndarray, start_stride: int,
        y: np.ndarray, n: int,
    ) -> None:  # fmt: skip
        """y[i] = start[i] + sum_k x[i, k] w[k], in tiles of nearly equal height."""
        size = x.itemsize
        xi, xk = (s // size for s in strides)
        highest, widest = tile_shape(native.machine())
        tiles = -(-rows // highest)
        height = -(-rows // tiles)
        tall = rows - tiles * (height - 1)
        columns, at = y.shape[1] // WIDTH, 0
        assert y.shape[1] == w.shape[1] == columns * WIDTH, (y.shape, w.shape)
        for vectors in range(widest, 0, -1):
            count = columns // vectors
            if not count:
                continue
            codes = [self._code.addresses[f"tile_{max(1, h)}_{vectors}"] for h in (height, height - 1)]
            places = [a.ctypes.data + at * size for a in (w, start, y)]
            self._add(
                "matrix", codes[0], tall, codes[1], tiles, height, count, vectors * WIDTH, x, xi, xk,
                places[0], w.strides[0] // size, places[1], start_stride, places[2], y.strides[0] // size, n,
            )  # fmt: skip
            columns, at = columns - count * vectors, at + count * vectors * WIDTH
        self._kept += [w, start, y]

    def dots(self, x: np.ndarray, w: np.ndarray, start: np.ndarray, y: np.ndarray) -> None:
        """y = start[0] + x w: x (rows, padded n), w (padded n,), y (rows,)."""
        self._add("dots", x, x.strides[0] // x.itemsize, w, start, y, len(x), x.shape[1] // WIDTH)

    def sums(self, x: np.ndarray, y: np.ndarray) -> None:
        """y += sum over rows of x: x (rows, padded m), y (padded m,)."""
        for c in range(0, x.shape[1], WIDTH):
            self._add("sums", x[:, c:], x.strides[0] // x.itemsize, len(x), y[c:])

    def turn(self, x: np.ndarray, y: np.ndarray, rows: int, columns: int) -> None:
        """y[j, i] = x[i, j]."""
        self._add("turn", x, x.strides[0] // x.itemsize, y, y.strides[0] // y.itemsize, rows, columns)

    def gather(self, x: np.ndarray, chosen: np.ndarray, y: np.ndarray) -> None:
        """y[i] = x[chosen[i]]: rows of x into the first columns of y, or numbers."""
        if x.ndim == 1:
            self._add("pick", x, chosen, y, len(chosen))
            return
        steps = (a.strides[0] // a.itemsize for a in (x, y))
        vectors, rest = divmod(x.shape[1], WIDTH)
        self._add("gather", x, next(steps), chosen, y, next(steps), len(chosen), vectors, rest)

    def normalise(
        self, x: np.ndarray, y: np.ndarray, shift: np.ndarray, scale: np.ndarray, clip: np.ndarray, sums: np.ndarray
    ) -> None:
        """y = (x - shift) scale, cut off at +-clip[0]; before that it is added to sums[0], and its square to sums[1].

        x and y are (rows, n), shift, scale and rows of sums (padded n,).
        """
        rest = divmod(x.shape[1], WIDTH)
        self._add("normalise", x, y, shift, scale, clip, sums[0], sums[1], len(x), *rest)

    def each(self, function: Callable[..., Any], x: np.ndarray, slots: tuple[int, ...] = (0, 0)) -> None:
        """Apply a function on scalars to vector after vector of x, and write its results in place or beside it.

        Args:
            slots: of arguments and results, as for `piece`.
        """
        own = piece(function, self.precision, slots)
        self._kept.append(own)
        self._add("each", own.addresses["piece"], x, x.size // WIDTH)

    def activate(self, activation: str, x: np.ndarray) -> None:
        """Apply an activation in place."""
        if activation == "tanh" and self.precision == "float32":
            self._add("tanh", x, x.size // WIDTH)
        else:
            self.each(ACTIVATIONS[activation], x)

    def slope(self, activation: str, g: np.ndarray, h: np.ndarray) -> None:
        """G times the derivative of an activation, at what it returned."""
        self._add(f"slope_{activation}", g, h, g.size // WIDTH)

    def deviations(self, mean: np.ndarray, actions: np.ndarray, inverse: np.ndarray, squares: np.ndarray) -> None:
        """Z = (actions - mean) * inverse in place of the mean, and z.z of each sample."""
        self._add("deviations", mean, actions, inverse, squares, len(mean), mean.shape[1] // WIDTH)

    def pulls(self, z: np.ndarray, g: np.ndarray, inverse: np.ndarray, ones: np.ndarray, spread: np.ndarray) -> None:
        """G z * inverse in place of z, and the sum of g (z^2 - ones) added to ``spread``."""
        self._add("pulls", z, g, inverse, ones, spread, len(z), z.shape[1] // WIDTH)

    def adam(
        self, parameters: np.ndarray, mean: np.ndarray, square: np.ndarray, gradient: np.ndarray, numbers: np.ndarray
    ) -> None:
        """A step of Adam; see `pliant.learn.adam`."""
        self._add("adam", parameters, mean, square, gradient, numbers, len(parameters) // WIDTH)
