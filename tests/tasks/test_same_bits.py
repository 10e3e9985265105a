"""Training on a real task has the same bits on any number of threads, and from a checkpoint."""

from pathlib import Path

import numpy as np
import pytest

from pliant import learn, tasks
from pliant.errors import PliantError

OPTIONS = {"minutes": None, "horizon": 8, "show": False}
STEPS = 64 * 8 * 4


def trained(threads: int = 1, **options: object) -> learn.Training:
    env = tasks.make("cartpole-balance", batch=64, threads=threads)
    return learn.ppo(env, seed=5, threads=threads, **{"steps": STEPS, **OPTIONS, **options})


def assert_same(a: learn.Policy, b: learn.Policy) -> None:
    for (v, x), (w, y) in zip(a.layers, b.layers, strict=True):
        assert np.array_equal(v, w)
        assert np.array_equal(x, y)
    assert np.array_equal(a.mean, b.mean)


def test_threads_do_not_matter() -> None:
    assert_same(trained().policy, trained(threads=2).policy)


def test_a_checkpoint_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "half.checkpoint"
    trained(steps=STEPS // 2, checkpoint=path)
    resumed = learn.resume(path, tasks.make("cartpole-balance", batch=64), steps=STEPS, minutes=None, show=False)
    assert_same(resumed.policy, trained().policy)


def test_a_checkpoint_of_another_task_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "half.checkpoint"
    trained(steps=STEPS // 2, checkpoint=path)
    with pytest.raises(PliantError, match="task"):
        learn.resume(path, tasks.make("cartpole-swingup", batch=64), steps=STEPS, minutes=None)
