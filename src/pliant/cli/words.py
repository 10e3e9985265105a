"""Values of settings, from words of the command line or from TOML: text, numbers, rows, springs, pushes.

A reader takes the name of the setting as the user wrote it ("--time" or "time") and the value, and returns the value in
the form that the program uses; a value that it does not take raises `PliantError` with that name as its field.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pliant.errors import PliantError, bad_value

__all__ = ["Push", "Reader", "flag", "number", "numbers", "one_of", "pushes", "row", "springs", "text", "whole"]

Reader = Callable[[str, Any], Any]

_NUMBERS = "numbers, separated by commas"
_ROW = "all numbers in order, as 0,0.5,1, or some by name, as knee=0.5"
_SPRING = "JOINT=STIFFNESS[,DAMPING[,INERTIA]], as knee=1e4,10"
_PUSH = "BODY=FX,FY,FZ[@START[:END]], as base=100,0,0@1:1.2"


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


# ---- one value


def text(name: str, value: Any) -> str:
    """Some text."""
    return _checked(name, value, "text", isinstance(value, str) and bool(value.strip()))


def flag(name: str, value: Any) -> bool:
    """True or false."""
    return _checked(name, value, "true or false", isinstance(value, bool))


def whole(least: int) -> Reader:
    """A whole number that is not below ``least``."""

    def read(name: str, value: Any) -> int:
        is_right = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return _checked(name, value, f"a whole number, {least} or more", is_right)

    return read


def number(least: float, *, is_above: bool = False) -> Reader:
    """A number that is not below ``least``, or above it."""
    takes = f"a number above {least:g}" if is_above else f"a number, {least:g} or more"

    def read(name: str, value: Any) -> float:
        is_right = _is_number(value) and (value > least if is_above else value >= least)
        return float(_checked(name, value, takes, is_right))

    return read


def one_of(*valid: str) -> Reader:
    """One of a few names."""

    def read(name: str, value: Any) -> str:
        from pliant.checks import check_one_of  # needs NumPy, which help does without

        check_one_of(name, value, valid)
        return value

    return read


# ---- several


def numbers(name: str, value: Any) -> tuple[float, ...]:
    """Numbers: a list of them, one, or text with commas."""
    if isinstance(value, str):
        return tuple(_number(name, value, part, _NUMBERS) for part in value.split(","))
    several = value if isinstance(value, Sequence) else [value]
    return tuple(float(x) for x in _checked(name, several, _NUMBERS, all(_is_number(x) for x in several)))


def row(name: str, value: Any) -> tuple[float, ...] | dict[str, float]:
    """Entries of q or v: all in order, or a mapping of some by name.

    Args:
        name: of the setting.
        value: "0,0.5,1"; "knee=0.5" or several of that form; or a list or table of TOML.
    """
    if isinstance(value, Mapping):
        _checked(name, dict(value), "a number for each name", all(_is_number(x) for x in value.values()))
        return {str(key): float(x) for key, x in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str) and all(_is_number(x) for x in value):
        return numbers(name, value)
    parts = [part for word in _texts(name, value, _ROW) for part in word.split(",")]
    if not any("=" in part for part in parts):
        return tuple(_number(name, ",".join(parts), part, _ROW) for part in parts)
    return {key: _number(name, f"{key}={x}", x, _ROW) for key, x in _pairs(name, parts, _ROW).items()}


def springs(name: str, value: Any) -> dict[str, tuple[float, ...]]:
    """Stiffness of flexible joints by name, and damping and the motor's inertia if they are given.

    Args:
        name: of the setting.
        value: "knee=1e4,10" or several of that form, or a table of TOML: {knee = [1e4, 10]}.
    """
    pairs = value if isinstance(value, Mapping) else _pairs(name, _texts(name, value, _SPRING), _SPRING)
    found = {str(joint): numbers(f"{name} of {joint!r}", given) for joint, given in pairs.items()}
    for joint, given in found.items():
        _checked(f"{name} of {joint!r}", given, "one to three numbers: " + _SPRING, 1 <= len(given) <= 3)
    return found


def pushes(name: str, value: Any) -> tuple[Push, ...]:
    """Forces on bodies: "base=100,0,0@1:1.2" or several of that form."""
    return tuple(_push(name, word) for word in _texts(name, value, _PUSH))


def _push(name: str, word: str) -> Push:
    body, rest = _pair(name, word, _PUSH)
    given, at, span = rest.partition("@")
    force = tuple(_number(name, word, part, _PUSH) for part in given.split(","))
    first, colon, last = span.partition(":")
    start = _number(name, word, first, _PUSH) if at else 0.0
    end = _number(name, word, last, _PUSH) if colon else math.inf
    _checked(name, word, f"three numbers for a force: {_PUSH}", len(force) == 3)
    _checked(name, word, f"an end after the start: {_PUSH}", end > start)
    return Push(body, force, start, end)


# ---- parts


def _checked(name: str, value: Any, takes: str, is_right: bool) -> Any:
    if not is_right:
        raise PliantError(bad_value(name, value, takes))
    return value


def _texts(name: str, value: Any, takes: str) -> list[str]:
    """One text or several."""
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else []
    return _checked(name, found or value, takes, bool(found) and all(isinstance(x, str) for x in found))


def _pairs(name: str, words: Sequence[str], takes: str) -> dict[str, str]:
    """Values by name, each given once."""
    found: dict[str, str] = {}
    for word in words:
        key, value = _pair(name, word, takes)
        if key in found:
            problem = f"{name} has {key!r} twice, {key}={found[key]} and {key}={value}"
            raise PliantError(problem, field=name, cure="leave one out")
        found[key] = value
    return found


def _pair(name: str, word: str, takes: str) -> tuple[str, str]:
    key, sign, value = (part.strip() for part in word.partition("="))
    _checked(name, word, takes, bool(key and sign and value))
    return key, value


def _number(name: str, whole: str, part: str, takes: str) -> float:
    """The number in a part of a text."""
    try:
        found = float(part)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        problem = f"{name} is {whole!r}, where {part.strip()!r} is not a number"
        raise PliantError(problem, field=name, cure=f"it takes {takes}")
    return found


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
