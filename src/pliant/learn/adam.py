"""Adam on one vector of parameters [Kingma and Ba 2015, "Adam: a method for stochastic optimization"]."""

import numpy as np

_FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-8


class Adam:
    """Steps along the mean gradient, each entry divided by its root mean square.

    Attributes:
        mean, square: running means of the gradient and of its square.
        steps: so far.
    """

    def __init__(self, parameters: np.ndarray):
        self.parameters = parameters
        self.mean, self.square = np.zeros_like(parameters), np.zeros_like(parameters)
        self.steps = 0
        self._work = np.empty_like(parameters)

    def step(self, gradient: np.ndarray, rate: float) -> None:
        """Move the parameters against a gradient, which is used up."""
        self.steps += 1
        # with the corrections for the start taken into the rate
        late = 1 - _SECOND**self.steps
        rate = rate * late**0.5 / (1 - _FIRST**self.steps)
        work = self._work
        np.subtract(gradient, self.mean, out=work)
        work *= 1 - _FIRST
        self.mean += work
        gradient *= gradient
        gradient -= self.square
        gradient *= 1 - _SECOND
        self.square += gradient
        np.sqrt(self.square, out=gradient)
        gradient += _LEAST * late**0.5
        np.divide(self.mean, gradient, out=work)
        work *= rate
        self.parameters -= work

    @property
    def state(self) -> dict[str, np.ndarray]:
        """All of it but the parameters."""
        return {"mean": self.mean, "square": self.square, "steps": np.array(self.steps)}

    @state.setter
    def state(self, given: dict[str, np.ndarray]) -> None:
        self.mean[:], self.square[:] = given["mean"], given["square"]
        self.steps = int(given["steps"])
