"""What users get wrong: each error names the term, the place and the cure."""

from typing import Any

import numpy as np
import pytest
from small_tasks import balance

import pliant
from pliant.environment import (
    Action,
    Controls,
    Environment,
    JointTargets,
    LogUniform,
    Normal,
    Observation,
    Reward,
    Termination,
    Uniform,
    observations,
    rewards,
    terminations,
)
from pliant.errors import PliantError, SimulationError, TraceError
from pliant.math import log, sqrt

ONES = np.ones((2, 1))


def begun(**options: Any) -> Environment:
    env = balance(2, **options)
    env.reset(seed=0)
    return env


def one_reward(function: Any, **options: Any) -> dict[str, Any]:
    return {"rewards": {"mine": Reward(function, **options)}}


def one_observation(function: Any, **options: Any) -> dict[str, Any]:
    return {"observations": {"mine": Observation(function, **options)}}


# ---- terms


def branching(now: Any) -> Any:
    return 1 if now.q[0] > 0 else 0


@pytest.mark.parametrize(("options", "what"), [
    (one_reward(branching), "reward 'mine'"),
    (one_observation(branching), "observation 'actor.mine'"),
    ({"terminations": {"mine": Termination(branching)}}, "termination 'mine'"),
])  # fmt: skip
def test_branches_on_numbers_are_named_when_the_environment_is_made(options: dict, what: str) -> None:
    with pytest.raises(TraceError, match=rf"(?s){what}.*select\(condition, a, b\).*compiled=False") as caught:
        balance(2, **options)
    assert caught.value.subject == what


def test_branches_in_actions_too() -> None:
    with pytest.raises(TraceError, match=r"(?s)action 'turned'.*select\(condition, a, b\)"):

        def turned(action: Any, now: Any) -> list[Any]:
            return [1.0 if action[0] > 0 else -1.0]

        begun(action=Action(turned, size=1)).step(ONES)


@pytest.mark.parametrize(("options", "text"), [
    (one_reward(lambda now: [1.0, 2.0]), "reward mine has 2 numbers.*return one number"),
    (one_reward(lambda now: "much"), "reward 'mine' returned 'much'.*return a number"),
    (one_reward(lambda now: None), "reward 'mine' returned None"),
    (one_reward(lambda now: float("nan")), "reward 'mine' is nan.*finite"),
    (one_observation(lambda now: [now.q[0], float("inf")]), "observation 'actor.mine' is inf.*finite"),
    (one_observation(lambda now: {"q": now.q[0]}), "observation 'actor.mine' returned"),
    ({"terminations": {"mine": lambda now: [now.q[0] > 0, now.q[0] < 0]}}, "termination mine has 2 numbers"),
    (one_reward(lambda now: now.q[7]), "reward 'mine' raised IndexError"),
    (one_reward(lambda now: now.speed), "reward 'mine' raised AttributeError.*speed"),
    (one_reward(lambda now, memory: now.q[0], memory=[0.0]), r"reward 'mine' has a memory.*return \(value, memory\)"),
    (one_reward(lambda now, memory: (0, [1, 2]), memory=[0.0]), "reward 'mine' returned 2 memories of 1"),
    (one_observation("imu.gyro"), "no channel named 'imu.gyro'"),
    (one_observation(observations.command), "no command named 'velocity'"),
    (one_observation(observations.parameter, path="friction"), "no varying parameter named 'friction'"),
    (one_observation(observations.contacts, feet=("foot",)), "no contact named 'foot'"),
    (one_observation(observations.position, frame="hand"), "'hand'"),
    (one_observation(observations.angles, joints=("knee",)), "'knee'.*slider"),
])  # fmt: skip
def test_terms_that_fail_are_named(options: dict, text: str) -> None:
    with pytest.raises(PliantError, match=f"(?s){text}"):
        begun(**options).step(ONES)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "numpy"])
@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered:RuntimeWarning")
@pytest.mark.parametrize(("kind", "text"), [
    (one_reward, "reward 'mine' of robot 1 is nan"),
    (one_observation, "observation 'mine' of 'actor' of robot 1 is nan"),
])  # fmt: skip
def test_a_term_that_becomes_nan_is_named_with_its_robot(kind: Any, text: str, compiled: bool) -> None:
    env = begun(**kind(lambda now: sqrt(0.5 - now.q[1]), compiled=compiled))
    q = env.sim.q.copy()
    q[1, 1] = 0.6
    env.sim.data[:, env.sim.layout.span("q")] = q
    with pytest.raises(SimulationError, match=rf"{text}.*env\.sim\.q\[1\]"):
        env.step(0 * ONES)


