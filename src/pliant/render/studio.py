"""The studio: robots and contact forces as surfaces, ground and camera around them, and the frames of a log.

log -> `LogFrames` -> `RobotSurface` at poses, in a `Studio` -> `pliant.render.software_renderer`
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.contact.ground_faces import MapFaces
from pliant.errors import PliantError
from pliant.plots.figures import round_number
from pliant.render.camera import AZIMUTH, Camera, Eye, as_camera
from pliant.render.log_motion import LogMotion, side_by_side
from pliant.render.robot_drawing import body_poses, drawing, points_of_contacts
from pliant.render.shading import linear
from pliant.render.shapes import Mesh, along, arrow, creased, downhill_azimuth, ground_over, joined, map_lines, normals
from pliant.render.software_renderer import Floor, Surface, joined_surfaces, rendered
from pliant.robot import Robot

_FORCE_COLOR = (0.93, 0.30, 0.10)
# tints of the robots of a batch, mixed with the colors of their parts
_TINTS = ((0.20, 0.44, 0.69), (0.87, 0.56, 0.02), (0.0, 0.62, 0.45), (0.80, 0.37, 0.0), (0.80, 0.47, 0.65))

# lines of a grid over uneven ground; on a height map, whose own lines are drawn near the robot
_CELLS = 100
_MAP_CELLS = 240
# time that a camera takes to follow [s]
_LAG = 0.8


class RobotSurface:
    """A robot as triangles that `surface` puts at any poses of its bodies; ``size`` is that of the robot [m]."""

    def __init__(self, robot: Robot, *, packages: Any = (), detail: int):
        self.robot = robot
        drawn = drawing(robot, packages=packages, detail=detail)
        places = {name: k for k, name in enumerate(robot.bodies)}
        parts = [(places[p.body], Mesh(p.vertices, p.faces), p.normals, p.color) for p in drawn.parts]
        # vertices body by body, so that those of one are moved together
        parts.sort(key=lambda part: part[0])
        whole = joined(mesh for _, mesh, _, _ in parts)
        self._vertices, self._faces = whole.vertices, whole.faces
        self._normals = np.concatenate([np.zeros((0, 3)), *(n for _, _, n, _ in parts)])
        bodies = np.repeat([k for k, *_ in parts], [len(mesh.vertices) for _, mesh, _, _ in parts]).astype(int)
        self._spans = [(k, slice(*np.searchsorted(bodies, [k, k + 1]).tolist())) for k in sorted(set(bodies.tolist()))]
        counts = [len(mesh.faces) for _, mesh, _, _ in parts]
        self._colors = np.repeat(linear(np.array([c[:3] for *_, c in parts]).reshape(-1, 3)), counts, axis=0)
        # corners of a box around the shapes of each body: the bounds of the robot at any poses
        self._seen = [k for k, _ in self._spans] or list(range(len(robot.bodies)))
        self._boxes = np.zeros((len(self._seen), 8, 3))
        for row, (_, span) in enumerate(self._spans):
            points = self._vertices[span]
            ends = np.stack([points.min(axis=0), points.max(axis=0)])
            self._boxes[row] = [[ends[i, 0], ends[j, 1], ends[m, 2]] for i, j, m in np.ndindex(2, 2, 2)]
        low, high = self.boxes(body_poses(robot, robot.neutral()))
        self.size = float(np.linalg.norm(high - low)) or 1.0

    def boxes(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners (..., 3) of boxes around the robot, for poses (..., bodies, 4, 4)."""
        X = poses[..., self._seen, :, :]
        corners = np.einsum("...kij,kcj->...kci", X[..., :3, :3], self._boxes) + X[..., None, :3, 3]
        corners = corners.reshape(*poses.shape[:-3], -1, 3)
        return corners.min(axis=-2), corners.max(axis=-2)

    def lowest(self, poses: np.ndarray) -> float:
        """Height of its lowest point [m], for poses (bodies, 4, 4)."""
        heights = [float((self._vertices[span] @ poses[k, 2, :3]).min() + poses[k, 2, 3]) for k, span in self._spans]
        return min(heights) if heights else float(poses[:, 2, 3].min())

    def surface(self, poses: np.ndarray, tint: int | None = None) -> Surface:
        """The robot with its bodies at these poses (bodies, 4, 4)."""
        vertices, turned = np.empty_like(self._vertices), np.empty(self._normals.shape, dtype=np.float32)
        for k, span in self._spans:
            R = poses[k, :3, :3].T
            vertices[span] = self._vertices[span] @ R + poses[k, :3, 3]
            turned[span] = self._normals[span] @ R
        corners, turned = vertices.take(self._faces, axis=0), turned.take(self._faces, axis=0)
        colors = self._colors
        if tint is not None:
            colors = 0.45 * colors + 0.55 * linear(np.array(_TINTS[tint % len(_TINTS)]))
        no = np.zeros(len(corners), dtype=bool)
        return Surface(corners, turned, colors, no, no)

    def arrows(self, points: np.ndarray, forces: np.ndarray, scale: float) -> Surface | None:
        """Arrows for forces (contacts, 3) [N] at points (contacts, 3), ``scale`` meters long for a newton."""
        found = []
        for p, f in zip(points, forces, strict=True):
            length = scale * float(np.linalg.norm(f))
            if not np.isfinite(length) or length < 0.01 * self.size:
                continue
            mesh = creased(arrow(min(length, self.size), 0.011 * self.size))
            R = along(np.zeros(3), f)[:3, :3]
            found.append(_painted(Mesh(mesh.vertices @ R.T + p, mesh.faces), _FORCE_COLOR, is_mark=True))
        return joined_surfaces(found) if found else None

    def arrow_scale(self, forces: np.ndarray) -> float:
        """Meters for a newton: two fifths of the robot's size for its weight, and little more than its size for any."""
        robot = self.robot
        weight = float(robot.mass) * float(np.linalg.norm([float(g) for g in robot.gravity]) or 9.81)
        found = np.linalg.norm(forces, axis=-1)
        found = found[np.isfinite(found) & (found > 0)]
        # a few impacts do not count
        largest = float(np.quantile(found, 0.95)) if len(found) else 0.0
        return self.size / max(2.5 * weight, 1.7 * largest, 1e-9)


