"""Weights of rewards while an environment runs, and rewards that are no number."""

import numpy as np
import pytest
from small_tasks import balance

import pliant


def test_weights_by_name_take_effect_at_once_however_they_are_set() -> None:
    env = balance(4)
    env.reset(seed=0)
    before = env.state
    env.step(np.ones((4, 1)))
    effort = env.terms["effort"]
    env.state = before
    env.weights.update(effort=-0.02)
    env.step(np.ones((4, 1)))
    assert np.array_equal(env.terms["effort"], 2 * effort)
    assert dict(env.weights) == {"upright": 1.0, "effort": -0.02}
    # a state has the weights of its time
    env.state = before
    assert env.weights["effort"] == pytest.approx(-0.01)
    env.step(np.ones((4, 1)))
    assert np.array_equal(env.terms["effort"], effort)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda weights: weights.update(efort=1.0),
        lambda weights: weights.pop("effort"),
        lambda weights: weights.update(effort=np.nan),
    ],
)
def test_weights_of_other_terms_are_refused(wrong) -> None:
    weights = balance(2).weights
    with pytest.raises(pliant.PliantError) as error:
        wrong(weights)
    assert "effort" in str(error.value)
    assert dict(weights) == {"upright": 1.0, "effort": -0.01}


def test_a_reward_with_several_numbers_is_refused_when_the_environment_is_made() -> None:
    with pytest.raises(pliant.SimulationError) as error:
        balance(2, rewards={"both": lambda now: [now.q[0], now.v[0]]})
    assert error.value.subject == "reward both"
