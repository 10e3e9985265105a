"""Constrained dynamics: motion of a robot whose contacts are held, and the space in which contacts feel the robot.

Rows of J are eliminated against M = L^T D L (`pliant.constrained.row_space`). The inverse of J^T that M weighs splits
joint forces into those that the contacts bear and those that move.
"""

from typing import Any, NamedTuple

from pliant.checks import check_restitution
from pliant.constrained.constraints import Contacts, Held, bias_rows, held_constraints, jacobian_rows
from pliant.constrained.row_space import NOTHING, RowSpace
from pliant.constrained.semidefinite import TOLERANCE, SemidefiniteFactor, Tolerance
from pliant.dynamics.functions import robot_function
from pliant.dynamics.joint_space_inertia import composite_inertia, factorized, mass_matrix
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars


class ContactSpace(RowSpace):
    """Contacts of a robot at a configuration, with all that follows from q alone.

    Attributes:
        held: the constraints at q.
        response: factor of G = J M^-1 J^T, how velocities at the contacts answer to impulses there.
    """

    def __init__(self, robot: Robot, q: Scalars, contacts: Contacts, axes: str, tolerance: float | None):
        self.held: list[Held] = held_constraints(robot, q, contacts, axes)
        super().__init__(robot, factorized(robot.mechanism, composite_inertia(robot, q)), jacobian_rows(self.held))
        least = [NOTHING * x for x in self.ones]
        self.response = SemidefiniteFactor(self.G, tolerance, least=least, most=self.most)

    @property
    def rank(self) -> Scalar:
        """How many rows of J do not depend on the others."""
        return self.response.rank

    def consistent(self, force: Scalars) -> list[Scalar]:
        """J^T# force: the contact forces that take up joint forces, for a robot without other forces."""
        return self.response.solve(self.along(self.factor.half_solve(force)))

    def motion_part(self, force: Scalars) -> list[Scalar]:
        """N force, of joint forces."""
        taken = self.joint_forces(self.consistent(force))
        return [a - b for a, b in zip(force, taken, strict=True)]

    def projector(self) -> list[list[Scalar]]:
        """N = 1 - J^T Lambda J M^-1, from rows made independent of one another."""
        n = range(self.robot.nv)
        J, Z = self.response.independent([[row.get(d, 0) for d in n] for row in self.J], self.inverse_rows())
        N: list[list[Scalar]] = [[1 if r == c else 0 for c in n] for r in n]
        for j, z, inverse in zip(J, Z, self.response.D_inverse, strict=True):
            for r in n:
                share = j[r] * inverse
                for c in n:
                    N[r][c] = N[r][c] - share * z[c]
        return N


# ---- forward dynamics


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
    robot: Robot, q: Scalars, v: Scalars, tau: Scalars, *, contacts: Contacts, axes: str = "world",
    external: Any = None, tolerance: Tolerance = TOLERANCE,
) -> ConstrainedDynamics:  # fmt: skip
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
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> list[list[Scalar]]:
    """The inertia felt at the contacts: Lambda = (J M^-1 J^T)^-1, m x m, symmetric [kg, kg m or kg m^2].

    Where rows of J depend on one another (see `contact_rank`), it is the Moore-Penrose inverse, which gives the forces
    of least norm. Arguments are as for `constrained_dynamics`.
    """
    return ContactSpace(robot, q, contacts, axes, tolerance).response.inverse()


@robot_function
def contact_rank(
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: float = TOLERANCE
) -> Scalar:
    """How many rows of J do not depend on the others; with fewer than all m, contact forces are not unique.

    Arguments are as for `constrained_dynamics`.
    """
    return ContactSpace(robot, q, contacts, axes, tolerance).rank


# ---- contact-consistent dynamics