@dataclass(frozen=True)
class Studio:
    """Ground and camera, common to the pictures of a series.

    Attributes:
        ground: the surface of uneven ground, None if it is flat.
        radius: of the ball that fits into the picture [m].
        heights: the uneven ground itself, to keep the camera above it.
    """

    camera: Camera
    floor: Floor
    ground: Surface | None
    radius: float
    heights: Any = None

    @classmethod
    def around(cls, camera: Camera, low: np.ndarray, high: np.ndarray, ground: Any, lowest: float) -> "Studio":
        """A studio for a robot in boxes from low to high, (frames, 3).

        Args:
            ground: of the simulation; None: a floor at height 0, or at the lowest point if that is lower.
            lowest: height of the lowest point of the robot [m].
        """
        size = np.linalg.norm(high - low, axis=-1).max() / 2
        if not camera.follow:
            size = max(size, float(np.linalg.norm(high.max(axis=0) - low.min(axis=0))) / 2)
        radius = float(max(size, 1e-3))
        # about four tiles from side to side of the robot: 1, 2 or 5 of some power of ten
        tile = round_number(radius / 2)
        apart = camera.distance if camera.distance is not None else 4 * radius / camera.zoom
        reach = 3 * apart + 4 * radius
        if ground is None or ground.is_flat:
            z = min(0.0, lowest) if ground is None else float(ground.height(0.0, 0.0))
            return cls(camera, Floor(z, tile, reach), None, radius)
        near = low.min(axis=0)[:2] - radius, high.max(axis=0)[:2] + radius
        if camera.azimuth is None:
            camera = replace(camera, azimuth=math.degrees(downhill_azimuth(ground, *near, math.radians(AZIMUTH))))
        mesh = _ground_mesh(ground, *near, 1.3 * reach)
        painted = _painted(mesh, (1.0, 1.0, 1.0), is_ground=True)
        return cls(camera, Floor(float(mesh.vertices[:, 2].min()), tile, 0.8 * reach, False), painted, radius, ground)

    def eye(self, center: np.ndarray, width: int, height: int) -> Eye:
        """The camera when the robot is at ``center``."""
        eye = self.camera.eye(center, self.radius, width, height)
        if self.heights is None:
            return eye
        # higher, if a hill hides the robot
        for elevation in np.arange(self.camera.elevation, 85, 5):
            eye = replace(self.camera, elevation=float(elevation)).eye(center, self.radius, width, height)
            line = eye.place + np.linspace(0, 0.8, 30)[:, None] * (center - eye.place)
            if (line[:, 2] > self.heights.height(line[:, 0], line[:, 1]) + 0.02 * self.radius).all():
                break
        return eye

    def picture(self, surfaces: Sequence[Surface | None], center: np.ndarray, width: int, height: int) -> np.ndarray:
        """A picture (height, width, 3) of surfaces on the ground, taken with the robot at ``center``."""
        shown = [s for s in (*surfaces, self.ground) if s is not None]
        return rendered(joined_surfaces(shown), self.eye(center, width, height), self.floor)


