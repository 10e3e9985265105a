"""Proximal policy optimisation: collect, look back, improve, again [Schulman et al. 2017]."""

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pliant.errors import LearningError
from pliant.learn.actor_critic import ActorCritic
from pliant.learn.adam import Adam
from pliant.learn.advantages import ReturnScale, advantages
from pliant.learn.guard import Snapshot, first_bad, part
from pliant.learn.interface import Environment
from pliant.learn.normaliser import Normaliser
from pliant.learn.policy import Policy
from pliant.learn.settings import PpoSettings
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.surrogate import Loss, Samples, add_gradient

# samples of a minibatch that are one piece of work for a thread; results depend on it, not on the threads
_BLOCK = 768


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
        self.adam = Adam(self.model.parameters)
        self.returns = ReturnScale(env.batch, settings.discount) if settings.normalise_returns else None
        self.mirror = _mirror(env, self.groups) if settings.symmetry else None
        self.rate, self.steps, self.iterations = settings.rate, 0, 0
        shape = settings.horizon, env.batch
        self._seen = {group: np.empty((*shape, sizes[group]), np.float32) for group in self.groups}
        self._actions = np.empty((*shape, env.action_size), np.float32)
        self._log_p, self._values, self._rewards, self._alive = np.empty((4, *shape), np.float32)
        self._gradients = np.empty((0, len(self.model.parameters)), np.float32)
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
        std = float(np.exp(self.model.parts.log_std).mean())
        return found | {"rate": self.rate, "std": std} | dict(self.env.metrics())

    # ---- collecting

    def _collect(self, start: dict[str, np.ndarray]) -> np.ndarray:
        """Act for a horizon; returns the values at its end."""
        env, model = self.env, self.model
        log_std = model.parts.log_std
        std, total = np.exp(log_std), log_std.sum()
        for t in range(self.settings.horizon):
            with self.watch("policy"):
                x = self._normalised(self.observations, t, start)
                noise = self.rng.standard_normal(self._actions.shape[1:], np.float32)
                np.multiply(noise, std, out=self._actions[t])
                self._actions[t] += model.mean(x["actor"])
                noise *= noise
                self._log_p[t] = noise.sum(1)
                self._values[t] = model.value(x[self.groups[-1]])
            with self.watch("environment"):
                outcome = env.step(self._actions[t])
            with self.watch("policy"):
                self._note(t, outcome, start)
        self._log_p *= -0.5
        self._log_p -= total
        with self.watch("policy"):
            group = self.groups[-1]
            return model.value(self.normalisers[group](self.observations[group]))

    def _normalised(self, observations: Any, t: int, start: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        x = {g: self.normalisers[g](observations[g], out=self._seen[g][t], count=True) for g in self.groups}
        for group, normaliser in self.normalisers.items():
            if not normaliser.is_finite:
                names = self.env.observation_names[group]
                self._fail(first_bad(f"observation ({group})", observations[group], names), start, t)
        return x

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
            following = self.model.value(self.normalisers[group](outcome.final[group][late]))
            rewards[late] += np.float32(s.discount) * following
        self._rewards[t], self._alive[t] = rewards, ~ended
        self.observations = outcome.observations

    # ---- learning

    def _update(self, last: np.ndarray, start: dict[str, np.ndarray]) -> dict[str, float]:
        s = self.settings
        gained = advantages(self._rewards, self._values, last, self._alive, discount=s.discount, gae=s.gae)
        returns = (gained + self._values).ravel()
        gained = gained.ravel()
        gained -= gained.mean()
        gained /= gained.std() + np.float32(1e-8)
        seen = [self._seen[group].reshape(-1, self._seen[group].shape[-1]) for group in self.groups]
        actions = self._actions.reshape(-1, self._actions.shape[-1])
        samples = Samples(seen[0], seen[-1], actions, self._log_p.ravel(), gained, returns)
        losses, norms = [], []
        for chosen, mirrored in self._minibatches(len(gained)):
            gradient, loss = self._gradient(samples, chosen, mirrored)
            norm = float(np.sqrt(np.vdot(gradient, gradient)))
            if not math.isfinite(norm):
                self._fail(self._bad_gradient(gradient), start, len(self._actions))
            gradient *= min(1.0, s.gradient_norm / (norm + 1e-6))
            self.adam.step(gradient, self.rate)
            losses.append(loss)
            norms.append(norm)
        found = {name: float(np.mean([getattr(loss, name) for loss in losses])) for name in Loss._fields}
        low, high = s.kl_range
        if found["kl"] > high:
            self.rate = max(s.rate_range[0], self.rate / 1.5)
        elif found["kl"] < low:
            self.rate = min(s.rate_range[1], self.rate * 1.2)
        left = float(np.var(returns - self._values.ravel())) / (float(np.var(returns)) + 1e-12)
        return {
            "surrogate": found["surrogate"],
            "value_loss": found["value"],
            "kl": found["kl"],
            "clipped": found["clipped"],
            "gradient_norm": float(np.mean(norms)),
            "explained": 1 - left,
        }

    def _minibatches(self, count: int) -> Iterable[tuple[np.ndarray, np.ndarray | None]]:
        """Samples of each step of the optimiser, and which of them are seen in the mirror.

        With symmetry each sample is mirrored in every second epoch; which half begins is drawn.
        """
        s = self.settings
        size = count // s.minibatches
        coin = self.rng.integers(0, 2, count, dtype=np.uint8) if self.mirror else None
        for epoch in range(s.epochs):
            order = self.rng.permutation(count)
            for k in range(s.minibatches):
                chosen = order[k * size : (k + 1) * size]
                yield chosen, None if coin is None else (coin[chosen] + epoch) % 2 == 1

    def _gradient(self, samples: Samples, chosen: np.ndarray, mirrored: np.ndarray | None) -> tuple[np.ndarray, Loss]:
        """The gradient of a minibatch, a sum over blocks whose order does not depend on threads."""
        s = self.settings
        count = len(chosen)
        blocks = np.array_split(np.arange(count), -(-count // _BLOCK))
        if len(self._gradients) != len(blocks):
            self._gradients = np.empty((len(blocks), len(self.model.parameters)), np.float32)
        self._gradients[:] = 0

        def work(k: int) -> Loss:
            own = samples.at(chosen[blocks[k]])
            flipped = None if mirrored is None else mirrored[blocks[k]]
            if flipped is not None:
                self._flip(own, flipped)
            original = None if flipped is None else ~flipped
            return add_gradient(self.model, own, self._gradients[k], 1 / count, clip=s.clip,
                                value_weight=s.value_weight, original=original)  # fmt: skip

        losses = _mapped(work, len(blocks), self.threads)
        gradient = self._gradients.sum(0)
        self.model.views(gradient).log_std[:] -= s.entropy
        measured = count if mirrored is None else max(1, count - int(mirrored.sum()))
        sums = np.sum(losses, axis=0)
        return gradient, Loss(sums[0] / count, sums[1] / count, sums[2] / measured, sums[3] / count)

    def _flip(self, samples: Samples, flipped: np.ndarray) -> None:
        """Mirror some of the samples, in place."""
        assert self.mirror is not None
        arrays = {"actor": samples.actor, "actions": samples.actions}
        if len(self.groups) > 1:
            arrays["critic"] = samples.critic
        for name, array in arrays.items():
            permutation, signs = self.mirror[name]
            array[flipped] = array[flipped][:, permutation] * signs

    def _bad_gradient(self, gradient: np.ndarray) -> str:
        parts = self.model.views(gradient)
        for name, layers in (("actor", parts.actor), ("critic", parts.critic)):
            for k, layer in enumerate(layers):
                if not all(np.isfinite(x).all() for x in layer):
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
            layers=tuple(self.model.parts.actor),
            activation=self.settings.activation,
            mean=own.shift,
            scale=own.scale,
            clip=own.clip,
            std=np.exp(self.model.parts.log_std),
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


def _mapped(work: Callable[[int], Any], count: int, threads: int) -> list[Any]:
    """Results of several pieces of work, in their order."""
    if threads == 1 or count == 1:
        return [work(k) for k in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(count)))
