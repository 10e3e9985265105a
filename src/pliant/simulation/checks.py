"""Checks of what a user hands to a simulation; every refusal names the thing and says what it takes."""

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pliant.actuation.forces import ExternalForce
from pliant.errors import SimulationError
from pliant.robot import Planar, Robot

__all__ = [
    "as_forces", "check", "check_callable", "check_contact", "check_flexible", "chosen_robots", "configurations",
    "is_real", "is_whole", "numbers", "row_numbers", "velocities",
]  # fmt: skip

# lengths of quaternions that are off by more are no slips of rounding
_UNIT = 1e-3

# lengths that are off by less stay as they are, so that a configuration read from a simulation can be put back
_ROUNDING = {"float64": 1e-12, "float32": 1e-6}


def check(name: str, value: Any, what: str, is_right: bool) -> None:
    """Raise unless an option is right; ``what`` says which values it takes."""
    if not is_right:
        raise SimulationError(f"{name} is {value!r}; it takes {what}")


def is_whole(x: Any) -> bool:
    """Whether it is a whole number, of Python or NumPy."""
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def is_real(x: Any) -> bool:
    """Whether it is a finite real number, of Python or NumPy."""
    return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool) and math.isfinite(x)


def check_contact(contact: Any) -> None:
    """A contact model has settings; its class has none yet."""
    if isinstance(contact, type):
        raise SimulationError(f"contact is the class {contact.__name__}; make one: {contact.__name__}()")
    check("contact", contact, "a RigidContact or a CompliantContact", hasattr(contact, "tolerance_in"))


def as_forces(forces: Any, robot: Robot) -> tuple[ExternalForce, ...]:
    """The forces on bodies that the robot has."""
    is_several = isinstance(forces, Iterable) and not isinstance(forces, str)
    found: tuple[Any, ...] = tuple(forces) if is_several else (forces,)
    wrong = [f for f in found if not isinstance(f, ExternalForce)]
    if wrong or not is_several:
        shown = wrong[0] if wrong else forces
        raise SimulationError(f"forces has {shown!r}; it takes a list of pliant.ExternalForce")
    for force in found:
        robot.frame(force.body)
    return found


def check_callable(what: str, function: Any, *arguments: str) -> str:
    """A function that can be called with so many arguments; its name."""
    name = getattr(function, "__name__", type(function).__name__)
    shown = ", ".join(arguments)
    if not callable(function):
        raise SimulationError(f"{what} is {function!r}; give a function ({shown}) -> u")
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise SimulationError(f"{what} {name!r} is called with ({shown}): {error}") from None
    except ValueError:  # some functions of C do not tell their arguments
        pass
    return name


# ---- arrays


def numbers(name: str, value: Any, dtype: Any = float) -> np.ndarray:
    """An array of real numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "fiub" or array.dtype == object:
            return array.astype(dtype, copy=False)
    except (TypeError, ValueError):
        pass
    raise SimulationError(f"{name} is {value!r}; it takes an array of numbers")


def row_numbers(value: Any, shape: tuple[int, ...], dtype: Any = float) -> np.ndarray | None:
    """One row for all robots or one for each, as an array of the shape; None if it does not fit.

    One number does not stand for a row of several, which would hide mistakes.
    """
    try:
        array = np.asarray(value, dtype)
        if (array.shape[-1] if array.ndim else 1) != shape[-1]:
            return None
        return np.broadcast_to(array, shape)
    except (TypeError, ValueError):
        return None


def configurations(robot: Robot, q: Any, shape: tuple[int, ...], precision: str) -> np.ndarray:
    """Configurations of the shape (..., nq): finite, with quaternions of unit length."""
    return _unit(robot, _finite("q", q, shape, robot.coordinate_names), _ROUNDING[precision])


def velocities(robot: Robot, v: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Velocities of the shape (..., nv), finite."""
    return _finite("v", v, shape, robot.velocity_names)


def _finite(name: str, value: Any, shape: tuple[int, ...], columns: Sequence[str]) -> np.ndarray:
    array = row_numbers(value, shape)
    if array is None:
        takes = f"{shape[-1:]} or {shape}" if len(shape) > 1 else f"{shape}"
        raise SimulationError(f"{name} has shape {_shape(value)}; it takes {takes}")
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        raise SimulationError(f"{name} is not finite at {columns[where[-1]]!r}{_of_robot(array, where)}")
    return array


def _unit(robot: Robot, q: np.ndarray, rounding: float) -> np.ndarray:
    """Directions of joints brought to unit length: quaternions, and the cosine and sine of planar joints."""
    for link in robot.mechanism.links:
        kind = link.kind
        if kind.nq == kind.nv or link.is_mimic:
            continue
        at = slice(link.q.stop - (2 if isinstance(kind, Planar) else 4), link.q.stop)
        what = "cosine and sine" if isinstance(kind, Planar) else "quaternion"
        length = np.linalg.norm(q[..., at], axis=-1)
        wrong = abs(length - 1) > _UNIT
        if wrong.any():
            where = np.argwhere(wrong)[0] if wrong.ndim else np.array([], int)
            raise SimulationError(
                f"q: the {what} of joint {link.name!r}{_of_robot(q, where)} has the length {length[tuple(where)]:.6g}; "
                "it takes unit length"
            )
        if (abs(length - 1) > rounding).any():
            scale = np.where(abs(length - 1) > rounding, length, 1)
            q = q.copy()
            q[..., at] /= scale[..., None]
    return q


def _of_robot(array: np.ndarray, where: np.ndarray) -> str:
    return f" of robot {where[0]}" if array.ndim > 1 else ""


def _shape(value: Any) -> Any:
    try:
        return np.shape(value)
    except ValueError:  # lists of different lengths
        return "of no array"


def chosen_robots(robots: Any, batch: int) -> np.ndarray:
    """Indices of robots of a batch, from indices, a slice or a mask."""
    takes = f"indices from 0 to {batch - 1} or a mask of {batch}"
    if isinstance(robots, slice):
        return np.arange(batch)[robots]
    try:
        given = np.atleast_1d(np.asarray(robots))
    except ValueError:
        given = np.empty(0, object)
    if given.dtype == bool and given.shape == (batch,):
        return np.flatnonzero(given)
    is_empty = given.size == 0 and given.dtype != object
    is_index = given.ndim == 1 and (given.dtype.kind in "iu" or is_empty)
    if not is_index or (not is_empty and not (-batch <= given.min() and given.max() < batch)):
        raise SimulationError(f"robots is {robots!r}; it takes {takes}")
    return np.arange(batch)[given.astype(int)]


def check_flexible(robot: Robot) -> None:
    """Raise if nothing of the robot gives way."""
    if not robot.flexibilities:
        raise SimulationError(
            f"robot {robot.name!r} has no flexibility to tell of; see robot.with_flexibility and robot.with_backlash"
        )
