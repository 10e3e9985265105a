"""The step before contacts: forces, the matrix of the step, and the velocity that they would lead to.

Springs and dampers at joints (damping, springs, gains of motors) are taken at the end of the step. With
K and D their diagonals, A = M + dt D + dt^2 K and

    A (v+ - v) = dt (f(q, v) - h(q, v) - (D + dt K) v)

which is stable however stiff they are and has the zeros of M. A = L^T D L; the result is w = L v+. Both
velocities are in the axes of the start, in which bodies that float keep theirs (`pliant.robot.transport`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.dynamics.composite_inertia import composite_inertia
from pliant.dynamics.factor import Factor, factorized
from pliant.dynamics.kinematics import link_poses
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot.transport import held_acceleration
from pliant.simulation.forces import external_link_forces, spring_link_forces
from pliant.simulation.model import StepModel
from pliant.simulation.motors import Drive, drives
from pliant.spatial import Force, Transform, Vector

__all__ = ["FreeMotion", "JointForces", "free_motion", "joint_forces", "root_origin"]

Scalar = Any

# inertia of a joint that is held at its stop, relative to its own
_HOLDING = 1000


@dataclass(frozen=True)
class JointForces:
    """Forces at the dofs: f - K (q + dt v+ - q) - D v+, one entry a dof.

    Attributes:
        f: at q, without damping.
        stiffness, damping: the diagonals K and D.
        drives: of the motors.
    """

    f: list[Scalar]
    stiffness: list[Scalar]
    damping: list[Scalar]
    drives: list[Drive]


@dataclass(frozen=True)
class FreeMotion:
    """Result of the stage.

    Attributes:
        factor: of A.
        start: L v of the velocity at the start.
        w: L v+ of the velocity that the forces lead to.
        poses: of the links, in the world's axes about ``origin``.
    """

    factor: Factor
    start: list[Scalar]
    w: list[Scalar]
    poses: list[Transform]
    origin: Vector
    joints: JointForces


def free_motion(
    model: StepModel,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    u: Sequence[Scalar],
    t: Scalar,
    saturated: Sequence[Scalar] | None = None,
    held: Sequence[tuple[int, Scalar, Scalar]] = (),
) -> FreeMotion:
    """The motion of a step if nothing touched.

    Args:
        saturated: motors that are at their limits, see `pliant.simulation.motors.drives`.
        held: dof, whether it is held (1 or 0), and the velocity with which: it is given so much inertia that
            contacts find it almost rigid. A row of the solver makes it exact, and takes the inertia out again.
    """
    robot, dt = model.robot, model.dt
    mechanism = robot.mechanism
    poses = link_poses(mechanism, q, about_root=True)
    origin = root_origin(model, q)

    # what pulls and pushes
    joints = joint_forces(model, q, v, u, t, saturated)
    on_links = external_link_forces(robot, model.forces, poses, t, dt)
    for i, f in spring_link_forces(robot, poses, origin, q, v).items():
        on_links[i] = on_links[i] + f if i in on_links else f
    total = [on_links.get(i, Force.zero()) for i in range(len(mechanism.links))] if on_links else None
    h = newton_euler(robot, q, v, held_acceleration(robot, v), on_links=total)

    # what resists
    A = composite_inertia(robot, q)
    change = []
    for d in range(robot.nv):
        gain = joints.damping[d] + dt * joints.stiffness[d]
        A[d][d] = A[d][d] + dt * gain
        change.append(dt * (joints.f[d] - h[d] - gain * v[d]))
    for d, is_held, velocity in held:
        extra = is_held * _HOLDING * A[d][d]
        A[d][d] = A[d][d] + extra
        change[d] = change[d] + extra * (velocity - v[d])
    factor = factorized(mechanism, A)
    start = factor.coordinates(v)
    w = [a + b for a, b in zip(start, factor.half_solve(change), strict=True)]
    return FreeMotion(factor, start, w, poses, origin, joints)


def joint_forces(
    model: StepModel,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    u: Sequence[Scalar],
    t: Scalar,
    saturated: Sequence[Scalar] | None = None,
) -> JointForces:
    """Springs, damping and motors at the dofs."""
    robot = model.robot
    mechanism = robot.mechanism
    f: list[Scalar] = [0] * robot.nv
    stiffness: list[Scalar] = [0] * robot.nv
    damping = list(mechanism.damping)
    for link in mechanism.links:
        joint = robot.joints[link.name]
        if link.kind.nv == 1:
            d = link.dofs[0]
            f[d] = f[d] - link.ratio * joint.stiffness * (link.position(q)[0] - joint.rest)
            stiffness[d] = stiffness[d] + link.ratio * link.ratio * joint.stiffness
    given = drives(robot, q, v, u, t, saturated)
    for drive in given:
        d, square = drive.dof, drive.ratio * drive.ratio
        f[d] = f[d] + drive.ratio * drive.torque
        stiffness[d] = stiffness[d] + square * drive.stiffness
        damping[d] = damping[d] + square * (drive.damping + drive.motor.viscous_friction)
    return JointForces(f, stiffness, damping, given)


def root_origin(model: StepModel, q: Sequence[Scalar]) -> Vector:
    """Where the frame of the poses has its origin: the root link's, if there is just one."""
    mechanism = model.robot.mechanism
    if len(mechanism.roots) != 1:
        return Vector.zero()
    X = mechanism.links[mechanism.roots[0]].transform(q)
    return (X.first @ X.then).p
