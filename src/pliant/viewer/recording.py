"""A log as something to play: configurations and contact forces of the robots that are shown."""

from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.errors import PliantError
from pliant.recording.log import Log
from pliant.render.drawing import body_poses, points_of_contacts
from pliant.robot import Robot

__all__ = ["MOST", "Recording", "checked_number", "exaggerated"]

MOST = 9
"""Robots of a batch that are shown by default."""


class Recording:
    """The robots of a log that are shown.

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
            raise PliantError(
                f"{what} needs the channel 'q'; the log has {', '.join(log.channels) or 'none'}: keep 'q'"
            )
        if not len(log.t):
            raise PliantError(f"{what}: the log is empty; it has no step to show")
        self.indices = chosen_robots(robots, log.batch, first=MOST, least=1, error=PliantError)
        self.t = np.asarray(log.t, dtype=float)
        self.q = self._of("q")
        self.forces = self._forces() if "forces" in log.channels and self.robot.contact_points else None

    def _of(self, channel: str) -> np.ndarray:
        array = np.asarray(self.log[channel], dtype=float)
        return array[None] if self.log.batch is None else array[self.indices]

    def _forces(self) -> np.ndarray | None:
        """By contact point; contacts between bodies have no place of their own."""
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
        """The last step not after a time [s]."""
        return int(np.clip(np.searchsorted(self.t, t + 1e-9, side="right") - 1, 0, len(self.t) - 1))

    def poses(self, step: int, factor: float = 1.0) -> np.ndarray:
        """Where all bodies are at a step, with deflections times a factor: (robots, bodies, 4, 4)."""
        return body_poses(self.robot, exaggerated(self.robot, self.q[:, step], factor))

    def contact_points(self, step: int, poses: np.ndarray) -> np.ndarray:
        """Centres of the contact points (robots, contacts, 3) [m]."""
        return points_of_contacts(self.robot, self.q[:, step], poses)

    def path(self, frame: str | None, robot: int, most: int = 600) -> np.ndarray:
        """Where a frame's origin was over time, or the centre of mass if None: (n, 3) [m]."""
        from pliant.dynamics import center_of_mass, frame_pose

        steps = np.unique(np.linspace(0, len(self.t) - 1, min(most, len(self.t))).round().astype(int))
        q = np.ascontiguousarray(self.q[robot][steps])
        if frame is None:
            return np.asarray(center_of_mass(self.robot, q)).reshape(-1, 3)
        return np.asarray(frame_pose(self.robot, q, frame))[:, :3, 3]


def exaggerated(robot: Robot, q: Any, factor: float) -> np.ndarray:
    """Configurations (..., nq) with the deflections of the flexible joints times a factor."""
    q = np.asarray(q, dtype=float)
    if factor == 1 or not robot.flexibilities:
        return q
    neutral = np.broadcast_to(robot.neutral(), q.shape)
    v = np.asarray(robot.difference(neutral, q))
    scaled = np.asarray(robot.integrate(neutral, factor * v))
    found = q.copy()
    for name in robot.flexibilities:
        span = robot.q_slice(name)
        found[..., span] = scaled[..., span]
    return found


def checked_number(what: str, name: str, value: Any, *, above: float = -np.inf) -> float:
    """A finite number that a user gives, above some other; what: that takes it, for messages."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not above < value < np.inf:
        raise PliantError(
            f"{what}: {name} is {value!r}; it takes a finite number" + (f" above {above:g}" if above > -np.inf else "")
        )
    return float(value)
