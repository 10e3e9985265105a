"""What a learner needs of an environment, and what a judge answers.

Any object with these members can be learned on; `pliant.environment.Environment` is one. The batch runs side by side:
each array has a row for each robot.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

Observations = Mapping[str, np.ndarray]
"""A group of observations by name, (batch, n) float32 each: "actor", and maybe "critic"."""


class Outcome(Protocol):
    """What a step of the environment returns.

    Robots that ended have been reset already. ``final`` has their observations at the end of the old episode, and
    those of all others as in ``observations``.
    """

    @property
    def observations(self) -> Observations: ...
    @property
    def rewards(self) -> np.ndarray: ...
    @property
    def terminated(self) -> np.ndarray: ...
    @property
    def truncated(self) -> np.ndarray: ...
    @property
    def final(self) -> Observations: ...


class Mirror(Protocol):
    """The robot in a mirror: entry k becomes ``signs[k] * x[permutation[k]]``."""

    @property
    def observations(self) -> Mapping[str, tuple[Any, Any]]: ...
    @property
    def actions(self) -> tuple[Any, Any]: ...


class Environment(Protocol):
    """A task for a batch of robots.

    Attributes:
        batch: robots side by side.
        period: between two actions [s].
        action_size, action_names: entries of an action.
        observation_sizes, observation_names: entries of each group.
        digest: tells one task from another; policies and checkpoints carry it.
        mirror: left and right exchanged, or None.
        state: all that is needed to continue with the same bits.
    """

    batch: int
    period: float
    state: Any

    @property
    def action_size(self) -> int: ...
    @property
    def action_names(self) -> Sequence[str]: ...
    @property
    def observation_sizes(self) -> Mapping[str, int]: ...
    @property
    def observation_names(self) -> Mapping[str, Sequence[str]]: ...
    @property
    def digest(self) -> str: ...
    @property
    def mirror(self) -> Any: ...

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode of every robot; returns the observations by group."""
        ...

    def step(self, actions: np.ndarray) -> Any:
        """Act for one period; returns an `Outcome`."""
        ...

    def metrics(self) -> Mapping[str, float]:
        """Means since the last call, by name: "reward/TERM", "episode/length", ..."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """The task in plain data, as of JSON."""
        ...


class Verdict(NamedTuple):
    """What a judge says of a policy.

    Attributes:
        success: whether it does what was asked for.
        score: how well, larger is better: of several policies, the best one is kept.
        report: plain data for the history, such as errors by command.
    """

    success: bool
    score: float
    report: Mapping[str, Any] = {}
