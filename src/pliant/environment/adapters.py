"""Environments for learners from outside: stable-baselines3, rsl-rl and skrl.

    model = stable_baselines3.PPO("MlpPolicy", stable_baselines(environment))
    runner = OnPolicyRunner(RslRl(environment), settings)
    trainer = SequentialTrainer(env=Skrl(environment), agents=agent, cfg=settings)

The libraries and torch are imported where they are used. Arrays that are handed out are new ones in each step, since
`Environment.step` makes them; tensors share their memory.

Interfaces, as in the sources of their newest versions: ``VecEnv`` of stable-baselines3 2.9
(stable_baselines3/common/vec_env/base_vec_env.py), ``VecEnv`` of rsl-rl 5.5 (rsl_rl/env/vec_env.py), ``Wrapper`` of
skrl 2.1 (skrl/envs/wrappers/torch/base.py).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.environment.environment import Environment
from pliant.environment.pictures import Pictures
from pliant.errors import needs

# ---- stable-baselines3


def stable_baselines(
    env: Environment, *, groups: str | Sequence[str] = "actor", action_bound: float | None = None,
    render_mode: str | None = None,
) -> Any:  # fmt: skip
    """A ``VecEnv`` for stable-baselines3.

    Args:
        env: the environment.
        groups: of observations: one, for "MlpPolicy", or several, for "MultiInputPolicy".
        action_bound: of the space of actions, as for `pliant.environment.gym.PliantVectorEnv`: stable-baselines3 cuts
            actions off there.
        render_mode: "rgb_array", or None.
    """
    from pliant.environment.gym import action_space, observation_space

    base = needs(
        "stable_baselines3.common.vec_env", "stable-baselines3", "pliant.environment.adapters.stable_baselines"
    ).VecEnv
    kind = type("StableBaselinesEnv", (_StableBaselines, base), {})
    found = kind.__new__(kind)
    found.environment, found._groups, found._render_mode = env, groups, render_mode
    base.__init__(found, env.batch, observation_space(env, groups), action_space(env, action_bound))
    return found


class _StableBaselines:
    """The methods of a ``VecEnv``, whose class comes from the library."""

    environment: Environment
    num_envs: int
    _groups: str | Sequence[str]
    _render_mode: str | None
    _seeds: list[int | None]
    _actions: Any = None
    _pictures: Pictures | None = None

    def reset(self) -> Any:
        """Begin new episodes, with the seed that was given to ``seed()``."""
        found = self.environment.reset(self._seeds[0])
        self._reset_seeds()  # type: ignore[attr-defined]  of the library
        self._reset_options()  # type: ignore[attr-defined]
        return self._shown(found)

    def step_async(self, actions: Any) -> None:
        """Take actions; they are done in `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards, whether episodes have ended, and for those that have, what was there before."""
        x = self.environment.step(self._actions)
        dones, infos = x.terminated | x.truncated, [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(dones):
            before = self._shown({group: values[k].copy() for group, values in x.final.items()})
            infos[k] = {"terminal_observation": before, "TimeLimit.truncated": bool(x.truncated[k])}
        return self._shown(x.observations), x.rewards, dones, infos

    def close(self) -> None:
        """There is nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environment, once for each robot."""
        found = self._render_mode if attr_name == "render_mode" else getattr(self.environment, attr_name)
        return [found] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the environment, which all robots have in common."""
        setattr(self.environment, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Call a method of the environment once, for all robots; the result once for each."""
        return [getattr(self.environment, method_name)(*args, **options)] * self._count(indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No robot has a wrapper of its own."""
        return [False] * self._count(indices)

    def get_images(self) -> list[np.ndarray]:
        """A picture of each robot."""
        self._pictures = self._pictures or Pictures(self.environment.sim)
        return [self._pictures.of(k) for k in range(self.num_envs)]

    def _count(self, indices: Any) -> int:
        return len(chosen_robots(indices, self.num_envs))

    def _shown(self, found: dict[str, np.ndarray]) -> Any:
        from pliant.environment.gym import shown

        return shown(found, self._groups)


# ---- rsl-rl


class RslRl:
    """A ``VecEnv`` for the runners of rsl-rl 5: its observations are a TensorDict with all groups.

    ``obs_groups={"actor": ["actor"], "critic": ["critic"]}`` of a runner's settings names them.

    Attributes:
        max_episode_length: in control periods.
        device: where tensors are: "cpu", or another one, to which each step then copies.
        cfg: the task in words, for the runner's log.
    """

    def __init__(self, env: Environment, *, seed: int | None = None, device: str = "cpu"):
        """Begin episodes.

        Args:
            env: the environment.
            seed: of what is drawn; None for that of the simulation.
            device: for tensors.
        """
        self.environment, self.device = env, device
        self.num_envs, self.num_actions, self.max_episode_length = env.batch, env.action_size, env.plan.limit
        self.cfg = env.describe()
        self._torch = needs("torch", "rsl-rl", "adapters.RslRl")
        self._dict = needs("tensordict", "rsl-rl", "adapters.RslRl").TensorDict
        self._seen = env.reset(seed)

    @property
    def unwrapped(self) -> "RslRl":
        """Itself."""
        return self

    @property
    def step_dt(self) -> float:
        """Length of a control period [s]."""
        return self.environment.period

    @property
    def episode_length_buf(self) -> Any:
        """Control periods since the episode of each robot began; runners set it, to end first episodes earlier."""
        return self._torch.from_numpy(self.environment.ages).to(self.device)

    @episode_length_buf.setter
    def episode_length_buf(self, lengths: Any) -> None:
        self.environment.ages = lengths.cpu().numpy()

    def reset(self) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes."""
        self._seen = self.environment.reset()
        return self.get_observations(), {}

    def get_observations(self) -> Any:
        """What robots see now."""
        seen = {group: self._tensor(values) for group, values in self._seen.items()}
        return self._dict(seen, batch_size=[self.num_envs], device=self.device)

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Go on by a control period.

        Returns:
            Observations, rewards, whether episodes have ended, and extras: "time_outs" for those that were cut off,
            and "log", means of the rewards by name.
        """
        x = self.environment.step(actions.detach().cpu().numpy())
        self._seen = x.observations
        log = {f"/reward/{name}": float(values.mean()) for name, values in self.environment.terms.items()}
        dones = self._torch.from_numpy(x.terminated | x.truncated).to(self.device)
        extras = {"time_outs": self._torch.from_numpy(x.truncated).to(self.device), "log": log}
        return self.get_observations(), self._tensor(x.rewards), dones, extras

    def _tensor(self, values: np.ndarray) -> Any:
        return self._torch.from_numpy(values).to(self.device, self._torch.float32)


# ---- skrl


class Skrl:
    """A ``Wrapper`` for the trainers of skrl: observations of the group "actor", and states of "critic", if any.

    Attributes:
        device: where tensors are.
        observation_space, action_space, state_space: of a robot; no states if there is no critic's group.
    """

    num_agents = 1

    def __init__(
        self, env: Environment, *, seed: int | None = None, device: str = "cpu", action_bound: float | None = None
    ):
        """See the attributes.

        Args:
            env: the environment.
            seed: of what is drawn; None for that of the simulation.
            device: for tensors.
            action_bound: of the space of actions, as for `pliant.environment.gym.PliantVectorEnv`.
        """
        from pliant.environment.gym import action_space, observation_space

        self._torch = needs("torch", "skrl", "adapters.Skrl")
        self.environment, self.device, self.num_envs = env, self._torch.device(device), env.batch
        self.observation_space, self.action_space = observation_space(env), action_space(env, action_bound)
        has_critic = "critic" in env.observation_sizes
        self.state_space = observation_space(env, "critic") if has_critic else None
        self._seed, self._seen, self._pictures = seed, None, None

    @property
    def unwrapped(self) -> "Skrl":
        """Itself."""
        return self

    def reset(self) -> tuple[Any, dict[str, Any]]:
        """Begin episodes the first time; later on what robots see now, since they begin anew by themselves."""
        if self._seen is None:
            self._seen = self.environment.reset(self._seed)
        return self._tensor(self._seen["actor"]), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Go on by a control period.

        Returns:
            Observations (n, size), rewards, whether episodes are over, whether they were cut off, (n, 1) each, and
            infos, of which trainers log "episode".
        """
        x = self.environment.step(actions.detach().cpu().numpy())
        self._seen = x.observations
        terms = {f"Reward / {name}": self._tensor(values).mean() for name, values in self.environment.terms.items()}
        ended = (self._torch.from_numpy(y)[:, None].to(self.device) for y in (x.terminated, x.truncated))
        return self._tensor(x.observations["actor"]), self._tensor(x.rewards)[:, None], *ended, {"episode": terms}

    def state(self) -> Any:
        """What the critic sees now; None if there is no group for it."""
        if self.state_space is None or self._seen is None:
            return None
        return self._tensor(self._seen["critic"])

    def render(self, *args: Any, **options: Any) -> np.ndarray:
        """A picture of the first robot."""
        self._pictures = self._pictures or Pictures(self.environment.sim)
        return self._pictures.of(0)

    def close(self) -> None:
        """There is nothing to close."""

    def _tensor(self, values: np.ndarray) -> Any:
        return self._torch.from_numpy(values).to(self.device, self._torch.float32)