def test_a_term_that_is_infinite_at_the_start() -> None:
    with pytest.raises(SimulationError, match=r"observation 'mine' of 'actor' of robot 0 is (-inf|nan|inf)"):
        begun(**one_observation(lambda now: log(now.t)))


def test_terms_in_numpy_have_a_number_for_each_robot() -> None:
    with pytest.raises(SimulationError, match=r"reward mine has the shape \(3,\).*an array \(2,\)"):
        begun(**one_reward(lambda now: np.ones(3), compiled=False)).step(ONES)
    sizes = iter([2, 2, 3, 3, 3])
    text = r"observation actor.mine has 3 numbers now, and had 2.*as many each time"
    with pytest.raises(SimulationError, match=text):
        env = begun(**one_observation(lambda now: [now.q[0]] * next(sizes), compiled=False))
        env.step(ONES)
    with pytest.raises(SimulationError, match=r"reward 'bold' has a memory, and runs in NumPy.*compile it"):

        def bold(now: Any, memory: Any) -> Any:
            return 0, memory

        Reward(bold, memory=[0.0], compiled=False)


def test_numpy_does_what_tracing_cannot() -> None:
    env = begun(**one_reward(lambda now: np.sort(now.q, axis=0)[0], compiled=False))
    env.step(ONES)
    assert np.array_equal(env.terms["mine"], env.sim.q.min(axis=1))
    rows = begun(**one_observation(lambda now: now.q, compiled=False))
    assert np.array_equal(rows.step(ONES).observations["actor"], rows.sim.q)


@pytest.mark.parametrize(("make", "text"), [
    (lambda: Reward(rewards.track_turning, widht=0.5), r"reward 'track_turning' is called with \(now, widht\).*widht"),
    (lambda: Reward(rewards.reach), "reward 'reach' is called with.*frame"),
    (lambda: Reward(3), "reward.*a function of now"),
    (lambda: Reward(rewards.alive, float("nan")), "weight of reward 'alive'.*finite"),
    (lambda: Reward(rewards.alive, "much"), "weight of reward 'alive'.*finite"),
    (lambda: Reward(rewards.alive, memory=[np.nan]), "memory of a reward.*finite"),
    (lambda: Observation(observations.height, scale=np.inf), "scale of observation 'height'.*finite"),
    (lambda: Observation(observations.height, clip=0), "clip of observation 'height'.*above zero"),
    (lambda: Observation(observations.height, noise=-1), "noise of observation 'height'.*0 or more"),
    (lambda: Observation(observations.height, noise="some"), "noise of observation 'height'"),
    (lambda: Observation(observations.height, delay=-1), "delay of observation 'height'.*whole control periods"),
    (lambda: Observation(observations.height, delay=(3, 1)), "delay of observation 'height'.*whole control periods"),
    (lambda: Observation(observations.height, delay=0.5), "delay of observation 'height'.*whole control periods"),
    (lambda: Observation(observations.height, history=0), "history of observation 'height'.*1 or more"),
    (lambda: Uniform(1.0, 0.0), "high of Uniform.*1 or more"),
    (lambda: LogUniform(0.0, 1.0), "low of LogUniform.*above zero"),
    (lambda: Normal(0.0, -1.0), "deviation of Normal.*0 or more"),
    (lambda: Action(3), "action"),
    (lambda: Action(lambda action: action), "action"),
    (lambda: Controls(clip=-1.0), "clip of action.*above zero"),
    (lambda: JointTargets(np.nan), "scale of the action.*finite"),
])  # fmt: skip
def test_bad_terms(make: Any, text: str) -> None:
    with pytest.raises(PliantError, match=f"(?s){text}"):
        make()


# ---- environments


