"""Two networks, one that acts and one that foresees the return, on one vector of parameters.

The actor gives the mean of a normal distribution of actions, whose deviation is a parameter of its own. What they do is
written on tapes (`pliant.learn.tape`), for which rows of weights are padded to whole vectors: by input (n, padded m) or
by output (m, padded n), whichever is smaller. Pads are zero and stay so.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.learn.tape import Tape, padded, zeros

ROWS = 128
"""Samples that go through the networks at once: what lies between the layers stays in the cache."""


@dataclass(frozen=True)
class Layer:
    """Where a layer is in the vector of parameters: weights from ``first`` on, then offsets."""

    inputs: int
    outputs: int
    first: int

    @property
    def is_by_output(self) -> bool:
        """Whether a row has the weights of an output."""
        return self.outputs * padded(self.inputs) < self.inputs * padded(self.outputs)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the padded weights."""
        n, m = self.inputs, self.outputs
        return (m, padded(n)) if self.is_by_output else (n, padded(m))

    @property
    def end(self) -> int:
        """One past its offsets."""
        return self.first + self.shape[0] * self.shape[1] + padded(self.outputs)

    def weights(self, flat: np.ndarray) -> np.ndarray:
        """Padded weights, a view."""
        return flat[self.first : self.end - padded(self.outputs)].reshape(self.shape)

    def offsets(self, flat: np.ndarray) -> np.ndarray:
        """Padded offsets, a view."""
        return flat[self.end - padded(self.outputs) : self.end]

    def plain(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights (outputs, inputs) and offsets without pads, views."""
        w = self.weights(flat)
        w = w[:, : self.inputs] if self.is_by_output else w[:, : self.outputs].T
        return w, self.offsets(flat)[: self.outputs]


def _layers(sizes: Sequence[int], first: int) -> list[Layer]:
    found = []
    for n, m in itertools.pairwise(sizes):
        found.append(Layer(n, m, first))
        first = found[-1].end
    return found


class ActorCritic:
    """Actor and critic.

    Attributes:
        actor, critic: their layers.
        parameters: all of them in one vector, and last the logarithm of the deviation of actions.
    """

    def __init__(self, actor_sizes: Sequence[int], critic_sizes: Sequence[int], activation: str, dtype=np.float32):
        self.activation, self.dtype = activation, dtype
        self.actor = _layers(actor_sizes, 0)
        self.critic = _layers(critic_sizes, self.actor[-1].end)
        self.actions = actor_sizes[-1]
        self.parameters = zeros(self.critic[-1].end + padded(self.actions), dtype=dtype)
        self._turned = {layer: zeros(*shape, dtype=dtype) for layer, shape in self._turned_shapes()}
        self._turn = Tape(dtype)
        for layer, other in self._turned.items():
            own = layer.weights(self.parameters)
            columns = layer.inputs if layer.is_by_output else layer.outputs
            self._turn.turn(own, other, len(own), columns)
        self.inverse_std = zeros(padded(self.actions), dtype=dtype)

    def _turned_shapes(self) -> Iterator[tuple[Layer, tuple[int, int]]]:
        """Layers of which both orders are read, with the shape of the other one."""
        for layer in (*self.actor, *self.critic):
            n, m = layer.inputs, layer.outputs
            if layer.is_by_output:
                yield layer, (n, padded(m))
            elif layer not in (self.actor[0], self.critic[0]) or m == 1:
                yield layer, (m, padded(n))

    def log_std(self, flat: np.ndarray | None = None) -> np.ndarray:
        """The logarithm of the deviation of actions, or what belongs to it in another vector; a view."""
        first = self.critic[-1].end
        return (self.parameters if flat is None else flat)[first : first + self.actions]

    def start(self, rng: np.random.Generator, *, std: float, last_scale: float) -> None:
        """Weights of variance 1 / inputs, smaller in the last layers; offsets zero."""
        self.parameters[:] = 0
        for layers in (self.actor, self.critic):
            for layer in layers:
                weights, _ = layer.plain(self.parameters)
                weights[:] = rng.normal(size=weights.shape) / np.sqrt(layer.inputs)
            layers[-1].plain(self.parameters)[0][:] *= last_scale
        self.log_std()[:] = np.log(std)
        self.refresh()

    def refresh(self) -> None:
        """Take the parameters as they are now into what tapes read."""
        self._turn()
        np.exp(-self.log_std(), out=self.inverse_std[: self.actions])

    # ---- on tapes

    def write_forward(
        self, tape: Tape, layers: Sequence[Layer], x: np.ndarray, between: Sequence[np.ndarray], out: np.ndarray
    ) -> None:
        """Through all layers.

        Args:
            x: (rows, inputs or more).
            between: for what is after each layer but the last, (rows, padded outputs).
            out: for the outputs (rows, padded outputs), or (rows,) if there is one.
        """
        for layer, y in zip(layers, (*between, out), strict=True):
            offsets = layer.offsets(self.parameters)
            if y.ndim == 1:
                tape.dots(x, self._by_output(layer)[0], offsets, y)
            else:
                tape.product(x[:, : layer.inputs], self._by_input(layer), offsets, y)
            if y is not out:
                tape.activate(self.activation, y)
            x = y

    def write_backward(
        self, tape: Tape, layers: Sequence[Layer], values: Sequence[np.ndarray], g: np.ndarray, gradient: np.ndarray,
        work: Sequence[np.ndarray], first_column: np.ndarray, nothing: np.ndarray,
    ) -> None:  # fmt: skip
        """Add to the gradient by the parameters what follows from ``g``, that by the outputs.

        Args:
            values: inputs of each layer, (rows, padded inputs).
            g: (rows, padded outputs), or (rows,) if there is one.
            work: for the gradients by the inputs of each layer but the first, (rows, padded inputs).
            first_column: (rows, WIDTH), ones in the first column, else zeros.
            nothing: zeros, as many as the widest layer has.
        """
        for k in range(len(layers) - 1, -1, -1):
            layer, x = layers[k], values[k]
            own = g.reshape(len(g), -1)[:, : layer.outputs]
            if layer.is_by_output:
                tape.outer(own, x, layer.weights(gradient))
            else:
                tape.outer(x, g, layer.weights(gradient))
            if g.ndim == 1:
                tape.outer(own, first_column, layer.offsets(gradient)[None])
            else:
                tape.sums(g, layer.offsets(gradient))
            if k:
                below = work[k - 1]
                tape.product(own, self._by_output(layer), nothing[: below.shape[1]], below)
                tape.slope(self.activation, below, x)
                g = below

    def _by_input(self, layer: Layer) -> np.ndarray:
        return self._turned[layer] if layer.is_by_output else layer.weights(self.parameters)

    def _by_output(self, layer: Layer) -> np.ndarray:
        return layer.weights(self.parameters) if layer.is_by_output else self._turned[layer]

    def between(self, layers: Sequence[Layer], rows: int = ROWS) -> list[np.ndarray]:
        """Arrays for what is between layers."""
        return [zeros(rows, padded(layer.outputs), dtype=self.dtype) for layer in layers[:-1]]


class Forward:
    """The networks on fixed arrays: fill the inputs, call it, read the outputs.

    Attributes:
        mean, padded_mean: of actions, (rows, actions); the other one is padded. Zero if not asked for.
        value: of the critic, (rows,).
    """

    def __init__(self, model: ActorCritic, actor: np.ndarray | None, critic: np.ndarray):
        """Args: normalised observations of both groups, (rows, n); None for the actor if only values are wanted."""
        rows = len(critic)
        self._tape = Tape(model.dtype)
        self.padded_mean = mean = zeros(rows, padded(model.actions), dtype=model.dtype)
        self.mean, self.value = mean[:, : model.actions], zeros(rows, dtype=model.dtype)
        between = model.between(model.actor), model.between(model.critic)
        for first in range(0, rows, ROWS):
            here = slice(first, first + ROWS)
            size = len(critic[here])
            own, other = ([y[:size] for y in arrays] for arrays in between)
            if actor is not None:
                model.write_forward(self._tape, model.actor, actor[here], own, mean[here])
            self._write_value(model, critic[here], other, self.value[here])

    def _write_value(self, model: ActorCritic, x: np.ndarray, between: list[np.ndarray], value: np.ndarray) -> None:
        if between:
            model.write_forward(self._tape, model.critic, x, between, value)
            return
        # a linear critic: the dot products want padded rows
        wide = zeros(len(x), padded(x.shape[1]), dtype=model.dtype)
        self._tape.gather(x, np.arange(len(x)), wide)
        model.write_forward(self._tape, model.critic, wide, between, value)

    def __call__(self) -> None:
        self._tape()


class Values:
    """What the critic expects, for any number of rows."""

    def __init__(self, model: ActorCritic):
        self._x = zeros(ROWS, model.critic[0].inputs, dtype=model.dtype)
        self._forward = Forward(model, None, self._x)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        found = np.empty(len(x), dtype=self._x.dtype)
        for first in range(0, len(x), ROWS):
            part = x[first : first + ROWS]
            self._x[: len(part)] = part
            self._forward()
            found[first : first + len(part)] = self._forward.value[: len(part)]
        return found
