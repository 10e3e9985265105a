"""A mouse that drags a body of a live simulation: a force on the point that it took hold of, drawn as an arrow."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.render.shapes import arrow
from pliant.viewer.browser_scene import BrowserScene, place_arrows
from pliant.viewer.stepping import Pull

if TYPE_CHECKING:
    from pliant.viewer.live import Runner

PULL_COLOR = (40, 110, 210)
STRENGTH = 2.0
"""Force of a pull over one size of the robot, in its weights."""
NEARER = 0.3
"""Distance of the arrow to the camera, relative to that of where the force acts."""
DAMPING = 0.5
"""Of the robot as a whole at the end of a pull, relative to the critical one."""


class Dragging:
    """Lets a mouse drag the bodies of one robot.

    Args:
        runner: moves the simulation.
        k: of the robot in the scene.
        number: of the robot in the batch; None if there is one robot.
    """

    def __init__(self, server: Any, scene: BrowserScene, runner: "Runner", k: int, number: int | None):
        self.scene, self.runner, self.node, self.number = scene, runner, scene.robots[k], number
        robot = scene.robot
        mass = max(float(robot.mass), 1e-6)
        weight = mass * max(float(np.linalg.norm([float(g) for g in robot.gravity])), 1.0)
        self.per_metre = STRENGTH * weight / scene.size
        self.per_speed = 2 * DAMPING * math.sqrt(self.per_metre * mass)
        self.pull: Pull | None = None
        self._camera = np.zeros(3)
        one = {"batched_wxyzs": np.array([[1.0, 0, 0, 0]]), "batched_positions": np.zeros((1, 3))}
        one |= {"batched_scales": np.full((1, 3), 1e-6), "batched_colors": PULL_COLOR}
        path = f"/world/{self.node.name}/pull"
        self.arrow = server.scene.add_batched_meshes_simple(path, *arrow(1.0, 0.035), **one, lod="off")
        for handle, body in self.node.meshes:
            self._listen(handle, body)

    def _listen(self, handle: Any, body: str) -> None:
        @handle.on_drag("left")
        async def _(event: Any) -> None:
            # one after the other, on the loop of the server
            self.drag(event.phase, body, event.start_position, event.end_position, event.client.camera.position)

    def drag(self, phase: str, body: str, start: Any, end: Any, camera: Any) -> None:
        """Begin, go on or end to drag a body.

        Args:
            phase: "start", "update" or "end".
            start: where the mouse took hold of the body, as it is now, in the scene [m].
            end: where the mouse is [m].
            camera: where the picture is taken from [m].
        """
        runner = self.runner
        if phase == "end":
            self.pull = None
            runner.pulls.pop(self, None)
            return
        origin = np.asarray(self.scene.world.position) + np.asarray(self.node.root.position)
        if self.pull is None or phase == "start":
            X = self.node.pose_of(body)
            point = X[:3, :3].T @ (np.asarray(start) - origin - X[:3, 3])
            self.pull = Pull(body, point, np.asarray(end) - origin, self.per_metre, self.per_speed, self.number)
            runner.pulls[self] = self.pull
        self.pull.target, self._camera = np.asarray(end) - origin, np.asarray(camera) - origin

    def draw(self) -> None:
        """Draw the force."""
        pull, size = self.pull, self.scene.size
        force = None if pull is None else pull.force
        if pull is None or force is None:
            place_arrows(self.arrow, np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(1), size)
            return
        X = self.node.pose_of(pull.body)
        at = X[:3, 3] + X[:3, :3] @ pull.point
        length = min(float(np.linalg.norm(force)) / self.per_metre, 2 * size)
        # nearer to the camera and smaller as much, it is at the same place of the picture, and no body hides it
        at = self._camera + NEARER * (at - self._camera)
        place_arrows(self.arrow, at[None], force[None], np.array([NEARER * length]), NEARER * size)
