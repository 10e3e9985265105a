"""Centre of mass, momentum about it, and energy. Bodies that cannot move do not count, as in Pinocchio."""

from typing import Any, NamedTuple

from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import force_of_motion, link_motions, link_poses, link_velocities
from pliant.errors import RobotError
from pliant.robot import Mechanism, Robot
from pliant.scalar import Scalar, Scalars, is_constant
from pliant.spatial import Force, Transform, Vector


@robot_function
def center_of_mass(robot: Robot, q: Scalars) -> list[Scalar]:
    """The centre of mass in the world, 3 [m]."""
    mass = _mass(robot)
    return [h / mass for h in mass_moments(robot.mechanism, q).total]


@robot_function
def center_of_mass_velocity(robot: Robot, q: Scalars, v: Scalars) -> list[Scalar]:
    """The velocity of the centre of mass in the world, 3 [m/s].

    The rate of the first moments of mass, inward: what hangs on link B moves its first moment h in B
    at rate hdot, and the joint carries both: hdot + w x h + m v, in the parent's axes.
    """
    mechanism, mass = robot.mechanism, _mass(robot)
    moments = mass_moments(mechanism, q)
    rates = [Vector.zero() for _ in mechanism.links]
    total = Vector.zero()
    for link in reversed(mechanism.links):
        i = link.index
        joint = link.kind.motion(link.rate(v))
        moved = rates[i] + joint.angular.cross(moments.h[i]) + joint.linear * moments.mass[i]
        rate = link.transform(q).rotate(moved)
        if link.parent >= 0:
            rates[link.parent] = rates[link.parent] + rate
        else:
            total = total + rate
    return [rate / mass for rate in total]


