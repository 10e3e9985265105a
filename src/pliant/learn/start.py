"""Trainings by one call: `ppo`, `evolve`, and `resume` to continue one."""

import dataclasses
import os
from typing import Any

from pliant.checks import check, check_known, is_whole
from pliant.errors import LearningError
from pliant.learn.checkpoints import Checkpoint
from pliant.learn.evolve import Evolve
from pliant.learn.interface import Environment
from pliant.learn.ppo import Ppo
from pliant.learn.settings import EvolveSettings, PpoSettings, Settings
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.training import Limits, Training, train
from pliant.signatures import explained

_KINDS: dict[str, tuple[type[Settings], Any]] = {
    "ppo": (PpoSettings, Ppo),
    "evolve": (EvolveSettings, Evolve),
}
_LIMITS = [field.name for field in dataclasses.fields(Limits)]


@explained
def ppo(
    env: Environment,
    *,
    hidden: tuple[int, ...] | None = None,
    minutes: float | None = 2.0,
    steps: int | None = None,
    seed: int | None = None,
    judge: Any = None,
    threads: int = 1,
    clock: str = "wall",
    settings: PpoSettings | None = None,
    **options: Any,
) -> Training:
    """Train a policy by proximal policy optimisation.

        training = pliant.learn.ppo(env, minutes=2, judge=judge)
        training.policy.save("walk.policy")

    For a seed the same bits come out, on any number of threads, with or without a judge, and from a checkpoint.

    Args:
        env: with as many robots as learn side by side; 512 are a good number.
        hidden: layers of actor and critic, (32, 32) by default; (64, 64) for larger tasks.
        minutes, steps: limits of the training; None for no limit.
        seed: of all random numbers (default 0).
        judge: asked now and then whether a policy does what is wanted; see `Limits`.
        threads: that share an update. The environment has its own.
        clock: by which time is measured, "wall" or "processor".
        settings: a `PpoSettings` to start from, in place of the default.
        options: any others of `PpoSettings` and `Limits`.
    """
    options |= {"minutes": minutes, "steps": steps, "judge": judge} | _given(hidden=hidden, seed=seed)
    return _train("ppo", env, settings or PpoSettings(), clock, threads, options)


@explained
def evolve(
    env: Environment,
    *,
    hidden: tuple[int, ...] | None = None,
    minutes: float | None = 2.0,
    steps: int | None = None,
    seed: int | None = None,
    judge: Any = None,
    threads: int = 1,
    clock: str = "wall",
    settings: EvolveSettings | None = None,
    **options: Any,
) -> Training:
    """Train a policy without gradients, by trying parameters over whole rollouts; see `pliant.learn.evolve`.

        training = pliant.learn.evolve(env, hidden=(16,), horizon=200)

    Args:
        env: with as many robots as try side by side, each with parameters of its own.
        hidden: layers of the policy; none by default, which is a linear one.
        settings: an `EvolveSettings` to start from, in place of the default.
        options: any others of `EvolveSettings` and `Limits`.
        minutes, steps, seed, judge, threads, clock: as for `ppo`.
    """
    options |= {"minutes": minutes, "steps": steps, "judge": judge} | _given(hidden=hidden, seed=seed)
    return _train("evolve", env, settings or EvolveSettings(), clock, threads, options)


@explained
def resume(
    path: str | os.PathLike[str], env: Environment, *, threads: int = 1, clock: str = "wall", **options: Any
) -> Training:
    """Continue a training from its checkpoint, with the settings that it had; same bits as without the break.

    Args:
        path: of the checkpoint; it is continued in the same file unless ``checkpoint`` names another.
        env: the same task, with as many robots.
        options: of `Limits`; ``minutes`` and ``steps`` count from the start of the training.
    """
    for name in options:
        check_known("option", name, _LIMITS, "resume", error=LearningError)
    own: dict[str, Any] = {"checkpoint": path, **options}
    limits = Limits(**own)
    found = Checkpoint.read(path, env)
    check_known("learner", found.about.get("learner"), _KINDS, found.path, error=LearningError)
    kind = found.about["learner"]
    made = _KINDS[kind][0].from_plain(found.about.get("settings"))
    learner = _learner(kind, env, made, clock, threads)
    return train(learner, limits, found.restore(learner))


def _given(**options: Any) -> dict[str, Any]:
    return {name: x for name, x in options.items() if x is not None}


def _train(
    kind: str, env: Environment, settings: Settings, clock: str, threads: int, options: dict[str, Any]
) -> Training:
    limits = Limits(**{name: options.pop(name) for name in _LIMITS if name in options})
    return train(_learner(kind, env, settings.with_options(**options), clock, threads), limits)


def _learner(kind: str, env: Environment, settings: Settings, clock: str, threads: int) -> Any:
    is_right = is_whole(threads) and threads > 0
    check("threads", threads, "a whole number above 0", is_right, subject=kind, error=LearningError)
    return _KINDS[kind][1](env, settings, Stopwatch(clock), threads)
