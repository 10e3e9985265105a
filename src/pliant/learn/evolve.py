"""Evolution: policies around a mean are tried over whole rollouts, and the mean moves to where returns are larger.

Policy gradients with parameter-based exploration: parameters are normal, theta = mu +- sigma e, in pairs on either
side of the mean [Sehnke et al. 2010, "Parameter-exploring policy gradients"]. Returns count by their ranks, from -1/2
to 1/2: with the ranks p and q of a pair,

    d mu ~ mean((p - q) e),    d log sigma = rate mean((p + q) / 2 (e^2 - 1))

and the mean takes steps of a fixed length with momentum [Toklu, Liskowski and Srivastava 2020, "ClipUp"]. There is no
gradient of a network, and no critic: for linear and small policies, and for rewards that come late.
"""

from typing import Any

import numpy as np

from pliant.errors import LearningError, SimulationError
from pliant.learn.crowd import Crowd
from pliant.learn.guard import first_bad, part
from pliant.learn.interface import Environment
from pliant.learn.normaliser import Normaliser
from pliant.learn.policy import Policy
from pliant.learn.settings import EvolveSettings
from pliant.learn.states import (
    NotFiniteError, copied, failure, generator, generator_words, policy_of, set_generator,
)  # fmt: skip
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.tape import Tape, zeros

# velocity may be so many steps long
_FASTEST = 2.0
BLOCK = 16
"""Robots whose observations are summed up together, so that a batch can be split between them."""

# sigma changes by this share at most in an iteration, and stays within these
_MOST, _RANGE = 0.2, (1e-3, 1.0)


