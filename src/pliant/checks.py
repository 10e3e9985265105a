"""Checks of what users give: one vocabulary for all layers.

``is_...`` answers, ``check_...`` raises, and the others return the value in the form that the code wants. A check takes
the name of the field, the value and, where there is one, the subject that the field belongs to; the error is of the
kind that the layer raises. Scalars without a number yet (traced, symbols) pass.
"""

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np

from pliant.errors import (
    ContactError, Fault, PliantError, RobotError, SimulationError, TraceError, bad_value, own_place, unknown_name,
)  # fmt: skip
from pliant.scalar import Expr, Scalar, is_constant

Kind = type[PliantError]


# ---- what it is


def is_whole(x: Any) -> bool:
    """Whether it is a whole number, of Python or NumPy."""
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def is_real(x: Any) -> bool:
    """Whether it is a finite real number, of Python or NumPy."""
    return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool) and is_finite(x)


def is_finite(x: Any) -> bool:
    """Whether a real number is finite as a float; whole numbers of Python may be larger than any."""
    try:
        return math.isfinite(x)
    except OverflowError:
        return False


def is_scalar(x: Any) -> bool:
    """Whether it is a real number: plain, traced, or of SymPy."""
    if is_constant(x) or isinstance(x, Expr):
        return True
    is_sympy = hasattr(x, "free_symbols") and not hasattr(x, "shape")
    return is_sympy and getattr(x, "is_extended_real", None) is not False


def is_zero(*numbers: Any) -> bool:
    """Whether all of them are the number 0; symbols are not."""
    return all(is_constant(x) and x == 0 for x in numbers)


def is_sequence(x: Any) -> bool:
    """Whether it has one entry for each of several things; an array without axes is one number."""
    return isinstance(x, tuple | list) or (isinstance(x, np.ndarray) and x.ndim > 0)


def as_scalar(x: Any) -> Any:
    """The number in an array without axes, and fractions as floats; all else as it is."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    if not isinstance(x, Real) or is_constant(x):
        return x
    number: Any = x
    try:
        return float(x)
    except OverflowError:  # a fraction of huge numbers
        return math.inf if number > 0 else -math.inf


def function_name(function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of an object that is called like one."""
    return getattr(function, "__name__", type(function).__name__)


# ---- one value


def check(
    name: str, value: Any, takes: str, is_right: bool, *, subject: str = "", error: Kind = SimulationError
) -> None:
    """Raise unless a value is right; ``takes`` says which values are."""
    if not is_right:
        raise error(bad_value(name, value, takes, subject))


def check_one_of(name: str, value: Any, valid: Sequence[str], *, subject: str = "", error: Kind = PliantError) -> None:
    """Raise unless a value is one of a few names."""
    shown = [repr(entry) for entry in valid]
    takes = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
    check(name, value, takes, isinstance(value, str) and value in valid, subject=subject, error=error)


def check_known(kind: str, name: Any, valid: Collection[str], owner: str = "", *, error: Kind = PliantError) -> None:
    """Raise unless a name is one of those that exist; arguments as for `pliant.errors.unknown_name`."""
    if not isinstance(name, str) or name not in valid:
        raise error(unknown_name(kind, name, valid, owner))


def check_name(name: str, value: Any, *, subject: str = "", error: Kind = RobotError) -> None:
    """Raise unless a value can be a name."""
    check(
        name, value, "a name, a non-empty string", isinstance(value, str) and bool(value), subject=subject, error=error
    )


def check_finite(name: str, *values: Scalar, subject: str = "", error: Kind = RobotError) -> None:
    """Raise if one of the values is NaN, infinite, or no number at all."""
    for x in map(as_scalar, values):
        if not is_scalar(x):
            raise error(bad_value(name, x, "a number", subject))
        # numbers of SymPy have no symbols, and NaN and the infinities say that they are not finite
        is_number = is_constant(x) or not getattr(x, "free_symbols", True)
        if is_number and not (is_finite(x) if is_constant(x) else x.is_finite):
            raise error(bad_value(name, x, "a finite number", subject))


def check_at_least(
    name: str, value: Any, least: float, *, strict: bool = False, subject: str = "", error: Kind = ContactError
) -> None:
    """Raise unless a number is finite and not below ``least``, or above it if ``strict``."""
    check_finite(name, value, subject=subject, error=error)
    if is_constant(value) and (value <= least if strict else value < least):
        takes = f"a number above {float(least):g}" if strict else f"{float(least):g} or more"
        raise error(bad_value(name, value, takes, subject))


