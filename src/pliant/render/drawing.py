"""What a robot looks like and where its parts are, whatever draws it.

A `Drawing` is triangles in the frames of bodies; `body_poses` says where those frames are. Viewer, replay, video
and stills all start from here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.dynamics import robot_function
from pliant.dynamics.kinematics import link_poses
from pliant.errors import PliantError, RobotError
from pliant.meshes.surfaces import distinct_rows
from pliant.render.grounds import ground_mesh
from pliant.render.tree_shapes import homogeneous, reach, tree_shapes
from pliant.render.triangles import (
    Mesh,
    box,
    capsule,
    clustered,
    creased,
    cylinder,
    joined,
    moved,
    moved_together,
    normals,
    sphere,
)  # fmt: skip
from pliant.robot import Geometry, Robot
from pliant.scalar import is_constant
from pliant.spatial import Transform

__all__ = ["DEFAULT_COLOR", "Drawing", "Part", "body_poses", "drawing", "ground_mesh", "points_of_contacts"]

Color = tuple[float, float, float, float]
Piece = tuple[str, str, Mesh, Color]  # of a body, with its own name

DEFAULT_COLOR: Color = (0.78, 0.79, 0.81, 1.0)
"""Of shapes for which a file has none."""

DETAIL = 80_000
"""Triangles of one robot, at most: what a browser turns smoothly, also one without a graphics card."""


@dataclass(frozen=True)
class Part:
    """Triangles of one colour, fixed to a body.

    Attributes:
        body: name of the body.
        name: of the part, different from those of all others.
        vertices: (n, 3), in the body's frame [m]; not shared across sharp edges.
        faces: (m, 3) indices of vertices, counter-clockwise from outside.
        color: red, green, blue, opacity in [0, 1].
    """

    body: str
    name: str
    vertices: np.ndarray
    faces: np.ndarray
    color: Color

    @property
    def normals(self) -> np.ndarray:
        """Unit normals at the vertices (n, 3)."""
        return normals(Mesh(self.vertices, self.faces))


@dataclass(frozen=True)
class Drawing:
    """A robot as triangles.

    Attributes:
        parts: body by body.
        notes: what could not be read, and what is drawn in its place.
        size: of the robot: the diagonal of the box around it in its neutral configuration [m].
    """

    robot: Robot
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    size: float

    def bounds(self, q: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner (3,) of the box around the robot in a configuration [m]."""
        return _bounds(self.robot, self.parts, q)


def drawing(
    robot: Robot, *, detail: int = DETAIL, packages: str | Path | Iterable[str | Path] = (), collisions: bool = False
) -> Drawing:
    """What a robot looks like: its visual shapes, else its collision shapes, else its tree.

    A mesh that is missing or cannot be read is noted, and the tree is drawn in its place. What was drawn without such
    a note is kept as long as the robot, so that the next use costs nothing.

    Args:
        detail: most triangles for all meshes together; those that are too fine are made coarser.
        packages: more folders in which to look for meshes.
        collisions: draw the collision shapes of bodies that have any.
    """
    folders = (packages,) if isinstance(packages, str | Path) else tuple(packages)
    known = _known.setdefault(robot, {})
    key = (detail, tuple(map(str, folders)), collisions)
    if key not in known:
        parts, notes, size = _drawn(robot, detail, folders, collisions)
        if notes:
            # what is missing may be there the next time
            return Drawing(robot, parts, notes, size)
        known[key] = parts, size
    parts, size = known[key]
    return Drawing(robot, parts, (), size)


# without the robot itself, so that both go when nobody holds it any more
_known: WeakKeyDictionary[Robot, dict[tuple[int, tuple[str, ...], bool], tuple[tuple[Part, ...], float]]]
_known = WeakKeyDictionary()


