"""A robot in viser's scene: meshes on nodes that follow the bodies, marks, and arrows for contact forces."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.recording.source import Source
from pliant.render.robot_drawing import Drawing, homogeneous, inertia_box
from pliant.render.shapes import Mesh, arrow, cone, joined, moved, sphere
from pliant.robot import Robot
from pliant.robot.mechanism import keepers

__all__ = [
    "MARKS", "ContactMarks", "RobotNode", "center_of_mass", "directed", "exaggerated", "friction_of", "ground_normals",
    "quaternions",
]  # fmt: skip

MARKS = ("frames", "inertias", "mass", "contacts", "names")
"""Marks of a robot: frames of bodies, inertia ellipsoids, centre of mass, contact points, names of bodies."""

ALIKE = 0.06  # difference of colours that cannot be seen
ACCENT = (235, 120, 30)
FORCE_COLOR = (214, 40, 57)
CONE_COLOR = (60, 160, 110)
LONGEST = 1.2  # of an arrow, in sizes of the robot


class RobotNode:
    """One robot in a scene.

    Args:
        scene: viser's.
        drawing: of the robot.
        name: of its node, different for each robot.
        offset: origin of its world [m].
        opacity: factor of the opacity of its parts.
    """

    def __init__(self, scene: Any, drawing: Drawing, name: str, offset: Any = (0, 0, 0), opacity: float = 1.0):
        self.scene, self.drawing, self.robot, self.name = scene, drawing, drawing.robot, name
        self.root = scene.add_frame(f"/world/{name}", show_axes=False, position=tuple(map(float, offset)))
        self.keeper = keepers(self.robot)
        self.index = {body: k for k, body in enumerate(self.robot.bodies)}
        kept = {k for k, _ in self.keeper.values() if k in self.index}
        s = drawing.size
        axes = {"axes_length": 0.16 * s, "axes_radius": 0.004 * s, "origin_radius": 0.006 * s}
        self.nodes = {
            body: scene.add_frame(self._path(body), show_axes=False, **axes)
            for body in self.robot.bodies
            if body in kept
        }
        # parts fixed together and of nearly one colour become one mesh: fewer meshes move more smoothly
        groups: dict[tuple[str, tuple[float, ...]], list[Mesh]] = {}
        for part in sorted(drawing.parts, key=lambda part: -len(part.faces)):
            body, X_KB = self.keeper[part.body]
            near = (key for key in groups if key[0] == body and np.allclose(key[1], part.color, rtol=0, atol=ALIKE))
            meshes = groups.setdefault(next(near, (body, part.color)), [])
            meshes.append(moved(Mesh(part.vertices, part.faces), homogeneous(X_KB)))
        for k, ((body, color), meshes) in enumerate(groups.items()):
            mesh, alpha = joined(meshes), color[3] * opacity
            scene.add_mesh_simple(
                f"{self._path(body)}/mesh {k}",
                mesh.vertices,
                mesh.faces,
                color=tuple(round(255 * c) for c in color[:3]),
                opacity=None if alpha >= 1 else alpha,
                side="double",
            )
        self.marks: dict[str, list[Any]] = {}
        self._poses = np.zeros((0, 4, 4))

    def _path(self, body: str) -> str:
        return f"/world/{self.name}/{_plain(body)}"

    def pose(self, poses: np.ndarray) -> None:
        """Put the bodies at poses X_WB, (bodies, 4, 4)."""
        self._poses = poses
        chosen = poses[[self.index[body] for body in self.nodes]]
        for handle, p, w in zip(self.nodes.values(), chosen[:, :3, 3], quaternions(chosen[:, :3, :3]), strict=True):
            handle.position, handle.wxyz = p, w
        if "mass" in self.marks:
            self.marks["mass"][0].position = center_of_mass(self.robot, poses)

    def show(self, mark: str, is_shown: bool) -> None:
        """Switch one of `MARKS`, which is made when it is first shown."""
        if mark == "frames":
            for handle in self.nodes.values():
                handle.show_axes = is_shown
            return
        if mark not in self.marks and is_shown:
            self.marks[mark] = getattr(self, f"_{mark}")()
            if len(self._poses):
                self.pose(self._poses)
        for handle in self.marks.get(mark, ()):
            handle.visible = is_shown

    def _inertias(self) -> list[Any]:
        """Ellipsoids of uniform density with the bodies' mass and inertia."""
        made, ball = [], sphere(1.0)
        for body in self.robot.bodies.values():
            X, sides = inertia_box(body)
            if not sides.max() > 1e-6:
                continue
            kept, X_KB = self.keeper[body.name]
            # semi-axes s of an ellipsoid have the second moments m s^2 / 5, sides a of a box m a^2 / 12
            stretch = np.diag([*np.maximum(np.sqrt(5 / 12) * sides, 0.002 * self.drawing.size), 1])
            mesh = moved(ball, homogeneous(X_KB) @ X @ stretch)
            made.append(
                self.scene.add_mesh_simple(
                    f"{self._path(kept)}/inertia {_plain(body.name)}",
                    mesh.vertices,
                    mesh.faces,
                    color=(80, 140, 230),
                    opacity=0.35,
                    cast_shadow=False,
                )
            )
        return made

    def _mass(self) -> list[Any]:
        radius = 0.018 * self.drawing.size
        return [self.scene.add_icosphere(f"/world/{self.name}/center of mass", radius, color=ACCENT, subdivisions=3)]

    def _contacts(self) -> list[Any]:
        made = []
        for k, point in enumerate(self.robot.contact_points):
            kept, X_KB = self.keeper[point.body]
            radius = max(float(point.radius), 0.008 * self.drawing.size)
            center = np.array([float(x) for x in X_KB.transform_point(point.center)])
            path = f"{self._path(kept)}/contact {k}"
            made.append(
                self.scene.add_icosphere(path, 1.03 * radius, color=(220, 50, 60), position=center, opacity=0.7)
            )
        return made

    def _names(self) -> list[Any]:
        kept = [b for b in self.nodes if self.robot.bodies[b].inertia.mass]
        return [self.scene.add_label(f"{self._path(b)}/name", b) for b in kept]


