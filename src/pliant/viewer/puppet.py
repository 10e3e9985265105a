"""A robot in viser's scene: its parts on nodes that follow the bodies, with marks to switch on."""

from typing import Any

import numpy as np

from pliant.render.drawing import Drawing
from pliant.render.tree_shapes import homogeneous, inertia_box
from pliant.render.triangles import Mesh, joined, moved, sphere
from pliant.robot import Robot
from pliant.robot.tree import keepers

__all__ = ["MARKS", "Puppet", "center_of_mass", "quaternions"]

MARKS = ("frames", "inertias", "mass", "contacts", "names")
"""What can be switched on: frames of bodies, ellipsoids of their inertia, the centre of mass, ..."""

ALIKE = 0.06  # difference of colours that nobody sees
ACCENT = (235, 120, 30)


class Puppet:
    """One robot in a scene.

    Args:
        scene: viser's.
        drawing: what it looks like.
        name: of its node, different for each robot.
        offset: where its world is [m].
        opacity: of its parts, times their own.
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
        # what is fixed together and of nearly one colour is one mesh: the fewer the smoother
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
        """Put the bodies where they are: X_WB of each (bodies, 4, 4)."""
        self._poses = poses
        chosen = poses[[self.index[body] for body in self.nodes]]
        for handle, p, w in zip(self.nodes.values(), chosen[:, :3, 3], quaternions(chosen[:, :3, :3]), strict=True):
            handle.position, handle.wxyz = p, w
        if "mass" in self.marks:
            self.marks["mass"][0].position = center_of_mass(self.robot, poses)

    def show(self, mark: str, is_shown: bool) -> None:
        """Switch one of `MARKS`; what was never shown is not even made."""
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


def center_of_mass(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The centre of mass (..., 3) [m], where the bodies are at these poses (..., bodies, 4, 4)."""
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
    """A name without what separates nodes."""
    return name.replace("/", " ")