def check_share(name: str, value: Any, takes: str, *, subject: str = "", error: Kind = ContactError) -> None:
    """Raise unless a number is None or from 0 up to, but not including, 1."""
    if value is not None:
        check_at_least(name, value, 0, subject=subject, error=error)
        check(name, value, takes, not is_constant(value) or value < 1, subject=subject, error=error)


def check_friction(subject: str, value: Any, *, error: Kind = ContactError) -> None:
    """Raise unless a coefficient of friction is None, or zero and more."""
    if value is not None:
        check_at_least("friction", value, 0, subject=subject, error=error)


def check_restitution(subject: str, value: Any, *, error: Kind = ContactError) -> None:
    """Raise unless a coefficient of restitution is None, or 0 to 1."""
    if value is not None:
        check_at_least("restitution", value, 0, subject=subject, error=error)
        takes = "0 to 1: above 1, an impact would add energy"
        is_right = not is_constant(value) or value <= 1
        check("restitution", value, takes, is_right, subject=subject, error=error)


def check_callable(name: str, function: Any, *arguments: str, error: Kind = SimulationError) -> str:
    """The name of a function that can be called with these arguments; raise if it cannot."""
    shown = ", ".join(arguments)
    check(name, function, f"a function ({shown}) -> u", callable(function), error=error)
    own = function_name(function)
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as wrong:
        subject = f"{name} {own!r}"
        raise error(f"{subject} is called with ({shown}): {wrong}", subject=subject, field=name) from None
    except ValueError:  # some functions of C do not tell their arguments
        pass
    return own


@contextmanager
def users_function(subject: str, field: str, cure: str, *, error: Kind = SimulationError) -> Iterator[None]:
    """Around a call of a user's function with traced scalars: errors name it, with the user's own line.

    Args:
        subject: the function, such as "law of motor 'knee'".
        field: as for an error.
        cure: of what cannot be traced.
        error: what is raised for other errors.
    """
    try:
        yield
    except TraceError as found:
        fault = Fault(f"{subject}: {found.fault}", subject, field, cure)
        raise TraceError(fault, place=found.place or own_place(found)) from found
    except PliantError as found:
        # of our own functions that were called with something wrong
        place = own_place(found)
        raise found if place is None else found.at(*place) from found
    except TypeError as found:
        more = "use the operators of scalars and functions of pliant.math, such as pliant.math.sin, in place of those "
        more += "of math or numpy"
        problem = f"{subject} cannot be traced: {type(found).__name__}: {found}"
        raise TraceError(problem, subject=subject, field=field, cure=more, place=own_place(found)) from found
    except Exception as found:
        problem = f"{subject} raised {type(found).__name__}: {found}"
        raise error(
            problem, subject=subject, field=field, cure="see the error above", place=own_place(found)
        ) from found


# ---- several values


def entries(name: str, values: Any, takes: str = "numbers, in a list or tuple", *, subject: str = "") -> tuple:
    """The entries of a list of numbers; sets and the like have no order."""
    is_one = isinstance(values, np.ndarray) and values.ndim == 0
    if is_one or isinstance(values, str | bytes | Set | Mapping) or not isinstance(values, Iterable):
        raise RobotError(bad_value(name, values, takes, subject))
    return tuple(map(as_scalar, values))


def per_entry(name: str, value: Any, n: int, *, subject: str, least: float = -math.inf) -> tuple[Scalar, ...]:
    """``n`` numbers from one for all or one for each; raises on NaN and on values below ``least``."""
    values = tuple(map(as_scalar, value)) if is_sequence(value) else (as_scalar(value),) * n
    takes = "a number" if n == 1 else f"one number, or a list of {n}"
    if len(values) != n:
        problem = f"{name} of {subject} has {len(values)} entries"
        raise RobotError(problem, subject=subject, field=name, cure=f"it takes {takes}")
    for x in values:
        if not is_scalar(x) or (is_constant(x) and x != x):
            raise RobotError(bad_value(name, x, takes, subject))
        if is_constant(x) and not isinstance(x, float | np.floating) and not is_finite(x):
            raise RobotError(bad_value(name, x, "a number that a float can hold", subject))
        if is_constant(x) and x < least:
            raise RobotError(bad_value(name, x, f"{least:g} or more", subject))
    return values


