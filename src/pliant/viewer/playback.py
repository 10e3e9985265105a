"""Playing a log: the motion of the robots that are shown, and a clock that runs, stops, steps and jumps."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.dynamics import center_of_mass, frame_pose
from pliant.errors import PliantError
from pliant.recording.log import Log
from pliant.robot import Robot

__all__ = ["MOST", "LogMotion", "Player"]

RATE = 60.0  # most pictures a second

MOST = 9
"""Robots of a batch that are shown by default."""


class LogMotion:
    """The motion of the robots of a log that are shown.

    Args:
        log: with a source and the channel "q".
        robots: indices of those of a batch; None for the first nine.

    Attributes:
        t: times (steps,) [s].
        q: configurations (robots, steps, nq).
        forces: at the robot's contact points (robots, steps, contacts, 3) [N], None if the log has none.
        indices: of the robots in the batch.
    """

    def __init__(self, log: Log, what: str, robots: Any = None):
        self.log, self.source = log, log.needs_source(what)
        self.robot: Robot = self.source.robot
        if "q" not in log.channels:
            problem = f"{what} needs channel 'q' of the log, which has {', '.join(log.channels) or 'none'}"
            raise PliantError(problem, subject="the log", field="q")
        if not len(log.t):
            raise PliantError(f"{what}: the log has no steps", subject="the log", field="t")
        self.indices = chosen_robots(robots, log.batch, first=MOST, least=1, error=PliantError)
        self.t = np.asarray(log.t, dtype=float)
        self.q = self._of("q")
        self.forces = self._forces() if "forces" in log.channels and self.robot.contact_points else None

    def _of(self, channel: str) -> np.ndarray:
        array = np.asarray(self.log[channel], dtype=float)
        return array[None] if self.log.batch is None else array[self.indices]

    def _forces(self) -> np.ndarray | None:
        """Forces by contact point; contacts between bodies are left out."""
        found = self._of("forces")
        names = list(self.source.contacts)
        if found.shape[-1] != 3 * len(names):
            return None
        found = found.reshape(*found.shape[:-1], len(names), 3)
        wanted = [names.index(p.name) if p.name in names else -1 for p in self.robot.contact_points]
        empty = np.zeros((*found.shape[:-2], 1, 3))
        return np.concatenate([found, empty], axis=-2)[..., wanted, :]

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    def step_at(self, t: float) -> int:
        """The last step up to a time [s]."""
        return int(np.clip(np.searchsorted(self.t, t + 1e-9, side="right") - 1, 0, len(self.t) - 1))

    def path(self, frame: str | None, robot: int, most: int = 600) -> np.ndarray:
        """Path (n, 3) [m] of the origin of a frame, or of the centre of mass if None."""
        steps = np.unique(np.linspace(0, len(self.t) - 1, min(most, len(self.t))).round().astype(int))
        q = np.ascontiguousarray(self.q[robot][steps])
        if frame is None:
            return np.asarray(center_of_mass(self.robot, q)).reshape(-1, 3)
        return np.asarray(frame_pose(self.robot, q, frame))[:, :3, 3]


class Player:
    """A clock that plays the motion of a log, in a thread of its own.

    Attributes:
        is_playing: whether the clock runs.
        speed: factor of real time.
        loops: whether it starts again at the end.
        t: its time [s].
    """

    def __init__(self, motion: LogMotion, draw: Callable[[int], None]):
        self.motion, self.draw = motion, draw
        self.is_playing, self.speed, self.loops = False, 1.0, True
        self.t = float(motion.t[0])
        self.step = -1
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pliant player", daemon=True)

    def start(self) -> None:
        self.go(self.t)
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function after each picture, and when the clock starts or stops."""
        self._listeners.append(listener)

    def go(self, t: float) -> None:
        """Show the time t [s]."""
        with self._lock:
            first, last = float(self.motion.t[0]), float(self.motion.t[-1])
            self.t = min(max(float(t), first), last)
            step = self.motion.step_at(self.t)
            if step != self.step:
                self.step = step
                self.draw(step)
        self._notify()

    def go_by(self, steps: int) -> None:
        """Pause, and go forward by steps of the log; back if negative."""
        self.is_playing = False
        step = min(max(self.step + steps, 0), len(self.motion.t) - 1)
        self.go(float(self.motion.t[step]))

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        if not self.is_playing and self.t >= self.motion.t[-1]:
            self.go(float(self.motion.t[0]))
        self.is_playing = not self.is_playing
        self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._end.wait(1 / RATE):
            now = time.monotonic()
            passed, before = now - before, now
            if not self.is_playing:
                continue
            t = self.t + passed * self.speed
            if t >= self.motion.t[-1]:
                if self.loops:
                    t = float(self.motion.t[0])
                else:
                    self.is_playing = False
            self.go(t)
