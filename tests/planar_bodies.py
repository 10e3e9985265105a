"""Planar mechanisms in maximal coordinates, solved by SciPy: an independent reference for robots with loops.

A body has the place of its centre of mass (x, z) and the angle a by which it is turned about y, so that its own x axis
is (cos a, -sin a). Joints are constraints of acceleration; at these tolerances they drift by less than 1e-11 in 1 s.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


@dataclass(frozen=True)
class Rod:
    """A body: mass [kg], inertia about its centre of mass [kg m^2]."""

    mass: float
    inertia: float


@dataclass(frozen=True)
class Row:
    """A constraint: a coordinate of a point of a body, less that of another, plus k times its angle, is constant.

    Attributes:
        axis: 0 for x, 1 for z.
        body, point: the body and the point in its axes, from its centre of mass.
        other, other_point: None for the world.
        k: of the angle of the body.
        lever: whether the point counts; without it the row is of the angle alone.
    """

    axis: int
    body: int
    point: tuple[float, float] = (0, 0)
    other: int | None = None
    other_point: tuple[float, float] = (0, 0)
    k: float = 0
    lever: bool = True


def pin(body: int, point: tuple[float, float], other: int | None = None, other_point=(0.0, 0.0)) -> list[Row]:
    """Two points that stay together; of one body, at its place in the world."""
    return [Row(axis, body, point, other, other_point) for axis in (0, 1)]


def offset(a: float, point: Sequence[float]) -> np.ndarray:
    """A point of a body from its centre of mass, in the world's axes (x, z)."""
    c, s = np.cos(a), np.sin(a)
    return np.array([c * point[0] + s * point[1], -s * point[0] + c * point[1]])


def solution(rods: Sequence[Rod], rows: Sequence[Row], y: np.ndarray, v: np.ndarray, end: float) -> tuple:
    """(x, z, a) of each body and their rates at the end, from those at the start."""
    n = len(rods)
    M = np.diag([m for rod in rods for m in (rod.mass, rod.mass, rod.inertia)])
    f = np.array([m for rod in rods for m in (0, -rod.mass * G, 0)])

    def rate(t, state):
        y, v = state[: 3 * n], state[3 * n :]
        J, c = np.zeros((len(rows), 3 * n)), np.zeros(len(rows))
        for r, row in enumerate(rows):
            for body, point, sign in ((row.body, row.point, 1), (row.other, row.other_point, -1)):
                if body is None or not row.lever:
                    continue
                x, z = offset(y[3 * body + 2], point)
                # d/da (c x + s z, -s x + c z) = (z, -x) of the turned point, and its second derivative is minus it
                J[r, 3 * body + row.axis] += sign
                J[r, 3 * body + 2] += sign * (z, -x)[row.axis]
                c[r] -= sign * (x, z)[row.axis] * v[3 * body + 2] ** 2
            J[r, 3 * row.body + 2] += row.k
        system = np.block([[M, -J.T], [J, np.zeros((len(rows), len(rows)))]])
        vd = np.linalg.solve(system, np.concatenate([f, -c]))[: 3 * n]
        return np.concatenate([v, vd])

    found = solve_ivp(rate, (0, end), np.concatenate([y, v]), method="DOP853", rtol=1e-12, atol=1e-13)
    return found.y[: 3 * n, -1], found.y[3 * n :, -1]
