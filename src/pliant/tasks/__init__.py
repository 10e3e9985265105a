"""Tasks that are ready: environments of robots that walk, hop, balance and reach, with judges."""

from pliant.tasks import balancing as _balancing
from pliant.tasks import reaching as _reaching
from pliant.tasks import walkers as _walkers
from pliant.tasks.judging import VelocityJudge
from pliant.tasks.task import Task, as_task, make, register, task, tasks
from pliant.tasks.training import Run, train, trained
from pliant.tasks.walking import Walker

__all__ = [
    "Run", "Task", "VelocityJudge", "Walker", "as_task", "make", "register", "task", "tasks", "train", "trained",
]  # fmt: skip

assert _balancing and _reaching and _walkers  # they register their tasks
