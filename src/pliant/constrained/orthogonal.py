"""The orthogonal projector onto the velocities that contacts leave free: Aghili's dynamics, and least torques.

It needs no M, but it knows no units: with joints that slide and joints that turn, P depends on whether lengths are in
metres. The acceleration does not.
"""

from typing import Any, NamedTuple

from pliant.constrained.constraints import Contacts, bias_rows, held_constraints, jacobian_rows, no_contacts
from pliant.constrained.row_space import NOTHING, Row, combined, product
from pliant.constrained.semidefinite import TOLERANCE, PlainFactor, SemidefiniteFactor, Tolerance
from pliant.dynamics.functions import robot_function
from pliant.dynamics.joint_space_inertia import mass_matrix
from pliant.dynamics.newton_euler import newton_euler
from pliant.errors import ContactError
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, select
from pliant.scalar.functions import largest

Matrix = list[list[Scalar]]

# residual of forces, next to the largest of them, if all are balanced
_BALANCED = 1e-7


class HeldSpace:
    """The velocities that contacts hold, the range of J^T, as vectors orthogonal to one another.

    Attributes:
        J: rows by dof.
        gram: factor of J J^T.
        basis: rows of J made orthogonal; 1 - P = basis^T D^-1 basis.
    """

    def __init__(self, robot: Robot, q: Scalars, contacts: Contacts, axes: str, tolerance: float | None):
        self.nv = robot.nv
        self.held = held_constraints(robot, q, contacts, axes)
        self.J: list[Row] = jacobian_rows(self.held)
        A = [[product(self.J[r], self.J[c]) for c in range(r + 1)] for r in range(len(self.J))]
        moving = set().union(*self.J)
        self.gram = SemidefiniteFactor(A, tolerance, least=[NOTHING] * len(A), most=len(moving))
        (self.basis,) = self.gram.independent([[row.get(d, 0) for d in range(self.nv)] for row in self.J])

    def shares(self, x: Scalars) -> list[Scalar]:
        """D^-1 basis x."""
        products = [sum((a * b for a, b in zip(row, x, strict=True)), 0) for row in self.basis]
        return [a * b for a, b in zip(self.gram.D_inverse, products, strict=True)]

    def free(self, x: Scalars) -> list[Scalar]:
        """P x."""
        out = list(x)
        for row, share in zip(self.basis, self.shares(x), strict=True):
            out = [a - share * b for a, b in zip(out, row, strict=True)]
        return out

    def forces(self, force: Scalars) -> list[Scalar]:
        """(J^T)^+ force: the contact forces nearest to joint forces, the least of them."""
        return self.gram.solve([sum((entry * force[d] for d, entry in row.items()), 0) for row in self.J])

    def projector(self) -> Matrix:
        """P."""
        units = [[1 if r == c else 0 for c in range(self.nv)] for r in range(self.nv)]
        return _symmetric([self.free(unit) for unit in units])


