"""Tasks that are ready: an environment, a judge, and settings of the learner that solve it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pliant.checks import check, check_known, function_name, is_whole
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
def as_task(name: str, found: Any) -> Task:
    """A task of a user's own: a `Task`, or a function that makes an `Environment`.

    The function gets those of ``batch``, ``seed``, ``threads`` and the options that it takes; the first line of its
    documentation says what the task is.

    Args:
        name: by which it was found.
    """
    if isinstance(found, Task):
        return found
    takes = "a pliant.tasks.Task, or a function that makes a pliant.Environment"
    check("task", found, takes, callable(found) and not isinstance(found, type), subject=name, error=LearningError)
    function: Any = found
    parameters = inspect.signature(found).parameters.values()
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}

    def environment(**options: Any) -> Environment:
        given = {n: x for n, x in options.items() if takes_all or n in named or n not in ("batch", "seed", "threads")}
        made: Any = function(**given)
        check("what it returns", type(made).__name__, "a pliant.Environment", isinstance(made, Environment),
              subject=f"task {name!r}", error=LearningError)  # fmt: skip
        return made

    what = (inspect.getdoc(found) or "").partition("\n")[0]
    batches = [p.default for p in parameters if p.name == "batch" and is_whole(p.default)]
    return Task(function_name(found), what, environment, batch=batches[0] if batches else 512)


@explained
def make(name: str | Task, *, batch: int | None = None, seed: int = 0, threads: int = 1, **options: Any) -> Environment:
    """The environment of a task.

    Args:
        name: of the task, or a `Task`.
        batch: how many robots; by default as many as learn well side by side.
        seed: of all that is drawn.
        threads: that share the batch.
        options: of the task, such as ``noise=True`` of walking robots.
    """
    found = name if isinstance(name, Task) else task(name)
    try:
        made = found.environment(batch=found.batch if batch is None else batch, seed=seed, threads=threads, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise LearningError(f"task {found.name!r}: {error}", subject=found.name, field="options") from None
    made.name = found.name
    return made
