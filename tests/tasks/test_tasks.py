"""Every task makes an environment, steps, and its judge judges."""

import dataclasses

import numpy as np
import pytest

from pliant import tasks
from pliant.errors import LearningError
from pliant.tasks import balancing, walkers

ALL = sorted(tasks.tasks())
SIBLINGS = {"biped": "biped-turning", "go2": "anymal-c", "quadruped": "quadruped-elastic"}
"""Tasks all of whose terms another has, which is run: compiling takes ten seconds a robot."""


@pytest.mark.parametrize("name", sorted(SIBLINGS))
def test_siblings_have_the_same_terms(name):
    own, other = (tasks.make(n, batch=4).describe() for n in (name, SIBLINGS[name]))
    for what in ("observations", "rewards", "terminations", "commands", "events"):
        assert own[what].keys() <= other[what].keys()


@pytest.mark.parametrize("name", [name for name in ALL if name not in SIBLINGS])
def test_a_task_runs_and_its_judge_judges(name):
    found = tasks.task(name)
    judge = found.judge(seed=1, robots=8, seconds=0.1)
    verdict = judge(lambda seen: np.zeros((len(seen), judge._env.action_size), np.float32))
    env = judge._env
    assert env.batch == 8 and env.sim.robot.nu >= 1
    assert isinstance(verdict.success, bool) and np.isfinite(verdict.score)
    assert all(np.isfinite(x).all() for x in env.look().values())
    assert found.minutes > 0 and found.batch >= 64 and found.what


def test_all_that_were_promised_are_there():
    promised = {
        "cartpole-balance", "cartpole-swingup", "reach", "anymal-c", "quadruped-rough", "quadruped-elastic", "biped",
        "biped-turning", "quadruped", "go2", "hopper",
    }  # fmt: skip
    assert promised <= set(ALL)


def test_an_arm_knows_what_is_within_its_reach():
    env = tasks.make("reach", batch=512, seed=4)
    env.reset(seed=4)
    target = env.command("target")
    from pliant.tasks.reaching import SHOULDER

    r = np.linalg.norm(target - np.array(SHOULDER), axis=1)
    # float32: a target of a metre has 1e-7 of rounding
    assert r.min() >= 0.4 - 1e-5 and r.max() <= 0.8 + 1e-5
    # the arm is 0.94 m long from its shoulder
    assert (r < 0.94).all() and len(np.unique(target[:, 0])) > 500


def test_balancing_is_learned_in_seconds():
    found = tasks.task("cartpole-balance")
    env = found.environment(batch=64, seed=0)
    from pliant.learn import ppo

    run = ppo(
        env, minutes=None, steps=400_000, seed=0, judge=found.judge(seed=1000, robots=64), judge_steps=49_152,
        **found.settings,
    )  # fmt: skip
    assert run.success, run.verdict
    assert run.verdict.report["arrived"] == 64


def test_a_cart_that_does_nothing_fails():
    judge = tasks.task("cartpole-balance").judge(seed=5, robots=16, seconds=4.0)
    verdict = judge(lambda seen: np.zeros((len(seen), 1), np.float32))
    assert not verdict.success and verdict.report["arrived"] == 0
    assert verdict.report["ended early"] == 16


def test_the_lean_of_a_pole_counts_from_the_vertical():
    env = balancing.environment(hangs=True, batch=3)
    env.reset(seed=0)
    angles = [np.pi, 2 * np.pi + 0.1, -0.2]
    env.sim.reset(q=np.array([[0.0, a] for a in angles]))
    # float32 of an angle of 6 has 5e-7 of rounding
    np.testing.assert_allclose(balancing.lean(env), [np.pi, 0.1, 0.2], atol=2e-6)


@pytest.mark.parametrize("stiffness", [None, 150.0])
def test_springs_are_in_series_with_hips_and_knees(stiffness):
    walker = walkers.elastic(stiffness)
    springs = list(walker.robot.flexibilities)
    assert len(springs) == (0 if stiffness is None else 8)
    assert all("roll" not in name for name in springs)
    assert walker.robot.nu == 12 and walker.springs == tuple(springs)


def test_unknown_tasks_and_options_say_so():
    with pytest.raises(LearningError, match="cartpole-balance"):
        tasks.task("cartpole-balanc")
    with pytest.raises(LearningError, match="terrain"):
        tasks.make("quadruped-rough", batch=4, ground=object())


def test_tasks_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        tasks.task("reach").name = "other"