@robot_function
def orthogonal_projector(
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> Matrix:
    """P = 1 - J^+ J, nv x nv: onto the velocities that move no contact.

    J P = 0, P J^T = 0, P P = P = P^T; its trace is nv less the rank of J.

    Args:
        q: configuration, nq [rad or m].
        contacts, axes: as for `contact_jacobian`.
        tolerance: as for `constrained_dynamics`, with squares as they are.
    """
    return HeldSpace(robot, q, contacts, axes, tolerance).projector()


@robot_function
def constraint_inertia(
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> Matrix:
    """M_c = P M + 1 - P, nv x nv, which can be inverted, though P M cannot [Aghili 2005].

    Arguments are as for `orthogonal_projector`.
    """
    space = HeldSpace(robot, q, contacts, axes, tolerance)
    M, P, n = mass_matrix.algorithm(robot, q), space.projector(), range(robot.nv)
    PM = [space.free([M[r][c] for r in n]) for c in n]  # by columns
    return [[PM[c][r] + (1 if r == c else 0) - P[r][c] for c in n] for r in n]


@robot_function
def aghili_acceleration(
    robot: Robot, q: Scalars, v: Scalars, tau: Scalars, *, contacts: Contacts, axes: str = "world",
    tolerance: Tolerance = TOLERANCE,
) -> list[Scalar]:  # fmt: skip
    """Acceleration of a robot whose contacts are held, without their forces: vd = M_c^-1 (P (tau - h) + Pdot v).

    Pdot v = -J^+ Jdot v. M_c is not symmetric; M_c x = r is solved by parts, since it says P M x = P r and
    (1 - P) x = (1 - P) r, with the symmetric matrix P M P + 1 - P in the range of P.

    Args:
        q, v, tau, contacts, axes, tolerance: as for `orthogonal_projector`.

    Returns:
        vd, nv: that of `constrained_dynamics`.
    """
    space, n = HeldSpace(robot, q, contacts, axes, tolerance), range(robot.nv)
    M, P = mass_matrix.algorithm(robot, q), space.projector()
    h = newton_euler(robot, q, v, [0] * robot.nv)
    # the part that the contacts prescribe, -J^+ Jdot v
    bias = bias_rows(robot, space.held, q, v, -robot.gravity)
    prescribed = combined(space.J, space.gram.solve([-b for b in bias]), robot.nv)
    # the part that they leave free
    PM = [space.free([M[r][c] for r in n]) for c in n]
    PMP = [space.free([PM[c][r] for c in n]) for r in n]
    inertia = _symmetric([[PMP[r][c] + (1 if r == c else 0) - P[r][c] for c in n] for r in n])
    left = [tau[r] - h[r] - sum((M[r][c] * prescribed[c] for c in n), 0) for r in n]
    moved = PlainFactor(inertia).solve(space.free(left))
    return [a + b for a, b in zip(prescribed, moved, strict=True)]


def _symmetric(matrix: Matrix) -> Matrix:
    """The lower triangle on both sides: the upper one need not be computed."""
    n = range(len(matrix))
    return [[matrix[max(r, c)][min(r, c)] for c in n] for r in n]


# ---- torques for a motion that contacts support


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
    robot: Robot, q: Scalars, v: Scalars, vd: Scalars, *, contacts: Contacts, axes: str = "world",
    actuated: tuple[str, ...] | None = None, tolerance: Tolerance = TOLERANCE,
) -> SupportTorques:  # fmt: skip
    """Least torques, with contact forces, that make the robot accelerate with ``vd``.

    M vd + h = S^T u + J^T f. With P = 1 - J^+ J, contact forces drop out and P S^T u = P (M vd + h), whose solution of
    least norm is u = (P S^T)^+ (M vd + h) [Righetti et al. 2011]; the contacts bear the rest of M vd + h,
    f = (J^T)^+ (M vd + h - S^T u). (P S^T)^+ = K^+ S P, with K = S P S^T.

    Whether vd keeps the contacts where they are is not looked at: J vd + Jdot v = 0 if it does.

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
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
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", actuated: tuple[str, ...] | None = None,
    tolerance: Tolerance = TOLERANCE,
) -> SupportTorques:  # fmt: skip
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
    # P is at most 1: rows count by the share of a dof that the contacts leave free, not next to themselves
    K = SemidefiniteFactor([[P[r][c] for c in driven] for r in driven], TOLERANCE, least=[1] * len(driven))
    free = space.free(wanted)
    u = dict(zip(driven, K.solve([free[d] for d in driven]), strict=True))
    tau = [u.get(d, 0) for d in range(robot.nv)]
    left = [a - b for a, b in zip(wanted, tau, strict=True)]
    residual = largest(space.free(left))
    is_possible = select(residual <= _BALANCED * largest(wanted), 1, 0)
    return SupportTorques(tau, space.forces(left), residual, is_possible, space.gram.rank)


def _driven_dofs(robot: Robot, actuated: tuple[str, ...] | None) -> list[int]:
    names = tuple(m.joint for m in robot.motors.values()) if actuated is None else actuated
    if not names:
        owner = f"robot {robot.name!r}"
        cure = "say which joints are driven, actuated=('hip', 'knee'), or give it some, robot.with_motor(joint)"
        raise ContactError(f"{owner} has no motors", subject=owner, field="actuated", cure=cure)
    slices = [robot.v_slice(robot.joints[name].name) for name in names]
    return sorted({d for s in slices for d in range(s.start, s.stop)})
