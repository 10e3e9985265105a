"""What the tests of the conventions share."""

import math

import numpy as np

import pliant

TIGHT = 1e-13  # a few dozen roundings of numbers of order one
ROD = {"mass": 1, "com": (0.5, 0, 0), "inertia": (0.01, 0, 0, 0.1, 0, 0.1)}


def one_joint(kind, *, axis=None, **options) -> pliant.Robot:
    """A rod along x on one joint at the world's origin."""
    builder = pliant.RobotBuilder("one").body("rod", **ROD)
    return builder.joint("j", kind, "world", "rod", axis=axis, **options).build()


def pose(robot: pliant.Robot, q, frame: str = "rod") -> np.ndarray:
    return pliant.frame_pose(robot, np.array(q, dtype=float), frame)


def turn(axis: str, angle: float) -> np.ndarray:
    """The textbook's rotation matrix, written out."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array({
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis], dtype=float)  # fmt: skip


def state(robot: pliant.Robot, seed: int = 0, batch: int | None = None) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    q = robot.random(rng, batch=batch)
    lead = () if batch is None else (batch,)
    return q, *(rng.normal(size=(*lead, robot.nv)) for _ in range(3))


def rate(function, robot: pliant.Robot, q, v) -> np.ndarray:
    """d/dt of ``function(q)`` as q moves with v; central differences, good to about 1e-9."""
    h = 1e-5
    return (np.array(function(robot.integrate(q, v, h))) - function(robot.integrate(q, v, -h))) / (2 * h)
