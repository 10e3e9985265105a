"""Environments whose robots are spread over workers: what a learner takes for one environment.

Each worker has a share of the robots, with their numbers in the whole batch, by which random numbers go. So all bits
are those of the environment in one process, and so is all that learners make of them. A step goes to all workers and
back: docs/cluster.md has what that costs.

A worker that ends is replaced: the new one begins at the last state that is known here, and does the steps since then
again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.cluster.crew import Crew, WithCrew
from pliant.cluster.messages import Answer, Call
from pliant.cluster.rollouts import environment_of
from pliant.cluster.rollouts import hold as hold_parts
from pliant.cluster.shares import shares_of, value_of
from pliant.environment import Environment, Transition
from pliant.environment.pickling import parts_of
from pliant.errors import SimulationError

State = dict[str, np.ndarray]

# steps from one state that is kept here to the next
_EVERY = 64


@dataclass
class _Journal:
    """What a new worker does to be where the old one was.

    Attributes:
        age: things that it has been asked for.
        state: of the share, None before the first reset.
        steps: actions and weights since then.
    """

    age: int = 0
    state: State | None = None
    steps: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)


class DistributedEnvironment(WithCrew):
    """An environment on several workers, with the bits of the one that it was made of.

        with DistributedEnvironment(env, workers=4) as spread:
            training = pliant.learn.ppo(spread, minutes=10)

    Attributes:
        env: in this process; it has the names and sizes, and its weights are those of all workers.
        batch, period, mirror, name: as of the environment.
    """

    def __init__(
        self, env: Environment, *, on: str = "processes", workers: int | None = None, threads: int = 1, retries: int = 2
    ):
        """Set up workers; arguments as of `Rollouts`."""
        if not isinstance(env, Environment):
            problem = f"a {type(env).__name__} cannot be spread over workers"
            raise SimulationError(problem, field="env", cure="give a pliant.Environment")
        self.env, self.batch, self.period, self.mirror, self.name = env, env.batch, env.period, env.mirror, env.name
        crew = Crew(on, workers, threads=threads, first=Call(hold_parts, (type(env), parts_of(env), threads)))
        self._shares = shares_of(env.batch, crew.size)
        if len(self._shares) < crew.size:
            crew.close()
            crew = Crew(on, len(self._shares), threads=threads, first=crew.first)
        self._crew, self._retries = crew, retries
        self._journals = [_Journal() for _ in self._shares]
        if env.has_begun:
            self.state = env.state

    # ---- as of the environment

    @property
    def action_size(self) -> int:
        """Numbers of an action."""
        return self.env.action_size

    @property
    def action_names(self) -> list[str]:
        """Of the numbers of an action."""
        return self.env.action_names

    @property
    def observation_sizes(self) -> dict[str, int]:
        """Numbers of each group."""
        return self.env.observation_sizes

    @property
    def observation_names(self) -> dict[str, list[str]]:
        """Of the numbers of each group."""
        return self.env.observation_names

    @property
    def weights(self) -> Any:
        """Of the rewards, by name, to read and to set."""
        return self.env.weights

    @property
    def digest(self) -> str:
        """A short name of the task."""
        return self.env.digest

    def describe(self) -> dict[str, Any]:
        """The task in words and numbers."""
        return self.env.describe()

    # ---- running

    def reset(self, seed: int | None = None) -> dict[str, np.ndarray]:
        """Begin new episodes of all robots, as `Environment.reset`."""
        found = self._asked("reset", [(seed,)] * len(self._shares))
        for journal, (_, state) in zip(self._journals, found, strict=True):
            journal.state, journal.steps = state, []
        return self._joined([seen for seen, _ in found])

    def step(self, actions: Any) -> Transition:
        """Go on by a control period, as `Environment.step`."""
        given = np.asarray(actions)
        if given.shape != (self.batch, self.action_size) or not np.isfinite(given).all():
            given = self.env.checked_actions(actions, None)
        weights = self.env.weights.data.copy()
        parts = [(given[a:b], weights) for a, b in self._shares]
        wants = any(len(journal.steps) + 1 >= _EVERY for journal in self._journals)
        found = self._asked("step", [(*part, wants) for part in parts])
        for journal, part, (_, state) in zip(self._journals, parts, found, strict=True):
            # what the caller does with its array later is not what was done
            journal.steps.append((part[0].copy(), weights))
            if state is not None:
                journal.state, journal.steps = state, []
        made = [transition for transition, _ in found]
        rewards, terminated, truncated = (np.concatenate([m[k] for m in made]) for k in (1, 2, 3))
        return Transition(
            self._joined([m.observations for m in made]), rewards, terminated, truncated,
            self._joined([m.final for m in made]),
        )  # fmt: skip

    def metrics(self) -> dict[str, float]:
        """Means since the last call, as `Environment.metrics`."""
        self._gather("metrics")
        found = self.env.metrics()
        # what the workers have now
        state = self.env.state
        for journal, share in zip(self._journals, self._shares, strict=True):
            journal.state, journal.steps = _share_of(state, share), []
        return found

    @property
    def state(self) -> State:
        """All that the next period depends on; setting it goes on from there, bit for bit."""
        if self._journals[0].state is not None:
            self._gather("state")
        return self.env.state

    @state.setter
    def state(self, state: Mapping[str, np.ndarray]) -> None:
        self.env.state = state
        for journal, share in zip(self._journals, self._shares, strict=True):
            journal.state, journal.steps = _share_of(self.env.state, share), []
            journal.age += 1  # so that all of them get it

    def _gather(self, what: str) -> None:
        """Take the states of all workers into the environment of this process."""
        weights = self.env.state["weights"]
        states = self._asked(what, [()] * len(self._shares))
        self.env.state = self._joined(states) | {"weights": weights}

    def _joined(self, parts: list[Any]) -> dict[str, np.ndarray]:
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "weights"}

    def _asked(self, what: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Ask each worker; one that is not where it should be gets the journal of its share, and is asked again."""
        count = len(arguments)
        found: list[Any] = [None] * count
        left, journals = set(range(count)), [False] * count
        answers: list[Answer] = []
        for _ in range(2 * self._retries + 2):
            answers = self._crew.each([
                Call(_act, (self._shares[k], self._journals[k].age, self._journals[k] if journals[k] else None, what,
                            arguments[k])) if k in left else Call(_rest)
                for k in range(count)
            ])  # fmt: skip
            for k in sorted(left):
                if answers[k].kind == "killed" or value_of(answers[k]) is None:
                    journals[k] = True
                    continue
                left.remove(k)
                (found[k],) = value_of(answers[k])
            if not left:
                for journal in self._journals:
                    journal.age += 1
                return found
        raise SimulationError(f"a worker ended {answers[min(left)].text.strip()}, again and again", field="workers",
                              cure="is there enough memory? give more workers or fewer robots")  # fmt: skip

    def __repr__(self) -> str:
        return f"{self.env!r}, on {len(self._shares)} workers ({self._crew.on})"