class Evolve:
    """A training that can be continued: `iterate` tries policies over a rollout and moves their mean.

    Attributes:
        mean, std: of the parameters.
        velocity: of the mean, per iteration.
        steps: control periods of all robots so far.
        iterations: rollouts so far.
    """

    kind = "evolve"

    def __init__(
        self, env: Environment, settings: EvolveSettings, watch: Stopwatch, threads: int = 1, *,
        batch: int | None = None, first: int = 0,
    ):  # fmt: skip
        """Set up a training.

        Args:
            env: of all robots, or of a share of them.
            batch, first: how many there are in all, and which one is the first of ``env``, a multiple of `BLOCK`.
        """
        self.env, self.settings, self.watch = env, settings, watch
        self.batch, self.first = env.batch if batch is None else batch, first
        sets = self.batch // settings.group
        if sets < 2 or sets % 2 or sets * settings.group != self.batch:
            raise LearningError(f"{self.batch} robots are no pairs of groups of {settings.group}", subject="evolve",
                                field="group", cure="take a batch that is a multiple of twice the group")  # fmt: skip
        n = env.observation_sizes["actor"]
        self.crowd = Crowd((n, *settings.hidden, env.action_size), settings.activation, env.batch, threads)
        self.rng = generator(settings.seed)
        self.mean = np.zeros(self.crowd.size, np.float32)
        # the last layer starts at zero: robots that do nothing yet
        for weights, _ in self.crowd.layers(self.mean)[:-1]:
            weights[:] = self.rng.normal(size=weights.shape) / np.sqrt(weights.shape[1])
        self.std = np.full(self.crowd.size, settings.std, np.float32)
        self.velocity = np.zeros(self.crowd.size, np.float32)
        blocks = -(-self.batch // BLOCK)
        self.normaliser = Normaliser(n, settings.observation_clip, settings.observation_memory, blocks)
        self._seen = zeros(env.batch, n)
        ends = [(k, min(k + BLOCK, env.batch)) for k in range(0, env.batch, BLOCK)]
        self._looks = [
            ((first + a) // BLOCK, b - a, self.normaliser.tape(self._seen[a:b], self.crowd.x[a:b])) for a, b in ends
        ]
        self._actions = np.zeros((settings.horizon, env.batch, env.action_size), np.float32)
        self.steps = self.iterations = 0

    def iterate(self) -> dict[str, float]:
        """Try policies on all robots, and move their mean; returns what was measured."""
        self.watch.start()
        found = self.improve(self.attempt())
        return found | dict(self.env.metrics())

    def attempt(self) -> np.ndarray:
        """What each robot of the environment earns with parameters of its own, until its first episode is over."""
        self.draw()
        sets, robots = self.batch // self.settings.group, self.first + np.arange(self.env.batch)
        # pairs on either side of the mean: set k goes with set k + sets / 2
        pair, is_minus = np.divmod(robots // self.settings.group, sets // 2)[::-1]
        offsets = self._noise[pair] * self.std
        self.crowd.put(np.where(is_minus[:, None] > 0, self.mean - offsets, self.mean + offsets))
        self.watch.lap("update")
        return self._returns()

    def draw(self) -> None:
        """Draw the noise of all parameters that are tried."""
        sets = self.batch // self.settings.group
        self._noise = self.rng.standard_normal((sets // 2, self.crowd.size), np.float32)

    def improve(self, earned: np.ndarray) -> dict[str, float]:
        """Move the mean by what all robots have earned; returns what was measured."""
        s = self.settings
        returns = earned.reshape(-1, s.group).mean(axis=1)
        self._move(self._noise, returns)
        self.normaliser.merge()
        self.watch.lap("update")
        self.steps += s.horizon * self.batch
        self.iterations += 1
        found = {"return/mean": float(returns.mean()), "return/best": float(returns.max())}
        return found | {"std": float(self.std.mean())}

    def _returns(self) -> np.ndarray:
        """The same of robots whose parameters are in the crowd."""
        env, watch = self.env, self.watch
        seen = env.reset(seed=self._rollout_seed())["actor"]
        start = copied(env.state)
        total, alive = np.zeros(env.batch), np.ones(env.batch, dtype=bool)
        try:
            for t, actions in enumerate(self._actions):
                self._seen[:] = seen
                # (a list: all of them look)
                if not all([self._look(*look) for look in self._looks]):
                    raise NotFiniteError(first_bad("observation (actor)", seen, env.observation_names["actor"]), t)
                actions[:] = self.crowd()
                if not np.isfinite(actions).all():
                    raise NotFiniteError(first_bad("action", actions, env.action_names), t)
                watch.lap("policy")
                try:
                    outcome = env.step(actions)
                except SimulationError as error:  # an environment may find what is not finite itself, and names it
                    raise NotFiniteError(str(error), t + 1) from error
                watch.lap("environment")
                if not np.isfinite(outcome.rewards).all():
                    raise NotFiniteError(first_bad("reward", outcome.rewards), t + 1)
                total += np.where(alive, outcome.rewards, 0)
                alive &= ~(outcome.terminated | outcome.truncated)
                seen = outcome.observations["actor"]
        except NotFiniteError as bad:
            raise failure(bad, self, start, self._actions) from None
        return total

    def _look(self, block: int, rows: int, tape: Tape) -> bool:
        tape()
        return self.normaliser.note(rows, block)

    def _rollout_seed(self) -> int:
        """Of the starts of this rollout: others for each, the same ones after a break."""
        return int(np.random.SeedSequence((self.settings.seed, self.iterations)).generate_state(1, np.uint64)[0])

    def _move(self, noise: np.ndarray, returns: np.ndarray) -> None:
        s = self.settings
        ranks = np.empty(len(returns), np.float32)
        ranks[np.argsort(returns, kind="stable")] = np.linspace(-0.5, 0.5, len(returns))
        p, q = ranks[: len(noise)], ranks[len(noise) :]
        # by plain sums, whose order does not hang on a library's threads
        ahead = ((p - q)[:, None] * noise).sum(axis=0)
        length = float(np.sqrt((ahead * ahead).sum()))
        self.velocity *= s.momentum
        self.velocity += ahead * np.float32(s.rate / (length + 1e-12))
        speed = float(np.sqrt((self.velocity * self.velocity).sum()))
        self.velocity *= np.float32(min(1.0, _FASTEST * s.rate / (speed + 1e-12)))
        self.mean += self.velocity
        wider = ((p + q)[:, None] / 2 * (noise * noise - 1)).mean(axis=0)
        self.std *= 1 + np.clip(np.float32(s.std_rate) * wider, -_MOST, _MOST)
        np.clip(self.std, *_RANGE, out=self.std)

    def policy(self) -> Policy:
        """The policy of the mean."""
        std = np.full(self.env.action_size, self.settings.std, np.float32)
        return policy_of(self, self.crowd.layers(self.mean), self.normaliser, std)

    @property
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Plain data and arrays with which it continues to the same bits."""
        arrays = {"mean": self.mean, "std": self.std, "velocity": self.velocity, "generator": generator_words(self.rng)}
        arrays |= {f"normaliser/{name}": x for name, x in self.normaliser.state.items()}
        arrays |= {f"environment/{name}": x for name, x in self.env.state.items()}
        return {"steps": self.steps, "iterations": self.iterations}, copied(arrays)

    @state.setter
    def state(self, given: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
        about, arrays = given
        self.mean[:], self.std[:], self.velocity[:] = (arrays[name] for name in ("mean", "std", "velocity"))
        self.normaliser.state = part(arrays, "normaliser")
        self.env.state = part(arrays, "environment")
        set_generator(self.rng, arrays["generator"])
        self.steps, self.iterations = int(about["steps"]), int(about["iterations"])
