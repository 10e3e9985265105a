"""Scenes: robots, ground and forces as one surface, and a camera that has them in the picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.render.camera import AZIMUTH, Camera, Eye
from pliant.render.drawing import body_poses, drawing
from pliant.render.grounds import downhill_view
from pliant.render.picture import Floor, Surface, joined, picture
from pliant.render.shading import linear
from pliant.render.triangles import Mesh, arrow, creased, normals
from pliant.robot import Robot

__all__ = ["Scene", "Stage"]

_FORCE_COLOR = (0.93, 0.30, 0.10)
# colors of robots in a batch, where there are several; parts keep a share of their own
_TINTS = ((0.20, 0.44, 0.69), (0.87, 0.56, 0.02), (0.0, 0.62, 0.45), (0.80, 0.37, 0.0), (0.80, 0.47, 0.65))

# lines of a grid over uneven ground
_CELLS = 100


class Scene:
    """What a robot looks like, ready to be put anywhere.

    Attributes:
        robot: with its contacts.
        size: of the robot [m].
        notes: what could not be drawn as the file says.
    """

    def __init__(self, robot: Robot, *, packages: Any = (), detail: int):
        self.robot = robot
        drawn = drawing(robot, packages=packages, detail=detail)
        self.notes = drawn.notes
        places = {name: k for k, name in enumerate(robot.bodies)}
        parts = [(places[p.body], Mesh(p.vertices, p.faces), p.normals, p.color) for p in drawn.parts]
        empty = np.zeros((0, 3, 3))
        self._corners = np.concatenate([empty, *(mesh.vertices[mesh.faces] for _, mesh, _, _ in parts)])
        self._normals = np.concatenate([empty, *(n[mesh.faces] for _, mesh, n, _ in parts)])
        counts = [len(mesh.faces) for _, mesh, _, _ in parts]
        self._body = np.repeat([k for k, *_ in parts], counts).astype(int)
        self._colors = np.repeat(linear(np.array([c[:3] for *_, c in parts]).reshape(-1, 3)), counts, axis=0)
        # corners of a box around the shapes of each body, to know where it reaches to
        self._seen = sorted(set(self._body.tolist())) or list(range(len(robot.bodies)))
        self._boxes = np.zeros((len(self._seen), 8, 3))
        for row, k in enumerate(self._seen):
            points = self._corners[self._body == k].reshape(-1, 3)
            if len(points):
                ends = np.stack([points.min(axis=0), points.max(axis=0)])
                self._boxes[row] = [[ends[i, 0], ends[j, 1], ends[m, 2]] for i, j, m in np.ndindex(2, 2, 2)]
        low, high = self.boxes(body_poses(robot, robot.neutral()))
        self.size = float(np.linalg.norm(high - low)) or 1.0

    def boxes(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners (..., 3) of boxes that hold the robot, for poses (..., bodies, 4, 4)."""
        X = poses[..., self._seen, :, :]
        corners = np.einsum("...kij,kcj->...kci", X[..., :3, :3], self._boxes) + X[..., None, :3, 3]
        corners = corners.reshape(*poses.shape[:-3], -1, 3)
        return corners.min(axis=-2), corners.max(axis=-2)

    def lowest(self, poses: np.ndarray) -> float:
        """Height of its lowest point [m], for poses (bodies, 4, 4)."""
        X = poses[self._body]
        z = np.einsum("fj,fcj->fc", X[:, 2, :3], self._corners) + X[:, 2, 3:]
        return float(z.min()) if len(z) else float(poses[:, 2, 3].min())

    def surface(self, poses: np.ndarray, tint: int | None = None) -> Surface:
        """The robot with its bodies at these poses (bodies, 4, 4)."""
        X = poses[self._body]
        # faces of a body lie side by side, and so do what follows
        corners = np.matmul(self._corners, X[:, :3, :3].transpose(0, 2, 1)) + X[:, None, :3, 3]
        turned = np.matmul(self._normals, X[:, :3, :3].transpose(0, 2, 1))
        colors = self._colors
        if tint is not None:
            colors = 0.45 * colors + 0.55 * linear(np.array(_TINTS[tint % len(_TINTS)]))
        no = np.zeros(len(corners), dtype=bool)
        return Surface(corners, turned, colors, no, no)

    def arrows(self, points: np.ndarray, forces: np.ndarray, scale: float) -> Surface | None:
        """Arrows (contacts, 3) at points (contacts, 3), so long for a newton [m]."""
        found = []
        for p, f in zip(points, forces, strict=True):
            length = scale * float(np.linalg.norm(f))
            if not np.isfinite(length) or length < 0.01 * self.size:
                continue
            mesh = creased(arrow(min(length, self.size), 0.011 * self.size))
            R = _turned(f / np.linalg.norm(f))
            found.append(_painted(Mesh(mesh.vertices @ R.T + p, mesh.faces), _FORCE_COLOR, is_mark=True))
        return joined(found) if found else None

    def arrow_scale(self, forces: np.ndarray) -> float:
        """Meters for a newton: two fifths of the robot for its weight, but not much more than its size for any."""
        robot = self.robot
        weight = float(robot.mass) * float(np.linalg.norm([float(g) for g in robot.gravity]) or 9.81)
        found = np.linalg.norm(forces, axis=-1)
        found = found[np.isfinite(found) & (found > 0)]
        # a few blows do not count
        largest = float(np.quantile(found, 0.95)) if len(found) else 0.0
        return self.size / max(2.5 * weight, 1.7 * largest, 1e-9)


