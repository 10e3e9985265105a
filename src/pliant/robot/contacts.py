"""Contact shapes of a robot: shapes on its bodies, their points that meet the ground, and those of a simulation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from pliant.checks import check_at_least, check_friction, check_restitution
from pliant.errors import RobotError
from pliant.robot.mechanism import keepers
from pliant.robot.model import WORLD, Finding, Named, Report
from pliant.robot.part_checks import vector, wrong
from pliant.robot.round_shapes import Support
from pliant.scalar import Scalar
from pliant.spatial import Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


ROUND = ("sphere", "capsule")
"""Kinds of shapes that can touch each other, in addition to the ground."""
RIMS = ("rim", "cylinder")
"""Kinds with three points for each center, on a circle around it."""

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


# ---- default contacts

# most points on one rigid part
_DEFAULT_LIMIT = 8
# robots as they touch the ground: to find that takes a while, and robots do not change
_TOUCHING: "WeakKeyDictionary[Robot, Robot]" = WeakKeyDictionary()


def with_default_contacts(robot: "Robot", *, has_ground: bool) -> "Robot":
    """The robot with the contacts of a simulation: its own, or some of its collision geometry.

    From the collision geometry come the ends of the tree (feet, hands, heads) and the root, with as few points as
    their outlines need and 8 each at most: all shapes of a robot would make the step several times as long, and those
    in between seldom touch. Without a ground only contact pairs remain.
    """
    if not has_ground:
        return robot if robot.contact_pairs or not robot.contacts else robot.without_contacts()
    if robot.contacts or not any(body.collisions for body in robot.bodies.values()):
        return robot
    if robot not in _TOUCHING:
        _TOUCHING[robot] = _with_ends_and_root(robot)
    return _TOUCHING[robot]


def _with_ends_and_root(robot: "Robot") -> "Robot":
    """The robot with contacts of its collision geometry, and the report of that."""
    chosen = _ends_and_root(robot)
    touching = robot.with_collision_contacts(chosen, limit=_DEFAULT_LIMIT)
    if not touching.contacts:
        return touching
    message = (
        f"the robot has none of its own, so it touches the ground with the collision geometry of {', '.join(chosen)}; "
        "choose others with robot.with_collision_contacts(bodies), where tolerance=0 and limit=None keep all points, "
        "or robot.with_contact(frame)"
    )
    return replace(touching, report=Report([*touching.report, Finding("guessed", "contacts", message)]))


def _ends_and_root(robot: "Robot") -> list[str]:
    """Bodies with collision geometry at the ends of the tree and at its root, if that moves; and where sensors feel."""
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
    felt = [name for sensor in robot.sensors.values() if sensor.kind == "contact" for name in sensor.at]
    able = {name for names in parts.values() for name in names}
    chosen += [name for name in dict.fromkeys(felt) if name in able and name not in chosen]
    return chosen or [name for names in parts.values() for name in names]
