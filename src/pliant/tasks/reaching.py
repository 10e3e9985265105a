"""An arm that brings its tool to places within its reach."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from pliant.catalogue import load
from pliant.chance import Chance
from pliant.environment import (
    Command, Environment, Event, JointTargets, Observation, Reward, events, observations, rewards,
)  # fmt: skip
from pliant.environment.distributions import as_distribution
from pliant.robot import Robot
from pliant.scalar import Scalar, cos, sin
from pliant.simulation import Simulation
from pliant.tasks.arriving import ArrivalJudge
from pliant.tasks.task import Task, register

STANCE = (0.0, 0.6, 0.0, 1.2, 0.0, 0.6, 0.0)
SHOULDER = (0.0, 0.0, 0.3)
"""Where the second joint of the shipped arm is [m]: targets are in a shell around it."""

TOLERANCE = 0.03
"""Between tool and target [m]."""


@dataclass(frozen=True)
class Shell(Command):
    """A place around a centre: at a distance [m], an azimuth and an elevation [rad], drawn from ranges.

    Attributes:
        center: of the shell [m].
        radius, azimuth, elevation: a distribution, a range (low, high) or a number each.
        interval: times between draws [s], a distribution or a range; None for one draw an episode.
    """

    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: Any = (0.4, 0.8)
    azimuth: Any = (-1.5, 1.5)
    elevation: Any = (-0.2, 1.0)
    interval: Any = None
    names: Sequence[str] = field(default=("x", "y", "z"), repr=False)

    def __post_init__(self) -> None:
        for name in ("radius", "azimuth", "elevation"):
            object.__setattr__(self, name, as_distribution(name, getattr(self, name), subject="Shell"))
        if self.interval is not None:
            object.__setattr__(self, "interval", as_distribution("interval", self.interval, subject="Shell"))

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of the sphere that has the shell in it."""
        far = float(getattr(self.radius, "high", 1.0))
        return [(x - far, x + far) for x in self.center]

    def draw(self, chance: Chance, level: Scalar) -> list[Scalar]:
        """A new place."""
        r, a, e = (x.draw(chance) for x in (self.radius, self.azimuth, self.elevation))
        x, y, z = self.center
        return [x + r * cos(e) * cos(a), y + r * cos(e) * sin(a), z + r * sin(e)]


@cache
def _robot() -> Robot:
    kp = (300, 300, 200, 200, 100, 60, 30)
    return load("arm7").with_motors(control="position", kp=list(kp), kd=[k / 10 for k in kp])


def environment(
    *,
    batch: int = 512,
    seed: int = 0,
    threads: int = 1,
    precision: str = "float32",
    timeout: float = 4.0,
    is_judged: bool = False,
) -> Environment:
    """The shipped arm with seven joints; its tool goes to a place that is drawn anew every few seconds.

    Args:
        is_judged: whether there is one place an episode.
    """
    sim = Simulation(_robot(), dt=1e-2, substeps=2, batch=batch, precision=precision, threads=threads, seed=seed)
    return Environment(
        sim,
        action=JointTargets(0.8),
        observations={
            "offset": Observation(observations.offset_to, frame="tool"),
            "target": Observation(observations.command, name="target"),
            "joints": Observation(observations.joint_offsets),
            "joint rates": Observation(observations.joint_velocities, scale=0.2),
            "last action": Observation(observations.last_action),
        },
        rewards={
            "near": Reward(rewards.reach, 1.0, frame="tool", width=0.3),
            "there": Reward(rewards.reach, 1.0, frame="tool", width=0.06),
            "action rate": Reward(rewards.action_rate, -0.01),
            "posture": Reward(rewards.posture, 0.1, width=2.0),
        },
        commands={"target": Shell(SHOULDER, interval=None if is_judged else (1.5, 3.0))},
        events={"start": Event(events.start_state, joints=0.3, velocity=0.2)},
        timeout=timeout,
        stance=STANCE,
        reward_scale=0.1,
    )


def distance_to_target(env: Environment) -> np.ndarray:
    """Between tool and target [m]."""
    from pliant.dynamics import frame_pose

    tool = np.asarray(frame_pose(env.sim.robot, env.sim.q, "tool"))[:, :3, 3]
    return np.linalg.norm(tool - env.command("target"), axis=1)


def _judge(seed: int = 1000, **options: Any) -> ArrivalJudge:
    limits = {k: options.pop(k) for k in ("robots", "seconds", "last", "share") if k in options}
    usual = {"robots": 512, "seconds": 3.0, "last": 0.5, "share": 0.95}
    return ArrivalJudge(
        lambda **sizes: environment(is_judged=True, **sizes, **options),
        {"distance": distance_to_target}, {"distance": TOLERANCE}, seed=seed, **usual | limits,
    )  # fmt: skip


register(
    Task(
        "reach", "an arm with seven joints brings its tool to places within its reach", environment, _judge,
        settings={"hidden": (64, 64), "discount": 0.97}, minutes=2.0,
    )
)  # fmt: skip
