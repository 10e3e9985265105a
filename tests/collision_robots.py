"""Robots of one rigid part with collision shapes, and meshes from code."""

from dataclasses import dataclass

import numpy as np

import pliant
from pliant.robot import Geometry, Robot
from pliant.spatial import Transform, Vector, rotation_from_rpy

INERTIA = (1, 0, 0, 1, 0, 1)


def at(x: float = 0, y: float = 0, z: float = 0, rpy: tuple[float, float, float] = (0, 0, 0)) -> Transform:
    return Transform(rotation_from_rpy(*rpy), Vector(x, y, z))


def robot_of(*shapes: Geometry, more: tuple[Geometry, ...] = (), base: str = "free") -> Robot:
    """A body with shapes, and another one, fixed to it 1 m above, with more."""
    builder = pliant.RobotBuilder("r")
    builder.body("a", mass=1, inertia=INERTIA, collisions=shapes)
    builder.body("b", mass=1, inertia=INERTIA, collisions=more)
    builder.joint("j", "fixed", "a", "b", (0, 0, 1))
    return builder.build(base=base)  # type: ignore[arg-type]


def centers(robot: Robot, name: str) -> np.ndarray:
    return np.array([tuple(c) for c in robot.contacts[name].centers], dtype=float)


@dataclass(frozen=True)
class Cloud:
    """A mesh from code."""

    values: tuple[tuple[float, ...], ...]

    def points(self, packages: object = ()) -> np.ndarray:
        return np.array(self.values)


def mesh(points: np.ndarray, **more: object) -> Geometry:
    return Geometry("mesh", mesh=Cloud(tuple(map(tuple, points.tolist()))), **more)  # type: ignore[arg-type]


def sphere_points(radius: float, count: int = 5000) -> np.ndarray:
    points = np.random.default_rng(0).standard_normal((count, 3))
    return radius * points / np.linalg.norm(points, axis=1, keepdims=True)
