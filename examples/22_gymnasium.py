"""Learners from outside: the ready tasks in Gymnasium, its three ways to begin again, and a policy that is found there.

python examples/22_gymnasium.py

With stable-baselines3 installed (`pip install 'pliant[stable-baselines3]'`), it learns on the same task, too.
"""

import importlib.util
import time

import gymnasium
import numpy as np

from pliant.environment import Environment
from pliant.environment.gym import PliantVectorEnv

TASK = "pliant.tasks.gym:Pliant/cartpole-balance-v0"


def main() -> None:
    many_robots()
    three_ways_to_begin_again()
    search()
    learn_with_stable_baselines()


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def environment_of(env: gymnasium.vector.VectorEnv) -> Environment:
    """Pliant's own, inside Gymnasium's."""
    inside = env.unwrapped
    assert isinstance(inside, PliantVectorEnv)
    return inside.environment


def many_robots() -> None:
    title("1. A task by its id")
    env = gymnasium.make_vec(TASK, num_envs=1024)
    print(f"{env}: observations {env.single_observation_space.shape}, actions {env.single_action_space}")
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = env.action_space.sample()
    env.step(actions)
    start = time.perf_counter()
    for _ in range(100):
        env.step(actions)
    print(f"{100 * 1024 / (time.perf_counter() - start):,.0f} steps a second on one thread")
    terms = env.step(actions)[-1]["reward_terms"]
    means = {name: float(values.mean()) for name, values in terms.items() if not name.startswith("_")}
    print("rewards by name:", ", ".join(f"{name} {mean:+.2f}" for name, mean in means.items()))


def three_ways_to_begin_again() -> None:
    title("2. When an episode ends")
    for mode in ("SameStep", "NextStep", "Disabled"):
        env = gymnasium.make_vec(TASK, num_envs=4, autoreset_mode=mode, timeout=0.04)
        env.reset(seed=0)
        still = np.zeros((4, 1), dtype=np.float32)
        ages, infos = [], {}
        for _ in range(4):
            _, _, terminated, truncated, infos = env.step(still)
            ended = terminated | truncated
            ages.append(int(environment_of(env).ages[0]))
            if mode == "Disabled" and ended.any():
                env.reset(options={"reset_mask": ended})
        last = "final_obs" in infos
        print(f"{mode + ':':10} periods since the start after each step {ages}, final_obs in infos: {last}")


def search(robots: int = 256, generations: int = 8) -> None:
    title("3. A policy by cross-entropy search, each robot with its own")
    env = gymnasium.make_vec(TASK, num_envs=robots)
    rng = np.random.default_rng(0)
    mean, spread = np.zeros(5), np.full(5, 3.0)
    for _ in range(generations):
        policies = mean + spread * rng.normal(size=(robots, 5))
        lengths = held(env, policies)
        best = policies[np.argsort(-lengths)[: robots // 8]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        print(f"  the pole stands for {lengths.mean():.1f} s on average")
    alone = held(env, np.tile(mean, (robots, 1)), seed=1)
    print(f"the mean of the best, from {robots} other starts: {alone.mean():.2f} of 5 s, at least {alone.min():.2f} s")
    if alone.mean() < 4.5:
        raise SystemExit("the search has found no policy that balances")


def held(env: gymnasium.vector.VectorEnv, policies: np.ndarray, seed: int = 0) -> np.ndarray:
    """How long the first episode of each robot lasts, under its own linear policy [s]."""
    seen, _ = env.reset(seed=seed)
    period = environment_of(env).period
    lengths, goes_on = np.zeros(len(policies)), np.ones(len(policies), dtype=bool)
    while goes_on.any():
        actions = np.einsum("ij,ij->i", seen, policies)[:, None].astype(np.float32)
        seen, _, terminated, truncated, _ = env.step(np.clip(actions, -1, 1))
        lengths += period * goes_on
        goes_on &= ~(terminated | truncated)
    return lengths


def learn_with_stable_baselines(steps: int = 40_000) -> None:
    title("4. stable-baselines3")
    if importlib.util.find_spec("stable_baselines3") is None:
        print("it is not installed: pip install 'pliant[stable-baselines3]'")
        return
    import stable_baselines3  # pyright: ignore[reportMissingImports]

    import pliant.tasks
    from pliant.environment.adapters import stable_baselines

    env = stable_baselines(pliant.tasks.make("cartpole-balance", batch=16))
    model = stable_baselines3.PPO("MlpPolicy", env, n_steps=64, batch_size=256, learning_rate=1e-3, seed=0)
    start = time.perf_counter()
    model.learn(steps)
    judged = pliant.tasks.make("cartpole-balance", batch=64)
    seen, lasted, goes_on = judged.reset(seed=1)["actor"], np.zeros(64), np.ones(64, dtype=bool)
    for _ in range(judged.plan.limit):
        x = judged.step(model.predict(seen, deterministic=True)[0])
        lasted += judged.period * goes_on
        seen, goes_on = x.observations["actor"], goes_on & ~(x.terminated | x.truncated)
    seconds = time.perf_counter() - start
    print(f"after {steps:,} steps in {seconds:.0f} s the pole stands for {lasted.mean():.1f} of 5 s")


if __name__ == "__main__":
    main()