def _drawn(
    robot: Robot, detail: int, folders: Sequence[str | Path], collisions: bool
) -> tuple[tuple[Part, ...], tuple[str, ...], float]:
    """Parts, notes and size of a drawing."""
    size = reach(robot)
    pieces: list[Piece] = []
    notes: list[str] = []
    meshes = _Meshes(folders)
    has_shapes = any(b.visuals or b.collisions for b in robot.bodies.values())
    for body in robot.bodies.values():
        first, second = (body.collisions, body.visuals) if collisions else (body.visuals, body.collisions)
        is_lost = False
        for k, geometry in enumerate(first or second):
            label = f"{body.name}/{geometry.name or geometry.kind} {k}"
            try:
                for mesh, color in _shapes(geometry, meshes):
                    pieces.append((body.name, label, mesh, color))
            except PliantError as problem:
                is_lost = True
                notes.append(f"body {body.name!r}: {problem}; drawn from the tree instead")
        # bodies between shapes that show nothing, such as frames of sensors, stay unseen
        if is_lost or not has_shapes:
            for name, mesh, color in tree_shapes(robot, body.name, size):
                pieces.append((body.name, f"{body.name}/{name}", mesh, color))
    parts = _parts(_coarser(pieces, detail))
    low, high = _bounds(robot, parts, None)
    return parts, tuple(notes), float(np.linalg.norm(high - low)) or size


class _Meshes:
    """Mesh files, each read and placed once: the legs of a robot are often alike."""

    def __init__(self, packages: Sequence[str | Path]):
        self.packages = packages
        self.read: dict[Any, Sequence[Any]] = {}
        self.placed: dict[tuple[Any, bytes], list[tuple[Mesh, Color | None]]] = {}

    def __call__(self, source: Any, file: str | None, X: np.ndarray) -> list[tuple[Mesh, Color | None]]:
        """The meshes of a file under a transform (4, 4), with their colours, if it has any."""
        if source not in self.read:
            surfaces = source.surfaces(self.packages)
            if not surfaces:
                raise RobotError(f"the mesh {file} has no faces")
            self.read[source] = surfaces
        key = source, X.tobytes()
        if key not in self.placed:
            surfaces = self.read[source]
            placed = moved_together([Mesh(s.points, s.faces) for s in surfaces], X)
            self.placed[key] = [(mesh, s.color) for mesh, s in zip(placed, surfaces, strict=True)]
        return self.placed[key]


def _shapes(geometry: Geometry, meshes: _Meshes) -> list[tuple[Mesh, Color]]:
    """Meshes of a geometry in its body's frame, with their colours."""
    X_BG = homogeneous(geometry.placement)
    own = None if geometry.color is None else _rgba(geometry.color)
    if geometry.kind != "mesh":
        if not all(is_constant(s) and s > 0 for s in geometry.size):
            raise RobotError(f"a {geometry.kind} of size {geometry.size} cannot be drawn")
        make = {"box": lambda *s: box(s), "sphere": sphere, "cylinder": cylinder, "capsule": capsule}[geometry.kind]
        return [(moved(make(*geometry.size), X_BG), own or DEFAULT_COLOR)]
    source: Any = geometry.mesh
    if source is None or not hasattr(source, "surfaces"):
        raise RobotError(f"nothing reads the mesh {geometry.file}; give Geometry(..., mesh=pliant.meshes.MeshFile())")
    placed = meshes(source, geometry.file, X_BG @ np.diag([*map(float, geometry.scale), 1.0]))
    # colours inside a mesh are finer than the one that a URDF gives to all of it
    return [(mesh, color or own or DEFAULT_COLOR) for mesh, color in placed]


def _rgba(color: Sequence[float]) -> Color:
    r, g, b, a = (min(1.0, max(0.0, float(x))) for x in (*color, 1.0)[:4])
    return r, g, b, a


def _coarser(pieces: list[Piece], most: int) -> list[Piece]:
    """With at most so many triangles in all; small meshes, which say much with few, stay as they are."""
    counts = np.sort([len(p[2].faces) for p in pieces])
    allowed, left = most, most
    for k, count in enumerate(counts):
        allowed = left // (len(counts) - k)
        if count > allowed:
            break
        left -= count
    else:
        return pieces
    fine = {id(m): m for _, _, m, _ in pieces if len(m.faces) > allowed}
    places = {key: distinct_rows(v) for key, v in {id(m.vertices): m.vertices for m in fine.values()}.items()}
    coarse = {key: clustered(m, max(allowed, 12), places[id(m.vertices)]) for key, m in fine.items()}
    return [(b, n, coarse.get(id(m), m), c) for b, n, m, c in pieces]


