"""Torques for a motion that contacts support: inverse dynamics with contact forces, least torques of all."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.constrained.constraints import Contacts, no_contacts
from pliant.constrained.orthogonal import HeldSpace
from pliant.constrained.semidefinite import TOLERANCE, SemidefiniteFactor
from pliant.dynamics.functions import robot_function
from pliant.dynamics.newton_euler import newton_euler
from pliant.errors import ContactError
from pliant.robot import Robot
from pliant.scalar import abs, maximum, select

__all__ = ["SupportTorques", "contact_inverse_dynamics", "static_torques"]

Scalar = Any

# what is left of forces, next to the largest of them, if all are balanced
_BALANCED = 1e-7


class SupportTorques(NamedTuple):
    """Torques and contact forces for a motion.

    Attributes:
        tau: joint forces, nv, zero where no motor acts [N m or N]; of those that do, the least in norm.
        f: forces at the contacts, m [N or N m]; of those that go with tau, the least in norm. They may pull.
        residual: the largest entry of M vd + h - tau - J^T f, which is zero if the motion is possible [N m or N].
        is_possible: 1 if the residual is nothing but rounding, else 0: then tau and f come as near as they can.
        rank: of J.
    """

    tau: Any
    f: Any
    residual: Any
    is_possible: Any
    rank: Any


@robot_function
def contact_inverse_dynamics(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vd: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    actuated: tuple[str, ...] | None = None,
    tolerance: float | None = TOLERANCE,
) -> SupportTorques:
    """Least torques, with contact forces, that make the robot accelerate with ``vd``.

    M vd + h = S^T u + J^T f. With P = 1 - J^+ J, contact forces drop out and P S^T u = P (M vd + h), whose solution of
    least norm is u = (P S^T)^+ (M vd + h) [Righetti et al. 2011]; what is left of M vd + h is the contacts' to
    bear, f = (J^T)^+ (M vd + h - S^T u). (P S^T)^+ = K^+ S P, with K = S P S^T.

    Whether vd keeps the contacts where they are is not looked at: J vd + Jdot v = 0 if it does.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
        vd: acceleration, nv.
        contacts, axes: as for `contact_jacobian`.
        actuated: names of the joints that motors drive; None for those that have one.
        tolerance: as for `orthogonal_projector`.
    """
    if not contacts:
        raise no_contacts(robot, "inverse_dynamics")
    wanted = newton_euler(robot, q, v, vd)
    return _supported(robot, q, wanted, contacts, axes, actuated, tolerance)


@robot_function
def static_torques(
    robot: Robot,
    q: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    actuated: tuple[str, ...] | None = None,
    tolerance: float | None = TOLERANCE,
) -> SupportTorques:
    """Least torques, with contact forces, that hold the robot at rest against gravity: S^T u + J^T f = g(q).

    Args:
        q: configuration, nq [rad or m].
        contacts, axes, actuated, tolerance: as for `contact_inverse_dynamics`.
    """
    if not contacts:
        raise no_contacts(robot, "gravity_forces")
    zero = [0] * robot.nv
    return _supported(robot, q, newton_euler(robot, q, zero, zero), contacts, axes, actuated, tolerance)


def _supported(
    robot: Robot, q, wanted: list[Scalar], contacts: Contacts, axes: str, actuated, tolerance: float | None
) -> SupportTorques:
    space = HeldSpace(robot, q, contacts, axes, tolerance)
    driven = _driven_dofs(robot, actuated)
    P = space.projector()
    # P is at most 1: what counts is how much of a dof the contacts leave free, not how small that is
    K = SemidefiniteFactor([[P[r][c] for c in driven] for r in driven], TOLERANCE, least=[1] * len(driven))
    free = space.free(wanted)
    u = dict(zip(driven, K.solve([free[d] for d in driven]), strict=True))
    tau = [u.get(d, 0) for d in range(robot.nv)]
    left = [a - b for a, b in zip(wanted, tau, strict=True)]
    residual = _largest(space.free(left))
    is_possible = select(residual <= _BALANCED * _largest(wanted), 1, 0)
    return SupportTorques(tau, space.forces(left), residual, is_possible, space.gram.rank)


def _driven_dofs(robot: Robot, actuated: tuple[str, ...] | None) -> list[int]:
    names = tuple(m.joint for m in robot.motors.values()) if actuated is None else actuated
    if not names:
        raise ContactError(
            f"robot {robot.name!r} has no motors; say which joints are driven, actuated=('hip', 'knee'), or give it "
            "some, robot.with_motors()"
        )
    slices = [robot.v_slice(robot.joints[name].name) for name in names]
    return sorted({d for s in slices for d in range(s.start, s.stop)})


def _largest(values: Sequence[Scalar]) -> Scalar:
    found: Scalar = 0
    for x in values:
        found = maximum(found, abs(x))
    return found
