"""What a task costs over the bare steps of its robots, compiled and in NumPy, and next to Gymnasium's MuJoCo robots.

    python -m bench.environment [--task quadruped] [--batches 1024 4096] [--rounds 5] [--json] [--short]

A control period of the quadruped's task: act, four steps of 5 ms, nine rewards, the end of episodes, commands, fifty
observations, new episodes. "steps" are the steps alone, with the same controls from the same states; "compiled" is the
task as it is, "NumPy" the same with rewards and terminations in NumPy. Actions are those of a policy that walks, if one
comes with Pliant, with the noise of the training. "Ant-v5" is Gymnasium's vector environment of the nearest kind: a
quadruped of MuJoCo, five steps of 10 ms a period, in one process. One thread. "overhead" is the time beyond that of the
steps. Checked: rewards are the same compiled and in NumPy.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bench.report import Report, failed, options_of
from bench.tables import Row
from pliant import Environment, Simulation, tasks
from pliant.environment import Reward, Termination
from pliant.errors import LearningError

_NOISE = 0.3
_SAME = 1e-4
"""Of rewards, in float32, whose terms NumPy adds in another order."""


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--task", default="quadruped", choices=list(tasks.tasks()))
    parser.add_argument("--batches", type=int, nargs="+", default=[1024, 4096])
    parser.add_argument("--periods", type=int, default=100, help="of one turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each; the best counts")
    options = parser.parse_args()
    if options.short:
        options.batches, options.periods, options.rounds = [64], 10, 1
    report = Report(options, task=options.task)
    title = f"{options.task}; time of a control period and robot [us], one thread"
    parts = {str(batch): partial(rows, options.task, batch, options) for batch in options.batches}
    report.table("environment", title, parts | {"Ant-v5": partial(ant, options)})
    report.finish()


def rows(name: str, batch: int, options: Any) -> Iterator[Row]:
    """The steps alone, the task, and the task in NumPy."""
    env = tasks.make(name, batch=batch)
    plain = in_numpy(name, batch)
    env.reset(seed=0)
    plain.reset(seed=0)
    act, bare, fault = actor(name, env), bare_steps(env), ""
    still = np.zeros((batch, env.action_size), np.float32)
    for compiled in (env.step, plain.step, partial(bare, env.sim.data.copy())):
        compiled(still)
    seen = env.reset(seed=0)
    times: dict[str, list[float]] = {"steps": [], "compiled": [], "NumPy": []}
    for k in range(options.periods * options.rounds):
        actions = act(seen["actor"])
        if k % 10 == 0:
            plain.state = env.state
        start = env.sim.data.copy()
        seconds, found = timed(partial(env.step, actions))
        times["compiled"].append(seconds)
        seen = found.observations
        times["steps"].append(timed(partial(bare, start, actions))[0])
        times["NumPy"].append(timed(partial(plain.step, actions))[0])
        if k % 10 == 0 and not fault:
            worst = max(float(np.abs(env.terms[n] - plain.terms[n]).max()) for n in env.terms)
            fault = f"rewards differ by {worst:.1e}" if worst > _SAME else ""
    best = {which: 1e6 / batch * best_turn(t, options.periods) for which, t in times.items()}
    for which, us in best.items():
        overhead = f"{us / best['steps'] - 1:.0%}" if which != "steps" else ""
        yield {
            "environment": name, "batch": batch, "way": which, "us": us, "periods/s": f"{1e6 / us:,.0f}",
            "overhead": overhead, **failed(f"{name} {batch}", fault if which == "NumPy" else ""),
        }  # fmt: skip


def in_numpy(name: str, batch: int) -> Environment:
    """The task with its rewards and terminations in NumPy."""
    env = tasks.make(name, batch=batch)
    plan = env.plan
    terms: dict[str, Any] = {
        n: Reward(t.function, t.weight, compiled=False, **t.parameters) if not t.memory else t
        for n, t in plan.rewards.items()
    }
    ends = {n: Termination(t.function, compiled=False, **t.parameters) for n, t in plan.terminations.items()}
    return Environment(
        env.sim, action=plan.action, observations=dict(plan.observations), rewards=terms, terminations=ends,
        commands=plan.commands, events=plan.events, curriculum=plan.curriculum, timeout=env.timeout, stance=plan.stance,
        reward_scale=plan.scale, reward_floor=plan.floor,
    )  # fmt: skip


def actor(name: str, env: Environment) -> Callable[[np.ndarray], np.ndarray]:
    """Actions of a trained policy with noise; noise alone if there is no such policy."""
    rng = np.random.default_rng(0)
    try:
        policy: Any = tasks.trained(name)
    except LearningError:
        policy = None

    def act(seen: np.ndarray) -> np.ndarray:
        noise = _NOISE * rng.standard_normal((env.batch, env.action_size), np.float32)
        return noise if policy is None else policy(seen) + noise

    return act


def bare_steps(env: Environment) -> Callable[[np.ndarray, np.ndarray], None]:
    """The steps of a control period, from a state and with the controls of actions."""
    made = env.sim
    model = made.model
    sim = Simulation(
        made.robot, dt=made.dt, substeps=made.plan.substeps, ground=model.ground, contact=model.contact,
        batch=env.batch, precision=made.precision, varying=list(made.parameters), coriolis=model.coriolis,
    )  # fmt: skip
    robot, scale = made.robot, np.array(env.plan.action.scale)  # type: ignore[attr-defined]
    held = np.array([env.plan.stance[robot.q_slice(motor.joint).start] for motor in robot.motors.values()])

    def steps(start: np.ndarray, actions: np.ndarray) -> None:
        sim.data[...] = start
        sim.parameters.data[...] = made.parameters.data
        sim.advance(np.ascontiguousarray(held + scale * actions, dtype=made.dtype))

    return steps


def ant(options: Any) -> Iterator[Row]:
    """Gymnasium's quadruped, as its own vector environment runs it."""
    import gymnasium

    batch = 8 if options.short else 64
    made = gymnasium.make_vec("Ant-v5", num_envs=batch, vectorization_mode="sync")
    made.reset(seed=0)
    rng, found = np.random.default_rng(0), []
    for _ in range(options.periods):
        actions = rng.uniform(-1, 1, made.action_space.shape).astype(np.float32)
        found.append(timed(partial(made.step, actions))[0])
    us = 1e6 / batch * best_turn(found, max(1, options.periods // 4))
    made.close()
    yield {
        "environment": "Ant-v5",
        "batch": batch,
        "way": "Gymnasium",
        "us": us,
        "periods/s": f"{1e6 / us:,.0f}",
        "overhead": "",
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Time of the processor [s], and the result."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def best_turn(times: list[float], length: int) -> float:
    """The shortest mean over so many periods in a row [s]."""
    means = [float(np.mean(times[k : k + length])) for k in range(0, len(times) - length + 1, length)]
    return min(means)


if __name__ == "__main__":
    main()
