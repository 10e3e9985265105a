"""Small tasks: a cart that balances its pole, in a few numbers."""

from typing import Any

import pliant
from pliant.environment import (
    Controls,
    Environment,
    Event,
    Observation,
    Reward,
    Termination,
    events,
    observations,
    rewards,
    terminations,
)

JOINTS = ("slider", "hinge")


def balance(
    batch: int = 8, seed: int = 0, *, critic: bool = False, timeout: float = 4.0, **options: Any
) -> Environment:
    """Balance a pole: 20 ms a period, the end beyond 0.3 rad or 1 m.

    ``critic`` gives the critic a group of its own; options go to the environment, but threads and precision, which
    go to the simulation.
    """
    own = {name: options.pop(name) for name in ("threads", "precision") if name in options}
    robot = pliant.load("cart_pole")
    sim = pliant.Simulation(robot, dt=0.01, substeps=2, batch=batch, seed=seed, **{"precision": "float32", **own})
    seen: dict[str, Any] = {
        "place": Observation(observations.coordinates, joints=JOINTS),
        "speed": Observation(observations.rates, joints=JOINTS, clip=10.0, scale=0.5),
    }
    groups = {"actor": seen, "critic": {**seen, "action": observations.last_action}} if critic else seen
    given: dict[str, Any] = {
        "action": Controls(10.0, clip=1.0),
        "observations": groups,
        "rewards": {"upright": Reward(rewards.upright_joint, joint="hinge"), "effort": (rewards.action_size, -0.01)},
        "terminations": {
            "fell": Termination(terminations.joint_beyond, joint="hinge", most=0.3),
            "away": Termination(terminations.joint_beyond, joint="slider", most=1.0),
        },
        "events": {"start": Event(events.start_state, joints=0.1, velocity=0.2)},
        "timeout": timeout,
    }
    return Environment(sim, **(given | options))
