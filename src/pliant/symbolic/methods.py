"""Three ways to the equations of motion M vd + b + g = Q. They share no step, and must agree.

- "newton-euler": the recursive algorithm, run on symbols. tau = M vd + b + g is what it returns, so g is what it
  returns at rest, b what is left without gravity, and column j of M what the acceleration 1 of dof j takes.
- "projected": Newton's and Euler's equations of each body, projected by its Jacobians.
- "lagrange": d/dt dT/dv - dT/dq + dU/dq, by derivatives of the energies.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pliant.dynamics import (
    coriolis_matrix,
    inverse_dynamics,
    kinetic_energy,
    potential_energy,
    projected_newton_euler,
)  # fmt: skip
from pliant.errors import PliantError
from pliant.robot import Robot
from pliant.scalar import as_sympy

__all__ = ["METHODS", "Terms", "check_minimal_coordinates", "christoffel", "coriolis", "has_minimal_coordinates"]

Scalar = Any


class Terms(NamedTuple):
    """The left side of the equations of motion.

    Attributes:
        M: mass matrix.
        b: Coriolis and centrifugal forces.
        g: gravity forces.
    """

    M: Sequence[Sequence[Scalar]]
    b: Sequence[Scalar]
    g: Sequence[Scalar]


def _newton_euler(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Terms:
    nv = robot.nv
    rest = [0] * nv
    floating = robot.with_gravity(0, 0, 0)
    units = [[int(i == j) for i in range(nv)] for j in range(nv)]
    columns = [inverse_dynamics.algorithm(floating, q, rest, unit) for unit in units]
    return Terms(
        # M is symmetric, and the lower triangle is shorter: what is nearer to the world moves less
        [[columns[min(i, j)][max(i, j)] for j in range(nv)] for i in range(nv)],
        inverse_dynamics.algorithm(floating, q, v, rest),
        inverse_dynamics.algorithm(robot, q, rest, rest),
    )


def _projected(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Terms:
    return Terms(*projected_newton_euler.algorithm(robot, q, v))


def _lagrange(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Terms:
    """M = d2T/dv2 and, with M' v = sum_k dM/dq_k v_k v, b = M' v - dT/dq and g = dU/dq."""
    import sympy

    check_minimal_coordinates(robot)
    T = as_sympy(kinetic_energy.algorithm(robot, q, v))
    U = as_sympy(potential_energy.algorithm(robot, q))
    momenta = [sympy.diff(T, rate) for rate in v]
    # d/dt dT/dv = M vd + sum_k d(dT/dv)/dq_k v_k
    drift = [sympy.Add(*(sympy.diff(p, x) * rate for x, rate in zip(q, v, strict=True))) for p in momenta]
    return Terms(
        [[sympy.diff(p, rate) for rate in v] for p in momenta],
        [d - sympy.diff(T, x) for d, x in zip(drift, q, strict=True)],
        [sympy.diff(U, x) for x in q],
    )


METHODS: dict[str, Callable[[Robot, Sequence[Scalar], Sequence[Scalar]], Terms]] = {
    "newton-euler": _newton_euler,
    "projected": _projected,
    "lagrange": _lagrange,
}


def christoffel(M: Any, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_kj/dq_i) v_k, with the rates v of the coordinates q."""
    import sympy

    n = len(q)
    dM = [[[sympy.diff(M[i, j], x) for x in q] for j in range(n)] for i in range(n)]

    def entry(i: int, j: int) -> Scalar:
        return sympy.Add(*((dM[i][j][k] + dM[i][k][j] - dM[k][j][i]) * v[k] for k in range(n))) / 2

    return [[entry(i, j) for j in range(n)] for i in range(n)]


def coriolis(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """The Coriolis matrix without derivatives, for any coordinates."""
    return coriolis_matrix.algorithm(robot, q, v)


def _several_coordinates(robot: Robot) -> list[str]:
    """The joints that have more coordinates than dofs: those with quaternions, or a cosine and a sine."""
    return [j.name for j in robot.joints.values() if j.kind.nq != j.kind.nv]


def has_minimal_coordinates(robot: Robot) -> bool:
    """Whether the velocities are the rates of the coordinates."""
    return not _several_coordinates(robot)


def check_minimal_coordinates(robot: Robot) -> None:
    """Raise if the velocities are not the rates of the coordinates, as Lagrange's equations need."""
    joints = _several_coordinates(robot)
    if joints:
        kinds = ", ".join(f"{name!r} ({robot.joints[name].kind.name})" for name in joints)
        raise PliantError(
            f"method 'lagrange' takes coordinates whose rates are the velocities; {robot.name!r} has joints with more "
            f"coordinates than that: {kinds}. Use rotations='euler', which makes them single joints, or another method"
        )
