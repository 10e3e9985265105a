"""Forces on the right side of the equations of motion: motors, springs, dampers, friction."""

from collections.abc import Sequence
from typing import Any

from pliant.actuation.body_forces import Stretch, stretches
from pliant.actuation.joint_forces import dry_friction, joint_forces
from pliant.dynamics import frame_jacobian
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.robot import Robot
from pliant.spatial import Vector

__all__ = ["applied_forces"]

Scalar = Any
Scalars = Sequence[Scalar]


def applied_forces(robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar) -> list[Scalar]:
    """Q(q, v, u, t): the forces of motors, springs, dampers and friction at the dofs, nv [N m or N].

    At a joint, with x its position: u - k (x - rest) - d x' - friction sign(x'), with u replaced by what the motor's
    control makes of it, see `Motor`. Limits of motors and joints are left out. A spring between two frames a and b,
    s apart, adds -(k (s - s0) + d s') ds/dq, which has no value where the frames coincide. Springs with backlash, and
    those that are compliant in all directions, are functions of `named_functions`.
    """
    from pliant.symbolic.named_functions import NAMED

    Q = joint_forces(robot, q, v, u, t, has_limits=False, functions=NAMED).at(v)
    Q = [a + b for a, b in zip(Q, _dry_friction(robot, v), strict=True)]
    if robot.springs:
        mechanism = robot.mechanism
        poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
        velocities = link_velocities(mechanism, q, v)
        for stretch in stretches(robot, poses, origin, guard=0):
            pull = stretch.pull(stretch.rate(velocities))
            Q = [a - pull * slope for a, slope in zip(Q, _slope(robot, stretch, q), strict=True)]
    return Q


def _dry_friction(robot: Robot, v: Scalars) -> list[Scalar]:
    """Coulomb's friction of joints and motors."""
    import sympy

    Q: list[Scalar] = [0] * robot.nv
    for link in robot.mechanism.joint_links:
        for k, (d, rate) in enumerate(zip(link.dofs, link.rate(v), strict=True)):
            Q[d] = Q[d] - link.ratio * dry_friction(robot, link.name, k) * sympy.sign(rate)
    return Q


def _slope(robot: Robot, stretch: Stretch, q: Scalars) -> list[Scalar]:
    """ds/dq, nv."""
    J_a, J_b = (frame_jacobian.algorithm(robot, q, frame) for frame in (stretch.spring.a, stretch.spring.b))
    return [stretch.along.dot(Vector(*(J_b[k][d] - J_a[k][d] for k in range(3)))) for d in range(robot.nv)]
