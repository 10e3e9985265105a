"""Proximal policy optimisation: collect, look back, improve, again [Schulman et al. 2017]."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pliant.errors import LearningError
from pliant.learn.actor_critic import ActorCritic, Forward, Values
from pliant.learn.adam import Adam
from pliant.learn.advantages import ReturnScale, advantages
from pliant.learn.guard import Snapshot, first_bad, part
from pliant.learn.interface import Environment
from pliant.learn.normaliser import Normaliser
from pliant.learn.policy import Policy
from pliant.learn.settings import PpoSettings
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.surrogate import Gradient, Loss, Samples


class Ppo:
    """A training that can be continued: `iterate` collects a batch and learns from it.

    Attributes:
        model: actor and critic.
        steps: control periods of all robots so far.
        iterations: updates so far.
        rate: of Adam, at present.
    """

    kind = "ppo"

    def __init__(self, env: Environment, settings: PpoSettings, watch: Stopwatch, threads: int = 1):
        self.env, self.settings, self.watch, self.threads = env, settings, watch, threads
        sizes = env.observation_sizes
        self.groups = ("actor", "critic") if "critic" in sizes else ("actor",)
        critic_hidden = settings.hidden if settings.critic_hidden is None else settings.critic_hidden
        self.model = ActorCritic(
            (sizes["actor"], *settings.hidden, env.action_size),
            (sizes[self.groups[-1]], *critic_hidden, 1),
            settings.activation,
        )
        self.rng = np.random.Generator(np.random.SFC64(settings.seed))
        self.model.start(self.rng, std=settings.std, last_scale=settings.last_scale)
        self.normalisers = {
            group: Normaliser(sizes[group], settings.observation_clip, settings.observation_memory)
            for group in self.groups
        }
        self.returns = ReturnScale(env.batch, settings.discount) if settings.normalise_returns else None
        self.mirror = _mirror(env, self.groups) if settings.symmetry else None
        self.rate, self.steps, self.iterations = settings.rate, 0, 0
        shape = settings.horizon, env.batch
        self._rewards, self._alive, self._values = np.empty((3, *shape), np.float32)
        self._count = settings.horizon * env.batch
        self._samples = own = Samples(self._count, sizes, env.action_size, self.mirror)
        # what is collected goes straight to where it is learned from
        self._seen = {g: getattr(own, g)[: self._count].reshape(*shape, -1) for g in self.groups}
        self._actions = own.actions[: self._count].reshape(*shape, -1)
        self._log_p = own.log_p[: self._count].reshape(shape)
        self._acts = [
            Forward(self.model, x, y) for x, y in zip(self._seen["actor"], self._seen[self.groups[-1]], strict=True)
        ]
        self._value = Values(self.model)
        self._gradient = Gradient(self.model, own, self._count // settings.minibatches, clip=settings.clip,
                                  value_weight=settings.value_weight, threads=threads)  # fmt: skip
        self.adam = Adam(self.model.parameters, self._gradient.gradient)
        self.observations = {group: np.array(x) for group, x in env.reset(seed=settings.seed).items()}

    def iterate(self) -> dict[str, float]:
        """Collect a batch and learn from it; returns what was measured."""
        start = {name: np.array(x) for name, x in self.env.state.items()}
        last = self._collect(start)
        with self.watch("update"):
            found = self._update(last, start)
            for group, normaliser in self.normalisers.items():
                normaliser.merge(self.mirror and self.mirror[group])
        self.steps += self._rewards.size
        self.iterations += 1
        std = float(np.exp(self.model.log_std()).mean())
        return found | {"rate": self.rate, "std": std} | dict(self.env.metrics())

    # ---- collecting

    def _collect(self, start: dict[str, np.ndarray]) -> np.ndarray:
        """Act for a horizon; returns the values at its end."""
        env, model = self.env, self.model
        std, total = np.exp(model.log_std()), model.log_std().sum()
        model.refresh()
        for t in range(self.settings.horizon):
            with self.watch("policy"):
                self._observe(self.observations, t, start)
                self._acts[t]()
                noise = self.rng.standard_normal(self._actions.shape[1:], np.float32)
                np.multiply(noise, std, out=self._actions[t])
                self._actions[t] += self._acts[t].mean
                noise *= noise
                np.sum(noise, axis=1, out=self._log_p[t])
                self._values[t] = self._acts[t].value
            with self.watch("environment"):
                outcome = env.step(self._actions[t])
            with self.watch("policy"):
                self._note(t, outcome, start)
        with self.watch("policy"):
            self._log_p *= -0.5
            self._log_p -= total
            group = self.groups[-1]
            return self._value(self.normalisers[group](self.observations[group]))

    def _observe(self, observations: Any, t: int, start: dict[str, np.ndarray]) -> None:
        for group, normaliser in self.normalisers.items():
            normaliser(observations[group], out=self._seen[group][t], count=True)
            if not normaliser.is_finite:
                names = self.env.observation_names[group]
                self._fail(first_bad(f"observation ({group})", observations[group], names), start, t)

    def _note(self, t: int, outcome: Any, start: dict[str, np.ndarray]) -> None:
        """Keep what a step brought; a time-out is worth what the critic expects to follow."""
        s = self.settings
        rewards = np.array(outcome.rewards, dtype=np.float32)
        if not math.isfinite(rewards.sum()):
            bad = first_bad("action", self._actions[t], self.env.action_names)
            self._fail(bad or first_bad("reward", rewards), start, t + 1)
        ended = outcome.terminated | outcome.truncated
        if self.returns is not None:
            rewards = self.returns(rewards, ended)
        late = np.flatnonzero(outcome.truncated & ~outcome.terminated)
        if len(late):
            group = self.groups[-1]
            following = self._value(self.normalisers[group](outcome.final[group][late]))
            rewards[late] += np.float32(s.discount) * following
        self._rewards[t], self._alive[t] = rewards, ~ended
        self.observations = outcome.observations

    # ---- learning

    def _update(self, last: np.ndarray, start: dict[str, np.ndarray]) -> dict[str, float]:
        s = self.settings
        gained = advantages(self._rewards, self._values, last, self._alive, discount=s.discount, gae=s.gae)
        own, count = self._samples, self._count
        np.add(gained.ravel(), self._values.ravel(), out=own.returns[:count])
        np.subtract(gained.ravel(), gained.mean(), out=own.advantages[:count])
        own.advantages[:count] /= gained.std() + np.float32(1e-8)
        own.reflect()
        losses, norms = [], []
        for chosen in self._minibatches():
            norm, loss = self._gradient(chosen, s.entropy)
            if not math.isfinite(norm):
                self._fail(self._bad_gradient(), start, len(self._actions))
            self.adam.step(self.rate, min(1.0, s.gradient_norm / (norm + 1e-6)) / self._gradient.size)
            losses.append(loss)
            norms.append(norm)
        found = {name: float(np.mean([getattr(loss, name) for loss in losses])) for name in Loss._fields}
        low, high = s.kl_range
        if found["kl"] > high:
            self.rate = max(s.rate_range[0], self.rate / 1.5)
        elif found["kl"] < low:
            self.rate = min(s.rate_range[1], self.rate * 1.2)
        left = float(np.var(gained)) / (float(np.var(own.returns[:count])) + 1e-12)
        return {
            "surrogate": found["surrogate"],
            "value_loss": found["value"],
            "kl": found["kl"],
            "clipped": found["clipped"],
            "gradient_norm": float(np.mean(norms)),
            "explained": 1 - left,
        }

    def _minibatches(self) -> Iterable[np.ndarray]:
        """Samples of each step of the optimiser.

        With symmetry each sample is seen in the mirror in every second epoch; which half begins is drawn.
        """
        s, count = self.settings, self._count
        size = count // s.minibatches
        coin = self.rng.integers(0, 2, count) if self.mirror else np.zeros(count, dtype=np.int64)
        for epoch in range(s.epochs):
            order = self.rng.permutation(count)
            if self.mirror:
                order += count * ((coin[order] + epoch) % 2)
            for k in range(s.minibatches):
                yield order[k * size : (k + 1) * size]

    def _bad_gradient(self) -> str:
        for name, layers in (("actor", self.model.actor), ("critic", self.model.critic)):
            for k, layer in enumerate(layers):
                if not all(np.isfinite(x).all() for x in layer.plain(self._gradient.gradient)):
                    return f"the gradient of layer {k} of the {name} is not finite"
        return "the gradient of the deviation of actions is not finite"

    # ---- what is left of it

    def _fail(self, problem: str, start: dict[str, np.ndarray], steps: int) -> None:
        try:
            policy = self.policy()
        except LearningError:
            policy = None
        error = LearningError(
            f"after {self.steps} control periods, {problem or 'a number is not finite'}",
            subject="learning", field="nan", cure="error.snapshot.replay(env) shows it again",
        )  # fmt: skip
        error.snapshot = Snapshot(problem, start, self._actions[:steps].copy(), policy, self.env.digest)
        raise error

    def policy(self) -> Policy:
        """The policy as it is now."""
        own = self.normalisers["actor"]
        return Policy(
            layers=tuple(layer.plain(self.model.parameters) for layer in self.model.actor),
            activation=self.settings.activation,
            mean=own.shift,
            scale=own.scale,
            clip=own.clip,
            std=np.exp(self.model.log_std()),
            observation_names=tuple(self.env.observation_names["actor"]),
            action_names=tuple(self.env.action_names),
            digest=self.env.digest,
            environment=dict(self.env.describe()),
            settings={"learner": self.kind} | self.settings.as_plain(),
        )

    @property
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Plain data and arrays with which it continues to the same bits."""
        arrays = {"parameters": self.model.parameters}
        arrays |= {f"adam/{name}": x for name, x in self.adam.state.items()}
        arrays |= {f"observations/{group}": self.observations[group] for group in self.groups}
        arrays |= {f"environment/{name}": x for name, x in self.env.state.items()}
        for group, normaliser in self.normalisers.items():
            arrays |= {f"normaliser/{group}/{name}": x for name, x in normaliser.state.items()}
        if self.returns is not None:
            arrays |= {f"returns/{name}": x for name, x in self.returns.state.items()}
        generator: Any = self.rng.bit_generator.state
        words = np.asarray(generator["state"]["state"], dtype=np.uint64)
        arrays["generator"] = np.array([*words, generator["has_uint32"], generator["uinteger"]], dtype=np.uint64)
        about = {"rate": self.rate, "steps": self.steps, "iterations": self.iterations}
        return about, {name: np.array(x) for name, x in arrays.items()}

    @state.setter
    def state(self, given: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
        about, arrays = given
        self.model.parameters[:] = arrays["parameters"]
        self.adam.state = part(arrays, "adam")
        self.env.state = part(arrays, "environment")
        self.observations = part(arrays, "observations")
        for group, normaliser in self.normalisers.items():
            normaliser.state = part(arrays, f"normaliser/{group}")
        if self.returns is not None:
            self.returns.state = part(arrays, "returns")
        *words, has_uint32, uinteger = arrays["generator"]
        self.rng.bit_generator.state = {
            "bit_generator": "SFC64", "state": {"state": np.array(words, dtype=np.uint64)},
            "has_uint32": int(has_uint32), "uinteger": int(uinteger),
        }  # fmt: skip
        self.rate, self.steps, self.iterations = about["rate"], about["steps"], about["iterations"]


def _mirror(env: Environment, groups: Iterable[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
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
        if (
            not is_right
            or not (factors * factors[places] == 1).all()
            or not (places[places] == range(len(places))).all()
        ):
            raise LearningError(f"the mirror of {name!r} is not its own inverse", subject="mirror", field=name,
                                cure="permutation and signs, applied twice, give back each entry")  # fmt: skip
        found[name] = places, factors
    return found
