"""Adam on one vector of parameters [Kingma and Ba 2015, "Adam: a method for stochastic optimization"].

    m += (1 - beta_1) (g - m),  s += (1 - beta_2) (g^2 - s),  p -= rate m' / (sqrt(s') + least)

where m' = m / (1 - beta_1^t) and s' = s / (1 - beta_2^t) make up for the start at zero.
"""

import numpy as np

from pliant.learn.tape import Tape, zeros

_FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-8


class Adam:
    """Steps along the mean gradient, each entry divided by its root mean square.

    Attributes:
        mean, square: running means of the gradient and of its square.
        steps: so far.
    """

    def __init__(self, parameters: np.ndarray, gradient: np.ndarray):
        """Args: vectors of whole length, which the steps change and read."""
        dtype = parameters.dtype
        self.mean, self.square = (zeros(len(parameters), dtype=dtype) for _ in range(2))
        self.steps = 0
        self._numbers = zeros(5, dtype=dtype)
        self._tape = Tape(dtype)
        self._tape.adam(parameters, self.mean, self.square, gradient, self._numbers)

    def step(self, rate: float, scale: float = 1.0) -> None:
        """Move the parameters against ``scale`` times the gradient."""
        self.steps += 1
        # the corrections for the start, taken into the rate
        late = (1 - _SECOND**self.steps) ** 0.5
        self._numbers[:] = scale, 1 - _FIRST, 1 - _SECOND, _LEAST * late, rate * late / (1 - _FIRST**self.steps)
        self._tape()

    @property
    def state(self) -> dict[str, np.ndarray]:
        """All of it but the parameters."""
        return {"mean": self.mean, "square": self.square, "steps": np.array(self.steps)}

    @state.setter
    def state(self, given: dict[str, np.ndarray]) -> None:
        self.mean[:], self.square[:] = given["mean"], given["square"]
        self.steps = int(given["steps"])
