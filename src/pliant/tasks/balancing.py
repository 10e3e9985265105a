"""A cart that balances its pole, and one that swings it up first."""

from functools import cache
from math import pi
from typing import Any

import numpy as np

from pliant.catalogue import load
from pliant.environment import (
    Controls, Environment, Event, Now, Observation, Reward, Termination, events, observations, rewards,
    terminations,
)  # fmt: skip
from pliant.robot import Robot
from pliant.scalar import Scalar, cos, exp
from pliant.simulation import Simulation
from pliant.tasks.arriving import ArrivalJudge
from pliant.tasks.task import Task, register

FORCE = 10.0
"""On the cart for an action of 1, and the most that the motor has [N]."""

LEAN, AWAY = 0.2, 0.5
"""What counts as upright [rad], and as near the middle of the rail [m]."""


@cache
def _robot() -> Robot:
    return load("cart_pole")


def centered(now: Now, joint: str, width: float = 1.0) -> Scalar:
    """1 if the coordinate of a joint is zero; exp(-coordinate^2 / width^2) [m or rad]."""
    x = now.q[now.robot.q_slice(joint).start]
    return exp(-x * x / width**2)


def quiet_upright(now: Now, joint: str, width: float = 2.0) -> Scalar:
    """1 if a joint is upright and at rest: (1 + cos) / 2 times exp(-rate^2 / width^2) [rad/s]."""
    angle, rate = now.q[now.robot.q_slice(joint).start], now.v[now.robot.v_slice(joint).start]
    return (1 + cos(angle)) / 2 * exp(-rate * rate / width**2)


def environment(
    *,
    hangs: bool,
    batch: int = 256,
    seed: int = 0,
    threads: int = 1,
    precision: str = "float32",
    timeout: float | None = None,
) -> Environment:
    """The shipped cart-pole.

    Args:
        hangs: whether the pole hangs at the start, else it stands.
        timeout: length of episodes [s]; by default 10 s, or 5 s where it stands.
    """
    sim = Simulation(_robot(), dt=1e-2, substeps=2, batch=batch, precision=precision, threads=threads, seed=seed)
    ends = {"away": Termination(terminations.joint_beyond, joint="slider", most=2.3)}
    if not hangs:
        ends["fell"] = Termination(terminations.joint_beyond, joint="hinge", most=0.5)
    scored = {
        "upright": Reward(rewards.upright_joint, 1.0, joint="hinge"),
        "middle": Reward(centered, 0.5, joint="slider", width=0.5),
        "effort": Reward(rewards.action_size, -0.01),
    }
    if hangs:
        scored["quiet"] = Reward(quiet_upright, 1.0, joint="hinge")
    return Environment(
        sim,
        action=Controls(FORCE, clip=1.0),
        observations={
            "place": Observation(observations.coordinates, joints=["slider"]),
            "angle": Observation(observations.angles, joints=["hinge"]),
            "rates": Observation(observations.rates, joints=["slider", "hinge"], scale=0.2),
        },
        rewards=scored,
        terminations=ends,
        events={"start": Event(events.start_state, joints=0.5, velocity=0.5)},
        timeout=(10.0 if hangs else 5.0) if timeout is None else timeout,
        stance=(0.0, pi if hangs else 0.0),
        reward_scale=0.1,
    )


def lean(env: Environment) -> np.ndarray:
    """Angle between the pole and the vertical [rad]."""
    return np.abs((env.sim.q[:, 1] + pi) % (2 * pi) - pi)


def distance_from_middle(env: Environment) -> np.ndarray:
    """Of the cart [m]."""
    return np.abs(env.sim.q[:, 0])


def _balancing(name: str, what: str, *, hangs: bool, **more: Any) -> None:
    def made(**options: Any) -> Environment:
        return environment(hangs=hangs, **options)

    def judge(seed: int = 1000, **options: Any) -> ArrivalJudge:
        limits = {k: options.pop(k) for k in ("robots", "seconds", "last", "share") if k in options}
        errors = {"lean": lean, "distance": distance_from_middle}
        return ArrivalJudge(
            lambda **sizes: made(**sizes, **options), errors, {"lean": LEAN, "distance": AWAY}, seed=seed, **limits
        )

    register(Task(name, what, made, judge, **more))


_balancing(
    "cartpole-balance", "a cart balances its pole and comes to the middle of the rail", hangs=False, batch=256,
    settings={"hidden": (16, 16)}, minutes=0.5,
)  # fmt: skip
_balancing(
    "cartpole-swingup", "a cart swings its pole up from hanging, and balances it", hangs=True, batch=256,
    settings={"averaging": 20.0}, minutes=1.5,
)  # fmt: skip
