"""Values as users give them: what is a number, what is several, what is a name."""

import math
from collections.abc import Iterable, Mapping, Set
from numbers import Real
from typing import Any

import numpy as np

from pliant.errors import RobotError
from pliant.robot.joints import Scalars
from pliant.robot.structure import snapped
from pliant.scalar import Expr, is_constant
from pliant.spatial import MatrixRotation, Transform, Vector, rotation_from_rpy

__all__ = [
    "as_scalar", "check_finite", "check_name", "entries", "is_scalar", "is_sequence", "one_for_each", "per_entry",
    "placement", "vector",
]  # fmt: skip

Scalar = Any


def as_scalar(x: Any) -> Any:
    """The number in an array without axes, and fractions as floats; all else as it is."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    return float(x) if isinstance(x, Real) and not is_constant(x) else x


def is_scalar(x: Any) -> bool:
    """Whether it is a real number: plain, traced, or of SymPy."""
    if is_constant(x) or isinstance(x, Expr):
        return True
    is_sympy = hasattr(x, "free_symbols") and not hasattr(x, "shape")
    return is_sympy and getattr(x, "is_extended_real", None) is not False


def is_sequence(x: Any) -> bool:
    """Whether it has one entry for each of several things; an array without axes is one number."""
    return isinstance(x, tuple | list) or (isinstance(x, np.ndarray) and x.ndim > 0)


def check_name(what: str, name: Any) -> None:
    """Raise if a name is no text, or has no letters."""
    if not isinstance(name, str) or not name:
        raise RobotError(f"{what} is {name!r}, which is no name; give a string of some letters")


def check_finite(subject: str, *numbers: Scalar) -> None:
    """Raise if one of the numbers is NaN, infinite, or no number at all."""
    for x in map(as_scalar, numbers):
        if not is_scalar(x):
            raise RobotError(f"{subject} has the value {x!r}, which is not a number; give it one")
        # numbers of SymPy have no symbols, and NaN and the infinities say that they are not finite
        is_number = is_constant(x) or not getattr(x, "free_symbols", True)
        if is_number and not (math.isfinite(x) if is_constant(x) else x.is_finite):
            raise RobotError(f"{subject} has the value {x}; give it a finite number")


def entries(what: str, values: Any, wanted: str = "numbers, in a list or tuple") -> tuple[Scalar, ...]:
    """What is in a list of numbers; sets and the like have no order."""
    is_one = isinstance(values, np.ndarray) and values.ndim == 0
    if is_one or isinstance(values, str | bytes | Set | Mapping) or not isinstance(values, Iterable):
        raise RobotError(f"{what} is {values!r}; give {wanted}")
    return tuple(map(as_scalar, values))


def vector(subject: str, what: str, values: Scalars) -> Vector:
    """Three finite numbers as a vector, exact zeros and ones as integers."""
    found = entries(f"{what} of {subject}", values, "three numbers")
    if len(found) != 3:
        raise RobotError(f"{what} of {subject} has {len(found)} entries; it takes three")
    check_finite(f"{what} of {subject}", *found)
    return Vector(*(snapped(x, 0) for x in found))


def placement(subject: str, position: Scalars, rpy: Scalars) -> Transform:
    """The pose at a position [m] with roll, pitch and yaw [rad]."""
    p, angles = vector(subject, "position", position), vector(subject, "rpy", rpy)
    if all(is_constant(a) and a == 0 for a in angles):
        return Transform(MatrixRotation.identity(), p)
    return Transform(rotation_from_rpy(*angles), p)


def per_entry(subject: str, what: str, value: Any, n: int, least: float = -math.inf) -> tuple[Scalar, ...]:
    """``n`` numbers from one for all or one for each; NaN or below ``least`` is an error."""
    values = tuple(map(as_scalar, value)) if is_sequence(value) else (as_scalar(value),) * n
    if len(values) != n:
        cure = f"give one number, or {n}"
        raise RobotError(f"{what} of {subject} has {len(values)} entries", subject=subject, field=what, cure=cure)
    for x in values:
        if not is_scalar(x):
            cure = "give one" if n == 1 else f"give one number, or a list of {n}"
            raise RobotError(f"{what} of {subject} has the value {x!r}, which is not a number; {cure}")
        if is_constant(x) and not x >= least:
            cure = f"it must be at least {least:g}" if x == x else "give it a number"
            raise RobotError(f"{what} of {subject} is {x}", subject=subject, field=what, cure=cure)
    return values


def one_for_each(what: str, value: Any, n: int) -> list[Any]:
    """``n`` values of any kind from one for all, or a sequence with one for each."""
    if not is_sequence(value):
        return [as_scalar(value)] * n
    if len(value) != n:
        raise RobotError(f"{what}: {len(value)} values were given for {n}; give one, or one for each")
    return list(map(as_scalar, value))