class ContactMarks:
    """Arrows and cones at the contact points of one robot.

    An arrow a third as long as the robot is the robot's weight.

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
        """Show forces (contacts, 3) [N] at contact points with centres (contacts, 3) [m]."""
        normals = ground_normals(self.ground, centers, 1e-3 * self.size)
        feet = centers - self.radii[:, None] * normals
        # the arrow of an impact would leave the picture
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
    """Rotations (n, 3, 3) that turn z to directions (n, 3)."""
    length = np.linalg.norm(directions, axis=-1, keepdims=True)
    up = np.zeros_like(directions, dtype=float)
    up[:, 2] = 1
    z = np.divide(directions, length, out=up, where=length > 1e-12)
    helper = np.where(np.abs(z[:, :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    y = np.cross(z, helper)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=-1)


def ground_normals(ground: Any, points: np.ndarray, step: float) -> np.ndarray:
    """Unit normals of the ground below points (n, 3), from differences of its height over a small step [m]."""
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
    """Coefficients of friction of the robot's contact points (contacts,); 0 where unknown."""
    contact = source.settings.get("contact")
    general = contact.get("friction") if isinstance(contact, Mapping) else None
    general = source.settings.get("friction", general)
    own = getattr(source.ground, "friction", None)
    found = []
    for point in source.robot.contact_points:
        mu = next((m for m in (point.friction, own, general) if isinstance(m, int | float)), 0)
        found.append(float(mu))
    return np.array(found)


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


def center_of_mass(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The centre of mass (..., 3) [m] of a robot with its bodies at poses (..., bodies, 4, 4)."""
    inertias = [body.inertia for body in robot.bodies.values()]
    mass = np.array([float(i.mass) for i in inertias])
    first = np.array([[float(x) for x in i.h] for i in inertias])
    moments = np.einsum("...bij,bj->...i", poses[..., :3, :3], first)
    moments = moments + np.einsum("...bi,b->...i", poses[..., :3, 3], mass)
    return moments / max(mass.sum(), 1e-300)


def quaternions(R: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4), real part first, of rotation matrices (..., 3, 3)."""
    m00, m11, m22 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    # of four ways to compute it, the one that divides by the largest number
    squares = np.stack([1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22], axis=-1)
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    s0, s1, s2, s3 = (squares[..., k] for k in range(4))
    rows = [(s0, x, y, z), (x, s1, xy, xz), (y, xy, s2, yz), (z, xz, yz, s3)]
    ways = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.take_along_axis(ways, squares.argmax(axis=-1)[..., None, None], axis=-2)[..., 0, :]
    return best / np.linalg.norm(best, axis=-1, keepdims=True)


def _plain(name: str) -> str:
    """A name without the separator of nodes."""
    return name.replace("/", " ")
