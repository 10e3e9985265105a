"""The scene in the browser, common to viewer, live mode and replay: robots, ground, forces, traces and camera."""

import math
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.plots.figures import round_number
from pliant.recording.source import Source
from pliant.render.camera import downhill_azimuth
from pliant.render.robot_drawing import DETAIL, body_poses, drawing, points_of_contacts
from pliant.render.shapes import ground_mesh
from pliant.viewer.robot_node import MARKS, ContactMarks, RobotNode, center_of_mass, exaggerated

__all__ = ["LAYOUTS", "BrowserScene", "check_marks"]

LAYOUTS = ("grid", "overlay")
"""Several robots are side by side, or all in one place with all but the first faint."""

FARTHEST = 8.0
"""Distance from the start up to which a robot is in the picture, in sizes of the robot."""

GROUND_COLOR = (228, 232, 228)
FIELD_OF_VIEW = math.radians(40)
TOWARDS = np.array([1.0, -1.15, 0.5]) / math.hypot(1.0, 1.15, 0.5)
"""Direction from the robot to the camera: front, right and above, since robots face along x."""

SHOWN = (*MARKS, "forces", "cones")
TRACE_COLORS = [(38, 92, 150), (214, 96, 30), (60, 140, 80), (150, 60, 140), (120, 120, 40)]


