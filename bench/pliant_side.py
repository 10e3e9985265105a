"""Pliant's own side of the contact benchmark: the scene in `pliant.Simulation`."""

import warnings
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

import pliant
from bench.contact_scene import ContactScene, Standing
from bench.convergence import convergence

__all__ = ["PliantSide", "equipped"]


def equipped(scene: ContactScene, *, is_default: bool = False) -> pliant.Robot:
    """The robot with its motors and contacts; without the scene's points, it touches with what it does by default."""
    robot = scene.robot.with_motors(control="position", kp=scene.kp.tolist(), kd=scene.kd.tolist())
    for point in () if is_default else scene.points:
        robot = robot.with_contact(point.frame, radius=point.radius)
    return robot


class PliantSide:
    """A scene in Pliant, on one thread; begins as MuJoCo's does, at rest if it is to stand.

    Attributes:
        robot: with its motors and contacts.
        start: where the timed calls begin.
        standing: how well it stands; None if it is not to.
        sample: contacts per robot, the deepest point [m], and what the solver needed and reached, see `convergence`:
            in the last quarter second of standing, or over a while of thrashing.
        fault: what is wrong; empty if nothing is.
    """

    def __init__(self, scene: ContactScene, precision: str = "float64", *, robots: int = 64, is_default: bool = False):
        """Bring the robots to where they begin.

        Args:
            robots: that begin at different places, repeated to fill a batch.
            is_default: leave out the scene's points, and touch with what a robot without contacts touches with.
        """
        self.scene, self.precision = scene, precision
        self.robot = equipped(scene, is_default=is_default)
        self.standing: Standing | None = None
        simulation = self._simulation(robots)
        simulation.reset(*scene.states(robots))
        self.start = simulation.state
        with warnings.catch_warnings():
            # what they say is in the table
            warnings.simplefilter("ignore", pliant.SimulationWarning)
            self.fault = self._settle(simulation) if scene.standing else self._thrash()

    @cached_property
    def points(self) -> int:
        """How many points may touch the ground."""
        return len(self._simulation(None).contact_names)

    def rollout(self, batch: int, steps: int) -> Callable[[], Any]:
        """One call: all robots, all steps, states out."""
        simulation, controls = self._simulation(batch), self._controls(batch, steps)
        start = pliant.simulation.State(np.resize(self.start.data, (batch, self.start.layout.size)), self.start.layout)
        out = {
            name: np.empty((batch, steps, size), self.precision)
            for name, size in (("q", self.robot.nq), ("v", self.robot.nv))
        }
        return lambda: simulation.rollout(start, controls, out=out)

    def single(self, steps: int, *, is_list: bool = False, is_diagnosed: bool = False) -> Callable[[], Any]:
        """One robot, stepped by a loop in Python that sets the controls.

        Args:
            is_list: give the controls as lists.
            is_diagnosed: read the diagnostics after each step.
        """
        simulation, controls = self._simulation(None), self._controls(1, steps)[0]
        start, given = self.start.robot(0), controls.tolist() if is_list else controls

        def run() -> None:
            simulation.state = start
            for u in given:
                simulation.step(u)

        def run_and_look() -> None:
            simulation.state = start
            for u in given:
                simulation.step(u)
                _ = simulation.diagnostics

        return run_and_look if is_diagnosed else run

    def _simulation(self, batch: int | None) -> pliant.Simulation:
        make = partial(pliant.Simulation, self.robot, dt=self.scene.dt, ground=pliant.flat(), batch=batch, threads=1)
        return make(contact=pliant.RigidContact(friction=self.scene.friction), precision=self.precision)

    def _controls(self, batch: int, steps: int) -> np.ndarray:
        return self.scene.controls(batch, steps).astype(self.precision)

    def _settle(self, simulation: pliant.Simulation) -> str:
        """Let the robots come to rest, keep them there, and tell how well they stand in the last quarter second."""
        robots, dt = simulation.batch or 1, self.scene.dt
        steps, last = round(self.scene.settled / dt), round(0.25 / dt)
        channels = ("q", "impulses", "solver")
        result = simulation.rollout(self.start, self._controls(robots, steps), channels=channels)
        self.start = result.state
        q = result.q.astype(float)
        carried = result["impulses"][:, -1].reshape(robots, -1, 3)[..., 2].astype(float) / dt
        lanes = simulation.kernels.stepping(robots).lanes
        self.sample = self._sampled(result["solver"][:, -last:], carried > 0, lanes)
        self.sample["settling"] = convergence(result["solver"], lanes)["unconverged"]
        standing = Standing.between(self.scene, q[:, -1 - last], q[:, -1], last * dt, carried.sum(axis=1))
        self.standing = standing
        return self._diverged(result.state) or standing.fault

    def _thrash(self, robots: int = 512, steps: int = 250) -> str:
        """Throw more robots about, for a sample of rare steps."""
        simulation, channels = self._simulation(robots), ("impulses", "solver")
        simulation.reset(*self.scene.states(robots))
        result = simulation.rollout(simulation.state, self._controls(robots, steps), channels=channels)
        pushed = result["impulses"].reshape(robots, steps, -1, 3)[..., 2] > 0
        self.sample = self._sampled(result["solver"], pushed, simulation.kernels.stepping(robots).lanes)
        return self._diverged(result.state)

    def _diverged(self, state: pliant.simulation.State) -> str:
        codes = state.part("divergence")[:, 0]
        lost = np.count_nonzero(codes)
        return f"{lost} of {len(codes)} robots diverged" if lost else ""

    def _sampled(self, solver: np.ndarray, pushed: np.ndarray, lanes: int) -> dict[str, float | None]:
        touching = {"contacts": float(pushed.sum(axis=-1).mean()), "deepest": float(solver[..., 2].max())}
        return {**touching, **convergence(solver, lanes)}
