"""Adapters against the interfaces of stable-baselines3, rsl-rl and skrl, with stand-ins for them and for torch.

`tests/outside_learners.py` trains with the libraries themselves.
"""

import sys
from abc import ABC, abstractmethod
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_tasks import balance

from pliant.environment.adapters import RslRl, Skrl, stable_baselines
from pliant.errors import PliantError


class VecEnv(ABC):
    """The abstract methods of stable-baselines3 2.9, and what its constructor asks for."""

    def __init__(self, num_envs: int, observation_space: Any, action_space: Any):
        self.num_envs, self.observation_space, self.action_space = num_envs, observation_space, action_space
        self._reset_seeds()
        self.render_mode = self.get_attr("render_mode")[0]

    def _reset_seeds(self) -> None:
        self._seeds: list[int | None] = [None] * self.num_envs

    def _reset_options(self) -> None:
        self._options: list[dict] = [{}] * self.num_envs

    def seed(self, seed: int) -> None:
        self._seeds = [seed + k for k in range(self.num_envs)]

    def step(self, actions: Any) -> Any:
        self.step_async(actions)
        return self.step_wait()

    @abstractmethod
    def reset(self) -> Any: ...
    @abstractmethod
    def step_async(self, actions: Any) -> None: ...
    @abstractmethod
    def step_wait(self) -> Any: ...
    @abstractmethod
    def close(self) -> None: ...
    @abstractmethod
    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]: ...
    @abstractmethod
    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None: ...
    @abstractmethod
    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]: ...
    @abstractmethod
    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]: ...


class Tensor(np.ndarray):
    """An array with the methods of a tensor that adapters call."""

    def to(self, *where: Any) -> "Tensor":
        kinds = [x for x in where if isinstance(x, type)]
        return self.astype(kinds[0]).view(Tensor) if kinds else self

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return self

    def numpy(self) -> np.ndarray:
        return np.asarray(self)


class TensorDict(dict):
    def __init__(self, values: Any, batch_size: list[int], device: str):
        super().__init__(values)
        self.batch_size = batch_size
        assert all(list(x.shape[: len(batch_size)]) == batch_size for x in values.values())


def tensor(values: Any) -> Tensor:
    return np.asarray(values).view(Tensor)


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(from_numpy=tensor, float32=np.float32, device=lambda name: name)
    stand_ins = {
        "stable_baselines3": SimpleNamespace(),
        "stable_baselines3.common": SimpleNamespace(),
        "stable_baselines3.common.vec_env": SimpleNamespace(VecEnv=VecEnv),
        "torch": torch,
        "tensordict": SimpleNamespace(TensorDict=TensorDict),
    }
    for name, found in stand_ins.items():
        module = ModuleType(name)
        vars(module).update(vars(found))
        monkeypatch.setitem(sys.modules, name, module)


def actions(n: int, steps: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (steps, n, 1)).astype(np.float32)


# ---- stable-baselines3


def test_stable_baselines_gives_what_the_environment_gives() -> None:
    env, same = stable_baselines(balance(5, timeout=0.4)), balance(5, timeout=0.4)
    assert isinstance(env, VecEnv) and env.num_envs == 5 and env.render_mode is None
    env.seed(3)
    assert np.array_equal(env.reset(), same.reset(seed=3)["actor"])
    count = 0
    for given in actions(5, 60):
        (seen, rewards, dones, infos), x = env.step(given), same.step(given)
        assert np.array_equal(seen, x.observations["actor"]) and np.array_equal(rewards, x.rewards)
        assert np.array_equal(dones, x.terminated | x.truncated) and len(infos) == 5
        assert len({id(info) for info in infos}) == 5  # wrappers write into them
        for k, info in enumerate(infos):
            assert set(info) == ({"terminal_observation", "TimeLimit.truncated"} if dones[k] else set())
            if dones[k]:
                count += 1
                assert np.array_equal(info["terminal_observation"], x.final["actor"][k])
                assert info["TimeLimit.truncated"] is bool(x.truncated[k])
    assert count > 5


def test_stable_baselines_seeds_once() -> None:
    env = stable_baselines(balance(2))
    env.seed(3)
    first, second = env.reset(), env.reset()
    assert not np.array_equal(first, second)
    env.seed(3)
    assert np.array_equal(env.reset(), first)


