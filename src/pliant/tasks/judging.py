"""Whether a policy follows commands of velocity: judged on its mean action, from starts that training has not seen.

Curves of the training hide failures: robots fall without the noise of the training where they do not with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.environment import Environment
from pliant.learn.interface import Verdict
from pliant.signatures import explained

_BEGIN = 0.2
"""Share of the time that is not measured, in which robots get going."""


@explained
@dataclass
class VelocityJudge:
    """Robots run for some seconds, equally many for each command.

    Success is that none falls, and that the mean velocity of those with the same command is within the tolerances.

    Attributes:
        environment: ``environment(batch, timeout)`` -> the environment that is judged.
        commands: (ahead, left, turn) [m/s, m/s, rad/s].
        robots: in all, a multiple of the commands.
        seconds: how long they run.
        linear: tolerance of the velocities ahead and to the left [m/s]; turning: that of the rate of turning [rad/s],
            None if it does not matter.
        seed: of the starts.
    """

    environment: Callable[..., Environment]
    commands: Sequence[tuple[float, float, float]]
    robots: int = 256
    seconds: float = 10.0
    linear: float = 0.1
    turning: float | None = 0.1
    seed: int = 1000
    _env: Environment | None = field(default=None, repr=False)

    def __call__(self, policy: Callable[[np.ndarray], np.ndarray]) -> Verdict:
        """Judge a policy."""
        means, fell = self.run(policy)
        wanted = np.array(self.commands, dtype=float)
        groups = means.reshape(len(wanted), -1, 3)
        errors = np.abs(groups.mean(axis=1) - wanted)
        linear, turning = float(errors[:, :2].max()), float(errors[:, 2].max())
        own = np.abs(groups - wanted[:, None])
        inside = (own[..., :2] <= self.linear).all(axis=-1) & ~fell.reshape(len(wanted), -1)
        if self.turning is not None:
            inside &= own[..., 2] <= self.turning
        is_right = linear <= self.linear and (self.turning is None or turning <= self.turning)
        excess = max(0.0, linear - self.linear) + (0 if self.turning is None else max(0.0, turning - self.turning))
        report: dict[str, Any] = {
            "falls": int(fell.sum()),
            "inside": int(inside.sum()),
            "robots": len(fell),
            "worst velocity error": linear,
            "worst turning error": turning,
            "falls by command": fell.reshape(len(wanted), -1).sum(axis=1).tolist(),
            "velocities": np.round(groups.mean(axis=1), 4).tolist(),
            "commands": wanted.tolist(),
        }
        score = float(inside.mean() - fell.mean() - excess)
        return Verdict(bool(is_right and not fell.any()), score, report)

    def run(self, policy: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Mean velocities of each robot, (robots, 3), and whether it fell."""
        each = max(1, self.robots // len(self.commands))
        if self._env is None:
            self._env = self.environment(batch=each * len(self.commands), timeout=self.seconds + 1)
        env = self._env
        env.reset(seed=self.seed)
        env.set_command("velocity", np.repeat(np.array(self.commands, dtype=float), each, axis=0))
        seen = env.look()
        periods, begin = round(self.seconds / env.period), round(_BEGIN * self.seconds / env.period)
        total, fell = np.zeros((env.batch, 3)), np.zeros(env.batch, dtype=bool)
        for k in range(periods):
            found = env.step(policy(seen["actor"]))
            seen = found.observations
            fell |= found.terminated
            if k >= begin:
                v = env.sim.v
                total += v[:, [0, 1, 5]]
        return total / (periods - begin), fell
