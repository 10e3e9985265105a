"""Rollouts on workers are equal to local ones to the bit, whatever the shares and whoever ends."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from small_tasks import balance

import pliant
from pliant.cluster import DistributedEnvironment, Rollouts, episodes_of
from pliant.cluster.shares import shares_of
from pliant.learn import Policy

BATCH, PERIODS = 37, 20


def simulation() -> pliant.Simulation:
    robot = pliant.load("cart_pole").with_sensor("imu", "pole", gyro={"noise": 0.1, "bias": 0.2})
    return pliant.Simulation(robot, dt=5e-3, substeps=2, seed=5, batch=BATCH, varying=["gravity"])


@pytest.fixture(scope="module")
def sim() -> pliant.Simulation:
    found = simulation()
    found.parameters["gravity"] = np.linspace(-12, -8, BATCH)[:, None] * [0, 0, 1.0]
    return found


def inputs(sim: pliant.Simulation) -> dict:
    rng = np.random.default_rng(3)
    controls = rng.uniform(-5, 5, (BATCH, PERIODS, sim.plan.inputs))
    states = rng.uniform(-0.5, 0.5, (BATCH, sim.robot.nq)), np.zeros((BATCH, sim.robot.nv))
    return {"states": states, "controls": controls, "channels": list(sim.layout.sizes)}


def assert_equal(a: pliant.simulation.Rollout, b: pliant.simulation.Rollout) -> None:
    assert a.channels.keys() == b.channels.keys()
    for name, array in a.channels.items():
        assert np.array_equal(array, b[name]), name
    assert a.state.identical(b.state)


def test_shares_are_a_partition() -> None:
    for count in (1, 2, 7, 64, 100):
        for parts in (1, 2, 3, 9):
            for multiple in (1, 16):
                found = shares_of(count, parts, multiple)
                assert [k for a, b in found for k in range(a, b)] == list(range(count))
                assert len(found) <= parts and all(a % multiple == 0 for a, _ in found)


@pytest.mark.parametrize(("workers", "share"), [(1, None), (2, 5), (3, 16)])
def test_rollouts_are_equal_for_any_split(sim: pliant.Simulation, workers: int, share: int | None) -> None:
    local = sim.rollout(**inputs(sim))
    with Rollouts(sim, workers=workers, share=share) as rollouts:
        assert_equal(rollouts.rollout(**inputs(sim)), local)
        # one row of controls for all, the simulation's own states, arrays of the user
        common = np.full((PERIODS, sim.plan.inputs), 0.5)
        own = {"v": np.empty((BATCH, PERIODS, sim.robot.nv))}
        found = rollouts.rollout(None, common, channels=["v"], out=own)
        assert_equal(found, sim.rollout(None, common, channels=["v"]))
        assert found["v"] is own["v"]


def test_sensors_read_the_noise_of_the_number_of_a_robot(sim: pliant.Simulation) -> None:
    result = sim.rollout(periods=3)
    spread = result.state.data[:, sim.layout.span("chance")]
    assert len(np.unique(spread[:, 0])) == BATCH


def test_a_worker_that_is_killed_is_replaced_and_its_share_done_again(sim: pliant.Simulation) -> None:
    local = sim.rollout(**inputs(sim))
    with Rollouts(sim, workers=2, share=4) as rollouts:
        assert_equal(rollouts.rollout(**inputs(sim)), local)
        for member in rollouts._crew._members:
            os.kill(int(member.worker.name), signal.SIGKILL)
        assert_equal(rollouts.rollout(**inputs(sim)), local)
        assert rollouts.lost >= 2


def test_a_worker_that_is_stopped_does_not_hold_up_the_rest(sim: pliant.Simulation) -> None:
    local = sim.rollout(**inputs(sim))
    with Rollouts(sim, workers=2, share=4) as rollouts:
        rollouts.rollout(**inputs(sim))
        pid = int(rollouts._crew._members[0].worker.name)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert_equal(rollouts.rollout(**inputs(sim)), local)
        finally:
            os.kill(pid, signal.SIGCONT)


def policy(env: pliant.Environment) -> Policy:
    n = env.observation_sizes["actor"]
    rng = np.random.default_rng(1)
    layers = ((rng.normal(size=(1, n)).astype(np.float32), np.zeros(1, np.float32)),)
    names = tuple(env.observation_names["actor"]), tuple(env.action_names)
    return Policy(layers, "tanh", np.zeros(n), np.ones(n), 8.0, np.ones(1), *names)


def test_episodes_are_equal_for_any_split() -> None:
    env = balance(23, timeout=0.3)
    local = episodes_of(env, policy(env), periods=30, seed=7)
    assert local.truncated.any()
    with Rollouts(env, workers=2, share=6) as rollouts:
        found = rollouts.episodes(policy(env), periods=30, seed=7)
    for own, other in zip(local[:3], found[:3], strict=True):
        assert np.array_equal(own, other)
    assert np.array_equal(local.observations["actor"], found.observations["actor"])


def test_a_distributed_environment_has_the_bits_of_a_local_one_also_after_a_kill() -> None:
    env, other = balance(10, critic=True, timeout=0.4), balance(10, critic=True, timeout=0.4)
    rng = np.random.default_rng(0)
    with DistributedEnvironment(other, workers=3) as spread:
        assert np.array_equal(env.reset(seed=2)["critic"], spread.reset(seed=2)["critic"])
        for k in range(40):
            if k == 11:
                env.weights["effort"] = spread.weights["effort"] = -0.3
            if k == 20:
                os.kill(int(spread._crew._members[1].worker.name), signal.SIGKILL)
            actions = rng.uniform(-1, 1, (10, 1)).astype(np.float32)
            a, b = env.step(actions), spread.step(actions)
            assert np.array_equal(a.rewards, b.rewards) and np.array_equal(a.truncated, b.truncated)
            for group in ("actor", "critic"):
                assert np.array_equal(a.observations[group], b.observations[group])
                assert np.array_equal(a.final[group], b.final[group])
            if k % 15 == 9:
                assert env.metrics() == spread.metrics()
        assert spread.lost >= 1
        assert all(np.array_equal(x, spread.state[name]) for name, x in env.state.items())
        before = env.state
        spread.state = before
        a, b = env.step(actions), spread.step(actions)
        assert np.array_equal(a.rewards, b.rewards)


def test_what_cannot_be_asked_is_said(sim: pliant.Simulation) -> None:
    with Rollouts(sim, workers=1) as rollouts:
        with pytest.raises(pliant.SimulationError, match="environment"):
            rollouts.episodes(None, periods=3)
        with pytest.raises(pliant.SimulationError, match="controls"):
            rollouts.rollout()
    with pytest.raises(pliant.PliantError, match="closed"):
        rollouts.rollout(**inputs(sim))
    with pytest.raises(pliant.PliantError) as error:
        Rollouts(sim, on="threads")
    assert error.value.field == "on"


def test_a_kill_in_the_middle(sim: pliant.Simulation) -> None:
    controls = np.zeros((BATCH, 4000, sim.plan.inputs))
    local = sim.rollout(None, controls, channels=["q"])
    with Rollouts(sim, workers=2, share=3) as rollouts:
        rollouts.rollout(None, controls[:, :2])

        def kill() -> None:
            time.sleep(0.05)
            os.kill(int(rollouts._crew._members[0].worker.name), signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        found = rollouts.rollout(None, controls, channels=["q"])
        thread.join()
    assert_equal(found, local)


def test_one_of_several_compiles_and_the_others_wait(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.compiler import cache

    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "cache"))
    waited = []

    def other() -> None:
        with cache.turn("abc") as has_waited:
            waited.append(has_waited)

    with cache.turn("abc") as first:
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.2)
        assert not first and not waited
    thread.join(10)
    with cache.turn("abc") as last:
        assert waited == [True] and not last
