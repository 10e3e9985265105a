"""Contact shapes of a robot: shapes on its bodies, their points that meet the ground, and copies with more or fewer.

Those from collision geometry are exact where that is few points or rims, and a few good points elsewhere.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pliant.checks import check, check_at_least, check_friction, check_restitution, is_whole
from pliant.errors import PliantError, RobotError
from pliant.files.packages import existing_folder
from pliant.meshes.support_points import few_points, nearest_ball
from pliant.robot.joints import Fixed
from pliant.robot.mechanism import keepers
from pliant.robot.model import WORLD, Finding, Geometry, MeshSource, Named, Report
from pliant.robot.part_checks import vector, wrong
from pliant.robot.round_shapes import Support
from pliant.scalar import Scalar, is_constant
from pliant.spatial import Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


ROUND = ("sphere", "capsule")
"""Kinds of shapes that can touch each other, in addition to the ground."""
RIMS = ("rim", "cylinder")
"""Kinds with three points for each center, on a circle around it."""
MERGE = 1e-3
"""How far apart points of one rigid part are that count as one [m]."""

_INSIDE = 1e-6  # how deep a point must be in a shape to be inside of it, not on it [m]


Kind = Literal["points", "sphere", "capsule", "box", "rim", "cylinder", "ellipsoid"]
_UNITS = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))


@dataclass(frozen=True)
class ContactShape:
    """A part of a body that makes contact: all points within ``radius`` of its centers, rims or ellipsoids.

    Attributes:
        body: that it is on.
        centers: in the body's frame [m]; of a capsule the two ends of its segment, of a box its corners, of a cylinder
            those of its two rims.
        radius: around each center [m], 0 for points; around the circle of a rim that of its tube.
        kind: of the centers; meshes are "points".
        friction: coefficient, None for that of the ground.
        restitution: share of the speed that an impact returns, 0 to 1; None for that of the contact model.
        sizes: of rims and cylinders the radius, of an ellipsoid its half axes [m]; empty for other kinds.
        axes: unit vectors along the half axes of an ellipsoid; the last is the axis of a rim or a cylinder.
        torsion: friction against turning about the normal, moment over normal force [m]; None for none.
        rolling: the same against turning across the normal [m].
    """

    name: str
    body: str
    centers: tuple[Vector, ...]
    radius: Scalar = 0
    kind: Kind = "points"
    friction: Scalar | None = None
    restitution: Scalar | None = None
    sizes: tuple[Scalar, ...] = ()
    axes: tuple[Vector, Vector, Vector] = _UNITS
    torsion: Scalar | None = None
    rolling: Scalar | None = None

    def moved(self, body: str, X: Transform) -> "ContactShape":
        """The shape on another body, in whose frame that of its own has the pose X."""
        x, y, z = (X.R.rotate(axis) for axis in self.axes)
        return replace(self, body=body, centers=tuple(X.transform_point(c) for c in self.centers), axes=(x, y, z))

    @property
    def supports(self) -> tuple[Support | None, ...]:
        """For each point at a center, how it moves about the center; None if it stays there."""
        if self.kind == "ellipsoid":
            a, b, c = self.sizes
            return (Support(self.axes, (a, b, c)),)
        if self.kind in RIMS:
            return tuple(Support(self.axes, (self.sizes[0], self.sizes[0], 0), turn) for turn in range(3))
        return (None,)


@dataclass(frozen=True)
class ContactPoint:
    """One point of a contact shape, with a ball around it, that meets the ground.

    Attributes:
        name: the shape's if it has one point, else with the point's number, as "foot.0".
        shape, body: names of the shape and the body.
        center: in the body's frame [m].
        radius, friction, restitution, torsion, rolling: the shape's.
        support: of a point that moves about the center, as the lowest one of a rim does.
    """

    name: str
    shape: str
    body: str
    center: Vector
    radius: Scalar
    friction: Scalar | None
    restitution: Scalar | None
    support: Support | None = None
    torsion: Scalar | None = None
    rolling: Scalar | None = None

    @property
    def reach(self) -> Scalar:
        """How far from its center the point and its ball can be [m]."""
        return self.radius if self.support is None else self.support.reach + self.radius


def points_of(shapes: Iterable[ContactShape]) -> tuple[ContactPoint, ...]:
    """The points of all shapes, in order."""
    points = []
    for s in shapes:
        moving = [(center, support) for center in s.centers for support in s.supports]
        for k, (center, support) in enumerate(moving):
            name = s.name if len(moving) == 1 else f"{s.name}.{k}"
            own = s.radius, s.friction, s.restitution, support, s.torsion, s.rolling
            points.append(ContactPoint(name, s.name, s.body, center, *own))
    return tuple(points)


def corners(subject: str, box: Sequence[Scalar]) -> tuple[Vector, ...]:
    """The eight corners of a box of these full sizes [m] around the origin."""
    size = vector("box", tuple(box), subject=subject)
    for entry in size:
        check_at_least("box", entry, 0, strict=True, subject=subject, error=RobotError)
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return tuple(Vector(*(s * entry / 2 for s, entry in zip(sign, size, strict=True))) for sign in signs)


def with_shapes(robot: "Robot", shapes: Sequence[ContactShape]) -> "Robot":
    """A copy with more contact shapes."""
    for shape in shapes:
        check_shape(shape)
    together = Named("contact", [*robot.contacts.values(), *shapes], robot.bodies.owner)
    # points of a shape "foot" and of one called "foot.0" could have one name
    shape_of: dict[str, str] = {}
    for point in points_of(together.values()):
        other = shape_of.setdefault(point.name, point.shape)
        if other != point.shape:
            problem = f"contacts {other!r} and {point.shape!r} both have a point {point.name!r}"
            raise wrong(f"contact {point.shape!r}", "name", problem, "rename one")
    return replace(robot, contacts=together)


# ---- checks


def check_shape(shape: ContactShape) -> None:
    """Raise if the shape has no points, is on the world, or has an impossible number."""
    subject = f"contact {shape.name!r}"
    if shape.body == WORLD:
        raise wrong(subject, "body", f"{subject} is on the world, which is the ground itself", "put it on a body")
    if not shape.centers:
        raise wrong(subject, "points", f"{subject} has no points", "give at least one")
    check_at_least("radius", shape.radius, 0, subject=subject, error=RobotError)
    label, count = ("ellipsoid", 3) if shape.kind == "ellipsoid" else ("rim", int(shape.kind in RIMS))
    for size in shape.sizes:
        check_at_least(label, size, 0, strict=True, subject=subject, error=RobotError)
    if len(shape.sizes) != count:
        raise wrong(subject, "sizes", f"{subject} of kind {shape.kind} has sizes {shape.sizes}", f"give {count}")
    check_friction(subject, shape.friction, error=RobotError)
    check_restitution(subject, shape.restitution, error=RobotError)
    for label, length in (("torsion", shape.torsion), ("rolling", shape.rolling)):
        if length is not None:
            check_at_least(label, length, 0, subject=subject, error=RobotError)


def check_pair(robot: "Robot", a: str, b: str) -> None:
    """Raise unless two round shapes are on bodies that move relative to each other."""
    shapes = robot.contacts[a], robot.contacts[b]
    subject = f"contact pair {a!r}, {b!r}"

    def fault(problem: str, cure: str) -> RobotError:
        return wrong(subject, "", f"{subject}: {problem}", cure)

    for shape in shapes:
        if shape.kind not in ROUND:
            raise fault(f"{shape.name!r} is of kind {shape.kind}", "only spheres and capsules pair")
    if shapes[0].body == shapes[1].body:
        raise fault(f"both are on body {shapes[0].body!r}", "take shapes on different bodies")
    kept = keepers(robot)
    if kept[shapes[0].body][0] == kept[shapes[1].body][0]:
        bodies = " and ".join(repr(s.body) for s in shapes)
        raise fault(f"bodies {bodies} are fixed to each other", "take shapes on bodies that move apart")
    if (a, b) in robot.contact_pairs or (b, a) in robot.contact_pairs:
        raise fault("it is declared already", "leave it out")


# ---- from collision geometry


def with_collision_contacts(
    robot: "Robot", bodies: Any, points: int, merge: float, limit: int | None, packages: Any
) -> "Robot":
    """`Robot.with_collision_contacts`."""
    chosen = list(robot.bodies) if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
    folders = [packages] if isinstance(packages, (str, Path)) else list(packages)
    check("points", points, "a whole number, at least 4", is_whole(points) and points >= 4, error=RobotError)
    is_limit = limit is None or (is_whole(limit) and limit >= 4)
    check("limit", limit, "a whole number of points, at least 4, or None for all", is_limit, error=RobotError)
    check_at_least("merge", merge, 0, error=RobotError)
    reader = _Reader(points, [existing_folder(folder) for folder in folders])
    rigid = keepers(robot)

    # every collision shape of the chosen bodies, as seen from the body that keeps its own
    made: list[_Made] = []
    for name in dict.fromkeys(chosen):
        kept, X_KB = rigid[robot.bodies[name].name]
        shapes = robot.bodies[name].collisions
        carrier = robot.joints[robot.bodies.index(kept)]
        if shapes and isinstance(carrier.kind, Fixed) and carrier.parent == WORLD:
            reader.note("dropped", name, "it is fixed to the world and cannot meet the ground")
            continue
        for geometry in shapes:
            outline = reader.outline(name, geometry)
            if outline is not None:
                made.append(_Made(name, kept, X_KB, geometry, *outline))

    # points that are there already, by the body that keeps them
    taken: dict[str, list[tuple[float, ...]]] = {keeper: [] for keeper, _ in rigid.values()}
    for shape in robot.contacts.values():
        keeper, X_KB = rigid[shape.body]
        taken[keeper] += _numbers(X_KB, shape.centers, shape.radius)
    trimmed: list[_Made] = []
    for one in made:
        others = [other for other in made if other is not one and other.keeper == one.keeper]
        trimmed += _trimmed(one, taken[one.keeper], merge, others)
    if limit is not None:
        keepers_of = dict.fromkeys(one.keeper for one in trimmed)
        parts = [[one for one in trimmed if one.keeper == keeper] for keeper in keepers_of]
        trimmed = [one for part in parts for one in _limited(part, limit, reader)]
    made_robot = with_shapes(robot, _named(trimmed, robot))
    return replace(made_robot, report=Report([*robot.report, *reader.findings]))


class _Reader:
    """Turns collision shapes into centers and a radius, and notes losses."""

    def __init__(self, points: int, packages: list[Path]):
        self.points = points
        self.packages = packages
        self.findings: list[Finding] = []
        # robots have the same mesh on many legs
        self._meshes: dict[tuple[MeshSource, tuple[float, ...]], tuple[np.ndarray, float, float]] = {}

    def note(self, kind: Any, body: str, message: str) -> None:
        self.findings.append(Finding(kind, f"contacts of body {body!r}", message))

    def outline(self, body: str, g: Geometry) -> tuple[tuple[Vector, ...], Scalar, Any] | None:
        """Centers in the body's frame, radius and kind; None, with a finding, if there is nothing to touch with."""
        try:
            centers, radius, kind, remark = self._outline(g)
        except PliantError as problem:
            self.note("dropped", body, f"{g.kind}: {problem}")
            return None
        if remark:
            self.note("guessed", body, remark)
        return tuple(g.placement.transform_point(c) for c in centers), radius, kind

    def _outline(self, g: Geometry) -> tuple[tuple[Vector, ...], Scalar, Any, str]:
        if any(is_constant(s) and not 0 < s < math.inf for s in g.size):
            raise RobotError(f"size {g.size} is not positive", subject=g.kind, field="size")
        match g.kind:
            case "sphere":
                return (Vector.zero(),), g.size[0], "sphere", ""
            case "capsule":
                half = g.size[1] / 2
                return (Vector(0, 0, -half), Vector(0, 0, half)), g.size[0], "capsule", ""
            case "box":
                return corners("a collision box", g.size), 0, "box", ""
            case "cylinder":
                radius, length = g.size
                count = max(3, self.points // 2)
                # on the two rims; these points stand for the cylinder where only some of them are wanted
                turns = [2 * math.pi * (k + 0.5) / count for k in range(count)]
                ends = (-length / 2, length / 2)
                rims = tuple(Vector(radius * math.cos(a), radius * math.sin(a), z) for z in ends for a in turns)
                return rims, 0, "cylinder", ""
            case "mesh":
                found, radius, error = self._mesh_outline(g)
                kind, what = ("sphere", "mesh as a ball") if radius else ("points", "mesh")
                centers = tuple(Vector(*map(float, p)) for p in found)
                return centers, radius, kind, _remark(what, len(found), error)
        raise RobotError(f"no contact shape is known for a {g.kind}", subject=g.kind, field="kind")

    def _mesh_outline(self, g: Geometry) -> tuple[np.ndarray, float, float]:
        """Points with a radius, and how far they are off: one ball if that is much better, as for a ball's mesh."""
        if g.mesh is None:
            cure = "give Geometry(..., mesh=pliant.meshes.MeshFile(path))"
            raise wrong("mesh", "mesh", "no reader for its file", cure)
        key = g.mesh, tuple(g.scale)
        if key not in self._meshes:
            vertices = g.mesh.points(self.packages) * np.array(g.scale, dtype=float)
            chosen, error = few_points(vertices, self.points)
            center, radius, ball_error = nearest_ball(vertices)
            # twice as good at least: eight points stand firmly, a ball rolls
            is_ball = radius > 0 and ball_error < error / 2
            self._meshes[key] = (center[None], radius, ball_error) if is_ball else (vertices[chosen], 0, error)
        return self._meshes[key]


def _remark(kind: str, count: int, error: Scalar) -> str:
    off = f"{1e3 * error:.2g} mm" if is_constant(error) else f"{error} m"
    return f"{kind}: {count} point{'s' if count > 1 else ''}, off by {off}"


@dataclass(frozen=True)
class _Made:
    """A collision shape on its way to a contact: centers in the frame of its body, B, which K keeps.

    Those of a cylinder are points on its rims, in place of which it is a cylinder as long as all of it is wanted, or
    one of its rims; ``ends`` are the sides that these are on.
    """

    body: str
    keeper: str
    X_KB: Transform
    geometry: Geometry
    centers: tuple[Vector, ...]
    radius: Scalar
    kind: Any
    ends: tuple[int, ...] = (-1, 1)

    def with_centers(self, centers: list[Vector]) -> "list[_Made]":
        """The shape with those of its centers only: none without any, and a capsule whole."""
        if not centers or len(centers) == len(self.centers) or self.kind in ROUND:
            return [self] if centers else []
        return [replace(self, centers=tuple(centers), kind="points")]

    def named(self, name: str) -> ContactShape:
        """The contact shape."""
        if self.kind not in RIMS:
            return ContactShape(name, self.body, self.centers, self.radius, self.kind)
        radius, length = self.geometry.size
        ends = tuple(Vector(0, 0, side * length / 2) for side in self.ends)
        return ContactShape(name, "", ends, 0, self.kind, sizes=(radius,)).moved(self.body, self.geometry.placement)

    def with_rims(self, centers: list[Vector]) -> "list[_Made]":
        """A cylinder with those of its two rims of which some point is left."""
        half = len(self.centers) // 2
        parts = [(end, part) for end, part in zip((-1, 1), (self.centers[:half], self.centers[half:]), strict=True)]
        left = [(end, part) for end, part in parts if any(c in centers for c in part)]
        if len(left) != 1:
            return [self] if left else []
        return [replace(self, centers=left[0][1], kind="rim", ends=(left[0][0],))]


def _numbers(X: Transform, centers: Iterable[Vector], radius: Scalar) -> Iterator[tuple[float, ...]]:
    """Centers in another frame, with the radius; only those in plain numbers, which can be compared."""
    for center in centers:
        values = (*X.transform_point(center), radius)
        if all(is_constant(x) for x in values):
            yield values


def _trimmed(one: _Made, taken: list[tuple[float, ...]], merge: float, others: list[_Made]) -> list[_Made]:
    """The shape without the points that are inside of another, or there already; nothing if none is left."""
    centers = []
    for center in one.centers:
        p_K = one.X_KB.transform_point(center)
        own = list(_numbers(one.X_KB, [center], one.radius))
        inside = any(_depth(other, p_K) > one.radius + _INSIDE for other in others if is_constant(one.radius))
        again = any(math.dist(p, o) <= merge and abs(r - s) <= merge for *p, r in own for *o, s in taken)
        if not inside and not again:
            centers.append(center)
            if one.kind not in (*ROUND, *RIMS):  # coinciding points of one shape are one, too
                taken += own
    if centers and one.kind in RIMS:
        (one,) = one.with_rims(centers)
        centers = list(one.centers)
    if centers and one.kind in (*ROUND, *RIMS):
        taken += _numbers(one.X_KB, one.centers, one.radius)
    return one.with_centers(centers)


def _limited(part: list[_Made], limit: int, reader: _Reader) -> list[_Made]:
    """The shapes of a rigid part with at most so many points: those that keep the outline of the part best."""
    balls = [[*_numbers(one.X_KB, one.centers, one.radius)] for one in part]
    table = np.array([ball for own in balls for ball in own], dtype=float).reshape(-1, 4)
    has_symbols = len(table) < sum(len(one.centers) for one in part)
    if len(table) <= limit or has_symbols:
        return part
    chosen, error = few_points(table[:, :3], limit, table[:, 3])
    limited, start = [], 0
    for one in part:
        limited += one.with_centers([c for k, c in enumerate(one.centers, start) if k in chosen])
        start += len(one.centers)
    count = sum(len(one.centers) for one in limited)
    reader.note("guessed", part[0].keeper, f"{_remark(f'the whole of {len(table)} points', count, error)}")
    return limited


def _named(shapes: list[_Made], robot: "Robot") -> list[ContactShape]:
    """Contact shapes by the names of their bodies, with a number where a body has several or the name is taken."""
    taken = set(robot.contacts)
    named = []
    for one in shapes:
        name, k = one.body, 0
        has_siblings = sum(other.body == one.body for other in shapes) > 1
        while name in taken or (has_siblings and name == one.body):
            name, k = f"{one.body}_{k}", k + 1
        taken.add(name)
        named.append(one.named(name))
    return named


def _depth(shape: _Made, p_K: Vector) -> float:
    """How deep a point is inside of a shape [m]; minus infinity where that is not known: meshes and symbols."""
    g = shape.geometry
    x, y, z = (shape.X_KB @ g.placement).inverse().transform_point(p_K)
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


# ---- default contacts

# most points on one rigid part
_DEFAULT_LIMIT = 8


def with_default_contacts(robot: "Robot", *, has_ground: bool) -> "Robot":
    """The robot with the contacts of a simulation: its own, or some of its collision geometry.

    From the collision geometry come the ends of the tree (feet, hands, heads) and the root, with at most 8
    points each: all shapes of a robot would make the step several times as long, and those in between
    seldom touch. Without a ground only contact pairs remain.
    """
    if not has_ground:
        return robot if robot.contact_pairs or not robot.contacts else robot.without_contacts()
    if robot.contacts or not any(body.collisions for body in robot.bodies.values()):
        return robot
    chosen = _ends_and_root(robot)
    touching = robot.with_collision_contacts(chosen, limit=_DEFAULT_LIMIT)
    if not touching.contacts:
        return touching
    message = (
        f"the robot has none of its own, so it touches the ground with the collision geometry of {', '.join(chosen)}; "
        "choose others with robot.with_collision_contacts(bodies) or robot.with_contact(frame)"
    )
    return replace(touching, report=Report([*touching.report, Finding("guessed", "contacts", message)]))


def _ends_and_root(robot: "Robot") -> list[str]:
    """Bodies with collision geometry at the ends of the tree and at its root, if that moves."""
    mechanism = robot.mechanism
    parts: dict[int, list[str]] = {}
    for name, body in robot.bodies.items():
        i, _ = mechanism.body(name)
        if i >= 0 and body.collisions:
            parts.setdefault(i, []).append(name)
    carriers = {joint.parent for joint in robot.joints.values()}
    moving = {link.parent for link in mechanism.joint_links}
    chosen: list[str] = []
    for i, names in parts.items():
        if mechanism.links[i].parent < 0 and mechanism.links[i].kind.nv == 6:
            # the bodies that are fixed to a root are covers and sensors, unless it has no shape itself
            chosen += [n for n in names if n == mechanism.links[i].body] or names
        elif i not in moving:
            chosen += [n for n in names if n not in carriers] or names
    return chosen or [name for names in parts.values() for name in names]
