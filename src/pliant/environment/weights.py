"""Weights of rewards, which may change while a task runs."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from pliant.checks import check, is_real
from pliant.environment.terms import Reward
from pliant.errors import SimulationError, unknown_name


class Weights(MutableMapping[str, float]):
    """Weights of the rewards by name; setting one takes effect at once, and compiles nothing.

    Attributes:
        data: the same numbers, as kernels take them.
    """

    def __init__(self, rewards: Mapping[str, Reward], dtype: Any):
        self._values = {name: term.weight for name, term in rewards.items()}
        self.data = np.array(list(self._values.values()), dtype=dtype)

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            raise SimulationError(unknown_name("reward", name, self._values, "the environment"))
        return self._values[name]

    def __setitem__(self, name: str, weight: float) -> None:
        _ = self[name]
        check("weight", weight, "a finite number", is_real(weight), subject=f"reward {name!r}")
        self._values[name] = float(weight)
        self.data[list(self._values).index(name)] = weight

    def __delitem__(self, name: str) -> None:
        problem = f"reward {name!r} cannot be deleted"
        raise SimulationError(problem, subject=name, field="weights", cure="set its weight to 0")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __repr__(self) -> str:
        return repr(self._values)
