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
theirs (`pliant.robot.transport`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.actuation.forces import external_link_forces, spring_link_forces
from pliant.actuation.motors import Drive, drives
from pliant.dynamics.composite_inertia import composite_inertia
from pliant.dynamics.factor import Factor, factorized
from pliant.dynamics.kinematics import link_poses
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot.springs import has_play, has_spring, spring_force, spring_with_play
from pliant.robot.transport import held_acceleration
from pliant.scalar import maximum
from pliant.simulation.model import StepModel
from pliant.spatial import Force, Transform, Vector

__all__ = ["FreeMotion", "JointForces", "free_motion", "joint_forces", "root_origin"]

Scalar = Any

# inertia of a joint that is held at its stop, relative to its own
_HOLDING = 1000

_THREE_QUARTERS = 3 / 4

# inertia of what has none, as a slender rod about itself: what swings it is too stiff for any step
_NONE = 1e-30


@dataclass(frozen=True)
class SpringBlock:
    """The stiffness of a joint's spring.

    Attributes:
        dofs: of the joint.
        axes: for each axis its stiffness g' as felt there, and its row b: K = sum of g' b^T b.
        rotor: dof of the motor's joint that follows, if the spring is a flexibility.
    """

    dofs: tuple[int, ...]
    axes: list[tuple[Scalar, list[Scalar]]]
    rotor: int | None

    def entries(self, axis: tuple[Scalar, list[Scalar]]) -> Iterator[tuple[int, int, Scalar]]:
        """(d, e, K_de) of an axis with e <= d."""
        slope, b = axis
        for i, d in enumerate(self.dofs):
            for j in range(i + 1):
                yield d, self.dofs[j], slope * b[i] * b[j]


@dataclass(frozen=True)
class JointForces:
    """Forces at the dofs, one entry each: f at q and v = 0, less what motion brings.

    Attributes:
        f: at q, without damping.
        stiffness, damping: diagonals, of the gains of motors and of all dampers.
        springs: what the springs add to the stiffness.
        drives: of the motors.
    """

    f: list[Scalar]
    stiffness: list[Scalar]
    damping: list[Scalar]
    springs: list[SpringBlock]
    drives: list[Drive]

    def linear(self) -> tuple[list[Scalar], list[Scalar], dict[tuple[int, int], Scalar]]:
        """The diagonals of D and K, and the entries of K below the diagonal."""
        K, cross = list(self.stiffness), {}
        for spring in self.springs:
            for axis in spring.axes:
                for d, e, k in spring.entries(axis):
                    if d == e:
                        K[d] = K[d] + k
                    else:
                        cross[d, e] = cross.get((d, e), 0) + k
        return self.damping, K, cross


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
            contacts find it almost rigid. A row of the solver makes it exact, and takes the inertia out again.
    """
    robot, dt = model.robot, model.dt
    mechanism = robot.mechanism
    poses = link_poses(mechanism, q, about_root=True)
    origin = root_origin(model, q)

    # what pulls and pushes
    joints = joint_forces(model, q, v, u, t, saturated, has_rows=True)
    on_links = external_link_forces(robot, model.forces, poses, t, dt)
    for i, f in spring_link_forces(robot, poses, origin, q, v).items():
        on_links[i] = on_links[i] + f if i in on_links else f
    total = [on_links.get(i, Force.zero()) for i in range(len(mechanism.links))] if on_links else None
    h = newton_euler(robot, q, v, held_acceleration(robot, v), on_links=total)

    # what resists
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


def joint_forces(
    model: StepModel,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    u: Sequence[Scalar],
    t: Scalar,
    saturated: Sequence[Scalar] | None = None,
    *,
    has_rows: bool = False,
) -> JointForces:
    """Springs, damping and motors at the dofs.

    Args:
        saturated: see `free_motion`.
        has_rows: whether the solver sees to springs with play.
    """
    robot = model.robot
    mechanism = robot.mechanism
    f: list[Scalar] = [0] * robot.nv
    stiffness: list[Scalar] = [0] * robot.nv
    damping: list[Scalar] = [0] * robot.nv
    springs: list[SpringBlock] = []
    rotors = {f.name: robot.v_slice(f.joint).start for f in robot.flexibilities.values() if f.joint is not None}
    for link in mechanism.joint_links:
        joint = robot.joints[link.name]
        if has_play(joint):
            if not has_rows or link.is_mimic:  # a follower has no row
                d = link.dofs[0]
                force, slope = spring_with_play(joint, link.position(q)[0], link.rate(v)[0])
                f[d] = f[d] + link.ratio * force
                springs.append(SpringBlock((d,), [(link.ratio * link.ratio * slope, [1])], None))
            continue
        for d, value in zip(link.dofs, link.damping, strict=True):
            damping[d] = damping[d] + value
        if has_spring(joint):
            spring = spring_force(joint, link.position(q))
            for d, force in zip(link.dofs, spring.f, strict=True):
                f[d] = f[d] + link.ratio * force
            felt = [(link.ratio * link.ratio * slope, b) for slope, b in spring.axes]
            springs.append(SpringBlock(link.dofs, felt, rotors.get(joint.name)))
    given = drives(robot, q, v, u, t, saturated)
    for drive in given:
        d, square = drive.dof, drive.ratio * drive.ratio
        f[d] = f[d] + drive.ratio * drive.torque
        stiffness[d] = stiffness[d] + square * drive.stiffness
        damping[d] = damping[d] + square * (drive.damping + drive.motor.viscous_friction)
    return JointForces(f, stiffness, damping, springs, given)


def root_origin(model: StepModel, q: Sequence[Scalar]) -> Vector:
    """Where the frame of the poses has its origin: the root link's, if there is just one."""
    mechanism = model.robot.mechanism
    if len(mechanism.roots) != 1:
        return Vector.zero()
    X = mechanism.links[mechanism.roots[0]].transform(q)
    return (X.first @ X.then).p