@robot_function
def center_of_mass_jacobian(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """The Jacobian of the centre of mass, 3 x nv, with J v = `center_of_mass_velocity`.

    A dof moves the mass m and first moment h of all that hangs on it, by R_WB (m S_v + S_w x h).
    """
    mechanism, mass = robot.mechanism, _mass(robot)
    moments = mass_moments(mechanism, q)
    J: list[list[Scalar]] = [[0] * mechanism.nv for _ in range(3)]
    for link, X_WB in zip(mechanism.links, link_poses(mechanism, q), strict=True):
        i = link.index
        for d, S in zip(link.dofs, link.kind.columns, strict=True):
            moved = X_WB.R.rotate(S.linear * moments.mass[i] + S.angular.cross(moments.h[i]))
            for r in range(3):
                J[r][d] = J[r][d] + link.ratio * moved[r] / mass
    return J


@robot_function
def centroidal_momentum(robot: Robot, q: Scalars, v: Scalars) -> list[Scalar]:
    """The robot's momentum about its centre of mass, 6: linear, angular; world axes [N s, N m s].

    The momenta I_i V_i of the links, summed towards the root [Orin, Goswami and Lee 2013]. Rotors
    are not part of it.
    """
    velocities = link_velocities(robot.mechanism, q, v)
    momenta = [link.inertia @ V for link, V in zip(robot.mechanism.links, velocities, strict=True)]
    return _sum_about_center(robot, q, momenta)


@robot_function
def centroidal_momentum_rate(robot: Robot, q: Scalars, v: Scalars, vd: Scalars) -> list[Scalar]:
    """The rate of `centroidal_momentum`, 6 [N, N m]: the sum of all external forces about the centre of mass.

    The forces that the links' accelerations ask for, as in Newton-Euler, summed towards the root.
    """
    mechanism = robot.mechanism
    motions = link_motions(mechanism, q, v, vd, Vector.zero())
    forces = [force_of_motion(link, motion) for link, motion in zip(mechanism.links, motions, strict=True)]
    return _sum_about_center(robot, q, forces)


@robot_function
def centroidal_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """The centroidal momentum matrix A, 6 x nv, with A v = `centroidal_momentum`.

    Column d is the momentum of all that hangs on dof d as it moves at unit rate, X_GB I S: I of the
    composite body, G at the centre of mass with the world's axes [Orin, Goswami and Lee 2013].
    """
    mechanism, mass = robot.mechanism, _mass(robot)
    I = [link.inertia for link in mechanism.links]
    for link in reversed(mechanism.links):
        if link.parent >= 0:
            I[link.parent] = I[link.parent] + I[link.index].transformed(link.transform(q))
    X_AB = link_poses(mechanism, q, about_root=True)
    moments = [X_AB[i].R.rotate(I[i].h) + X_AB[i].p * I[i].mass for i in mechanism.roots]
    center = _divided(sum(moments, Vector.zero()), mass)

    A: list[list[Scalar]] = [[0] * mechanism.nv for _ in range(6)]
    for link, X in zip(mechanism.links, X_AB, strict=True):
        X_GB = Transform(X.R, X.p - center)
        for d, S in zip(link.dofs, link.kind.columns, strict=True):
            for r, entry in enumerate(X_GB.act(I[link.index] @ S)):
                A[r][d] = A[r][d] + link.ratio * entry
    return A


class MassMoments(NamedTuple):
    """Masses and first moments of all that hangs on each link.

    Attributes:
        mass: for each link [kg].
        h: first moment about the link's origin, in its frame [kg m].
        total: first moment of the whole robot, in the world.
    """

    mass: list[Scalar]
    h: list[Vector]
    total: Vector


def mass_moments(mechanism: Mechanism, q: Scalars) -> MassMoments:
    """Masses and first moments, summed towards the root: h_P = R_PB h_B + m p_PB."""
    mass = [link.inertia.mass for link in mechanism.links]
    h = [link.inertia.h for link in mechanism.links]
    total = Vector.zero()
    for link in reversed(mechanism.links):
        m, moment, X = mass[link.index], h[link.index], link.transform(q)
        for step in (X.then, X.first):
            moment = step.R.rotate(moment) + step.p * m
        if link.parent >= 0:
            mass[link.parent] = mass[link.parent] + m
            h[link.parent] = h[link.parent] + moment
        else:
            total = total + moment
    return MassMoments(mass, h, total)


def _sum_about_center(robot: Robot, q: Scalars, forces: list[Force]) -> list[Scalar]:
    """Forces or momenta of the links, each in its frame, as one about the centre of mass in world axes."""
    mechanism, mass = robot.mechanism, _mass(robot)
    f, h = list(forces), mass_moments(mechanism, q).h
    for link in reversed(mechanism.links):
        if link.parent >= 0:
            f[link.parent] = f[link.parent] + link.transform(q).act(f[link.index])
    if len(mechanism.roots) == 1:
        # where the root is does not matter, and so stays out
        i = mechanism.roots[0]
        X, center = mechanism.links[i].transform(q), _divided(h[i], mass)
        return [*X.rotate(f[i].linear), *X.rotate(f[i].angular - center.cross(f[i].linear))]
    roots = [mechanism.links[i] for i in mechanism.roots]
    whole = sum((link.transform(q).act(f[link.index]) for link in roots), Force.zero())
    center = _divided(mass_moments(mechanism, q).total, mass)
    return [*whole.linear, *(whole.angular - center.cross(whole.linear))]


def _mass(robot: Robot) -> Scalar:
    """The mass that moves; there must be some."""
    mass = sum(link.inertia.mass for link in robot.mechanism.links)
    if is_constant(mass) and mass == 0:
        why = "its bodies have no mass" if robot.mechanism.links else "nothing of it moves"
        owner = f"robot {robot.name!r}"
        cure = "give bodies that move a mass"
        raise RobotError(f"{owner} has no centre of mass: {why}", subject=owner, field="mass", cure=cure)
    return mass


def _divided(h: Vector, mass: Scalar) -> Vector:
    return Vector(*(e / mass for e in h))


class Energy(NamedTuple):
    """Energy of a robot [J]."""

    kinetic: Any
    potential: Any


@robot_function
def energy(robot: Robot, q: Scalars, v: Scalars) -> Energy:
    """Kinetic and potential energy [J], as by `kinetic_energy` and `potential_energy`."""
    return Energy(kinetic_energy.algorithm(robot, q, v), potential_energy.algorithm(robot, q))


@robot_function
def kinetic_energy(robot: Robot, q: Scalars, v: Scalars) -> Scalar:
    """T = 1/2 v^T M v = 1/2 sum_i V_i^T I_i V_i + 1/2 sum_d armature_d v_d^2 [J].

    V_i is the velocity of link i in its own frame, where V^T I V = v . (m v + 2 w x h) + w . J w. Rotors that several
    joints turn add 1/2 J (G v)^2.
    """
    mechanism = robot.mechanism
    twice = sum(arm * rate * rate for arm, rate in zip(mechanism.armature, v, strict=True))
    for (d, e), arm in mechanism.couplings.items():
        twice = twice + (1 if d == e else 2) * arm * v[d] * v[e]
    for link, V in zip(mechanism.links, link_velocities(mechanism, q, v), strict=True):
        I, w = link.inertia, V.angular
        twice = twice + V.linear.dot(V.linear * I.mass + 2 * w.cross(I.h)) + w.dot(I.J @ w)
    return twice / 2


@robot_function
def potential_energy(robot: Robot, q: Scalars) -> Scalar:
    """U = -m gravity . c, with c the centre of mass in the world [J].

    It is zero where the centre of mass is level with the world's origin. Bodies that cannot move do
    not count.
    """
    return -robot.gravity.dot(mass_moments(robot.mechanism, q).total)
