"""The loss of proximal policy optimisation and its gradient.

With z = (a - mean(x)) / std, log p = -z.z / 2 - sum(log std) + constant and r = p / p_old, for advantage A and return R

    loss = mean(-min(r A, clip(r, 1 - c, 1 + c) A)) - entropy sum(log std) + value_weight mean((V(x) - R)^2) / 2

[Schulman et al. 2017, "Proximal policy optimization algorithms"]. The change of the policy is measured by
mean(r - 1 - log r), which is never negative and has the mean KL(p_old, p) [Schulman 2020, "Approximating KL
divergence"].
"""

from typing import NamedTuple

import numpy as np

from pliant.learn.actor_critic import ActorCritic

# of log r: beyond it a sample counts as clipped anyway
_FARTHEST = 5.0


class Samples(NamedTuple):
    """What an update learns from: a row a sample.

    Attributes:
        actor, critic: normalised observations.
        actions, log_p: what was done, and its logarithm of probability up to the constant.
        advantages, returns: of it.
    """

    actor: np.ndarray
    critic: np.ndarray
    actions: np.ndarray
    log_p: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray

    def at(self, chosen: np.ndarray) -> "Samples":
        """Some of them, in this order."""
        actor = self.actor[chosen]
        critic = actor if self.critic is self.actor else self.critic[chosen]
        return Samples(actor, critic, *(array[chosen] for array in self[2:]))


class Loss(NamedTuple):
    """Sums over samples."""

    surrogate: float
    value: float
    kl: float
    clipped: float


def add_gradient(
    model: ActorCritic, samples: Samples, gradient: np.ndarray, share: float, *, clip: float, value_weight: float,
    original: np.ndarray | None = None,
) -> Loss:  # fmt: skip
    """Add the gradient of ``share`` times the sum of losses of some samples, without entropy; returns the sums.

    Args:
        original: mask of those by which the change of the policy is measured; None for all.
    """
    parts, found = model.parts, model.views(gradient)
    std = np.exp(parts.log_std)
    actor = model.forward(parts.actor, samples.actor)
    critic = model.forward(parts.critic, samples.critic)
    z = (samples.actions - actor[-1]) / std
    squares = z * z
    log_r = -squares.sum(1) / 2 - parts.log_std.sum() - samples.log_p
    np.clip(log_r, -_FARTHEST, _FARTHEST, out=log_r)
    r = np.exp(log_r)
    earned = r * samples.advantages
    limited = np.clip(r, 1 - clip, 1 + clip) * samples.advantages
    is_free = earned <= limited
    g = np.where(is_free, -share * earned, 0).astype(r.dtype)[:, None]
    squares -= 1
    found.log_std[:] += (g * squares).sum(0)
    model.backward(parts.actor, actor, g * z / std, found.actor)
    error = critic[-1][:, 0] - samples.returns
    model.backward(parts.critic, critic, (error * (share * value_weight)).astype(r.dtype)[:, None], found.critic)
    kl = r - 1 - log_r
    if original is not None:
        kl = kl[original]
    sums = -np.minimum(earned, limited).sum(), (error * error).sum() / 2, kl.sum(), (~is_free).sum()
    return Loss(*map(float, sums))
