"""Proximal policy optimisation on a cart: it learns, and the same bits come out on every way."""

import numpy as np
import pytest

from pliant.errors import LearningError
from pliant.files.arrays import read_arrays, write_arrays
from pliant.learn import PpoSettings, Training, Verdict, ppo, resume
from pliant.learn.checkpoints import _KIND as KIND
from pliant.learn.ppo import Ppo
from pliant.learn.stopwatch import Stopwatch
from toy_tasks import Cart, cart_judge

ROUND = 64 * 24
"""Control periods of an update."""


def short(env: Cart | None = None, rounds: int = 4, **options) -> Training:
    return ppo(env or Cart(), minutes=None, steps=rounds * ROUND, **options)


def same(a: Training, b: Training) -> bool:
    pairs = zip(a.last.layers, b.last.layers, strict=True)
    equal = all(np.array_equal(x, y) for one, other in pairs for x, y in zip(one, other, strict=True))
    return equal and np.array_equal(a.last.std, b.last.std) and np.array_equal(a.last.mean, b.last.mean)


@pytest.mark.parametrize("options", [{}, {"symmetry": True}, {"normalise_returns": True, "activation": "elu"}],
                         ids=["plain", "symmetry", "returns"])  # fmt: skip
def test_it_learns_until_success_holds(options: dict) -> None:
    training = ppo(Cart(), minutes=None, steps=300_000, judge=cart_judge(), judge_steps=10 * ROUND, **options)
    assert training.ended == "success" and training.success
    assert training.verdict is not None and training.verdict.report["error"] < 0.1
    assert set(training.shares) == {"environment", "policy", "update"}
    assert sum(training.shares.values()) == pytest.approx(1)
    last = [row["judge/success"] for row in training.history if "judge/success" in row][-2:]
    assert last == [True, True]
    # the best one was kept
    best = max(row["judge/score"] for row in training.history if row.get("judge/success"))
    assert training.verdict.score == best


@pytest.mark.parametrize("options", [{}, {"symmetry": True, "normalise_returns": True}], ids=["plain", "options"])
def test_the_same_bits_on_threads_and_with_a_judge(options: dict) -> None:
    env = {"batch": 160}
    alone = ppo(Cart(**env), minutes=None, steps=3 * 160 * 24, **options)
    assert same(alone, ppo(Cart(**env), minutes=None, steps=3 * 160 * 24, threads=2, **options))
    judged = ppo(Cart(**env), minutes=None, steps=3 * 160 * 24, judge=cart_judge(), judge_steps=1, hold=9, **options)
    assert same(alone, judged)
    assert not same(alone, ppo(Cart(**env), minutes=None, steps=3 * 160 * 24, seed=1, **options))


OPTIONS = {"symmetry": True, "normalise_returns": True, "averaging": 2}


@pytest.mark.parametrize("options", [{}, OPTIONS], ids=["plain", "options"])
def test_a_checkpoint_continues_to_the_same_bits(tmp_path, options: dict) -> None:
    whole = short(rounds=5, **options)
    path = tmp_path / "cart.checkpoint"
    judge = {"judge": cart_judge(), "judge_steps": ROUND, "hold": 9}
    short(rounds=2, checkpoint=path, **judge, **options)
    continued = resume(path, Cart(seed=5), minutes=None, steps=5 * ROUND, **judge)
    assert same(whole, continued)
    assert [row["iteration"] for row in continued.history] == [1, 2, 3, 4, 5]
    assert [row["kl"] for row in continued.history] == [row["kl"] for row in whole.history]
    assert all("judge/score" in row for row in continued.history)


def test_the_policy_is_averaged_over_updates() -> None:
    settings = PpoSettings(hidden=(8,), averaging=10, seed=1)
    plain, averaged = (Ppo(Cart(), s, Stopwatch("wall")) for s in (settings.with_options(averaging=0), settings))
    found = []
    for _ in range(4):
        plain.iterate()
        averaged.iterate()
        found.append([x for layer in plain.policy().layers for x in layer])
    # the robots act and learn as before; what is kept is the mean of the weights so far, in float32
    assert np.array_equal(plain.model.parameters, averaged.model.parameters)
    own = [x for layer in averaged.policy().layers for x in layer]
    for k, x in enumerate(own):
        assert np.allclose(x, np.mean([weights[k] for weights in found], axis=0), rtol=0, atol=1e-6)
        assert not np.array_equal(x, found[-1][k])


