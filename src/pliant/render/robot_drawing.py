"""The look of a robot, independent of the renderer: triangles in the frames of bodies, and the poses of these.

Viewer, replay, video and stills all start from here. A `Drawing` has the visual shapes of a robot, or else its
collision shapes. Bodies whose file shows nothing are drawn from the tree: tapered links, joints, and boxes of inertia.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.dynamics.kinematics import link_poses
from pliant.errors import PliantError, RobotError, bad_value
from pliant.meshes.surfaces import distinct_rows
from pliant.render.shapes import (
    Mesh, along, box, capsule, clustered, creased, cylinder, joined, moved, moved_together, normals, sphere, torus,
)  # fmt: skip
from pliant.robot import Body, ContactShape, Geometry, Robot
from pliant.robot.contacts import points_of
from pliant.robot.model import WORLD, Joint
from pliant.scalar import is_constant
from pliant.signatures import explained
from pliant.spatial import Transform, Vector

Color = tuple[float, float, float, float]
Piece = tuple[str, str, Mesh, Color]  # name of the body, name of the shape, ...

DEFAULT_COLOR: Color = (0.78, 0.79, 0.81, 1.0)
"""Of shapes for which a file has no color."""

DETAIL = 80_000
"""Most triangles of one robot: a browser without a graphics card still turns them smoothly."""

_LINK_COLOR = (0.42, 0.53, 0.66, 1.0)
_JOINT_COLOR = (0.20, 0.23, 0.28, 1.0)
_MASS_COLOR = (0.93, 0.55, 0.20, 1.0)


@explained
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


@explained
@dataclass(frozen=True)
class Drawing:
    """A robot as triangles.

    Attributes:
        parts: body by body.
        notes: files that could not be read, and what is drawn instead.
        size: of the robot, the diagonal of the box around it in its neutral configuration [m].
    """

    robot: Robot
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    size: float

    def bounds(self, q: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner (3,) of the box around the robot in a configuration [m]."""
        return _bounds(self.robot, self.parts, q)


@explained
def drawing(
    robot: Robot, *, detail: int = DETAIL, packages: str | Path | Iterable[str | Path] = (), collisions: bool = False
) -> Drawing:
    """The drawing of a robot: its visual shapes, else its collision shapes, else its tree.

    A mesh that is missing or cannot be read is noted, and the tree is drawn instead. A drawing without such notes is
    kept as long as the robot, so that the next call costs nothing.

    Args:
        detail: most triangles of all meshes together; finer meshes are made coarser.
        packages: more folders in which to look for meshes.
        collisions: draw the collision shapes of bodies that have any.
    """
    folders = (packages,) if isinstance(packages, str | Path) else tuple(packages)
    known = _known.setdefault(robot, {})
    key = (detail, tuple(map(str, folders)), collisions)
    found = known.get(key) or _drawn(robot, detail, folders, collisions)
    # a missing file may be there the next time
    if not found[1]:
        known[key] = found
    return Drawing(robot, *found)


_Drawn = tuple[tuple[Part, ...], tuple[str, ...], float]
# without a reference to the robot itself, so that the entry goes when the robot does
_known: WeakKeyDictionary[Robot, dict[tuple[int, tuple[str, ...], bool], _Drawn]] = WeakKeyDictionary()


def _drawn(robot: Robot, detail: int, folders: Sequence[str | Path], collisions: bool) -> _Drawn:
    """Parts, notes and size of a drawing."""
    size = reach(robot)
    pieces: list[Piece] = []
    notes: list[str] = []
    known: dict[Any, Any] = {}
    has_shapes = any(b.visuals or b.collisions for b in robot.bodies.values())
    for body in robot.bodies.values():
        first, second = (body.collisions, body.visuals) if collisions else (body.visuals, body.collisions)
        is_lost = False
        for k, geometry in enumerate(first or second):
            label = f"{body.name}/{geometry.name or geometry.kind} {k}"
            try:
                pieces += [(body.name, label, *shape) for shape in _shapes(geometry, folders, known)]
            except PliantError as problem:
                is_lost = True
                notes.append(f"body {body.name!r}: {problem}; drawn from the tree instead")
        # bodies without shapes, such as frames of sensors, are not drawn if others have some
        if is_lost or not has_shapes:
            pieces += [(body.name, f"{body.name}/{n}", m, c) for n, m, c in tree_shapes(robot, body.name, size)]
    parts = _parts(_coarser(pieces, detail))
    low, high = _bounds(robot, parts, None)
    return parts, tuple(notes), float(np.linalg.norm(high - low)) or size


