"""Pliant's own side of the contact benchmark: the scene in `pliant.Simulation`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pliant
from bench.scenes import Scene, Standing

__all__ = ["PliantSide", "is_available"]


def is_available() -> bool:
    """Whether this Pliant simulates contact."""
    return hasattr(pliant, "Simulation")


class PliantSide:
    """A scene in Pliant, on one thread; begins as MuJoCo's does, at rest if it is to stand."""

    def __init__(self, scene: Scene, precision: str = "float64", *, robots: int = 64):
        self.scene, self.precision = scene, precision
        robot = scene.robot.with_motors(control="position", kp=scene.kp.tolist(), kd=scene.kd.tolist())
        for point in scene.points:
            robot = robot.with_contact(point.frame, radius=point.radius)
        self.robot = robot
        self.q, self.v = scene.states(robots)
        self.standing = self._settle() if scene.standing else None

    def rollout(self, batch: int, steps: int) -> Callable[[], Any]:
        """One call: all robots, all steps, states out."""
        simulation, controls = self._simulation(batch), self._controls(batch, steps)
        q, v = (np.resize(rows, (batch, rows.shape[1])) for rows in (self.q, self.v))

        def run() -> None:
            simulation.reset(q=q, v=v)
            simulation.rollout(controls)

        return run

    def single(self, steps: int) -> Callable[[], Any]:
        """One robot, stepped by a loop in Python that sets the controls."""
        simulation, controls = self._simulation(1), self._controls(1, steps)[0]

        def run() -> None:
            simulation.reset(q=self.q[0], v=self.v[0])
            for u in controls:
                simulation.step(u)

        return run

    def _simulation(self, batch: int) -> Any:
        make = partial(pliant.Simulation, self.robot, dt=self.scene.dt, ground=pliant.flat(), batch=batch, threads=1)
        return make(contact=pliant.RigidContact(friction=self.scene.friction), precision=self.precision)

    def _controls(self, batch: int, steps: int) -> np.ndarray:
        return self.scene.controls(batch, steps).astype(self.precision)

    def _settle(self) -> Standing:
        """Let the robots come to rest, keep them there, and tell how well they stand in the last quarter second."""
        robots, dt = len(self.q), self.scene.dt
        steps, last = round(self.scene.settled / dt), round(0.25 / dt)
        simulation = self._simulation(robots)
        simulation.reset(q=self.q, v=self.v)
        result = simulation.rollout(self._controls(robots, steps))
        q, v = np.asarray(result.q, dtype=float), np.asarray(result.v, dtype=float)
        # what the ground carries, from the momentum it changes: m g + dp/dt
        p0, p1 = (self._upward_momentum(q[:, k], v[:, k]) for k in (-2, -1))
        self.q, self.v = np.ascontiguousarray(q[:, -1]), np.ascontiguousarray(v[:, -1])
        force = self.scene.weight + (p1 - p0) / dt
        return Standing.between(self.scene, q[:, -1 - last], self.q, last * dt, force)

    def _upward_momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return float(self.scene.robot.mass) * pliant.center_of_mass_velocity(self.scene.robot, q, v)[..., 2]
