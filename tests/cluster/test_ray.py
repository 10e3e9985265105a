"""Sweeps and rollouts on actors of Ray: what holds for processes holds for them."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import swept_trials as trials
from small_tasks import balance

import pliant
from pliant.cluster import DistributedEnvironment, Rollouts, sweep
from pliant.cluster.crew import Crew, Task
from pliant.cluster.messages import Call

# of its own sockets and processes, and of its future
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """A Ray of four processors, whatever this machine has, without network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray

            ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
        yield
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.shutdown()


def test_a_sweep_has_the_rows_that_processes_have(ray: None, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    plan = "..rhk."
    space = {"k": range(len(plan)), "folder": str(tmp_path / "notes"), "plan": plan}
    options = {"workers": 2, "limit": 2.0, "retries": 0}
    table = sweep(trials.fate, space, out=tmp_path / "ray", on="ray", **options)
    assert list(table["status"]) == ["done", "done", "raised", "timeout", "killed", "done"]
    assert "in fate" in table[3].traceback
    # what is there counts, whoever computed it
    noted = len(os.listdir(tmp_path / "notes"))
    assert sweep(trials.fate, space, out=tmp_path / "ray", on="processes", **options).same_as(table)
    assert len(os.listdir(tmp_path / "notes")) == noted


def test_rollouts_are_equal_to_local_ones_also_after_a_kill(ray: None) -> None:
    sim = pliant.Simulation(pliant.load("cart_pole"), dt=5e-3, batch=37)
    controls = np.random.default_rng(0).uniform(-5, 5, (37, 20, sim.plan.inputs))
    local = sim.rollout(None, controls)
    with Rollouts(sim, on="ray", workers=2, share=5) as rollouts:
        for k in range(2):
            found = rollouts.rollout(None, controls)
            assert np.array_equal(found.q, local.q) and found.state.identical(local.state)
            assert found.q.flags.writeable
            if not k:
                (answer,) = [a for _, a in rollouts._crew.answers([Task(0, Call(trials.process_id))])]
                os.kill(answer.value, signal.SIGKILL)
        assert rollouts.lost >= 1


def test_environments_are_equal_to_local_ones(ray: None) -> None:
    env = balance(20, timeout=0.3)
    with DistributedEnvironment(balance(20, timeout=0.3), on="ray", workers=2) as spread:
        assert np.array_equal(env.reset(seed=1)["actor"], spread.reset(seed=1)["actor"])
        for _ in range(20):
            a, b = (e.step(np.full((20, 1), 0.2, np.float32)) for e in (env, spread))
            assert np.array_equal(a.rewards, b.rewards)
            assert np.array_equal(a.observations["actor"], b.observations["actor"])
        assert env.metrics() == spread.metrics()


def test_more_workers_than_processors_would_wait_for_ever(ray: None) -> None:
    with pytest.raises(pliant.PliantError) as error:
        Crew("ray", 5)
    assert error.value.field == "workers"


def test_ray_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(pliant.PliantError) as error:
        Crew("ray", 1)
    assert error.value.field == "ray" and "pliant[cluster]" in str(error.value)
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(pliant.PliantError, match=r"pliant\[slurm\]"):
        sweep(trials.square, {"x": [1]}, out=tmp_path, on="slurm")
