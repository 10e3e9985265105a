"""Shapes as triangles: primitives of robot files, arrows, ground, and operations that prepare a mesh for drawing."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.checks import check
from pliant.contact.ground_faces import MapFaces
from pliant.errors import PliantError
from pliant.meshes.surfaces import distinct_rows
from pliant.signatures import explained
from pliant.spatial import Matrix3, quaternion_from_matrix

Points = Sequence[float] | np.ndarray

CREASE = math.radians(35)
"""Corners whose face is turned by more than this against the mean of its neighbours are sharp [rad]."""

# a slope that makes the direction of the camera matter: three degrees
_STEEP = 0.05


class Mesh(NamedTuple):
    """Triangles, counter-clockwise as seen from outside.

    Attributes:
        vertices: (n, 3) [m].
        faces: (m, 3) indices of vertices.
    """

    vertices: np.ndarray
    faces: np.ndarray


def box(size: Points) -> Mesh:
    """A box of these full sizes [m] around the origin, with vertices of their own for each side."""
    half = np.asarray(size, dtype=float) / 2
    vertices, faces = [], []
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], dtype=float)
    for axis in range(3):
        for side in (-1, 1):
            corners = np.zeros((4, 3))
            corners[:, axis] = side
            # the other two axes in cyclic order turn counter-clockwise about this one
            corners[:, [(axis + 1) % 3, (axis + 2) % 3]] = square[::side]
            first = 4 * len(vertices)
            vertices.append(corners * half)
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Mesh(np.concatenate(vertices), np.array(faces))


def turned(profile: Iterable[tuple[float, float]], segments: int = 24) -> Mesh:
    """A solid of revolution about z.

    Args:
        profile: (radius, z) from the top to the bottom [m]; a point twice in a row makes a sharp edge.
        segments: around.
    """
    points = np.array(list(profile), dtype=float)
    angles = np.arange(segments) * (2 * np.pi / segments)
    ring = np.stack([np.cos(angles), np.sin(angles), np.ones(segments)], axis=-1)
    vertices = (ring * points[:, [0, 0, 1]][:, None, :]).reshape(-1, 3)
    here = np.arange(segments)
    after = (here + 1) % segments
    faces = []
    for k in range(len(points) - 1):
        (r0, _), (r1, _) = points[k], points[k + 1]
        if (points[k] == points[k + 1]).all():
            continue
        top, bottom = k * segments, (k + 1) * segments
        if r1 > 0:
            faces.append(np.stack([top + here, bottom + here, bottom + after], axis=-1))
        if r0 > 0:
            faces.append(np.stack([top + here, bottom + after, top + after], axis=-1))
    return _used(Mesh(vertices, np.concatenate(faces)))


def sphere(radius: float, segments: int = 24) -> Mesh:
    """A ball around the origin."""
    return turned(_arc(radius, 0, 0, math.pi, segments // 2), segments)


def cylinder(radius: float, length: float, segments: int = 24) -> Mesh:
    """A cylinder along z around the origin."""
    top, bottom = (radius, length / 2), (radius, -length / 2)
    return turned([(0, length / 2), top, top, bottom, bottom, (0, -length / 2)], segments)


def torus(radius: float, tube: float, segments: int = 32) -> Mesh:
    """A disc around z with a round edge: a rim of this radius to the middle of its tube, with what is inside."""
    edge = [(radius + tube * math.sin(a), tube * math.cos(a)) for a in np.linspace(0, math.pi, 9)]
    return turned([(0, tube), *edge, (0, -tube)], segments)


def capsule(radius: float, length: float, end_radius: float | None = None, segments: int = 24) -> Mesh:
    """A capsule along z around the origin; ``length`` is between the centres of its round ends.

    Args:
        radius: at the lower end [m].
        end_radius: at the upper one, if it tapers [m].
    """
    top = radius if end_radius is None else end_radius
    # where the flank touches both balls
    tilt = math.asin(max(-1.0, min(1.0, (radius - top) / length))) if length > 0 else 0.0
    equator = math.pi / 2 - tilt
    upper = _arc(top, length / 2, 0, equator, segments // 4)
    lower = _arc(radius, -length / 2, equator, math.pi, segments // 4)
    return turned([*upper, *lower], segments)


def cone(radius: float, height: float, segments: int = 24) -> Mesh:
    """A cone with its tip at the origin that opens along z, with a lid."""
    rim = (radius, height)
    return turned([(0, height), rim, rim, (0, 0)], segments)


def arrow(length: float, radius: float, segments: int = 16) -> Mesh:
    """An arrow from the origin along z."""
    head = min(6 * radius, 0.4 * length)
    neck, flare = (radius, length - head), (2.2 * radius, length - head)
    return turned([(0, length), flare, flare, neck, neck, (radius, 0), (radius, 0), (0, 0)], segments)


def _arc(radius: float, z: float, start: float, end: float, steps: int) -> list[tuple[float, float]]:
    angles = np.linspace(start, end, max(steps, 2) + 1)
    # the poles are points, not circles of rounding errors
    return [(0.0 if s < 1e-12 else radius * s, z + radius * math.cos(a)) for a in angles for s in [math.sin(a)]]


@explained
def ground_mesh(ground: Any, span: Sequence[float], *, cells: int = 160) -> Mesh:
    """The ground over a rectangle; two triangles where it is flat.

    Args:
        ground: with ``height(x, y)`` on arrays and ``is_flat``.
        span: x and y of the lower corner, then of the upper one [m].
        cells: along the longer side; on a height map, twice as many at most, with its points as corners.
    """
    check("span", span, "four numbers: x and y of two corners", len(span) == 4, error=PliantError)
    x0, y0, x1, y1 = (float(s) for s in span)
    sides = x1 - x0, y1 - y0
    if isinstance(getattr(ground, "faces", None), MapFaces):
        ends = ((x0, x1), (y0, y1))
        return ground_over(ground, *(map_lines(ground.faces, k, a, b, 2 * cells) for k, (a, b) in enumerate(ends)))
    step = max(sides) / cells
    nx, ny = (1, 1) if ground.is_flat else (max(1, math.ceil(s / step)) for s in sides)
    return ground_over(ground, np.linspace(x0, x1, nx + 1), np.linspace(y0, y1, ny + 1))


def map_lines(faces: MapFaces, axis: int, low: float, high: float, most: int) -> np.ndarray:
    """Coordinates along x or y (axis 0 or 1) from low to high, with points of a height map between them.

    So its edges are drawn where they are. They are all points, or every second or third and so on, at most ``most``.
    """
    start, step = faces.origin[axis], faces.spacing[axis]
    first = max(math.ceil((low - start) / step), 0)
    last = min(math.floor((high - start) / step), faces.shape[axis] - 1)
    stride = max(1, math.ceil((last - first + 1) / most))
    between = start + step * np.arange(first, last + 1, stride)
    # none so near to an end that the cell between them vanishes
    between = between[(between > low + 1e-3 * step) & (between < high - 1e-3 * step)]
    return np.concatenate([[low], between, [high]])


def ground_over(ground: Any, x_lines: np.ndarray, y_lines: np.ndarray) -> Mesh:
    """The ground over a grid of lines at these x and y [m]."""
    x, y = np.meshgrid(x_lines, y_lines, indexing="ij")
    z = np.broadcast_to(np.asarray(ground.height(x, y), dtype=float), x.shape)
    rows, columns = x.shape
    k = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    lower = np.stack([k, k + columns, k + columns + 1], axis=-1)
    upper = np.stack([k, k + columns + 1, k + 1], axis=-1)
    return Mesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), np.concatenate([lower, upper]))


def downhill_azimuth(ground: Any, low: Iterable[float], high: Iterable[float], azimuth: float) -> float:
    """The direction from which to look at ground over a rectangle: from downhill, where stairs do not hide the robot.

    The slope is that of the plane z = a + b x + c y that fits the ground best in the sense of least squares.

    Args:
        ground: with ``height(x, y)`` and ``is_flat``, or None.
        low, high: corners, x and y [m].
        azimuth: for level ground, about z from the x axis on [rad].

    Returns:
        The given azimuth where the ground is level, else one as far from downhill as the given one is from x, on the
        side that is nearer to it.
    """
    if ground is None or ground.is_flat:
        return azimuth
    x, y = (a.reshape(-1) for a in np.meshgrid(*(np.linspace(a, b, 24) for a, b in zip(low, high, strict=True))))
    z = np.broadcast_to(np.asarray(ground.height(x, y), dtype=float), x.shape)
    if not np.isfinite(z).all():
        return azimuth
    slope = np.linalg.lstsq(np.stack([x - x.mean(), y - y.mean(), np.ones_like(x)], axis=1), z, rcond=None)[0][:2]
    if np.hypot(*slope) < _STEEP:
        return azimuth
    downhill = math.atan2(-slope[1], -slope[0])
    away = abs(math.remainder(azimuth, math.tau))
    return min((downhill + away, downhill - away), key=lambda a: abs(math.remainder(a - azimuth, math.tau)))


# ---- directions


def directed(directions: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) that turn z to directions (n, 3); none where a direction is zero."""
    length = np.linalg.norm(directions, axis=-1, keepdims=True)
    up = np.zeros_like(directions, dtype=float)
    up[:, 2] = 1
    z = np.divide(directions, length, out=up, where=length > 1e-12)
    helper = np.where(np.abs(z[:, :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    y = np.cross(z, helper)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=-1)


def along(start: Points, end: Points) -> np.ndarray:
    """The pose (4, 4) of a frame in the middle between two points, with z from one to the other."""
    p, q = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = directed((q - p)[None])[0], (p + q) / 2
    return X


def quaternions(R: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4), x y z w, of rotation matrices (..., 3, 3)."""
    return np.stack(quaternion_from_matrix(Matrix3(R[..., i, j] for i, j in np.ndindex(3, 3))), axis=-1)


# ---- operations


def moved(mesh: Mesh, X: np.ndarray) -> Mesh:
    """The mesh under a transform (4, 4), which may stretch and mirror."""
    return moved_together([mesh], X)[0]


def moved_together(meshes: Sequence[Mesh], X: np.ndarray) -> list[Mesh]:
    """As `moved`; meshes that share vertices still do afterwards."""
    is_mirrored = np.linalg.det(X[:3, :3]) < 0
    vertices = {key: v @ X[:3, :3].T + X[:3, 3] for key, v in {id(m.vertices): m.vertices for m in meshes}.items()}
    return [Mesh(vertices[id(m.vertices)], m.faces[:, ::-1] if is_mirrored else m.faces) for m in meshes]


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """Several meshes as one."""
    vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=int)], 0
    for mesh in meshes:
        vertices.append(mesh.vertices)
        faces.append(mesh.faces + count)
        count += len(mesh.vertices)
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


def normals(mesh: Mesh) -> np.ndarray:
    """Unit normals at the vertices (n, 3): the mean of the faces around, by area."""
    return _mean_normals(mesh, _face_normals(mesh))


def _mean_normals(mesh: Mesh, areas: np.ndarray) -> np.ndarray:
    total = np.zeros_like(mesh.vertices, dtype=float)
    for k in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(mesh.faces[:, k], areas[:, axis], minlength=len(total))
    return _units(total)


def creased(mesh: Mesh) -> Mesh:
    """The mesh with vertices shared where it is smooth and split where it is sharp (`CREASE`); `normals` then fit."""
    mesh = _welded(_used(mesh))
    areas = _face_normals(mesh)
    faces, smooth = _units(areas), _mean_normals(mesh, areas)
    bends = np.einsum("ijk,ik->ij", smooth[mesh.faces], faces) < math.cos(CREASE)
    # sharp corners in one place share a vertex if their faces lie in one direction
    key = np.zeros((*mesh.faces.shape, 4), dtype=np.int64)
    key[..., 0] = mesh.faces
    directions = np.rint(8 * faces).astype(np.int64)
    key[..., 1:] = np.where(bends[..., None], directions[:, None, :], 99)
    kept, inverse = distinct_rows(key.reshape(-1, 4))
    return Mesh(mesh.vertices[mesh.faces.reshape(-1)[kept]], inverse.reshape(-1, 3))


def clustered(mesh: Mesh, most: int, places: tuple[np.ndarray, np.ndarray] | None = None) -> Mesh:
    """The mesh with at most ``most`` faces: vertices in one cell of a grid are merged, faces without area removed.

    Unused vertices count, too: meshes that share vertices, as parts of one thing, remain closed between them.

    Args:
        places: result of `distinct_rows` for the vertices, if it is known.
    """
    mesh = _welded(mesh, places)
    if len(mesh.faces) <= most or len(mesh.faces) == 0:
        return mesh
    low = mesh.vertices.min(axis=0)
    extent = float((mesh.vertices.max(axis=0) - low).max()) or 1.0
    # a closed surface has some four triangles for each cell along a side, squared
    cells = math.sqrt(most / 3)
    while True:
        _, inverse = distinct_rows(np.floor((mesh.vertices - low) * (cells / extent)).astype(np.int64))
        a, b, c = inverse[mesh.faces].T
        left = int(((a != b) & (b != c) & (c != a)).sum())
        if left <= most or cells < 3:
            break
        cells *= 0.97 * math.sqrt(most / left)
    count = np.bincount(inverse)
    vertices = np.stack([np.bincount(inverse, mesh.vertices[:, k]) / count for k in range(3)], axis=-1)
    return _used(_proper(Mesh(vertices, inverse[mesh.faces])))


def _welded(mesh: Mesh, places: tuple[np.ndarray, np.ndarray] | None = None) -> Mesh:
    """With vertices in the same place merged."""
    kept, inverse = places or distinct_rows(mesh.vertices)
    return _proper(Mesh(mesh.vertices[kept], inverse[mesh.faces]))


def _proper(mesh: Mesh) -> Mesh:
    """Without faces that use a vertex twice, and without duplicate faces."""
    a, b, c = mesh.faces.T
    faces = mesh.faces[(a != b) & (b != c) & (c != a)]
    # the same turn of corners, whichever comes first
    a, b, c = faces.T
    is_b, is_c = (b < a) & (b < c), (c < a) & (c < b)
    turns = np.stack([np.where(is_b, y, np.where(is_c, z, x)) for x, y, z in ((a, b, c), (b, c, a), (c, a, b))])
    kept, _ = distinct_rows(turns.T)
    return Mesh(mesh.vertices, faces[np.sort(kept)])


def _used(mesh: Mesh) -> Mesh:
    """Without unused vertices."""
    is_used = np.zeros(len(mesh.vertices), dtype=bool)
    is_used[mesh.faces] = True
    return Mesh(mesh.vertices[is_used], (np.cumsum(is_used) - 1)[mesh.faces])


def _face_normals(mesh: Mesh) -> np.ndarray:
    """Normals of the faces (m, 3), twice as long as the faces are large."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]].T for k in range(3))
    (x, y, z), (u, v, w) = b - a, c - a
    # as numpy.cross, which takes twice as long
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def _units(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
