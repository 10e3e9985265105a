"""The control period: the same bits however it is run, ends of episodes, restarts, metrics, and the state."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from small_tasks import JOINTS, balance

import pliant
from pliant.environment import (
    Clock,
    Controls,
    Environment,
    Event,
    JointTargets,
    Observation,
    Reward,
    Termination,
    Velocity,
    events,
    observations,
    rewards,
    terminations,
)
from pliant.math import maximum

MASS = "bodies.pole.mass"


def bold(now: Any, memory: Any) -> tuple[Any, list[Any]]:
    """A reward with a memory: the largest velocity so far."""
    most = maximum(memory[0], now.v[0] * now.v[0])
    return most, [most]


@cache
def busy(
    batch: int, *, kinds: str = "", threads: int = 1, seed: int = 0, precision: str = "float32", copy: int = 0
) -> Environment:
    """A task with one of everything.

    Args:
        kinds: which terms run in NumPy: "r"ewards, "t"erminations, "o"bservations.
        copy: environments are made once; another number is another one.
    """
    sim = pliant.Simulation(
        pliant.load("cart_pole"), dt=0.01, substeps=2, batch=batch, varying=[MASS], threads=threads, seed=seed,
        precision=precision,
    )  # fmt: skip
    seen = {
        "place": Observation(
            observations.coordinates, joints=JOINTS, noise=0.01, delay=(0, 2), compiled="o" not in kinds
        ),
        "speed": Observation(observations.rates, joints=JOINTS, history=2, scale=0.5),
        "command": Observation(observations.command, name="velocity"),
    }
    return Environment(
        sim,
        action=Controls(10.0, clip=1.0),
        observations={
            "actor": seen,
            "critic": {**seen, "mass": Observation(observations.parameter, path=MASS, compiled="o" not in kinds)},
        },
        rewards={
            "upright": Reward(rewards.upright_joint, joint="hinge", compiled="r" not in kinds),
            "effort": Reward(rewards.action_size, -0.05),
            "rate": Reward(rewards.action_rate, -0.01, compiled="r" not in kinds),
            "bold": Reward(bold, 0.1, memory=[0.0]),
        },
        terminations={
            "fell": Termination(terminations.joint_beyond, joint="hinge", most=0.3, compiled="t" not in kinds),
            "away": Termination(terminations.joint_beyond, joint="slider", most=0.15, timeout=True),
        },
        commands={"velocity": Velocity(interval=0.2), "gait": Clock(2.0)},
        events={
            "start": Event(events.start_state, joints=0.1, velocity=0.2),
            "mass": Event(events.randomise, path=MASS, to=(0.05, 0.2)),
            "push": Event(events.push, "interval", every=0.3, linear=0.2),
        },
        timeout=0.5,
        reward_scale=0.5,
        reward_floor=0.95,
    )


ACTIONS = np.random.default_rng(0).uniform(-1.5, 1.5, (50, 12, 1)).astype(np.float32)


def played(env: Environment, seed: int | None = 4, steps: int = 50, robots: slice = slice(None)) -> list[np.ndarray]:
    """All that steps return, and where the robots are in the end."""
    found = []
    if seed is not None:
        found += list(env.reset(seed=seed).values())
    for actions in ACTIONS[:steps]:
        x = env.step(actions[robots][: env.batch])
        found += [*x.observations.values(), x.rewards, x.terminated, x.truncated, *x.final.values()]
    return [*found, env.sim.data.copy(), env.sim.parameters.data.copy(), *env.terms.values()]


def are_same(a: list[np.ndarray], b: list[np.ndarray], rows: int | None = None) -> bool:
    return all(np.array_equal(x[:rows], y[:rows]) for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def reference() -> list[np.ndarray]:
    return played(busy(12))


# ---- the same bits


def test_episodes_end_in_all_ways(reference: list[np.ndarray]) -> None:
    """So that the comparisons below see restarts."""
    env = busy(12)
    env.reset(seed=4)
    for actions in ACTIONS:
        env.step(actions)
    found = env.metrics()
    assert found["end/fell"] > 0 and found["end/away"] > 0 and found["end/timeout"] > 0 and found["end/diverged"] == 0


@pytest.mark.parametrize("batch", [1, 5])
def test_other_batches_have_the_same_bits(batch: int, reference: list[np.ndarray]) -> None:
    assert are_same(played(busy(batch)), reference, batch)


def test_two_threads_have_the_same_bits(reference: list[np.ndarray]) -> None:
    assert are_same(played(busy(12, threads=2)), reference)


@pytest.mark.parametrize("kinds", ["o", "rt"])
def test_terms_in_numpy_mix_with_compiled_ones(kinds: str, reference: list[np.ndarray]) -> None:
    found = played(busy(12, kinds=kinds))
    for x, y in zip(found, reference, strict=True):
        # NumPy rounds the cosine and sums of squares of a reward by its own, in float32
        assert np.allclose(x, y, rtol=2e-6, atol=2e-6) if x.dtype.kind == "f" else np.array_equal(x, y)


def test_seeds_are_all_that_matters(reference: list[np.ndarray]) -> None:
    env = busy(12, copy=1)
    assert not are_same(played(env, seed=5), reference)
    assert are_same(played(env, seed=4), reference)
    first = busy(12, seed=4).reset()  # that of the simulation
    assert all(np.array_equal(x, y) for x, y in zip(first.values(), reference, strict=False))


def test_resets_without_a_seed_go_on() -> None:
    env, other = busy(12), busy(12, copy=1)
    first = env.reset(seed=1)["actor"]
    second = env.reset()["actor"]
    other.reset(seed=1)
    assert not np.array_equal(first, second) and np.array_equal(other.reset()["actor"], second)


def test_the_state_restores_all_of_it() -> None:
    env = busy(12)
    env.reset(seed=4)
    for actions in ACTIONS[:20]:
        env.step(actions)
    env.weights["effort"] = -0.2
    state = env.state
    expected = played(env, None, 25)
    metrics = env.metrics()
    other = busy(12, copy=1)
    other.state = state
    assert are_same(played(other, None, 25), expected)
    assert other.metrics() == metrics and other.weights["effort"] == -0.2
    for x in (env, other):
        x.weights["effort"] = -0.05


# ---- restarts of some robots


@pytest.mark.parametrize("kinds", ["", "rt"], ids=["compiled", "numpy"])
def test_restarts_leave_others_untouched_to_the_bit(kinds: str) -> None:
    env, same = busy(12, kinds=kinds), busy(12, kinds=kinds, copy=1)
    for x in (env, same):
        x.reset(seed=4)
        for actions in ACTIONS[:7]:
            x.step(actions)
    chosen = np.array([2, 3, 8])
    others = np.delete(np.arange(12), chosen)
    before = env.state
    seen = env.restart(chosen)
    after = env.state
    for name in ("state", "episode", "parameters", "outcome"):
        assert np.array_equal(after[name][others], before[name][others])
        assert not np.array_equal(after[name][chosen], before[name][chosen])
    assert np.array_equal(env.ages[chosen], [0, 0, 0]) and np.all(env.ages[others] > 0)
    assert not any(np.array_equal(seen["actor"][k], before["outcome"][k, : seen["actor"].shape[1]]) for k in chosen)
    # and later on
    for actions in ACTIONS[7:12]:
        x, y = env.step(actions), same.step(actions)
        assert np.array_equal(x.observations["critic"][others], y.observations["critic"][others])
        assert np.array_equal(x.rewards[others], y.rewards[others])


def test_ends_leave_others_untouched_to_the_bit(reference: list[np.ndarray]) -> None:
    """A robot alone, next to the same one among others that end: `test_other_batches...` for each of them."""
    env = busy(12)
    env.reset(seed=4)
    alone = busy(1)
    for k in (3, 7):
        alone.reset(seed=4)
        state = env.state
        alone.state = {name: x[k : k + 1] if x.ndim == 2 else x for name, x in state.items()}
        for actions in ACTIONS[:30]:
            x, y = env.step(actions), alone.step(actions[k : k + 1])
            assert np.array_equal(x.observations["critic"][k], y.observations["critic"][0])
            assert x.rewards[k] == y.rewards[0]
        env.state = state


@pytest.mark.parametrize("kinds", ["", "rt"], ids=["compiled", "numpy"])
def test_steps_of_some_robots_and_restarts_by_hand(kinds: str) -> None:
    """Ended robots that wait a while have the same episodes as those that begin at once."""
    env, taken, record = busy(12, kinds=kinds), np.zeros(12, dtype=int), []
    env.reset(seed=4)
    for actions in ACTIONS[:40]:
        x = env.step(actions)
        record.append((x.observations["critic"], x.final["critic"], x.rewards, x.terminated | x.truncated))
    env.reset(seed=4)
    rng = np.random.default_rng(1)
    for _ in range(60):
        go = (rng.random(12) < 0.6) & (taken < 40)
        before = env.state
        given = np.where(go[:, None], ACTIONS[np.minimum(taken, 39), np.arange(12)], np.nan)
        x = env.step(given, robots=go, restarts=False)
        for name in ("state", "episode", "parameters"):
            assert np.array_equal(env.state[name][~go], before[name][~go])
        assert not x.rewards[~go].any() and not (x.terminated | x.truncated)[~go].any()
        for k in np.flatnonzero(go):
            shown, final, earned, over = (part[k] for part in record[taken[k]])
            assert np.array_equal(x.observations["critic"][k], final) and x.rewards[k] == earned
            assert (x.terminated | x.truncated)[k] == over
            if over:
                assert np.array_equal(env.restart([k])["critic"][k], shown)
        taken[go] += 1
    assert taken.min() > 20


# ---- ends


def test_time_outs_and_ends() -> None:
    env = balance(4, timeout=0.2, terminations={}, precision="float64")
    env.reset(seed=0)
    assert env.timeout == 0.2 and env.plan.limit == 10
    for k in range(1, 31):
        x = env.step(np.zeros((4, 1)))
        assert x.truncated.all() == x.truncated.any() == (k % 10 == 0) and not x.terminated.any()
        assert np.array_equal(env.ages, [k % 10] * 4)
        same = np.array_equal(x.final["actor"], x.observations["actor"])
        assert same == (k % 10 != 0)


def test_the_last_observation_is_that_of_the_motion() -> None:
    """Next to a simulation that knows of no episodes."""
    env = balance(5, timeout=0.1, terminations={}, precision="float64")
    sim = pliant.Simulation(pliant.load("cart_pole"), dt=0.01, substeps=2, batch=5)
    env.reset(seed=0)
    sim.reset(q=env.sim.q, v=env.sim.v)
    for actions in ACTIONS[:5, :5]:
        x = env.step(actions)
        sim.step(10 * np.clip(actions.astype(float), -1, 1))
    assert x.truncated.all()
    assert np.array_equal(x.final["actor"], np.hstack([sim.q, 0.5 * np.clip(sim.v, -10, 10)]))
    assert np.array_equal(x.observations["actor"][:, :2], env.sim.q) and not np.array_equal(env.sim.q, sim.q)


def test_an_end_counts_before_a_time_out() -> None:
    always = Termination(lambda now: now.t >= 0.09)
    env = balance(2, timeout=0.1, terminations={"end": always})
    env.reset(seed=0)
    for _ in range(5):
        x = env.step(np.zeros((2, 1)))
    assert x.terminated.all() and not x.truncated.any()
    assert {k: v for k, v in env.metrics().items() if k.startswith("end/")} == {
        "end/end": 0.2, "end/diverged": 0.0, "end/timeout": 0.2,
    }  # fmt: skip


def test_conditions_may_be_numbers_and_cut_episodes_off() -> None:
    env = balance(2, terminations={
        "number": Termination(lambda now: now.q[0] - now.q[0]),
        "cut": Termination(lambda now: now.t >= 0.05, timeout=True),
    })  # fmt: skip
    env.reset(seed=0)
    ends = [env.step(np.zeros((2, 1))) for _ in range(3)]
    assert [x.truncated.all() for x in ends] == [False, False, True] and not any(x.terminated.any() for x in ends)


def test_diverged_robots_end_and_begin_anew() -> None:
    env = balance(3, precision="float64", terminations={})
    env.reset(seed=0)
    env.sim.data[1, env.sim.layout.span("v")] = 1e200
    x = env.step(np.zeros((3, 1)))
    assert np.array_equal(x.terminated, [False, True, False]) and env.metrics()["end/diverged"] == pytest.approx(1 / 3)
    assert np.isfinite(env.sim.q).all() and np.abs(env.sim.q[1, 0]) <= 0.1


def test_staggered_starts_end_at_different_times() -> None:
    env = balance(10, timeout=0.2, terminations={})
    env.reset(seed=0, stagger=True)
    assert np.array_equal(env.ages, np.arange(10))
    assert [int(env.step(np.zeros((10, 1))).truncated.sum()) for _ in range(10)] == [1] * 10


def test_ages_can_be_set() -> None:
    env = balance(3, timeout=0.2, terminations={})
    env.reset(seed=0)
    env.ages = [9, 0, 8]
    assert np.array_equal(env.step(np.zeros((3, 1))).truncated, [True, False, False])
    assert np.array_equal(env.ages, [0, 1, 9])


# ---- rewards and metrics


def test_rewards_are_the_weighted_sum_with_floor_and_scale() -> None:
    env = busy(12, precision="float64")
    env.reset(seed=4)
    floors, weights = 0, dict(env.weights)
    for actions in ACTIONS:
        x = env.step(actions)
        total = sum(env.terms.values())
        floors += int((total < 0.95).sum())
        assert np.allclose(x.rewards, 0.5 * np.maximum(total, 0.95), rtol=1e-12, atol=0)
    env.weights["upright"] = 0.0
    env.weights["bold"] = -3.0
    x = env.step(ACTIONS[0])
    assert not env.terms["upright"].any() and np.all(env.terms["bold"] < 0) and np.all(x.rewards == 0.475)
    assert 0 < floors < 600 and dict(env.weights)["bold"] == -3
    env.weights.update(weights)
    assert np.array_equal(env.weights.data, list(weights.values()))


def test_metrics_are_sums_by_hand() -> None:
    env = busy(12)
    env.reset(seed=4)
    env.metrics()
    terms = {name: 0.0 for name in env.terms}
    totals, ages, returns, lengths, over, cut = np.zeros(12), np.zeros(12), [], [], 0, 0
    for actions in ACTIONS:
        x = env.step(actions)
        for name, values in env.terms.items():
            terms[name] += values.sum(dtype=float)
        totals += x.rewards
        ages += 1
        ended = x.terminated | x.truncated
        over, cut = over + x.terminated.sum(), cut + x.truncated.sum()
        returns += totals[ended].tolist()
        lengths += ages[ended].tolist()
        totals[ended] = ages[ended] = 0
    found = env.metrics()
    assert found["episode/count"] == len(returns) == over + cut
    # tallies are float32, sums of some 50 numbers
    assert found["episode/return"] == pytest.approx(np.mean(returns), rel=1e-5)
    assert found["episode/length"] == pytest.approx(np.mean(lengths) * env.period, rel=1e-6)
    for name, total in terms.items():
        assert found[f"reward/{name}"] == pytest.approx(total / 600, rel=1e-5)
    assert found["end/fell"] == pytest.approx(over / 600)
    assert found["end/away"] + found["end/timeout"] >= cut / 600 - 1e-9
    # they begin anew
    empty = env.metrics()
    assert empty["episode/count"] == 0 and not any(empty.values())


def test_a_memory_lasts_for_an_episode() -> None:
    env = balance(12, precision="float64", rewards={"bold": Reward(bold, 0.1, memory=[0.0])}, timeout=0.4)
    env.reset(seed=4)
    most = np.zeros(12)
    for actions in ACTIONS:
        x = env.step(actions)
        most = np.maximum(most, (x.final["actor"][:, 2] / 0.5) ** 2)
        assert np.allclose(env.terms["bold"], 0.1 * most, rtol=1e-12, atol=1e-15)
        most[x.terminated | x.truncated] = 0


# ---- actions


def test_actions_are_bounded_and_scaled() -> None:
    env = balance(3, precision="float64", rewards={"size": rewards.action_size})
    env.reset(seed=0)
    x = env.step([[5.0], [-0.5], [1.0]])
    assert np.array_equal(x.rewards, [1.0, 0.25, 1.0])
    assert env.action_names == ["slider"] and env.action_size == 1


def test_targets_of_joints_are_about_the_stance() -> None:
    robot = pliant.load("cart_pole").with_motors(control="position", kp=400, kd=40)
    sim = pliant.Simulation(robot, dt=0.01, substeps=2, batch=2)
    env = Environment(
        sim, observations={"x": observations.joint_offsets}, rewards={"a": rewards.alive}, stance=[0.5, 0.0],
        action=JointTargets(0.2),
    )  # fmt: skip
    plain = Environment(sim, observations={"x": observations.height}, rewards={"a": rewards.alive})
    assert isinstance(plain.plan.action, JointTargets)  # the default for motors with position control
    env.reset(seed=0)
    for _ in range(100):
        x = env.step([[1.0], [-1.0]])
    assert np.allclose(x.observations["actor"].ravel(), [0.2, -0.2], atol=0.02)  # the pole swings
    assert np.allclose(env.sim.q[:, 0], [0.7, 0.3], atol=0.02)


# ---- what it is


def test_descriptions_are_json_and_tell_tasks_apart() -> None:
    env = busy(2)
    text = json.dumps(env.describe())
    assert all(name in text for name in ("upright", "velocity", "cart_pole", "joint_beyond", "bold"))
    assert env.digest == busy(5).digest and len(env.digest) == 16
    assert env.digest != balance(2).digest
    env.weights["bold"] = 2.0
    assert env.digest == busy(5).digest
    assert "Environment of 2 robots 'cart_pole'" in repr(env)
    assert env.observation_sizes == {"actor": 9, "critic": 10}
    assert env.observation_names["critic"][-1] == "mass" and env.observation_names["actor"][0] == "place[0]"
