"""Evolution on workers: whole rollouts, between which little travels.

Every worker draws the noise of all robots from the same generator, tries its own share of them, and moves its own copy
of the mean by what all have earned [Salimans et al. 2017, "Evolution strategies as a scalable alternative to
reinforcement learning", 2.1]. So neither parameters nor observations travel: a return for each robot, the sums of
observations by blocks of robots, and the tally of rewards. All copies stay equal to the bit, and equal to
`pliant.learn.evolve` in one process, for any number of workers; checkpoints are the same files.
"""

import dataclasses
from typing import Any

import numpy as np

from pliant.checks import check_known
from pliant.cluster.crew import Crew
from pliant.cluster.messages import Answer, Call
from pliant.cluster.rollouts import environment_of, hold
from pliant.cluster.shares import shares_of, value_of
from pliant.environment import Environment
from pliant.environment.pickling import parts_of, remade, share_of
from pliant.errors import LearningError
from pliant.learn.checkpoints import Checkpoint
from pliant.learn.evolve import BLOCK, Evolve
from pliant.learn.settings import EvolveSettings
from pliant.learn.stopwatch import Stopwatch
from pliant.learn.training import Limits, Training, train
from pliant.simulation.state import spans

# what a worker needs to know: returns of all robots, rows and sums of observations
News = tuple[np.ndarray, tuple[int, np.ndarray]]


