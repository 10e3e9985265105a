"""One collision shape as a contact shape: itself where that is exact, a round shape or a few points for a mesh."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, RobotError
from pliant.meshes.outlines import NOTHING, Outline
from pliant.meshes.round_fits import RoundFit, round_fits
from pliant.meshes.support_points import few_points, flat_sides, outermost
from pliant.robot.contacts import RIMS, ContactShape, corners
from pliant.robot.model import Finding, Geometry, MeshSource
from pliant.robot.part_checks import wrong
from pliant.scalar import Scalar, is_constant
from pliant.spatial import Transform, Vector

_NEAR = 0.1  # what is at most this far from a round shape, as a share of half its smallest width, is one
_INSIDE = 1e-6  # how deep a point must be in a shape to be inside of it, not on it [m]

# a shape of which some centers are left
_FEWER = {"box": "points", "capsule": "sphere", "cylinder": "rim"}


@dataclass(frozen=True, eq=False)
class CollisionShape:
    """A collision shape on its way to a contact: on a body B, which K keeps.

    Attributes:
        body, keeper, X_KB: names of B and K, and the pose.
        geometry: as the robot has it.
        shape: the contact in the frame of B; of a mesh None until it is `settled`, and of one that needs no points.
        rims: points on the rims of a cylinder in the frame of B, as many on each, which may stand for it.
        before: the outline of all of it in the frame of K; None if it has symbols.
        count: how many points it would have if none was left out.
    """

    body: str
    keeper: str
    X_KB: Transform
    geometry: Geometry
    shape: ContactShape | None
    rims: tuple[Vector, ...]
    before: Outline | None
    count: int = 0

    @property
    def outline(self) -> Outline | None:
        """That of the contact, one piece for each center, in the frame of K; None if it has symbols."""
        return NOTHING if self.shape is None else shape_outline(self.shape, self.X_KB)

    @property
    def points(self) -> int:
        """How many points the contact has."""
        return 0 if self.shape is None else len(self.shape.centers) * len(self.shape.supports)

    def with_centers(self, kept: list[int]) -> "CollisionShape":
        """The shape with those of its centers only."""
        if self.shape is None or len(kept) == len(self.shape.centers):
            return self
        if not kept:
            return replace(self, shape=None)
        kind: Any = _FEWER.get(self.shape.kind, self.shape.kind)
        each = len(self.rims) // len(self.shape.centers)
        rims = tuple(p for k in kept for p in self.rims[k * each : (k + 1) * each])
        centers = tuple(self.shape.centers[k] for k in kept)
        return replace(self, shape=replace(self.shape, centers=centers, kind=kind), rims=rims)

    def by_points(self) -> "CollisionShape":
        """The shape with points on its rims in place of them."""
        if self.shape is None or self.shape.kind not in RIMS:
            return self
        shape = ContactShape("", self.body, self.rims, self.shape.radius)
        return replace(self, shape=shape)

    def depth(self, p_K: Vector) -> float:
        """How deep a point is inside of the shape [m]; minus infinity where that is not known: meshes and symbols."""
        g = self.geometry
        x, y, z = (self.X_KB @ g.placement).inverse().transform_point(p_K)
        if not all(is_constant(a) for a in (x, y, z, *g.size)):
            return -math.inf
        match g.kind:
            case "sphere":
                return g.size[0] - math.hypot(x, y, z)
            case "capsule":
                return g.size[0] - math.hypot(x, y, max(abs(z) - g.size[1] / 2, 0))
            case "box":
                return min(s / 2 - abs(a) for s, a in zip(g.size, (x, y, z), strict=True))
            case "cylinder":
                return min(g.size[0] - math.hypot(x, y), g.size[1] / 2 - abs(z))
        return -math.inf

    def is_inside(self, others: "list[CollisionShape]", p_B: Vector, radius: Scalar) -> bool:
        """Whether a ball of this radius about a point of B is strictly inside of one of the others."""
        p_K = self.X_KB.transform_point(p_B)
        return is_constant(radius) and any(other.depth(p_K) > radius + _INSIDE for other in others)


def shape_outline(shape: ContactShape, X: Transform) -> Outline | None:
    """The outline of a contact shape, one piece for each center, in a frame in which its own has the pose X."""
    moved = shape.moved(shape.body, X)
    sizes = {"ellipsoid": moved.sizes, "rim": (*moved.sizes * 2, 0), "cylinder": (*moved.sizes * 2, 0)}
    half = sizes.get(moved.kind, (0, 0, 0))
    values = [*(x for c in moved.centers for x in c), *(x for axis in moved.axes for x in axis), *half, moved.radius]
    if not all(is_constant(x) for x in values):
        return None
    centers = np.array([tuple(c) for c in moved.centers], dtype=float)
    axes = np.array([tuple(axis) for axis in moved.axes], dtype=float)
    return Outline.of(centers, float(moved.radius), axes.T * np.array(half, dtype=float))


class CollisionReader:
    """Turns collision shapes into contact shapes, and notes what cannot be used."""

    def __init__(self, points: int, tolerance: float, packages: list[Path]):
        self.points = points
        self.tolerance = tolerance
        self.packages = packages
        self.findings: list[Finding] = []
        # robots have the same mesh on many legs
        self._meshes: dict[tuple[MeshSource, tuple[float, ...]], Outline] = {}

    def note(self, kind: Any, body: str, message: str) -> None:
        """A finding about the contacts of a body."""
        self.findings.append(Finding(kind, f"contacts of body {body!r}", message))

    def read(self, body: str, keeper: str, X_KB: Transform, g: Geometry) -> CollisionShape:
        """The shape; an error if there is nothing to touch with."""
        if any(is_constant(s) and not 0 < s < math.inf for s in g.size):
            raise RobotError(f"size {g.size} is not positive", subject=g.kind, field="size")
        if g.kind == "mesh":
            pose = _numbers(X_KB @ g.placement)
            before = self._mesh(g)
            return CollisionShape(body, keeper, X_KB, g, None, (), None if pose is None else before.moved(*pose))
        shape, rims = self._exact(g)
        shape = shape.moved(body, g.placement)
        rims = tuple(g.placement.transform_point(p) for p in rims)
        made = CollisionShape(body, keeper, X_KB, g, shape, rims, shape_outline(shape, X_KB))
        return replace(made, count=made.points)

    def found(self, body: str, keeper: str, X_KB: Transform, g: Geometry) -> CollisionShape | None:
        """The shape; None, with a finding, if there is nothing to touch with."""
        try:
            return self.read(body, keeper, X_KB, g)
        except PliantError as problem:
            self.note("dropped", body, f"{g.kind}: {problem}")
            return None

    def settled(self, one: CollisionShape, rest: Outline) -> CollisionShape:
        """The shape, if it is a mesh with its contact: round or a few points, as its outline with the rest needs it.

        Args:
            rest: of the rigid part, in the frame of K.
        """
        g = one.geometry
        if g.kind != "mesh":
            return one
        mesh, pose = self._mesh(g), _numbers(one.X_KB @ g.placement)
        if pose is not None and self.tolerance > 0:
            R, p = pose
            rest = rest.moved(R.T, -R.T @ p)
        else:
            rest = NOTHING
        chosen, error = few_points(mesh, self.points, rest)
        fit = self._round(mesh, rest, len(chosen), error) if chosen and self.tolerance > 0 else None
        if fit is not None:
            x, y, z = (Vector(*map(float, axis)) for axis in fit.axes)
            shape = ContactShape(
                "", one.body, _vectors(fit.centers), fit.radius, fit.kind, sizes=fit.sizes, axes=(x, y, z)
            )
            rims = _rim_points(fit, max(3, self.points // 2)) if fit.kind in RIMS else ()
        else:
            shape = ContactShape("", one.body, _vectors(mesh.centers[chosen])) if chosen else None
            rims = ()
        shape = None if shape is None else shape.moved(one.body, g.placement)
        rims = tuple(g.placement.transform_point(q) for q in rims)
        return replace(one, shape=shape, rims=rims, count=len(chosen))

    def _round(self, mesh: Outline, rest: Outline, points: int, error: float) -> RoundFit | None:
        """The round shape in place of so many points that are off by this, if one is near enough and no worse."""
        # what has a flat side stands on it, where a ball would roll
        kinds = ("rim", "cylinder") if flat_sides(mesh, rest, of_width=True) else None
        best: RoundFit | None = None
        for fit in round_fits(mesh, rest, self.tolerance, error):
            if fit.contacts > points or (kinds is not None and fit.kind not in kinds):
                continue
            # one that costs more, as an ellipsoid more than a ball, only if it is much nearer
            if best is None or fit.error < best.error / 2:
                best = fit
            if best.error <= _NEAR * best.girth:
                break
        return best

    def _exact(self, g: Geometry) -> tuple[ContactShape, tuple[Vector, ...]]:
        """The contact shape in the frame of the geometry, and points on its rims."""
        match g.kind:
            case "sphere":
                return ContactShape("", "", (Vector.zero(),), g.size[0], "sphere"), ()
            case "capsule":
                half = g.size[1] / 2
                return ContactShape("", "", (Vector(0, 0, -half), Vector(0, 0, half)), g.size[0], "capsule"), ()
            case "box":
                return ContactShape("", "", corners("a collision box", g.size), 0, "box"), ()
            case "cylinder":
                radius, length = g.size
                ends = (-length / 2, length / 2)
                circle = _circle(max(3, self.points // 2))
                rims = tuple(Vector(radius * x, radius * y, z) for z in ends for x, y in circle)
                centers = tuple(Vector(0, 0, z) for z in ends)
                return ContactShape("", "", centers, 0, "cylinder", sizes=(radius,)), rims
        raise RobotError(f"no contact shape is known for a {g.kind}", subject=g.kind, field="kind")

    def _mesh(self, g: Geometry) -> Outline:
        """The outermost vertices of a mesh, also of its flat sides, in the frame of the geometry."""
        if g.mesh is None:
            cure = "give Geometry(..., mesh=pliant.meshes.MeshFile(path))"
            raise wrong("mesh", "mesh", "no reader for its file", cure)
        key = g.mesh, tuple(g.scale)
        if key not in self._meshes:
            vertices = Outline.of(g.mesh.points(self.packages) * np.array(g.scale, dtype=float))
            self._meshes[key] = vertices.some(outermost(vertices))
        return self._meshes[key]


def _circle(count: int) -> list[tuple[float, float]]:
    """Points around the unit circle."""
    turns = [2 * math.pi * (k + 0.5) / count for k in range(count)]
    return [(math.cos(a), math.sin(a)) for a in turns]


def _rim_points(fit: RoundFit, count: int) -> tuple[Vector, ...]:
    """Points on the rims of a fit."""
    (radius,), (x, y, _) = fit.sizes, fit.axes
    rims = [c + radius * (a * x + b * y) for c in fit.centers for a, b in _circle(count)]
    return _vectors(np.array(rims))


def _vectors(rows: np.ndarray) -> tuple[Vector, ...]:
    return tuple(Vector(*map(float, row)) for row in rows)


def _numbers(X: Transform) -> tuple[np.ndarray, np.ndarray] | None:
    """Rotation (3, 3) and position (3,) of a pose; None if it has symbols."""
    columns = [X.R.rotate(axis) for axis in (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))]
    values = [tuple(v) for v in (*columns, X.p)]
    if not all(is_constant(x) for v in values for x in v):
        return None
    table = np.array(values, dtype=float)
    return table[:3].T, table[3]