def _share_of(state: Mapping[str, np.ndarray], share: tuple[int, int]) -> State:
    return {name: x.copy() if name == "weights" else x[slice(*share)].copy() for name, x in state.items()}


# ---- in the worker


def _act(
    held: dict[str, Any], share: tuple[int, int], age: int, journal: _Journal | None, what: str,
    arguments: tuple[Any, ...],
) -> tuple[Any] | None:  # fmt: skip
    """Do something with the environment of a share; None if it is not as old as it should be."""
    ages = held.setdefault("ages", {})
    env = environment_of(held, share)
    if ages.get(share, 0) != age:
        if journal is None:
            return None
        if journal.state is not None:
            env.state = journal.state
        for actions, weights in journal.steps:
            _step(env, actions, weights)
    ages[share] = -1
    found = _DEEDS[what](env, *arguments)
    ages[share] = age + 1
    return (found,)


def _rest(held: dict[str, Any]) -> None:
    """Nothing, while others are asked again."""


def _reset(env: Environment, seed: int | None) -> Any:
    return env.reset(seed=seed), env.state


def _step(env: Environment, actions: np.ndarray, weights: np.ndarray, wants_state: bool = False) -> Any:
    if not np.array_equal(env.weights.data, weights):
        env.weights.update(zip(env.weights, map(float, weights), strict=True))
    return env.step(actions), env.state if wants_state else None


def _state(env: Environment) -> State:
    return env.state


def _metrics(env: Environment) -> State:
    found = env.state
    env.metrics()
    return found


_DEEDS = {"reset": _reset, "step": _step, "state": _state, "metrics": _metrics}
