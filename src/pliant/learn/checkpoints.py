"""Where a training is, and checkpoints: files from which it continues to the same bits."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pliant.errors import LearningError, PliantError
from pliant.files.arrays import read_arrays, write_arrays
from pliant.learn.guard import part
from pliant.learn.history import History, plain
from pliant.learn.interface import Verdict
from pliant.learn.policy import Policy
from pliant.learn.stopwatch import Stopwatch

_KIND = "pliant learning checkpoint 1"


class Learner(Protocol):
    """What the loop needs of a kind of learner."""

    kind: str
    steps: int
    iterations: int
    watch: Stopwatch
    settings: Any
    env: Any
    state: Any

    def iterate(self) -> Mapping[str, float]:
        """Collect and learn once; returns what was measured."""
        ...

    def policy(self) -> Policy:
        """The policy as it is now."""
        ...


@dataclass
class Course:
    """Where a training is: what the loop must remember to continue."""

    history: History = field(default_factory=History)
    best: Policy | None = None
    verdict: Verdict | None = None
    held: int = 0
    judged_at: float = 0.0
    """Steps or seconds of the last judgement."""


def write_checkpoint(path: str | os.PathLike[str], learner: Learner, course: Course) -> None:
    """Write all that a training needs to continue, whole or not at all."""
    state, arrays = learner.state
    about: dict[str, Any] = {
        "learner": learner.kind,
        "digest": learner.env.digest,
        "task": plain(learner.env.describe()),
        "batch": learner.env.batch,
        "settings": learner.settings.as_plain(),
        "state": state,
        "times": learner.watch.parts,
        "history": list(course.history),
        "held": course.held,
        "judged_at": course.judged_at,
        "verdict": None if course.verdict is None else plain(course.verdict),
        "best": None,
    }
    arrays = {f"learner/{name}": x for name, x in arrays.items()}
    if course.best is not None:
        about["best"], own = course.best.as_plain()
        arrays |= {f"best/{name}": x for name, x in own.items()}
    write_arrays(path, _KIND, about, arrays)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read: which learner and settings to make, and what to put into them."""

    path: str
    about: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def read(cls, path: str | os.PathLike[str], env: Any) -> "Checkpoint":
        """A checkpoint of this task; raises for another one's, and if it is damaged."""
        about, arrays = read_arrays(path, _KIND, error=LearningError)
        found = cls(os.fspath(path), about, arrays)
        for name, own in (("digest", env.digest), ("batch", env.batch)):
            if about.get(name) != own:
                what = f"{about.get(name)} robots, the environment has {own}"
                if name == "digest":
                    what = f"another task{differing(about.get('task'), plain(env.describe()))}"
                raise LearningError(f"{found.path} is a checkpoint of {what}", subject=found.path, field=name,
                                    cure="continue it in the environment that it was made in")  # fmt: skip
        return found

    def restore(self, learner: Learner) -> Course:
        """Put it into a new learner; returns where the training was."""
        try:
            learner.state = (dict(self.about["state"]), part(self.arrays, "learner"))
            learner.watch.parts.update({str(name): float(x) for name, x in self.about["times"].items()})
            verdict = self.about["verdict"]
            best = self.about["best"]
            return Course(
                history=History(self.about["history"]),
                best=best and Policy.from_plain(best, part(self.arrays, "best")),
                verdict=verdict and Verdict(bool(verdict[0]), _score(verdict[1]), dict(verdict[2])),
                held=int(self.about["held"]),
                judged_at=float(self.about["judged_at"]),
            )
        except (KeyError, TypeError, ValueError, ArithmeticError, IndexError, AttributeError, PliantError) as error:
            raise LearningError(f"{self.path} is damaged: {error}", subject=self.path, field="path",
                                cure="take another copy of it, or train anew") from None  # fmt: skip


_SHOWN = 3
"""Differences between two tasks that a message names."""


def differing(stored: Any, own: Any) -> str:
    """What tells two described tasks apart, to be put behind "another task"; "" if it is not known."""
    if not isinstance(stored, dict) or not isinstance(own, dict):
        return ""
    code, others = ({} if not isinstance(x.get("code"), dict) else x["code"] for x in (stored, own))
    parts = [f"the code of {name!r} has changed" for name in code if name in others and code[name] != others[name]]
    skipped = ("task", "weights", "code")
    parts += _differences("", *({k: v for k, v in x.items() if k not in skipped} for x in (stored, own)))
    shown = parts[:_SHOWN] + ([f"{len(parts) - _SHOWN} more"] if len(parts) > _SHOWN else [])
    return f": {', '.join(shown)}" if shown else ""


def _differences(path: str, stored: Any, own: Any) -> list[str]:
    if stored == own:
        return []
    if not isinstance(stored, dict) or not isinstance(own, dict):
        return [f"{path} was {_brief(stored)}, here it is {_brief(own)}"]
    found = []
    for name in {**stored, **own}:
        where = f"{path} {name!r}".strip() if path else str(name)
        if name not in own:
            found.append(f"{where} is not here")
        elif name not in stored:
            found.append(f"{where} is new")
        else:
            found += _differences(where, stored[name], own[name])
    return found


def _brief(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _score(stored: Any) -> float:
    return -math.inf if stored is None else float(stored)
