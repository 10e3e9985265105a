"""The loss of proximal policy optimisation and its gradient.

With z = (a - mean(x)) / std, log p = -z.z / 2 - sum(log std) + constant and r = p / p_old, for advantage A and return R

    loss = mean(-min(r A, clip(r, 1 - c, 1 + c) A)) - entropy sum(log std) + value_weight mean((V(x) - R)^2) / 2

[Schulman et al. 2017, "Proximal policy optimization algorithms"]. The change of the policy is measured by
mean(r - 1 - log r), which is never negative and has the mean KL(p_old, p) [Schulman 2020, "Approximating KL
divergence"].
"""

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from pliant.learn.actor_critic import ROWS, ActorCritic
from pliant.learn.tape import Tape, padded, zeros
from pliant.learn.writer import WIDTH
from pliant.scalar import Scalar, exp, maximum, minimum, select

# of log r: beyond it a sample counts as clipped anyway
_FARTHEST = 5.0

# a block is so many tiles of samples: its sum is rounded on its own, so that threads do not matter
_TILES = 4


Mirrors = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Permutation and signs of "actor", "critic" and "actions"."""


class Samples:
    """What an update learns from: a row a sample, in arrays that stay where they are.

    The first ``count`` rows are samples. With a mirror their images follow. The last row is no sample: it has the
    weight 0, and fills up minibatches.

    Attributes:
        actor, critic: normalised observations.
        actions, log_p: what was done, and its logarithm of probability up to the constant.
        advantages, returns: of it.
        weight: 1.
        original: 1 where the change of the policy is measured, 0 for images: what the policy would do in the
            mirror is another matter than how far it moved.
    """

    def __init__(
        self, count: int, sizes: Mapping[str, int], actions: int, mirror: Mirrors | None = None, dtype: Any = np.float32
    ):
        """Args: how many samples, sizes of the groups and of actions, and the mirror."""
        self.count, self.mirror = count, mirror
        self.nobody = count if mirror is None else 2 * count
        rows = self.nobody + 1
        self.actor = zeros(rows, sizes["actor"], dtype=dtype)
        self.critic = zeros(rows, sizes["critic"], dtype=dtype) if "critic" in sizes else self.actor
        self.actions = zeros(rows, actions, dtype=dtype)
        made = [zeros(rows, dtype=dtype) for _ in range(5)]
        self.log_p, self.advantages, self.returns, self.weight, self.original = made
        self.weight[: self.nobody] = self.original[:count] = 1

    def reflect(self) -> None:
        """Fill in the images of all samples, which were as likely and are worth as much."""
        if self.mirror is None:
            return
        images = slice(self.count, 2 * self.count)
        arrays = {"actor": self.actor, "actions": self.actions}
        if self.critic is not self.actor:
            arrays["critic"] = self.critic
        for name, array in arrays.items():
            permutation, signs = self.mirror[name]
            np.multiply(array[: self.count, permutation], signs, out=array[images])
        for array in (self.log_p, self.advantages, self.returns):
            array[images] = array[: self.count]


def sample_loss(
    squares: Scalar, log_p: Scalar, advantage: Scalar, target: Scalar, value: Scalar, original: Scalar, weight: Scalar,
    total: Scalar, clip: Scalar, value_weight: Scalar,
) -> tuple[Scalar, ...]:  # fmt: skip
    """What one sample adds to the loss, and how that changes.

    Args:
        squares: z.z.
        log_p: of the policy that acted.
        advantage, target: A and R.
        value: the critic's.
        original, weight: see `Samples`.
        total: sum(log std).
        clip, value_weight: settings.

    Returns:
        d loss / d log p, d loss / d value, surrogate, value loss, change of the policy, 1 if clipped.
    """
    log_r = maximum(minimum(-squares / 2 - total - log_p, _FARTHEST), -_FARTHEST)
    r = exp(log_r)
    earned = r * advantage
    limited = maximum(minimum(r, 1 + clip), 1 - clip) * advantage
    is_free = earned <= limited
    error = weight * (value - target)
    return (
        select(is_free, -earned, 0),
        value_weight * error,
        -minimum(earned, limited),
        error * error / 2,
        original * (r - 1 - log_r),
        select(is_free, 0, weight),
    )


# rows of the ledger of a tile: the arguments of `sample_loss`, then its results
_ARGUMENTS, _RESULTS = 10, 6
_LEDGER = _ARGUMENTS + _RESULTS


class Loss(NamedTuple):
    """Means over a minibatch."""

    surrogate: float
    value: float
    kl: float
    clipped: float


class Gradient:
    """The gradient of the loss of a minibatch, by tapes that several threads share.

    Samples are cut into tiles of `ROWS`, and these into blocks. Each block has a sum of its own, and these
    are added in their order.

    Attributes:
        size: samples of a minibatch.
        gradient: the sum over samples, by the parameters.
    """

    def __init__(
        self, model: ActorCritic, samples: Samples, size: int, *, clip: float, value_weight: float, threads: int = 1
    ):
        """Args: how many samples a minibatch has, the settings of the loss, and threads."""
        self.model, self.samples, self.size = model, samples, size
        whole = padded(size)
        self._chosen = np.full(whole, samples.nobody, dtype=np.int64)
        firsts = list(range(0, whole, ROWS * _TILES))
        count = len(model.parameters)
        self._gradients = zeros(len(firsts), count, dtype=model.dtype)
        self.gradient, self._square = zeros(count, dtype=model.dtype), zeros(2, dtype=model.dtype)
        self._sum = Tape(model.dtype)
        self._sum.sums(self._gradients, self.gradient)
        self._sum.dots(self.gradient[None], self.gradient, self._square[1:], self._square[:1])
        self._losses = zeros(len(firsts), 4, WIDTH, dtype=model.dtype)
        threads = min(threads, len(firsts))
        self._tapes, self._ledgers = [], []
        for thread in range(threads):
            tape, work = Tape(model.dtype), _Work(model)
            work.ledger[8], work.ledger[9] = clip, value_weight
            for block in range(thread, len(firsts), threads):
                end = min(firsts[block] + ROWS * _TILES, whole)
                for first in range(firsts[block], end, ROWS):
                    chosen = self._chosen[first : min(first + ROWS, end)]
                    self._write_tile(tape, work, chosen, self._gradients[block], self._losses[block])
            self._tapes.append(tape)
            self._ledgers.append(work.ledger)
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="pliant-learn") if threads > 1 else None

    def __call__(self, chosen: np.ndarray, entropy: float = 0.0) -> tuple[float, Loss]:
        """Put the sum of the gradients of some samples into ``gradient``; returns the length of its mean, and means."""
        self._chosen[: self.size] = chosen
        self._gradients[:] = 0
        self._losses[:] = 0
        self.model.refresh()
        total = self.model.log_std().sum()
        for ledger in self._ledgers:
            ledger[7] = total
        waiting = [self._pool.submit(tape) for tape in self._tapes[1:]] if self._pool else []
        self._tapes[0]()
        for other in waiting:
            other.result()
        self.gradient[:] = 0
        self.model.log_std(self.gradient)[:] = -entropy * self.size
        self._sum()
        norm = math.sqrt(self._square[0]) / self.size
        sums = self._losses.sum(axis=(0, 2), dtype=np.float64) / self.size
        if self.samples.mirror is not None:
            sums[2] /= max(float(self.samples.original[chosen].mean()), 1e-9)
        return norm, Loss(*sums.tolist())

    def _write_tile(
        self, tape: Tape, work: "_Work", chosen: np.ndarray, gradient: np.ndarray, losses: np.ndarray
    ) -> None:
        model, samples, rows = self.model, self.samples, len(chosen)
        w = work.of(rows)
        tape.gather(samples.actor, chosen, w.actor)
        if samples.critic is samples.actor:
            w = w._replace(critic=w.actor)
        else:
            tape.gather(samples.critic, chosen, w.critic)
        tape.gather(samples.actions, chosen, w.actions)
        ledger = work.ledger
        for row, array in ((1, samples.log_p), (2, samples.advantages), (3, samples.returns), (5, samples.original),
                           (6, samples.weight)):  # fmt: skip
            tape.gather(array, chosen, ledger[row])
        model.write_forward(tape, model.actor, w.actor, w.between_actor, w.mean)
        model.write_forward(tape, model.critic, w.critic, w.between_critic, ledger[4, :rows])
        tape.deviations(w.mean, w.actions, model.inverse_std, ledger[0])
        distance = ROWS // WIDTH
        tape.each(sample_loss, ledger[0, :rows], tuple(distance * k for k in range(_LEDGER)))
        for k in range(4):
            tape.sums(ledger[_ARGUMENTS + 2 + k, :rows].reshape(-1, WIDTH), losses[k])
        log_std = gradient[model.critic[-1].end :]
        tape.pulls(w.mean, ledger[_ARGUMENTS], model.inverse_std, work.ones, log_std)
        values = (w.actor, *w.between_actor), (w.critic, *w.between_critic)
        rest = work.first_column[:rows], work.nothing
        model.write_backward(tape, model.actor, values[0], w.mean, gradient, w.below_actor, *rest)
        value = ledger[_ARGUMENTS + 1, :rows]
        model.write_backward(tape, model.critic, values[1], value, gradient, w.below_critic, *rest)


class _Tile(NamedTuple):
    """Arrays of a tile, (rows, padded n)."""

    actor: np.ndarray
    critic: np.ndarray
    actions: np.ndarray
    mean: np.ndarray
    between_actor: list[np.ndarray]
    between_critic: list[np.ndarray]
    below_actor: list[np.ndarray]
    below_critic: list[np.ndarray]


class _Work:
    """The arrays of a thread, used again for each tile."""

    def __init__(self, model: ActorCritic):
        def wide(n: int) -> np.ndarray:
            return zeros(ROWS, padded(n), dtype=model.dtype)

        n, m = model.actor[0].inputs, model.critic[0].inputs
        between = [model.between(layers) for layers in (model.actor, model.critic, model.actor, model.critic)]
        self._all = _Tile(wide(n), wide(m), wide(model.actions), wide(model.actions), *between)
        self.ledger = zeros(_LEDGER, ROWS, dtype=model.dtype)
        self.ones = zeros(padded(model.actions), dtype=model.dtype)
        self.ones[: model.actions] = 1
        self.first_column = zeros(ROWS, WIDTH, dtype=model.dtype)
        self.first_column[:, 0] = 1
        self.nothing = zeros(max(padded(x.inputs) for x in (*model.actor, *model.critic)), dtype=model.dtype)

    def of(self, rows: int) -> _Tile:
        """The arrays for so many rows."""
        parts: Any = ([y[:rows] for y in part] if isinstance(part, list) else part[:rows] for part in self._all)
        return _Tile(*parts)
