"""Vectors, poses and axes with structural zeros and ones: constants that are 0, 1 or -1 but for rounding are integers.

Integers 0 and 1 vanish from formulas and kernels, while cos(pi/2) = 6e-17 would survive everywhere.
Only plain numbers are touched, and none by more than `ROUNDING`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.checks import check_finite, entries
from pliant.errors import RobotError
from pliant.scalar import is_constant, sqrt
from pliant.spatial import (
    AxisRotation,
    Inertia,
    Matrix3,
    MatrixRotation,
    Rotation,
    Symmetric3,
    Transform,
    Vector,
    rotation_from_rpy,
)  # fmt: skip

__all__ = [
    "ROUNDING", "coordinate_axis", "placement", "snapped", "snapped_inertia", "snapped_transform", "turn_of_axis",
    "vector",
]  # fmt: skip

Scalar = Any

ROUNDING = 1e-15


def snapped(x: Scalar, rounding: float = ROUNDING) -> Scalar:
    """``x``, or the integer 0, 1 or -1 that it is but for rounding."""
    if not is_constant(x):
        return x
    return next((n for n in (0, 1, -1) if abs(x - n) <= rounding), x)


def vector(name: str, values: Sequence[Scalar] | np.ndarray, *, subject: str) -> Vector:
    """Three finite numbers as a vector, exact zeros and ones as integers."""
    found = entries(name, values, "three numbers", subject=subject)
    if len(found) != 3:
        problem = f"{name} of {subject} has {len(found)} entries"
        raise RobotError(problem, subject=subject, field=name, cure="it takes three")
    check_finite(name, *found, subject=subject)
    return Vector(*(snapped(x, 0) for x in found))


def placement(
    position: Sequence[Scalar] | np.ndarray, rpy: Sequence[Scalar] | np.ndarray, *, subject: str
) -> Transform:
    """The pose at a position [m] with roll, pitch and yaw [rad]."""
    p, angles = vector("position", position, subject=subject), vector("rpy", rpy, subject=subject)
    if all(is_constant(a) and a == 0 for a in angles):
        return Transform(MatrixRotation.identity(), p)
    return Transform(rotation_from_rpy(*angles), p)


def snapped_transform(X: Transform) -> Transform:
    """The same pose with structural zeros and ones."""
    m = Matrix3(snapped(e) for e in X.R.matrix())
    return Transform(_about_coordinate_axis(m) or MatrixRotation(m), Vector(*(snapped(e) for e in X.p)))


def snapped_inertia(inertia: Inertia) -> Inertia:
    """The same inertia with integers for exact zeros: small inertias are meant."""
    m, h, J = inertia.mass, inertia.h, inertia.J
    return Inertia(snapped(m, 0), Vector(*(snapped(e, 0) for e in h)), Symmetric3(*(snapped(e, 0) for e in J)))


def coordinate_axis(axis: tuple[Scalar, ...]) -> tuple[int, int] | None:
    """(k, sign) if the axis is plus or minus coordinate axis k, else None."""
    if not all(is_constant(a) for a in axis):
        return None
    nonzero = [k for k in range(3) if axis[k] != 0]
    if len(nonzero) != 1 or abs(axis[nonzero[0]]) != 1:
        return None
    return nonzero[0], int(axis[nonzero[0]])


def turn_of_axis(axis: tuple[Scalar, ...]) -> Matrix3:
    """A constant rotation R with R e_z = axis, with as many zeros as the axis allows.

    Its first column is at right angles to the axis and to the coordinate direction least along it.
    """
    a = Vector(*axis)
    least = min(range(3), key=lambda k: abs(axis[k])) if all(is_constant(e) for e in axis) else 0
    first = Vector.unit(least).cross(a)
    first = first * (1 / sqrt(first.dot(first)))
    return Matrix3.from_columns(first, a.cross(first), a)


def _about_coordinate_axis(m: Matrix3) -> Rotation | None:
    """The turn about a coordinate axis that ``m`` is, unless it just swaps axes or is none."""
    e = m.entry
    if not all(is_constant(x) for x in m):
        return None
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        # a cosine of 1 is not enough: an axis tilted by 1e-8 has it too
        beside = (e(k, i), e(k, j), e(i, k), e(j, k))
        alone = type(e(k, k)) is int and e(k, k) == 1 and all(type(x) is int for x in beside)
        is_turn = abs(e(i, i) - e(j, j)) <= ROUNDING and abs(e(i, j) + e(j, i)) <= ROUNDING
        if alone and is_turn and type(e(i, i)) is not int:
            return AxisRotation(k, e(i, i), e(j, i))
    return None
