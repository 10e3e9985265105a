"""Pictures of a log: robots, forces and a camera that follows, at some times."""

from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.errors import PliantError
from pliant.plots.moments import contact_columns, moments
from pliant.recording.log import Log
from pliant.render.camera import as_camera
from pliant.render.drawing import body_poses, points_of_contacts
from pliant.render.images import Scene, Stage
from pliant.render.picture import Surface

__all__ = ["Film"]

# robots of a batch that are shown unless they are chosen
_MOST = 16
# how long a camera takes to follow [s]
_LAG = 0.8


class Film:
    """Pictures of a log at some times.

    Args:
        log: with its source.
        times: [s].
        camera, robots, forces, packages: as for `pliant.render.video.to_video`.
        fps: pictures a second, for a camera that follows.
        detail: most triangles of a robot.
        what: for whom, in messages.
    """

    def __init__(
        self,
        log: Log,
        times: np.ndarray,
        *,
        camera: Any,
        robots: Any,
        forces: bool,
        packages: Any,
        fps: float,
        detail: int,
        what: str,
    ):
        source = log.needs_source(what)
        robot = source.robot
        self.times = times
        self.chosen = chosen_robots(robots, log.batch, first=_MOST, least=1, error=PliantError).tolist()
        every, entries = moments(log, times, what)
        self.scene = Scene(robot, packages=packages, detail=detail)
        poses = body_poses(robot, every[self.chosen])
        if not np.isfinite(poses).all():
            raise PliantError(f"{what}: the log has positions that are not finite; log.between() cuts them off")
        apart = self._apart(len(self.chosen), source.ground)
        poses[..., :3, 3] += apart[:, None, None]
        self.poses = poses
        self.points, self.forces = None, None
        if forces and "forces" in log and contact_columns(log):
            self._find_forces(log, every, entries, apart)
        low, high = (x(b, axis=0) for x, b in zip((np.min, np.max), self.scene.boxes(poses), strict=True))
        lowest = min(self.scene.lowest(p) for p in poses[:, :: max(1, len(times) // 10)].reshape(-1, *poses.shape[2:]))
        self.stage = Stage.around(as_camera(camera), low, high, source.ground, lowest)
        center = (low + high) / 2
        if not self.stage.camera.follow:
            center = np.broadcast_to((low.min(axis=0) + high.max(axis=0)) / 2, center.shape)
        self.centers = _smooth(center, max(1, round(_LAG * fps)))

    def _apart(self, robots: int, ground: Any) -> np.ndarray:
        """Robots side by side in rows, (robots, 3), where the ground is the same everywhere."""
        places = np.zeros((robots, 3))
        if robots > 1 and (ground is None or ground.is_flat):
            rows = int(np.ceil(np.sqrt(robots)))
            places[:, 0], places[:, 1] = np.divmod(np.arange(robots), rows)
            places[:, :2] *= 1.1 * self.scene.size
        return places

    def _find_forces(self, log: Log, q: np.ndarray, entries: np.ndarray, apart: np.ndarray) -> None:
        robot = self.scene.robot
        places = {point.name: k for k, point in enumerate(robot.contact_points)}
        columns = [(first, places[name]) for first, name in contact_columns(log) if name in places]
        if not columns:
            return
        points = points_of_contacts(robot, q[self.chosen])
        points[..., 2] -= np.array([float(p.radius) for p in robot.contact_points])
        self.points = points[:, :, [place for _, place in columns]] + apart[:, None, None]
        forces = log["forces"] if log.batch is not None else log["forces"][None]
        self.forces = np.stack([forces[:, entries, first : first + 3] for first, _ in columns], axis=2)[self.chosen]
        self.scale = self.scene.arrow_scale(forces[self.chosen].reshape(-1, 3))

    def picture(self, k: int, width: int, height: int) -> np.ndarray:
        """Pixels at the k-th time."""
        surfaces: list[Surface | None] = []
        for r in range(len(self.chosen)):
            surfaces.append(self.scene.surface(self.poses[r, k], r if len(self.chosen) > 1 else None))
            if self.points is not None and self.forces is not None:
                surfaces.append(self.scene.arrows(self.points[r, k], self.forces[r, k], self.scale))
        return self.stage.picture(surfaces, self.centers[k], width, height)


def _smooth(path: np.ndarray, width: int) -> np.ndarray:
    """Means over so many entries, (n, 3), of a path that goes on at its ends as it began."""
    half = width // 2
    if half == 0 or len(path) < 2:
        return np.array(path)
    ahead = 2 * path[:1] - path[half:0:-1]
    behind = 2 * path[-1:] - path[-2 : -half - 2 : -1]
    longer = np.concatenate([ahead, path, behind])
    window = np.hanning(len(ahead) + len(behind) + 3)[1:-1]
    found = np.stack([np.convolve(longer[:, a], window / window.sum(), "valid") for a in range(3)], axis=1)
    return found[: len(path)]
