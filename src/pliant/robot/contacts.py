"""What of a robot can touch: shapes on its bodies, and the points of them that meet the ground."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pliant.errors import RobotError
from pliant.robot import checks
from pliant.robot.lumping import keepers
from pliant.robot.model import WORLD
from pliant.scalar import is_constant
from pliant.spatial import Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = [
    "ROUND", "ContactPoint", "ContactShape", "check_pair", "check_point_names", "check_shape", "points_of",
    "shape_at",
]  # fmt: skip

Scalar = Any

ROUND = ("sphere", "capsule")
"""Kinds of shapes that can touch each other, beside the ground."""


@dataclass(frozen=True)
class ContactShape:
    """A part of a body that can touch: all points within ``radius`` of its centers.

    Attributes:
        body: that it is on.
        centers: in the body's frame [m]; of a capsule the two ends of its segment, of a box its corners.
        radius: around each center [m], 0 for points.
        kind: what the centers are; meshes and cylinders are "points".
        friction: coefficient, None for that of the ground.
        restitution: share of the speed that a hit gives back, 0 to 1; None for that of the contact model.
    """

    name: str
    body: str
    centers: tuple[Vector, ...]
    radius: Scalar = 0
    kind: Literal["points", "sphere", "capsule", "box"] = "points"
    friction: Scalar | None = None
    restitution: Scalar | None = None


@dataclass(frozen=True)
class ContactPoint:
    """One point of a contact shape, with a ball around it: what meets the ground.

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


def shape_at(
    robot: "Robot",
    frame: str,
    *,
    radius: Scalar = 0,
    points: Sequence[Sequence[Scalar]] | None = None,
    box: Sequence[Scalar] | None = None,
    length: Scalar | None = None,
    name: str | None = None,
    friction: Scalar | None = None,
    restitution: Scalar | None = None,
) -> ContactShape:
    """The shape that `Robot.with_contact` adds; what is wrong with it is an error."""
    on = robot.frame(frame)
    name = name or frame
    subject = f"contact {name!r}"
    if sum(option is not None for option in (points, box, length)) > 1:
        raise RobotError(f"{subject} has more than one of points, box and length; give one")
    _check_number(subject, "radius", radius, 0)
    if box is not None:
        centers, kind = corners(subject, box), "box"
        if not is_zero(radius):
            raise RobotError(f"{subject} is a box with radius {radius}; boxes are sharp, leave the radius out")
    elif points is not None:
        centers, kind = tuple(checks.vector(subject, f"point {k}", tuple(p)) for k, p in enumerate(points)), "points"
    elif length is not None:
        centers, kind = _segment(subject, radius, length), "capsule"
    else:
        centers, kind = (Vector.zero(),), "points" if is_zero(radius) else "sphere"
    centers = tuple(on.placement.transform_point(c) for c in centers)
    return ContactShape(name, on.body, centers, radius, kind, friction, restitution)


def corners(subject: str, box: Sequence[Scalar]) -> tuple[Vector, ...]:
    """The eight corners of a box of these full sizes [m] around the origin."""
    size = checks.vector(subject, "box", tuple(box))
    for entry in size:
        _check_positive(subject, "box", entry)
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return tuple(Vector(*(s * entry / 2 for s, entry in zip(sign, size, strict=True))) for sign in signs)


def _segment(subject: str, radius: Scalar, length: Scalar) -> tuple[Vector, ...]:
    _check_positive(subject, "length", length)
    if is_zero(radius):
        problem, cure = f"{subject} has a length but no radius", "a capsule needs both, as in radius=0.02, length=0.1"
        raise RobotError(problem, subject=subject, field="radius", cure=cure)
    return Vector(0, 0, -length / 2), Vector(0, 0, length / 2)


def check_shape(shape: ContactShape) -> None:
    """Raise if the shape is nowhere, on the world, or has an impossible number."""
    subject = f"contact {shape.name!r}"
    if shape.body == WORLD:
        raise RobotError(f"{subject} is on the world, which is the ground itself; put it on a body")
    if not shape.centers:
        raise RobotError(f"{subject} has no points; give at least one")
    _check_number(subject, "radius", shape.radius, 0)
    for what in ("friction", "restitution"):
        value = getattr(shape, what)
        if value is not None:
            _check_number(subject, what, value, 0)
    if shape.restitution is not None and is_constant(shape.restitution) and shape.restitution > 1:
        raise RobotError(f"restitution of {subject} is {shape.restitution}; it must be at most 1")


def check_point_names(shapes: Iterable[ContactShape]) -> None:
    """Raise if two points have one name, as those of a shape "foot" and of one called "foot.0"."""
    owner: dict[str, str] = {}
    for point in points_of(shapes):
        other = owner.setdefault(point.name, point.shape)
        if other != point.shape:
            raise RobotError(f"contacts {other!r} and {point.shape!r} both have a point {point.name!r}; rename one")


def check_pair(robot: "Robot", a: str, b: str) -> None:
    """Raise unless two round shapes are on bodies that move against each other."""
    shapes = robot.contacts[a], robot.contacts[b]
    subject = f"contact pair {a!r}, {b!r}"
    for shape in shapes:
        if shape.kind not in ROUND:
            raise RobotError(f"{subject}: {shape.name!r} is of kind {shape.kind}; only spheres and capsules pair")
    if shapes[0].body == shapes[1].body:
        raise RobotError(f"{subject}: both are on body {shapes[0].body!r}; take shapes on different bodies")
    kept = keepers(robot)
    if kept[shapes[0].body][0] == kept[shapes[1].body][0]:
        bodies = " and ".join(repr(s.body) for s in shapes)
        raise RobotError(f"{subject}: bodies {bodies} are fixed to each other; take shapes on bodies that move apart")
    if (a, b) in robot.contact_pairs or (b, a) in robot.contact_pairs:
        raise RobotError(f"{subject} is declared already")


def is_zero(x: Scalar) -> bool:
    """Whether it is the number 0, not a symbol."""
    return is_constant(x) and x == 0


def _check_number(subject: str, what: str, value: Scalar, least: float) -> None:
    checks.check_finite(f"{what} of {subject}", value)
    checks.per_entry(subject, what, value, 1, least=least)


def _check_positive(subject: str, what: str, value: Scalar) -> None:
    checks.check_finite(f"{what} of {subject}", value)
    if is_constant(value) and not value > 0:
        raise RobotError(f"{what} of {subject} has the size {value} m; it must be above zero")
