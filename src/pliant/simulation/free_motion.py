"""The step before contacts: forces, the matrix of the step, and the velocity that they would lead to.

Dampers at joints and the gains of motors are taken at the end of the step. With K and D their matrices,
A = M + dt D + dt^2 K and

    A (v+ - v) = dt (f(q, v) - h(q, v) - (D + dt K) v)

which is stable however stiff they are and has the zeros of M: D is diagonal, and K has entries beside the diagonal
only among the dofs of one joint, where a spring has several axes. A spring is taken so, too, if it is too stiff for
the step to follow: its swing dies out. One that swings slowly must not, so its force is taken at
q + dt (v+ - v) / 4, which keeps its energy [Newmark 1959, with beta = 1/4] and leaves A stable, too. Between the
two, with w the frequency of the swing and r = 1 / (1 + (w dt)^4), the force is that at

    q + dt ((1 - 3/4 r) v+ - r/4 v)

axis by axis where a spring has several: one that is soft swings on beside one that is stiff.

A = L^T D L; the result is w = L v+. Both velocities are in the axes of the start, in which bodies that float keep
theirs (`pliant.robot.configurations`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.actuation.frame_springs import frame_spring_forces
from pliant.actuation.joint_forces import JointForces, SpringBlock, joint_forces
from pliant.actuation.outside_forces import outside_forces
from pliant.dynamics.composite_inertia import composite_inertia
from pliant.dynamics.factor import Factor, factorized
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot.configurations import held_acceleration
from pliant.scalar import maximum
from pliant.simulation.model import StepModel
from pliant.spatial import Transform, Vector

__all__ = ["FreeMotion", "free_motion"]

Scalar = Any

# inertia of a joint that is held at its limit, relative to its own
_HOLDING = 1000

_THREE_QUARTERS = 3 / 4

# inertia of a dof that has none, as a slender rod about itself: any spring there is too stiff for the step
_NONE = 1e-30


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
        saturated: motors that are at their limits, see `pliant.actuation.motors.drives`.
        held: dof, whether it is held (1 or 0), and the velocity with which: it is given so much inertia that
            contacts find it almost rigid. A constraint of the solver makes it exact, and takes the inertia out again.
    """
    robot, dt = model.robot, model.dt
    mechanism = robot.mechanism
    poses = link_poses(mechanism, q, about_root=True)
    origin = root_origin(mechanism, q)

    # forces
    joints = joint_forces(robot, q, v, u, t, saturated, has_rows=True)
    on_links = outside_forces(robot, model.forces, poses, t, dt)
    if robot.springs:
        on_links.add_all(frame_spring_forces(robot, poses, origin, link_velocities(mechanism, q, v)))
    h = newton_euler(robot, q, v, held_acceleration(robot, v), on_links=on_links.listed(len(mechanism.links)))

    # inertia, and stiffness and damping taken implicitly
    A = composite_inertia(robot, q)
    M = [list(row) for row in A]
    change = []
    for d in range(robot.nv):
        gain = joints.damping[d] + dt * joints.stiffness[d]
        A[d][d] = A[d][d] + dt * gain
        change.append(dt * (joints.f[d] - h[d] - gain * v[d]))
    for spring, axis in ((s, axis) for s in joints.springs for axis in s.axes):
        r = _resolved(M, spring, axis, dt)
        for d, e, k in spring.entries(axis):
            A[d][e] = A[d][e] + dt * dt * (1 - r * _THREE_QUARTERS) * k
            lost = dt * dt * (1 - r) * k
            change[d] = change[d] - lost * v[e]
            if d != e:
                change[e] = change[e] - lost * v[d]
    for d, is_held, velocity in held:
        extra = is_held * _HOLDING * A[d][d]
        A[d][d] = A[d][d] + extra
        change[d] = change[d] + extra * (velocity - v[d])
    factor = factorized(mechanism, A)
    start = factor.coordinates(v)
    w = [a + b for a, b in zip(start, factor.half_solve(change), strict=True)]
    return FreeMotion(factor, start, w, poses, origin, joints)


def _resolved(M: list[list[Scalar]], spring: SpringBlock, axis: tuple[Scalar, list[Scalar]], dt: Scalar) -> Scalar:
    """r = 1 / (1 + (w dt)^4) of the swing about an axis of a spring, w^2 = g' b M^-1 b^T.

    Of M only the dofs themselves count, and the rotor behind a flexibility: without it there is nothing to swing
    against.
    """
    slope, b = axis
    ease: Scalar = 0
    for i, d in enumerate(spring.dofs):
        M_dd = M[d][d]
        if spring.rotor is not None:
            M_jj, M_jd = M[spring.rotor][spring.rotor], M[spring.rotor][d]
            M_dd = M_dd - M_jd * M_jd / M_jj
        ease = ease + b[i] * b[i] / maximum(M_dd, _NONE)
    square = dt * dt * slope * ease
    return 1 / (1 + square * square)
