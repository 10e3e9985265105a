"""Contact shapes of a robot: shapes on its bodies, their points that meet the ground, and copies with more or fewer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pliant.checks import check_at_least, check_friction, check_restitution, is_zero
from pliant.errors import Call, RobotError
from pliant.robot.mechanism import keepers
from pliant.robot.model import WORLD, Named
from pliant.robot.part_checks import vector, wrong
from pliant.scalar import Scalar
from pliant.spatial import Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


ROUND = ("sphere", "capsule")
"""Kinds of shapes that can touch each other, in addition to the ground."""


@dataclass(frozen=True)
class ContactShape:
    """A part of a body that makes contact: all points within ``radius`` of its centers.

    Attributes:
        body: that it is on.
        centers: in the body's frame [m]; of a capsule the two ends of its segment, of a box its corners.
        radius: around each center [m], 0 for points.
        kind: of the centers; meshes and cylinders are "points".
        friction: coefficient, None for that of the ground.
        restitution: share of the speed that an impact returns, 0 to 1; None for that of the contact model.
    """

    name: str
    body: str
    centers: tuple[Vector, ...]
    radius: Scalar = 0
    kind: Literal["points", "sphere", "capsule", "box"] = "points"
    friction: Scalar | None = None
    restitution: Scalar | None = None

    def moved(self, body: str, X: Transform) -> "ContactShape":
        """The shape on another body, in whose frame that of its own has the pose X."""
        return replace(self, body=body, centers=tuple(X.transform_point(c) for c in self.centers))


@dataclass(frozen=True)
class ContactPoint:
    """One point of a contact shape, with a ball around it, that meets the ground.

    Attributes:
        name: the shape's if it has one center, else with the center's number, as "foot.0".
        shape, body: names of the shape and the body.
        center: in the body's frame [m].
        radius, friction, restitution: the shape's.
    """

    name: str
    shape: str
    body: str
    center: Vector
    radius: Scalar
    friction: Scalar | None
    restitution: Scalar | None


def points_of(shapes: Iterable[ContactShape]) -> tuple[ContactPoint, ...]:
    """The points of all shapes, in order."""
    points = []
    for s in shapes:
        for k, center in enumerate(s.centers):
            name = s.name if len(s.centers) == 1 else f"{s.name}.{k}"
            points.append(ContactPoint(name, s.name, s.body, center, s.radius, s.friction, s.restitution))
    return tuple(points)


def shape_at(robot: "Robot", frame: str, name: str, radius: Scalar, points: Any, box: Any, length: Any) -> ContactShape:
    """The shape that `Robot.with_contact` adds, but for its friction and restitution."""
    on = robot.frame(frame)
    subject = f"contact {name!r}"
    if sum(option is not None for option in (points, box, length)) > 1:
        raise wrong(subject, "", f"{subject} has more than one of points, box and length", "give one")
    check_at_least("radius", radius, 0, subject=subject, error=RobotError)
    if box is not None:
        centers, kind = corners(subject, box), "box"
        if not is_zero(radius):
            problem = f"{subject} is a box with radius {radius}, but boxes are sharp"
            raise wrong(subject, "radius", problem, "leave the radius out")
    elif points is not None:
        centers = tuple(vector(f"point {k}", tuple(p), subject=subject) for k, p in enumerate(points))
        kind = "points"
    elif length is not None:
        check_at_least("length", length, 0, strict=True, subject=subject, error=RobotError)
        if is_zero(radius):
            call = Call("with_contact", name, {"radius": 0.02, "length": 0.1})
            problem, cure = f"{subject} has a length but no radius", "a capsule needs both, as in {call}"
            raise wrong(subject, "radius", problem, cure, call)
        centers, kind = (Vector(0, 0, -length / 2), Vector(0, 0, length / 2)), "capsule"
    else:
        centers, kind = (Vector.zero(),), "points" if is_zero(radius) else "sphere"
    centers = tuple(on.placement.transform_point(c) for c in centers)
    return ContactShape(name, on.body, centers, radius, kind)


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
    check_friction(subject, shape.friction, error=RobotError)
    check_restitution(subject, shape.restitution, error=RobotError)


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
