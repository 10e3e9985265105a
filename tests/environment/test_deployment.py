"""A policy as a controller does what it does in its environment."""

import numpy as np
import pytest

import pliant
from pliant.environment import (
    Clock, Environment, Event, Observation, Reward, Target, Velocity, events, observations, rewards,
)  # fmt: skip
from pliant.errors import SimulationError
from pliant.scalar import sin

PERIOD = 0.02


class Waves:
    """Some function of all that is seen, generic over the scalar."""

    def __init__(self, n: int, actions: int):
        self.weights = np.random.default_rng(0).normal(size=(actions, n)).astype(np.float32)

    def network(self, x):
        return [sin(sum(float(w) * a for w, a in zip(row, x, strict=True))) for row in self.weights]

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        return np.sin(seen @ self.weights.T)


def environment(batch: int = 3, **extra: object) -> Environment:
    robot = pliant.load("cart_pole")
    sim = pliant.Simulation(robot, dt=PERIOD / 4, substeps=4, batch=batch)
    seen = {
        "joints": Observation(observations.coordinates, joints=list(robot.joints), delay=2),
        "rates": Observation(observations.rates, joints=list(robot.joints), scale=0.1, history=3, noise=0.0),
        "action": observations.last_action,
        "target": Observation(observations.command, name="target"),
        "clock": Observation(observations.clock, stops_with=None),
        "peak": Observation(_peak, memory=[0.0]),
    }
    return Environment(
        sim,
        observations={"actor": seen | extra},
        rewards={"alive": (rewards.alive, 1.0)},
        commands={"target": Target(((-1.0, 1.0),)), "gait": Clock(1.5)},
        events={"start": Event(events.start_state, joints=0.0, velocity=0.5)},
    )


def _peak(now, memory):
    """The largest coordinate so far."""
    largest = pliant.math.maximum(memory[0], now.q[0])
    return largest, [largest]


def test_it_moves_as_in_the_environment() -> None:
    # both compute the same formulas in float64, in another order where the compiler sees fit
    env = environment()
    env.reset(seed=4)
    env.set_command("target", [0.7])
    env._part("command gait")[:, 0] = 0
    seen = env.look()
    policy = Waves(seen["actor"].shape[1], 1)
    sim = pliant.Simulation(env.sim.robot, dt=PERIOD / 4, substeps=4, batch=3, controller=env.controller(policy))
    sim.reset(q=env.sim.q, v=env.sim.v)
    for _ in range(40):
        seen = env.step(policy(seen["actor"])).observations
        sim.step([0.7])
        assert np.allclose(sim.q, env.sim.q, rtol=0, atol=1e-9)
    assert np.abs(sim.q).max() > 0.01


def test_it_runs_from_event_to_event() -> None:
    env = environment(1)
    n = env.observation_sizes["actor"]
    controller = env.controller(Waves(n, 1))
    by_steps = pliant.Simulation(env.sim.robot, dt=PERIOD / 200, substeps=200, controller=controller)
    by_events = pliant.EventSimulation(env.sim.robot)
    log = by_events.run(0.4, controller=controller, commands=[0.7], period=PERIOD)
    by_steps.run(0.4, commands=[0.7])
    # steps of 0.1 ms are off by as much as a step makes of the acceleration
    assert np.allclose(log.q[-1], by_steps.q, rtol=0, atol=2e-3)


def test_commands_come_from_outside_and_clocks_do_not() -> None:
    env = environment(1)
    assert env.controller(Waves(env.observation_sizes["actor"], 1)).commands == 1


def test_what_a_controller_cannot_know_is_named() -> None:
    env = environment(1, torques=Observation(observations.torques))
    controller = env.controller(Waves(env.observation_sizes["actor"], 1))
    with pytest.raises(SimulationError, match=r"torques of the motors.*leave this observation out"):
        pliant.Simulation(env.sim.robot, dt=PERIOD, controller=controller).step([0.0])


def test_a_policy_from_sensors_takes_nothing_else() -> None:
    robot = pliant.load("cart_pole").with_sensor("encoder", "hinge", name="encoder", rate=200)
    sim = pliant.Simulation(robot, dt=PERIOD / 4, substeps=4, batch=2)
    env = Environment(
        sim,
        observations={"pole": Observation("encoder.position"), "action": observations.last_action},
        rewards={"still": Reward(rewards.action_size, -1.0)},
    )
    seen = env.reset(seed=0)
    policy = Waves(seen["actor"].shape[1], 1)
    walking = pliant.Simulation(robot, dt=PERIOD / 4, substeps=4, batch=2, controller=env.controller(policy))
    walking.reset(q=env.sim.q, v=env.sim.v)
    for _ in range(20):
        seen = env.step(policy(seen["actor"])).observations
        walking.step()
    assert np.allclose(walking.q, env.sim.q, rtol=0, atol=1e-9)
    with pytest.raises(SimulationError, match="readings of sensors"):
        pliant.Simulation(robot, dt=PERIOD / 4, controller=env.controller(policy, from_sensors=False)).step()


def test_ranges_of_commands() -> None:
    assert Velocity((-1, 1), (0, 0), (-0.5, 0.5)).bounds == [(-1, 1), (-0.1, 0.1), (-0.5, 0.5)]
