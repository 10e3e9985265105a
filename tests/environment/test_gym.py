"""Gymnasium's own checks, its three ways to begin again, and what it promises of arrays and infos."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from small_tasks import balance

from pliant.environment.gym import PliantEnv, PliantVectorEnv, register
from pliant.errors import SimulationError

# observations that are not clipped have no bounds, of which check_env warns
unbounded = pytest.mark.filterwarnings("ignore:.*A Box observation space (minimum|maximum) value:UserWarning")

MODES = list(AutoresetMode)
SIZE = (64, 48)


@pytest.fixture(scope="module", autouse=True)
def ids() -> None:
    register("balance", balance)


def played(env: PliantVectorEnv, steps: int = 60, seed: int = 3, push: float = 1.0) -> list[tuple]:
    """What an environment returns; robots fall soon, and at different times."""
    rng = np.random.default_rng(seed)
    found = [(*env.reset(seed=seed), None)]
    for _ in range(steps):
        found.append(env.step(push * rng.uniform(-1, 1, (env.num_envs, 1)).astype(np.float32)))
    return found


# ---- Gymnasium's checks


@unbounded
def test_one_robot_passes_the_checker_of_gymnasium() -> None:
    env = gymnasium.make("Pliant/balance-v0", render_mode="rgb_array", render_size=SIZE)
    check_env(env.unwrapped)
    env.reset()
    frame = env.render()
    assert frame.shape == (48, 64, 3) and frame.dtype == np.uint8 and frame.std() > 1


@unbounded
def test_one_robot_with_a_critic_passes_it_too() -> None:
    env = gymnasium.make("Pliant/balance-v0", critic=True, groups=["actor", "critic"], precision="float64")
    check_env(env.unwrapped)
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert env.observation_space["critic"].shape == (5,) and env.observation_space["actor"].dtype == np.float64


@pytest.mark.parametrize("mode", MODES)
def test_vectors_from_their_id(mode: AutoresetMode) -> None:
    env = gymnasium.make_vec("Pliant/balance-v0", num_envs=5, autoreset_mode=mode.value, timeout=0.1)
    assert isinstance(env, PliantVectorEnv) and env.num_envs == 5 and env.metadata["autoreset_mode"] is mode
    assert env.spec.kwargs["task"] == "balance" and "PliantVectorEnv" in env.spec.to_json()
    first, infos = env.reset(seed=1)
    assert first in env.observation_space and infos == {} and env.np_random_seed == 1
    for _ in range(7):
        seen, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
        assert seen in env.observation_space and seen.dtype == np.float32
        assert rewards.shape == terminated.shape == truncated.shape == (5,)
        assert terminated.dtype == truncated.dtype == np.bool_
        ended = terminated | truncated
        if mode is AutoresetMode.DISABLED and ended.any():
            env.reset(options={"reset_mask": ended})
    env.close()


def test_gymnasiums_own_vectors_of_one_robot_agree_with_ours() -> None:
    """SyncVectorEnv of environments of one robot, each with its own seed, next to one environment of them all."""
    both = gymnasium.make_vec("Pliant/balance-v0", num_envs=2, vectorization_mode="sync")
    assert both.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    alone = PliantEnv(balance(1))
    seen, _ = both.reset(seed=[4, 5])
    assert np.array_equal(alone.reset(seed=5)[0], seen[1])
    first = PliantVectorEnv(balance(1), autoreset_mode="NextStep")
    assert np.array_equal(first.reset(seed=4)[0][0], seen[0])
    rng = np.random.default_rng(0)
    for _ in range(80):
        actions = rng.uniform(-1, 1, (2, 1)).astype(np.float32)
        theirs, ours = both.step(actions), first.step(actions[:1])
        for a, b in zip(theirs[:4], ours[:4], strict=True):
            assert np.allclose(np.asarray(a)[0], np.asarray(b)[0], rtol=0, atol=0)


def test_spaces() -> None:
    env = PliantVectorEnv(balance(3))
    bound = env.single_observation_space.high
    assert np.all(np.isinf(bound[:2])) and np.array_equal(bound[2:], [5, 5])  # clip 10, scale 0.5
    assert env.single_action_space.high == 1 and env.action_space.shape == (3, 1)
    assert PliantVectorEnv(balance(3), action_bound=0.5).single_action_space.high == np.float32(0.5)
    free = balance(1, action=None)
    assert free.plan.action.clip is None and PliantEnv(free).action_space.high == 1


# ---- the end of episodes


def test_modes_show_the_same_episodes_to_the_bit() -> None:
    """Robot by robot: all that is seen and earned in an episode, whatever the time at which it is shown."""
    actions = np.random.default_rng(0).uniform(-1, 1, (400, 6, 1)).astype(np.float32)
    episodes = {}
    for mode in MODES:
        env = PliantVectorEnv(balance(6, timeout=0.6), autoreset_mode=mode)
        seen, _ = env.reset(seed=2)
        lives, now = [[] for _ in range(6)], [[x.tobytes()] for x in seen]
        taken, waits = [0] * 6, np.zeros(6, dtype=bool)
        for _ in range(200):
            # each robot takes its own next action: a mode may not use one where another does
            given = np.array([actions[taken[k], k] for k in range(6)])
            seen, rewards, terminated, truncated, infos = env.step(given)
            ended = terminated | truncated
            for k in range(6):
                if waits[k]:
                    assert rewards[k] == 0 and not ended[k]
                    now[k] = [seen[k].tobytes()]
                    continue
                taken[k] += 1
                is_new = ended[k] and mode is AutoresetMode.SAME_STEP
                last = infos["final_obs"][k] if is_new else seen[k]
                now[k] += [last.tobytes(), rewards[k].tobytes(), bool(terminated[k]), bool(truncated[k])]
                if ended[k]:
                    lives[k].append(now[k])
                    now[k] = [seen[k].tobytes()]
            waits = ended & (mode is AutoresetMode.NEXT_STEP)
            if mode is AutoresetMode.DISABLED and ended.any():
                seen, _ = env.reset(options={"reset_mask": ended})
                for k in np.flatnonzero(ended):
                    now[k] = [seen[k].tobytes()]
        episodes[mode] = lives
    ends = [life[-2:] for lives in episodes[AutoresetMode.SAME_STEP] for life in lives]
    assert [True, False] in ends and [False, True] in ends
    for k in range(6):
        fewest = min(len(lives[k]) for lives in episodes.values())
        assert fewest >= 4
        assert all(lives[k][:fewest] == episodes[AutoresetMode.SAME_STEP][k][:fewest] for lives in episodes.values())


def test_same_step_infos() -> None:
    env = PliantVectorEnv(balance(8, timeout=0.5))
    for seen, _rewards, terminated, truncated, infos in played(env)[1:]:
        ended = terminated | truncated
        assert ("final_obs" in infos) == ended.any()
        assert np.array_equal(infos["_reward_terms"], ~ended)
        if not ended.any():
            continue
        assert np.array_equal(infos["_final_obs"], ended) and np.array_equal(infos["_final_info"], ended)
        terms = infos["final_info"]["reward_terms"]
        assert np.array_equal(terms["_upright"], ended) and np.all(terms["upright"][ended] > 0.5)
        for k in range(8):
            if ended[k]:
                assert infos["final_obs"][k] in env.single_observation_space
                assert not np.array_equal(infos["final_obs"][k], seen[k])
            else:
                assert infos["final_obs"][k] is None


def test_final_observations_of_groups_are_dicts() -> None:
    env = PliantVectorEnv(balance(2, critic=True, timeout=0.04), groups=("actor", "critic"))
    *_, infos = played(env, 2)[-1]
    assert infos["final_obs"][0] in env.single_observation_space


def test_next_step_ignores_the_action_of_a_robot_that_begins_again() -> None:
    env = PliantVectorEnv(balance(2, timeout=0.04), autoreset_mode="NextStep")
    env.reset(seed=0)
    zero = np.zeros((2, 1), np.float32)
    env.step(zero)
    *_, truncated, _ = env.step(zero)
    assert truncated.all()
    seen, rewards, _, truncated, infos = env.step(np.full((2, 1), np.nan))
    assert np.array_equal(rewards, [0, 0]) and not truncated.any() and not infos["_reward_terms"].any()
    assert np.array_equal(env.environment.ages, [0, 0]) and np.all(np.abs(seen[:, 0]) <= 0.1)
    with pytest.raises(SimulationError, match="'slider' of robot 0 is nan"):
        env.step(np.full((2, 1), np.nan))


def test_disabled_waits_for_a_mask() -> None:
    env = PliantVectorEnv(balance(4, timeout=0.04), autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=0)
    zero = np.zeros((4, 1), np.float32)
    env.reset(options={"reset_mask": np.array([False, True, False, False])})
    env.step(zero)
    before = env.step(zero)[0]
    with pytest.raises(SimulationError, match=r"4 robots have ended.*reset_mask"):
        env.step(zero)
    mask = np.array([True, False, False, True])
    seen, _ = env.reset(options={"reset_mask": mask})
    assert np.array_equal(seen[1:3], before[1:3]) and not np.any(seen[mask] == before[mask])
    with pytest.raises(SimulationError, match="2 robots have ended, that of robot 1"):
        env.step(zero)
    # seeds work with a mask, too: those of the same numbers
    again, _ = env.reset(seed=11, options={"reset_mask": mask})
    assert np.array_equal(again[mask], env.reset(seed=11)[0][mask])


def test_one_robot_stays_at_the_end_until_it_is_reset() -> None:
    env = PliantEnv(balance(1, timeout=0.04))
    first, _ = env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step([0.0])
    assert type(reward) is float and terminated is False and truncated is False
    assert info["reward_terms"].keys() == {"upright", "effort"}
    last, *_, truncated, _ = env.step(np.array([0.0]))
    assert truncated is True and np.array_equal(env.environment.sim.q[0], last[:2])
    second, _ = env.reset()
    third, _ = env.reset(seed=1)
    assert not np.array_equal(first, second) and np.array_equal(first, third)
    with pytest.raises(SimulationError, match="option named 'mask'"):
        env.reset(options={"mask": 1})


# ---- arrays


@pytest.mark.parametrize("mode", MODES[:2])
def test_returned_arrays_are_not_used_again(mode: AutoresetMode) -> None:
    env = PliantVectorEnv(balance(4, timeout=0.1), autoreset_mode=mode)
    kept = played(env, 20)
    copies = [(x[0].copy(), *(np.copy(y) for y in x[1:4])) for x in kept[1:]]
    env.step(np.ones((4, 1), np.float32))
    env.reset()
    for before, after in zip(copies, kept[1:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(before, after[:4], strict=True))
    # writing into what was returned changes nothing inside
    seen = env.reset(seed=1)[0]
    seen[:] = 0
    assert np.any(env.reset(seed=1)[0] != 0)


def test_wrappers_of_gymnasium() -> None:
    wrappers = gymnasium.wrappers.vector
    env = wrappers.RecordEpisodeStatistics(PliantVectorEnv(balance(4, timeout=0.2)))
    infos = played(env, 10, push=0.0)[-1][-1]
    lengths = (infos["final_info"] if "episode" in infos["final_info"] else infos)["episode"]["l"]
    assert np.array_equal(lengths, [10] * 4)
    env = wrappers.NormalizeObservation(PliantVectorEnv(balance(4), autoreset_mode="NextStep"))
    assert played(env, 40)[-1][0].shape == (4, 4)
    env = wrappers.DictInfoToList(PliantVectorEnv(balance(4, timeout=0.04)))
    last = played(env, 2)[-1][-1]
    assert len(last) == 4 and last[0]["final_obs"].shape == (4,)
    assert last[0]["final_info"]["reward_terms"]["upright"] > 0.5
    env = wrappers.RescaleAction(PliantVectorEnv(balance(4), autoreset_mode="NextStep"), np.float32(-2), np.float32(2))
    env.reset(seed=0)
    env.step(np.full((4, 1), 2.0, np.float32))
    assert np.array_equal(env.unwrapped.environment.terms["effort"], np.full(4, -0.01, np.float32))


def test_pictures() -> None:
    env = PliantVectorEnv(balance(2), render_mode="rgb_array", render_size=SIZE)
    env.reset(seed=0)
    frames = env.render()
    assert len(frames) == 2 and frames[0].shape == (48, 64, 3) and not np.array_equal(*frames)
    assert env.metadata["render_fps"] == 50
    assert PliantVectorEnv(balance(2)).render() is None and PliantEnv(balance(1)).render() is None


# ---- bad input


@pytest.mark.parametrize(("options", "text"), [
    ({"task": "balence"}, "no task named 'balence'"),
    ({"autoreset_mode": "Never"}, "autoreset_mode.*NextStep, SameStep, Disabled"),
    ({"groups": "judge"}, "group of observations named 'judge'.*actor"),
    ({"groups": ()}, "groups.*one group or more"),
    ({"render_mode": "human"}, "render mode named 'human'.*rgb_array"),
    ({"action_bound": -1.0}, "action_bound.*above zero"),
])  # fmt: skip
def test_bad_options_are_named(options: dict, text: str) -> None:
    with pytest.raises(SimulationError, match=text):
        PliantVectorEnv(**{"task": "balance", "num_envs": 2, **options})


def test_an_environment_has_its_own_options() -> None:
    env = balance(3)
    with pytest.raises(SimulationError, match="no options beside an environment, which has 3 robots"):
        PliantVectorEnv(env, num_envs=4)
    with pytest.raises(SimulationError, match="3 robots"):
        PliantEnv(env)
    with pytest.raises(SimulationError, match="letters, digits"):
        register("two words", balance)
    register("nothing", lambda batch: None)
    with pytest.raises(SimulationError, match="task 'nothing' to return an Environment"):
        PliantEnv("nothing")


@pytest.mark.parametrize("mask", [np.zeros(2, bool), np.ones(3, bool), [True, False], np.ones(2)])
def test_bad_masks(mask: object) -> None:
    env = PliantVectorEnv(balance(2), autoreset_mode="Disabled")
    env.reset(seed=0)
    with pytest.raises(SimulationError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})
    with pytest.raises(SimulationError, match=r"option named 'maks'.*reset_mask"):
        env.reset(options={"maks": mask})
