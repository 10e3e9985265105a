"""Balls, blocks and other robots of few bodies, whose motion is known in closed form or in the plane of x and z."""

import math
from typing import Any

import numpy as np

import pliant
from pliant.robot import Robot, RobotBuilder

G = 9.81
NOTHING = (0, 0, 0, 0, 0, 0)


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


# ---- in the plane of x and z, and for event-driven simulation


def point(mass: float = 1, *, stiffness: float = 0, rest: float = 0) -> Robot:
    """A point mass that moves along x and z; a spring may pull it to a height."""
    builder = RobotBuilder("point").body("sled", 0, (0, 0, 0), NOTHING).body("mass", mass, (0, 0, 0), NOTHING)
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "mass", axis=(0, 0, 1), stiffness=stiffness, rest=rest)
    return builder.build().with_contact("mass")


def planar(name: str, mass: float, moment: float, points: list[tuple[float, float]]) -> Robot:
    """A body that moves in the plane, with points (x, z) that touch."""
    builder = RobotBuilder(name).body("sled", 0, (0, 0, 0), NOTHING).body("lift", 0, (0, 0, 0), NOTHING)
    builder.body(name, mass, (0, 0, 0), (moment, 0, 0, moment, 0, moment))
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "lift", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "lift", name, axis=(0, 1, 0))
    return builder.build().with_contact(name, points=[(x, 0, z) for x, z in points])


def planar_block(width: float, height: float, mass: float = 2) -> Robot:
    """A block that stands on two edges."""
    moment = mass * (width**2 + height**2) / 12
    return planar("block", mass, moment, [(-width / 2, -height / 2), (width / 2, -height / 2)])


def box(mass: float = 2) -> Robot:
    """A box in space, 0.2 x 0.2 x 0.1 m, that touches with the corners of its bottom."""
    builder = RobotBuilder("box").body("box", mass, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.012))
    corners = [(x, y, -0.05) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    return builder.build(base="free").with_contact("box", points=corners)


def chain(links: int = 4) -> Robot:
    """Rods of 0.2 m, with a point that touches at every joint and end."""
    builder = RobotBuilder("chain")
    for k in range(links):
        builder.body(f"rod{k}", 0.3, (0.1, 0, 0), (1e-4, 0, 0, 1e-3, 0, 1e-3))
        builder.frame(f"tip{k}", f"rod{k}", (0.2, 0, 0))
        if k:
            builder.joint(f"hinge{k}", "revolute", f"rod{k - 1}", f"rod{k}", (0.2, 0, 0), axis=(0, 1, 0))
    return builder.build(base="free").with_contacts("rod0", *(f"tip{k}" for k in range(links)))


def compass(hip: float = 10, leg: float = 5, length: float = 1) -> Robot:
    """Two legs with their masses halfway down, and a mass at the hip [Goswami, Thuilot, Espiau 1998]."""
    builder = RobotBuilder("compass").body("sled", 0, (0, 0, 0), NOTHING).body("hip", hip, (0, 0, 0), NOTHING)
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "hip", axis=(0, 0, 1))
    for side in ("left", "right"):
        builder.body(side, leg, (0, 0, -length / 2), NOTHING)
        builder.joint(f"{side}_hip", "revolute", "hip", side, axis=(0, 1, 0))
        builder.frame(f"{side}_foot", side, (0, 0, -length))
    return builder.build().with_contacts("left_foot", "right_foot")


# ---- quaternions and logs


def turned(angle: float, axis: tuple[float, float, float] = (0, 1, 0)) -> list[float]:
    """A quaternion (x, y, z, w)."""
    return [*(math.sin(angle / 2) * np.array(axis) / np.linalg.norm(axis)), math.cos(angle / 2)]


def positions(log: pliant.Log) -> np.ndarray:
    """The first three coordinates over time."""
    return np.asarray(log["q"])[..., :3]


def jumps(log, event) -> tuple[int, int]:
    """The entries of a log before and after an event."""
    at = np.flatnonzero(log.t == event.t)
    return at[0], at[-1]
