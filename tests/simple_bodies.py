"""Balls, blocks and other robots of one or two bodies whose motion is known in closed form."""

import math
from typing import Any

import numpy as np

import pliant
from pliant.robot import Robot, RobotBuilder

G = 9.81


def ball(*, mass: float = 1, radius: float = 0.1, gravity: float = G, **contact: Any) -> Robot:
    """A free solid sphere that touches all around."""
    i = 0.4 * mass * radius**2
    builder = RobotBuilder("ball").gravity(0, 0, -gravity)
    builder.body("ball", mass, (0, 0, 0), (i, 0, 0, i, 0, i))
    return builder.build(base="free").with_contact("ball", radius=radius, **contact)


def point_mass(*, mass: float = 1, **contact: Any) -> Robot:
    """A point that cannot turn: three slides."""
    builder = RobotBuilder("point")
    for k, (parent, child) in enumerate((("world", "a"), ("a", "b"), ("b", "point"))):
        builder.body(child, mass if child == "point" else 0)
        builder.joint("xyz"[k], "prismatic", parent, child, axis=tuple(np.eye(3)[k].tolist()))
    return builder.build().with_contact("point", **contact)


def block(*, mass: float = 1, size: tuple[float, float, float] = (1, 1, 1), **contact: Any) -> Robot:
    """A free homogeneous box that touches with its corners."""
    x, y, z = (s * s * mass / 12 for s in size)
    builder = RobotBuilder("block")
    builder.body("block", mass, (0, 0, 0), (y + z, 0, 0, x + z, 0, x + y))
    return builder.build(base="free").with_contact("block", box=size, **contact)


def turning(*, inertia: float = 1, **joint: Any) -> Robot:
    """A wheel on an axle, without gravity."""
    builder = RobotBuilder("wheel").gravity(0, 0, 0)
    builder.body("wheel", 1, (0, 0, 0), (inertia, 0, 0, inertia, 0, inertia))
    builder.joint("axle", "revolute", "world", "wheel", axis=(0, 0, 1), **joint)
    return builder.build()


def sliding(*, mass: float = 1, **joint: Any) -> Robot:
    """A mass on a vertical slide, under gravity."""
    builder = RobotBuilder("slide")
    builder.body("mass", mass, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("slide", "prismatic", "world", "mass", axis=(0, 0, 1), **joint)
    return builder.build()


def pendulum(length: float = 1) -> Robot:
    """A point mass on a massless rod."""
    builder = RobotBuilder("pendulum")
    builder.body("rod", 1, (0, 0, -length))
    builder.joint("pivot", "revolute", "world", "rod", axis=(0, 1, 0))
    return builder.build()


def turned(angle: float, axis: tuple[float, float, float] = (0, 1, 0)) -> list[float]:
    """A quaternion (x, y, z, w)."""
    return [*(math.sin(angle / 2) * np.array(axis) / np.linalg.norm(axis)), math.cos(angle / 2)]


def positions(log: pliant.Log) -> np.ndarray:
    """The first three coordinates over time."""
    return np.asarray(log["q"])[..., :3]