def _shapes(geometry: Geometry, folders: Sequence[str | Path], known: dict[Any, Any]) -> list[tuple[Mesh, Color]]:
    """Meshes of a geometry in its body's frame, with their colors.

    Args:
        known: files that were read, and their meshes that were placed, since the legs of a robot often share them.
    """
    X_BG = homogeneous(geometry.placement)
    own: Any = geometry.color and tuple(min(1.0, max(0.0, float(x))) for x in (*geometry.color, 1.0)[:4])
    if geometry.kind != "mesh":
        if not all(is_constant(s) and s > 0 for s in geometry.size):
            raise RobotError(bad_value("size", geometry.size, "numbers above 0", f"a {geometry.kind}"))
        make = {"box": lambda *s: box(s), "sphere": sphere, "cylinder": cylinder, "capsule": capsule}[geometry.kind]
        return [(moved(make(*geometry.size), X_BG), own or DEFAULT_COLOR)]
    source: Any = geometry.mesh
    if source is None or not hasattr(source, "surfaces"):
        cure = "give Geometry(..., mesh=pliant.meshes.MeshFile())"
        raise RobotError(f"no reader for the mesh {geometry.file}", subject=f"mesh {geometry.file}", cure=cure)
    if source not in known:
        known[source] = source.surfaces(folders)
    surfaces, X = known[source], X_BG @ np.diag([*map(float, geometry.scale), 1.0])
    if not surfaces:
        raise RobotError(f"the mesh {geometry.file} has no faces", subject=f"mesh {geometry.file}")
    key = source, X.tobytes()
    if key not in known:
        known[key] = moved_together([Mesh(s.points, s.faces) for s in surfaces], X)
    # colors of a mesh's own parts come before the one color that a URDF gives to all of it
    return [(mesh, s.color or own or DEFAULT_COLOR) for mesh, s in zip(known[key], surfaces, strict=True)]


def _coarser(pieces: list[Piece], most: int) -> list[Piece]:
    """With at most ``most`` triangles in all; small meshes stay as they are."""
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
    """One part for each color of a body, so that few things move."""
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
            # all drawings of a robot share them
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


