"""Small networks of layers, generic over the scalar: laws of motors and policies are the same code.

    y = W_n a(... a(W_1 x + b_1) ...) + b_n

A network runs on floats, on SymPy and on traced scalars; in a compiled step its weights are constants.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import check_one_of, numbers
from pliant.errors import PliantError
from pliant.scalar import Scalar, Scalars, abs, exp, log, maximum, minimum, select


def _tanh(x: Scalar) -> Scalar:
    # of the size alone, so that no power overflows
    e = exp(-2 * abs(x))
    size = (1 - e) / (1 + e)
    return select(x < 0, -size, size)


ACTIVATIONS: dict[str, Callable[[Scalar], Scalar]] = {
    "tanh": _tanh,
    "relu": lambda x: maximum(x, 0),
    "elu": lambda x: maximum(x, 0) + exp(minimum(x, 0)) - 1,
    "softsign": lambda x: x / (1 + abs(x)),
    "softplus": lambda x: maximum(x, 0) + log(1 + exp(-abs(x))),
    "sigmoid": lambda x: (1 + _tanh(x / 2)) / 2,
}
"""Functions between the layers, by name."""


@dataclass(frozen=True, eq=False)
class Network:
    """Layers, each a pair of weights (outputs, inputs) and offsets (outputs,), with a function between them.

        network = Network.checked([(W_1, b_1), (W_2, b_2)], activation="tanh")
        network([x_1, x_2, x_3])      # scalars of any kind in, a list of them out

    Attributes:
        layers: arrays of finite numbers that fit one another; `checked` sees to that.
        activation: one of `ACTIVATIONS`, after each layer but the last.
    """

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    activation: str = "tanh"

    @classmethod
    def checked(
        cls,
        layers: Any,
        activation: Any = "tanh",
        *,
        inputs: int | None = None,
        subject: str = "network",
        error: type[PliantError] = PliantError,
    ) -> "Network":
        """A network of what a user gives; raises if it does not fit together.

        Args:
            layers: pairs of weights and offsets.
            inputs: how many the first layer takes; None for as many as it has.
            subject, error: of the message.
        """
        check_one_of("activation", activation, tuple(ACTIVATIONS), subject=subject, error=error)

        def wrong(k: int, problem: str, cure: str) -> PliantError:
            return error(f"layer {k} of {subject} {problem}", subject=subject, field="layers", cure=cure)

        if not isinstance(layers, Sequence) or not layers:
            problem, cure = f"{subject} has the layers {layers!r}", "give a list of pairs (weights, offsets)"
            raise error(problem, subject=subject, field="layers", cure=cure)
        found, size = [], inputs
        for k, layer in enumerate(layers):
            if not isinstance(layer, Sequence) or len(layer) != 2:
                raise wrong(k, "is not a pair", "give weights (outputs, inputs) and offsets (outputs,)")
            weights, offsets = (numbers(f"layer {k} of {subject}", part) for part in layer)
            if weights.ndim != 2 or (size is not None and weights.shape[1] != size):
                fed = f"{size} inputs" if k == 0 else f"{size} outputs of the layer before"
                takes = "(outputs, inputs)" if size is None else f"(outputs, {size}), for {fed}"
                raise wrong(k, f"has weights of shape {weights.shape}", f"it takes {takes}")
            if offsets.shape != weights.shape[:1]:
                takes = f"it takes {weights.shape[:1]}, one for each output"
                raise wrong(k, f"has offsets of shape {offsets.shape}", takes)
            if not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
                raise wrong(k, "has numbers that are not finite", "give finite weights and offsets")
            found.append((weights, offsets))
            size = len(offsets)
        return cls(tuple(found), activation)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many inputs there are, and how many outputs each layer has."""
        return (self.layers[0][0].shape[1], *(len(offsets) for _, offsets in self.layers))

    def __call__(self, x: Scalars) -> list[Scalar]:
        between = ACTIVATIONS[self.activation]
        values = list(x)
        for k, (weights, offsets) in enumerate(self.layers):
            rows = zip(weights.tolist(), offsets.tolist(), strict=True)
            sums = [b + sum(w * a for w, a in zip(row, values, strict=True)) for row, b in rows]
            values = sums if k == len(self.layers) - 1 else [between(s) for s in sums]
        return values