def _ground_mesh(ground: Any, low: np.ndarray, high: np.ndarray, reach: float) -> Mesh:
    """Ground around a rectangle from low to high, (2,), with small cells inside that grow outward."""
    lines, faces = [], getattr(ground, "faces", None)
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        if isinstance(faces, MapFaces):
            wider = max(0.0, min(reach, (_MAP_CELLS * faces.spacing[axis] - (b - a)) / 2))
            a, b = a - wider, b + wider
            inside = map_lines(faces, axis, a, b, _MAP_CELLS)
        else:
            inside = np.linspace(a, b, _CELLS)
        outside = (b - a) / _CELLS + np.geomspace(1e-2, 1 + 1e-2, _CELLS // 2) * reach - 1e-2 * reach
        lines.append(np.concatenate([a - outside[::-1], inside, b + outside]))
    return creased(ground_over(ground, *lines))


def _painted(mesh: Mesh, color: Sequence[float], *, is_ground: bool = False, is_mark: bool = False) -> Surface:
    m = len(mesh.faces)
    colors, marks = np.tile(linear(np.array(color)), (m, 1)), (np.full(m, is_ground), np.full(m, is_mark))
    return Surface(mesh.vertices[mesh.faces], normals(mesh)[mesh.faces], colors, *marks)


# ---- logs


class LogFrames:
    """Pictures of a log at given times, with contact forces and a camera that follows.

    Args:
        times: [s].
        camera, forces, packages: as for `Log.to_video`.
        fps: pictures a second, for a camera that follows.
        detail: most triangles of a robot.
    """

    def __init__(
        self, motion: LogMotion, times: np.ndarray, *, camera: Any, forces: bool, packages: Any, fps: float, detail: int
    ):
        robot, ground = motion.robot, motion.source.ground
        q, steps = motion.at(times)
        self.surface = RobotSurface(robot, packages=packages, detail=detail)
        self.poses = poses = body_poses(robot, q)
        if not np.isfinite(poses).all():
            problem, cure = "the log has positions that are not finite", "log.between() cuts them off"
            raise PliantError(problem, subject="the log", field="q", cure=cure)
        if ground is None or ground.is_flat:
            poses[..., :3, 3] += side_by_side(len(q), 1.1 * self.surface.size, 1.1 * self.surface.size)[:, None, None]
        self.forces = None
        if forces and motion.forces is not None:
            self.forces = motion.forces[:, steps]
            self.points = points_of_contacts(robot, q, poses)
            self.points[..., 2] -= np.array([float(p.radius) for p in robot.contact_points])
            self.scale = self.surface.arrow_scale(motion.forces)
        low, high = (x(b, axis=0) for x, b in zip((np.min, np.max), self.surface.boxes(poses), strict=True))
        some = poses[:, :: max(1, len(times) // 10)].reshape(-1, *poses.shape[2:])
        self.studio = Studio.around(as_camera(camera), low, high, ground, min(map(self.surface.lowest, some)))
        center = (low + high) / 2
        if not self.studio.camera.follow:
            center = np.broadcast_to((low.min(axis=0) + high.max(axis=0)) / 2, center.shape)
        self.centers = smooth_path(center, max(1, round(_LAG * fps)))

    def picture(self, k: int, width: int, height: int) -> np.ndarray:
        """Pixels at the k-th time."""
        surfaces: list[Surface | None] = []
        for r, poses in enumerate(self.poses[:, k]):
            surfaces.append(self.surface.surface(poses, r if len(self.poses) > 1 else None))
            if self.forces is not None:
                surfaces.append(self.surface.arrows(self.points[r, k], self.forces[r, k], self.scale))
        return self.studio.picture(surfaces, self.centers[k], width, height)


def smooth_path(path: np.ndarray, width: int) -> np.ndarray:
    """Means over ``width`` entries of a path (n, 3), which is mirrored at its ends."""
    half = width // 2
    if half == 0 or len(path) < 2:
        return np.array(path)
    ahead = 2 * path[:1] - path[half:0:-1]
    behind = 2 * path[-1:] - path[-2 : -half - 2 : -1]
    longer = np.concatenate([ahead, path, behind])
    window = np.hanning(len(ahead) + len(behind) + 3)[1:-1]
    found = np.stack([np.convolve(longer[:, a], window / window.sum(), "valid") for a in range(3)], axis=1)
    return found[: len(path)]