@pytest.mark.parametrize(("options", "text"), [
    ({"observations": {}}, "observations.*terms by name"),
    ({"observations": [observations.height]}, "observations.*terms by name"),
    ({"observations": {"critic": {"h": observations.height}}}, "observations have the groups 'critic'.*'actor'"),
    ({"observations": {"h": Reward(rewards.alive)}}, "observation 'h' is given as Reward.*Observation"),
    ({"rewards": {}}, "rewards.*one term or more"),
    ({"rewards": [rewards.alive]}, "rewards.*a dict of rewards by name"),
    ({"rewards": {"a": (rewards.alive, 1.0, 2.0)}}, "reward.*a function of now"),
    ({"rewards": {"": rewards.alive}}, "name of a reward.*a name"),
    ({"terminations": {"f": Observation(observations.height)}}, "termination 'f' is given as Observation.*Termination"),
    ({"terminations": {"f": terminations.joint_beyond}}, "termination 'joint_beyond' is called with"),
    ({"timeout": 0.0}, "timeout.*above zero"),
    ({"reward_scale": -1.0}, "reward_scale.*above zero"),
    ({"reward_floor": np.nan}, "reward_floor.*finite"),
    ({"action": rewards.alive}, "action.*an Action"),
    ({"action": Controls([1.0, 2.0])}, "scale of the action.*one number, or 1"),
    ({"action": Action(lambda a, now: [0.0, 0.0], size=1)}, "returned 2 controls.*return 1"),
    ({"action": Action(lambda a, now: 0.0, size=1)}, "returned 0.0.*return 1"),
    ({"curriculum": 3}, "curriculum.*a Curriculum"),
    ({"stance": [0.0]}, "stance.*2 finite numbers"),
    ({"stance": [0.0, np.nan]}, "stance.*2 finite numbers"),
])  # fmt: skip
def test_bad_environments(options: dict, text: str) -> None:
    with pytest.raises(PliantError, match=f"(?s){text}"):
        begun(**options).step(ONES)


def test_a_simulation_has_a_batch() -> None:
    sim = pliant.Simulation(pliant.load("cart_pole"))
    with pytest.raises(PliantError, match=r"sim.*a Simulation with a batch"):
        Environment(sim, observations={"h": observations.height}, rewards={"a": rewards.alive})


# ---- running


def test_steps_take_finite_actions_of_all_robots_after_a_reset() -> None:
    env = balance(2)
    for call in (lambda: env.step(ONES), lambda: env.restart([0])):
        with pytest.raises(SimulationError, match=r"has not begun.*env\.reset\(\)"):
            call()
    env.reset(seed=0)
    for wrong in (np.ones(1), np.ones((3, 1)), np.ones((2, 2))):
        with pytest.raises(SimulationError, match=r"(?s)actions have shape.*\(2, 1\): slider of each robot"):
            env.step(wrong)
    with pytest.raises(SimulationError, match=r"action 'slider' of robot 1 is nan.*finite"):
        env.step([[0.0], [np.nan]])
    with pytest.raises(PliantError, match="actions"):
        env.step("left")
    with pytest.raises(PliantError, match="robots"):
        env.restart([5])
    with pytest.raises(PliantError, match=r"seed.*a whole number"):
        env.reset(seed=-1)
    for wrong in ([1], [0.5, 1.0], [-1, 0]):
        with pytest.raises(PliantError, match=r"ages.*2 whole numbers"):
            env.ages = wrong
    env.step(ONES)  # nothing of this has harmed it


def test_weights_of_rewards_that_do_not_exist() -> None:
    env = balance(2)
    with pytest.raises(SimulationError, match=r"no reward named 'uprigth'.*'upright'"):
        env.weights["uprigth"] = 1.0
    with pytest.raises(SimulationError, match=r"no reward named 'lost'"):
        env.weights.update(lost=1.0)
    with pytest.raises(PliantError, match=r"weight of reward 'effort'.*finite"):
        env.weights["effort"] = np.nan
    with pytest.raises(SimulationError, match=r"reward 'effort' cannot be deleted.*0"):
        del env.weights["effort"]
    assert dict(env.weights) == {"upright": 1.0, "effort": -0.01} and repr(env.weights) == str(dict(env.weights))


def test_states_of_another_environment() -> None:
    env = begun()
    state = env.state
    with pytest.raises(SimulationError, match=r"'episode' of the state is absent.*same environment"):
        env.state = {"state": state["state"]}
    with pytest.raises(SimulationError, match=r"'state' of the state is \(3, \d+\), and \(2, \d+\) here"):
        env.state = {**state, "state": np.zeros((3, state["state"].shape[1]))}
    assert np.array_equal(env.state["state"], state["state"])
