"""States of learners as arrays by name, and what all kinds of learners make of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import LearningError
from pliant.learn.guard import Snapshot
from pliant.learn.normaliser import Normaliser
from pliant.learn.policy import Policy


class NotFiniteError(Exception):
    """A number that is not finite: a clause, and how many steps of the rollout were done."""

    def __init__(self, problem: str, steps: int):
        super().__init__(problem)
        self.problem, self.steps = problem, steps


def failure(bad: NotFiniteError, learner: Any, start: Mapping[str, np.ndarray], actions: np.ndarray) -> LearningError:
    """The error to raise for it, with what is needed to see it again.

    Args:
        learner: that was at work.
        start: the state of its environment when the rollout began.
        actions: of the rollout, (steps, batch, n).
    """
    try:
        policy = learner.policy()
    except LearningError:
        policy = None
    problem = f"after {learner.steps} control periods, {bad.problem or 'a number is not finite'}"
    cure = "error.snapshot.replay(env) shows it again"
    error = LearningError(problem, subject="learning", field="nan", cure=cure)
    error.snapshot = Snapshot(bad.problem, start, actions[: bad.steps].copy(), policy, learner.env.digest)
    return error


def copied(state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A state that does not change any more."""
    return {name: np.array(x) for name, x in state.items()}


def policy_of(
    learner: Any, layers: Sequence[tuple[np.ndarray, np.ndarray]], normaliser: Normaliser, std: np.ndarray
) -> Policy:
    """A policy of these weights, with the names of the learner's environment and its settings."""
    env = learner.env
    return Policy(
        layers=tuple(layers),
        activation=learner.settings.activation,
        mean=normaliser.shift,
        scale=normaliser.scale,
        clip=normaliser.clip,
        std=std,
        observation_names=tuple(env.observation_names["actor"]),
        action_names=tuple(env.action_names),
        digest=env.digest,
        environment=dict(env.describe()),
        settings={"learner": learner.kind} | learner.settings.as_plain(),
    )


def generator(seed: int) -> np.random.Generator:
    """A generator of random numbers whose state is a few words."""
    return np.random.Generator(np.random.SFC64(seed))


def generator_words(rng: np.random.Generator) -> np.ndarray:
    """The state of a `generator`."""
    state: Any = rng.bit_generator.state
    return np.array([*state["state"]["state"], state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def set_generator(rng: np.random.Generator, words: np.ndarray) -> None:
    """Take a `generator` back to a state."""
    *state, has_uint32, uinteger = words.astype(np.uint64)
    rng.bit_generator.state = {
        "bit_generator": "SFC64", "state": {"state": np.array(state, dtype=np.uint64)},
        "has_uint32": int(has_uint32), "uinteger": int(uinteger),
    }  # fmt: skip
