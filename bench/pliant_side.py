"""Pliant's own side of the contact benchmark: the scene in `pliant.Simulation`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pliant
from bench.scenes import ContactScene, Standing

__all__ = ["PliantSide"]


class PliantSide:
    """A scene in Pliant, on one thread; begins as MuJoCo's does, at rest if it is to stand.

    Attributes:
        sample: what the solver needed and reached: sweeps and contacts per robot, the largest residual [m/s] and
            the deepest point [m], in the last step of standing, or over a while of thrashing.
    """

    def __init__(self, scene: ContactScene, precision: str = "float64", *, robots: int = 64):
        self.scene, self.precision = scene, precision
        robot = scene.robot.with_motors(control="position", kp=scene.kp.tolist(), kd=scene.kd.tolist())
        for point in scene.points:
            robot = robot.with_contact(point.frame, radius=point.radius)
        self.robot = robot
        simulation = self._simulation(robots)
        simulation.reset(*scene.states(robots))
        self.start = simulation.state
        self.standing = self._settle(simulation) if scene.standing else None
        if not scene.standing:
            self._thrash(simulation)

    def rollout(self, batch: int, steps: int) -> Callable[[], Any]:
        """One call: all robots, all steps, states out."""
        simulation, controls = self._simulation(batch), self._controls(batch, steps)
        start = pliant.simulation.State(np.resize(self.start.data, (batch, self.start.layout.size)), self.start.layout)
        out = {
            name: np.empty((batch, steps, size), self.precision)
            for name, size in (("q", self.robot.nq), ("v", self.robot.nv))
        }
        return lambda: simulation.rollout(start, controls, out=out)

    def single(self, steps: int) -> Callable[[], Any]:
        """One robot, stepped by a loop in Python that sets the controls."""
        simulation, controls = self._simulation(None), self._controls(1, steps)[0]
        start = self.start.robot(0)

        def run() -> None:
            simulation.state = start
            for u in controls:
                simulation.step(u)

        return run

    def _simulation(self, batch: int | None) -> pliant.Simulation:
        make = partial(pliant.Simulation, self.robot, dt=self.scene.dt, ground=pliant.flat(), batch=batch, threads=1)
        return make(contact=pliant.RigidContact(friction=self.scene.friction), precision=self.precision)

    def _controls(self, batch: int, steps: int) -> np.ndarray:
        return self.scene.controls(batch, steps).astype(self.precision)

    def _settle(self, simulation: pliant.Simulation) -> Standing:
        """Let the robots come to rest, keep them there, and tell how well they stand in the last quarter second."""
        robots, dt = simulation.batch or 1, self.scene.dt
        steps, last = round(self.scene.settled / dt), round(0.25 / dt)
        result = simulation.rollout(self.start, self._controls(robots, steps), channels=("q", "impulses", "solver"))
        self.start = result.state
        q = result.q.astype(float)
        carried = result["impulses"][:, -1].reshape(robots, -1, 3)[..., 2].astype(float) / dt
        self.sample = self._sampled(result["solver"][:, -last:], carried > 0)
        return Standing.between(self.scene, q[:, -1 - last], q[:, -1], last * dt, carried.sum(axis=1))

    def _thrash(self, simulation: pliant.Simulation, steps: int = 250) -> None:
        robots = simulation.batch or 1
        result = simulation.rollout(self.start, self._controls(robots, steps), channels=("impulses", "solver"))
        pushed = result["impulses"].reshape(robots, steps, -1, 3)[..., 2] > 0
        self.sample = self._sampled(result["solver"], pushed)
        if simulation.divergences or result.state.part("divergence").any():
            raise SystemExit(f"{self.scene.name}: {int(result.state.part('divergence').any(-1).sum())} robots diverged")

    def _sampled(self, solver: np.ndarray, pushed: np.ndarray) -> dict[str, float]:
        residual, sweeps, depth = (solver[..., k] for k in range(3))
        return {
            "iterations": float(sweeps.mean()),
            "contacts": float(pushed.sum(axis=-1).mean()),
            "residual": float(residual.max()),
            "deepest": float(depth.max()),
        }
