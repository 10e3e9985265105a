"""From a value to what a policy sees: noise, clip, scale, delay and history, against plain Python."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from scipy import stats
from small_tasks import balance

import pliant
from pliant.environment import Environment, Exponential, LogUniform, Normal, Observation, Uniform, rewards

BATCH = 6


def fast(now: Any) -> list[Any]:
    """Two numbers that change in every period."""
    return [now.v[0], now.q[0]]


def nothing(now: Any) -> Any:
    return 0 * now.q[0]


def played(env: Any, steps: int, seed: int = 1) -> tuple[list, list, list]:
    """Observations at the start and after each step, those before restarts, and who began again."""
    rng = np.random.default_rng(0)
    seen, final, ended = [env.reset(seed=seed)["actor"]], [], []
    for _ in range(steps):
        x = env.step(rng.uniform(-1, 1, (env.batch, 1)))
        seen.append(x.observations["actor"])
        final.append(x.final["actor"])
        ended.append(x.terminated | x.truncated)
    return seen, final, ended


class Line:
    """What a policy sees of numbers that come ``delay`` periods late, ``history`` of them, the oldest first."""

    def __init__(self, delay: int, history: int, first: np.ndarray):
        self.values = deque([first] * (delay + 1), maxlen=delay + 1)
        self.shown = deque([first] * history, maxlen=history)

    def next(self, value: np.ndarray) -> np.ndarray:
        self.values.append(value)
        self.shown.append(self.values[0])
        return self.now

    @property
    def now(self) -> np.ndarray:
        return np.concatenate(list(self.shown))


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "numpy"])
def test_delays_and_histories_are_those_of_a_queue(compiled: bool) -> None:
    cases = {"a": (1, 1), "b": (3, 1), "c": (0, 4), "d": (2, 3)}
    late = {
        name: Observation(fast, delay=delay, history=history, scale=2.0, clip=0.7, compiled=compiled)
        for name, (delay, history) in cases.items()
    }
    env = balance(BATCH, observations={"plain": fast, **late}, precision="float64", timeout=0.5)
    assert env.observation_sizes == {"actor": 2 + 2 * 9} == {"actor": len(env.observation_names["actor"])}
    seen, final, ended = played(env, 60)
    assert 6 < np.sum(ended) < 60

    def shown(x: np.ndarray) -> np.ndarray:
        return 2 * np.clip(x[:2], -0.7, 0.7)

    def lines_from(x: np.ndarray) -> list[Line]:
        return [Line(delay, history, shown(x)) for delay, history in cases.values()]

    lines = [lines_from(x) for x in seen[0]]
    for k in range(BATCH):
        assert np.array_equal(seen[0][k, 2:], np.concatenate([line.now for line in lines[k]]))
    for after, before, over in zip(seen[1:], final, ended, strict=True):
        for k in range(BATCH):
            expected = np.concatenate([line.next(shown(before[k])) for line in lines[k]])
            assert np.array_equal(before[k, 2:], expected)
            if over[k]:  # all that was before the start is the start
                lines[k] = lines_from(after[k])
            assert np.array_equal(after[k, 2:], np.concatenate([line.now for line in lines[k]]))


def test_each_episode_draws_its_delay() -> None:
    late = Observation(fast, delay=(1, 4))
    env = balance(400, observations={"plain": fast, "late": late}, precision="float64", timeout=0.3, terminations={})
    seen, final, _ = played(env, 28)
    found = []
    for first in (0, 15):  # two episodes of 15 periods
        line = np.stack([seen[first], *final[first : first + 13]])
        matches = np.stack([
            (line[5:, :, 2:] == line[5 - d : len(line) - d, :, :2]).all(axis=(0, 2)) for d in range(6)
        ])  # fmt: skip
        assert np.all(matches.sum(axis=0) == 1), "one delay explains all periods of an episode"
        found.append(matches.argmax(axis=0))
    for delays in found:
        counts = np.bincount(delays, minlength=6)
        assert counts[0] == counts[5] == 0
        # each of four is as likely: chi squared with three degrees of freedom
        assert stats.chisquare(counts[1:5]).pvalue > 1e-3
    assert 0.6 < np.mean(found[0] != found[1]) < 0.9  # three of four differ by chance


NOISES: dict[str, tuple[Any, Any]] = {
    "size": (0.3, stats.uniform(-0.3, 0.6)),
    "uniform": (Uniform(1.0, 3.0), stats.uniform(1, 2)),
    "normal": (Normal(-1.0, 0.2), stats.norm(-1, 0.2)),
    "log-uniform": (LogUniform(0.1, 10.0), stats.loguniform(0.1, 10)),
    "exponential": (Exponential(2.0), stats.expon(scale=2)),
}


@pytest.fixture(scope="module")
def noises() -> np.ndarray:
    """Noise of each kind, twice, (periods, robots, 2 kinds)."""
    terms = {f"{name}{k}": Observation(nothing, noise=noise) for name, (noise, _) in NOISES.items() for k in range(2)}
    return np.stack(played(balance(500, observations=terms), 9)[0])


@pytest.mark.parametrize("name", list(NOISES))
def test_noise_has_its_distribution(name: str, noises: np.ndarray) -> None:
    expected, k = NOISES[name][1], 2 * list(NOISES).index(name)
    values = noises[..., k : k + 2]
    # Kolmogorov and Smirnov, on all and on each period; seeds are fixed
    assert stats.kstest(values.ravel(), expected.cdf).pvalue > 1e-3
    assert min(stats.kstest(x.ravel(), expected.cdf).pvalue for x in values) > 1e-4
    # new numbers for each period, each robot and each term: correlations of some 4500 pairs
    a, b = values[..., 0], values[..., 1]
    for x, y in ((a, b), (a[1:], a[:-1]), (a[:, 1:], a[:, :-1])):
        assert abs(np.corrcoef(x.ravel(), y.ravel())[0, 1]) < 4 / np.sqrt(x.size)


def test_noise_comes_before_clip_and_scale() -> None:
    noisy = Observation(nothing, noise=1.0, clip=0.5, scale=10.0)
    values = np.stack(played(balance(200, observations={"a": noisy}), 5)[0])
    assert values.max() == 5 and values.min() == -5 and 0.4 < np.mean(np.abs(values) == 5) < 0.6


def test_groups_have_noise_of_their_own() -> None:
    noisy = Observation(nothing, noise=1.0)
    env = balance(4, observations={"actor": {"a": noisy}, "critic": {"a": noisy, "b": nothing}})
    seen = env.reset(seed=0)
    assert not np.any(seen["actor"][:, 0] == seen["critic"][:, 0]) and np.all(seen["critic"][:, 1] == 0)
    assert env.observation_names == {"actor": ["a"], "critic": ["a", "b"]}


def test_sensors_by_their_channel() -> None:
    robot = pliant.load("pendulum")
    robot = robot.with_sensor("imu", list(robot.bodies)[-1], name="imu", rate=100)
    sim = pliant.Simulation(robot, dt=0.01, batch=3)
    env = Environment(sim, observations={"gyro": Observation("imu.gyro", scale=2.0)}, rewards={"alive": rewards.alive})
    env.reset(seed=0)
    for _ in range(5):
        seen = env.step(np.ones((3, env.action_size))).observations["actor"]
        assert np.array_equal(seen, 2 * sim.sensors["imu.gyro"])
    assert np.any(seen != 0)
