"""The loop around a learner: limits, a judge, progress, checkpoints; the same for every kind of learner."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pliant.checks import check, check_at_least, is_whole
from pliant.errors import LearningError
from pliant.files.writing import checked_folder
from pliant.learn.checkpoints import Course, Learner, write_checkpoint
from pliant.learn.history import History
from pliant.learn.interface import Verdict
from pliant.learn.policy import Policy
from pliant.progress import working
from pliant.signatures import explained

Judge = Callable[[Policy], Verdict]


class Report(NamedTuple):
    """What a callback gets after each update.

    Attributes:
        row: of the history.
        policy: a function that makes the present policy.
        env: the environment, to look at.
    """

    row: Mapping[str, Any]
    policy: Callable[[], Policy]
    env: Any


@explained
@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to look at a training, and when to end it; nothing of it changes the bits of what is learned.

    Attributes:
        minutes: of training, judging not counted; None for no limit.
        steps: control periods of all robots; None for no limit.
        judge: a function from a policy to a `Verdict`. It must have an environment of its own.
        judge_every: seconds of training from one judgement to the next.
        judge_steps: control periods from one judgement to the next, in place of seconds: then the same run
            is judged at the same moments each time.
        hold: successes in a row with which the training ends.
        checkpoint: path of a file to continue from, written now and then and at the end.
        checkpoint_every: seconds of training from one to the next.
        callback: called with a `Report` after each update; it ends the training by returning True.
        show: whether to show progress; None (default): if the error stream is a terminal.
    """

    minutes: float | None = 2.0
    steps: int | None = None
    judge: Judge | None = None
    judge_every: float = 5.0
    judge_steps: int | None = None
    hold: int = 2
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 30.0
    callback: Callable[[Report], Any] | None = None
    show: bool | None = None

    def __post_init__(self):
        subject = "learning"
        for name in ("minutes", "judge_every", "checkpoint_every"):
            value = getattr(self, name)
            if value is not None or name != "minutes":
                check_at_least(name, value, 0, subject=subject, error=LearningError)
        for name in ("steps", "judge_steps", "hold"):
            value: Any = getattr(self, name)
            is_right = name != "hold" if value is None else is_whole(value) and value > 0
            check(name, value, "a whole number above 0", is_right, subject=subject, error=LearningError)
        for name in ("judge", "callback"):
            value = getattr(self, name)
            check(name, value, "a function", value is None or callable(value), subject=subject, error=LearningError)
        if self.minutes is None and self.steps is None and self.judge is None and self.callback is None:
            raise LearningError("nothing would end the training", subject=subject, field="minutes",
                                cure="give minutes or steps")  # fmt: skip
        if self.checkpoint is not None:
            checked_folder(self.checkpoint)


@explained
@dataclass(eq=False)
class Training:
    """What came of a training.

    Attributes:
        policy: the best that was judged, or the last if none was.
        last: the last one.
        verdict: on ``policy``; None if it was not judged.
        history: what was measured, a row an update.
        steps: control periods of all robots.
        seconds: of training, judging not counted.
        shares: of the time, by part: "environment", "policy", "update".
        ended: why: "success", "minutes", "steps" or "callback".
    """

    policy: Policy
    last: Policy
    verdict: Verdict | None
    history: History
    steps: int
    seconds: float
    shares: dict[str, float]
    ended: str

    @property
    def success(self) -> bool:
        """Whether the judge was content with the policy."""
        return self.verdict is not None and self.verdict.success

    def __repr__(self) -> str:
        judged = "" if self.verdict is None else f", score {self.verdict.score:.3g}, success {self.verdict.success}"
        return f"Training({self.steps / 1e6:.2f} M steps in {self.seconds:.1f} s, ended by {self.ended}{judged})"


