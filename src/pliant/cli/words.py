"""Words of the command line that mean several numbers: rows, springs, pushes, grounds, contact laws."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pliant.errors import PliantError, unknown_name

__all__ = [
    "CONTACTS", "GROUNDS", "Push", "as_contact", "as_ground", "as_numbers", "as_pushes", "as_row", "as_springs",
    "as_texts",
]  # fmt: skip


class Push(NamedTuple):
    """A force on a body.

    Attributes:
        force: [N], in the world's axes.
        start, end: [s].
    """

    body: str
    force: tuple[float, ...]
    start: float
    end: float


def as_texts(given: Any) -> list[str]:
    """One text or several."""
    found = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    if not found or not all(isinstance(x, str) for x in found):
        raise PliantError(f"it takes text, or a list of it, not {given!r}")
    return found


def as_numbers(given: Any) -> tuple[float, ...]:
    """Numbers: a list of them, one, or text with commas."""
    if isinstance(given, str):
        return tuple(_number(part, given) for part in given.split(","))
    several = [given] if isinstance(given, int | float) else given
    if not isinstance(several, Sequence) or not all(_is_number(x) for x in several):
        raise PliantError(f"it takes numbers, not {given!r}")
    return tuple(float(x) for x in several)


def as_row(given: Any) -> Any:
    """Entries of q or v: all in order, or a mapping of some by name.

    Args:
        given: "0,0.5,1"; "knee=0.5" or several of that form; or a list or table of TOML.
    """
    if isinstance(given, Mapping):
        if not all(_is_number(x) for x in given.values()):
            raise PliantError(f"it takes a number for each name, not {dict(given)!r}")
        return {str(name): float(x) for name, x in given.items()}
    if isinstance(given, Sequence) and not isinstance(given, str) and all(_is_number(x) for x in given):
        return as_numbers(given)
    texts = as_texts(given)
    parts = [part for text in texts for part in text.split(",")]
    if not any("=" in part for part in parts):
        return tuple(_number(part, ",".join(texts)) for part in parts)
    return {name: _number(value, f"{name}={value}") for name, value in _pairs(parts, "knee=0.5").items()}


def as_springs(given: Any) -> dict[str, tuple[float, ...]]:
    """Stiffness of flexible joints by name, and damping and the motor's inertia if there are any; without, no damping.

    Args:
        given: "knee=1e4,10" or several of that form, or a table of TOML: {knee = [1e4, 10]}.
    """
    if isinstance(given, Mapping):
        found = {str(name): as_numbers(value) for name, value in given.items()}
    else:
        found = {name: as_numbers(value) for name, value in _pairs(as_texts(given), "knee=1e4,10").items()}
    for name, values in found.items():
        if not 1 <= len(values) <= 3:
            raise PliantError(f"{name!r} has {len(values)} numbers; it takes stiffness and damping, {name}=1e4,10")
    return found


def as_pushes(given: Any) -> tuple[Push, ...]:
    """Forces on bodies: "base=100,0,0@1:1.2" or several of that form."""
    return tuple(_push(text) for text in as_texts(given))


def _push(text: str) -> Push:
    form = "base=100,0,0@1:1.2"
    body, rest = _pair(text, form)
    numbers, at, span = rest.partition("@")
    force = as_numbers(numbers)
    if len(force) != 3:
        raise PliantError(f"{text!r} has {len(force)} numbers; a force takes three, as {form}")
    first, colon, last = span.partition(":")
    start = _number(first, text) if at else 0.0
    end = _number(last, text) if colon else math.inf
    if not end > start:
        raise PliantError(f"{text!r} ends before it begins; write {form}")
    return Push(body, force, start, end)


# ---- ground and contact

GROUNDS = {"none": (0, 0), "flat": (0, 1), "slope": (1, 2), "stairs": (2, 3), "waves": (2, 2)}
"""Grounds by name, with the fewest and most numbers that they take."""

CONTACTS = {"rigid": (0, 0), "compliant": (0, 2), "hunt-crossley": (2, 3)}
"""Contact models by name, likewise."""


def as_ground(given: str) -> Any:
    """A ground, or None for "none": "flat", "flat=HEIGHT", "slope=DEGREES[,DIRECTION]", "stairs=RISE,RUN[,STEPS]"..."""
    from pliant import contact

    name, numbers = _called("ground", given, GROUNDS)
    if name == "stairs" and len(numbers) == 3:
        steps = numbers[2]
        if steps != int(steps):
            raise PliantError(f"--ground {given}: there are {steps:g} steps; it takes a whole number")
        return contact.stairs(numbers[0], numbers[1], steps=int(steps))
    if name == "slope":
        angle, *direction = (math.radians(x) for x in numbers)
        return contact.slope(angle, direction=direction[0] if direction else 0)
    makers: dict[str, Callable[..., Any]] = {
        "flat": contact.flat,
        "stairs": contact.stairs,
        "waves": contact.waves,
    }
    return makers[name](*numbers) if name in makers else None


def as_contact(given: str, friction: float | None, restitution: float | None) -> Any:
    """A contact model: "rigid", "compliant[=STIFFNESS,DAMPING]", "hunt-crossley=STIFFNESS,DISSIPATION[,EXPONENT]"."""
    from pliant import contact

    name, numbers = _called("contact", given, CONTACTS)
    own: dict[str, Any] = {} if friction is None else {"friction": friction}
    if name == "rigid":
        own |= {} if restitution is None else {"restitution": restitution}
        return contact.RigidContact(**own)
    if restitution:
        raise PliantError(f"--restitution is for --contact rigid; with {name}, damping or dissipation decides")
    if name == "compliant":
        stiffness, damping = (*numbers, *(5e4, 500.0)[len(numbers) :])
        return contact.CompliantContact(contact.SpringDamper(stiffness, damping, **own))
    return contact.CompliantContact(contact.HuntCrossley(*numbers, **own))


def _called(option: str, given: str, valid: Mapping[str, tuple[int, int]]) -> tuple[str, tuple[float, ...]]:
    """The name and the numbers of "name=1,2"."""
    name, sign, rest = (part.strip() for part in given.partition("="))
    if name not in valid:
        raise PliantError(unknown_name(option, name, valid)).within(f"--{option}")
    try:
        numbers = as_numbers(rest) if sign else ()
    except PliantError as error:
        raise PliantError(f"--{option} {given}: {error}") from None
    least, most = valid[name]
    if not least <= len(numbers) <= most:
        takes = f"{least}" if least == most else f"{least} to {most}"
        raise PliantError(f"--{option} {given}: {name} takes {takes} numbers, not {len(numbers)}")
    return name, numbers


# ---- parts


def _pairs(texts: Sequence[str], form: str) -> dict[str, str]:
    """Values by name, each given once."""
    found: dict[str, str] = {}
    for text in texts:
        name, value = _pair(text, form)
        if name in found:
            raise PliantError(f"{name!r} is given twice, {name}={found[name]} and {name}={value}")
        found[name] = value
    return found


def _pair(text: str, form: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (name and sign and value):
        raise PliantError(f"{text!r} is not of the form {form}")
    return name, value


def _number(text: str, whole: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise PliantError(f"{text.strip()!r} in {whole!r} is no number")
    return found


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
