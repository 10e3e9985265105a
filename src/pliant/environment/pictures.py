"""Pictures of the robots of an environment as they are now, without a screen."""

from typing import Any

import numpy as np

from pliant.checks import check, is_whole
from pliant.render.camera import as_camera
from pliant.render.robot_drawing import body_poses
from pliant.render.studio import RobotSurface, Studio
from pliant.simulation import Simulation

# most triangles of a robot
_DETAIL = 20_000


class Pictures:
    """Pictures of the robots of a simulation, each alone on the ground with a camera that follows it.

    Attributes:
        size: width and height [pixels].
    """

    def __init__(self, sim: Simulation, size: tuple[int, int] = (480, 360), camera: Any = None):
        is_right = len(size) == 2 and all(is_whole(n) and 16 <= n <= 8192 for n in size)
        check("size", size, "width and height in pixels, 16 to 8192", is_right, subject="the picture")
        self.sim, self.size, self._camera = sim, (int(size[0]), int(size[1])), as_camera(camera)
        self._surface = RobotSurface(sim.robot, detail=_DETAIL)
        self._studio: Studio | None = None
        self._built = np.full(3, np.inf)

    def of(self, robot: int) -> np.ndarray:
        """The robot of this number, (height, width, 3), bytes."""
        poses = body_poses(self.sim.robot, np.asarray(self.sim.q[robot], dtype=float))
        low, high = self._surface.boxes(poses)
        center = (low + high) / 2
        return self._studio_at(center, poses).picture([self._surface.surface(poses)], center, *self.size)

    def _studio_at(self, center: np.ndarray, poses: np.ndarray) -> Studio:
        """The same one for as long as possible: uneven ground is drawn around a place."""
        ground, half = self.sim.model.ground, self._surface.size / 2
        is_even = ground is None or ground.is_flat
        if self._studio is None or (not is_even and np.linalg.norm(center - self._built) > 4 * half):
            low, high = (center[None] + side * half / np.sqrt(3) for side in (-1, 1))
            self._studio = Studio.around(self._camera, low, high, ground, self._surface.lowest(poses))
            self._built = center
        return self._studio