def test_stable_baselines_attributes_and_methods() -> None:
    env = stable_baselines(balance(3, critic=True), groups=("actor", "critic"), render_mode="rgb_array")
    assert set(env.reset()) == {"actor", "critic"} == set(env.observation_space.spaces)
    assert env.get_attr("period") == [0.02] * 3 and env.get_attr("batch", indices=[0, 2]) == [3, 3]
    with pytest.raises(AttributeError):
        env.get_attr("colour")
    env.set_attr("label", "mine")
    assert env.get_attr("label", 1) == ["mine"]
    assert env.env_method("metrics", indices=0)[0]["episode/count"] == 0
    assert env.env_is_wrapped(object) == [False] * 3
    assert len(env.get_images()) == 3 and env.close() is None


# ---- rsl-rl


def test_rsl_rl_gives_what_the_environment_gives() -> None:
    env, same = RslRl(balance(5, critic=True, timeout=0.4), seed=2), balance(5, critic=True, timeout=0.4)
    first = same.reset(seed=2)
    assert (env.num_envs, env.num_actions, env.max_episode_length, env.step_dt) == (5, 1, 20, 0.02)
    assert env.unwrapped is env and env.cfg["robot"] == "cart_pole" and env.device == "cpu"
    found = env.get_observations()
    assert found.batch_size == [5] and all(np.array_equal(found[group], first[group]) for group in first)
    count = 0
    for given in actions(5, 60):
        (seen, rewards, dones, extras), x = env.step(tensor(given)), same.step(given)
        assert all(np.array_equal(seen[group], x.observations[group]) for group in first)
        assert all(np.array_equal(seen[group], env.get_observations()[group]) for group in first)
        assert np.array_equal(rewards, x.rewards) and rewards.dtype == np.float32
        assert np.array_equal(dones, x.terminated | x.truncated)
        assert np.array_equal(extras["time_outs"], x.truncated)
        assert extras["log"]["/reward/upright"] == pytest.approx(float(same.terms["upright"].mean()))
        count += int(x.truncated.sum())
    assert count > 0


def test_rsl_rl_sets_the_lengths_of_episodes() -> None:
    env = RslRl(balance(4, timeout=0.4), seed=0)
    env.step(tensor(np.zeros((4, 1), np.float32)))
    assert np.array_equal(env.episode_length_buf, [1] * 4)
    env.episode_length_buf = tensor(np.array([19, 3, 18, 0]))
    *_, extras = env.step(tensor(np.zeros((4, 1), np.float32)))
    assert np.array_equal(extras["time_outs"], [True, False, False, False])
    assert np.array_equal(env.episode_length_buf, [0, 4, 19, 1])
    before = env.get_observations()["actor"]
    assert not np.array_equal(env.reset()[0]["actor"], before)


# ---- skrl


def test_skrl_gives_what_the_environment_gives() -> None:
    env, same = Skrl(balance(5, critic=True, timeout=0.4), seed=2), balance(5, critic=True, timeout=0.4)
    first = same.reset(seed=2)
    assert env.state() is None
    assert np.array_equal(env.reset()[0], first["actor"]) and np.array_equal(env.state(), first["critic"])
    assert (env.num_envs, env.num_agents, env.unwrapped) == (5, 1, env)
    assert env.observation_space.shape == (4,) and env.state_space.shape == (5,) and env.action_space.shape == (1,)
    for given in actions(5, 60):
        (seen, rewards, terminated, truncated, infos), x = env.step(tensor(given)), same.step(given)
        assert np.array_equal(seen, x.observations["actor"]) and np.array_equal(env.state(), x.observations["critic"])
        assert rewards.shape == terminated.shape == truncated.shape == (5, 1)
        assert np.array_equal(rewards[:, 0], x.rewards)
        assert np.array_equal(terminated[:, 0], x.terminated) and np.array_equal(truncated[:, 0], x.truncated)
        assert infos["episode"]["Reward / upright"] == pytest.approx(float(same.terms["upright"].mean()))
        # trainers of one robot reset after each end, where it has begun anew already
        assert np.array_equal(env.reset()[0], seen)


def test_skrl_without_a_critic_has_no_states() -> None:
    env = Skrl(balance(1))
    env.reset()
    assert env.state_space is None and env.state() is None and env.close() is None
    assert env.render().shape == (360, 480, 3)


# ---- what is missing


@pytest.mark.parametrize(("module", "make"), [
    ("stable_baselines3.common.vec_env", stable_baselines), ("torch", RslRl), ("tensordict", RslRl), ("torch", Skrl),
])  # fmt: skip
def test_a_missing_library_is_named(module: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(PliantError, match=rf"needs {module.split('.')[0]}: pip install 'pliant\["):
        make(balance(1))


def test_nothing_is_imported_before_it_is_used() -> None:
    import subprocess

    code = "import sys, pliant.environment.adapters; "
    code += "print({'torch', 'gymnasium', 'tensordict', 'stable_baselines3'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60).strip() == "set()"
