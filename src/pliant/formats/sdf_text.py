"""Numbers, flags and poses out of the text of SDF elements."""

import math

from pliant.files.xml import Element
from pliant.formats.journal import Journal, parsed
from pliant.robot.mechanism import snapped_transform
from pliant.spatial import Transform, Vector, rotation_from_quaternion, rotation_from_rpy

# what SDF writes for "no limit"
_ENDLESS = 1e15


def words(element: Element | None, tag: str) -> str:
    """The text of a child, "" if there is none."""
    child = None if element is None else element.first(tag)
    return "" if child is None else child.text.strip()


def values(element: Element, journal: Journal, *counts: int) -> tuple[float, ...]:
    """The finite numbers that are an element's text, as many as one of ``counts``."""
    found = [parsed(part) for part in element.text.split()]
    if len(found) not in counts or not all(map(math.isfinite, found)):
        wanted = "a finite number" if counts == (1,) else f"{' or '.join(map(str, counts))} finite numbers"
        problem = f"<{element.tag}>{element.text.strip()[:80]}</{element.tag}> is not {wanted}"
        raise journal.error(problem, element.line, subject=f"<{element.tag}>", field=element.tag)
    return tuple(found)


def number(element: Element | None, tag: str, journal: Journal, default: float) -> float:
    """The number in a child; the default if it is missing."""
    child = None if element is None else element.first(tag)
    if child is None:
        return default
    if math.isinf(found := parsed(child.text.strip())):
        return found
    return values(child, journal, 1)[0]


def limit(element: Element | None, tag: str, journal: Journal, default: float) -> float:
    """A limit in a child, infinite where SDF writes a large number for that."""
    found = number(element, tag, journal, default)
    return math.copysign(math.inf, found) if abs(found) >= _ENDLESS else found


def flag(element: Element | None, tag: str) -> bool:
    """Whether a child says 1 or true."""
    return words(element, tag).lower() in ("1", "true")


def pose(element: Element | None, journal: Journal) -> Transform:
    """The pose that a <pose> is: x y z and roll pitch yaw, in degrees if it says so, or x y z and a quaternion."""
    if element is None or not element.text.strip():
        return Transform.identity()
    attributes = element.attributes
    is_quaternion = attributes.get("rotation_format", "euler_rpy") == "quat_xyzw"
    found = values(element, journal, 7 if is_quaternion else 6)
    x, y, z, *turn = found
    if not is_quaternion:
        in_degrees = attributes.get("degrees", "").lower() in ("1", "true")
        roll, pitch, yaw = (math.radians(angle) if in_degrees else angle for angle in turn)
        return snapped_transform(Transform(rotation_from_rpy(roll, pitch, yaw), Vector(x, y, z)))
    length = math.hypot(*turn)
    if length == 0:
        problem = "<pose> has the quaternion 0 0 0 0, which is not a rotation"
        raise journal.error(problem, element.line, subject="<pose>", field="pose")
    return snapped_transform(Transform(rotation_from_quaternion(*(e / length for e in turn)), Vector(x, y, z)))
