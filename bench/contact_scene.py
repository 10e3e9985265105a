"""A scene of the contact benchmark: a robot, its points of contact, a pose to hold and the gains that hold it.

A scene is all numbers: every simulator is given the same ones, and none of them reads the robot's file itself.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

import pliant

__all__ = ["ContactScene", "Point", "Standing", "corners_of_soles", "placed", "thrown"]


@dataclass(frozen=True)
class Point:
    """A sphere that may touch the ground: its centre is a frame of the robot."""

    frame: str
    radius: float


@dataclass(frozen=True, eq=False)
class ContactScene:
    """A scene to simulate; arrays are in Pliant's layout.

    Attributes:
        robot: without fixed joints.
        points: what may touch the flat ground at z = 0, and nothing else does.
        q: the pose to hold, its lowest points on the ground; nq.
        kp, kd: torque = kp (u - q) - kd v of each motor; nu [N m/rad, N m s/rad].
        friction: Coulomb's, of the ground.
        dt: the step [s].
        settled: time after which the robot stands still [s].
        standing: whether the robot stands; otherwise it gets random targets.
    """

    name: str
    robot: pliant.Robot
    points: tuple[Point, ...]
    q: np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    friction: float
    dt: float = 2e-3
    settled: float = 4.0
    standing: bool = True

    @cached_property
    def motor_q(self) -> np.ndarray:
        """Where the motors' joints are in q; nu."""
        return np.array([self.robot.q_slice(m.joint).start for m in self.robot.motors.values()], dtype=int)

    @property
    def weight(self) -> float:
        """m g [N]."""
        return float(self.robot.mass * -self.robot.gravity.z)

    def states(self, batch: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Where the robots begin: q (batch, nq) and v (batch, nv), no point below the ground.

        Standing, the pose with each joint off by some 0.02 rad, at rest. Otherwise, up to 0.05 m in the air, leaning
        by some 0.1 rad, joints off by 0.2 rad, at 0.5 m/s, 0.5 rad/s and joint rates of 2 rad/s.
        """
        rng = np.random.default_rng(seed)
        nv, wild = self.robot.nv, not self.standing
        off, v = np.zeros((2, batch, nv))
        off[:, 6:] = rng.normal(scale=0.2 if wild else 0.02, size=(batch, nv - 6))
        if wild:
            off[:, 3:6] = rng.normal(scale=0.1, size=(batch, 3))
            v[:, :6] = rng.normal(scale=0.5, size=(batch, 6))
            v[:, 6:] = rng.normal(scale=2, size=(batch, nv - 6))
        q = self.robot.integrate(np.tile(self.q, (batch, 1)), off)
        q[:, 2] -= self.gaps(q).min(axis=-1)
        if wild:
            q[:, 2] += rng.uniform(0, 0.05, size=batch)
        return q, v

    def centres(self, q: np.ndarray) -> np.ndarray:
        """Centres of the points in the world, (batch, points, 3) [m]."""
        return np.stack([pliant.frame_pose(self.robot, q, p.frame)[..., :3, 3] for p in self.points], axis=-2)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Heights of the points above the ground, (batch, points) [m]."""
        return self.centres(q)[..., 2] - np.array([p.radius for p in self.points])

    def controls(self, batch: int, steps: int, seed: int = 1) -> np.ndarray:
        """Positions asked of the motors, (batch, steps, nu): the pose, or new random ones each 50 ms, +- 0.5 rad."""
        target = np.broadcast_to(self.q[self.motor_q], (batch, steps, self.robot.nu))
        if self.standing:
            return np.ascontiguousarray(target)
        rng = np.random.default_rng(seed)
        held = max(1, round(0.05 / self.dt))
        offsets = rng.uniform(-0.5, 0.5, size=(batch, -(-steps // held), self.robot.nu))
        return target + np.repeat(offsets, held, axis=1)[:, :steps]


@dataclass(frozen=True)
class Standing:
    """How well robots stand; the worst of them.

    Attributes:
        height: of the base over that of the pose.
        sinking: speed of the base, down or up [m/s].
        slip: speed of a touching point along the ground [m/s].
        depth: of a point in the ground [m].
        force: error of the contact forces' sum, relative to the weight.
    """

    height: float
    sinking: float
    slip: float
    depth: float
    force: float

    @classmethod
    def between(
        cls, scene: ContactScene, q0: np.ndarray, q1: np.ndarray, elapsed: float, force: np.ndarray
    ) -> "Standing":
        """From configurations (robots, nq), some time [s] apart, and the vertical forces on the later ones [N]."""
        gaps = scene.gaps(q1)
        touching = np.maximum(gaps, scene.gaps(q0)) < 5e-3
        moved = np.linalg.norm((scene.centres(q1) - scene.centres(q0))[..., :2], axis=-1)
        return cls(
            height=float((q1[:, 2] / scene.q[2]).min()),
            sinking=float(np.abs(q1[:, 2] - q0[:, 2]).max() / elapsed),
            slip=float((moved * touching).max() / elapsed),
            depth=float(np.maximum(-gaps, 0).max()),
            force=float(np.abs(force / scene.weight - 1).max()),
        )

    @property
    def holds(self) -> bool:
        """Whether the robots are up, and the ground carries their weight to 1e-3."""
        return 0.85 < self.height < 1.1 and self.force < 1e-3

    @property
    def fault(self) -> str:
        """Why it does not count as standing; empty if it does."""
        return "" if self.holds else f"does not stand: height {self.height:.3g}, force off by {self.force:.1e}"


def placed(robot: pliant.Robot, points: tuple[Point, ...], joints: dict[str, float]) -> np.ndarray:
    """The configuration with these joint angles and its lowest points on the ground."""
    q = robot.neutral()
    for joint, angle in joints.items():
        q[robot.q_slice(joint)] = angle
    q[2] -= min(pliant.frame_pose(robot, q, p.frame)[2, 3] - p.radius for p in points)
    return q


def corners_of_soles(
    robot: pliant.Robot, soles: tuple[str, str], corners: tuple[tuple[float, float, float], ...], radius: float
) -> tuple[pliant.Robot, tuple[Point, ...]]:
    """The robot with frames at the corners of its soles, and a sphere at each.

    Args:
        soles: names of the frames of the left and the right sole.
        corners: centres of the spheres in those frames [m].
        radius: of the spheres [m].
    """
    points = []
    for side, sole in zip(("left", "right"), soles, strict=True):
        for k, corner in enumerate(corners):
            name = f"{side}_corner_{k}"
            robot = robot.with_frame(name, sole, corner)
            points.append(Point(name, radius))
    return robot, tuple(points)


def thrown(standing: ContactScene) -> ContactScene:
    """The scene under random targets: random states, feet that make and break contact."""
    return replace(standing, name=f"{standing.name}_thrash", standing=False)