def test_checkpoints_of_another_task_and_damaged_ones(tmp_path) -> None:
    path = tmp_path / "cart.checkpoint"
    short(rounds=1, checkpoint=path)
    with pytest.raises(LearningError, match="another task") as caught:
        resume(path, Cart(length=50))
    assert caught.value.field == "digest"
    with pytest.raises(LearningError, match="64 robots"):
        resume(path, Cart(32))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(LearningError) as caught:
        resume(path, Cart())
    assert caught.value.field == "path"
    broken = bytearray(content)
    broken[len(content) // 3] ^= 0xFF
    path.write_bytes(bytes(broken))
    with pytest.raises(LearningError):
        resume(path, Cart())
    with pytest.raises(LearningError, match="does not exist"):
        resume(tmp_path / "none", Cart())


@pytest.mark.parametrize("name", ["learner/generator", "learner/rollout/environment/generator"])
def test_a_checkpoint_whose_numbers_are_too_large_for_a_generator(name: str, tmp_path) -> None:
    """NumPy raises an OverflowError (found by `bench.fuzz`)."""
    path = tmp_path / "cart.checkpoint"
    short(rounds=1, checkpoint=path)
    about, arrays = read_arrays(path, KIND)
    write_arrays(path, KIND, about, arrays | {name: np.full_like(arrays[name], 2**64 - 1)})
    with pytest.raises(LearningError, match="is damaged") as caught:
        resume(path, Cart())
    assert caught.value.field == "path"


def test_limits_and_callbacks() -> None:
    seen = []

    def stop(report) -> bool:
        seen.append(report.row["iteration"])
        assert report.policy().action_size == 1 and report.env.batch == 64
        return len(seen) == 3

    assert short(rounds=9, callback=stop).ended == "callback" and seen == [1, 2, 3]
    assert ppo(Cart(), minutes=1e-9).ended == "minutes"
    assert short(rounds=1, clock="processor").seconds > 0


def test_a_critic_that_sees_what_the_actor_does() -> None:
    training = short(Cart(critic=False), rounds=1)
    assert training.policy.observation_names == ("place", "speed")
    assert training.verdict is None and not training.success


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"hiden": (8,)}, "option"),
        ({"hidden": (0,)}, "hidden"),
        ({"hidden": "big"}, "hidden"),
        ({"discount": 1.5}, "discount"),
        ({"epochs": 0}, "epochs"),
        ({"averaging": -1}, "averaging"),
        ({"rate_range": (1e-2, 1e-3)}, "rate_range"),
        ({"activation": "swish"}, "activation"),
        ({"symmetry": 1}, "symmetry"),
        ({"threads": 0}, "threads"),
        ({"clock": "sun"}, "clock"),
        ({"hold": 0}, "hold"),
        ({"minutes": -1}, "minutes"),
        ({"judge": 3}, "judge"),
        ({"minutes": None}, "minutes"),
        ({"settings": PpoSettings(), "gamma": 0.9}, "option"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else None,
)
def test_mistakes(options: dict, field: str) -> None:
    with pytest.raises(LearningError) as caught:
        ppo(Cart(), **({"steps": None} | options))
    assert caught.value.field == field
    assert caught.value.cure


def test_symmetry_needs_a_mirror_that_is_one() -> None:
    with pytest.raises(LearningError, match="no mirror"):
        short(Cart(mirror=False), symmetry=True)
    env = Cart()
    env.mirror = env.mirror._replace(actions=((0,), (2,)))
    with pytest.raises(LearningError, match="own inverse"):
        short(env, symmetry=True)


def test_a_judge_that_answers_something_else() -> None:
    with pytest.raises(LearningError) as caught:
        short(judge=lambda policy: None, judge_steps=1)
    assert caught.value.subject == "judge"


def test_scores_and_reports_that_are_not_finite(tmp_path) -> None:
    """A judge may have nothing to measure; checkpoints hold that, and any number is better."""
    given = iter([Verdict(False, np.nan, {"speed": [np.nan, 1.0]}), Verdict(False, -5.0), Verdict(False, -np.inf)])
    path = tmp_path / "cart.checkpoint"
    short(rounds=1, judge=lambda policy: next(given), judge_steps=1, checkpoint=path)
    training = resume(path, Cart(), minutes=None, steps=3 * ROUND, judge=lambda policy: next(given), judge_steps=1)
    assert training.verdict is not None and training.verdict.score == -5


def test_too_few_samples() -> None:
    with pytest.raises(LearningError) as caught:
        ppo(Cart(1), horizon=3, minibatches=4)
    assert caught.value.field == "minibatches"