@dataclass(frozen=True)
class Stage:
    """Ground and camera of pictures that belong together.

    Attributes:
        camera: how it looks.
        floor: a plane; ground: of another shape, or None.
        radius: of what is in the picture [m].
        heights: the ground that is not flat, to keep the camera above it.
    """

    camera: Camera
    floor: Floor
    ground: Surface | None
    radius: float
    heights: Any = None

    @classmethod
    def around(cls, camera: Camera, low: np.ndarray, high: np.ndarray, ground: Any, lowest: float) -> "Stage":
        """One for a robot in boxes from low to high, (frames, 3).

        Args:
            ground: of the simulation, or None: then there is a floor at zero, or under what hangs lower.
            lowest: height of the lowest point of the robot [m].
        """
        size = np.linalg.norm(high - low, axis=-1).max() / 2
        if not camera.follow:
            size = max(size, float(np.linalg.norm(high.max(axis=0) - low.min(axis=0))) / 2)
        radius = float(max(size, 1e-3))
        # about four tiles from side to side of the robot: 1, 2 or 5 of some power of ten
        tile = _round_number(radius / 2)
        apart = camera.distance if camera.distance is not None else 4 * radius / camera.zoom
        reach = 3 * apart + 4 * radius
        if ground is None:
            z = min(0.0, lowest)
            return cls(camera, Floor(z, tile, reach), None, radius)
        if ground.is_flat:
            return cls(camera, Floor(float(ground.height(0.0, 0.0)), tile, reach), None, radius)
        near = low.min(axis=0)[:2] - radius, high.max(axis=0)[:2] + radius
        if camera.azimuth is None:
            camera = replace(camera, azimuth=math.degrees(downhill_view(ground, *near, math.radians(AZIMUTH))))
        mesh = _ground_mesh(ground, *near, 1.3 * reach)
        painted = _painted(mesh, (1.0, 1.0, 1.0), is_ground=True)
        return cls(camera, Floor(float(mesh.vertices[:, 2].min()), tile, 0.8 * reach, False), painted, radius, ground)

    def eye(self, center: np.ndarray, width: int, height: int) -> Eye:
        """The camera when the robot is at ``center``."""
        eye = self.camera.eye(center, self.radius, width, height)
        if self.heights is None:
            return eye
        # over the hill, where one is between
        for elevation in np.arange(self.camera.elevation, 85, 5):
            eye = replace(self.camera, elevation=float(elevation)).eye(center, self.radius, width, height)
            line = eye.place + np.linspace(0, 0.8, 30)[:, None] * (center - eye.place)
            if (line[:, 2] > self.heights.height(line[:, 0], line[:, 1]) + 0.02 * self.radius).all():
                break
        return eye

    def picture(self, surfaces: Sequence[Surface | None], center: np.ndarray, width: int, height: int) -> np.ndarray:
        """Pixels (height, width, 3) of these surfaces on the ground."""
        shown = [s for s in (*surfaces, self.ground) if s is not None]
        return picture(joined(shown), self.eye(center, width, height), self.floor)


def _ground_mesh(ground: Any, low: np.ndarray, high: np.ndarray, reach: float) -> Mesh:
    """Ground around a rectangle from low to high, (2,), with cells that are small in it and grow outward."""
    lines = []
    for a, b in zip(low, high, strict=True):
        inside = np.linspace(a, b, _CELLS)
        outside = (b - a) / _CELLS + np.geomspace(1e-2, 1 + 1e-2, _CELLS // 2) * reach - 1e-2 * reach
        lines.append(np.concatenate([a - outside[::-1], inside, b + outside]))
    x, y = np.meshgrid(*lines, indexing="ij")
    z = np.broadcast_to(np.asarray(ground.height(x, y), dtype=float), x.shape)
    rows, columns = x.shape
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    first = np.stack([corner, corner + columns, corner + columns + 1], axis=-1)
    second = np.stack([corner, corner + columns + 1, corner + 1], axis=-1)
    return creased(Mesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), np.concatenate([first, second])))


def _painted(mesh: Mesh, color: Sequence[float], *, is_ground: bool = False, is_mark: bool = False) -> Surface:
    m = len(mesh.faces)
    return Surface(
        mesh.vertices[mesh.faces],
        normals(mesh)[mesh.faces],
        np.tile(linear(np.array(color)), (m, 1)),
        np.full(m, is_ground),
        np.full(m, is_mark),
    )


def _turned(z: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) that takes the z axis to a unit vector."""
    x = np.cross(z, np.eye(3)[np.argmin(abs(z))])
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _round_number(x: float) -> float:
    power = 10.0 ** np.floor(np.log10(x))
    return float(max(k for k in (1, 2, 5) if k * power <= x * (1 + 1e-9)) * power)
