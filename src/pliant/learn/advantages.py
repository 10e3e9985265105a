"""Advantages of actions from rewards and values.

delta_t = r_t + gamma V_{t+1} - V_t and A_t = delta_t + gamma lambda A_{t+1}, cut where an episode ends
[Schulman et al. 2016, "High-dimensional continuous control using generalized advantage estimation"]. An episode that
only ran out of time would have gone on: its last reward carries gamma times the value of its last observation.
"""

import numpy as np


def advantages(
    rewards: np.ndarray, values: np.ndarray, last: np.ndarray, alive: np.ndarray, *, discount: float, gae: float,
) -> np.ndarray:  # fmt: skip
    """Generalised advantages, (steps, robots).

    Args:
        rewards: of each step, with what follows a time-out in them.
        values: the critic's, before each step.
        last: the critic's after the last one, (robots,).
        alive: 1 where the episode goes on after the step, else 0.
    """
    found = np.empty_like(rewards)
    following, carried = last, np.zeros_like(last)
    for t in range(len(rewards) - 1, -1, -1):
        delta = alive[t] * following
        delta *= discount
        delta += rewards[t]
        delta -= values[t]
        carried = carried * alive[t]
        carried *= discount * gae
        carried += delta
        found[t] = carried
        following = values[t]
    return found


class ReturnScale:
    """The running size (root mean square) of discounted returns, by which rewards may be divided."""

    def __init__(self, robots: int, discount: float):
        self.discount = discount
        self.returns = np.zeros(robots)
        self.square, self.count = 0.0, 0

    def __call__(self, rewards: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """Rewards of a step, scaled; ``ended`` where the episode ends with it."""
        self.returns = self.returns * self.discount + rewards
        self.count = min(self.count + 1, _MEMORY)
        self.square += (float(np.mean(self.returns**2)) - self.square) / self.count
        self.returns[ended] = 0
        return (rewards / max(np.sqrt(self.square), _LEAST)).astype(rewards.dtype)

    @property
    def state(self) -> dict[str, np.ndarray]:
        """All of it."""
        return {"returns": self.returns, "square": np.array(self.square), "count": np.array(self.count)}

    @state.setter
    def state(self, given: dict[str, np.ndarray]) -> None:
        self.returns = given["returns"].copy()
        self.square, self.count = float(given["square"]), int(given["count"])


# steps after which old ones are forgotten
_MEMORY = 500
# returns that are smaller still are not blown up
_LEAST = 1e-4
