"""Whether robots come to where they are asked to be, and stay: judged on the mean action, from starts of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pliant.environment import Environment
from pliant.learn.interface import Verdict


@dataclass
class ArrivalJudge:
    """Robots run for some seconds, and are measured in the last of them.

    A robot has arrived if each of its errors stays within the tolerance, from the first to the last period that is
    measured, and its episode did not end before. Success is that a share of the robots has arrived.

    Attributes:
        environment: ``environment(batch, timeout)`` -> the environment that is judged.
        errors: ``error(env)`` -> sizes of an error now, (batch,), by name.
        tolerances: of each error.
        share: of the robots that must arrive, above 0 to 1.
        robots: in all.
        seconds: how long they run; last: how much of it is measured.
        seed: of the starts.
    """

    environment: Callable[..., Environment]
    errors: Mapping[str, Callable[[Environment], np.ndarray]]
    tolerances: Mapping[str, float]
    share: float = 1.0
    robots: int = 256
    seconds: float = 10.0
    last: float = 2.0
    seed: int = 1000
    _env: Environment | None = field(default=None, repr=False)

    def __call__(self, policy: Callable[[np.ndarray], np.ndarray]) -> Verdict:
        """Judge a policy."""
        largest, ended = self.run(policy)
        arrived = ~ended
        for name, found in largest.items():
            arrived &= found <= self.tolerances[name]
        report = {
            "ended early": int(ended.sum()),
            "arrived": int(arrived.sum()),
            "robots": len(ended),
            **{f"{name}, median": float(np.median(x)) for name, x in largest.items()},
            **{f"{name}, 95 %": float(np.quantile(x, 0.95)) for name, x in largest.items()},
        }
        # of policies with which as many arrive, the one that comes nearest
        excess = sum(np.maximum(0, x / self.tolerances[name] - 1).mean() for name, x in largest.items())
        score = float(arrived.mean() - ended.mean() - 0.01 * excess)
        return Verdict(bool(arrived.mean() >= self.share), score, report)

    def run(self, policy: Callable[[np.ndarray], np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The largest of each error in the time that is measured, (robots,), and whether an episode ended before."""
        if self._env is None:
            self._env = self.environment(batch=self.robots, timeout=self.seconds + 1)
        env = self._env
        seen = env.reset(seed=self.seed)
        periods = round(self.seconds / env.period)
        begin = periods - max(1, round(self.last / env.period))
        largest = {name: np.zeros(env.batch) for name in self.errors}
        ended = np.zeros(env.batch, dtype=bool)
        for k in range(periods):
            found = env.step(policy(seen["actor"]))
            seen = found.observations
            ended |= found.terminated
            if k >= begin:
                for name, error in self.errors.items():
                    np.maximum(largest[name], error(env), out=largest[name])
        return largest, ended