class BrowserScene:
    """The robots of a source in viser's scene.

    Args:
        server: viser's.
        source: robot, ground and contacts.
        q: configurations that fit into the picture, (robots, steps, nq).
        layout: one of `LAYOUTS`.
        show: marks to switch on at first.
        follow: whether the picture follows the robots; None: if they travel farther than their size.
        detail: most triangles of all robots together.
        packages: more folders in which to look for meshes.

    Attributes:
        factor: by which deflections of flexible joints are exaggerated.
        follow: whether the picture follows the robots.
        size: of one robot [m].
    """

    def __init__(
        self,
        server: Any,
        source: Source,
        q: np.ndarray,
        *,
        layout: str = "grid",
        show: Iterable[str] = (),
        follow: bool | None = None,
        detail: int = DETAIL,
        packages: Any = (),
    ):
        if layout not in LAYOUTS:
            raise PliantError(unknown_name("layout", layout, LAYOUTS))
        self.server, self.source, self.robot = server, source, source.robot
        count = len(q)
        self.drawing = drawing(self.robot, detail=max(2000, detail // count), packages=packages)
        self.size, self.factor = self.drawing.size, 1.0
        self.world = server.scene.add_frame("/world", show_axes=False)
        travel = self._centers(q)
        far = float(np.linalg.norm(travel - travel[:1], axis=-1).max())
        self._home, self.follow = travel[0], far > self.size if follow is None else bool(follow)
        low, high = self._box(q)
        self._heights = float(low[2]), float(high[2])
        self.offsets = _offsets(count, high - low, layout)
        low, high = low + self.offsets.min(axis=0), high + self.offsets.max(axis=0)
        _add_ground(server, source.ground, low, high, self.size)
        _aim(server, low, high, source.ground)
        faint = 1.0 if layout == "grid" else 0.35
        self.robots = [
            RobotNode(server.scene, self.drawing, f"robot {k}", offset, 1.0 if k == 0 else faint)
            for k, offset in enumerate(self.offsets)
        ]
        self.contacts: list[ContactMarks] = []
        if self.robot.contact_points:
            self.contacts = [ContactMarks(server.scene, node.name, source, self.size) for node in self.robots]
        self.shown = dict.fromkeys(SHOWN, False) | {"forces": True}
        for mark in check_marks(show):
            self.show(mark, True)
        self._last: tuple[np.ndarray, np.ndarray | None] | None = None
        self._lock = threading.RLock()  # the thread of the clock draws, and so do those of the page

    def _box(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A box [m] around the robots over time, limited to `FARTHEST`."""
        low, high = self.drawing.bounds(q[0, 0])
        steps = np.unique(np.linspace(0, q.shape[1] - 1, min(60, q.shape[1])).round().astype(int))
        places = body_poses(self.robot, q[:, steps])[..., :3, 3].reshape(-1, 3)
        if self.follow:
            places = np.clip(places, [*low[:2], -np.inf], [*high[:2], np.inf])
        margin = (high - low) / 20
        far = FARTHEST * self.size
        lowest = np.minimum(low, places.min(axis=0, initial=np.inf) - margin)
        highest = np.maximum(high, places.max(axis=0, initial=-np.inf) + margin)
        return np.maximum(lowest, low - far), np.minimum(highest, high + far)

    def _centers(self, q: np.ndarray) -> np.ndarray:
        """Mean position of the robots on the ground over time, (steps, 2) [m]."""
        steps = np.unique(np.linspace(0, q.shape[1] - 1, min(60, q.shape[1])).round().astype(int))
        return center_of_mass(self.robot, body_poses(self.robot, q[:, steps])).mean(axis=0)[:, :2]

    def draw(self, q: np.ndarray, forces: np.ndarray | None = None) -> None:
        """Put the robots into configurations (robots, nq), with forces (robots, contacts, 3) [N] at their contacts."""
        with self._lock:
            self._draw(q, forces)

    def _draw(self, q: np.ndarray, forces: np.ndarray | None) -> None:
        self._last = q, forces
        poses = body_poses(self.robot, exaggerated(self.robot, q, self.factor))
        centers = points_of_contacts(self.robot, q, poses)
        shift = np.zeros(3)
        if self.follow:
            # the world moves, since the camera belongs to the user
            center = center_of_mass(self.robot, poses).mean(axis=0)
            shift[:2] = self._home - center[:2]
            # hops are visible; a robot that leaves the picture up or down is followed
            shift[2] = np.clip(center[2], *self._heights) - center[2]
        with self.server.atomic():
            self.world.position = shift
            for k, node in enumerate(self.robots):
                node.pose(poses[k])
                if self.contacts:
                    shown = np.zeros_like(centers[k]) if forces is None else forces[k]
                    self.contacts[k].update(centers[k], shown)

    def redraw(self) -> None:
        """Draw the same state again, after a change of ``factor`` or ``follow``."""
        if self._last is not None:
            self.draw(*self._last)

    def show(self, mark: str, is_shown: bool) -> None:
        """Switch marks on or off: see `check_marks`."""
        self.shown[mark] = is_shown
        if mark in ("forces", "cones"):
            for marks in self.contacts:
                (marks.arrows if mark == "forces" else marks.cones).visible = is_shown
            return
        for node in self.robots:
            node.show(mark, is_shown)

    def trace(self, name: str, paths: Sequence[np.ndarray]) -> list[Any]:
        """Lines along paths (n, 3) [m], one for each robot."""
        color = TRACE_COLORS[sum(map(ord, name)) % len(TRACE_COLORS)]
        made = []
        for robot, path in zip(self.robots, paths, strict=False):
            if len(path) < 2:
                continue
            lines = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
            node = f"/world/{robot.name}/trace {name.replace('/', ' ')}"
            style = {"thickness": 2.5, "thickness_units": "screen"}
            made.append(self.server.scene.add_line_segments(node, lines, color, **style))
        return made


def check_marks(show: str | Iterable[str]) -> list[str]:
    """A list of marks, checked: frames, inertias, mass, contacts, names, forces, cones."""
    given = [show] if isinstance(show, str) else list(show)
    for mark in given:
        if mark not in SHOWN:
            raise PliantError(unknown_name("mark", mark, SHOWN, "the viewer"))
    return given


def _offsets(count: int, extent: np.ndarray, layout: str) -> np.ndarray:
    """Origins of the robots' worlds (count, 3) [m]: in rows, a little farther apart than the robots reach."""
    if layout == "overlay" or count == 1:
        return np.zeros((count, 3))
    columns = math.ceil(math.sqrt(count))
    k = np.arange(count)
    step = 1.3 * np.maximum(extent[:2], 0.4 * extent.max())
    return np.stack([k // columns * step[0], k % columns * step[1], 0 * k], axis=-1)


# ---- ground and camera


def _add_ground(server: Any, ground: Any, low: np.ndarray, high: np.ndarray, size: float) -> None:
    """Add the ground below a box [m]: a grid if flat, else a surface with lines; a faint grid if there is none."""
    cell = round_number(size / 4)
    center = (low + high) / 2
    if ground is None or ground.is_flat:
        z = float(low[2]) if ground is None else float(np.ravel(ground.height(np.zeros(1), np.zeros(1)))[0])
        server.scene.add_grid(
            "/world/ground",
            infinite_grid=True,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(205, 208, 212),
            section_color=(160, 166, 174),
            plane_color=(236, 238, 240),
            plane_opacity=0.0 if ground is None else 1.0,
            shadow_opacity=0.05 if ground is None else 0.25,
            fade_distance=12 * size,
            position=(0.0, 0.0, z),
        )
        return
    reach = max(float((high - low)[:2].max()) / 2 + size, 2 * size)
    span = [math.floor(c / cell) * cell for c in center[:2] - reach]
    span += [math.ceil(c / cell) * cell for c in center[:2] + reach]
    mesh = ground_mesh(ground, span)
    # a ground that casts shadows would cast them on itself
    server.scene.add_mesh_simple(
        "/world/ground", mesh.vertices, mesh.faces, color=GROUND_COLOR, side="double", cast_shadow=False
    )
    lines = _ground_lines(ground, span, cell, 0.004 * size)
    server.scene.add_line_segments(
        "/world/ground/lines", lines, (150, 158, 152), thickness=1.0, thickness_units="screen"
    )


def _ground_lines(ground: Any, span: list[float], cell: float, lift: float) -> np.ndarray:
    """Lines on the ground along x and y, (n, 2, 3)."""
    x0, y0, x1, y1 = span
    segments = []
    for first, last, start, end, turn in ((x0, x1, y0, y1, False), (y0, y1, x0, x1, True)):
        along = np.linspace(start, end, 161)
        for c in np.arange(first, last + cell / 2, cell):
            x, y = (along, np.full_like(along, c)) if turn else (np.full_like(along, c), along)
            line = np.stack([x, y, np.asarray(ground.height(x, y)) + lift], axis=-1)
            segments.append(np.stack([line[:-1], line[1:]], axis=1))
    return np.concatenate(segments).astype(np.float32)


def _aim(server: Any, low: np.ndarray, high: np.ndarray, ground: Any = None) -> None:
    """Aim the camera at a box [m] from the front, or from downhill where the ground rises."""
    center, size = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-3)
    x, y, z = TOWARDS
    azimuth = downhill_azimuth(ground, center[:2] - size, center[:2] + size, math.atan2(y, x))
    level = math.hypot(x, y)
    towards = np.array([level * math.cos(azimuth), level * math.sin(azimuth), z])
    position = center + towards * (0.62 * size / math.tan(FIELD_OF_VIEW / 2))
    camera = server.initial_camera
    camera.position, camera.look_at, camera.fov = tuple(position), tuple(center), FIELD_OF_VIEW
    camera.near, camera.far = 0.01 * size, 1000 * size