class ConsistentDynamics(NamedTuple):
    """Terms of M vd + bias + curvature = drive, in which no contact force is left.

    Attributes:
        M: mass matrix, nv x nv.
        bias: N h, nv [N m or N].
        curvature: J^T Lambda Jdot v, nv: bends the motion along the contacts.
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
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> list[list[Scalar]]:
    """The dynamically consistent inverse of J^T: J^T# = Lambda J M^-1, m x nv [Khatib 1987].

    J^T# J^T = 1, if the rows of J are independent. -J^T# tau are the forces with which the contacts answer to joint
    forces tau. Arguments are as for `constrained_dynamics`.
    """
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    Lambda, rows = space.response.inverse(), space.inverse_rows()
    columns = list(zip(*rows, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), 0) for column in columns] for row in Lambda]


@robot_function
def force_projector(
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> list[list[Scalar]]:
    """N = 1 - J^T J^T#, nv x nv: removes from joint forces the part that makes contact forces.

    N J^T = 0 and N N = N; N is not symmetric, N M is, and N^T is the `impact_map`. It is the same however many rows of
    J depend on others. Arguments are as for `constrained_dynamics`.
    """
    return ContactSpace(robot, q, contacts, axes, tolerance).projector()


@robot_function
def contact_consistent_dynamics(
    robot: Robot, q: Scalars, v: Scalars, tau: Scalars, *, contacts: Contacts, axes: str = "world",
    tolerance: Tolerance = TOLERANCE,
) -> ConsistentDynamics:  # fmt: skip
    """Terms of the dynamics from which the contact forces are eliminated.

    M vd + N h + J^T Lambda Jdot v = N tau, which `constrained_dynamics` solves. N multiplied on from the left leaves N
    (M vd + h) = N tau, which has fewer equations than unknowns. Arguments are as for `constrained_dynamics`.
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
    robot: Robot, q: Scalars, tau: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> TorqueSplit:
    """Joint forces as those that the contacts take up and those that move the joints.

    tau = J^T J^T# tau + N tau. The first part changes no acceleration, the second no contact force. Arguments are as
    for `constrained_dynamics`.
    """
    space = ContactSpace(robot, q, contacts, axes, tolerance)
    taken = space.consistent(tau)
    contact = space.joint_forces(taken)
    motion = [a - b for a, b in zip(tau, contact, strict=True)]
    return TorqueSplit(contact, motion, [-x for x in taken], space.rank)


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
    robot: Robot, q: Scalars, v: Scalars, *, contacts: Contacts, axes: str = "world", restitution: float = 0,
    tolerance: Tolerance = TOLERANCE,
) -> Impact:  # fmt: skip
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
    robot: Robot, q: Scalars, v: Scalars, *, contacts: Contacts, axes: str = "world", restitution: float = 0,
    tolerance: Tolerance = TOLERANCE,
) -> list[Scalar]:  # fmt: skip
    """The velocity after an impact, v+ = N_vel v, nv; see `impact_dynamics`."""
    options = {"contacts": contacts, "axes": axes, "restitution": restitution, "tolerance": tolerance}
    return impact_dynamics.algorithm(robot, q, v, **options).v


@robot_function
def impact_impulse(
    robot: Robot, q: Scalars, v: Scalars, *, contacts: Contacts, axes: str = "world", restitution: float = 0,
    tolerance: Tolerance = TOLERANCE,
) -> list[Scalar]:  # fmt: skip
    """The impulses of an impact, F = -Lambda J v, m [N s or N m s]; see `impact_dynamics`."""
    options = {"contacts": contacts, "axes": axes, "restitution": restitution, "tolerance": tolerance}
    return impact_dynamics.algorithm(robot, q, v, **options).impulse


@robot_function
def impact_map(
    robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world", tolerance: Tolerance = TOLERANCE
) -> list[list[Scalar]]:
    """N_vel = 1 - M^-1 J^T Lambda J, nv x nv: velocities after an impact without restitution, v+ = N_vel v.

    It is the transpose of `force_projector`; J N_vel = 0. Arguments are as for `constrained_dynamics`.
    """
    N = ContactSpace(robot, q, contacts, axes, tolerance).projector()
    return [list(column) for column in zip(*N, strict=True)]
