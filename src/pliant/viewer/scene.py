"""Robots on a ground, with contact forces, centres of mass and traces: what viewer, live mode and replay share."""

import math
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.recording.source import Source
from pliant.render.drawing import DETAIL, body_poses, drawing, points_of_contacts
from pliant.viewer.contact_marks import ContactMarks
from pliant.viewer.page import add_ground, aim
from pliant.viewer.puppet import MARKS, Puppet, center_of_mass
from pliant.viewer.recording import exaggerated

__all__ = ["LAYOUTS", "Scene", "check_marks"]

LAYOUTS = ("grid", "overlay")
"""How several robots are placed: side by side, or all in one place, the others faint."""

FARTHEST = 8.0
"""How far from where it started a robot is still to be in the picture, in sizes of it."""

SHOWN = (*MARKS, "forces", "cones")
TRACE_COLORS = [(38, 92, 150), (214, 96, 30), (60, 140, 80), (150, 60, 140), (120, 120, 40)]


class Scene:
    """The robots of a source in viser's scene.

    Args:
        server: viser's.
        source: robot, ground and contacts.
        q: configurations that are to be in the picture, (robots, steps, nq).
        layout: one of `LAYOUTS`.
        show: marks to switch on at first.
        follow: whether the picture goes with the robots; None: if they go farther than they are large.
        detail: most triangles of all robots together.
        packages: more folders in which to look for meshes.

    Attributes:
        factor: by which deflections of flexible joints are exaggerated.
        follow: whether the picture goes with the robots.
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
        add_ground(server, source.ground, low, high, self.size)
        aim(server, low, high, source.ground)
        faint = 1.0 if layout == "grid" else 0.35
        self.puppets = [
            Puppet(server.scene, self.drawing, f"robot {k}", offset, 1.0 if k == 0 else faint)
            for k, offset in enumerate(self.offsets)
        ]
        self.contacts: list[ContactMarks] = []
        if self.robot.contact_points:
            self.contacts = [ContactMarks(server.scene, puppet.name, source, self.size) for puppet in self.puppets]
        self.shown = dict.fromkeys(SHOWN, False) | {"forces": True}
        for mark in check_marks(show):
            self.show(mark, True)
        self._last: tuple[np.ndarray, np.ndarray | None] | None = None
        self._lock = threading.RLock()  # the clock draws, and so do the switches of the page

    def _box(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A box [m] around the robots at the start and where their bodies go; where they fly off, not all of that."""
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
        """Where the robots are on the ground, in the mean, over time: (steps, 2) [m]."""
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
            # the world moves, not the camera, which is the user's
            center = center_of_mass(self.robot, poses).mean(axis=0)
            shift[:2] = self._home - center[:2]
            # hops are seen as such; what climbs or falls out of the picture is followed
            shift[2] = np.clip(center[2], *self._heights) - center[2]
        with self.server.atomic():
            self.world.position = shift
            for k, puppet in enumerate(self.puppets):
                puppet.pose(poses[k])
                if self.contacts:
                    shown = np.zeros_like(centers[k]) if forces is None else forces[k]
                    self.contacts[k].update(centers[k], shown)

    def redraw(self) -> None:
        """The same moment again, with another factor."""
        if self._last is not None:
            self.draw(*self._last)

    def show(self, mark: str, is_shown: bool) -> None:
        """Switch marks on or off: see `check_marks`."""
        self.shown[mark] = is_shown
        if mark in ("forces", "cones"):
            for marks in self.contacts:
                (marks.arrows if mark == "forces" else marks.cones).visible = is_shown
            return
        for puppet in self.puppets:
            puppet.show(mark, is_shown)

    def trace(self, name: str, paths: Sequence[np.ndarray]) -> list[Any]:
        """Lines along paths (n, 3) [m], one for each robot."""
        color = TRACE_COLORS[sum(map(ord, name)) % len(TRACE_COLORS)]
        made = []
        for puppet, path in zip(self.puppets, paths, strict=False):
            if len(path) < 2:
                continue
            lines = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
            node = f"/world/{puppet.name}/trace {name.replace('/', ' ')}"
            style = {"thickness": 2.5, "thickness_units": "screen"}
            made.append(self.server.scene.add_line_segments(node, lines, color, **style))
        return made


def check_marks(show: str | Iterable[str]) -> list[str]:
    """Names of marks, if there are such: frames, inertias, mass, contacts, names, forces, cones."""
    given = [show] if isinstance(show, str) else list(show)
    for mark in given:
        if mark not in SHOWN:
            raise PliantError(unknown_name("mark", mark, SHOWN, "the viewer"))
    return given


def _offsets(count: int, extent: np.ndarray, layout: str) -> np.ndarray:
    """Where the world of each robot is (count, 3) [m]: in rows, apart by a bit more than what they need."""
    if layout == "overlay" or count == 1:
        return np.zeros((count, 3))
    columns = math.ceil(math.sqrt(count))
    k = np.arange(count)
    step = 1.3 * np.maximum(extent[:2], 0.4 * extent.max())
    grid = np.stack([k // columns * step[0], k % columns * step[1], 0 * k], axis=-1)
    return grid
