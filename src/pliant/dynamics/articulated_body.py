"""Forward dynamics, and M^-1 times a force, by articulated bodies."""

from typing import Any

from pliant.dynamics.articulated_factor import ArticulatedFactor
from pliant.dynamics.functions import robot_function
from pliant.dynamics.joint_space_inertia import check_regular, mass_factor
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars


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
    recursion [Featherstone 2008, 7.3] for a robot at rest without gravity. Mimicking joints close loops, and so do
    rotors that several joints turn, so for them M is built and factorized.

    Args:
        q: configuration, nq [rad or m].
        force: joint forces or impulses, nv [N m or N; N m s or N s].
    """
    mechanism = robot.mechanism
    if mechanism.has_shared_inertia:
        return mass_factor(robot, q).solve(force)
    check_regular(robot)
    return ArticulatedFactor(mechanism, q).solve(force)
