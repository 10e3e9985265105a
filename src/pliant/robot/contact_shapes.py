"""The contact shape that the options of `Robot.with_contact` stand for."""

from typing import TYPE_CHECKING, Any

from pliant.checks import check_at_least, is_zero
from pliant.errors import Call, RobotError
from pliant.robot.contacts import ContactShape, Kind, corners
from pliant.robot.part_checks import vector, wrong
from pliant.scalar import Scalar
from pliant.spatial import Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


def shape_at(
    robot: "Robot", frame: str, name: str, radius: Scalar, points: Any, box: Any, length: Any, rim: Any, ellipsoid: Any
) -> ContactShape:
    """The shape that `Robot.with_contact` adds, but for its friction and restitution."""
    on = robot.frame(frame)
    subject = f"contact {name!r}"
    given = {"points": points, "box": box, "rim": rim, "ellipsoid": ellipsoid, "length": length}
    names = [option for option, value in given.items() if value is not None]
    # a rim with a length is a cylinder
    if len(names) > 1 and names != ["rim", "length"]:
        problem = f"{subject} has {' and '.join(names)}, of which each makes a shape of its own"
        raise wrong(subject, "", problem, "give one, or rim and length for a cylinder")
    check_at_least("radius", radius, 0, subject=subject, error=RobotError)
    sizes: tuple[Scalar, ...] = ()
    if rim is not None:
        sizes, (centers, kind) = (rim,), _rims(subject, length)
    elif ellipsoid is not None:
        sizes = tuple(vector("ellipsoid", tuple(ellipsoid), subject=subject))
        centers, kind = (Vector.zero(),), "ellipsoid"
    elif box is not None:
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
    return ContactShape(name, "", centers, radius, kind, sizes=sizes).moved(on.body, on.placement)


def _rims(subject: str, length: Scalar | None) -> tuple[tuple[Vector, ...], Kind]:
    """Centers and kind of a rim, or of the two of a cylinder."""
    if length is None:
        return (Vector.zero(),), "rim"
    check_at_least("length", length, 0, strict=True, subject=subject, error=RobotError)
    return (Vector(0, 0, -length / 2), Vector(0, 0, length / 2)), "cylinder"
