"""Commands: how often they are drawn, from what, and what users give in their place."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from small_tasks import balance

from pliant.environment import Clock, Command, Exponential, Normal, Target, Velocity, observations
from pliant.errors import PliantError, SimulationError

PERIOD = 0.02
SEEN = {"place": observations.joint_offsets}


def task(batch: int, timeout: float = 100.0, **commands: Command) -> Any:
    return balance(batch, observations=SEEN, commands=commands, terminations={}, timeout=timeout, precision="float64")


def path(env: Any, name: str, steps: int, seed: int = 2) -> np.ndarray:
    """The numbers of a command over time, (steps + 1, batch, n)."""
    env.reset(seed=seed)
    found = [env.command(name)]
    for _ in range(steps):
        env.step(np.zeros((env.batch, 1)))
        found.append(env.command(name))
    return np.stack(found)


def test_shares_ranges_and_backwards() -> None:
    velocity = Velocity((0.2, 1.0), (-0.4, 0.4), (-0.8, 0.0), shares=(0.9, 0.4, 0.5), backwards=0.3)
    env = task(4000, velocity=velocity)
    env.reset(seed=1)
    x = env.command("velocity")
    # shares of 4000 within four deviations of a binomial one
    for k, share in enumerate((0.9, 0.4, 0.5)):
        assert abs(np.mean(x[:, k] != 0) - share) < 4 * np.sqrt(share * (1 - share) / 4000)
    ahead = x[x[:, 0] != 0, 0]
    assert abs(np.mean(ahead < 0) - 0.3) < 4 * np.sqrt(0.21 / len(ahead))
    assert stats.kstest(np.abs(ahead), stats.uniform(0.2, 0.8).cdf).pvalue > 1e-3
    assert stats.kstest(x[x[:, 1] != 0, 1], stats.uniform(-0.4, 0.8).cdf).pvalue > 1e-3
    assert x[:, 2].max() == 0 and x[:, 2].min() > -0.8
    # the three are drawn one by one
    assert abs(np.corrcoef(x[:, 0] != 0, x[:, 1] != 0)[0, 1]) < 4 / np.sqrt(4000)


def test_without_backwards_the_range_says_it() -> None:
    env = task(1000, velocity=Velocity((-1.0, 3.0), shares=(1, 1, 1)))
    env.reset(seed=1)
    assert stats.kstest(env.command("velocity")[:, 0], stats.uniform(-1, 4).cdf).pvalue > 1e-3


def lengths(x: np.ndarray) -> np.ndarray:
    """Periods between changes of the first number, of all robots; those that are cut off at the ends are left out."""
    changed = np.any(np.diff(x, axis=0) != 0, axis=-1)
    return np.concatenate([np.diff(np.flatnonzero(changed[:, k])) for k in range(x.shape[1])])


def test_intervals_from_a_range() -> None:
    x = path(task(40, velocity=Velocity(shares=(1, 1, 1), interval=(0.1, 0.2))), "velocity", 150)
    found = lengths(x) * PERIOD
    assert len(found) > 500 and found.min() >= 0.1 - 1e-9 and found.max() <= 0.2 + PERIOD
    # a draw happens at the first period that ends after its time, half a period later on average
    assert found.mean() == pytest.approx(0.15 + PERIOD / 2, abs=4 * 0.03 / np.sqrt(len(found)))


def test_a_number_is_the_mean_of_exponential_intervals() -> None:
    x = path(task(200, velocity=Velocity(shares=(1, 1, 1), interval=0.4)), "velocity", 200)
    # draws of a Poisson process in 4 s, a little fewer by rounding each interval up to whole periods
    count = np.any(np.diff(x, axis=0) != 0, axis=-1).sum()
    expected = 200 * 4.0 / (0.4 + PERIOD / 2)
    assert abs(count - expected) < 4 * np.sqrt(expected)


def test_new_episodes_draw_anew_and_only_they() -> None:
    env = task(5, timeout=0.2, target=Target((Normal(0, 1), (2.0, 3.0), 7.0)))
    x = path(env, "target", 25)
    assert np.all(x[..., 2] == 7) and np.all((x[..., 1] > 2) & (x[..., 1] < 3))
    changes = np.any(np.diff(x, axis=0) != 0, axis=-1)
    assert np.array_equal(np.flatnonzero(changes.all(axis=1)), [9, 19]) and changes.sum() == 10
    env.restart([1, 3])
    assert np.array_equal(np.any(env.command("target") != x[-1], axis=1), [False, True, False, True, False])


def test_targets_at_intervals() -> None:
    x = path(task(30, target=Target(((0.0, 1.0),), interval=Exponential(0.1))), "target", 100)
    assert 200 < np.count_nonzero(np.diff(x[..., 0], axis=0)) < 900
    assert stats.kstest(x[-1].ravel(), "uniform").pvalue > 1e-3


def test_clocks_go_round() -> None:
    x = path(task(300, gait=Clock(3.0)), "gait", 60)[..., 0]
    assert stats.kstest(x[0], "uniform").pvalue > 1e-3 and np.all((x >= 0) & (x < 1))
    turned = (x[0] + 3.0 * PERIOD * np.arange(61)[:, None]) % 1
    apart = np.abs(x - turned)
    assert np.all(np.minimum(apart, 1 - apart) < 1e-12)  # sixty additions


def test_commands_that_users_give() -> None:
    env = task(4, timeout=0.4, velocity=Velocity(interval=(0.05, 0.06)))
    env.reset(seed=0)
    env.set_command("velocity", [0.5, 0.0, -0.1])
    for _ in range(19):
        env.step(np.zeros((4, 1)))
    assert np.array_equal(env.command("velocity"), np.tile([0.5, 0.0, -0.1], (4, 1)))
    env.step(np.zeros((4, 1)))  # the episode ends, and the command with it
    assert not np.any(np.all(env.command("velocity") == [0.5, 0.0, -0.1], axis=1))
    env.set_command("velocity", np.full((4, 3), 0.25), hold=False)
    for _ in range(4):
        env.step(np.zeros((4, 1)))
    assert not np.any(np.all(env.command("velocity") == 0.25, axis=1))


def test_a_command_of_your_own_sees_the_level() -> None:
    class Harder(Command):
        names = ("far",)

        def draw(self, chance: Any, level: Any) -> list[Any]:
            return [level + chance.uniform(0.0, 0.5)]

        def advanced(self, values: Any, period: float) -> list[Any]:
            return [values[0] + period]

    x = path(task(8, mine=Harder()), "mine", 3)[..., 0]
    assert np.all((x[0] >= 0) & (x[0] < 0.5)) and np.allclose(x[3] - x[0], 3 * PERIOD, rtol=0, atol=1e-14)


# ---- bad input


def test_unknown_commands_are_named() -> None:
    env = task(2, velocity=Velocity())
    env.reset(seed=0)
    for call in (lambda: env.command("speed"), lambda: env.set_command("speed", [0, 0, 0])):
        with pytest.raises(SimulationError, match=r"no command named 'speed'.*'velocity'"):
            call()
    for wrong in ([0.0, 0.0], np.zeros((3, 3)), [0.0, np.nan, 0.0]):
        with pytest.raises(PliantError, match=r"(?s)command velocity.*finite numbers, \(3,\) or \(2, 3\)"):
            env.set_command("velocity", wrong)


@pytest.mark.parametrize(("make", "text"), [
    (lambda: Velocity(ahead=(1.0, -1.0)), "high.*1 or more"),
    (lambda: Velocity(shares=(0.5, 0.5)), "shares.*three numbers from 0 to 1"),
    (lambda: Velocity(shares=(0.5, 0.5, 2.0)), "shares.*three numbers from 0 to 1"),
    (lambda: Velocity(backwards=1.5), "backwards.*from 0 to 1"),
    (lambda: Velocity(interval=-1.0), "mean.*above zero"),
    (lambda: Velocity(interval="often"), "interval.*a number, a range"),
    (lambda: Clock(0.0), "frequency.*above zero"),
    (lambda: Target(()), "ranges.*a range for each number"),
    (lambda: Target(("far",)), r"ranges\[0\].*a number, a range"),
    (lambda: balance(1, commands={"velocity": (0, 1)}), "commands.*a dict of Command by name"),
])  # fmt: skip
def test_bad_commands(make: Any, text: str) -> None:
    with pytest.raises(PliantError, match=text):
        make()
