"""Evolution on a cart: it learns, and the same bits come out on every way."""

import numpy as np
import pytest

from pliant.errors import LearningError
from pliant.learn import evolve, resume
from pliant.learn.crowd import Crowd
from toy_tasks import Cart, cart_judge

ROUND = 64 * 60


def short(env: Cart | None = None, rounds: int = 3, **options):
    return evolve(env or Cart(), horizon=60, minutes=None, steps=rounds * ROUND, **options)


def same(a, b) -> bool:
    pairs = zip(a.last.layers, b.last.layers, strict=True)
    equal = all(np.array_equal(x, y) for one, other in pairs for x, y in zip(one, other, strict=True))
    return equal and np.array_equal(a.last.mean, b.last.mean)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("sizes", [(5, 12, 3), (20, 1)], ids=str)
def test_everyone_acts_by_own_weights(threads: int, sizes: tuple) -> None:
    rng = np.random.default_rng(0)
    crowd = Crowd(sizes, "tanh", 10, threads)
    parameters = rng.normal(size=(10, crowd.size)).astype(np.float32)
    crowd.x[:] = rng.normal(size=crowd.x.shape)
    crowd.put(parameters)
    found = crowd()
    for robot in range(10):
        x = crowd.x[robot].astype(float)
        layers = crowd.layers(parameters[robot])
        for k, (weights, offsets) in enumerate(layers):
            x = weights @ x + offsets
            x = np.tanh(x) if k < len(layers) - 1 else x
        # sums of up to 20 products of numbers near 1, in float32
        np.testing.assert_allclose(found[robot], x, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"hidden": (8,), "group": 2}], ids=["linear", "hidden"])
def test_it_learns_until_success_holds(options: dict) -> None:
    training = short(rounds=80, judge=cart_judge(), judge_steps=5 * ROUND, **options)
    assert training.ended == "success" and training.success
    assert training.policy.settings["learner"] == "evolve"
    returns = training.history.column("return/mean")[1]
    assert returns[-1] > returns[0]


@pytest.mark.parametrize("options", [{}, {"hidden": (8,)}], ids=["linear", "hidden"])
def test_the_same_bits_on_threads_with_a_judge_and_from_a_checkpoint(tmp_path, options: dict) -> None:
    whole = short(**options)
    assert same(whole, short(threads=2, **options))
    assert same(whole, short(judge=cart_judge(), judge_steps=1, hold=9, **options))
    assert not same(whole, short(seed=1, **options))
    path = tmp_path / "cart.checkpoint"
    short(rounds=1, checkpoint=path, **options)
    continued = resume(path, Cart(seed=5), minutes=None, steps=3 * ROUND)
    assert same(whole, continued)
    assert continued.history.column("return/mean") == whole.history.column("return/mean")


def test_what_is_not_finite_is_named() -> None:
    class Once(Cart):
        def reset(self, seed=None):
            self.bad_step = 7
            return super().reset(seed)

    with pytest.raises(LearningError, match="reward of robot 3 is nan") as caught:
        short(Once())
    snapshot = caught.value.snapshot
    assert len(snapshot.actions) == 7
    assert np.isnan(snapshot.replay(Once()).rewards[3])


@pytest.mark.parametrize(
    ("options", "field"), [({"group": 3}, "group"), ({"momentum": 2}, "momentum"), ({"horizons": 3}, "option")]
)
def test_mistakes(options: dict, field: str) -> None:
    with pytest.raises(LearningError) as caught:
        short(**options)
    assert caught.value.field == field
