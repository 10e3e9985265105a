"""A simulation that runs in real time, in a thread of its own: paused, pushed, reset and tuned while it runs."""

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.checks import check
from pliant.dynamics import frame_jacobian, mass_matrix
from pliant.errors import SimulationError
from pliant.simulation import Simulation

RATE = 50.0
"""Pictures a second, at most."""
# how far a run may fall behind real time before the rest is forgotten [s]
_LATEST = 0.1


class Push(NamedTuple):
    """A force on a body for a while.

    Attributes:
        body: name of a frame or body, at whose origin it acts.
        force: in the world's axes, 3 [N].
        until: time of the simulation at which it ends [s].
    """

    body: str
    force: np.ndarray
    until: float


class Runner:
    """Runs a simulation in real time, or at a factor of it.

    Args:
        sim: to run, from its present state.
        controller: a function (t, q, v) -> u, with the values of ``gains`` by name if there are any; None for zero.
        gains: numbers that the controller takes by name.
        draw: called with the simulation, `RATE` times a second.

    Attributes:
        is_playing: may be set at any time.
        speed: factor of real time to run at; may be set at any time.
        pace: simulated over real time, lately; a run that falls behind does not catch up.
        error: the exception that stopped it, or None; ``text`` has its traceback.
    """

    def __init__(
        self,
        sim: Simulation,
        controller: Callable[..., Any] | None,
        gains: Mapping[str, float],
        draw: Callable[[Simulation], None],
    ):
        self.sim, self.controller, self.gains, self.draw = sim, controller, dict(gains), draw
        self.is_playing, self.speed, self.pace = True, 1.0, 0.0
        self.error: BaseException | None = None
        self.text = ""
        self.pushes: list[Push] = []
        self._start = sim.state
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._listeners: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name="pliant live", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Called after each picture."""
        self._listeners.append(listener)

    def push(self, body: str, force: Any, duration: float = 0.1) -> None:
        """Push a body with a force in the world's axes, 3 [N], for a while [s]."""
        self.sim.robot.frame(body)
        array = np.asarray(force, dtype=float)
        is_right = array.shape == (3,) and np.isfinite(array).all() and duration > 0
        check("force", force, "three numbers [N], for a time above zero [s]", bool(is_right), subject="push")
        with self._lock:
            self.pushes.append(Push(body, array, self.sim.t + duration))

    def reset(self) -> None:
        """Back to the state at the start, without error."""
        with self._lock:
            self.sim.state = self._start
            self.pushes, self.error, self.text = [], None, ""

    def advance(self, periods: int = 1) -> None:
        """Go on by control periods; an exception is kept as `error`, and pauses."""
        with self._lock:
            try:
                for _ in range(periods):
                    self._period()
            except Exception as error:
                own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
                self.text = "".join([*traceback.format_list(own), *traceback.format_exception_only(error)])
                self.error, self.is_playing = error, False

    def _period(self) -> None:
        sim = self.sim
        t, period = sim.t, sim.dt * sim.plan.substeps
        self.pushes = [push for push in self.pushes if push.until > t + period / 2]
        for push in self.pushes:
            part = sim.data[..., sim.layout.span("v")]
            part[...] = pushed(sim, push, period)
        u = None if self.controller is None else self.controller(t, sim.q, sim.v, **self.gains)
        sim.step(u)
        if sim.divergences and len(sim.divergences) >= (sim.batch or 1):
            raise SimulationError(f"{sim.divergences[0]}; reset it")

    def _run(self) -> None:
        """Until the end: a part of a second of motion, the wait for real time, and a picture."""
        due = before = time.monotonic()
        while not self._end.is_set():
            began, start = time.monotonic(), self.sim.t
            for _ in range(max(1, round(self.speed / RATE / (self.sim.dt * self.sim.plan.substeps)))):
                # a slow robot is shown after part of the time
                if not self.is_playing or self.error is not None or time.monotonic() - began > 2 / RATE:
                    break
                self.advance()
            passed = max(0.0, self.sim.t - start)
            due += passed / self.speed if passed else 1 / RATE
            self._end.wait(max(0.0, due - time.monotonic()))
            now = time.monotonic()
            due = max(due, now - _LATEST)
            if passed:
                self.pace = 0.9 * self.pace + 0.1 * passed / max(now - before, 1e-6)
            before = now
            self.changed()

    def changed(self) -> None:
        """Draw the simulation, and call the listeners."""
        with self._lock:
            self.draw(self.sim)
        for listener in self._listeners:
            listener()


def pushed(sim: Simulation, push: Push, dt: float) -> np.ndarray:
    """The velocities after a push has acted for a time dt: v + M^-1 J^T f dt, with J of the body's origin."""
    robot = sim.robot
    q, v = np.ascontiguousarray(sim.q, dtype=float), np.asarray(sim.v, dtype=float)
    J = np.asarray(frame_jacobian(robot, q, push.body, reference="local_world_aligned"))[..., :3, :]
    M = np.asarray(mass_matrix(robot, q))
    impulse = np.einsum("...ij,i->...j", J, push.force * dt)
    return v + np.linalg.solve(M, impulse[..., None])[..., 0]
