"""What tells tasks apart: the code of terms, commands and events shows in the digest, and what is no code does not."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_tasks import balance

from pliant.environment import Action, Curriculum, Event, Observation, Reward, Target, Termination
from pliant.environment.fingerprints import source_of
from pliant.errors import LearningError
from pliant.learn import ppo, resume
from pliant.math import cos, maximum, select

FACTOR = 2.0


def code(**options: Any) -> dict[str, str]:
    """Fingerprints of the parts of a task."""
    return balance(2, **options).describe()["code"]


def upright(now: Any) -> Any:
    """How upright the pole is."""
    return FACTOR * cos(now.q[1])


def renamed(state: Any) -> Any:
    # the same formula in other words
    lean = state.q[1]
    return cos(lean) * 2.0


def other(now: Any) -> Any:
    return FACTOR * cos(now.q[1]) - 0.1


def test_formulas_count_and_names_do_not() -> None:
    one, same, another = (code(rewards={"up": Reward(f)}) for f in (upright, renamed, other))
    assert one == same
    assert {name for name in one if one[name] != another[name]} == {"reward up"}


def test_a_term_has_the_same_fingerprint_beside_others() -> None:
    alone = code(rewards={"up": Reward(upright)})
    beside = code(rewards={"other": Reward(other), "up": Reward(upright)})
    assert beside["reward up"] == alone["reward up"]


def test_constants_that_a_term_refers_to(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [balance(2, rewards={"up": Reward(upright, compiled=c)}) for c in (True, False)]
    digests = [env.digest for env in before]
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 2.5)
    after = [balance(2, rewards={"up": Reward(upright, compiled=c)}) for c in (True, False)]
    assert all(env.digest != digest for env, digest in zip(after, digests, strict=True))
    assert [env.digest for env in before] == digests  # a task keeps the name that it was compiled with


class Late(Curriculum):
    def __init__(self, step: float):
        self.step = step

    def next(self, now: Any, chance: Any) -> Any:
        return maximum(now.level, 0) + self.step

    def describe(self) -> dict[str, Any]:
        return {}


class Near(Target):
    def draw(self, chance: Any, level: Any) -> list[Any]:
        return [x / 2 for x in super().draw(chance, level)]

    def __repr__(self) -> str:
        return repr(Target(self.ranges))


def kicked(size: float) -> Callable[[Any, Any], dict[str, Any]]:
    def kick(now: Any, chance: Any) -> dict[str, Any]:
        return {"v": [now.v[0] + size * chance.uniform(-1, 1), now.v[1]]}

    return kick


def pushed(factor: float) -> Callable[[Any, Any], list[Any]]:
    return lambda action, now: [factor * action[0]]


def remembering(step: float) -> Callable[[Any, Any], Any]:
    return lambda now, memory: (memory[0], [memory[0] + step])


@pytest.mark.parametrize(
    ("label", "options", "others"),
    [
        ("action", {"action": Action(pushed(1.0), 1)}, {"action": Action(pushed(1.1), 1)}),
        ("command place", {"commands": {"place": Target(((0, 1),))}}, {"commands": {"place": Near(((0, 1),))}}),
        ("event kick", {"events": {"kick": Event(kicked(1.0))}}, {"events": {"kick": Event(kicked(2.0))}}),
        ("curriculum", {"curriculum": Late(0.1)}, {"curriculum": Late(0.2)}),
        ("termination far", {"terminations": {"far": Termination(lambda now: now.q[0] > 1)}},
         {"terminations": {"far": Termination(lambda now: now.q[0] >= 1)}}),
        ("observation actor.x", {"observations": {"x": Observation(lambda now: now.q[0])}},
         {"observations": {"x": Observation(lambda now: now.q[1])}}),
        ("reward late", {"rewards": {"late": Reward(remembering(1.0), memory=[0.0])}},
         {"rewards": {"late": Reward(remembering(2.0), memory=[0.0])}}),
    ],
)  # fmt: skip
def test_each_part_of_a_task_counts(label: str, options: dict[str, Any], others: dict[str, Any]) -> None:
    one, same, another = code(**options), code(**options), code(**others)
    assert one == same
    assert {name for name in one if one[name] != another.get(name)} == {label}
    described = [balance(2, **given).describe() for given in (options, others)]
    assert {name for name in described[0] if described[0][name] != described[1][name]} <= {"code", "commands"}
    assert balance(2, **options).digest == balance(3, **options).digest != balance(2, **others).digest


# ---- terms in NumPy


def helper(x: Any) -> Any:
    return 3 * x


def by_helper(now: Any) -> Any:
    return helper(now.q[0])


def scaled(factor: Any) -> Callable[[Any], Any]:
    def term(now: Any) -> Any:
        return factor * now.q[0]

    return term


class ByTable:
    """A term that is an object."""

    def __init__(self, table: Any):
        self.table = table

    def __call__(self, now: Any) -> Any:
        return np.interp(now.q[0], [0, 1], self.table)


def test_sources_of_terms_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert source_of(scaled(2)) == source_of(scaled(2)) != source_of(scaled(3))
    assert source_of(scaled(np.arange(3))) != source_of(scaled(np.arange(4)))
    assert source_of(ByTable([0, 1])) == source_of(ByTable([0, 1])) != source_of(ByTable([0, 2]))
    pair = [lambda now: now.q[0], lambda now: now.q[1]]  # two in one statement
    assert source_of(pair[0]) != source_of(pair[1])
    made: dict[str, Any] = {}
    exec("def f(now):\n    return now.q[0] + 1\ndef g(now):\n    return now.q[0] + 2", made)  # no source
    assert source_of(made["f"]) != source_of(made["g"])
    before = source_of(by_helper)
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda x: 4 * x)
    assert source_of(by_helper) != before
    assert source_of(np.sin) != source_of(np.cos)
    assert source_of(partial(helper, 1)) == source_of(partial(helper, 1)) != source_of(partial(helper, 2))


def test_fingerprints_are_those_of_another_process() -> None:
    lines = (
        "import test_fingerprints as t; print(t.code(rewards={'up': t.Reward(t.upright)}), t.source_of(t.by_helper))"
    )
    here = f"{code(rewards={'up': Reward(upright)})} {source_of(by_helper)}"
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    run = [sys.executable, "-c", f"import sys; sys.path[:0] = {folders}; {lines}"]
    found = subprocess.run(run, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == here


# ---- who asks for it


def test_two_terms_have_a_memory() -> None:
    own = {"slow": Reward(remembering(1.0), memory=[0.0]), "fast": Reward(remembering(2.0), memory=[0.0])}
    env = balance(2, rewards=own, observations={"age": Observation(remembering(3.0), memory=[0.0])}, timeout=10.0)
    env.reset(seed=0)
    for k in range(3):
        found = env.step(np.zeros((2, env.action_size)))
        assert np.allclose(env.terms["fast"], 2 * k) and np.allclose(env.terms["slow"], k)
        assert np.allclose(found.observations["actor"], 3 * (k + 1))


def test_a_checkpoint_of_another_reward_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "half.npz"
    settings: Any = {"hidden": (4,), "horizon": 4, "minibatches": 1, "minutes": None}

    def task(reward: Any, **more: Any) -> Any:
        return balance(8, rewards={"up": Reward(reward)}, **more)

    def changed(now: Any) -> Any:
        return other(now)

    changed.__module__, changed.__name__ = upright.__module__, upright.__name__  # an edited file
    ppo(task(upright), steps=64, checkpoint=path, **settings)
    assert resume(path, task(upright), minutes=None, steps=96).steps == 96
    with pytest.raises(LearningError, match=r"checkpoint of another task: the code of 'reward up' has changed"):
        resume(path, task(changed))
    with pytest.raises(LearningError, match=r"another task: timeout was 4\.0, here it is 3\.0"):
        resume(path, task(upright, timeout=3.0))

    def branching(now: Any) -> Any:
        return select(now.q[0] > 0, 1, 0)

    with pytest.raises(LearningError, match="another task: rewards 'more' is new"):
        resume(path, balance(8, rewards={"up": Reward(upright), "more": Reward(branching)}))
