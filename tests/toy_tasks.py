"""A task for learners, in NumPy: a cart of unit mass that is to stand at a place. And a policy of random weights."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from pliant.learn import Policy, Verdict


class Outcome(NamedTuple):
    observations: dict[str, np.ndarray]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final: dict[str, np.ndarray]


class CartMirror(NamedTuple):
    observations: dict[str, tuple]
    actions: tuple


class Cart:
    """Acceleration 4 a from position and velocity; ends beyond 2 m, or after ``length`` periods.

    Observations of both groups are scaled, so that a normaliser has something to do.
    """

    period = 0.05
    action_size = 1
    action_names = ("push",)

    def __init__(self, batch: int = 64, *, critic: bool = True, length: int = 60, mirror: bool = True, seed: int = 0):
        self.batch, self.length = batch, length
        self.observation_names: dict[str, tuple[str, ...]] = {"actor": ("place", "speed")}
        if critic:
            self.observation_names["critic"] = ("place", "speed", "left")
        self.observation_sizes = {name: len(x) for name, x in self.observation_names.items()}
        signs = {"actor": (-1, -1), "critic": (-1, -1, 1)}
        mirrored = {name: (range(n), signs[name]) for name, n in self.observation_sizes.items()}
        self.mirror = CartMirror(mirrored, ((0,), (-1,))) if mirror else None
        self.bad_step: int | None = None
        self.reset(seed)

    @property
    def digest(self) -> str:
        return f"cart {self.length} {sorted(self.observation_names)}"

    def describe(self) -> dict[str, Any]:
        return {"task": "cart", "length": self.length}

    def reset(self, seed: int | None = None) -> dict[str, np.ndarray]:
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.x = np.empty((self.batch, 2))
        self.age = np.zeros(self.batch, dtype=int)
        self.total = np.zeros(self.batch)
        self.count = 0
        self._start(np.arange(self.batch))
        self._measured: list[tuple[float, ...]] = []
        return self._observed()

    def _start(self, robots: np.ndarray) -> None:
        self.x[robots] = self.rng.uniform(-1, 1, (len(robots), 2))
        self.age[robots] = self.rng.integers(0, self.length // 2, len(robots))
        self.total[robots] = 0

    def _observed(self) -> dict[str, np.ndarray]:
        place, speed = self.x.T
        left = (self.length - self.age) / self.length
        columns = {"place": 3 * place, "speed": 0.1 * speed, "left": left}
        return {
            group: np.stack([columns[name] for name in names], axis=1).astype(np.float32)
            for group, names in self.observation_names.items()
        }

    def step(self, actions: np.ndarray) -> Outcome:
        a = np.clip(np.asarray(actions, dtype=np.float64)[:, 0], -1, 1)
        self.x[:, 1] += self.period * 4 * a
        self.x[:, 0] += self.period * self.x[:, 1]
        self.age += 1
        self.count += 1
        rewards = 0.1 * np.exp(-4 * self.x[:, 0] ** 2) - 0.002 * a**2
        if self.bad_step == self.count:
            rewards[3] = np.nan
        self.total += rewards
        terminated = abs(self.x[:, 0]) > 2
        truncated = ~terminated & (self.age >= self.length)
        final = self._observed()
        ended = np.flatnonzero(terminated | truncated)
        self._measured.append((rewards.mean(), len(ended), self.total[ended].sum()))
        self._start(ended)
        return Outcome(self._observed(), rewards.astype(np.float32), terminated, truncated, final)

    def metrics(self) -> dict[str, float]:
        reward, ended, total = np.array(self._measured).T
        self._measured = []
        return {"reward/place": reward.mean(), "episode/return": total.sum() / ended.sum() if ended.sum() else np.nan}

    @property
    def state(self) -> dict[str, np.ndarray]:
        generator: Any = self.rng.bit_generator.state
        words = [generator["state"][name] >> 64 * k & (2**64 - 1) for name in ("state", "inc") for k in (0, 1)]
        words += [generator["has_uint32"], generator["uinteger"]]
        return {
            "x": self.x.copy(), "age": self.age.copy(), "total": self.total.copy(), "count": np.array(self.count),
            "generator": np.array(words, dtype=np.uint64),
        }  # fmt: skip

    @state.setter
    def state(self, given: dict[str, np.ndarray]) -> None:
        self.x, self.age, self.total = (given[name].copy() for name in ("x", "age", "total"))
        self.count = int(given["count"])
        a, b, c, d, has, left = (int(word) for word in given["generator"])
        state = {"state": a | b << 64, "inc": c | d << 64}
        self.rng.bit_generator.state = {
            "bit_generator": "PCG64", "state": state, "has_uint32": has, "uinteger": left,
        }  # fmt: skip


def cart_judge(length: int = 60, batch: int = 128):
    """A judge: the mean distance over the last third of an episode, without noise."""

    def judge(policy) -> Verdict:
        env = Cart(batch, length=10**6, seed=99)
        observations = env.reset(99)
        errors = []
        for k in range(length):
            observations = env.step(policy(observations)).observations
            if k > length * 2 // 3:
                errors.append(float(abs(env.x[:, 0]).mean()))
        error = float(np.mean(errors))
        return Verdict(error < 0.1, -error, {"error": error})

    return judge


def example_policy(seed: int = 0, sizes=(5, 8, 6, 3), activation: str = "tanh") -> Policy:
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(b, a)) / a**0.5, rng.normal(size=b)) for a, b in itertools.pairwise(sizes)]
    return Policy(
        layers=tuple(layers),
        activation=activation,
        mean=rng.normal(size=sizes[0]),
        scale=rng.uniform(0.5, 2, sizes[0]),
        clip=2.0,
        std=np.full(sizes[-1], 0.3),
        observation_names=tuple(f"o{k}" for k in range(sizes[0])),
        action_names=tuple(f"a{k}" for k in range(sizes[-1])),
        digest="a task",
        environment={"task": "none"},
        settings={"learner": "none", "hidden": [8, 6]},
    )
