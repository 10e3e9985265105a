"""Learners from outside on the small task, for real: stable-baselines3, rsl-rl and skrl, as far as they are installed.

python tests/outside_learners.py

Each learns to balance a pole, and must then hold it for longer than it did at first. They bring torch, so that no test
imports them; `tests/environment/test_adapters.py` has their interfaces.
"""

import importlib.metadata
import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from small_tasks import balance

from pliant.environment.adapters import RslRl, Skrl, stable_baselines


def held(act: Callable[[np.ndarray], np.ndarray], periods: int = 200) -> float:
    """Mean length of the first episodes of 64 robots [periods], of at most 200."""
    env = balance(64, seed=7, critic=True)
    seen, length = env.reset(seed=7), np.zeros(64)
    alive = np.ones(64, dtype=bool)
    for _ in range(periods):
        length += alive
        x = env.step(act(seen["actor"]))
        alive &= ~(x.terminated | x.truncated)
        seen = x.observations
    return float(length.mean())


def with_stable_baselines() -> tuple[float, float]:
    import stable_baselines3
    from stable_baselines3.common.env_checker import check_env
    from stable_baselines3.common.vec_env import VecMonitor

    from pliant.environment.gym import PliantEnv

    check_env(PliantEnv(balance(1)))
    env = VecMonitor(stable_baselines(balance(16)))
    model = stable_baselines3.PPO("MlpPolicy", env, n_steps=64, batch_size=256, learning_rate=1e-3, seed=0)

    def act(seen: np.ndarray) -> np.ndarray:
        return model.predict(seen, deterministic=True)[0]

    before = held(act)
    model.learn(40_000)
    return before, held(act)


def with_rsl_rl() -> tuple[float, float]:
    import torch
    from rsl_rl.runners import OnPolicyRunner

    torch.manual_seed(0)
    network = {
        "class_name": "MLPModel", "hidden_dims": [32, 32], "activation": "tanh", "obs_normalization": False,
    }  # fmt: skip
    gaussian = {"class_name": "GaussianDistribution", "init_std": 0.7, "std_type": "scalar"}
    settings: dict[str, Any] = {
        "seed": 0, "num_steps_per_env": 24, "save_interval": 1000, "check_for_nan": True,
        "obs_groups": {"actor": ["actor"], "critic": ["critic"]},
        "actor": {**network, "distribution_cfg": gaussian},
        "critic": dict(network),
        "algorithm": {
            "class_name": "PPO", "num_learning_epochs": 5, "num_mini_batches": 4, "clip_param": 0.2, "gamma": 0.99,
            "lam": 0.95, "value_loss_coef": 1.0, "entropy_coef": 0.002, "learning_rate": 1e-3, "schedule": "adaptive",
            "desired_kl": 0.01, "max_grad_norm": 1.0, "use_clipped_value_loss": True,
        },
    }  # fmt: skip
    runner = OnPolicyRunner(RslRl(balance(64, critic=True), seed=0), settings, log_dir=None, device="cpu")

    def act(seen: np.ndarray) -> np.ndarray:
        policy = runner.get_inference_policy(device="cpu")
        with torch.inference_mode():
            return policy({"actor": torch.from_numpy(seen)}).numpy()

    before = held(act)
    runner.learn(40, init_at_random_ep_len=True)
    return before, held(act)


def with_skrl() -> tuple[float, float]:
    import torch
    from skrl.agents.torch.ppo import PPO, PPO_CFG
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
    from skrl.trainers.torch import SequentialTrainer
    from skrl.utils import set_seed

    set_seed(0)
    env = Skrl(balance(64, critic=True), seed=0)

    def network(n: int, out: int) -> torch.nn.Module:
        layers = [torch.nn.Linear(n, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh()]
        return torch.nn.Sequential(*layers, torch.nn.Linear(32, out))

    class Actor(GaussianMixin, Model):
        def __init__(self) -> None:
            Model.__init__(
                self, observation_space=env.observation_space, state_space=env.state_space,
                action_space=env.action_space, device=env.device,
            )  # fmt: skip
            GaussianMixin.__init__(self)
            self.net = network(self.num_observations, self.num_actions)
            self.log_std = torch.nn.Parameter(torch.full((self.num_actions,), -0.4))

        def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
            return self.net(inputs["observations"]), {"log_std": self.log_std}

    class Critic(DeterministicMixin, Model):
        def __init__(self) -> None:
            Model.__init__(
                self, observation_space=env.observation_space, state_space=env.state_space,
                action_space=env.action_space, device=env.device,
            )  # fmt: skip
            DeterministicMixin.__init__(self)
            self.net = network(self.num_states, 1)

        def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
            return self.net(inputs["states"]), {}

    actor = Actor()
    cfg = PPO_CFG(rollouts=24, learning_epochs=5, mini_batches=4)
    agent = PPO(
        models={"policy": actor, "value": Critic()}, cfg=cfg, device=env.device,
        memory=RandomMemory(memory_size=24, num_envs=64, device=env.device),
        observation_space=env.observation_space, state_space=env.state_space, action_space=env.action_space,
    )  # fmt: skip

    def act(seen: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return actor.net(torch.from_numpy(seen)).numpy()

    before = held(act)
    trainer = SequentialTrainer(
        env=env, agents=agent, cfg={"timesteps": 24 * 150, "headless": True, "disable_progressbar": True}
    )
    trainer.train()
    return before, held(act)


LEARNERS = {
    "stable_baselines3": with_stable_baselines,
    "rsl_rl": with_rsl_rl,
    "skrl": with_skrl,
}


def main() -> None:
    failed = []
    for name, learn in LEARNERS.items():
        if importlib.util.find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        start = time.perf_counter()
        before, after = learn()
        version = importlib.metadata.version({"rsl_rl": "rsl-rl-lib"}.get(name, name))
        print(f"{name} {version}: held for {before:.0f} of 200 periods, after learning {after:.0f}", end="")
        print(f", in {time.perf_counter() - start:.0f} s")
        if not after > max(2 * before, 150):
            failed.append(name)
    if failed:
        sys.exit(f"did not learn: {', '.join(failed)}")


if __name__ == "__main__":
    main()
