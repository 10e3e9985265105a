"""Impacts: velocities jump so that the contacts stop, or leave as restitution says; finite forces do not count."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.checks import check_restitution
from pliant.constrained.constrained_dynamics import ContactSpace
from pliant.constrained.constraints import Contacts
from pliant.constrained.semidefinite import TOLERANCE
from pliant.dynamics.functions import robot_function
from pliant.robot import Robot

__all__ = ["Impact", "impact_dynamics", "impact_impulse", "impact_map", "impact_velocity"]

Scalar = Any


class Impact(NamedTuple):
    """The result of an impact.

    Attributes:
        v: velocity after it, nv.
        impulse: of the world on the robot at the contacts, m [N s or N m s].
        loss: kinetic energy that it takes [J].
        rank: of J. Where it is less than m, impulses are not unique, and these have the least norm.
    """

    v: Any
    impulse: Any
    loss: Any
    rank: Any


@robot_function
def impact_dynamics(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    restitution: float = 0,
    tolerance: float | None = TOLERANCE,
) -> Impact:
    """An impact at all contacts at once, with impulses of any sign.

    With u = J v the velocities before, and e the restitution, for J v+ = -e u:

        F = -(1 + e) Lambda u,      v+ = v + M^-1 J^T F,      loss = (1 - e^2)/2 u^T Lambda u,

    which for e = 0 is 1/2 dv^T M dv of the jump dv = v+ - v. For impulses that push only, see `unilateral_impact`.

    Args:
        q: configuration, nq [rad or m].
        v: velocity before, nv [rad/s or m/s].
        contacts, axes: as for `contact_jacobian`.
        restitution: share of the speed that comes back, 0 to 1.
        tolerance: as for `constrained_dynamics`.
    """
    check_restitution("an impact", restitution)
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    w = space.factor.coordinates(v)
    u = space.along(w)
    stopping = space.response.solve([-x for x in u])
    impulse = [(1 + restitution) * p for p in stopping]
    taken = -sum((a * b for a, b in zip(u, stopping, strict=True)), 0)
    loss = (1 - restitution * restitution) * taken / 2
    return Impact(space.factor.velocity(space.pushed(w, impulse)), impulse, loss, space.rank)


@robot_function
def impact_velocity(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    restitution: float = 0,
    tolerance: float | None = TOLERANCE,
) -> list[Scalar]:
    """The velocity after an impact, v+ = N_vel v, nv; see `impact_dynamics`."""
    options = {"contacts": contacts, "axes": axes, "restitution": restitution, "tolerance": tolerance}
    return impact_dynamics.algorithm(robot, q, v, **options).v


@robot_function
def impact_impulse(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    restitution: float = 0,
    tolerance: float | None = TOLERANCE,
) -> list[Scalar]:
    """The impulses of an impact, F = -Lambda J v, m [N s or N m s]; see `impact_dynamics`."""
    options = {"contacts": contacts, "axes": axes, "restitution": restitution, "tolerance": tolerance}
    return impact_dynamics.algorithm(robot, q, v, **options).impulse


@robot_function
def impact_map(
    robot: Robot, q: Sequence[Scalar], *, contacts: Contacts, axes: str = "world", tolerance: float | None = TOLERANCE
) -> list[list[Scalar]]:
    """N_vel = 1 - M^-1 J^T Lambda J, nv x nv: velocities after an impact without restitution, v+ = N_vel v.

    It is the transpose of `force_projector`; J N_vel = 0.

    Args:
        q: configuration, nq [rad or m].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    N = ContactSpace(robot, q, contacts, axes, tolerance).projector()
    return [list(column) for column in zip(*N, strict=True)]