class EvolveOnWorkers:
    """A training by evolution whose robots are on workers; what `pliant.learn` needs of a learner.

    Attributes:
        env: in this process, for names and sizes; its robots do not move.
        own: the copy of the training in this process.
        steps, iterations: control periods of all robots so far, and rollouts.
    """

    kind = "evolve"

    def __init__(
        self, env: Environment, settings: EvolveSettings, watch: Stopwatch, *, on: str, workers: int | None,
        threads: int, retries: int,
    ):  # fmt: skip
        self.env, self.settings, self.watch = env, settings, watch
        # one that has the whole shape, and the fewest robots that it can have
        few = remade(type(env), share_of(parts_of(env), 0, 1))
        self.own = Evolve(few, settings, watch, batch=env.batch)
        self._retries = retries
        crew = Crew(on, workers, threads=threads, first=Call(hold, (type(env), parts_of(env), threads)))
        self._shares = shares_of(env.batch, crew.size, BLOCK)
        if len(self._shares) < crew.size:
            crew.close()
            crew = Crew(on, len(self._shares), threads=threads, first=crew.first)
        self._crew, self._news = crew, None
        self.steps = self.iterations = 0

    @property
    def lost(self) -> int:
        """Workers that have ended and been replaced."""
        return self._crew.lost

    def iterate(self) -> dict[str, float]:
        """Try policies on all robots, and move their mean; returns what was measured."""
        self.watch.start()
        parts = self._tried()
        self.watch.lap("environment")
        earned = np.concatenate([part[0] for part in parts])
        seen = sum(part[1][0] for part in parts), np.sum([part[1][1] for part in parts], axis=0)
        self._news = earned, seen
        self.own.draw()
        found = _moved(self.own, self._news)
        self.steps, self.iterations = self.own.steps, self.own.iterations
        state = self.env.state
        state["episode"][:, _tally(self.env)] = np.concatenate([part[2] for part in parts])
        self.env.state = state
        return found | dict(self.env.metrics())

    def _tried(self) -> list[Any]:
        """What came of each share; a worker that is not where the others are gets the state of the training."""
        count, settings = len(self._shares), (self.settings, self.env.batch)
        found: list[Any] = [None] * count
        left, is_new = set(range(count)), [False] * count
        answers: list[Answer] = []
        for _ in range(2 * self._retries + 2):
            state = self.own.state if any(is_new) else None
            answers = self._crew.each([
                Call(_attempt, (self._shares[k], *settings, self.iterations, self._news, state if is_new[k] else None))
                if k in left else Call(_rest)
                for k in range(count)
            ])  # fmt: skip
            for k in sorted(left):
                if answers[k].kind == "killed" or value_of(answers[k]) is None:
                    is_new[k] = True
                    continue
                left.remove(k)
                found[k] = value_of(answers[k])
            if not left:
                return found
        problem = f"a worker ended {answers[min(left)].text.strip()}, again and again"
        cure = "is there enough memory? give more workers or fewer robots"
        raise LearningError(problem, subject="evolve", field="workers", cure=cure)

    def policy(self) -> Any:
        """The policy of the mean."""
        return self.own.policy()

    @property
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Plain data and arrays with which it continues to the same bits, also in one process."""
        about, arrays = self.own.state
        others = {name: x for name, x in arrays.items() if not name.startswith("environment/")}
        return about, others | {f"environment/{name}": x for name, x in self.env.state.items()}

    @state.setter
    def state(self, given: tuple[dict[str, Any], dict[str, np.ndarray]]) -> None:
        about, arrays = given
        own = {n: x for n, x in arrays.items() if not n.startswith("environment/")}
        own |= {f"environment/{name}": x for name, x in self.own.env.state.items()}
        self.own.state = about, own
        self.env.state = {n.partition("/")[2]: x for n, x in arrays.items() if n.startswith("environment/")}
        self._news, self.steps, self.iterations = None, self.own.steps, self.own.iterations

    def close(self) -> None:
        """End the workers."""
        self._crew.close()


def evolve(
    env: Environment,
    *,
    on: str = "processes",
    workers: int | None = None,
    threads: int = 1,
    retries: int = 2,
    clock: str = "wall",
    resume: Any = None,
    settings: EvolveSettings | None = None,
    **options: Any,
) -> Training:
    """Train as `pliant.learn.evolve`, with the robots on workers; the result is the same to the bit.

        training = pliant.cluster.evolve(env, workers=8, steps=10_000_000, checkpoint="evolve.npz")

    Args:
        env: of all robots; they need not fit into one worker.
        on, workers, threads, retries: as for `pliant.Rollouts`.
        clock: by which time is measured, "wall" or "processor".
        resume: path of a checkpoint to continue from, made here or by `pliant.learn.evolve`.
        settings: an `EvolveSettings` to start from, in place of the default.
        options: any others of `EvolveSettings` and of `pliant.learn.Limits`.
    """
    own = [field.name for field in dataclasses.fields(Limits)]
    limits = {name: options.pop(name) for name in own if name in options}
    course, found = None, None
    if resume is not None:
        for name in options:
            check_known("option", name, own, "a training that continues", error=LearningError)
        limits = {"checkpoint": resume, **limits}
        found = Checkpoint.read(resume, env)
        check_known("learner", found.about.get("learner"), ("evolve",), found.path, error=LearningError)
        made = EvolveSettings.from_plain(found.about.get("settings"))
    else:
        made = (settings or EvolveSettings()).with_options(**options)
    watch = Stopwatch(clock)
    learner = EvolveOnWorkers(env, made, watch, on=on, workers=workers, threads=threads, retries=retries)
    try:
        if found is not None:
            course = found.restore(learner)
        return train(learner, Limits(**limits), course)
    finally:
        learner.close()


def _moved(learner: Evolve, news: News) -> dict[str, float]:
    """Move the mean of a copy by what all robots have earned and seen."""
    earned, learner.normaliser.noted = news
    return learner.improve(earned)


def _tally(env: Environment) -> slice:
    return spans(env.plan.episode)["tally"]


# ---- in the worker


def _attempt(
    held: dict[str, Any], share: tuple[int, int], settings: EvolveSettings, batch: int, iteration: int,
    news: News | None, state: Any,
) -> Any:  # fmt: skip
    """Try the policies of a share; None if the copy here is not where the others are."""
    env = environment_of(held, share)
    copies = held.setdefault("copies", {})
    # it is put back when all has gone well
    learner, has_tried = copies.pop(share, (None, False))
    if learner is None:
        learner = Evolve(env, settings, Stopwatch("wall"), batch=batch, first=share[0])
    learner.watch.start()
    if state is not None:
        about, arrays = state
        arrays = {n: x for n, x in arrays.items() if not n.startswith("environment/")}
        learner.state = about, arrays | {f"environment/{name}": x for name, x in env.state.items()}
    elif has_tried and news is not None and learner.iterations == iteration - 1:
        _moved(learner, news)
    elif has_tried:
        return None
    if learner.iterations != iteration:
        return None
    earned = learner.attempt()
    copies[share] = learner, True
    rows = env.state["episode"][:, _tally(env)]
    env.metrics()
    return earned, learner.normaliser.noted, rows


def _rest(held: dict[str, Any]) -> None:
    """Nothing, while others are asked again."""
