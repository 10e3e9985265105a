"""A simulation that runs in real time, in a thread of its own: paused, pushed, reset and tuned while it does."""

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.dynamics import frame_jacobian, mass_matrix
from pliant.errors import SimulationError
from pliant.simulation import Simulation

__all__ = ["Push", "Runner", "pushed"]

RATE = 50.0  # pictures a second, at most
LATEST = 0.1  # what the clock may be behind before it lets go of the rest [s]


class Push:
    """A force on a body for a while.

    Attributes:
        body: name of a frame or body, at whose origin it acts.
        force: in the world's axes, 3 [N].
        until: time of the simulation at which it ends [s].
    """

    def __init__(self, body: str, force: Any, until: float):
        self.body, self.force, self.until = body, np.asarray(force, dtype=float), float(until)


class Runner:
    """Steps a simulation as fast as time goes, or as a factor of that.

    Args:
        sim: to run; it goes on from where it is.
        controller: a function (t, q, v) -> u, with the values of ``gains`` by name if there are any; None for zero.
        gains: numbers that the controller takes by name.
        draw: called with the simulation, some times a second.

    Attributes:
        is_playing, speed: may be set at any time.
        pace: simulated over real time, lately.
        error: what stopped it, None if nothing did; `text` says it at length.
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
        if array.shape != (3,) or not np.isfinite(array).all() or not duration > 0:
            raise SimulationError(
                f"push: force {force!r} for {duration!r} s; it takes three numbers [N] and a time [s]"
            )
        with self._lock:
            self.pushes.append(Push(body, array, self.sim.time + duration))

    def reset(self) -> None:
        """Back to where it was when it was handed over; errors are forgotten."""
        with self._lock:
            self.sim.state = self._start
            self.pushes, self.error, self.text = [], None, ""

    def advance(self, periods: int = 1) -> None:
        """Go on by control periods; what goes wrong on the way is kept, and stops it."""
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
        t, period = sim.time, sim.dt * sim.plan.substeps
        self.pushes = [push for push in self.pushes if push.until > t + period / 2]
        for push in self.pushes:
            part = sim.data[..., sim.layout.span("v")]
            part[...] = pushed(sim, push, period)
        u = None if self.controller is None else self.controller(t, sim.q, sim.v, **self.gains)
        sim.step(u)
        if sim.divergences and len(sim.divergences) >= (sim.batch or 1):
            raise SimulationError(f"{sim.divergences[0]}; reset it")

    def _run(self) -> None:
        before = time.monotonic()
        owed = 0.0
        while not self._end.wait(max(0.0, 1 / RATE - (time.monotonic() - before))):
            now = time.monotonic()
            passed, before = now - before, now
            done = 0
            if self.is_playing and self.error is None:
                period = self.sim.dt * self.sim.plan.substeps
                owed = min(owed + passed * self.speed, max(LATEST, period))
                # in small parts, so that a slow robot still shows
                while owed >= period and time.monotonic() - now < 2 / RATE and self.error is None:
                    self.advance()
                    owed -= period
                    done += 1
                self.pace = 0.9 * self.pace + 0.1 * (done * period / max(passed, 1e-6))
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
