"""The motion of the robots of a log that are shown: at its steps, or at any times between them."""

from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.dynamics import center_of_mass, frame_pose
from pliant.errors import PliantError
from pliant.recording.log import Log
from pliant.robot import Robot
from pliant.robot.joints import Free, Planar, Spherical


class LogMotion:
    """The motion of the robots of a log that are shown.

    Args:
        log: with a source and the channel "q".
        what: the caller, for messages.
        robots: indices of those of a batch; None for the first ``most``.

    Attributes:
        t: times (steps,) [s].
        q: configurations (robots, steps, nq).
        forces: at the robot's contact points (robots, steps, contacts, 3) [N], None if the log has none.
        indices: of the robots in the batch.
    """

    def __init__(self, log: Log, what: str, robots: Any = None, most: int = 9):
        self.log, self.source = log, log.needs_source(what)
        self.robot: Robot = self.source.robot
        if "q" not in log:
            problem = f"{what} needs channel 'q' of the log, which has {', '.join(log) or 'none'}"
            raise PliantError(problem, subject="the log", field="q")
        if not len(log):
            raise PliantError(f"{what}: the log has no steps", subject="the log", field="t")
        self.indices = chosen_robots(robots, log.batch, first=most, least=1, error=PliantError)
        self.t = np.asarray(log.t, dtype=float)
        self.q = self._of("q")
        self.forces = None
        names = self.source.contacts
        if "forces" in log and self.robot.contact_points and log["forces"].shape[-1] == 3 * len(names):
            found = self._of("forces")
            self.forces = forces_at_points(self.robot, names, found.reshape(*found.shape[:-1], len(names), 3))

    def _of(self, channel: str) -> np.ndarray:
        array = np.asarray(self.log[channel], dtype=float)
        return array[None] if self.log.batch is None else array[self.indices]

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    def step_at(self, t: float) -> int:
        """The last step up to a time [s]."""
        return int(np.clip(np.searchsorted(self.t, t + 1e-9, side="right") - 1, 0, len(self.t) - 1))

    def path(self, frame: str | None, robot: int, most: int = 600) -> np.ndarray:
        """Path (n, 3) [m] of the origin of a frame, or of the centre of mass if None."""
        q = np.ascontiguousarray(self.q[robot][spread(len(self.t), most)])
        if frame is None:
            return np.asarray(center_of_mass(self.robot, q)).reshape(-1, 3)
        return np.asarray(frame_pose(self.robot, q, frame))[:, :3, 3]

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Configurations at given times within the log [s], interpolated, and the nearest steps.

        Quaternions, and pairs of cosine and sine, are scaled to length one.

        Returns:
            q, (robots, times, nq), and steps, (times,).
        """
        last = len(self.t) - 1
        after = np.clip(np.searchsorted(self.t, times, "right"), min(1, last), last)
        before = np.maximum(after - 1, 0)
        apart = self.t[after] - self.t[before]
        share = np.divide(times - self.t[before], apart, out=np.ones(len(times)), where=apart > 0).clip(0, 1)
        first, second = self.q[:, before], self.q[:, after]
        found = first + share[:, None] * (second - first)
        for joint in self.robot.joints.values():
            size = {Free: 4, Spherical: 4, Planar: 2}.get(type(joint.kind))
            if size is None:
                continue
            end = self.robot.q_slice(joint.name).stop
            a, b = first[..., end - size : end], second[..., end - size : end]
            # q and -q are one orientation: take the shorter way
            b = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -b, b)
            mixed = a + share[:, None] * (b - a)
            length = np.linalg.norm(mixed, axis=-1, keepdims=True)
            found[..., end - size : end] = np.divide(mixed, length, out=np.array(a), where=length > 0)
        return found, np.where(share < 0.5, before, after)


def forces_at_points(robot: Robot, names: Any, forces: np.ndarray) -> np.ndarray:
    """Forces (..., contacts, 3), of contacts of these names, by contact point; those between bodies are left out."""
    wanted = [list(names).index(p.name) if p.name in names else -1 for p in robot.contact_points]
    empty = np.zeros((*forces.shape[:-2], 1, 3))
    return np.concatenate([forces, empty], axis=-2)[..., wanted, :]


def side_by_side(count: int, dx: float, dy: float) -> np.ndarray:
    """Places (count, 3) in rows, as many as there are columns: dx [m] between rows, dy [m] in a row."""
    rows, columns = np.divmod(np.arange(count), int(np.ceil(np.sqrt(count))))
    return np.stack([rows * dx, columns * dy, 0.0 * rows], axis=-1)


def spread(count: int, most: int) -> np.ndarray:
    """Indices of at most ``most`` of ``count`` entries, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))
