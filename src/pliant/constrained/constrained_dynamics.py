"""Forward dynamics of a robot whose contacts are held, and the inertia that they feel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.constrained.constraint_rows import bias_rows
from pliant.constrained.constraints import Contacts
from pliant.constrained.contact_space import ContactSpace
from pliant.constrained.semidefinite import TOLERANCE
from pliant.dynamics.functions import robot_function
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot

__all__ = ["ConstrainedDynamics", "constrained_dynamics", "contact_inertia", "contact_rank"]

Scalar = Any


class ConstrainedDynamics(NamedTuple):
    """Motion of a robot whose contacts are held.

    Attributes:
        vd: acceleration, nv.
        f: forces of the world on the robot at the contacts, m, along the rows of `contact_jacobian` [N or N m].
        rank: of J. Where it is less than m, forces are not unique, and these have the least norm.
    """

    vd: Any
    f: Any
    rank: Any


@robot_function
def constrained_dynamics(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    external: Any = None,
    tolerance: float | None = TOLERANCE,
) -> ConstrainedDynamics:
    """Acceleration and contact forces of a robot whose contacts are held at both sides: they may pull.

    The solution of M vd - J^T f = tau - h and J vd = -Jdot v, by elimination,

        f = G^-1 (J M^-1 (h - tau) - Jdot v),   G = J M^-1 J^T,      vd = M^-1 (tau - h + J^T f),

    with M = L^T D L and rows Y = L^-T J^T, so that G = Y D^-1 Y^T (`ContactSpace`). Where rows of J depend on one
    another, vd is still unique and f is the one of least norm, G^+ in place of G^-1; if no vd holds all contacts,
    as where points of one body move apart, J vd + Jdot v is as small as can be.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s]; J v = 0 if the contacts are held already, which is not looked at.
        tau: joint forces, nv [N m or N].
        contacts, axes: as for `contact_jacobian`.
        external: forces on the bodies as for `inverse_dynamics`.
        tolerance: a row depends on others if all but this share of its square, as M^-1 weighs it, is along them; in
            float32, which is too coarse for 1e-10, it is 1e-4. None if it is known that none depends: then nothing is
            looked at, and formulas are short.
    """
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    h = newton_euler(robot, q, v, [0] * robot.nv, external=external)
    free = space.factor.half_solve([t - b for t, b in zip(tau, h, strict=True)])
    bias = bias_rows(robot, space.held, q, v, -robot.gravity)
    f = space.response.solve([-(a + b) for a, b in zip(space.along(free), bias, strict=True)])
    return ConstrainedDynamics(space.factor.velocity(space.pushed(free, f)), f, space.rank)


@robot_function
def contact_inertia(
    robot: Robot, q: Sequence[Scalar], *, contacts: Contacts, axes: str = "world", tolerance: float | None = TOLERANCE
) -> list[list[Scalar]]:
    """The inertia felt at the contacts: Lambda = (J M^-1 J^T)^-1, m x m, symmetric [kg, kg m or kg m^2].

    Where rows of J depend on one another (see `contact_rank`), it is the Moore-Penrose inverse, which gives the
    forces of least norm.

    Args:
        q: configuration, nq [rad or m].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    return ContactSpace(robot, q, contacts, axes, tolerance).response.inverse()


@robot_function
def contact_rank(
    robot: Robot, q: Sequence[Scalar], *, contacts: Contacts, axes: str = "world", tolerance: float = TOLERANCE
) -> Scalar:
    """How many rows of J do not depend on the others; with fewer than all m, contact forces are not unique.

    Args:
        q: configuration, nq [rad or m].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    return ContactSpace(robot, q, contacts, axes, tolerance).rank