def train(learner: Learner, limits: Limits, course: Course | None = None) -> Training:
    """Let a learner iterate until a limit is reached or success has held."""
    course = course or Course()
    saved_at = learner.watch.seconds
    with working(f"learning ({learner.kind})", show=limits.show) as begin:
        while not (ended := _end(learner, limits, course)):
            try:
                row = dict(learner.iterate())
            except LearningError as error:
                raise _kept(error, limits) from None
            row = _place(learner) | row
            if _is_due(learner, limits, course):
                row |= _judged(learner, limits, course)
            course.history.append(row)
            begin(_line(course.history[-1]))
            if limits.checkpoint is not None and learner.watch.seconds - saved_at >= limits.checkpoint_every:
                write_checkpoint(limits.checkpoint, learner, course)
                saved_at = learner.watch.seconds
            if limits.callback is not None and limits.callback(Report(course.history[-1], learner.policy, learner.env)):
                ended = "callback"
                break
    if limits.checkpoint is not None:
        write_checkpoint(limits.checkpoint, learner, course)
    last = learner.policy()
    return Training(
        policy=course.best or last,
        last=last,
        verdict=course.verdict,
        history=course.history,
        steps=learner.steps,
        seconds=learner.watch.seconds,
        shares=learner.watch.shares,
        ended=ended,
    )


def _end(learner: Learner, limits: Limits, course: Course) -> str:
    """Why a training is over, "" if it is not."""
    if course.held >= limits.hold:
        return "success"
    if limits.steps is not None and learner.steps >= limits.steps:
        return "steps"
    if limits.minutes is not None and learner.watch.seconds >= 60 * limits.minutes:
        return "minutes"
    return ""


def _place(learner: Learner) -> dict[str, float]:
    parts = {f"time/{name}": seconds for name, seconds in learner.watch.parts.items()}
    return {"iteration": learner.iterations, "steps": learner.steps, "seconds": learner.watch.seconds} | parts


def _is_due(learner: Learner, limits: Limits, course: Course) -> bool:
    if limits.judge is None:
        return False
    if limits.judge_steps is not None:
        return learner.steps - course.judged_at >= limits.judge_steps
    return learner.watch.seconds - course.judged_at >= limits.judge_every


def _judged(learner: Learner, limits: Limits, course: Course) -> dict[str, Any]:
    """Ask the judge; keep the policy if it is the best so far."""
    assert limits.judge is not None
    policy = learner.policy()
    given = limits.judge(policy)
    try:
        verdict = Verdict(*given)
        success, score = bool(verdict.success), float(verdict.score)
        report = dict(verdict.report)
    except (TypeError, ValueError):
        takes = "Verdict(success, score, report)"
        raise LearningError(f"the judge returned {given!r}", subject="judge", cure=f"it returns {takes}") from None
    verdict = Verdict(success, score if math.isfinite(score) else -math.inf, report)
    course.judged_at = learner.steps if limits.judge_steps is not None else learner.watch.seconds
    course.held = course.held + 1 if success else 0
    # of equals the later one, which has seen more
    if course.verdict is None or (success, score) >= (course.verdict.success, course.verdict.score):
        course.best, course.verdict = policy, verdict
    return {"judge/success": success, "judge/score": score} | {f"judge/{name}": x for name, x in report.items()}


def _line(row: Mapping[str, Any]) -> str:
    """A row in a few words for the terminal."""
    words = [f"{row['steps'] / 1e6:.2f} M steps"]
    words += [f"{name.partition('/')[2]} {row[name]:.3g}" for name in row if name.startswith(("reward/", "episode/"))]
    if "judge/score" in row:
        words.append(f"score {row['judge/score']:.3g}")
    return ", ".join(words)


def _kept(error: LearningError, limits: Limits) -> LearningError:
    """The error, with its snapshot in a file beside the checkpoint."""
    if limits.checkpoint is None or error.snapshot is None:
        return error
    path = Path(limits.checkpoint).expanduser()
    path = path.with_name(f"{path.stem}.snapshot.npz")
    error.snapshot.save(path)
    made = error.with_cure(f"pliant.learn.Snapshot.load({str(path)!r}).replay(env) shows it again")
    made.snapshot = error.snapshot
    return made
