"""Geoms of a compiled MJCF model as visual and collision shapes of bodies, and names and poses of its things."""

import math
from pathlib import Path, PurePosixPath

import numpy as np

from pliant.formats.journal import Journal
from pliant.formats.mjcf_compiler import Compiled
from pliant.meshes import MeshFile, Surface
from pliant.meshes.stored_mesh import StoredMesh
from pliant.robot import Geometry
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector, rotation_from_quaternion, rpy_from_matrix

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)
_NAMES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
# groups that MuJoCo's viewer draws unless it is asked otherwise
_DRAWN = 3
_READABLE = (".stl", ".obj", ".dae")
_GRAY = (0.5, 0.5, 0.5, 1.0)


def pose(position: np.ndarray, quaternion: np.ndarray) -> Transform:
    """The transform of a position and a quaternion w, x, y, z."""
    w, x, y, z = (float(e) for e in quaternion)
    p = Vector(*(float(e) for e in position))
    if x == y == z == 0:
        return Transform(MatrixRotation.identity(), p)
    return Transform(rotation_from_quaternion(x, y, z, w), p)


def position_rpy(X: Transform) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Position [m], and roll, pitch and yaw [rad], as `RobotBuilder` takes them."""
    R: Matrix3 = X.R.matrix()
    if list(R) == [1, 0, 0, 0, 1, 0, 0, 0, 1]:
        return tuple(X.p), (0.0, 0.0, 0.0)
    return tuple(X.p), tuple(float(a) for a in rpy_from_matrix(R))


class Shapes:
    """Shapes of bodies; files of meshes are referred to, and read when they are needed."""

    def __init__(self, model: Compiled, path: Path, packages: tuple[Path, ...], places: dict[str, Path],
                 journal: Journal):  # fmt: skip
        self.model = model
        self.folder = path.parent.resolve()
        self.packages = packages
        self.places = places
        self.journal = journal
        self._meshes: dict[int, tuple[MeshFile | StoredMesh, str | None, Transform, tuple[float, ...]]] = {}
        self._balls: dict[tuple[float, ...], StoredMesh] = {}
        self._paired = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}

    def of(self, body: int) -> tuple[list[Geometry], list[Geometry]]:
        """Visual and collision shapes of a body: geoms in a drawn group are visual, those that can touch collide."""
        m, visuals, collisions = self.model, [], []
        for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
            if m.body_geomadr[body] < 0:
                break
            touches = self.touches(geom)
            shape = self._shape(geom)
            if shape is None:
                continue
            if touches:
                collisions.append(shape)
            if m.geom_group[geom] < _DRAWN or not touches:
                visuals.append(shape)
        return visuals, collisions

    def touches(self, geom: int) -> bool:
        """Whether a geom can touch another."""
        return bool(self.model.geom_contype[geom] or self.model.geom_conaffinity[geom]) or geom in self._paired

    def _shape(self, geom: int) -> Geometry | None:
        m, kind, name = self.model, int(self.model.geom_type[geom]), self.model.name("geom", geom)
        a, b, c = (float(x) for x in m.geom_size[geom])
        X_BG, color = pose(m.geom_pos[geom], m.geom_quat[geom]), self._color(geom)
        match kind:
            case _ if kind == SPHERE:
                return Geometry("sphere", (a,), X_BG, name=name, color=color)
            case _ if kind == CAPSULE:
                return Geometry("capsule", (a, 2 * b), X_BG, name=name, color=color)
            case _ if kind == CYLINDER:
                return Geometry("cylinder", (a, 2 * b), X_BG, name=name, color=color)
            case _ if kind == BOX:
                return Geometry("box", (2 * a, 2 * b, 2 * c), X_BG, name=name, color=color)
            case _ if kind == ELLIPSOID:
                mesh = self._balls.setdefault((a, b, c), _ellipsoid(a, b, c))
                return Geometry("mesh", (), X_BG, name=name, color=color, mesh=mesh)
            case _ if kind in (MESH, SDF) and m.geom_dataid[geom] >= 0:
                mesh, file, X_MF, scale = self._mesh(int(m.geom_dataid[geom]))
                return Geometry("mesh", (), X_BG @ X_MF, file=file, scale=scale, name=name, color=color, mesh=mesh)
        what = _NAMES[kind] if 0 <= kind < len(_NAMES) else "shape"
        self.journal.note("dropped", f"geom {name or geom!r}", f"bodies have no {what}")
        return None

    def _color(self, geom: int) -> tuple[float, ...] | None:
        m, material = self.model, int(self.model.geom_matid[geom])
        own = tuple(float(x) for x in m.geom_rgba[geom])
        # gray is MuJoCo's default, in place of which a material counts
        if material >= 0 and np.allclose(own, _GRAY):
            own = tuple(float(x) for x in m.mat_rgba[material])
        return own

    def _mesh(self, mesh: int) -> tuple[MeshFile | StoredMesh, str | None, Transform, tuple[float, ...]]:
        """A mesh, its file if it can be read, the pose of the file's frame in the compiled one, and its scale."""
        if mesh not in self._meshes:
            self._meshes[mesh] = self._in_file(mesh) or (self._held(mesh), None, Transform.identity(), (1, 1, 1))
        return self._meshes[mesh]

    def _in_file(self, mesh: int) -> tuple[MeshFile, str, Transform, tuple[float, ...]] | None:
        """The mesh as a reference to its file; MuJoCo turns and shifts meshes to their axes of inertia."""
        m, path = self.model, self.model.mesh_path(mesh)
        file = self.places.get(path)
        if file is None or PurePosixPath(path).suffix.lower() not in _READABLE:
            return None
        back = pose(m.mesh_pos[mesh], m.mesh_quat[mesh]).inverse()
        scale = tuple(float(s) for s in m.mesh_scale[mesh])
        # the folders that lead to the file are those that led to it now
        return MeshFile(str(file), self.folder, self.packages), str(file), back, scale

    def _held(self, mesh: int) -> StoredMesh:
        m = self.model
        at, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
        first, faces = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
        points = m.mesh_vert[at : at + count].astype(float)
        return StoredMesh([Surface(points, m.mesh_face[first : first + faces].astype(np.int64))])


def _ellipsoid(a: float, b: float, c: float, around: int = 24) -> StoredMesh:
    """The surface of an ellipsoid, in triangles between rings."""
    rings = around // 2
    heights = [math.cos(math.pi * k / rings) for k in range(1, rings)]
    points = [(0.0, 0.0, c)]
    for z in heights:
        r = math.sqrt(1 - z * z)
        turns = [2 * math.pi * k / around for k in range(around)]
        points += [(a * r * math.cos(t), b * r * math.sin(t), c * z) for t in turns]
    points.append((0.0, 0.0, -c))
    last = len(points) - 1

    def at(ring: int, k: int) -> int:
        return 1 + ring * around + k % around

    faces = [(0, at(0, k), at(0, k + 1)) for k in range(around)]
    for ring in range(rings - 2):
        for k in range(around):
            faces.append((at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)))
            faces.append((at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)))
    faces += [(last, at(rings - 2, k + 1), at(rings - 2, k)) for k in range(around)]
    return StoredMesh([Surface(np.array(points), np.array(faces, dtype=np.int64))])
