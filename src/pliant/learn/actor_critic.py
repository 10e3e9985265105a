"""Two networks, one that acts and one that foresees the return, on one vector of parameters.

The actor gives the mean of a normal distribution of actions, whose deviation is a parameter of its own. Weights are
(outputs, inputs), as in `pliant.networks`; samples are rows.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]


def _elu(x: np.ndarray) -> None:
    below = np.expm1(np.minimum(x, 0))
    np.maximum(x, 0, out=x)
    x += below


# in place: the function, and the factor of its derivative at what it returned
_FUNCTIONS: dict[str, Callable[[np.ndarray], object]] = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, 0, out=x),
    "elu": _elu,
}
_DERIVATIVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": lambda h: 1 - h * h,
    "relu": lambda h: (h > 0).astype(h.dtype),
    "elu": lambda h: np.where(h > 0, 1, h + 1).astype(h.dtype, copy=False),
}


class Parts(NamedTuple):
    """Views of a vector of parameters, or of their gradient."""

    actor: Layers
    critic: Layers
    log_std: np.ndarray


class ActorCritic:
    """Actor and critic.

    Attributes:
        actor_sizes, critic_sizes: inputs, and outputs of each layer.
        parameters: all of them in one vector; ``parts`` are views of it.
    """

    def __init__(self, actor_sizes: Sequence[int], critic_sizes: Sequence[int], activation: str, dtype=np.float32):
        self.actor_sizes, self.critic_sizes = tuple(actor_sizes), tuple(critic_sizes)
        self.activation = activation
        pairs = [*itertools.pairwise(self.actor_sizes), *itertools.pairwise(self.critic_sizes)]
        count = sum((n + 1) * m for n, m in pairs) + self.actor_sizes[-1]
        self.parameters = np.zeros(count, dtype)
        self.parts = self.views(self.parameters)

    def views(self, flat: np.ndarray) -> Parts:
        """The parts of a vector like the parameters."""
        at = 0

        def layers(sizes: Sequence[int]) -> Layers:
            nonlocal at
            found = []
            for n, m in itertools.pairwise(sizes):
                found.append((flat[at : at + n * m].reshape(m, n), flat[at + n * m : at + (n + 1) * m]))
                at += (n + 1) * m
            return found

        actor, critic = layers(self.actor_sizes), layers(self.critic_sizes)
        return Parts(actor, critic, flat[at:])

    def start(self, rng: np.random.Generator, *, std: float, last_scale: float) -> None:
        """Weights of variance 1 / inputs, smaller in the last layers; offsets zero."""
        for layers in (self.parts.actor, self.parts.critic):
            for weights, offsets in layers:
                weights[:] = rng.normal(size=weights.shape) / np.sqrt(weights.shape[1])
                offsets[:] = 0
            layers[-1][0][:] *= last_scale
        self.parts.log_std[:] = np.log(std)

    def forward(self, layers: Layers, x: np.ndarray) -> list[np.ndarray]:
        """The inputs of each layer, and at last the outputs."""
        values = [x]
        for k, (weights, offsets) in enumerate(layers):
            x = x @ weights.T
            x += offsets
            if k < len(layers) - 1:
                _FUNCTIONS[self.activation](x)
            values.append(x)
        return values

    def backward(self, layers: Layers, values: list[np.ndarray], g: np.ndarray, gradient: Layers) -> None:
        """Add the gradient by the parameters to ``gradient``, from ``g``, that by the outputs."""
        for k in range(len(layers) - 1, -1, -1):
            gradient[k][0][:] += g.T @ values[k]
            gradient[k][1][:] += g.sum(0)
            if k:
                g = g @ layers[k][0]
                g *= _DERIVATIVES[self.activation](values[k])

    def mean(self, x: np.ndarray) -> np.ndarray:
        """Mean actions at normalised observations."""
        return self.forward(self.parts.actor, x)[-1]

    def value(self, x: np.ndarray) -> np.ndarray:
        """Returns that the critic expects."""
        return self.forward(self.parts.critic, x)[-1][:, 0]
