"""Simulations of both kinds as a live page moves them: a period at a time, with pushes, and pulls of a mouse."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.dynamics import frame_jacobian, frame_pose, mass_matrix
from pliant.errors import SimulationError
from pliant.events import EventSimulation
from pliant.simulation import Simulation
from pliant.simulation.controllers import Controller, given_controls

EVENT_PERIOD = 5e-3
"""Control period of an event-driven simulation on a live page [s]; pushes change velocities as often."""


@dataclass(frozen=True, eq=False)
class Push:
    """A force on a body until a time.

    Attributes:
        body: or a frame.
        force: in the world's axes [N].
        until: of the simulation [s].
        point: where it acts, in the frame of the body [m].
        robot: index in a batch; None for all of them.
    """

    body: str
    force: np.ndarray
    until: float
    point: np.ndarray
    robot: int | None = None


@dataclass(eq=False)
class Pull:
    """A spring and a damper from a point of a body to a place, as of a mouse that drags it.

    Attributes:
        body, point, robot: as of a `Push`.
        target: where it pulls the point to, in the world of the robot [m].
        per_metre: force for a distance [N/m].
        per_speed: force against a velocity [N s/m].
        force: with which it pulled in the last period [N].
    """

    body: str
    point: np.ndarray
    target: np.ndarray
    per_metre: float
    per_speed: float
    robot: int | None = None
    force: np.ndarray | None = None


def pushed(sim: Simulation | EventSimulation, push: Push | Pull, dt: float) -> np.ndarray:
    """The velocities after a push or a pull has acted for a time dt: v + M^-1 J^T p, with J of its point.

    The impulse of a push is p = f dt. A pull is taken at the end of the time, so that it is stable on bodies of any
    mass: with its distance d, the velocity of its point u and A = J M^-1 J^T,

        (1 + (k dt^2 + c dt) A) p = dt (k d - (k dt + c) u)
    """
    robot = sim.robot
    q, v = np.ascontiguousarray(sim.q, dtype=float), np.array(sim.v, dtype=float)
    rows: Any = ... if push.robot is None or q.ndim == 1 else push.robot
    q = np.ascontiguousarray(q[rows])
    J = np.asarray(frame_jacobian(robot, q, push.body, reference="local_world_aligned"))
    X = np.asarray(frame_pose(robot, q, push.body))
    M = np.asarray(mass_matrix(robot, q))
    # a point r away from the origin moves with v + w x r
    r = X[..., :3, :3] @ push.point
    J = J[..., :3, :] + np.cross(J[..., 3:, :], r[..., None], axis=-2)
    to_velocities = np.linalg.solve(M, np.swapaxes(J, -1, -2))
    if isinstance(push, Push):
        impulse = np.broadcast_to(push.force * dt, r.shape)
    else:
        d, u = push.target - (X[..., :3, 3] + r), np.einsum("...ij,...j->...i", J, v[rows])
        A = np.eye(3) + (push.per_metre * dt**2 + push.per_speed * dt) * (J @ to_velocities)
        given = dt * (push.per_metre * d - (push.per_metre * dt + push.per_speed) * u)
        impulse = np.linalg.solve(A, given[..., None])[..., 0]
        push.force = impulse.reshape(-1, 3)[0] / dt
    v[rows] += np.einsum("...ij,...j->...i", to_velocities, impulse)
    return v


class TimeStepping:
    """A `Simulation`, a control period at a time.

    Attributes:
        period: [s].
        parameters: that vary, by path.
        batch: how many robots, or None.
    """

    def __init__(self, sim: Simulation, controller: Callable[..., Any] | None):
        self.sim, self.controller = sim, controller
        self.period = sim.dt * sim.plan.substeps
        self.parameters: Any = sim.parameters
        self.batch = sim.batch

    def advance(self, pushes: Sequence[Push | Pull], gains: dict[str, float]) -> None:
        """Go on by a period; raises where no robot moves any more."""
        sim, u = self.sim, None
        for push in pushes:
            sim.data[..., sim.layout.span("v")] = pushed(sim, push, self.period)
        if self.controller is not None:
            u = given_controls(self.controller(sim.t, sim.q, sim.v, **gains), self.controller, sim.plan.inputs)
        sim.step(u)
        if sim.divergences and len(sim.divergences) >= (sim.batch or 1):
            raise SimulationError(f"{sim.divergences[0]}; reset it")


class EventDriven:
    """An `EventSimulation`, a period at a time, in which it goes from event to event; attributes as above."""

    def __init__(self, sim: EventSimulation, controller: Callable[..., Any] | None):
        self.sim, self.period, self.batch = sim, EVENT_PERIOD, None
        self.parameters: Any = {}
        self._gains: dict[str, float] = {}
        self.controller = controller
        if controller is not None and not isinstance(controller, Controller):
            own = controller

            def called(t: float, q: np.ndarray, v: np.ndarray) -> Any:
                return given_controls(own(t, q, v, **self._gains), own, sim.robot.nu)

            # one function for all periods, as for a `Controller`, whose memory goes on
            self.controller = called

    def advance(self, pushes: Sequence[Push | Pull], gains: dict[str, float]) -> None:
        """Go on by a period."""
        sim, self._gains = self.sim, gains
        for push in pushes:
            # contacts take up what pushes them into the ground, as an impact
            sim.reset(sim.q, pushed(sim, push, self.period), t=sim.t, lift=sim.robot.is_free)
        period = None if self.controller is None else self.period
        sim.run(self.period, controller=self.controller, period=period, every=1.0, channels=("q",), progress=False)


def stepping(sim: Simulation | EventSimulation, controller: Any) -> TimeStepping | EventDriven:
    """How to move a simulation of either kind."""
    return EventDriven(sim, controller) if isinstance(sim, EventSimulation) else TimeStepping(sim, controller)
