"""Checks of the numbers of grounds and contact laws; scalars that are no numbers yet pass."""

import math
from collections.abc import Callable
from typing import Any

from pliant.errors import ContactError
from pliant.scalar import is_constant

__all__ = ["check_at_least", "check_finite", "check_friction", "check_restitution", "check_tolerance", "function_name"]


def check_finite(owner: str, name: str, value: Any) -> None:
    """A number must be neither NaN nor infinite; what is no scalar at all is refused, too."""
    if is_constant(value):
        if not math.isfinite(value):
            raise ContactError(f"{owner}: {name} is {value}; it must be finite")
    elif value is None or isinstance(value, str | bytes | list | tuple | dict | set):
        raise ContactError(f"{owner}: {name} is {value!r} of type {type(value).__name__}; it takes one scalar")


def check_at_least(owner: str, name: str, value: Any, least: float, *, strict: bool = False) -> None:
    """A number must be finite and not below ``least``, or above it if ``strict``."""
    check_finite(owner, name, value)
    if is_constant(value) and (value <= least if strict else value < least):
        bound = f"greater than {least}" if strict else f"{least} or more"
        raise ContactError(f"{owner}: {name} is {value}; it must be {bound}")


def check_friction(owner: str, value: Any) -> None:
    """A coefficient of friction: None, or zero and more."""
    if value is not None:
        check_at_least(owner, "friction", value, 0)


def check_restitution(owner: str, value: Any) -> None:
    """A coefficient of restitution: None, or 0 to 1."""
    if value is None:
        return
    check_at_least(owner, "restitution", value, 0)
    if is_constant(value) and value > 1:
        raise ContactError(f"{owner}: restitution is {value}; above 1, an impact would add energy")


def check_tolerance(owner: str, value: Any) -> None:
    """A share of squares: None, or 0 and more, but below 1."""
    if value is None:
        return
    check_at_least(owner, "tolerance", value, 0)
    if is_constant(value) and value >= 1:
        raise ContactError(f"{owner}: tolerance is {value}; it is a share, below 1")


def function_name(function: Callable[..., Any]) -> str:
    """What a function, or an object that is called like one, is called."""
    return getattr(function, "__name__", type(function).__name__)
