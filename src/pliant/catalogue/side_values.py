"""What the value of a key in a side file may be: numbers, strings, booleans and lists of them, nothing that runs."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

__all__ = [
    "BASE", "BOUND", "CONTROL", "FLAG", "GRAVITY", "LIMITS", "NAME", "NAMES", "NUMBER", "NUMBERS", "PATH", "POINTS",
    "TRIPLE", "Kind", "plain",
]  # fmt: skip

# up to here whole numbers are exact as floats
_EXACT = 2**53


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes:
        wanted: what it is, for messages.
        example: one, as TOML writes it.
        holds: whether a value is of this kind.
    """

    wanted: str
    example: str
    holds: Callable[[Any], bool]

    def like(self, example: str) -> "Kind":
        """The same kind with another example, for a key of another meaning."""
        return replace(self, example=example)

    def fault(self, key: str, value: Any) -> str | None:
        """What is wrong with the value of a key, and how it should look; None if nothing is."""
        if self.holds(value):
            return None
        return f"{key} is {_shown(value)}; give {self.wanted}, as in {key} = {self.example}"


def plain(value: Any) -> Any:
    """A value as the methods of `Robot` take it: tuples for lists, floats for whole numbers that are very large."""
    if isinstance(value, list):
        return tuple(plain(entry) for entry in value)
    return float(value) if _is_number(value) and isinstance(value, int) and abs(value) > _EXACT else value


def _is_number(value: Any) -> bool:
    """A finite number; a boolean is none, though Python's is an int."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


def _is_bound(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, float) and math.isinf(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(of(entry) for entry in value)


def _is_triple(value: Any) -> bool:
    return _is_list(value, _is_number) and len(value) == 3


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_bound(x) or _is_list(x, _is_bound) for x in value)


NUMBER = Kind("a finite number", "0.1", _is_number)
BOUND = Kind("a number, or inf for none", "40", _is_bound)
FLAG = Kind("true or false", "true", lambda value: isinstance(value, bool))
NAME = Kind("a name in quotes", '"knee"', _is_text)
PATH = Kind("a robot file beside this one or the name of a shipped robot, in quotes", '"leg.urdf"', _is_text)
CONTROL = Kind("a name in quotes", '"position"', _is_text)
NAMES = Kind("a list of names", '["ankle", "heel"]', lambda value: _is_list(value, _is_text))
TRIPLE = Kind("three finite numbers", "[0, 0, 1]", _is_triple)
NUMBERS = Kind("a finite number, or a list of them", "10", lambda v: _is_number(v) or _is_list(v, _is_number))
BASE = NAME.like('"free"')
GRAVITY = TRIPLE.like("[0, 0, -9.81]")
LIMITS = Kind("the lower and the upper limit, inf for none", "[-1.5, 1.5]", _is_pair)
POINTS = Kind("a list of points", "[[0, 0, 0], [0.1, 0, 0]]", lambda value: _is_list(value, _is_triple))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > _EXACT:
        return "a very large number"  # Python may refuse to print it
    if isinstance(value, str | int | float):
        text = repr(value)
    elif isinstance(value, list):
        text = "[" + ", ".join(_shown(entry) for entry in value[:7]) + (", ...]" if len(value) > 7 else "]")
    else:
        text = f"{value}, a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
