"""Collecting: act with noise for some control periods, and keep what is seen, done and earned."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.chance import KEY_SIZE, Chance, keys_of, stream_of
from pliant.compiler import Kernel, kernel_from_function
from pliant.errors import LearningError, SimulationError
from pliant.learn.actor_critic import ActorCritic, Forward, Values
from pliant.learn.advantages import ReturnScale
from pliant.learn.guard import first_bad, part
from pliant.learn.interface import Environment
from pliant.learn.normaliser import Normaliser
from pliant.learn.settings import PpoSettings
from pliant.learn.states import NotFiniteError
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.surrogate import Samples
from pliant.learn.tape import padded, zeros
from pliant.scalar import Scalar, Scalars

_TURN = 2**20
_STREAM = stream_of("learn.actions")


def noisy_actions(key: Scalars, tick: Scalars, mean: Scalars, std: Scalars, total: Scalar) -> tuple[Any, Scalar]:
    """Actions drawn around the mean, and the logarithm of their probability up to a constant.

    Args:
        key, tick: see `pliant.chance`.
        mean: of actions, and maybe more numbers behind.
        std, total: deviations, and the sum of their logarithms.
    """
    noise = Chance(key, tick, _STREAM).normals(len(std))
    actions = [m + s * e for m, s, e in zip(mean, std, noise, strict=False)]
    return actions, -sum(e * e for e in noise) / 2 - total


@functools.cache
def _noise(actions: int) -> Kernel:
    shapes = {"key": (KEY_SIZE,), "tick": (2,), "mean": (padded(actions),), "std": (actions,), "total": ()}
    return kernel_from_function(noisy_actions, shapes, precision="float32")


class Rollout:
    """The robots of an environment, acting with noise; results go to where an update learns from them.

    Attributes:
        observations: at present, by group.
        rewards, values, alive: of each step, (horizon, batch); ``last`` has the values after the last one.
        normalisers: of each group.
        returns: the scale of rewards, if they are scaled.
        periods: control periods so far.
    """

    def __init__(self, env: Environment, model: ActorCritic, samples: Samples, settings: PpoSettings, watch: Stopwatch):
        self.env, self.model, self.settings, self.watch = env, model, settings, watch
        self.groups = ("actor",) if samples.critic is samples.actor else ("actor", "critic")
        sizes, shape = env.observation_sizes, (settings.horizon, env.batch)
        clip, memory = settings.observation_clip, settings.observation_memory
        self.normalisers = {g: Normaliser(sizes[g], clip, memory) for g in self.groups}
        self.returns = ReturnScale(env.batch, settings.discount) if settings.normalise_returns else None
        self.rewards, self.values, self.alive = np.empty((3, *shape), np.float32)
        self.last = np.empty(env.batch, np.float32)
        self.periods = 0
        count = settings.horizon * env.batch
        self.actions = samples.actions[:count].reshape(*shape, -1)
        self._log_p = samples.log_p[:count].reshape(shape)
        seen = {g: getattr(samples, g)[:count].reshape(*shape, -1) for g in self.groups}
        self.observations = {g: zeros(env.batch, sizes[g]) for g in self.groups}
        self._looks = [
            [self.normalisers[g].tape(self.observations[g], seen[g][t]) for g in self.groups] for t in range(shape[0])
        ]
        self._acts = [Forward(model, x, y) for x, y in zip(seen["actor"], seen[self.groups[-1]], strict=True)]
        self._value = Values(model)
        self._keys = keys_of(settings.seed, np.arange(env.batch)).astype(np.float32)
        self._noise = _noise(env.action_size)
        self._see(env.reset(seed=settings.seed), is_first=True)

    def __call__(self) -> None:
        """Act for a horizon; raises `NotFiniteError`."""
        env, model, watch = self.env, self.model, self.watch
        model.refresh()
        log_std = model.log_std()
        std, total = np.exp(log_std), np.array(log_std.sum())
        for t, (looks, act) in enumerate(zip(self._looks, self._acts, strict=True)):
            for group, look in zip(self.groups, looks, strict=True):
                look()
                if not self.normalisers[group].note(env.batch):
                    names = env.observation_names[group]
                    raise NotFiniteError(first_bad(f"observation ({group})", self.observations[group], names), t)
            act()
            self.values[t] = act.value
            tick = np.array([self.periods % _TURN, self.periods // _TURN], dtype=np.float32)
            self._noise(self._keys, tick, act.padded_mean, std, total, out=(self.actions[t], self._log_p[t]))
            if not np.isfinite(self.actions[t]).all():
                raise NotFiniteError(first_bad("action", self.actions[t], env.action_names), t)
            watch.lap("policy")
            try:
                outcome = env.step(self.actions[t])
            except SimulationError as error:  # an environment may find a number that is not finite itself, and names it
                raise NotFiniteError(str(error), t + 1) from error
            watch.lap("environment")
            self._note(t, outcome)
            self.periods += 1
        group = self.groups[-1]
        self.last[:] = self._value(self.normalisers[group](self.observations[group]))
        watch.lap("policy")

    def _note(self, t: int, outcome: Any) -> None:
        """Keep what a step brought; a time-out is worth what the critic expects to follow."""
        rewards = self.rewards[t]
        rewards[:] = outcome.rewards
        ended = outcome.terminated | outcome.truncated
        if not np.isfinite(rewards).all():
            raise NotFiniteError(first_bad("reward", rewards), t + 1)
        if self.returns is not None:
            rewards[:] = self.returns(rewards, ended)
        np.logical_not(ended, out=self.alive[t])
        if ended.any():
            late = np.flatnonzero(outcome.truncated & ~outcome.terminated)
            group = self.groups[-1]
            final = outcome.final[group][late]
            rewards[late] += np.float32(self.settings.discount) * self._value(self.normalisers[group](final))
            if not np.isfinite(rewards).all():
                raise NotFiniteError(first_bad("last observation", final, self.env.observation_names[group]), t + 1)
        self._see(outcome.observations)

    def _see(self, observations: Mapping[str, np.ndarray], *, is_first: bool = False) -> None:
        for group, own in self.observations.items():
            if is_first and (group not in observations or np.shape(observations[group]) != own.shape):
                found = np.shape(observations[group]) if group in observations else "missing"
                raise LearningError(f"observations {group!r} of the environment are {found}", subject="environment",
                                    field=group, cure=f"they are {own.shape}")  # fmt: skip
            own[:] = observations[group]

    @property
    def state(self) -> dict[str, np.ndarray]:
        """All that is needed to continue with the same bits."""
        arrays = {f"observations/{group}": x for group, x in self.observations.items()}
        arrays |= {f"environment/{name}": x for name, x in self.env.state.items()}
        for group, normaliser in self.normalisers.items():
            arrays |= {f"normaliser/{group}/{name}": x for name, x in normaliser.state.items()}
        if self.returns is not None:
            arrays |= {f"returns/{name}": x for name, x in self.returns.state.items()}
        return arrays | {"periods": np.array(self.periods)}

    @state.setter
    def state(self, given: Mapping[str, np.ndarray]) -> None:
        self._see(part(given, "observations"), is_first=True)
        self.env.state = part(given, "environment")
        for group, normaliser in self.normalisers.items():
            normaliser.state = part(given, f"normaliser/{group}")
        if self.returns is not None:
            self.returns.state = part(given, "returns")
        self.periods = int(given["periods"])


def mirror_of(env: Environment, groups: Sequence[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Permutation and signs of each group and of the actions; raises if the environment has no mirror."""
    if env.mirror is None:
        raise LearningError("this environment has no mirror", subject="ppo", field="symmetry",
                            cure="leave symmetry=False, or give the environment one")  # fmt: skip
    given = {group: env.mirror.observations[group] for group in groups} | {"actions": env.mirror.actions}
    sizes = {group: env.observation_sizes[group] for group in groups} | {"actions": env.action_size}
    found = {}
    for name, (permutation, signs) in given.items():
        places, factors = np.asarray(permutation, dtype=int), np.asarray(signs, dtype=np.float32)
        is_right = sorted(places.tolist()) == list(range(sizes[name])) and factors.shape == places.shape
        is_right = is_right and (places[places] == range(len(places))).all()
        if not is_right or not (factors * factors[places] == 1).all():
            raise LearningError(f"the mirror of {name!r} is not its own inverse", subject="mirror", field=name,
                                cure="permutation and signs, applied twice, give back each entry")  # fmt: skip
        found[name] = places, factors
    return found