@explained
def body_poses(robot: Robot, q: Any) -> np.ndarray:
    """Poses X_WB of the bodies, in the order of ``robot.bodies``.

    Args:
        q: (..., nq) [rad or m].

    Returns:
        (..., bodies, 4, 4) [m].
    """
    try:
        q = np.asarray(q, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise RobotError(bad_value("q", q, "an array of numbers", f"robot {robot.name!r}")) from None
    if q.shape[-1:] != (robot.nq,):
        cure = f"its last axis takes the nq = {robot.nq} entries of {robot.name!r}"
        raise RobotError(f"q has shape {q.shape}", subject=f"robot {robot.name!r}", field="q", cure=cure)
    rows = q.reshape(-1, robot.nq)
    # arrays take the place of scalars: all configurations at once, and nothing to compile for a picture
    is_one = len(rows) == 1 and bool(np.isfinite(rows).all())
    found = np.zeros((len(robot.bodies), 4, 4, len(rows)))
    with np.errstate(invalid="ignore", over="ignore"):
        links = link_poses(robot.mechanism, rows[0].tolist() if is_one else list(rows.T))
        for k, name in enumerate(robot.bodies):
            i, X_LB = robot.mechanism.frame(name)
            X = (links[i] @ X_LB if i >= 0 else X_LB).homogeneous()
            for entry in np.ndindex(4, 4):
                found[k][entry] = X[entry[0]][entry[1]]
    return np.moveaxis(found, -1, 0).reshape(*q.shape[:-1], len(robot.bodies), 4, 4)


@explained
def points_of_contacts(robot: Robot, q: Any, poses: np.ndarray | None = None) -> np.ndarray:
    """Centers of the balls of the contact points in the world, in the order of ``robot.contact_points``.

    Points of ellipsoids and rims, which move about their centers, are where they would touch level ground.

    Args:
        q: (..., nq) [rad or m].
        poses: of the bodies, if known.

    Returns:
        (..., contacts, 3) [m].
    """
    poses = body_poses(robot, q) if poses is None else poses
    names, points = list(robot.bodies), robot.contact_points
    if poses.shape[-3:] != (len(names), 4, 4):
        cure = f"it takes (..., {len(names)}, 4, 4), as body_poses gives them"
        raise RobotError(f"poses have shape {poses.shape}", subject=f"robot {robot.name!r}", field="poses", cure=cure)
    X = poses[..., [names.index(p.body) for p in points], :, :]
    centers = np.array([_point(p.center) for p in points]).reshape(-1, 3)
    found = np.einsum("...kij,kj->...ki", X[..., :3, :3], centers) + X[..., :3, 3]
    for k, point in enumerate(points):
        if point.support is not None:
            down = Vector(*np.moveaxis(-X[..., k, 2, :3], -1, 0))
            arm = np.stack(np.broadcast_arrays(*point.support.arm(down)), axis=-1)
            found[..., k, :] += np.einsum("...ij,...j->...i", X[..., k, :3, :3], arm)
    return found


# ---- from the tree


def tree_shapes(robot: Robot, body: str, size: float) -> list[tuple[str, Mesh, Color]]:
    """Name, mesh in the body's frame and color of shapes for a body whose file shows nothing; size as of `reach`."""
    made = robot.bodies[body]
    thick = 0.035 * size
    carrier = next(j for j in robot.joints.values() if j.child == body)
    far = [_point(j.placement.p) for j in robot.joints.values() if j.parent == body]
    far += [_point(p.center) for p in robot.contact_points if p.body == body]
    ends: list[np.ndarray] = []
    for end in far:
        # not at the origin, nor next to another one
        if all(np.linalg.norm(end - other) > 0.02 * size for other in (0, *ends)):
            ends.append(end)
    mass = _number(made.inertia.mass)
    center = _point(made.inertia.com()) if mass > 0 else np.zeros(3)
    if not ends and np.linalg.norm(center) > 0.02 * size:
        ends = [center]

    found = [(f"link {k}", _link(end, thick), _LINK_COLOR) for k, end in enumerate(ends)]
    joint = _joint(carrier, thick)
    if joint is not None:
        found.append(("joint", joint, _JOINT_COLOR))
    if mass > 0:
        found.append(("mass", _mass(made, center, mass, _number(robot.mass), size), _MASS_COLOR))
    for shape in robot.contacts.values():
        if shape.body == body:
            found += [(name, mesh, _JOINT_COLOR) for name, mesh in contact_meshes(shape)]
    return found


def contact_meshes(shape: ContactShape, least: float = 0.0) -> list[tuple[str, Mesh]]:
    """Names and meshes of a contact shape, in the frame of its body; points only with a radius to draw them with."""
    radius = max(_number(shape.radius), least)
    turn = np.array([_point(axis) for axis in shape.axes]).T
    if shape.kind in ("points", "sphere", "capsule", "box"):
        return [
            (point.name, Mesh(ball.vertices + _point(point.center), ball.faces))
            for point in points_of([shape])
            for ball in ([sphere(radius)] if radius > 0 else [])
        ]
    if shape.kind == "ellipsoid":
        ball = sphere(1.0)
        mesh = Mesh(ball.vertices * (np.array([_number(a) for a in shape.sizes]) + radius), ball.faces)
    elif shape.kind == "rim":
        mesh = torus(_number(shape.sizes[0]), radius)
    else:
        ends = [_point(center) for center in shape.centers]
        around = _number(shape.radius)
        length = float(np.linalg.norm(ends[1] - ends[0]))
        mesh = cylinder(_number(shape.sizes[0]) + around, length + 2 * around)
    middle = np.mean([_point(center) for center in shape.centers], axis=0)
    return [(shape.name, Mesh(mesh.vertices @ turn.T + middle, mesh.faces))]


def reach(robot: Robot) -> float:
    """Rough size of a robot: the longest path from its root along the tree [m]; 1 if it has no length."""
    far = {WORLD: 0.0}
    for joint in robot.joints.values():
        step = 0.0 if joint.parent == WORLD else float(np.linalg.norm(_point(joint.placement.p)))
        # a sliding joint counts up to its limit
        ends = [abs(x) for x in (joint.limits.lower, joint.limits.upper) for x in np.ravel(np.array(x, dtype=object))]
        slides = joint.kind.name == "prismatic"
        travel = max((float(e) for e in ends if is_constant(e) and e < 1e3), default=0.0) if slides else 0.0
        far[joint.child] = far[joint.parent] + step + travel
    tips = []
    for body in robot.bodies.values():
        own = [_point(body.inertia.com())] if _number(body.inertia.mass) > 0 else []
        own += [_point(p.center) for p in robot.contact_points if p.body == body.name]
        tips.append(far[body.name] + max((float(np.linalg.norm(p)) for p in own), default=0.0))
    longest = max(tips, default=0.0)
    if longest > 1e-6:
        return longest
    # one body about its origin
    sides = [inertia_box(body)[1].max() for body in robot.bodies.values() if _number(body.inertia.mass) > 0]
    return max([s for s in sides if s > 1e-6], default=1.0)


def inertia_box(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """The pose (4, 4) and the sides (3,) [m] of the uniform box with the body's mass and inertia.

    A box with sides a, b, c has the second moments m a^2 / 12, ... along its axes. Without mass, it has no sides.
    """
    m = _number(body.inertia.mass)
    if not m > 0:
        return np.eye(4), np.zeros(3)
    xx, xy, xz, yy, yz, zz = map(_number, body.inertia.about_com())
    J = np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])
    second, axes = np.linalg.eigh(np.trace(J) / 2 * np.eye(3) - J)
    X = np.eye(4)
    X[:3, :3] = axes * (1 if np.linalg.det(axes) > 0 else np.array([1, 1, -1]))
    X[:3, 3] = _point(body.inertia.com())
    return X, np.sqrt(12 * np.maximum(second, 0) / m)


