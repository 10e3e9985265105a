"""Numbers and names out of XML attributes, with errors that say where and what was expected."""

import math

from pliant.files.xml import Element
from pliant.formats.journal import Journal

__all__ = ["number", "numbers", "placement", "required"]

Triple = tuple[float, float, float]


def required(element: Element, name: str, journal: Journal) -> str:
    """An attribute that must be there and not be empty."""
    value = element.attributes.get(name, "").strip()
    if not value:
        raise journal.error(f'<{element.tag}> has no {name}; write <{element.tag} {name}="...">', element.line)
    return value


def numbers(
    element: Element | None, name: str, count: int, journal: Journal, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    """An attribute of ``count`` finite numbers with spaces between; the default if element or attribute is missing."""
    if element is None or (default is not None and name not in element.attributes):
        assert default is not None
        return default
    text = required(element, name, journal)
    parts = text.split()
    values = [_parsed(part) for part in parts]
    if len(parts) != count or not all(math.isfinite(v) for v in values):
        wanted = "a finite number" if count == 1 else f"{count} finite numbers, spaces between"
        hint = "; it looks like xacro that was not expanded" if "${" in text else ""
        raise journal.error(f"{name}={text!r} in <{element.tag}> is not {wanted}{hint}", element.line)
    return tuple(values)


def number(
    element: Element | None, name: str, journal: Journal, default: float | None = None, *, infinite: bool = False
) -> float:
    """An attribute that is one number, finite unless ``infinite`` allows it to be infinite."""
    if infinite and element is not None and math.isinf(value := _parsed(element.attributes.get(name, ""))):
        return value
    return numbers(element, name, 1, journal, None if default is None else (default,))[0]


def placement(element: Element, journal: Journal) -> tuple[Triple, Triple]:
    """Position [m] and roll, pitch, yaw [rad] of the element's <origin>; zero where it has none."""
    origin = element.first("origin")
    if origin is not None:
        journal.unread(origin, (), ("xyz", "rpy"))
    x, y, z = numbers(origin, "xyz", 3, journal, (0, 0, 0))
    roll, pitch, yaw = numbers(origin, "rpy", 3, journal, (0, 0, 0))
    return (x, y, z), (roll, pitch, yaw)


def _parsed(text: str) -> float:
    """The number, or NaN if it is none. Python's own 1_000 is not XML's."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
