"""Running mean and variance, advantages and scales, against closed forms and plain loops."""

import numpy as np
import pytest

from pliant.learn.advantages import ReturnScale, advantages
from pliant.learn.normaliser import Normaliser


def noted(normaliser: Normaliser, rows: np.ndarray) -> np.ndarray:
    x = rows.astype(np.float32)
    y = np.empty_like(x)
    normaliser.tape(x, y)()
    assert normaliser.note(len(x))
    return y


def test_mean_and_variance_of_all_batches() -> None:
    rng = np.random.default_rng(0)
    batches = [rng.normal(loc=[100, -3, 0], scale=[0.5, 2, 1e-3], size=(n, 3)) for n in (50, 7, 400)]
    own = Normaliser(3, 8.0, 1e9)
    for k, batch in enumerate(batches):
        noted(own, batch[: len(batch) // 2])
        noted(own, batch[len(batch) // 2 :])
        own.merge()
        seen = np.concatenate(batches[: k + 1])
        # float32 has 1e-5 of numbers of size 100, and the first batch is summed as it is
        np.testing.assert_allclose(own.mean, seen.mean(0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(own.var, seen.var(0), rtol=1e-2, atol=1e-4)
    y = noted(own, batches[0])
    expected = (batches[0].astype(np.float32) - own.mean) / np.sqrt(own.var + 1e-5)
    np.testing.assert_allclose(y, np.clip(expected, -8, 8), atol=1e-3)
    np.testing.assert_allclose(own(batches[0].astype(np.float32)), y, atol=1e-6)


def test_it_cuts_off_forgets_and_sees_what_is_not_finite() -> None:
    own = Normaliser(20, 2.0, 100.0)
    rng = np.random.default_rng(0)
    assert abs(noted(own, 5 * rng.normal(size=(300, 20)))).max() == 2
    own.merge()
    assert own.count == 100
    for _ in range(20):
        noted(own, rng.normal(loc=3, size=(100, 20)))
        own.merge()
    # nothing is left of the first batch; 100 samples have a mean to 0.1
    np.testing.assert_allclose(own.mean, 3, atol=0.5)
    for bad in (np.nan, np.inf):
        x = np.zeros((5, 20), np.float32)
        x[3, 17] = bad
        other = Normaliser(20, 2.0, 100.0)
        other.tape(x, np.empty_like(x))()
        assert not other.note(5)


def test_a_mirror_makes_it_symmetric() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(loc=[1, 2, 3], scale=[1, 2, 3], size=(500, 3)).astype(np.float32)
    permutation, signs = np.array([1, 0, 2]), np.array([1.0, 1, -1])
    both = np.concatenate([rows, rows[:, permutation] * signs])
    own = Normaliser(3, 8.0, 1e9)
    noted(own, rows)
    own.merge((permutation, signs))
    np.testing.assert_allclose(own.mean, both.mean(0), atol=1e-5)
    np.testing.assert_allclose(own.var, both.var(0), rtol=1e-4)


def test_advantages_against_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=(2, 12, 5))
    last, alive = rng.normal(size=5), (rng.uniform(size=(12, 5)) > 0.2).astype(float)
    found = advantages(rewards, values, last, alive, discount=0.9, gae=0.8)
    for robot in range(5):
        for t in range(12):
            total, weight = 0.0, 1.0
            for k in range(t, 12):
                after = last[robot] if k == 11 else values[k + 1, robot]
                total += weight * (rewards[k, robot] + 0.9 * alive[k, robot] * after - values[k, robot])
                if not alive[k, robot]:
                    break
                weight *= 0.9 * 0.8
            assert found[t, robot] == pytest.approx(total, abs=1e-12)


def test_scaled_returns_have_size_one() -> None:
    own = ReturnScale(200, 0.95)
    rng = np.random.default_rng(0)
    size = []
    returns = np.zeros(200)
    for _ in range(1500):
        r = own(rng.normal(loc=30, scale=10, size=200), np.zeros(200, dtype=bool))
        returns = 0.95 * returns + r
        size.append(np.sqrt((returns**2).mean()))
    # the mean return is 30 / (1 - 0.95)
    assert np.mean(size[-100:]) == pytest.approx(1, rel=0.01)
    assert own(np.zeros(200), np.ones(200, dtype=bool)).sum() == 0 and (own.returns == 0).all()
