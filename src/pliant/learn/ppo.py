"""Proximal policy optimisation: collect, look back, improve, again [Schulman et al. 2017]."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pliant.errors import LearningError
from pliant.learn.actor_critic import ActorCritic
from pliant.learn.adam import Adam
from pliant.learn.advantages import advantages
from pliant.learn.guard import part
from pliant.learn.interface import Environment
from pliant.learn.policy import Policy
from pliant.learn.rollout import Rollout, mirror_of
from pliant.learn.settings import PpoSettings
from pliant.learn.states import (
    NotFiniteError, copied, failure, generator, generator_words, policy_of, set_generator,
)  # fmt: skip
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.surrogate import Gradient, Loss, Samples


class Ppo:
    """A training that can be continued: `iterate` collects a batch and learns from it.

    Attributes:
        model: actor and critic.
        rollout: the robots.
        steps: control periods of all robots so far.
        iterations: updates so far.
        mean: parameters averaged over the last updates.
        rate: of Adam, at present.
    """

    kind = "ppo"

    def __init__(self, env: Environment, settings: PpoSettings, watch: Stopwatch, threads: int = 1):
        self.env, self.settings, self.watch = env, settings, watch
        sizes = {g: n for g, n in env.observation_sizes.items() if g in ("actor", "critic")}
        critic_hidden = settings.hidden if settings.critic_hidden is None else settings.critic_hidden
        self.model = ActorCritic(
            (sizes["actor"], *settings.hidden, env.action_size),
            (sizes.get("critic", sizes["actor"]), *critic_hidden, 1),
            settings.activation,
        )
        self.rng = generator(settings.seed)
        self.model.start(self.rng, std=settings.std, last_scale=settings.last_scale)
        self.mirror = mirror_of(env, tuple(sizes)) if settings.symmetry else None
        self.samples = Samples(settings.horizon * env.batch, sizes, env.action_size, self.mirror)
        self.rollout = Rollout(env, self.model, self.samples, settings, watch)
        if self.samples.count < settings.minibatches:
            problem = f"{env.batch} robots in {settings.horizon} periods are {self.samples.count} samples"
            cure = f"there must be one for each of {settings.minibatches} minibatches"
            raise LearningError(problem, subject="ppo", field="minibatches", cure=cure)
        self.gradient = Gradient(
            self.model, self.samples, self.samples.count // settings.minibatches, clip=settings.clip,
            value_weight=settings.value_weight, threads=threads,
        )  # fmt: skip
        self.adam = Adam(self.model.parameters, self.gradient.gradient)
        self.rate, self.steps, self.iterations = settings.rate, 0, 0
        self.mean = self.model.parameters.copy()

    def iterate(self) -> dict[str, float]:
        """Collect a batch and learn from it; returns what was measured."""
        self.watch.start()
        start = copied(self.env.state)
        try:
            # what overflows is found where it appears
            with np.errstate(over="ignore", invalid="ignore"):
                self.rollout()
                found = self._update()
        except NotFiniteError as bad:
            raise failure(bad, self, start, self.rollout.actions) from None
        for group, normaliser in self.rollout.normalisers.items():
            normaliser.merge(None if self.mirror is None else self.mirror[group])
        self.watch.lap("update")
        self.steps += self.samples.count
        self.iterations += 1
        # all updates count alike until there are as many as are averaged
        share = 1 / (1 + min(self.iterations - 1, self.settings.averaging))
        self.mean += (self.model.parameters - self.mean) * np.float32(share)
        std = float(np.exp(self.model.log_std()).mean())
        return found | {"rate": self.rate, "std": std} | dict(self.env.metrics())

    def _update(self) -> dict[str, float]:
        """Improve actor and critic by what was collected."""
        s, own, rollout = self.settings, self.samples, self.rollout
        gained = advantages(
            rollout.rewards, rollout.values, rollout.last, rollout.alive, discount=s.discount, gae=s.gae
        ).ravel()
        np.add(gained, rollout.values.ravel(), out=own.returns[: own.count])
        np.subtract(gained, gained.mean(), out=own.advantages[: own.count])
        own.advantages[: own.count] /= gained.std() + np.float32(1e-8)
        own.reflect()
        losses, norms = [], []
        for chosen in self._minibatches():
            norm, loss = self.gradient(chosen, s.entropy)
            if not math.isfinite(norm):
                raise NotFiniteError(self._bad_gradient(), s.horizon)
            self.adam.step(self.rate, min(1.0, s.gradient_norm / (norm + 1e-6)) / self.gradient.size)
            losses.append(loss)
            norms.append(norm)
        mean = Loss(*np.mean(losses, axis=0).tolist())
        low, high = s.kl_range
        if mean.kl > high:
            self.rate = max(s.rate_range[0], self.rate / 1.5)
        elif mean.kl < low:
            self.rate = min(s.rate_range[1], self.rate * 1.2)
        left = float(gained.var()) / (float(own.returns[: own.count].var()) + 1e-12)
        found = {"surrogate": mean.surrogate, "value_loss": mean.value, "kl": mean.kl, "clipped": mean.clipped}
        return found | {"gradient_norm": float(np.mean(norms)), "explained": 1 - left}

    def _minibatches(self) -> Iterable[np.ndarray]:
        """Samples of each step of the optimiser.

        With symmetry each sample is seen in the mirror in every second epoch; which half begins is drawn.
        """
        count, size = self.samples.count, self.gradient.size
        coin = self.rng.integers(0, 2, count) if self.mirror else None
        for epoch in range(self.settings.epochs):
            order = self.rng.permutation(count)
            if coin is not None:
                order += count * ((coin[order] + epoch) % 2)
            for k in range(self.settings.minibatches):
                yield order[k * size : (k + 1) * size]

    def _bad_gradient(self) -> str:
        for name, layers in (("actor", self.model.actor), ("critic", self.model.critic)):
            for k, layer in enumerate(layers):
                if not all(np.isfinite(x).all() for x in layer.plain(self.gradient.gradient)):
                    return f"the gradient of layer {k} of the {name} is not finite"
        if not np.isfinite(self.model.log_std(self.gradient.gradient)).all():
            return "the gradient of the deviation of actions is not finite"
        return "the gradient is too long for float32, as of rewards that are too large"

    def policy(self) -> Policy:
        """The policy as it is now, averaged over the last updates if the settings say so."""
        parameters = self.mean if self.settings.averaging else self.model.parameters
        layers = [layer.plain(parameters) for layer in self.model.actor]
        return policy_of(self, layers, self.rollout.normalisers["actor"], np.exp(self.model.log_std()))

    @property
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Plain data and arrays with which it continues to the same bits."""
        arrays = {"parameters": self.model.parameters, "mean": self.mean, "generator": generator_words(self.rng)}
        arrays |= {f"adam/{name}": x for name, x in self.adam.state.items()}
        arrays |= {f"rollout/{name}": x for name, x in self.rollout.state.items()}
        about = {"rate": self.rate, "steps": self.steps, "iterations": self.iterations}
        return about, copied(arrays)

    @state.setter
    def state(self, given: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
        about, arrays = given
        self.model.parameters[:] = arrays["parameters"]
        self.mean[:] = arrays["mean"]
        self.adam.state = part(arrays, "adam")
        self.rollout.state = part(arrays, "rollout")
        set_generator(self.rng, arrays["generator"])
        self.rate, self.steps, self.iterations = float(about["rate"]), int(about["steps"]), int(about["iterations"])
