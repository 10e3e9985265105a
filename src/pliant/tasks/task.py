"""Tasks that are ready: an environment, a judge, and settings of the learner that solve it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pliant.checks import check_known
from pliant.environment import Environment
from pliant.errors import LearningError
from pliant.signatures import explained


@explained
@dataclass(frozen=True)
class Task:
    """A task by name.

    Attributes:
        name: as in `pliant train NAME`.
        what: in a line.
        environment: ``environment(batch=, seed=, threads=, **options)`` -> `Environment`.
        judge: ``judge(seed=, **options)`` -> a judge for `pliant.learn.ppo`; None if the reward is all.
        batch: robots that learn side by side.
        settings: of the learner, where they are not its defaults.
        minutes: that are enough, with some to spare.
    """

    name: str
    what: str
    environment: Callable[..., Environment]
    judge: Callable[..., Any] | None = None
    batch: int = 512
    settings: Mapping[str, Any] = field(default_factory=dict)
    minutes: float = 2.0


_TASKS: dict[str, Task] = {}


@explained
def register(task: Task) -> Task:
    """Add a task, or replace the one of that name."""
    _TASKS[task.name] = task
    return task


def tasks() -> dict[str, Task]:
    """All tasks by name."""
    return dict(_TASKS)


@explained
def task(name: str) -> Task:
    """A task by name."""
    check_known("task", name, _TASKS, "pliant.tasks", error=LearningError)
    return _TASKS[name]


@explained
def make(name: str, *, batch: int | None = None, seed: int = 0, threads: int = 1, **options: Any) -> Environment:
    """The environment of a task.

    Args:
        name: of the task.
        batch: how many robots; by default as many as learn well side by side.
        seed: of all that is drawn.
        threads: that share the batch.
        options: of the task, such as ``noise=True`` of walking robots.
    """
    found = task(name)
    try:
        made = found.environment(batch=found.batch if batch is None else batch, seed=seed, threads=threads, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise LearningError(f"task {name!r}: {error}", subject=name, field="options") from None
    made.name = name
    return made
