"""Trainings by one call: `ppo`, and `resume` to continue one."""

import dataclasses
import os
from typing import Any

from pliant.checks import check, check_known, is_whole
from pliant.errors import LearningError
from pliant.learn.interface import Environment
from pliant.learn.ppo import Ppo
from pliant.learn.settings import PpoSettings, Settings
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.training import Checkpoint, Limits, Training, train

_KINDS: dict[str, tuple[type[Settings], Any]] = {"ppo": (PpoSettings, Ppo)}
_LIMITS = [field.name for field in dataclasses.fields(Limits)]


def ppo(
    env: Environment,
    *,
    hidden: tuple[int, ...] = (32, 32),
    minutes: float | None = 2.0,
    steps: int | None = None,
    seed: int = 0,
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
        hidden: layers of actor and critic; (64, 64) for larger tasks.
        minutes, steps: limits of the training; None for no limit.
        seed: of all random numbers.
        judge: asked now and then whether a policy does what is wanted; see `Limits`.
        threads: that share an update. The environment has its own.
        clock: by which time is measured, "wall" or "processor".
        settings: a `PpoSettings` to start from, in place of the default.
        options: any others of `PpoSettings` and `Limits`.
    """
    options |= {"hidden": hidden, "seed": seed} if settings is None else {}
    limits = Limits(**{"minutes": minutes, "steps": steps, "judge": judge} | _taken(options, _LIMITS))
    made = (settings or PpoSettings()).with_options(**options)
    return train(_learner("ppo", env, made, clock, threads), limits)


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
    limits = Limits(**{"checkpoint": path} | options)
    found = Checkpoint.read(path, env)
    check_known("learner", found.about.get("learner"), _KINDS, found.path, error=LearningError)
    kind = found.about["learner"]
    made = _KINDS[kind][0].from_plain(found.about.get("settings"))
    learner = _learner(kind, env, made, clock, threads)
    return train(learner, limits, found.restore(learner))


def _learner(kind: str, env: Environment, settings: Settings, clock: str, threads: int) -> Any:
    is_right = is_whole(threads) and threads > 0
    check("threads", threads, "a whole number above 0", is_right, subject=kind, error=LearningError)
    return _KINDS[kind][1](env, settings, Stopwatch(clock), threads)


def _taken(options: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: options.pop(name) for name in names if name in options}