def check_scalars(name: str, values: Any, *, subject: str = "", error: Kind = RobotError) -> None:
    """Raise unless the entries of nested lists or arrays are scalars; strings are not, though SymPy would read them."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return
    if is_sequence(values):
        for entry in values:
            check_scalars(name, entry, subject=subject, error=error)
    elif not is_scalar(as_scalar(values)):
        raise error(bad_value(name, values, "numbers, SymPy expressions or traced scalars", subject))


def one_for_each(name: str, value: Any, n: int) -> list[Any]:
    """``n`` values of any kind from one for all, or a sequence with one for each."""
    if not is_sequence(value):
        return [as_scalar(value)] * n
    if len(value) != n:
        problem = f"{name}: {len(value)} values were given for {n}"
        raise RobotError(problem, field=name, cure="give one, or one for each")
    return list(map(as_scalar, value))


# ---- arrays


def numbers(name: str, value: Any, dtype: Any = float, *, error: Kind = SimulationError) -> np.ndarray:
    """An array of real numbers."""
    found = _real_array(value)
    if found is None:
        raise error(bad_value(name, value, "an array of numbers"))
    return found.astype(dtype, copy=False)


def row_numbers(value: Any, shape: tuple[int, ...], dtype: Any = float) -> np.ndarray | None:
    """One row for all robots or one for each, as an array of the shape; None if it does not fit.

    One number does not stand for a row of several, which would hide mistakes.
    """
    array = _real_array(value)
    if array is None or (array.shape[-1] if array.ndim else 1) != shape[-1]:
        return None
    array = array.astype(dtype, copy=False)
    if array.shape == shape:
        return array
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        return None


def is_array(value: Any) -> bool:
    """Whether it is an array of real numbers, or something that makes one."""
    return _real_array(value) is not None


def _real_array(value: Any) -> np.ndarray | None:
    """An array of real numbers, also from objects such as fractions; None for anything else, strings included."""
    try:
        array = np.asarray(value)
        if array.dtype == object and all(isinstance(x, Real) for x in array.flat):
            return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array.dtype.kind in "fiub" else None


def finite_rows(name: str, value: Any, shape: tuple[int, ...], columns: Sequence[str]) -> np.ndarray:
    """Rows of finite numbers of a shape, from one row for all robots or one for each; ``columns`` names the entries."""
    array = row_numbers(value, shape)
    if array is None:
        takes = f"{shape[-1:]} or {shape}" if len(shape) > 1 else f"{shape}"
        if not is_array(value):
            raise SimulationError(bad_value(name, value, f"real numbers, {takes}"))
        problem = f"{name} has shape {np.shape(value)}"
        raise SimulationError(problem, subject=name, field="shape", cure=f"it takes {takes}")
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        robot = f" of robot {where[0]}" if array.ndim > 1 else ""
        column = columns[where[-1]]
        cure = "it takes finite numbers"
        raise SimulationError(f"{name} is not finite at {column!r}{robot}", subject=name, field=column, cure=cure)
    return array


def chosen_robots(
    robots: Any,
    batch: int | None,
    *,
    first: int | None = None,
    least: int = 0,
    most: float = math.inf,
    name: str = "robots",
    error: Kind = SimulationError,
) -> np.ndarray:
    """Indices of robots of a batch: ``robots=3`` is robot number 3; several are a list, range, slice or mask.

    Args:
        robots: what the user gives; None for the default.
        batch: size of the batch; None for a single robot, whose number is 0.
        first: how many the default is, from number 0 on; None: all.
        least, most: how many it takes.
        name: of the argument.
    """
    size = 1 if batch is None else batch
    if robots is None:
        return np.arange(size)[:first]
    try:
        given = np.arange(size)[robots] if isinstance(robots, slice) else np.atleast_1d(np.asarray(robots))
    except (TypeError, ValueError, OverflowError, IndexError):  # lists of different lengths, slices of anything
        given = np.empty(0, object)
    if given.dtype == bool and given.shape == (size,):
        given = np.flatnonzero(given)
    is_empty = given.size == 0 and given.dtype != object
    is_index = given.ndim == 1 and (given.dtype.kind in "iu" or is_empty)
    is_inside = is_index and (is_empty or (-size <= given.min() and given.max() < size))
    if not is_inside or not least <= len(given) <= most:
        takes = f"an index from 0 to {size - 1}" if most == 1 else f"indices from 0 to {size - 1} or a mask of {size}"
        raise error(bad_value(name, robots, "0: there is one robot" if batch is None else takes))
    return np.arange(size)[given.astype(int)]
