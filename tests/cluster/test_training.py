"""Trainings on workers have the bits of those in one process."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from small_tasks import balance

import pliant
from pliant.cluster import DistributedEnvironment
from pliant.cluster import evolve as evolve_on_workers
from pliant.learn import Policy, evolve, ppo, resume

OPTIONS = {"hidden": (4,), "horizon": 20, "minutes": None, "seed": 3, "show": False}
# 40 robots are three blocks of observations, the last one half full
BATCH = 40
PERIODS = 3 * 20 * BATCH


def same(a: Policy, b: Policy) -> bool:
    pairs = [(x, y) for p, q in zip(a.layers, b.layers, strict=True) for x, y in zip(p, q, strict=True)]
    return all(np.array_equal(x, y) for x, y in [*pairs, (a.mean, b.mean), (a.scale, b.scale)])


def without_times(history) -> list[dict]:
    return [{name: x for name, x in row.items() if name not in ("seconds",) and "time/" not in name} for row in history]


def test_evolution_is_equal_for_one_and_more_workers_with_kills_and_breaks(tmp_path: Path) -> None:
    local = evolve(balance(BATCH, timeout=0.3), steps=PERIODS, **OPTIONS)
    killed = []

    def kill(report) -> None:
        if not killed:
            killed.append(report)
            members = report.policy.__self__._crew._members
            os.kill(int(members[1].worker.name), signal.SIGKILL)

    path = tmp_path / "evolve.npz"
    env = balance(BATCH, timeout=0.3)
    first = evolve_on_workers(env, workers=3, steps=PERIODS * 2 // 3, callback=kill, checkpoint=path, **OPTIONS)
    assert killed and first.steps == PERIODS * 2 // 3
    # continued here by other workers, and there by one process
    copy = tmp_path / "copy.npz"
    copy.write_bytes(path.read_bytes())
    limits = {"minutes": None, "steps": PERIODS, "show": False}
    spread = evolve_on_workers(balance(BATCH, timeout=0.3), workers=1, resume=path, **limits)
    alone = resume(copy, balance(BATCH, timeout=0.3), **limits)
    for other in (spread, alone):
        assert same(local.policy, other.policy)
        assert without_times(local.history) == without_times(other.history)


def test_ppo_is_equal_with_its_robots_on_workers(tmp_path: Path) -> None:
    options = {"hidden": (8,), "horizon": 8, "minibatches": 2, "minutes": None, "show": False}
    steps = 3 * 8 * 12
    local = ppo(balance(12, timeout=0.3), steps=steps, **options)
    path = tmp_path / "ppo.npz"
    with DistributedEnvironment(balance(12, timeout=0.3), workers=2) as env:
        found = ppo(env, steps=steps * 2 // 3, checkpoint=path, **options)
        assert found.steps == steps * 2 // 3
    # the rest in one process
    found = resume(path, balance(12, timeout=0.3), minutes=None, steps=steps, show=False)
    assert same(local.policy, found.policy)
    assert without_times(local.history) == without_times(found.history)


def test_bad_options_are_named() -> None:
    with pytest.raises(pliant.PliantError) as error:
        evolve_on_workers(balance(BATCH), workers=1, horizonn=3, steps=10)
    assert "horizon" in error.value.cure
    with pytest.raises(pliant.PliantError) as error:
        DistributedEnvironment("quadruped")  # type: ignore[arg-type]
    assert error.value.field == "env"
