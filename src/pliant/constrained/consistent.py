"""Contact-consistent dynamics: the inverse of J^T that M weighs, and what it splits joint forces into."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.constrained.constraint_rows import bias_rows
from pliant.constrained.constraints import Contacts
from pliant.constrained.contact_space import ContactSpace
from pliant.constrained.semidefinite import TOLERANCE
from pliant.dynamics.composite_inertia import mass_matrix
from pliant.dynamics.functions import robot_function
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot

__all__ = [
    "ConsistentDynamics", "TorqueSplit", "consistent_inverse", "contact_consistent_dynamics", "force_projector",
    "torque_split",
]  # fmt: skip

Scalar = Any


class ConsistentDynamics(NamedTuple):
    """Terms of M vd + bias + curvature = drive, in which no contact force is left.

    Attributes:
        M: mass matrix, nv x nv.
        bias: N h, nv [N m or N].
        curvature: J^T Lambda Jdot v, nv: what bends the motion along the contacts.
        drive: N tau, nv.
        rank: of J.
    """

    M: Any
    bias: Any
    curvature: Any
    drive: Any
    rank: Any


class TorqueSplit(NamedTuple):
    """Joint forces as a sum of two parts, nv each [N m or N].

    Attributes:
        contact: makes contact forces and no motion.
        motion: makes motion and no contact forces.
        f: the contact forces that the first part makes, m.
        rank: of J.
    """

    contact: Any
    motion: Any
    f: Any
    rank: Any


@robot_function
def consistent_inverse(
    robot: Robot, q: Sequence[Scalar], *, contacts: Contacts, axes: str = "world", tolerance: float | None = TOLERANCE
) -> list[list[Scalar]]:
    """The dynamically consistent inverse of J^T: J^T# = Lambda J M^-1, m x nv [Khatib 1987].

    J^T# J^T = 1, if the rows of J are independent. -J^T# tau are the forces with which the contacts answer to joint
    forces tau.

    Args:
        q: configuration, nq [rad or m].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    Lambda, rows = space.response.inverse(), space.inverse_rows()
    columns = list(zip(*rows, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), 0) for column in columns] for row in Lambda]


@robot_function
def force_projector(
    robot: Robot, q: Sequence[Scalar], *, contacts: Contacts, axes: str = "world", tolerance: float | None = TOLERANCE
) -> list[list[Scalar]]:
    """N = 1 - J^T J^T#, nv x nv: takes out of joint forces what makes contact forces.

    N J^T = 0 and N N = N; N is not symmetric, N M is, and N^T is the `impact_map`. It is the same however many
    rows of J depend on others.

    Args:
        q: configuration, nq [rad or m].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    return ContactSpace(robot, q, contacts, axes, tolerance).projector()


@robot_function
def contact_consistent_dynamics(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    tolerance: float | None = TOLERANCE,
) -> ConsistentDynamics:
    """Terms of the dynamics from which the contact forces are eliminated.

    M vd + N h + J^T Lambda Jdot v = N tau, which `constrained_dynamics` solves. N multiplied on from the left leaves
    N (M vd + h) = N tau, which has fewer equations than unknowns.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
        tau: joint forces, nv [N m or N].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    h = newton_euler(robot, q, v, [0] * robot.nv)
    bias = bias_rows(robot, space.held, q, v, -robot.gravity)
    return ConsistentDynamics(
        mass_matrix.algorithm(robot, q),
        space.motion_part(h),
        space.joint_forces(space.response.solve(bias)),
        space.motion_part(tau),
        space.rank,
    )


@robot_function
def torque_split(
    robot: Robot,
    q: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    contacts: Contacts,
    axes: str = "world",
    tolerance: float | None = TOLERANCE,
) -> TorqueSplit:
    """Joint forces as those that the contacts take up and those that move the joints.

    tau = J^T J^T# tau + N tau. The first part changes no acceleration, the second no contact force.

    Args:
        q: configuration, nq [rad or m].
        tau: joint forces, nv [N m or N].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`.
    """
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    taken = space.consistent(tau)
    contact = space.joint_forces(taken)
    motion = [a - b for a, b in zip(tau, contact, strict=True)]
    return TorqueSplit(contact, motion, [-x for x in taken], space.rank)
