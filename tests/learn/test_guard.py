"""Numbers that cease to be finite are named, and can be seen again."""

import numpy as np
import pytest

from pliant.errors import LearningError
from pliant.learn import Snapshot, ppo, resume
from toy_tasks import Cart

ROUND = 64 * 24


class Broken(Cart):
    """A cart that reports nonsense in one step."""

    def __init__(self, where: str, step: int):
        super().__init__()
        self.where, self.at = where, step

    def step(self, actions):
        outcome = super().step(actions)
        if self.count == self.at:
            bad = {"reward": outcome.rewards, "observation": outcome.observations["critic"][:, 1]}
            bad["last observation"] = outcome.final["critic"][:, 1]
            bad[self.where][5] = np.nan
            if self.where == "last observation":
                outcome.truncated[5] = True
        return outcome


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("reward", "reward of robot 5 is nan"),
        ("observation", "observation (critic) 'speed' of robot 5 is nan"),
        ("last observation", "last observation 'speed' of robot"),
    ],
)
def test_it_is_named_and_can_be_replayed(tmp_path, where: str, said: str) -> None:
    path = tmp_path / "run.checkpoint"
    with pytest.raises(LearningError) as caught:
        ppo(Broken(where, 30), minutes=None, steps=9 * ROUND, checkpoint=path)
    assert said in str(caught.value) and caught.value.field == "nan"
    snapshot = caught.value.snapshot
    # the step that failed was the sixth of the second rollout
    assert len(snapshot.actions) == 6 and snapshot.policy is not None
    env = Broken(where, 30)
    outcome = snapshot.replay(env)
    assert env.count == 30
    seen = {"reward": outcome.rewards, "observation": outcome.observations["critic"],
            "last observation": outcome.final["critic"]}[where]  # fmt: skip
    assert np.isnan(seen).any()
    # and from its file, which the error names
    assert "run.snapshot.npz" in caught.value.cure
    again = Snapshot.load(tmp_path / "run.snapshot.npz")
    assert again.problem == snapshot.problem
    np.testing.assert_array_equal(again.actions, snapshot.actions)
    np.testing.assert_array_equal(again.policy(np.ones(2)), snapshot.policy(np.ones(2)))
    with pytest.raises(LearningError, match="another task"):
        snapshot.replay(Cart(length=50))


@pytest.mark.parametrize(
    ("reward", "said"), [(1e25, "the gradient is too long"), (1e37, "the gradient of layer . of the critic")]
)
def test_gradients_that_are_not_finite(reward: float, said: str) -> None:
    class Rich(Cart):
        def step(self, actions):
            outcome = super().step(actions)
            return outcome._replace(rewards=np.full_like(outcome.rewards, reward))

    with pytest.raises(LearningError, match=said) as caught:
        ppo(Rich(), minutes=None, steps=ROUND)
    assert len(caught.value.snapshot.actions) == 24


def test_a_checkpoint_from_before_continues(tmp_path) -> None:
    path = tmp_path / "run.checkpoint"
    with pytest.raises(LearningError):
        ppo(Broken("reward", 60), minutes=None, steps=9 * ROUND, checkpoint=path, checkpoint_every=0)
    assert resume(path, Cart(), minutes=None, steps=4 * ROUND).steps == 4 * ROUND