def homogeneous(X: Transform) -> np.ndarray:
    """A transform of numbers as (4, 4)."""
    return np.array([[_number(x) for x in row] for row in X.homogeneous()])


def _link(end: np.ndarray, thick: float) -> Mesh:
    length = float(np.linalg.norm(end))
    wide = min(thick, 0.2 * length)
    return moved(capsule(wide, length, 0.7 * wide), along(np.zeros(3), end))


def _joint(joint: Joint, thick: float) -> Mesh | None:
    """A drum along the axis of a revolute joint, a sleeve along that of a prismatic one, a ball for a spherical one."""
    axis = getattr(joint.kind, "axis", None)
    if joint.kind.name == "spherical":
        return sphere(1.3 * thick)
    if joint.kind.nv != 1 or axis is None or not all(is_constant(a) for a in axis):
        return None
    X = along(np.zeros(3), np.array(axis, dtype=float))
    X[:3, 3] = 0
    if joint.kind.name == "prismatic":
        return moved(box((1.8 * thick, 1.8 * thick, 3.2 * thick)), X)
    return moved(cylinder(1.25 * thick, 2.8 * thick), X)


def _mass(body: Body, center: np.ndarray, mass: float, total: float, size: float) -> Mesh:
    """The box of the body's inertia; a ball for its share of the mass where that box is very thin or very large."""
    X, sides = inertia_box(body)
    if 0.04 * size < sides.min() and sides.max() < 0.8 * size:
        return moved(box(sides), X)
    ball = sphere(0.09 * size * (mass / total) ** (1 / 3))
    return Mesh(ball.vertices + center, ball.faces)


def _point(p: Vector) -> np.ndarray:
    return np.array([_number(x) for x in p])


def _number(x: Any) -> float:
    """A number of the robot; 0 for a symbol."""
    return float(x) if is_constant(x) else 0.0