def _parts(pieces: list[Piece]) -> tuple[Part, ...]:
    """One part for each colour of a body: fewer things to move."""
    groups: dict[tuple[str, Color], list[tuple[str, Mesh]]] = {}
    for body, label, mesh, color in pieces:
        groups.setdefault((body, color), []).append((label, mesh))
    split = {key: creased(m) for key, m in {id(m): m for _, _, m, _ in pieces}.items()}
    parts, taken = [], set[str]()
    for (body, color), members in groups.items():
        mesh = joined(split[id(m)] for _, m in members)
        if not len(mesh.faces):
            continue
        name = members[0][0]
        while name in taken:
            name += "+"
        taken.add(name)
        for array in mesh:
            # drawings of a robot share them
            array.flags.writeable = False
        parts.append(Part(body, name, mesh.vertices, mesh.faces, color))
    return tuple(parts)


def _bounds(robot: Robot, parts: Iterable[Part], q: Any) -> tuple[np.ndarray, np.ndarray]:
    poses = body_poses(robot, robot.neutral() if q is None else q)
    index = {name: k for k, name in enumerate(robot.bodies)}
    corners = [np.zeros((0, 3))]
    for part in parts:
        X = poses[index[part.body]]
        points = part.vertices @ X[:3, :3].T + X[:3, 3]
        corners.append(np.stack([points.min(axis=0), points.max(axis=0)]))
    found = np.concatenate(corners)
    if not len(found):
        found = np.concatenate([poses[:, :3, 3], np.zeros((1, 3))])
    return found.min(axis=0), found.max(axis=0)


@robot_function
def _poses(robot: Robot, q: Sequence[Any]) -> list[list[list[Any]]]:
    """X_WB of all bodies, (bodies, 4, 4)."""
    links = link_poses(robot.mechanism, q)
    found = []
    for name in robot.bodies:
        i, X_LB = robot.mechanism.frame(name)
        found.append((links[i] @ X_LB if i >= 0 else X_LB).homogeneous())
    return found


def body_poses(robot: Robot, q: Any) -> np.ndarray:
    """Where the bodies are: X_WB of each, in the order of ``robot.bodies``; compiled.

    Args:
        q: (..., nq) [rad or m].

    Returns:
        (..., bodies, 4, 4) [m].
    """
    q = np.asarray(q, dtype=float)
    if q.shape[-1:] != (robot.nq,):
        raise RobotError(f"q has shape {q.shape}; its last axis takes the nq = {robot.nq} entries of {robot.name!r}")
    if not len(robot.bodies):
        return np.zeros((*q.shape[:-1], 0, 4, 4))
    found = _poses(robot, np.ascontiguousarray(q.reshape(-1, robot.nq)))
    return np.asarray(found, dtype=float).reshape(*q.shape[:-1], len(robot.bodies), 4, 4)


def points_of_contacts(robot: Robot, q: Any, poses: np.ndarray | None = None) -> np.ndarray:
    """Where the centres of the contact points are, in the order of ``robot.contact_points``.

    Args:
        q: (..., nq) [rad or m].
        poses: of the bodies, if they are known.

    Returns:
        (..., contacts, 3) [m].
    """
    poses = body_poses(robot, q) if poses is None else poses
    index = {name: k for k, name in enumerate(robot.bodies)}
    points = robot.contact_points
    if not points:
        return np.zeros((*poses.shape[:-3], 0, 3))
    X = poses[..., [index[p.body] for p in points], :, :]
    centers = np.array([homogeneous(Transform(Transform.identity().R, p.center))[:3, 3] for p in points])
    return np.einsum("...kij,kj->...ki", X[..., :3, :3], centers) + X[..., :3, 3]
