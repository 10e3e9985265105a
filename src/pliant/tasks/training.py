"""A training from start to end, with its results in a folder: policy, history, curves, report, film."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.checks import check
from pliant.errors import LearningError, PliantError
from pliant.files.writing import whole_file
from pliant.learn import Policy, Training, ppo
from pliant.learn.replaying import commands_of, replay
from pliant.signatures import explained
from pliant.tasks.task import Task, make, task

POLICIES = Path(__file__).parent / "policies"
"""Trained policies that come with Pliant, one for each task; README.md there has the commands that made them."""


@explained
@dataclass(frozen=True)
class Run:
    """A training and where its results are.

    Attributes:
        training: policy, history, times.
        folder: of the results; None if they were not kept.
    """

    task: Task
    training: Training
    folder: Path | None

    @property
    def policy(self) -> Policy:
        """The best policy."""
        return self.training.policy

    def report(self) -> dict[str, Any]:
        """What came out, in plain data."""
        training = self.training
        verdict = None if training.verdict is None else dict(training.verdict.report)
        return {
            "task": self.task.name, "success": training.success, "ended": training.ended,
            "seconds of training": training.seconds, "control steps": training.steps, "shares of time": training.shares,
            "judge": verdict, "environment": dict(training.policy.environment),
            "settings": dict(training.policy.settings),
        }  # fmt: skip


@explained
def train(
    name: str | Task,
    *,
    minutes: float | None = None,
    seed: int = 0,
    threads: int = 1,
    batch: int | None = None,
    weights: Mapping[str, float] | None = None,
    out: str | os.PathLike[str] | None = None,
    film: float = 0.0,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Run:
    """Train a policy for a task, and keep what comes out.

    Args:
        name: of the task, see `tasks`; or a `Task`.
        minutes: of training at most; by default as many as are enough for it.
        seed: of all random numbers.
        threads: for robots and updates.
        batch: how many robots.
        weights: of rewards, in place of those of the task.
        out: folder for policy, history, curves and report.
        film: length of a film of the policy [s]; 0 for none.
        options: of the environment.
        settings: of `pliant.learn.ppo`.
    """
    found = name if isinstance(name, Task) else task(name)
    folder = None if out is None else Path(out).expanduser()
    if folder is not None and folder.exists() and any(folder.iterdir()):
        problem = f"the folder {folder} is not empty"
        raise LearningError(problem, subject=str(folder), field="out", cure="name another, or remove what is there")
    env = make(found, batch=batch, seed=seed, threads=threads, **(options or {}))
    for reward, weight in (weights or {}).items():
        env.weights[reward] = weight
    judge = None if found.judge is None else found.judge(seed=1000 + seed, **(options or {}))
    limit = found.minutes if minutes is None else minutes
    made = ppo(env, minutes=limit, seed=seed, threads=threads, judge=judge, **{**found.settings, **settings})
    run = Run(found, made, folder)
    if folder is not None:
        _keep(run, env, film)
    return run


def _keep(run: Run, env: Any, film: float) -> None:
    """Write the results of a training into its folder."""
    folder = run.folder
    assert folder is not None
    folder.mkdir(parents=True, exist_ok=True)
    run.policy.save(folder / "policy.policy")
    run.training.history.save(folder / "history.jsonl")
    with whole_file(folder / "report.json") as beside:
        beside.write_text(json.dumps(run.report() | {"date": time.strftime("%Y-%m-%d")}, indent=1), encoding="utf-8")
    try:
        run.training.history.plot(path=folder / "curves.svg")
    except PliantError as error:  # matplotlib is an extra
        if "matplotlib" not in str(error):
            raise
    if film:
        log = replay(run.policy, env, commands=film_commands(env), seconds=film)
        log.to_video(folder / "film.mp4")


def film_commands(env: Any) -> list[float]:
    """Commands for a film: 0.6 of the largest of the first number of each, and zero."""
    given: dict[str, list[float]] = {}
    for name, command in env.plan.commands.items():
        if command.is_given:
            first, *rest = command.bounds
            given[name] = [first[1] * 0.6, *([0.0] * len(rest))]
    return commands_of(env, given)


@explained
def trained(name_or_path: str | os.PathLike[str]) -> Policy:
    """A policy from a file, or the one that comes with Pliant for a task."""
    text = os.fspath(name_or_path)
    path = Path(text).expanduser()
    if path.is_dir() and (path / "policy.policy").is_file():
        return Policy.load(path / "policy.policy")
    if path.is_file():
        return Policy.load(path)
    check("policy", text, "a file, a folder of a training, or a task", "/" not in text and "\\" not in text,
          error=LearningError)  # fmt: skip
    task(text)
    own = POLICIES / f"{text}.policy"
    if not own.is_file():
        have = ", ".join(sorted(p.stem for p in POLICIES.glob("*.policy"))) or "none"
        problem = f"no trained policy comes with Pliant for task {text!r}; there are: {have}"
        raise LearningError(problem, subject=text, field="policy", cure=f"train one: pliant train {text}")
    return Policy.load(own)
