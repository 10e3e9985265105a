"""Contact forces as arrows, with the cone that friction allows them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.recording.source import Source
from pliant.render.triangles import arrow, cone
from pliant.viewer.puppet import quaternions

__all__ = ["ContactMarks", "directed", "friction_of", "ground_normals"]

FORCE_COLOR = (214, 40, 57)
CONE_COLOR = (60, 160, 110)
LONGEST = 1.2  # arrow, in sizes of the robot


class ContactMarks:
    """Arrows and cones at the contact points of one robot.

    An arrow as long as a third of the robot stands for the robot's weight.

    Args:
        scene: viser's.
        name: of the robot's node.
        source: of the log.
        size: of the robot [m].
    """

    def __init__(self, scene: Any, name: str, source: Source, size: float):
        robot = source.robot
        self.ground, self.size = source.ground, size
        self.mu = friction_of(source)
        points = robot.contact_points
        self.radii = np.array([float(p.radius) for p in points])
        weight = float(robot.mass) * max(float(np.linalg.norm([float(g) for g in robot.gravity])), 1e-6)
        self.per_newton = 0.35 * size / max(weight, 1e-9)
        n = len(points)
        unit, none = arrow(1.0, 0.035), np.full((n, 3), 1e-6)
        turns = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        options = {"batched_scales": none, "lod": "off", "cast_shadow": False, "receive_shadow": False}
        self.arrows = scene.add_batched_meshes_simple(
            f"/world/{name}/forces", *unit, turns, np.zeros((n, 3)), batched_colors=FORCE_COLOR, **options
        )
        self.cones = scene.add_batched_meshes_simple(
            f"/world/{name}/cones", *cone(1.0, 1.0), turns, np.zeros((n, 3)), batched_colors=CONE_COLOR, opacity=0.3,
            side="double", **options,
        )  # fmt: skip
        self.cones.visible = False

    def update(self, centers: np.ndarray, forces: np.ndarray) -> None:
        """Forces (contacts, 3) [N] at the points with these centres (contacts, 3) [m]."""
        normals = ground_normals(self.ground, centers, 1e-3 * self.size)
        feet = centers - self.radii[:, None] * normals
        # an impact would be an arrow out of the picture
        lengths = np.minimum(np.linalg.norm(forces, axis=-1) * self.per_newton, LONGEST * self.size)
        is_on = lengths > 1e-3 * self.size
        wide = np.clip(lengths, 0.1 * self.size, 0.3 * self.size)
        scales = np.stack([wide, wide, lengths], axis=-1)
        self._set(self.arrows, feet, forces, np.where(is_on[:, None], scales, 1e-6))
        height = 0.1 * self.size
        cones = np.stack([self.mu * height, self.mu * height, np.full_like(self.mu, height)], axis=-1)
        self._set(self.cones, feet, normals, np.where((is_on & (self.mu > 0))[:, None], cones, 1e-6))

    @staticmethod
    def _set(handle: Any, positions: np.ndarray, directions: np.ndarray, scales: np.ndarray) -> None:
        handle.batched_positions = positions.astype(np.float32)
        handle.batched_wxyzs = quaternions(directed(directions)).astype(np.float32)
        handle.batched_scales = np.maximum(scales, 1e-6).astype(np.float32)


def directed(directions: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) that take z to these directions (n, 3)."""
    length = np.linalg.norm(directions, axis=-1, keepdims=True)
    up = np.zeros_like(directions, dtype=float)
    up[:, 2] = 1
    z = np.divide(directions, length, out=up, where=length > 1e-12)
    helper = np.where(np.abs(z[:, :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    y = np.cross(z, helper)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=-1)


def ground_normals(ground: Any, points: np.ndarray, step: float) -> np.ndarray:
    """Unit normals of the ground under points (n, 3), by differences of its height over a small step [m]."""
    up = np.zeros_like(points)
    up[:, 2] = 1
    if ground is None or ground.is_flat or not len(points):
        return up
    x, y = points[:, 0], points[:, 1]
    rise = [np.asarray(ground.height(x + dx, y + dy)) - np.asarray(ground.height(x - dx, y - dy))
            for dx, dy in ((step, 0), (0, step))]  # fmt: skip
    n = np.stack([-rise[0] / (2 * step), -rise[1] / (2 * step), np.ones(len(points))], axis=-1)
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


def friction_of(source: Source) -> np.ndarray:
    """Coefficients of friction of the robot's contact points (contacts,); 0 where none is known."""
    contact = source.settings.get("contact")
    general = contact.get("friction") if isinstance(contact, Mapping) else None
    general = source.settings.get("friction", general)
    own = getattr(source.ground, "friction", None)
    found = []
    for point in source.robot.contact_points:
        mu = next((m for m in (point.friction, own, general) if isinstance(m, int | float)), 0)
        found.append(float(mu))
    return np.array(found)
