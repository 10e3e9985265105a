"""A term of a compiled environment that ceases to be finite: named, with a snapshot that shows it again."""

import pytest
from small_tasks import balance

from pliant.errors import LearningError, SimulationError
from pliant.learn import ppo
from pliant.math import log


def test_a_term_that_ceases_to_be_finite_is_named_and_can_be_seen_again() -> None:
    def room(now):
        return log(0.25 - now.q[1])  # not a number beyond 0.25 rad, before the episode ends

    env = balance(16, rewards={"room": room})
    with pytest.raises(LearningError) as error:
        ppo(env, minutes=None, steps=100_000, hidden=(4,), minibatches=1, std=2.0, seed=0, show=False)
    assert "reward 'room' of robot" in str(error.value)
    assert error.value.snapshot is not None
    again = balance(16, rewards={"room": room})
    with pytest.raises(SimulationError) as seen:
        error.value.snapshot.replay(again)
    assert str(seen.value) in error.value.snapshot.problem
