"""Forward dynamics, and M^-1 times a force, by articulated bodies."""

from typing import Any

from pliant.dynamics.functions import robot_function
from pliant.dynamics.joint_space_inertia import check_regular, inverse_inertia, mass_factor
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, is_constant
from pliant.spatial import ArticulatedInertia, Force, Motion


@robot_function
def forward_dynamics(robot: Robot, q: Scalars, v: Scalars, tau: Scalars, *, external: Any = None) -> list[Scalar]:
    """Acceleration of the robot under joint forces ``tau``: vd = M^-1 (tau - h), nv.

    The bias h comes from Newton-Euler, and M^-1 is applied by articulated bodies (`mass_matrix_solution`).

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
        tau: joint forces, nv [N m or N].
        external: forces on the bodies as for `inverse_dynamics`.
    """
    h = newton_euler(robot, q, v, [0] * robot.nv, external=external)
    return mass_matrix_solution.algorithm(robot, q, [t - b for t, b in zip(tau, h, strict=True)])


@robot_function
def mass_matrix_solution(robot: Robot, q: Scalars, force: Scalars) -> list[Scalar]:
    """The solution x of M(q) x = force, nv: the change of vd by a force, or of v by an impulse.

    Without M itself, in a number of operations that grows with the number of links: the articulated-body
    recursion [Featherstone 2008, 7.3] for a robot at rest without gravity. A joint with several dofs is taken
    one dof at a time, like joints with massless links between them. Mimicking joints close loops, so for them
    M is built and factorized.

    Args:
        q: configuration, nq [rad or m].
        force: joint forces or impulses, nv [N m or N; N m s or N s].
    """
    mechanism = robot.mechanism
    if mechanism.has_mimic:
        return mass_factor(robot, q).solve(force)
    check_regular(robot)
    links = mechanism.links
    X_PB = [link.transform(q) for link in links]
    A = [ArticulatedInertia.of(link.inertia) for link in links]
    p = [Force.zero() for _ in links]  # what must be held at each link if it does not accelerate
    response: list[tuple[Force, Scalar]] = [(Force.zero(), 0)] * mechanism.nv

    # inward: free one dof after the other, and hang what is left to feel on the parent
    for link in reversed(links):
        i = link.index
        for d, S, arm, row in reversed(_dofs(link)):
            U = A[i] @ S
            D_inverse = inverse_inertia(mechanism, d, S.dot(U) + arm)
            u = (force[d] - S.dot(p[i])) * D_inverse
            A[i] = A[i].released(U, D_inverse, row)
            p[i] = p[i] + U * u
            response[d] = (U * D_inverse, u)
        if link.parent >= 0:
            A[link.parent] = A[link.parent] + A[i].transformed(X_PB[i])
            p[link.parent] = p[link.parent] + X_PB[i].act(p[i])

    # outward: each dof gives way to its force and to the acceleration it is carried with
    vd: list[Scalar] = [0] * mechanism.nv
    a = [Motion.zero() for _ in links]
    for link in links:
        i = link.index
        if link.parent >= 0:
            a[i] = X_PB[i].act_back(a[link.parent])
        for d, S, _, _ in _dofs(link):
            U_over_D, u = response[d]
            vd[d] = u - a[i].dot(U_over_D)
            a[i] = a[i] + S * vd[d]
    return vd


def _dofs(link) -> list[tuple[int, Motion, Scalar, int | None]]:
    """Each dof of a link: index, column of S, inertia of its own, and the row that it empties if freed."""
    rows = link.kind.rows or (None,) * link.kind.nv
    return [
        (d, S, arm, row if is_constant(arm) and arm == 0 else None)
        for d, S, arm, row in zip(link.dofs, link.kind.columns, link.armature, rows, strict=True)
    ]
