"""Who arrives and who does not, by a judge of robots that move as they are told."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.tasks.arriving import ArrivalJudge


class Line:
    """Robots on a line, each with a place after each period; ``ends`` are (period, robot) that terminate."""

    period = 0.1

    def __init__(self, places, ends=()):
        self.places, self.ends, self.batch = np.asarray(places, dtype=float), set(ends), len(places[0])

    def reset(self, seed=None):
        self.k = -1
        return {"actor": np.zeros((self.batch, 1))}

    def step(self, actions):
        self.k += 1
        ended = np.array([(self.k, robot) in self.ends for robot in range(self.batch)])
        return SimpleNamespace(observations={"actor": np.zeros((self.batch, 1))}, terminated=ended)


def _judged(places, ends=(), share=1.0, last=0.2):
    line = Line(places, ends)
    return ArrivalJudge(
        lambda batch, timeout: line, {"place": lambda env: np.abs(env.places[env.k])}, {"place": 0.5}, share=share,
        robots=line.batch, seconds=0.1 * len(places), last=last,
    )(lambda seen: seen)  # fmt: skip


def test_only_the_last_seconds_count():
    verdict = _judged([[9, 9], [9, 9], [0.1, 0.2], [0.3, 0.5]])
    assert verdict.success and verdict.report["arrived"] == 2
    assert verdict.report["place, median"] == pytest.approx(0.4)


def test_who_leaves_again_has_not_arrived():
    verdict = _judged([[0, 0], [0, 0], [0, 0.6], [0, 0]])
    assert not verdict.success and verdict.report["arrived"] == 1


def test_who_ended_before_has_not_arrived():
    verdict = _judged([[0, 0], [0, 0], [0, 0], [0, 0]], ends=[(0, 1)])
    assert not verdict.success and verdict.report == verdict.report | {"arrived": 1, "ended early": 1}


@pytest.mark.parametrize("share, success", [(0.75, True), (0.8, False)])
def test_a_share_is_enough(share, success):
    assert _judged([[0, 0, 0, 1]] * 3, share=share).success is success


def test_nearer_is_better_where_as_many_arrive():
    assert _judged([[0, 1]] * 3).score > _judged([[0, 2]] * 3).score
